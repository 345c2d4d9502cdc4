"""Values and ops as terms of the solver, in the form that a question has.

Bools are bools. Integers of n bits are bit-vectors of n bits, or whole numbers in their bounds of which each sum and
product is reduced modulo 2ⁿ: both say the same, and one question is easier to answer in this form and another in that.
An index is a whole number without bounds, or, for ops on its bits, a bit-vector of 64. Floats are those of the solver,
for ops that round nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3
from xdsl.ir import Attribute, Operation

from ...dialects import smt, smt_floats
from ...dialects.types import bit_width, i1, i64, index, integer_bounds, is_float, is_integer, ui8
from ...dialects.uop import AluOp, CastOp
from ..interpret.arrays import constant

WRAPPING = ("neg", "abs", "add", "sub", "mul", "floordiv", "truncdiv", "shl")
"""Ops whose exact result can leave the bounds of its type."""

BITWISE = ("not", "and", "or", "xor", "shl", "shr", "pow")
"""Ops that are not asked of whole numbers."""

DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")
"""Ops that have no meaning where the divisor is 0."""


class NotSymbolicError(Exception):
    """The solver does not know what an op means."""


@dataclass(frozen=True)
class Form:
    """How a question is put.

    whole: integers are whole numbers, not bit-vectors
    by_definition: `a // b` and `a % b` of constants are q and r of a = q · b + r, which is put in the place of a; this
      is easier where constants divide each other
    exact: whole numbers are not reduced, and it is asked of each whether it is in its bounds
    """

    whole: bool = False
    by_definition: bool = False
    exact: bool = False


@dataclass
class Value:
    """A term of the solver and the element type of what it stands for."""

    term: Any
    type: Attribute


Meant = tuple[Value, Any]
"""A value, and where it has a meaning."""


@dataclass
class Encoding:
    """Makes terms.

    assumptions: what is known of numbers as such, and of bounds
    definitions: of numbers that are reduced
    obligations: numbers that are in their bounds, if the form is `exact`
    """

    form: Form
    assumptions: list[Any] = field(default_factory=list[Any])
    definitions: list[Any] = field(default_factory=list[Any])
    obligations: list[Any] = field(default_factory=list[Any])

    def meant(self, type: Attribute) -> Attribute:
        """The type whose meaning in the table is taken: index where integers are whole numbers, else i64 for it."""
        if self.form.whole:
            return index if is_integer(type) else type
        return i64 if type == index else type

    def unknown(self, name: str, type: Attribute) -> Any:
        if is_float(type):
            return z3.Const(name, smt_floats.sort(z3, type))
        unknown = z3.Const(name, smt.sort(z3, self.meant(type)))
        if self.form.whole and is_integer(type) and type != index:
            self.assumptions.append(_is_in_bounds(unknown, type))
        return unknown

    def number(self, number: float, type: Attribute) -> Any:
        """A number of a pattern."""
        if is_float(type):
            return smt_floats.literal(z3, type, float(constant(number, type)))
        if self.form.whole and is_integer(type) and type != index:
            return self.reduced(z3.IntVal(int(number)), type)
        return smt.literal(z3, self.meant(type), int(number))

    def reduced(self, term: Any, type: Attribute) -> Any:
        """A whole number as one of type `type`: integers wrap, an index does not."""
        if type == index:
            return term
        if z3.is_int_value(term):
            low, high = integer_bounds(type)
            return z3.IntVal((term.as_long() - low) % (high - low + 1) + low)
        if self.form.exact:
            self.obligations.append(_is_in_bounds(term, type))
            return term
        reduced, turns = z3.FreshInt("reduced"), z3.FreshInt("turns")
        self.definitions += [reduced == term - turns * (1 << bit_width(type)), _is_in_bounds(reduced, type)]
        return reduced

    def apply(self, op: type[Operation], operands: Sequence[Meant], type: Attribute) -> Meant:
        """The value of an op, and where it has a meaning."""
        values = [value for value, _ in operands]
        meanings = [meaning for _, meaning in operands]
        terms = [value.term for value in values]
        row = op.row() if issubclass(op, AluOp) else None
        is_choice = row is not None and row.name == "where"
        element = values[-1].type
        if is_float(element) or is_float(type):
            if row is None or row.name not in smt_floats.EXACT:
                raise NotSymbolicError(op.name)
            meaning = smt_floats.EXACT[row.name]
        else:
            meaning = None if row is None else row.smt
        if row is None:
            if not issubclass(op, CastOp):
                raise NotSymbolicError(op.name)
            term = smt.cast(z3, self.meant(element), self.meant(type), terms[0])
            if self.form.whole and is_integer(type) and not _holds(type, element):
                term = self.reduced(term, type)
            return Value(term, type), meanings[0]
        # What other dialects say of integers that have a width, they say of bits.
        is_on_bits = element != i1 and (row.name in BITWISE or ("." in row.name and element != index))
        if meaning is None or (self.form.whole and is_on_bits and not _is_scaling(row.name, terms)):
            raise NotSymbolicError(op.name)
        term = meaning(z3, self.meant(element), *terms)
        if self.form.whole and is_integer(type) and row.name in WRAPPING:
            term = self.reduced(term, type)
        if is_choice:
            return Value(term, type), z3.And(meanings[0], z3.If(terms[0], meanings[1], meanings[2]))
        if row.name in DIVISIONS:
            meanings.append(terms[1] != 0)
        return Value(term, type), z3.And(*meanings)


def _is_scaling(name: str, terms: Sequence[Any]) -> bool:
    """Whether an op on bits has a known number that makes it a product, a quotient or a remainder."""
    if len(terms) < 2 or not z3.is_int_value(terms[1]):
        return False
    number: int = terms[1].as_long()
    return name in ("shl", "shr") or (name == "and" and number > 0 and number & (number + 1) == 0)


def _is_in_bounds(term: Any, type: Attribute) -> Any:
    low, high = integer_bounds(type)
    return z3.And(low <= term, term <= high)


def _holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether a type has all numbers of another."""
    (low, high), (wide_low, wide_high) = integer_bounds(narrow), integer_bounds(wide)
    return wide == index or (wide_low <= low and high <= wide_high)


def shown(model: Any, term: Any, type: Attribute) -> str:
    value = model.eval(term, model_completion=True)
    if z3.is_bv(value):
        return str(value.as_long() if type == ui8 else value.as_signed_long())
    if z3.is_fp_value(value):
        return str(smt_floats.number_of(z3, value))
    return str(value)
