"""gpu-kernel-check: facts of the hardware that a verifier of single ops cannot see."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...dialects import gpu_kernel
from ...dialects.types import byte_width, element_of, packed_strides
from ...rewriting.accesses import Access, walk_accesses
from ...rewriting.diagnostics import PassError
from ...rewriting.linear import LinearForm
from ...rewriting.ranges import RangeAnalysis

ALIGNMENT = 16
"""Bytes; buffers and arrays begin at multiples of it, and no instruction asks for more."""


@dataclass(frozen=True)
class GPUKernelCheckPass(ModulePass):
    """Refuse kernels whose vector accesses are not proved to be aligned.

    A vector load or store, an asynchronous copy and ldmatrix move bytes from a multiple of their size, or fault. That
    the place is one follows from what its index is modulo the vector's width (rewriting/ranges.py).

    Changes nothing. Leaves alone accesses of one element. Whether accesses stay inside their buffers is
    `uop-opt --check-bounds`.
    """

    name = "gpu-kernel-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, gpu_kernel.KernelOp):
                ranges = RangeAnalysis()
                for access in walk_accesses(kernel):
                    _check_alignment(access, ranges)


def _check_alignment(access: Access, ranges: RangeAnalysis) -> None:
    element_bytes = byte_width(element_of(access.buffer.type))
    unit = min(access.width * element_bytes, ALIGNMENT) // element_bytes
    if not access.aligned or unit <= 1:
        return
    place = LinearForm({})
    for index, stride in zip(access.indices, packed_strides(access.extents), strict=True):
        if stride % unit:
            place += ranges.form(index) * stride
    if not ranges.congruence_of_form(place).divisible_by(unit):
        raise PassError(
            f"{access.verb} {access.width} elements of %{access.buffer.name_hint or 'buffer'} at {place}, which is not "
            f"proved to be a multiple of {unit}",
            access.op,
            f"a misaligned access of {unit * element_bytes} bytes faults: move fewer elements at once, or pad the rows",
        )
