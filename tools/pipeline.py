"""Pass pipelines that can be run: names resolved, options checked, hooks around each pass.

The library entry is `run_pipeline`; `uop-opt` hangs its flags on `PassInstrumentation`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import IsolatedFromAbove

from ..rewriting.diagnostics import PassError
from .pass_options import load, make_from_spec, near_names, spec_of
from .pass_run import PassInstrumentation, PassRun
from .pipeline_text import Element, Nest, PassSpec, PipelineError, parse_pipeline, print_pipeline
from .pipelines import NAMED_PIPELINES, CompileOptions

PassRegistry = Mapping[str, Callable[[], type[ModulePass]]]

# The anchor that stands for any operation; as the outermost one it is the module.
ANY = "any"


@dataclass(frozen=True)
class NestedPipeline:
    """Passes for each operation called `anchor` directly inside the one that the outer pipeline runs on."""

    anchor: str
    elements: tuple["ModulePass | NestedPipeline", ...]


Pipeline = tuple[ModulePass | NestedPipeline, ...]


def default_passes() -> PassRegistry:
    """The passes of xDSL, of uop and of installed plugins, whose rules `uop-simplify` uses from now on."""
    from xdsl.transforms import get_all_passes as get_xdsl_passes

    from ..passes import get_all_passes
    from .plugins import installed_plugins, register_plugin

    passes = {**get_xdsl_passes(), **get_all_passes()}
    for plugin in installed_plugins():
        register_plugin(plugin, {}, passes)
    return passes


def run_pipeline(
    module: ModuleOp,
    context: Context,
    pipeline: str | Sequence[str | ModulePass],
    *,
    passes: PassRegistry | None = None,
    verify: bool = False,
    timing: dict[str, float] | None = None,
    on_pass: Callable[[PassRun], None] | None = None,
) -> None:
    """Run a pipeline on `module`, in place and with no text in between.

    pipeline: its text, or a list of passes, each as text or as an instance
    passes:   the passes that text may name (default: those of xDSL and uop)
    verify:   verify the module, SSA dominance included, before the first and after each pass
    timing:   gets, for each pass name, the CPU seconds that its runs took
    on_pass:  called after each run of a pass

    Raises `PipelineError` for a text that cannot be read, and whatever a pass raises.
    """
    registry = default_passes() if passes is None else passes
    elements: list[ModulePass | NestedPipeline] = []
    for part in (pipeline,) if isinstance(pipeline, str) else pipeline:
        elements += build_pipeline(part, registry) if isinstance(part, str) else (part,)
    instrumentations: list[PassInstrumentation] = [_Report(timing, on_pass)]
    if verify:
        from .instruments import VerifyEach
        from .verifier import verify_ir

        verify_ir(module)
        instrumentations.append(VerifyEach())
    execute(tuple(elements), context, module, instrumentations)


def expand_pipeline(text: str) -> tuple[str, tuple[Element, ...]]:
    """Parse `text`, replace named pipelines by what they stand for, and drop the outermost anchor.

    Returns the elements and the text that their positions refer to. Raises `PipelineError`.
    """
    elements = _drop_anchor(parse_pipeline(text))
    while any(spec.name in NAMED_PIPELINES for spec in _specs(elements)):
        text = print_pipeline([*_expand(elements, text)])
        elements = _drop_anchor(parse_pipeline(text))
    return text, elements


def build_pipeline(text: str, passes: PassRegistry) -> Pipeline:
    """The pipeline that `text` spells, ready to run. Raises `PipelineError`."""
    text, elements = expand_pipeline(text)
    return resolve(elements, text, passes)


def resolve(elements: Iterable[Element], text: str, passes: PassRegistry) -> Pipeline:
    """Find the passes that `elements`, read from `text`, name. Raises `PipelineError`."""

    def resolve_one(element: Element) -> ModulePass | NestedPipeline:
        if isinstance(element, Nest):
            return NestedPipeline(element.anchor, resolve(element.elements, text, passes))
        if element.name not in passes:
            near = near_names(element.name, [*passes, *NAMED_PIPELINES])
            raise PipelineError(f"unknown pass '{element.name}'{near}", text, element.position)
        return make_from_spec(load(passes[element.name], "pass", element, text), element, text)

    return tuple(map(resolve_one, elements))


def pipeline_text(pipeline: Pipeline) -> str:
    """The text that spells `pipeline`, with its outermost anchor."""

    def element(item: ModulePass | NestedPipeline) -> Element:
        if isinstance(item, NestedPipeline):
            return Nest(item.anchor, tuple(map(element, item.elements)))
        return spec_of(item)

    return str(Nest(ModuleOp.name, tuple(map(element, pipeline))))


def execute(
    pipeline: Pipeline,
    context: Context,
    module: ModuleOp,
    instrumentations: Sequence[PassInstrumentation] = (),
) -> None:
    """Run `pipeline` on `module`.

    The hooks `before_pass` are called in the order of `instrumentations`, the others in reverse.
    """
    _execute(pipeline, context, (module,), instrumentations, nested=False)


def _execute(
    pipeline: Pipeline,
    context: Context,
    ops: tuple[Operation, ...],
    instrumentations: Sequence[PassInstrumentation],
    nested: bool,
) -> None:
    for element in pipeline:
        if isinstance(element, NestedPipeline):
            children = [child for op in ops for region in op.regions for block in region.blocks for child in block.ops]
            for child in children:
                if element.anchor in (child.name, ANY):
                    _execute(element.elements, context, (child,), instrumentations, nested=True)
        else:
            ops = _run_pass(PassRun(element, ops, nested), context, instrumentations)


def _run_pass(run: PassRun, context: Context, instrumentations: Sequence[PassInstrumentation]) -> tuple[Operation, ...]:
    for instrumentation in instrumentations:
        instrumentation.before_pass(run)
    try:
        cpu_start, wall_start = time.process_time(), time.perf_counter()
        run.ops = apply_pass(run.pass_, context, run.ops)
        run.cpu_seconds = time.process_time() - cpu_start
        run.wall_seconds = time.perf_counter() - wall_start
        for instrumentation in reversed(instrumentations):
            instrumentation.after_pass(run)
    except Exception as error:
        for instrumentation in reversed(instrumentations):
            instrumentation.pass_failed(run, error)
        raise
    return run.ops


def apply_pass(pass_: ModulePass, context: Context, ops: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """Apply a pass to operations that stand side by side; returns what stands there afterwards.

    A pass works on a module. Unless the operation is one, a temporary module holds it meanwhile, with the
    attributes of the real one: the pass sees nothing else of the program, and whatever it leaves goes back.
    """
    if len(ops) == 1 and isinstance(ops[0], ModuleOp):
        pass_.apply(context, ops[0])
        return ops
    if not ops:
        return ()
    for op in ops:
        if not op.has_trait(IsolatedFromAbove) or op.operands or op.results:
            raise PassError(
                f"cannot run '{pass_.name}' on '{op.name}' alone: it is not isolated from what is around it",
                op,
                help=f"run it on what holds the operation, such as builtin.module({pass_.name})",
            )
    block, after = ops[0].parent, ops[-1].next_op
    assert block is not None, "an operation inside a module has a block"
    outer = ops[0].parent_op()
    while outer is not None and not isinstance(outer, ModuleOp):
        outer = outer.parent_op()
    for op in ops:
        op.detach()
    module = ModuleOp(list(ops), {} if outer is None else dict(outer.attributes))
    try:
        pass_.apply(context, module)
    finally:
        left = tuple(module.body.block.ops)
        for op in left:
            op.detach()
        if after is None:
            block.add_ops(left)
        else:
            block.insert_ops_before(left, after)
    return left


class _Report(PassInstrumentation):
    """Hands the time of each run to the caller of `run_pipeline`."""

    def __init__(self, timing: dict[str, float] | None, on_pass: Callable[[PassRun], None] | None) -> None:
        self.timing = timing
        self.on_pass = on_pass

    def after_pass(self, run: PassRun) -> None:
        if self.timing is not None:
            self.timing[run.name] = self.timing.get(run.name, 0.0) + run.cpu_seconds
        if self.on_pass is not None:
            self.on_pass(run)


def _drop_anchor(elements: tuple[Element, ...]) -> tuple[Element, ...]:
    if len(elements) == 1 and isinstance(elements[0], Nest) and elements[0].anchor in (ModuleOp.name, ANY):
        return elements[0].elements
    return elements


def _specs(elements: Iterable[Element]) -> Iterable[PassSpec]:
    for element in elements:
        if isinstance(element, Nest):
            yield from _specs(element.elements)
        else:
            yield element


def _expand(elements: Iterable[Element], text: str) -> Iterable[Element]:
    for element in elements:
        if isinstance(element, Nest):
            yield Nest(element.anchor, tuple(_expand(element.elements, text)))
        elif element.name in NAMED_PIPELINES:
            options = make_from_spec(CompileOptions, element, text, kind="pipeline")
            try:
                expansion = NAMED_PIPELINES[element.name](options)
            except ValueError as error:
                raise PipelineError(f"pipeline '{element.name}': {error}", text, element.position) from None
            yield from parse_pipeline(expansion)
        else:
            yield element
