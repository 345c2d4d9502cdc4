"""Compile a captured program stage by stage: what `uop compile` and `uop run` share."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ..rewriting.diagnostics import PassError
from ..targets.cuda import cuda_text
from .instruments import VerifyEach
from .pass_run import PassInstrumentation
from .pipeline import build_pipeline, default_passes, execute
from .pipelines import TARGETS, CompileOptions
from .plugins import make_context
from .printing import TextPrinter
from .verifier import verify_ir

if TYPE_CHECKING:
    from ..frontends.imported import ImportedFunction

CUDA = "cuda"
"""The form after the last stage: text for the CUDA compiler."""

C = "c"
"""The same for the C compiler."""

FORMS = {target: (*(stage.name for stage in stages), target) for target, stages in TARGETS.items()}
"""Target → the forms of a program on its way there, its text the last."""

FILE_NAMES = {
    **{name: f"{name.replace('-', '_')}.mlir" for forms in FORMS.values() for name in forms[:-1]},
    CUDA: "kernels.cu",
    C: "kernels.c",
}
"""Form → the file that `-o` writes it to."""


class CompilerCrash(Exception):
    """A pass failed in a way that nobody meant, a defect of uop. The text names it and tells how to run it again."""

    def __init__(self, step: str, module: ModuleOp, pipeline: list[str], error: Exception):
        """module: the program before the first pass. pipeline: the passes up to the one that failed."""
        from .reproducer import reproducer_text, write_reproducer

        what = f"pass '{step}'"
        flags = {"--pass-pipeline": f"builtin.module({','.join(pipeline)})"}
        path = write_reproducer(reproducer_text(stage_text("torch", module), flags, what, error), None, None)
        super().__init__(
            f"{what} crashed with {type(error).__name__}: {error}\n"
            f"note: this is a defect of uop; to run it again: uop-opt {path} --run-reproducer"
        )


def compile_stages(
    imported: ImportedFunction,
    options: CompileOptions,
    *,
    target: str = CUDA,
    verify: bool = True,
    instrumentations: Sequence[PassInstrumentation] = (),
) -> Iterator[tuple[str, ModuleOp]]:
    """Take an imported function through the pipeline, in place; (name, module) of each form as it is reached.

    target: what the program becomes, `cuda` or `c`.
    verify: check the IR, SSA dominance included, after each pass. instrumentations: hooks around each pass.
    Raises `PassError` for a program that a pass refuses, `PipelineError` for options that one refuses, `CompilerCrash`
    for a pass that fails otherwise.
    """
    context = make_context()
    module = imported.module
    original = module.clone()
    registry = default_passes()
    hooks = [*instrumentations, VerifyEach()] if verify else instrumentations
    if verify:
        verify_ir(module)
    pipeline: list[str] = []
    for stage in TARGETS[target]:
        for step in stage.steps:
            pipeline.append(step.spell(options))
            passes = build_pipeline(pipeline[-1], registry)
            try:
                execute(passes, context, module, hooks)
            except PassError:
                raise
            except Exception as error:
                raise CompilerCrash(step.name, original, pipeline, error) from error
        yield stage.name, module


def stage_text(name: str, module: ModuleOp, *, locations: bool = True) -> str:
    """The text of a form: IR that `uop-opt` reads, CUDA or C.

    locations: write `loc("model.py":7:0)` behind each op that has one; CUDA and C name the lines in comments.
    """
    if name == CUDA:
        return cuda_text(module)
    if name == C:
        from ..targets.c import c_text

        return c_text(module)
    stream = io.StringIO()
    TextPrinter(stream, print_debuginfo=locations, unknown_locations=False).print_op(module)
    return stream.getvalue() + "\n"
