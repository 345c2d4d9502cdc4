"""gpu-kernel-check: facts of the hardware that a verifier of single ops cannot see."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from ...dialects import gpu_kernel
from ...dialects.traversal import ops_inside
from ...dialects.types import byte_width, element_of, is_vector, packed_strides
from ...dialects.uop import ALU_OPS
from ...rewriting.accesses import Access, accesses_of
from ...rewriting.congruences import constant
from ...rewriting.diagnostics import PassError
from ...rewriting.linear import LinearForm
from ...rewriting.ranges import RangeAnalysis

_SHIFTS = ALU_OPS["shl"], ALU_OPS["shr"]

ALIGNMENT = 16
"""Bytes; buffers and arrays begin at multiples of it, and no instruction asks for more."""


class GPUKernelCheckPass(ModulePass):
    """Refuse kernels whose vector accesses are not proved to be aligned.

    A vector load or store, an asynchronous copy and ldmatrix move bytes from a multiple of their size, or fault. That
    the place is one follows from what its index is modulo the vector's width (rewriting/ranges.py).

    An index is shifted by 0 to 31 (C leaves other counts open).

    Changes nothing. Leaves alone accesses of one element. Whether accesses stay inside their buffers is
    `uop-opt --check-bounds`.
    """

    name = "gpu-kernel-check"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, gpu_kernel.KernelOp):
                ranges = RangeAnalysis()
                for inner in ops_inside(kernel.body):
                    if type(inner) in _SHIFTS:
                        _check_shift(inner, ranges)
                    elif _moves_a_vector(inner):
                        for access in accesses_of(inner):
                            _check_alignment(access, ranges)


def _moves_a_vector(op: Operation) -> bool:
    # Classes are compared: most ops are arithmetic, and isinstance asks abstract classes.
    cls = type(op)
    if cls is gpu_kernel.LoadOp:
        return is_vector(op.results[0].type)
    if cls is gpu_kernel.StoreOp:
        return is_vector(op.operands[0].type)
    return cls in (gpu_kernel.AsyncCopyOp, gpu_kernel.LdmatrixOp)


def _check_shift(op: Operation, ranges: RangeAnalysis) -> None:
    count = ranges.of(op.operands[1])
    if not isinstance(op.operands[1].type, IndexType) or (count is not None and count.min >= 0 and count.max < 32):
        return
    raise PassError(
        f"{op.name} shifts an index by a count that is not proved to be in [0, 32)",
        op,
        "C leaves that open: clamp the count, or multiply or divide instead",
    )


def _check_alignment(access: Access, ranges: RangeAnalysis) -> None:
    element_bytes = byte_width(element_of(access.buffer.type))
    unit = min(access.width * element_bytes, ALIGNMENT) // element_bytes
    if unit <= 1:
        return
    strides = packed_strides(access.extents)
    places = [(index, stride) for index, stride in zip(access.indices, strides, strict=True) if stride % unit]
    if all((ranges.congruence(index) * constant(stride)).divisible_by(unit) for index, stride in places):
        return
    place = LinearForm({})  # in which terms may cancel
    for index, stride in places:
        place += ranges.form(index) * stride
    if not ranges.congruence_of_form(place).divisible_by(unit):
        raise PassError(
            f"{access.verb} {access.width} elements of %{access.buffer.name_hint or 'buffer'} at {place}, which is not "
            f"proved to be a multiple of {unit}",
            access.op,
            f"a misaligned access of {unit * element_bytes} bytes faults: move fewer elements at once, or pad the rows",
        )
