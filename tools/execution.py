"""Run a captured program in the simulator, and judge the result: what `uop run` and the tests share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from ..frontends.captured import Captured
from ..frontends.element_types import dtype_name
from ..runtime.program import Program, ProgramRun
from ..runtime.tensors import from_array, to_array
from .comparison import Comparison, compare
from .compilation import compile_stages
from .pass_run import PassInstrumentation
from .pipelines import CompileOptions


@dataclass(frozen=True)
class Result:
    """A run of a program, and each output against eager PyTorch and float64."""

    run: ProgramRun
    comparisons: list[Comparison]

    @property
    def right(self) -> bool:
        return all(row.right for row in self.comparisons)


def run_captured(
    captured: Captured,
    options: CompileOptions,
    *,
    seed: int = 0,
    instrumentations: Sequence[PassInstrumentation] = (),
) -> Result:
    """Compile the program, run every kernel with the race check on, and compare. instrumentations: of the passes.

    Raises what the front end, a pass, NVRTC or the simulator raises.
    """
    imported = captured.imported()
    for _ in compile_stages(imported, options, instrumentations=instrumentations):
        pass
    inputs = captured.make_inputs(seed)
    run = Program(imported.module).run([to_array(value) for value in inputs])
    outputs = [from_array(array, type) for array, type in zip(run.outputs, imported.result_types, strict=True)]
    references = zip(outputs, captured.reference(inputs), captured.reference64(inputs), strict=True)
    return Result(run, [compare_tensors(ours, eager, exact) for ours, eager, exact in references])


def compare_tensors(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> Comparison:
    """Compare an output with eager PyTorch's and the float64 result; all three have one shape."""
    dtype = dtype_name(eager.dtype)
    if not eager.dtype.is_floating_point:
        return compare(ours.numpy(), eager.numpy(), eager.numpy(), dtype)
    return compare(ours.double().numpy(), eager.double().numpy(), exact.double().numpy(), dtype)
