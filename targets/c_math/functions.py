"""Functions for every element type, and how a text becomes a function for one type and number of lanes.

In a text `T` is the type of a value and `E` that of a lane, `I` and `U` are the signed and unsigned integers as wide,
`C` is what a comparison gives (`I`; `int` of scalars), `M` a bool or mask, `BITS` the width of a lane, and `<f32>` so
many lanes of f32. `$f` is the function f for that type, and makes f one of the functions that are written. `@4` behind
any of them says of how many lanes. `$splat(c)` is c in every lane, `$select(c, x, y)` is `c ? x : y`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import c_types
from . import conversions, float32

Use = tuple[str, str, int]
"""A function that a text calls: what it computes, the element type that it takes, and the lanes."""

# Numbers: the same text for scalars and vectors.
NUMBERS: dict[str, str] = {
    "min": "T $min(T x, T y) { return $select(x < y, x, y); }",
    "max": "T $max(T x, T y) { return $select(x > y, x, y); }",
    "where": "T $where(M c, T x, T y) { return $select($comparison(c), x, y); }",
}

FLOATS: dict[str, str] = {
    # NaN of either is kept.
    "min": "T $min(T x, T y) { return $select((x < y) | (x != x), x, y); }",
    "max": "T $max(T x, T y) { return $select((x > y) | (x != x), x, y); }",
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

INT_POWER = """\
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

INSTRUCTIONS = {
    "abs": "fabs",
    "copysign": "copysign",
    "sqrt": "sqrt",
    "floor": "floor",
    "ceil": "ceil",
    "round": "rint",
    "trunc": "trunc",
    "fma": "fma",
}
"""Functions of libm that machines have instructions for: compilers make one of all lanes."""

LIBM = {
    name: name
    for name in (
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
        "pow atan2"
    ).split()
} | {"truncmod": "fmod"}
"""Functions that are called lane by lane, for types that have none of their own here."""

_ARITY = {"copysign": 2, "pow": 2, "atan2": 2, "truncmod": 2, "fma": 3}


@dataclass(frozen=True)
class Definition:
    """A function's C text, the vectors that it names (element type and lanes) and the functions that it calls."""

    text: str
    vectors: frozenset[tuple[str, int]]
    uses: tuple[Use, ...]


def function_name(op: str, element: str, lanes: int) -> str:
    return f"{op}_{element}" if lanes == 1 else f"{op}_{element}x{lanes}"


def define(use: Use) -> Definition:
    """The C function for one type. Raises `KeyError` where the op is not defined for it."""
    op, element, lanes = use
    vectors: set[tuple[str, int]] = set()
    uses: dict[Use, None] = {}

    def named(element: str, lanes: int) -> str:
        vectors.add((element, lanes))
        return c_types.vector_type(element, lanes)

    def replace(match: re.Match[str]) -> str:
        token, _, count = match[0].partition("@")
        width = int(count) if count else lanes
        match token:
            case "T":
                return named(element, width)
            case "E":
                return c_types.SCALARS[element]
            case "I":
                return named(c_types.integer_type(element, width), width)
            case "U":
                return named(c_types.unsigned_type(element, width), width)
            case "C":
                return "int" if width == 1 else named(c_types.integer_type(element, width), width)
            case "M":
                return named("i1", width)
            case "BITS":
                return str(8 * c_types.lane_bytes(element, width))
            case _ if token[0] == "<":
                return named(token[1:-1], width)
            case _:
                called = (token[1:], element, width)
                if called != use:
                    uses[called] = None
                return function_name(*called)

    text = _TOKEN.sub(replace, _source(op, element, lanes))
    return Definition(text, frozenset(vectors), tuple(uses))


_TOKEN = re.compile(r"(?:\b(?:T|E|I|U|C|M|BITS)\b|\$\w+|<[a-z]+\d*>)(?:@\d+)?")

_INLINE = "static inline __attribute__((always_inline)) "
_CALLED = "static __attribute__((noinline)) "


def _is_lane_of_four(op: str, element: str) -> bool:
    """Whether a scalar is computed in a vector, so that it is what a lane of a vector is."""
    return (element == "f32" and op in float32.FUNCTIONS) or (op, element) in conversions.FUNCTIONS


