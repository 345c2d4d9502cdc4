"""When two pure ops are the same: one key for hash-consing in the builder and for common subexpressions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cache

from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import Commutative

from ..dialects.types import element_of, is_float
from ..dialects.uop import AluOp, MaxOp, MinOp


def op_key(
    cls: type[Operation],
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] | None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> tuple[Hashable, ...]:
    """Equal for pure ops without regions that give the same results.

    Operands are named by their ids, which hash fast: the key speaks of values that are there. Who keeps keys
    while values come and go compares the operands again (`has_operands`).
    """
    if attributes:
        return (*op_key(cls, operands, result_types, properties), None, *sorted(attributes.items(), key=_name))
    if len(operands) == 2 and _is_commutative(cls):
        x, y = operands
        # The order of operands is free to the last bit, but for min and max of +0 and −0, which may give either.
        if id(y) < id(x) and (cls not in (MinOp, MaxOp) or not is_float(element_of(x.type))):
            operands = y, x
    if _is_alu(cls):  # the operands' types say the result's
        return cls, *map(id, operands)
    items = properties.items() if properties else ()
    if len(items) > 1:
        items = sorted(items, key=_name)
    return cls, *map(id, operands), _number((*result_types, *items))


def has_operands(op: Operation, operands: Sequence[SSAValue]) -> bool:
    """Whether these are the operands of an op with an equal key, in one of the orders that the key allows."""
    own = op._operands  # pyright: ignore[reportPrivateUsage]  # the view costs twice as much
    return own == tuple(operands) or (len(own) == 2 and own[0] is operands[1] and own[1] is operands[0])


@cache
def _is_commutative(op: type[Operation]) -> bool:
    return any(isinstance(trait, Commutative) for trait in op.traits)


_numbers: dict[tuple[Hashable, ...], int] = {}


def _number(attributes: tuple[Hashable, ...]) -> int:
    """One number for all that are equal: attributes hash slowly, and a key is looked up in several scopes."""
    return _numbers.setdefault(attributes, len(_numbers))


@cache
def _is_alu(op: type[Operation]) -> bool:
    return issubclass(op, AluOp)


def _name(item: tuple[str, Attribute]) -> str:
    return item[0]
