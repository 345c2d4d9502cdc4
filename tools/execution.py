"""Run a captured program in the simulator, and judge the result: what `uop run` and the tests share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from xdsl.ir import Attribute

from ..dialects.types import element_of, shape_of
from ..frontends.captured import Captured
from ..frontends.element_types import dtype_name, dtype_of
from ..runtime.program import Program, ProgramRun
from ..runtime.storage import Array
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


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as the simulator holds it: contiguous, bf16 as its bits, bool as bytes."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy()
    return tensor.view(torch.uint8).numpy() if tensor.dtype == torch.bool else tensor.numpy()


def from_array(array: Array, type: Attribute) -> torch.Tensor:
    """The tensor of an IR type that the simulator holds as `array`."""
    dtype = dtype_of(element_of(type))
    return torch.from_numpy(array).view(dtype).reshape(shape_of(type))  # pyright: ignore[reportUnknownMemberType]


def to_interpreted(tensor: torch.Tensor) -> Array:
    """A tensor as the interpreters hold it: contiguous, bf16 widened to f32."""
    tensor = tensor.detach().contiguous()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def from_interpreted(array: Array, type: Attribute) -> torch.Tensor:
    """The tensor of an IR type that the interpreters hold as `array`."""
    # What numpy broadcasts or reverses has strides that PyTorch does not take.
    tensor = torch.from_numpy(np.array(array, order="C"))  # pyright: ignore[reportUnknownMemberType]
    return tensor.to(dtype_of(element_of(type)))


def compare_tensors(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> Comparison:
    """Compare an output with eager PyTorch's and the float64 result; all three have one shape."""
    dtype = dtype_name(eager.dtype)
    if not eager.dtype.is_floating_point:
        return compare(ours.numpy(), eager.numpy(), eager.numpy(), dtype)
    return compare(ours.double().numpy(), eager.double().numpy(), exact.double().numpy(), dtype)
