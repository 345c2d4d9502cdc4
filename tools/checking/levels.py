"""Execute a captured program at chosen levels, and judge what each gives."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

import torch
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.ir import Operation

from ...dialects import loop
from ...dialects.types import element_count, shape_of
from ...frontends.captured import Captured
from ...frontends.imported import Imported
from ...runtime.interpret.program import interpret_program
from ...runtime.native.cpu import host
from ...runtime.program import Program
from ...runtime.tensors import from_array, from_interpreted, to_array, to_interpreted
from ..compilation import compile_stages
from ..pipelines import CompileOptions
from .findings import Finding, Spilled, TooMuchWork, WrongResult, finding_of
from .outcomes import Outcome, Verdict

Tensors = Sequence[torch.Tensor]

Judge = Callable[[Tensors], str | None]
"""Says what is wrong with the results of a program; None where nothing is."""


def _interpret(imported: Imported, inputs: Tensors) -> Tensors:
    arrays = interpret_program(imported.module, "forward", [to_interpreted(value) for value in inputs])
    return [from_interpreted(array, type) for array, type in zip(arrays, imported.result_types, strict=True)]


def _simulate(imported: Imported, inputs: Tensors) -> Tensors:
    arrays = Program(imported.module).run([to_array(value) for value in inputs]).outputs
    return [from_array(array, type) for array, type in zip(arrays, imported.result_types, strict=True)]


def _run_natively(imported: Imported, inputs: Tensors) -> Tensors:
    """Run the C text, built by this machine's compiler, in memory with guards around each value."""
    from ...runtime.native.compilation import load_guarded

    arrays = load_guarded(imported.module).run_guarded([to_array(value) for value in inputs])
    return [from_array(array, type) for array, type in zip(arrays, imported.result_types, strict=True)]


def _compile(imported: Imported, inputs: Tensors) -> None:
    """Compile every kernel. Raises `Spilled` where one needs more registers than there are."""
    spilled = [
        compiled.name
        for compiled in Program(imported.module).kernels.values()
        if compiled.resources.spill_store_bytes or compiled.resources.spill_load_bytes
    ]
    if spilled:
        raise Spilled(", ".join(spilled))


@dataclass(frozen=True)
class Level:
    """A form that programs are executed in.

    stage:      the form
    work_limit: the most elements that the program may go over, in all its tensors or loops
    execute:    what the program in this form returns, given its arguments; None where it is compiled and not run
    arch:       what is compiled for. target: the text that the program becomes
    """

    name: str
    stage: str
    work_limit: float
    execute: Callable[[Imported, Tensors], Tensors | None]
    arch: str = "sm_90"
    target: str = "cuda"


LEVELS = {
    level.name: level
    for level in (
        Level("tensors", "uop", 1e8, _interpret),
        Level("loops", "loop", 3e7, _interpret),
        Level("sm_80", "gpu-kernel", float("inf"), _compile, "sm_80"),
        Level("sm_90", "gpu-kernel", float("inf"), _compile, "sm_90"),
        Level("sm_100", "gpu-kernel", float("inf"), _compile, "sm_100"),
        Level("cuda", "gpu-kernel", 1e8, _simulate),
        Level("cpu", "cpu-kernel", float("inf"), _run_natively, target="c"),
    )
}
"""In the order in which a program is checked: in numpy before it is cut into kernels, the kernels' loops in numpy,
CUDA text, compiled by NVRTC and run in the simulator with the race check, and C text on this machine. `sm_…` are
compiled and not run."""

EXECUTED = ("tensors", "loops", "cuda", "cpu")
"""The levels that are executed."""


def check_program(
    captured: Captured, case: str, levels: Sequence[str], make_judge: Callable[[Tensors], Judge]
) -> Iterator[Outcome]:
    """Run the program at each of the levels; an outcome for each, in the order of `LEVELS`.

    make_judge: what judges the results, given the values of the arguments of the imported function.
    """
    run: _Run | Finding | None = None
    for level in (level for name, level in LEVELS.items() if name in levels):
        start = time.perf_counter()
        try:
            if run is None:
                run = _Run(captured, make_judge)
            found = run if isinstance(run, Finding) else run.check(level)
        except Exception as error:
            found = finding_of(error)
            if run is None:
                run = found
        yield Outcome(case, level.name, found.verdict, found.reasons, found.detail, time.perf_counter() - start)


