"""The functions for every element type, as texts (text.py), and which text a function has.

`$splat(c)` is c in every lane, `$select(c, x, y)` is `c ? x : y`.
"""

from __future__ import annotations

from functools import cache

from .. import c_types
from . import conversions, float32, libm
from .operators import resized
from .text import Spelling, Use, spell

NUMBERS: dict[str, str] = {
    "min": "T $min(T x, T y) { return $select(x < y, x, y); }",
    "max": "T $max(T x, T y) { return $select(x > y, x, y); }",
    "where": "T $where(M c, T x, T y) { return $select($comparison(c), x, y); }",
}

FLOATS: dict[str, str] = {
    "sign": "T $sign(T x) { return $select(x > 0, $splat(1), $select(x < 0, $splat(-1), $splat(0))); }",
    "rsqrt": "T $rsqrt(T x) { return 1 / $sqrt(x); }",
    "truncdiv": "T $truncdiv(T x, T y) { return $trunc(x / y); }",
    "isinf": "M $isinf(T x) { return $mask($abs(x) == __builtin_inff()); }",
    # PyTorch's, of `fmod`: a zero remainder keeps the sign of x, a zero quotient has that of x / y.
    "floormod": """\
T $floormod(T x, T y) {
  T r = $truncmod(x, y);
  return $select((r != 0) & ((y < 0) != (r < 0)), r + y, r);
}""",
    "floordiv": """\
T $floordiv(T x, T y) {
  T r = $truncmod(x, y), q = (x - r) / y;
  q = $select((r != 0) & ((y < 0) != (r < 0)), q - 1, q);
  T f = $floor(q);
  f = $select(q - f > 0.5f, f + 1, f);
  T quotient = x / y, zero = $copysign($splat(0), quotient);
  return $select(y == 0, quotient, $select(q == 0, zero, f));
}""",
}

INTEGERS: dict[str, str] = {
    "abs": "T $abs(T x) { return $select(x < 0, (T)-(U)x, x); }",
    "sign": "T $sign(T x) { return $select(x > 0, $splat(1), $select(x < 0, $splat(-1), $splat(0))); }",
    # Division by 0, whose result is anything, and of the least integer by −1 must not trap.
    "truncdiv": """\
T $truncdiv(T x, T y) {
  C negates = y == -1;
  T q = x / $select(negates | (y == 0), $splat(1), y);
  return $select(negates, (T)-(U)x, q);
}""",
    "truncmod": """\
T $truncmod(T x, T y) { return x % $select((y == -1) | (y == 0), $splat(1), y); }""",
    "floordiv": """\
T $floordiv(T x, T y) {
  T q = $truncdiv(x, y), r = $truncmod(x, y);
  return $select((r != 0) & ((r ^ y) < 0), q - 1, q);
}""",
    "floormod": """\
T $floormod(T x, T y) {
  T r = $truncmod(x, y);
  return $select((r != 0) & ((r ^ y) < 0), r + y, r);
}""",
    # C leaves shifts by other counts undefined.
    "shl": """\
T $shl(T x, T y) { return $select((U)y < BITS, (T)((U)x << ((U)y & (BITS - 1))), $splat(0)); }""",
    "shr": """\
T $shr(T x, T y) { return x >> $select((U)y < BITS, y, $splat(BITS - 1)); }""",
}

UNSIGNED: dict[str, str] = {
    "truncdiv": "T $truncdiv(T x, T y) { return x / $select(y == 0, $splat(1), y); }",
    "truncmod": "T $truncmod(T x, T y) { return x % $select(y == 0, $splat(1), y); }",
    "floordiv": "T $floordiv(T x, T y) { return $truncdiv(x, y); }",
    "floormod": "T $floormod(T x, T y) { return $truncmod(x, y); }",
    "abs": "T $abs(T x) { return x; }",
    "sign": "T $sign(T x) { return $select(x != 0, $splat(1), $splat(0)); }",
    "shr": "T $shr(T x, T y) { return $select((U)y < BITS, x >> (y & (BITS - 1)), $splat(0)); }",
}

POWER = """\
T $pow(T x, T y) {
  if (y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  unsigned long long base = x, power = 1;
  for (unsigned long long n = y; n; n >>= 1, base *= base)
    if (n & 1) power *= base;
  return (T)power;
}"""

UNSIGNED_POWER = """\
T $pow(T x, T y) {
  unsigned long long base = x, power = 1;
  for (unsigned n = y; n; n >>= 1, base *= base)
    if (n & 1) power *= base;
  return (T)power;
}"""

_INLINE = "static inline __attribute__((always_inline)) "
_CALLED = "static __attribute__((noinline)) "


