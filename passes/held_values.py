"""Which values of a row are held because several walks over the row need them: those that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from ..dialects.tile import AxisOp, ReadOp
from ..dialects.types import byte_width, element_of, index, is_bool
from ..dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, LoadOp

_ELEMENTWISE = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp, LoadOp, ReadOp)
"""What is computed, or read, where its elements are needed, unless they are held."""


def is_data(op: Operation, value: SSAValue) -> bool:
    """Indices, constants, expansions and conditions on indices are cheaper to compute again than to keep."""
    element = element_of(value.type)
    if element == index or not isinstance(op, AluOp | BitcastOp | CastOp | LoadOp | ReadOp):
        return False
    return not is_bool(element) or not all(
        element_of(x.type) == index or is_bool(element_of(x.type)) for x in op.operands
    )


def held_values(
    ops: Sequence[Operation], is_of_row: Callable[[SSAValue], bool]
) -> tuple[set[SSAValue], dict[SSAValue, int]]:
    """The values of the row that are held; and for each value the place of the last op whose walk needs it.

    ops: of range or tile form, in none of which there are loops. Each that is not elementwise, and each that computes a
    held value, walks over the row; what a walk needs several times it computes once for each element.
    """
    held: set[SSAValue] = set()
    walks: dict[SSAValue, set[int]] = {}
    for place in reversed(range(len(ops))):
        op = ops[place]
        needing = {place}
        if isinstance(op, _ELEMENTWISE):
            (result,) = op.results
            needing = walks.get(result, needing)
            if len(needing) > 1 and is_data(op, result) and is_of_row(result):
                held.add(result)
                needing = {place}
        for operand in op.operands:
            walks.setdefault(operand, set()).update(needing)
    return held, {value: max(places) for value, places in walks.items()}


def held_bytes(ops: Sequence[Operation], is_of_row: Callable[[SSAValue], bool]) -> int:
    """What is held of a row at a time, in bytes an element; as for `held_values`."""
    held, needed = held_values(ops, is_of_row)
    now: list[SSAValue] = []
    most = 0
    for place, op in enumerate(ops):
        now = [value for value in (*now, *(r for r in op.results if r in held)) if needed[value] > place]
        most = max(most, sum(byte_width(element_of(value.type)) for value in now))
    return most
