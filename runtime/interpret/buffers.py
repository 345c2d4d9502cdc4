"""Buffers of interpreted kernels: allocation, and the checks before and after a run."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from ...dialects.semantics import numpy_dtype
from ...dialects.types import element_of, shape_of
from ...dialects.uop import KernelOp
from .arrays import Array, ExecutionError

NONE: Mapping[int, int] = {}
"""Of outputs that hold elements already: there are none."""


def poisoned_buffer(type: Attribute) -> Array:
    """A buffer whose elements say that nothing was written: NaN, an odd number, or true."""
    dtype = np.dtype(numpy_dtype(element_of(type)))
    if dtype.kind == "f":
        return np.full(shape_of(type), np.nan, dtype)
    if dtype.kind == "b":
        return np.ones(shape_of(type), dtype)
    return np.full(dtype.itemsize * int(np.prod(shape_of(type))), 0xA5, np.uint8).view(dtype).reshape(shape_of(type))


def check_buffers(kernel: KernelOp, buffers: Sequence[Array]) -> None:
    """Raise `ExecutionError` unless each buffer has the shape and element type of its argument."""
    arguments = kernel.body.block.args
    if len(buffers) != len(arguments):
        raise ExecutionError(f"the kernel takes {len(arguments)} buffers, not {len(buffers)}", kernel)
    for argument, buffer in zip(arguments, buffers, strict=True):
        expected = numpy_dtype(element_of(argument.type))
        if buffer.shape != shape_of(argument.type) or buffer.dtype != expected:
            raise ExecutionError(
                f"buffer %{argument.name_hint} is {buffer.dtype}{list(buffer.shape)}, "
                f"the kernel takes {expected}{list(shape_of(argument.type))}",
                kernel,
            )


def check_written(kernel: KernelOp, written: Mapping[SSAValue, Array], kept: Collection[int]) -> None:
    """Raise `ExecutionError` unless every element of the buffers was written.

    written: by buffer, where it was. kept: places of buffers that were full before
    """
    full = {kernel.body.block.args[place] for place in kept}
    for buffer, places in written.items():
        if buffer not in full and not places.all():
            place = [int(i) for i in np.argwhere(~places)[0]]
            raise ExecutionError(f"the kernel does not write element {place} of %{buffer.name_hint}", kernel)