def _source(op: str, element: str, lanes: int) -> str:
    """The text of a function, with its tokens."""
    if _is_lane_of_four(op, element):
        conversion = conversions.FUNCTIONS.get((op, element))
        if lanes > 1:
            return _INLINE + (float32.FUNCTIONS[op] if conversion is None else conversion(lanes))
        result = "T" if conversion is None else f"<{conversions.RESULTS[op, element]}>"
        return f"{_INLINE}{result} ${op}(T x) {{ return ${op}@4((T@4){{x}})[0]; }}"
    if (primitive := _PRIMITIVES.get(op)) is not None:
        return _INLINE + primitive(element, lanes)
    if op.startswith("bits_to_"):
        target = op.removeprefix("bits_to_")
        return f"{_INLINE}<{target}> ${op}(T x) {{ return (union {{ T from; <{target}> to; }}){{x}}.to; }}"
    if op == "where":
        return _INLINE + NUMBERS[op]
    if element in ("f32", "f64"):
        return _float(op, element, lanes)
    return _integer(op, element, lanes)


def _float(op: str, element: str, lanes: int) -> str:
    if op in FLOATS:
        return _INLINE + FLOATS[op]
    stem = op.removeprefix("libm_")
    function = f"__builtin_{(INSTRUCTIONS | LIBM)[stem]}{'f' if element == 'f32' else ''}"
    if stem in INSTRUCTIONS:
        return _INLINE + _by_lanes(op, function, _ARITY.get(stem, 1), lanes)
    return (_INLINE if lanes == 1 else _CALLED) + _in_turn(op, function, _ARITY.get(stem, 1), lanes)


def _integer(op: str, element: str, lanes: int) -> str:
    unsigned = element.startswith("u")
    if op == "pow":
        if lanes > 1:
            return _CALLED + _in_turn(op, "$pow@1", 2, lanes)
        return _CALLED + (UNSIGNED_POWER if unsigned else INT_POWER)
    special = UNSIGNED if unsigned else {}
    text = special.get(op) or INTEGERS.get(op) or NUMBERS[op]
    return _INLINE + text


def _by_lanes(op: str, function: str, arity: int, lanes: int) -> str:
    """One expression of all lanes, which compilers make one instruction of."""
    parameters = ", ".join(f"T {name}" for name in "xyz"[:arity])
    if lanes == 1:
        return f"T ${op}({parameters}) {{ return {function}({', '.join('xyz'[:arity])}); }}"
    calls = [f"{function}({', '.join(f'{name}[{lane}]' for name in 'xyz'[:arity])})" for lane in range(lanes)]
    rows = ",\n".join("    " + ", ".join(calls[first : first + 4]) for first in range(0, lanes, 4))
    return f"T ${op}({parameters}) {{\n  return (T){{\n{rows}}};\n}}"


def _in_turn(op: str, function: str, arity: int, lanes: int) -> str:
    """A loop over the lanes."""
    parameters = ", ".join(f"T {name}" for name in "xyz"[:arity])
    if lanes == 1:
        return f"T ${op}({parameters}) {{ return {function}({', '.join('xyz'[:arity])}); }}"
    arguments = ", ".join(f"{name}[lane]" for name in "xyz"[:arity])
    return f"""\
T ${op}({parameters}) {{
  T r;
  for (int lane = 0; lane < {lanes}; lane++) r[lane] = {function}({arguments});
  return r;
}}"""


def _splat(element: str, lanes: int) -> str:
    if lanes == 1:
        return "T $splat(E x) { return x; }"
    lane = "-x" if element == "i1" else "x"
    return f"T $splat(E x) {{ return (T){{{', '.join([lane] * lanes)}}}; }}"


def _select(element: str, lanes: int) -> str:
    if lanes == 1:
        return "T $select(C c, T x, T y) { return c ? x : y; }"
    return "T $select(C c, T x, T y) { return (T)((c & (I)x) | (~c & (I)y)); }"


def _comparison(element: str, lanes: int) -> str:
    """A bool as what a comparison gives."""
    return f"C $comparison(M c) {{ return {_same_lanes('c', 'C', element, lanes)}; }}"


def _mask(element: str, lanes: int) -> str:
    """What a comparison gives as a bool."""
    return f"M $mask(C c) {{ return {_same_lanes('c', 'M', element, lanes)}; }}"


def _same_lanes(value: str, type: str, element: str, lanes: int) -> str:
    if lanes == 1 or c_types.lane_bytes(element, lanes) == c_types.lane_bytes("i1", lanes):
        return value
    return f"__builtin_convertvector({value}, {type})"


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