def refusal(captured: Captured) -> Finding | None:
    """What is refused before the program is cut into kernels, whatever it is compiled for; None where nothing is."""
    try:
        _Compilation(captured.imported(), LEVELS["tensors"]).reach("uop")
    except Exception as error:
        finding = finding_of(error)
        return finding if finding.verdict is Verdict.REFUSED else None
    return None


def fail_everywhere(error: Exception, case: str, levels: Sequence[str]) -> Iterator[Outcome]:
    """The outcomes of a case that cannot be captured."""
    found = finding_of(error)
    yield from (Outcome(case, level, found.verdict, found.reasons, found.detail) for level in levels)


class _Run:
    """A program on its way through the stages, once for each architecture."""

    def __init__(self, captured: Captured, make_judge: Callable[[Tensors], Judge]) -> None:
        self.imported = captured.imported()
        self.inputs = captured.make_inputs()
        self.judge = make_judge(self.inputs)
        self.compilations: dict[tuple[str, str], _Compilation] = {}

    def check(self, level: Level) -> Finding:
        """What comes of the program at a level. Raises what a pass, an interpreter or the simulator raises."""
        key = level.target, level.arch
        if key not in self.compilations:
            # Passes change the module in place.
            imported = replace(self.imported, module=self.imported.module.clone())
            self.compilations[key] = _Compilation(imported, level)
        compilation = self.compilations[key]
        compilation.reach(level.stage)
        if compilation.work > level.work_limit:
            raise TooMuchWork(compilation.work, level.work_limit)
        outputs = level.execute(compilation.imported, self.inputs)
        wrong = None if outputs is None else self.judge(outputs)
        if wrong is not None:
            raise WrongResult(wrong)
        return Finding(Verdict.RIGHT)


class _Compilation:
    """The stages of a program for one target and architecture, as far as they are needed."""

    def __init__(self, imported: Imported, level: Level) -> None:
        self.imported = imported
        options = CompileOptions(arch=level.arch, vector_bytes=host().vector_bytes)
        self.stages = compile_stages(imported, options, target=level.target)
        self.stage = ""
        self.work = 0.0
        self.error: Exception | None = None

    def reach(self, stage: str) -> None:
        """Compile up to a stage. Raises, now and later, what a pass raises."""
        if self.error is not None:
            raise self.error
        while self.stage != stage:
            try:
                self.stage, module = next(self.stages)
            except Exception as error:
                self.error = error
                raise
            if self.stage in _WORK:
                self.work = _WORK[self.stage](module)


def _tensor_work(module: ModuleOp) -> float:
    """The elements of all tensors that the program makes."""
    return sum(
        element_count(shape_of(value.type))
        for op in module.walk()
        for value in op.results
        if isinstance(value.type, ShapedType)
    )


def _loop_work(module: ModuleOp) -> float:
    """The steps of all innermost loops of the program's kernels."""
    loops = [op for op in module.walk() if isinstance(op, loop.ForOp | loop.ReduceOp)]
    outer = {parent for parent in (_loop_around(op) for op in loops) if parent is not None}
    return sum(prod(each.axis.extent.data for each in _nest(op)) for op in loops if op not in outer)


def _nest(op: loop.ForOp | loop.ReduceOp) -> Iterator[loop.ForOp | loop.ReduceOp]:
    """The loop and those around it."""
    around: loop.ForOp | loop.ReduceOp | None = op
    while around is not None:
        yield around
        around = _loop_around(around)


def _loop_around(op: Operation) -> loop.ForOp | loop.ReduceOp | None:
    parent = op.parent_op()
    return parent if isinstance(parent, loop.ForOp | loop.ReduceOp) else None


_WORK: dict[str, Callable[[ModuleOp], float]] = {"uop": _tensor_work, "loop": _loop_work}
"""Stage → what executing the program takes from there on."""