@cache
def define(use: Use) -> Spelling:
    """The C function for one type. Raises `KeyError` where it is not defined for it."""
    op, element, lanes = use
    definition = spell(_source(op, element, lanes), element, lanes)
    return Spelling(definition.text, tuple(called for called in definition.uses if called != use), definition.vectors)


def _source(op: str, element: str, lanes: int) -> str:
    if _is_lane_of_four(op, element):
        conversion = conversions.FUNCTIONS.get((op, element))
        if lanes > 1:
            return _INLINE + (float32.FUNCTIONS[op] if conversion is None else conversion(lanes))
        result = "T" if conversion is None else f"<{conversions.RESULTS[op, element]}>"
        return f"{_INLINE}{result} ${op}(T x) {{ return ${op}@4((T@4){{x}})[0]; }}"
    if (primitive := _PRIMITIVES.get(op)) is not None:
        return _INLINE + primitive(element, lanes)
    if op.endswith("_from"):
        target = op.removesuffix("_from")
        return f"{_INLINE}<{target}> ${op}(T x) {{ return (<{target}>){{{_lanes(lanes)}}}; }}"
    if op.startswith("bits_to_"):
        target = op.removeprefix("bits_to_")
        return f"{_INLINE}<{target}> ${op}(T x) {{ return (union {{ T from; <{target}> to; }}){{x}}.to; }}"
    if op == "where":
        return _INLINE + NUMBERS[op]
    if element not in ("f32", "f64"):
        return _integer(op, element, lanes)
    if op in ("min", "max"):
        return _INLINE + libm.extremum(op, element, lanes)
    if op in FLOATS:
        return _INLINE + FLOATS[op]
    if op in libm.INSTRUCTIONS:
        return _INLINE + libm.instruction(op, element, lanes)
    return (_INLINE if lanes == 1 else _CALLED) + libm.function(op, element, lanes)


def _is_lane_of_four(op: str, element: str) -> bool:
    """Whether a scalar is computed in a vector, so that it is what a lane of a vector is."""
    return (element == "f32" and op in float32.FUNCTIONS) or (op, element) in conversions.FUNCTIONS


def _integer(op: str, element: str, lanes: int) -> str:
    unsigned = element.startswith("u")
    if op == "pow":
        return _CALLED + (libm.in_turn(op, "$pow@1", 2, lanes) if lanes > 1 else UNSIGNED_POWER if unsigned else POWER)
    text = UNSIGNED.get(op) if unsigned else None
    return _INLINE + (text or INTEGERS.get(op) or NUMBERS[op])


def _lanes(count: int) -> str:
    return ", ".join(f"x[{lane}]" for lane in range(count))


def _splat(element: str, lanes: int) -> str:
    if lanes == 1:
        return "T $splat(E x) { return x; }"
    lane = "-x" if element == "i1" else "x"
    return f"T $splat(E x) {{ return (T){{{', '.join([lane] * lanes)}}}; }}"


def _select(element: str, lanes: int) -> str:
    """C has no `?:` of vectors. Of a sum GCC makes one instruction; an `|` it would rewrite with `^` first."""
    if lanes == 1:
        return "T $select(C c, T x, T y) { return c ? x : y; }"
    return "T $select(C c, T x, T y) { return (T)((c & (I)x) + (~c & (I)y)); }"


def _comparison(element: str, lanes: int) -> str:
    """A bool as what a comparison gives."""
    mask, integer = (c_types.integer_type(name, lanes) for name in ("i1", element))
    return f"C $comparison(M c) {{ return {'c' if lanes == 1 else resized('c', mask, integer)}; }}"


def _mask(element: str, lanes: int) -> str:
    """What a comparison gives as a bool."""
    mask, integer = (c_types.integer_type(name, lanes) for name in ("i1", element))
    return f"M $mask(C c) {{ return {'c' if lanes == 1 else resized('c', integer, mask)}; }}"


def _any(element: str, lanes: int) -> str:
    """Whether a comparison holds for any lane."""
    if lanes == 1:
        return "int $any(C c) { return c; }"
    if lanes > 16:
        pairs = " | ".join(f"c[{lane}]" for lane in range(lanes))
        return f"int $any(C c) {{ return ({pairs}) != 0; }}"
    word = {2: "short", 4: "int", 8: "long long", 16: "__int128"}[lanes]
    return f"int $any(C c) {{ return ({word})__builtin_convertvector(c, <i8>) != 0; }}"


_PRIMITIVES = {"splat": _splat, "select": _select, "comparison": _comparison, "mask": _mask, "any": _any}
