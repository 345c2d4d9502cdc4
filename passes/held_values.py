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


def held_at_once(ops: Sequence[Operation], is_of_row: Callable[[SSAValue], bool], *, reads: bool = False) -> list[int]:
    """What is held of a row where that is most: bytes of an element, for each value; as for `held_values`.

    reads: with what else is read meanwhile, as of a walk that has all that it reads on its way before it combines it.
    """
    held, needed = held_values(ops, is_of_row)
    now: list[SSAValue] = []
    most: list[int] = []
    for place, op in enumerate(ops):
        beside = reads and isinstance(op, ReadOp) and bool(now)
        now += [value for value in op.results if value in held or (beside and is_of_row(value))]
        now = [value for value in now if needed[value] > place]
        widths = [byte_width(element_of(value.type)) for value in now]
        most = max(most, widths, key=lambda widths: (sum(widths), len(widths)))
    return most


def held_bytes(ops: Sequence[Operation], is_of_row: Callable[[SSAValue], bool]) -> int:
    """What is held of a row at a time, in bytes an element; as for `held_values`."""
    return sum(held_at_once(ops, is_of_row))
