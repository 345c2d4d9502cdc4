"""The tensors of a plan as PyTorch has them on a GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from ..artifact.plan import Plan, Value
from ..artifact.sizes import Sizes, narrow, widen
from .errors import GpuError, GpuInputError
from .gpus import Gpu
from .torch_gpus import TorchGpus

DTYPES: Mapping[str, torch.dtype] = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i1": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "ui8": torch.uint8,
}
"""By the name of the element type; their elements lie in memory as `STORAGE_DTYPES` says."""

ALIGNMENT = 16
"""Bytes that the address of each tensor is a multiple of: kernels load and store so many at once."""


def gpu_of(plan: Plan, tensors: Sequence[torch.Tensor], torch_gpus: TorchGpus) -> int:
    """The GPU that tensors lie on, the current one where all are on the CPU. Raises `GpuInputError` for several."""
    found = {
        index: place
        for place, each in enumerate(plan.without_symbols(tensors))
        if (index := torch_gpus.index_of(each)) is not None
    }
    if len(found) > 1:
        (one, first), (other, second) = sorted(found.items())[:2]
        names = [plan.values[plan.arguments[place]].name for place in (first, second)]
        raise GpuInputError(
            f"@{plan.function} is given {names[0]} on cuda:{one} and {names[1]} on cuda:{other}: "
            "all tensors must be on one GPU"
        )
    return next(iter(found), torch_gpus.current())


def fit_tensors(plan: Plan, tensors: Sequence[torch.Tensor], gpu: Gpu) -> list[torch.Tensor]:
    """The inputs of a program as its kernels take them, given what it is called with: what is on the GPU, dense,
    row-major, aligned, and of the size that it has here is not copied. Raises `GpuInputError` for a tensor that is not
    as the plan says, `SizeError` for one of a size that it does not take."""
    arguments = plan.without_symbols(tensors)
    if len(arguments) != len(plan.arguments):
        raise GpuInputError(f"@{plan.function} takes {len(plan.arguments)} tensors, not {len(arguments)}")
    sizes = plan.sizes(tensors)
    given = {
        place: _fit(plan, plan.values[place], tensor, gpu, sizes)
        for place, tensor in zip(plan.arguments, arguments, strict=True)
    }
    for symbol in plan.symbols:
        given[symbol.place] = new_tensor(plan, plan.values[symbol.place], gpu).fill_(sizes[symbol.name])
    return [given[place] for place in plan.inputs]


def sized_results(plan: Plan, tensors: Sequence[torch.Tensor], results: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """The results of a program, of which only the elements that are meant. tensors: what it was called with"""
    if not plan.symbols:
        return list(results)
    sizes = plan.sizes(tensors)
    shapes = [plan.values[place].shape_in(sizes) for place in plan.outputs]
    return [narrow(result, shape).contiguous() for result, shape in zip(results, shapes, strict=True)]


def _fit(plan: Plan, value: Value, tensor: torch.Tensor, gpu: Gpu, sizes: Sizes) -> torch.Tensor:
    if tuple(tensor.shape) != value.shape_in(sizes) or tensor.dtype != DTYPES[value.dtype]:
        given = f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
        raise GpuInputError(f"argument {value} of @{plan.function} is given a tensor {given}")
    tensor = tensor.detach().resolve_neg()
    if tuple(tensor.shape) != value.shape:
        return widen(new_tensor(plan, value, gpu), tensor)
    is_there = gpu.torch.index_of(tensor) is not None
    if is_there and tensor.is_contiguous() and tensor.data_ptr() % ALIGNMENT == 0:
        return tensor
    return new_tensor(plan, value, gpu).copy_(tensor)


def new_tensor(plan: Plan, value: Value, gpu: Gpu) -> torch.Tensor:
    """A tensor for a value, whose elements are not written yet. Raises `GpuError` where there is no memory."""
    try:
        return gpu.torch.empty(value.shape, DTYPES[value.dtype], gpu.index)
    except torch.OutOfMemoryError as error:
        raise _no_memory(plan, gpu, f"{value}, {value.byte_count:,} bytes", error) from error


def new_arena(plan: Plan, gpu: Gpu) -> torch.Tensor:
    """Memory that values with an offset share. Raises `GpuError` where there is none."""
    try:
        return gpu.torch.empty((plan.arena_bytes,), torch.uint8, gpu.index)
    except torch.OutOfMemoryError as error:
        raise _no_memory(plan, gpu, f"{plan.arena_bytes:,} bytes between kernels", error) from error


def _no_memory(plan: Plan, gpu: Gpu, what: str, error: Exception) -> GpuError:
    return GpuError(f"@{plan.function} finds no memory on {gpu} for {what}: {error}")
