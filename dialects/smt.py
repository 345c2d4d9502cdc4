# z3 comes in as an argument of type Any, as numpy does for the meaning on arrays.
"""What ALU ops on integers and bools mean as SMT terms: the functions that rows of the semantics table name.

`function(z3, element, *terms)`, where z3 is the module and `element` the element type of the operands (of a `where`'s
branches). A bool is a term of sort Bool, an integer a bit-vector of its width, which wraps around, and an index a whole
number without bounds, for an index never wraps. Where an op has no meaning (division by zero) the term is some number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute

from .types import bit_width, index, is_bool, is_float, ui8

SmtMeaning = Callable[..., Any]

INDEX_BITS = 64
"""What bits of an index there are for `and`, `or`, `xor` and shifts: as many as numpy's meaning has."""


def sort(z3: Any, element: Attribute) -> Any:
    """The sort of terms of an integer or bool type."""
    if is_bool(element):
        return z3.BoolSort()
    return z3.IntSort() if element == index else z3.BitVecSort(bit_width(element))


def literal(z3: Any, element: Attribute, number: int) -> Any:
    """A number of an integer or bool type; integers wrap."""
    if is_bool(element):
        return z3.BoolVal(bool(number))
    return z3.IntVal(number) if element == index else z3.BitVecVal(number, bit_width(element))


# Arithmetic.


def neg(z3: Any, element: Attribute, x: Any) -> Any:
    return -x


def abs(z3: Any, element: Attribute, x: Any) -> Any:
    return x if element == ui8 else z3.If(x < 0, -x, x)


def sign(z3: Any, element: Attribute, x: Any) -> Any:
    zero, one = literal(z3, element, 0), literal(z3, element, 1)
    if element == ui8:
        return z3.If(x == 0, zero, one)
    return z3.If(x < 0, -one, z3.If(x == 0, zero, one))


def add(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return x + y


def sub(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return x - y


def mul(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return x * y


def floordiv(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == ui8:
        return z3.UDiv(x, y)
    if element == index:  # SMT's division leaves a remainder of at least 0
        return z3.If(y > 0, x / y, -x / -y)
    remainder = z3.SRem(x, y)
    return z3.If(z3.And(remainder != 0, (remainder < 0) != (y < 0)), x / y - 1, x / y)


def floormod(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == index:  # solvers see through this form better than through SMT's mod
        return x - y * floordiv(z3, element, x, y)
    return z3.URem(x, y) if element == ui8 else x % y  # bvsmod


def truncdiv(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == ui8:
        return z3.UDiv(x, y)
    if element == index:
        return z3.If(x >= 0, z3.If(y > 0, x / y, -(x / -y)), z3.If(y > 0, -(-x / y), -x / -y))
    return x / y  # bvsdiv


def truncmod(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == index:
        return x - y * truncdiv(z3, element, x, y)
    return z3.URem(x, y) if element == ui8 else z3.SRem(x, y)


def pow(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    """By squaring; of a negative exponent 1, ±1 or 0."""
    if element == index:
        power, odd = x**y, y % 2 == 1
    else:
        power, square = literal(z3, element, 1), x
        for bit in range(bit_width(element)):
            power = z3.If(z3.Extract(bit, bit, y) == 1, power * square, power)
            square = square * square
        odd = z3.Extract(0, 0, y) == 1
    if element == ui8:
        return power
    zero, one = literal(z3, element, 0), literal(z3, element, 1)
    negative = z3.If(x == 1, one, z3.If(x == -1, z3.If(odd, -one, one), zero))
    return z3.If(y < 0, negative, power)


def min(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.And(x, y) if is_bool(element) else z3.If(lt(z3, element, x, y), x, y)


def max(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.Or(x, y) if is_bool(element) else z3.If(lt(z3, element, x, y), y, x)


# Bits.


def not_(z3: Any, element: Attribute, x: Any) -> Any:
    if is_bool(element):
        return z3.Not(x)
    return -x - 1 if element == index else ~x


def _on_bits(z3: Any, operate: Callable[[Any, Any], Any], x: Any, y: Any) -> Any:
    return z3.BV2Int(operate(z3.Int2BV(x, INDEX_BITS), z3.Int2BV(y, INDEX_BITS)), is_signed=True)


def and_(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if is_bool(element):
        return z3.And(x, y)
    if element != index:
        return x & y
    if z3.is_int_value(y):
        mask: int = y.as_long()
        if mask & (mask + 1) == 0 and mask >= 0:  # the last bits
            return x % (mask + 1)
    return _on_bits(z3, lambda x, y: x & y, x, y)


def or_(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if is_bool(element):
        return z3.Or(x, y)
    return _on_bits(z3, lambda x, y: x | y, x, y) if element == index else x | y


def xor(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if is_bool(element):
        return z3.Xor(x, y)
    return _on_bits(z3, lambda x, y: x ^ y, x, y) if element == index else x ^ y


def shl(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == index:
        return _by_amount(z3, y, lambda amount: x * (1 << amount), z3.IntVal(0))
    return x << y  # 0 for what is too far, of which a negative number as unsigned is the most


def shr(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if element == index:
        return _by_amount(z3, y, lambda amount: x / (1 << amount), z3.If(x < 0, z3.IntVal(-1), z3.IntVal(0)))
    return z3.LShR(x, y) if element == ui8 else x >> y


def _by_amount(z3: Any, amount: Any, shifted: Callable[[int], Any], beyond: Any) -> Any:
    """A shift of an index as a choice between multiplications by numbers."""
    if z3.is_int_value(amount):
        known: int = amount.as_long()
        return shifted(known) if 0 <= known < INDEX_BITS else beyond
    term = beyond
    for known in range(INDEX_BITS):
        term = z3.If(amount == known, shifted(known), term)
    return term


# Comparisons and choice.


def eq(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return x == y


def ne(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return x != y


def lt(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    if is_bool(element):
        return z3.And(z3.Not(x), y)
    return z3.ULT(x, y) if element == ui8 else x < y


def le(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.Not(lt(z3, element, y, x))


def gt(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return lt(z3, element, y, x)


def ge(z3: Any, element: Attribute, x: Any, y: Any) -> Any:
    return z3.Not(lt(z3, element, x, y))


def where(z3: Any, element: Attribute, c: Any, x: Any, y: Any) -> Any:
    return z3.If(c, x, y)


# What is no ALU op.


def cast(z3: Any, source: Attribute, target: Attribute, x: Any) -> Any:
    """`uop.cast` between integers and bools: integers wrap, a bool is whether the number is not 0."""
    assert not is_float(source)
    assert not is_float(target)
    if source == target:
        return x
    if is_bool(target):
        return x != 0
    if is_bool(source):
        return z3.If(x, literal(z3, target, 1), literal(z3, target, 0))
    if target == index:
        return z3.BV2Int(x, is_signed=source != ui8)
    if source == index:
        return z3.Int2BV(x, bit_width(target))
    grown = bit_width(target) - bit_width(source)
    if grown <= 0:
        return z3.Extract(bit_width(target) - 1, 0, x)
    return z3.ZeroExt(grown, x) if source == ui8 else z3.SignExt(grown, x)
