"""Run a captured program and judge the result: what `uop run` and the tests share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch

from ..frontends.captured import Captured
from ..frontends.element_types import dtype_name
from ..runtime.cuda.program import CudaProgram
from ..runtime.devices import Device, Executable
from ..runtime.program import Program, ProgramRun
from ..runtime.tensors import from_array, to_array
from .comparison import Comparison, compare
from .compilation import compile_stages
from .pass_run import PassInstrumentation
from .pipelines import CompileOptions


@dataclass(frozen=True)
class Judged:
    """Each output of a run against eager PyTorch and float64."""

    comparisons: list[Comparison]

    @property
    def right(self) -> bool:
        return all(row.right for row in self.comparisons)


@dataclass(frozen=True)
class Result(Judged):
    """A run in the simulator."""

    run: ProgramRun


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
    return Result(_compare(captured, inputs, outputs), run)


def run_on_device(
    captured: Captured,
    options: CompileOptions,
    device: Device,
    *,
    seed: int = 0,
    instrumentations: Sequence[PassInstrumentation] = (),
) -> tuple[Executable, Judged]:
    """Compile the program as far as the device needs it, run it there, and compare; the loaded program too.

    With `instrumentations` all passes are run. On a GPU each launch is waited for, so that errors name their kernel.
    Raises what the front end, a pass, NVRTC or the device raises.
    """
    reached = imported = captured.imported()
    for name, module in compile_stages(imported, options, target=device.target, instrumentations=instrumentations):
        if name == device.stage:
            reached = replace(imported, module=module.clone())
            if not instrumentations:
                break
    program = device.load(reached)
    if isinstance(program, CudaProgram):
        program.blocking = True
    inputs = captured.make_inputs(seed)
    # The program may update what it is given.
    outputs = [output.cpu() for output in program([value.clone() for value in inputs])]
    return program, Judged(_compare(captured, inputs, outputs))


def _compare(captured: Captured, inputs: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor]) -> list[Comparison]:
    references = zip(outputs, captured.reference(inputs), captured.reference64(inputs), strict=True)
    return [compare_tensors(ours, eager, exact) for ours, eager, exact in references]


def compare_tensors(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> Comparison:
    """Compare an output with eager PyTorch's and the float64 result; all three have one shape."""
    dtype = dtype_name(eager.dtype)
    if not eager.dtype.is_floating_point:
        return compare(ours.numpy(), eager.numpy(), eager.numpy(), dtype)
    return compare(ours.double().numpy(), eager.double().numpy(), exact.double().numpy(), dtype)
