"""What is known of values where some conditions are false, or true: everything else may be anything."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ..dialects.semantics import evaluate, numpy_dtype, round_to_element
from ..dialects.tile import ReadOp
from ..dialects.types import element_of, is_bool, is_float, is_integer
from ..dialects.uop import (
    AddOp,
    AluOp,
    AndOp,
    CastOp,
    ConstOp,
    ExpandOp,
    LoadOp,
    MaxOp,
    MinOp,
    MulOp,
    OrOp,
    SubOp,
    WhereOp,
)
from .tile.linear import unexpanded

Known = Any
"""A numpy scalar of the value's element type; None when the value is not known."""

_ROUNDED_EXACTLY = frozenset(
    "neg abs sign reciprocal sqrt floor ceil round trunc to_tf32 not isnan isinf add sub mul div min max and or xor "
    "eq ne lt le gt ge where fma".split()
)


class KnownValues:
    """What follows from constants and from conditions whose values are given, to the last bit.

    Reads whose mask is false are 0. What is not known could be anything, infinities and NaN too: 0 · y is 0 only if y
    is known (or an integer). Functions whose last bits differ between libraries (exp, erf, …) are evaluated only at ±0
    and ±∞, where C prescribes them.

    conditions: bools by value.
    nothing: floats that are taken to be −∞.
    finite: whether all that is not known is taken to be finite, so that 0 · y is 0, and −∞ + y is −∞.
    """

    def __init__(self, conditions: Mapping[SSAValue, bool], nothing: Collection[SSAValue] = (), finite: bool = False):
        self.known: dict[SSAValue, Known] = {value: np.bool_(holds) for value, holds in conditions.items()}
        self.known |= {value: _number(-np.inf, element_of(value.type)) for value in nothing}
        self._finite = finite

    def of(self, value: SSAValue) -> Known:
        stack = [value]
        while stack:
            top = stack[-1]
            arguments = _arguments(top)
            missing = [x for x in arguments if x not in self.known]
            if top in self.known:
                stack.pop()
            elif missing:
                stack += missing
            else:
                stack.pop()
                self.known[top] = self._evaluate(top, [self.known[x] for x in arguments])
        return self.known[value]

    def _evaluate(self, value: SSAValue, arguments: list[Known]) -> Known:
        owner, element = value.owner, element_of(value.type)
        if isinstance(owner, ConstOp):
            return _number(owner.number, element)
        if isinstance(owner, ExpandOp):
            return arguments[0]
        if isinstance(owner, ReadOp | LoadOp):
            return _number(0, element) if arguments and arguments[0] is not None and not arguments[0] else None
        if isinstance(owner, CastOp):
            return None if arguments[0] is None else _number(arguments[0], element)
        if isinstance(owner, AluOp):
            number = self._absorbed(owner, arguments) if any(x is None for x in arguments) else None
            return _alu(owner, arguments) if number is None else number
        return None

    def _absorbed(self, op: AluOp, arguments: list[Known]) -> Known:
        """What a known operand makes of another that is not known, as far as that is granted."""
        known = next((x for x in arguments if x is not None), None)
        if known is None or not is_float(element_of(op.operands[-1].type)):
            return None
        if self._finite and isinstance(op, MulOp) and known == 0:
            return abs(known)
        if self._finite and isinstance(op, AddOp | SubOp) and np.isinf(known):
            return -known if isinstance(op, SubOp) and arguments[0] is None else known
        return None


def _arguments(value: SSAValue) -> tuple[SSAValue, ...]:
    owner = value.owner
    if isinstance(owner, ReadOp | LoadOp):
        return () if owner.mask is None else (owner.mask,)
    return tuple(owner.operands) if isinstance(owner, AluOp | CastOp | ExpandOp) else ()


def _number(value: Any, element: Any) -> Known:
    with np.errstate(all="ignore"):
        return round_to_element(np, np.asarray(value), element).astype(numpy_dtype(element))[()]


def _alu(op: AluOp, arguments: list[Known]) -> Known:
    element = element_of(op.operands[-1].type)
    if isinstance(op, WhereOp):
        if arguments[0] is None:
            return arguments[1] if unexpanded(op.operands[1]) is unexpanded(op.operands[2]) else None
        return arguments[1] if arguments[0] else arguments[2]
    if isinstance(op, AndOp | OrOp) and is_bool(element):
        decides = isinstance(op, OrOp)
        if any(x is not None and bool(x) is decides for x in arguments):
            return np.bool_(decides)
    if isinstance(op, MulOp) and is_integer(element) and any(x is not None and x == 0 for x in arguments):
        return _number(0, element)
    if any(x is None for x in arguments):
        return None
    row = op.row()
    if isinstance(op, MinOp | MaxOp) and is_float(element) and arguments[0] == arguments[1]:
        if arguments[0].tobytes() != arguments[1].tobytes():
            return None  # of 0 and −0, either
    if row.name not in _ROUNDED_EXACTLY:
        if row.domain != "float" or any(x != 0 and not np.isinf(x) for x in arguments):
            return None
    return evaluate(np, row, element, arguments)[()]
