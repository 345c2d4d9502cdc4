"""Whether a kernel stores the same if its exponentials exp(x − max x) are multiplied, all of a row by one factor: those
of a softmax, which are divided by their own sum.

What is computed of such exponentials has a degree: the power of the factor by which it is multiplied. It is 1 of the
exponentials and of their sums, −1 of a reciprocal of a sum, and what has degree 0 stays as it is.
"""

from __future__ import annotations

from math import inf, nan

from xdsl.ir import Operation, SSAValue

from ....dialects.uop import ALU_OPS, AddOp, DivOp, MulOp, ReduceOp, WhereOp
from ..free_ranges import FreeRanges
from .exponentials import sum_of_exponentials
from .reductions import is_number

_RECIPROCAL = ALU_OPS["reciprocal"]


def cancels(exponential: SSAValue, base: SSAValue) -> bool:
    """Whether a factor of the exponentials, one for all that share their base, goes out of all that the kernel stores.

    They may be multiplied by reciprocals of their sums alone: with any number, or by themselves, a product that was
    finite might overflow. Nor is anything divided by what may be smaller than a sum, which is that of a term of 1.
    """
    rows = FreeRanges()[base]
    degrees = {exponential: 1}
    op = exponential.owner
    assert isinstance(op, Operation)
    while (op := op.next_op) is not None:
        if degrees.keys().isdisjoint(op.operands):
            continue
        degree = _degree(op, [degrees.get(operand) for operand in op.operands])
        if degree is None or (isinstance(op, ReduceOp) and not rows.isdisjoint(op.over)):
            return False
        if degree != 0:
            degrees[op.results[0]] = degree
    return True


def _degree(op: Operation, of: list[int | None]) -> int | None:
    """The degree of what an op gives; None if it has none, or may overflow.

    of: the degrees of its operands, None of those that the factor does not change
    """
    if isinstance(op, MulOp):
        return 0 if of in ([1, -1], [-1, 1]) else None
    if isinstance(op, DivOp):
        return 0 if of == [1, 1] and _is_sum(op.operands[1]) else None
    if isinstance(op, _RECIPROCAL):
        return -1 if of == [1] and _is_sum(op.operands[0]) else None
    if isinstance(op, ReduceOp):
        return 1 if of[0] == 1 and op.monoid.data == "add" else None
    if isinstance(op, AddOp | WhereOp):
        terms = zip(op.operands[-2:], of[-2:], strict=True)
        degrees = {degree for term, degree in terms if not _is_multiple_of_itself(term)}
        return degrees.pop() if len(degrees) == 1 else None
    return None


def _is_sum(value: SSAValue) -> bool:
    return sum_of_exponentials(value) is not None


def _is_multiple_of_itself(value: SSAValue) -> bool:
    """Whether a value is a constant that no factor changes."""
    return any(is_number(value, number) for number in (0.0, inf, nan))
