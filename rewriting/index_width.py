"""The width of a kernel's indices: 32 bits only where every one is proved to fit."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from ..dialects.gpu_kernel import AsyncCopyOp, AtomicOp, ForOp, KernelOp, LdmatrixOp, LoadOp, StoreOp
from ..dialects.traversal import ops_inside
from ..dialects.types import element_count, shape_of
from ..dialects.uop import AddOp, CastOp, MulOp, NegOp, SubOp, WhereOp
from .interval_arithmetic import Interval
from .intervals import IntervalAnalysis

_NARROW = Interval(-(2**31), 2**31 - 1)

_LINEAR = (AddOp, SubOp, MulOp, NegOp, WhereOp)
"""Ops whose result, modulo 2³², follows from what their operands are modulo 2³²."""


def index_bits(kernel: KernelOp, intervals: IntervalAnalysis | None = None) -> int:
    """32 where every index of the kernel is proved to fit, else 64. intervals: what is known already.

    An index made of data, as in an embedding, is in range where it is used, by PyTorch's contract or by a mask; so 32
    bits of it will do as long as it is only multiplied, added and used as a place.
    """
    if any(element_count(shape_of(argument.type)) > _NARROW.high for argument in kernel.body.block.args):
        return 64
    intervals = intervals or IntervalAnalysis()
    of_data: set[SSAValue] = set()
    for op in ops_inside(kernel.body):
        cls = type(op)
        if cls is ForOp and isinstance(op, ForOp) and _end(op, intervals) - 1 + op.step.value.data > _NARROW.high:
            return 64  # what the index is after the last step
        for value in _indices(op):
            interval = intervals.of(value)
            assert interval is not None, "an index has an interval"
            if _NARROW.contains(interval):
                continue
            if cls in (CastOp, LoadOp) or (cls in _LINEAR and not of_data.isdisjoint(op.operands)):
                of_data.add(value)
            if value not in of_data or not all(_takes_residues(use.operation, value) for use in value.uses):
                return 64
    return 32


def _end(op: ForOp, intervals: IntervalAnalysis) -> int:
    """The greatest number that the index of a loop does not reach."""
    if isinstance(op.until, int):
        return op.until
    interval = intervals.of(op.until)
    assert interval is not None, "an index has an interval"
    return interval.high


def _indices(op: Operation) -> Iterator[SSAValue]:
    """The indices that an op gives, and its regions take."""
    for result in op.results:
        if type(result.type) is IndexType:
            yield result
    for region in op.regions:
        for block in region.blocks:
            yield from (argument for argument in block.args if type(argument.type) is IndexType)


def _takes_residues(user: Operation, value: SSAValue) -> bool:
    """Whether a use needs no more of an index than what it is modulo 2³²."""
    if isinstance(user, AsyncCopyOp) and user.source_offset.value.data and value is user.source_index:
        return False  # the sum is an address of 64 bits
    if isinstance(user, LoadOp | StoreOp | AtomicOp | AsyncCopyOp | LdmatrixOp):
        return True
    return isinstance(user, _LINEAR)
