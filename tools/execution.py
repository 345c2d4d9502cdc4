"""Run a captured program in the simulator, and judge the result: what `uop run` and the tests share."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from ..frontends.captured import Captured
from ..runtime.program import Program, ProgramRun
from ..runtime.storage import Array
from .comparison import Comparison, compare
from .compilation import compile_stages
from .pipelines import CompileOptions


@dataclass(frozen=True)
class Result:
    """A run of a program, and each output against eager PyTorch and float64."""

    run: ProgramRun
    comparisons: list[Comparison]

    @property
    def right(self) -> bool:
        return all(row.right for row in self.comparisons)


def run_captured(captured: Captured, options: CompileOptions, *, seed: int = 0) -> Result:
    """Compile the program, run every kernel with the race check on, and compare.

    Raises what the front end, a pass, NVRTC or the simulator raises.
    """
    imported = captured.imported()
    for _ in compile_stages(imported, options):
        pass
    inputs = captured.make_inputs(seed)
    run = Program(imported.module).run([to_array(value) for value in inputs])
    references = zip(run.outputs, captured.reference(inputs), captured.reference64(inputs), strict=True)
    return Result(run, [_compare(ours, eager, exact) for ours, eager, exact in references])


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as the simulator holds it: contiguous, bf16 as its bits, bool as bytes."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy()
    return tensor.view(torch.uint8).numpy() if tensor.dtype == torch.bool else tensor.numpy()


def _compare(ours: Array, eager: torch.Tensor, exact: torch.Tensor) -> Comparison:
    result = torch.from_numpy(ours).view(eager.dtype).reshape(eager.shape)  # pyright: ignore[reportUnknownMemberType]
    if not eager.dtype.is_floating_point:
        return compare(result.numpy(), eager.numpy(), eager.numpy(), str(eager.dtype).removeprefix("torch."))
    return compare(
        result.double().numpy(), eager.double().numpy(), exact.double().numpy(), str(eager.dtype).removeprefix("torch.")
    )
