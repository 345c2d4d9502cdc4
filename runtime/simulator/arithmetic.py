"""Instructions that only compute: from an instruction to the function of its operands' values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from . import floats, integers
from .conversions import conversion, pack_halves
from .formats import DECODE, Array, bits_of, is_float, is_signed, view_dtype
from .ptx import Immediate, Instruction, Pair

Function: TypeAlias = Callable[..., Any]
Unary: TypeAlias = Callable[[Array], Array]
Binary: TypeAlias = Callable[[Array, Array], Array]
Ternary: TypeAlias = Callable[[Array, Array, Array], Array]

_NO_CARRY: Array = np.zeros((), bool)


@dataclass(frozen=True)
class Operation:
    """A function on arrays, with the PTX types of its operands and results.

    With `reads_carry` it takes the carry flag as a last operand; with `writes_carry` it returns (value, carry).
    """

    sources: tuple[str, ...]
    results: tuple[str, ...]
    function: Function
    reads_carry: bool = False
    writes_carry: bool = False


def _unary(source: str, result: str, function: Unary) -> Operation:
    return Operation((source,), (result,), function)


def _binary(sources: tuple[str, str], result: str, function: Binary) -> Operation:
    return Operation(sources, (result,), function)


def _ternary(sources: tuple[str, str, str], result: str, function: Ternary) -> Operation:
    return Operation(sources, (result,), function)


def arithmetic(instruction: Instruction) -> Operation | None:
    """The operation of an instruction, or None if it is not arithmetic or not known."""
    builder = _BUILDERS.get(instruction.name)
    if builder is not None:
        return builder(instruction)
    if instruction.name in floats.ONE_OPERAND or instruction.name in floats.ARITY:
        return _either(instruction)
    return None


def _either(instruction: Instruction) -> Operation | None:
    """Operations that exist for integers and floats."""
    type_ = instruction.type
    if is_float(type_):
        return _float(instruction)
    simple = _INTEGER.get(instruction.name)
    if simple is None or type_.endswith("x2"):
        return None
    arity, function = simple
    modifiers = set(instruction.modifiers[:-1])
    if modifiers == {"sat"} and type_ == "s32" and instruction.name in ("add", "sub"):
        function = integers.add_saturating if instruction.name == "add" else integers.subtract_saturating
    elif modifiers:
        return None
    arity = max(arity, len(instruction.operands) - 1)
    if arity > 2 and instruction.name in ("min", "max"):
        function = _reduce(function)
    return Operation((type_,) * arity, (type_,), function)


def _reduce(function: Function) -> Ternary:
    """min and max of three operands."""

    def reduce(a: Array, b: Array, c: Array) -> Array:
        return function(function(a, b), c)

    return reduce


def _float(instruction: Instruction) -> Operation:
    name, type_ = instruction.name, instruction.type
    function = floats.operation(name, type_, frozenset(instruction.modifiers[:-1]))
    arity = floats.ARITY.get(name, 1)
    if name in ("min", "max") and len(instruction.operands) == 4:
        arity, function = 3, _reduce(function)
    return Operation((type_,) * arity, (type_,), function)


def _add_sub(instruction: Instruction) -> Operation | None:
    """add and sub, with `.cc` setting the carry flag."""
    if not instruction.has("cc"):
        return _either(instruction)
    type_ = "u" + instruction.type[1:]
    function = integers.add_with_carry if instruction.name == "add" else integers.subtract_with_borrow

    def compute(a: Array, b: Array) -> tuple[Array, Array]:
        return function(a, b, _NO_CARRY)

    return Operation((type_,) * 2, (type_,), compute, writes_carry=True)


def _add_sub_carry(instruction: Instruction) -> Operation:
    """addc and subc."""
    type_ = "u" + instruction.type[1:]
    function = integers.add_with_carry if instruction.name == "addc" else integers.subtract_with_borrow
    sets_carry = instruction.has("cc")

    def compute(a: Array, b: Array, carry: Array) -> Any:
        result = function(a, b, carry)
        return result if sets_carry else result[0]

    return Operation((type_,) * 2, (type_,), compute, reads_carry=True, writes_carry=sets_carry)


def _multiply(instruction: Instruction) -> Operation | None:
    if is_float(instruction.type):
        return _float(instruction)
    type_ = instruction.type
    if instruction.has("wide"):
        return Operation((type_,) * 2, (_double(type_),), integers.multiply_wide)
    function = integers.multiply_high if instruction.has("hi") else np.multiply
    return Operation((type_,) * 2, (type_,), function)


def _double(type_: str) -> str:
    return f"{type_[0]}{2 * bits_of(type_)}"


def _multiply_add(instruction: Instruction) -> Operation | None:
    type_ = instruction.type
    if is_float(type_):
        return _float(instruction)
    if instruction.has("wide"):
        wide = _double(type_)
        return _ternary((type_, type_, wide), wide, lambda a, b, c: integers.multiply_wide(a, b) + c)
    product: Binary = integers.multiply_high if instruction.has("hi") else np.multiply
    if instruction.has("sat"):
        return None
    reads, writes = instruction.name == "madc", instruction.has("cc")
    if not reads and not writes:
        return _ternary((type_, type_, type_), type_, lambda a, b, c: product(a, b) + c)

    def with_carry(a: Array, b: Array, c: Array, carry: Array = _NO_CARRY) -> Any:
        low = integers.unsigned(np.asarray(product(a, b)))
        value, out = integers.add_with_carry(low, integers.unsigned(c), carry)
        value = value.view(a.dtype)
        return (value, out) if writes else value

    return Operation((type_,) * 3, (type_,), with_carry, reads_carry=reads, writes_carry=writes)


def _shift(instruction: Instruction) -> Operation:
    type_ = instruction.type
    function = integers.shift_left if instruction.name == "shl" else integers.shift_right
    return Operation((type_, "u32"), (type_,), function)


def _funnel_shift(instruction: Instruction) -> Operation:
    left, wrap = instruction.has("l"), instruction.has("wrap")
    return _ternary(
        ("u32", "u32", "u32"), "u32", lambda low, high, n: integers.funnel_shift(low, high, n, left=left, wrap=wrap)
    )


def _extract(instruction: Instruction) -> Operation:
    return Operation((instruction.type, "u32", "u32"), (instruction.type,), integers.extract_field)


def _insert(instruction: Instruction) -> Operation:
    type_ = instruction.type
    return Operation((type_, type_, "u32", "u32"), (type_,), integers.insert_field)


def _count(instruction: Instruction) -> Operation:
    function = integers.count_ones if instruction.name == "popc" else integers.count_leading_zeros
    return Operation((instruction.type,), ("u32",), function)


def _find_leading(instruction: Instruction) -> Operation:
    as_shift = instruction.has("shiftamt")
    return _unary(instruction.type, "u32", lambda a: integers.find_leading_bit(a, as_shift=as_shift))


def _permute(instruction: Instruction) -> Operation | None:
    if len(instruction.modifiers) > 1:
        return None
    return Operation(("u32",) * 3, ("u32",), integers.permute_bytes)


def _logic(instruction: Instruction) -> Operation:
    """and, or, xor, not: on predicates and integers."""
    function = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert}
    arity = 1 if instruction.name == "not" else 2
    return Operation((instruction.type,) * arity, (instruction.type,), function[instruction.name])


def _logic3(instruction: Instruction) -> Operation | None:
    table = instruction.operands[4] if len(instruction.operands) == 5 else None
    if not isinstance(table, Immediate) or instruction.modifiers != ("b32",):
        return None
    value = table.value
    return _ternary(("b32", "b32", "b32"), "b32", lambda a, b, c: integers.logic3(a, b, c, value))


def _select(instruction: Instruction) -> Operation:
    type_ = instruction.type
    return _ternary((type_, type_, "pred"), type_, lambda a, b, p: np.where(p, a, b))


def _select_by_sign(instruction: Instruction) -> Operation:
    type_, by = instruction.modifiers[-2:]
    return _ternary((type_, type_, by), type_, lambda a, b, c: np.where(c >= 0, a, b))


def _comparison(instruction: Instruction, type_: str) -> Binary:
    relation = instruction.modifiers[0]
    if not is_float(type_):
        return floats.COMPARISONS[relation]
    decode = DECODE.get(type_)

    def compare(a: Array, b: Array) -> Array:
        if decode is not None:
            a, b = decode(a), decode(b)
        return floats.compare(relation, a, b)

    return compare


def _set_predicate(instruction: Instruction) -> Operation | None:
    """setp, with a second result (the negation) and a predicate to combine with."""
    type_ = instruction.type
    if type_.endswith("x2"):
        return _set_predicate_packed(instruction)
    relation = _comparison(instruction, type_)
    combine = next((_COMBINE[name] for name in _COMBINE if instruction.has(name)), None)
    has_two = isinstance(instruction.operands[0], Pair)

    def compute(a: Array, b: Array, c: Array | None = None) -> Any:
        first = relation(a, b)
        second = ~first
        if combine is not None:
            first, second = combine(first, c), combine(second, c)
        return (first, second) if has_two else first

    sources = (type_, type_) if combine is None else (type_, type_, "pred")
    return Operation(sources, ("pred", "pred") if has_two else ("pred",), compute)


def _set_predicate_packed(instruction: Instruction) -> Operation | None:
    """setp on f16x2 and bf16x2: a predicate for each half."""
    element = instruction.type[:-2]
    if instruction.has(*_COMBINE) or not isinstance(instruction.operands[0], Pair):
        return None
    relation = _comparison(instruction, element)

    def compute(a: Array, b: Array) -> tuple[Array, Array]:
        half, shift = np.uint16, np.uint32(16)
        return relation(a.astype(half), b.astype(half)), relation((a >> shift).astype(half), (b >> shift).astype(half))

    return Operation((instruction.type,) * 2, ("pred", "pred"), compute)


def _set(instruction: Instruction) -> Operation | None:
    """set: all ones or zero for integer results, 1 or 0 for float results; also for packed halves."""
    to, type_ = instruction.modifiers[-2:]
    if instruction.has(*_COMBINE):
        return None
    if type_.endswith("x2"):
        relation = _comparison(instruction, type_[:-2])
        yes = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(to, 0xFFFF)

        def compute_halves(a: Array, b: Array) -> Array:
            halves = [np.ascontiguousarray(value)[..., None].view(np.uint16) for value in (a, b)]
            result = np.where(relation(*halves), np.uint16(yes), np.uint16(0))
            return np.ascontiguousarray(result).view(np.uint32)[..., 0]

        return Operation((type_, type_), (to,), compute_halves)
    relation = _comparison(instruction, type_)
    dtype = view_dtype(to)
    one = np.array(1 if to in ("f32", "f64") else {"f16": 0x3C00, "bf16": 0x3F80}.get(to, -1)).astype(dtype)
    return _binary((type_, type_), to, lambda a, b: np.where(relation(a, b), one, dtype.type(0)))


def _convert(instruction: Instruction) -> Operation:
    to, source = instruction.modifiers[-2:]
    modifiers = frozenset(instruction.modifiers[:-2])
    if to in ("f16x2", "bf16x2") and source == "f32":
        return Operation(("f32", "f32"), (to,), pack_halves(to, modifiers))
    result = "b32" if to == "tf32" else to
    return Operation((source,), (result,), conversion(to, source, modifiers))


def _test(instruction: Instruction) -> Operation:
    name = instruction.modifiers[0]
    return _unary(instruction.type, "pred", lambda a: floats.test_property(name, a))


def _dot(instruction: Instruction) -> Operation:
    first, second = instruction.modifiers[-2:]
    result = "s32" if "s32" in (first, second) else "u32"
    signs = (is_signed(first), is_signed(second))
    if instruction.name == "dp4a":
        return _ternary(("b32", "b32", result), result, lambda a, b, c: integers.dot4(a, b, c, signs))
    high = instruction.has("hi")
    return _ternary(("b32", "b32", result), result, lambda a, b, c: integers.dot2(a, b, c, signs, high))


def _count_not(instruction: Instruction) -> Operation:
    return _unary(instruction.type, instruction.type, lambda a: (a == 0).astype(a.dtype))


def _absolute_difference(instruction: Instruction) -> Operation:
    type_ = instruction.type
    return _ternary((type_, type_, type_), type_, lambda a, b, c: np.where(a < b, b - a, a - b) + c)


def _reverse(instruction: Instruction) -> Operation:
    return Operation((instruction.type,), (instruction.type,), integers.reverse_bits)


_COMBINE: dict[str, Function] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}

_INTEGER: dict[str, tuple[int, Function]] = {
    "add": (2, np.add),
    "sub": (2, np.subtract),
    "div": (2, integers.divide),
    "rem": (2, integers.remainder),
    "min": (2, np.minimum),
    "max": (2, np.maximum),
    "abs": (1, np.abs),
    "neg": (1, np.negative),
}

_BUILDERS: dict[str, Callable[[Instruction], Operation | None]] = {
    "add": _add_sub,
    "sub": _add_sub,
    "addc": _add_sub_carry,
    "subc": _add_sub_carry,
    "mul": _multiply,
    "mad": _multiply_add,
    "madc": _multiply_add,
    "rem": _either,
    "shl": _shift,
    "shr": _shift,
    "shf": _funnel_shift,
    "bfe": _extract,
    "bfi": _insert,
    "popc": _count,
    "clz": _count,
    "bfind": _find_leading,
    "brev": _reverse,
    "prmt": _permute,
    "and": _logic,
    "or": _logic,
    "xor": _logic,
    "not": _logic,
    "lop3": _logic3,
    "cnot": _count_not,
    "sad": _absolute_difference,
    "dp2a": _dot,
    "dp4a": _dot,
    "selp": _select,
    "slct": _select_by_sign,
    "setp": _set_predicate,
    "set": _set,
    "cvt": _convert,
    "testp": _test,
}
