# numpy and z3 come in as arguments of type Any, so that a driver that only rewrites does not load them.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""The one table of what the ALU ops of uop mean.

PyTorch's eager result is the meaning (NaN, infinities, ties, signed zeros, wrap-around, floor versus truncating
division).
Op classes, interpreters, printers and the reference are made from this table; nothing else spells an op.

Numbers of 16-bit float types are computed in f32 and rounded once per op, as eager PyTorch does. Division and modulo of
integers by zero have no meaning: PyTorch raises, a kernel computes an unspecified value. So has a cast of a float to an
integer type that cannot hold it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from xdsl.ir import Attribute

from . import smt
from .smt import SmtMeaning
from .types import FLOAT_TYPES, integer_bounds, is_bool, is_float, is_integer, type_name

Domain = Literal["any", "float", "f32", "number", "integer", "bits"]
"""Which element types an op takes: `number` is floats, integers and index; `integer` has index; `bits` adds bool to
it."""


@dataclass(frozen=True)
class Semantics:
    """One ALU op.

    domain: the element types that its operands take (a `where`'s condition is always bool).
    numpy: `numpy(np, *arrays)`: the meaning on arrays of one dtype; the result is rounded to the element type by the
      caller.
    smt: `smt(z3, element, *terms)`: the meaning on integers and bools (dialects/smt.py); None where it takes floats
      only.
    cuda: template by class of type: `f32`, `f64`, `int`, `bool`, `index`; `{0}` … are operands, `{T}` and `{U}` the
      C type and its unsigned partner. 16-bit floats go through `f32` where there is no template `f16` or `bf16`. An
      `int` template serves `index` where that has none.
    """

    name: str
    arity: int
    domain: Domain
    summary: str
    numpy: Callable[..., Any]
    cuda: Mapping[str, str]
    compares: bool = False
    commutative: bool = False
    associative: bool = False
    idempotent: bool = False
    smt: SmtMeaning | None = None
    helpers: Mapping[str, str] = field(default_factory=dict[str, str])
    """C functions that a template calls: class of type → name in `CUDA_HELPERS`."""

    def accepts(self, element: Attribute) -> bool:
        """Whether operands of this element type are in the op's domain."""
        match self.domain:
            case "float":
                return is_float(element)
            case "f32":
                return type_name(element) == "f32"
            case "number":
                return is_float(element) or is_integer(element)
            case "integer":
                return is_integer(element)
            case "bits":
                return is_integer(element) or is_bool(element)
            case "any":
                return is_float(element) or is_integer(element) or is_bool(element)


def _instruction(name: str, instruction: str, operands: str) -> str:
    """The C function of floats, each called by a letter, that is one PTX instruction."""
    parameters = ", ".join(f"float {x}" for x in operands)
    registers = ", ".join(f"%{place}" for place in range(len(operands) + 1))
    inputs = ", ".join(f'"f"({x})' for x in operands)
    return f"""\
__device__ __forceinline__ float {name}({parameters}) {{
  float r;
  asm("{instruction} {registers};" : "=f"(r) : {inputs});
  return r;
}}"""


CUDA_HELPERS: dict[str, str] = {
    "max_nan": _instruction("max_nan", "max.NaN.f32", "xy"),
    "min_nan": _instruction("min_nan", "min.NaN.f32", "xy"),
    # The instruction's error is at most that of exp2f, which scales subnormal results, and 1 ÷ x rounds once more:
    # PTX ISA, "ex2" and "rcp".
    "exp2_approx": _instruction("exp2_approx", "ex2.approx.f32", "x"),
    # The other scales what may be subnormal in front of one machine instruction, and behind it.
    "exp2_ftz": _instruction("exp2_ftz", "ex2.approx.ftz.f32", "x"),
    "rcp_approx": _instruction("rcp_approx", "rcp.approx.f32", "x"),
    "floor_div": """\
template <typename T> __device__ __forceinline__ T floor_div(T x, T y) {
  T q = x / y;
  return q - ((x % y != 0) && ((x < 0) != (y < 0)));
}""",
    "floor_mod": """\
template <typename T> __device__ __forceinline__ T floor_mod(T x, T y) {
  T r = x % y;
  return r != 0 && ((r < 0) != (y < 0)) ? r + y : r;
}""",
    "float_floor_mod": """\
template <typename T> __device__ __forceinline__ T float_floor_mod(T x, T y) {
  T r = fmod(x, y);
  return r != 0 && ((y < 0) != (r < 0)) ? r + y : r;
}""",
    "float_floor_div": """\
template <typename T> __device__ __forceinline__ T float_floor_div(T x, T y) {
  if (y == 0) return x / y;
  T r = fmod(x, y), q = (x - r) / y;
  if (r != 0 && ((y < 0) != (r < 0))) q -= 1;
  if (q == 0) return copysign(T(0), x / y);
  T f = floor(q);
  return q - f > T(0.5) ? f + 1 : f;
}""",
    "shift_left": """\
template <typename T> __device__ __forceinline__ T shift_left(T x, T y) {
  unsigned long long n = y;
  return n < sizeof(T) * 8 ? T((unsigned long long)x << n) : T(0);
}""",
    "shift_right": """\
template <typename T> __device__ __forceinline__ T shift_right(T x, T y) {
  unsigned long long n = y;
  return n < sizeof(T) * 8 ? T(x >> n) : T(x < 0 ? -1 : 0);
}""",
    "int_pow": """\
template <typename T> __device__ __forceinline__ T int_pow(T x, T y) {
  if (y < 0) return x == 1 ? T(1) : x == T(-1) ? (y % 2 ? T(-1) : T(1)) : T(0);
  unsigned long long b = x, r = 1;
  for (unsigned long long n = y; n; n >>= 1, b *= b)
    if (n & 1) r *= b;
  return T(r);
}""",
}
"""C functions that templates call; a printer writes those that a kernel uses in front of it."""


def _vectorize(name: str) -> Callable[..., Any]:
    """A function of Python's `math` for arrays (numpy has no erf)."""

    def apply(np: Any, x: Any) -> Any:
        import math

        return np.vectorize(getattr(math, name), otypes=[np.float64])(x)

    return apply


def _float_round(np: Any, x: Any) -> Any:
    return np.rint(x)


def _int_pow(np: Any, x: Any, y: Any) -> Any:
    """Wrapping power; a negative exponent gives 1, ±1 or 0, as PyTorch computes it."""
    x, y = np.broadcast_arrays(x, y)
    power = np.power(x, np.maximum(y, 0))
    odd = np.where(y % 2 == 0, 1, -1).astype(x.dtype)
    negative = np.where(x == 1, 1, np.where(x == -1, odd, 0)).astype(x.dtype)
    return np.where(y < 0, negative, power)


def _is_floating(np: Any, x: Any) -> bool:
    return np.issubdtype(np.asarray(x).dtype, np.floating)


def _pow(np: Any, x: Any, y: Any) -> Any:
    return np.power(x, y) if _is_floating(np, x) else _int_pow(np, x, y)


def _not(np: Any, x: Any) -> Any:
    return np.invert(x)


def _floor_mod(np: Any, x: Any, y: Any) -> Any:
    """numpy's remainder of floats gives a zero the sign of y, PyTorch's leaves it that of x."""
    if not _is_floating(np, x):
        return np.remainder(x, y)
    remainder = np.fmod(x, y)
    return np.where((remainder != 0) & ((remainder < 0) != (y < 0)), remainder + y, remainder)


def _trunc_div(np: Any, x: Any, y: Any) -> Any:
    if _is_floating(np, x):
        return np.trunc(x / y)
    quotient = np.floor_divide(x, y)
    inexact = np.remainder(x, y) != 0
    return quotient + (inexact & ((x < 0) != (y < 0))).astype(quotient.dtype)


def _shift_left(np: Any, x: Any, y: Any) -> Any:
    bits = np.asarray(x).dtype.itemsize * 8
    inside = (y >= 0) & (y < bits)
    return np.where(inside, np.left_shift(x, np.where(inside, y, 0)), 0).astype(np.asarray(x).dtype)


def _shift_right(np: Any, x: Any, y: Any) -> Any:
    bits = np.asarray(x).dtype.itemsize * 8
    inside = (y >= 0) & (y < bits)
    beyond = np.zeros_like(x) if np.asarray(x).dtype.kind == "u" else np.right_shift(x, bits - 1)
    return np.where(inside, np.right_shift(x, np.where(inside, y, 0)), beyond).astype(np.asarray(x).dtype)


def _to_tf32(np: Any, x: Any) -> Any:
    bits = np.ascontiguousarray(x, np.float32).view(np.uint32) & np.uint32(0xFFFFE000)
    return bits.view(np.float32).reshape(np.shape(x))


def _negate(np: Any, x: Any) -> Any:
    return np.negative(x)


def _sign(np: Any, x: Any) -> Any:
    if np.asarray(x).dtype == np.uint8:
        return (x > 0).astype(np.uint8)
    return ((x > 0).astype(np.int8) - (x < 0).astype(np.int8)).astype(np.asarray(x).dtype)


def _fma(np: Any, x: Any, y: Any, z: Any) -> Any:
    """Rounded once: by way of a sum rounded to odd, which a second rounding to fewer bits does not harm.

    Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to
    odd" (2008).
    """
    if np.asarray(x).dtype == np.float32:
        return _sum_to_odd(np, x.astype(np.float64) * y.astype(np.float64), z.astype(np.float64))
    product, product_error = _two_product(np, x, y)
    low, low_error = _two_sum(np, z, product_error)
    high, high_error = _two_sum(np, product, low)
    exact = high + _sum_to_odd(np, low_error, high_error)
    # Where a part overflows, the rounding of the sum does not matter; of a sum that is 0, only the sign does. A product
    # alone is rounded once as it is, also where its error is too small for a number.
    return np.where(np.isfinite(exact) & (exact != 0) & (z != 0), exact, x * y + z)


def _two_sum(np: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """x + y rounded, and its error (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _two_product(np: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """x · y rounded, and its error, of float64 (Dekker)."""

    def split(value: Any) -> tuple[Any, Any]:
        scaled = value * 134217729.0  # 2²⁷ + 1
        high = scaled - (scaled - value)
        return high, value - high

    product = x * y
    (x_high, x_low), (y_high, y_low) = split(x), split(y)
    return product, ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low


def _sum_to_odd(np: Any, x: Any, y: Any) -> Any:
    """x + y of float64; where it is not exact, the neighbour whose last bit is 1."""
    total, error = _two_sum(np, x, y)
    inexact = np.isfinite(total) & (error != 0)
    if not inexact.any():
        return total
    bits = np.ascontiguousarray(total).view(np.int64).reshape(np.shape(total))
    towards = np.where((error > 0) == (total > 0), 1, -1)  # the greater pattern is farther from 0
    return np.asarray(bits + towards * (inexact & (bits & 1 == 0))).view(np.float64)


def _rows() -> list[Semantics]:
    def float_unary(name: str, summary: str, numpy: Callable[..., Any], function: str | None = None) -> Semantics:
        f = function or name
        return Semantics(name, 1, "float", summary, numpy, {"f32": f"{f}f({{0}})", "f64": f"{f}({{0}})"})

    def compare(name: str, sign: str, summary: str, commutative: bool = False) -> Semantics:
        return Semantics(
            name,
            2,
            "any",
            summary,
            {
                "eq": lambda np, x, y: np.equal(x, y),
                "ne": lambda np, x, y: np.not_equal(x, y),
                "lt": lambda np, x, y: np.less(x, y),
                "le": lambda np, x, y: np.less_equal(x, y),
                "gt": lambda np, x, y: np.greater(x, y),
                "ge": lambda np, x, y: np.greater_equal(x, y),
            }[name],
            {kind: f"{{0}} {sign} {{1}}" for kind in ("f32", "f64", "int", "bool")},
            compares=True,
            commutative=commutative,
            smt=getattr(smt, name),
        )

    def wrapping(name: str, sign: str) -> dict[str, str]:
        """C leaves signed overflow undefined, PyTorch wraps: integers go through unsigned. An index never wraps.

        The GPU's own 16-bit arithmetic rounds once, like f32 rounded to 16 bits: f32 has 2 · 11 + 2 digits, with which
        the second rounding changes nothing (S. A. Figueroa, "When is double rounding innocuous?", 1995). `_rn` keeps
        the compiler from making one fused operation of two.
        """
        return {
            "f16": f"__h{name}_rn({{0}}, {{1}})",
            "bf16": f"__h{name}_rn({{0}}, {{1}})",
            "f32": f"{{0}} {sign} {{1}}",
            "f64": f"{{0}} {sign} {{1}}",
            "int": f"({{T}})(({{U}}){{0}} {sign} ({{U}}){{1}})",
            "index": f"{{0}} {sign} {{1}}",
        }

    def bitwise(
        name: str, sign: str, summary: str, numpy: Callable[..., Any], meaning: SmtMeaning, idempotent: bool
    ) -> Semantics:
        return Semantics(
            name,
            2,
            "bits",
            summary,
            numpy,
            {"int": f"({{T}})({{0}} {sign} {{1}})", "index": f"{{0}} {sign} {{1}}", "bool": f"{{0}} {sign} {{1}}"},
            commutative=True,
            associative=True,
            idempotent=idempotent,
            smt=meaning,
        )

    f32_f64 = ("f32", "f64")
    return [
        # Unary.
        Semantics(
            "neg",
            1,
            "number",
            "−x; integers wrap",
            _negate,
            {"f32": "-{0}", "f64": "-{0}", "int": "({T})(0 - ({U}){0})", "index": "-{0}"},
            smt=smt.neg,
        ),
        Semantics(
            "abs",
            1,
            "number",
            "|x|; the least integer stays itself",
            lambda np, x: np.abs(x),
            {
                "f32": "fabsf({0})",
                "f64": "fabs({0})",
                "int": "({T})({0} < 0 ? 0 - ({U}){0} : ({U}){0})",
                "index": "{0} < 0 ? -{0} : {0}",
            },
            smt=smt.abs,
        ),
        Semantics(
            "sign",
            1,
            "number",
            "−1, 0 or 1; 0 for NaN",
            _sign,
            {
                "f32": "(float)((0.0f < {0}) - ({0} < 0.0f))",
                "f64": "(double)((0.0 < {0}) - ({0} < 0.0))",
                "int": "({T})((0 < {0}) - ({0} < 0))",
            },
            smt=smt.sign,
        ),
        Semantics(
            "reciprocal",
            1,
            "float",
            "1 ÷ x",
            lambda np, x: 1 / x,
            {"f32": "1.0f / {0}", "f64": "1.0 / {0}"},
        ),
        Semantics(
            "rcp",
            1,
            "float",
            "1 ÷ x, a unit in the last place off at most",
            lambda np, x: 1 / x,
            {"f32": "rcp_approx({0})", "f64": "1.0 / {0}"},
            helpers={"f32": "rcp_approx"},
        ),
        float_unary("sqrt", "√x; NaN below 0", lambda np, x: np.sqrt(x)),
        float_unary("rsqrt", "1 ÷ √x", lambda np, x: 1 / np.sqrt(x)),
        float_unary("exp", "eˣ", lambda np, x: np.exp(x)),
        Semantics(
            "exp2",
            1,
            "float",
            "2ˣ",
            lambda np, x: np.exp2(x),
            {"f32": "exp2_approx({0})", "f64": "exp2({0})"},
            helpers={"f32": "exp2_approx"},
        ),
        Semantics(
            "exp2_ftz",
            1,
            "f32",
            "2ˣ, which may be 0 where it is below 2⁻¹²⁶",
            lambda np, x: np.exp2(x),
            {"f32": "exp2_ftz({0})"},
            helpers={"f32": "exp2_ftz"},
        ),
        float_unary("expm1", "eˣ − 1, exact near 0", lambda np, x: np.expm1(x)),
        float_unary("log", "natural logarithm", lambda np, x: np.log(x)),
        float_unary("log2", "logarithm to base 2", lambda np, x: np.log2(x)),
        float_unary("log10", "logarithm to base 10", lambda np, x: np.log10(x)),
        float_unary("log1p", "ln(1 + x), exact near 0", lambda np, x: np.log1p(x)),
        float_unary("sin", "sine of radians", lambda np, x: np.sin(x)),
        float_unary("cos", "cosine of radians", lambda np, x: np.cos(x)),
        float_unary("tan", "tangent of radians", lambda np, x: np.tan(x)),
        float_unary("asin", "inverse sine", lambda np, x: np.arcsin(x)),
        float_unary("acos", "inverse cosine", lambda np, x: np.arccos(x)),
        float_unary("atan", "inverse tangent", lambda np, x: np.arctan(x)),
        float_unary("sinh", "hyperbolic sine", lambda np, x: np.sinh(x)),
        float_unary("cosh", "hyperbolic cosine", lambda np, x: np.cosh(x)),
        float_unary("tanh", "hyperbolic tangent", lambda np, x: np.tanh(x)),
        float_unary("asinh", "inverse hyperbolic sine", lambda np, x: np.arcsinh(x)),
        float_unary("acosh", "inverse hyperbolic cosine", lambda np, x: np.arccosh(x)),
        float_unary("atanh", "inverse hyperbolic tangent", lambda np, x: np.arctanh(x)),
        float_unary("erf", "error function", _vectorize("erf")),
        float_unary("erfc", "1 − erf x, exact for great x", _vectorize("erfc")),
        float_unary("floor", "greatest whole number not above x", lambda np, x: np.floor(x)),
        float_unary("ceil", "least whole number not below x", lambda np, x: np.ceil(x)),
        float_unary("round", "nearest whole number, ties to even", _float_round, "rint"),
        float_unary("trunc", "whole part", lambda np, x: np.trunc(x)),
        # What tensor cores make of the operands of a product in TF32, so that nothing is left to do for them.
        Semantics(
            "to_tf32",
            1,
            "f32",
            "x with the 10 bits behind the point that TF32 has: the 13 others are 0",
            _to_tf32,
            {"f32": "__uint_as_float(__float_as_uint({0}) & 0xffffe000u)"},
        ),
        Semantics(
            "not",
            1,
            "bits",
            "complement of every bit; of a bool, not",
            _not,
            {"int": "({T})(~{0})", "bool": "!{0}"},
            smt=smt.not_,
        ),
        Semantics(
            "isnan",
            1,
            "float",
            "whether x is NaN",
            lambda np, x: np.isnan(x),
            {kind: "{0} != {0}" for kind in f32_f64},
            compares=True,
        ),
        Semantics(
            "isinf",
            1,
            "float",
            "whether x is +∞ or −∞",
            lambda np, x: np.isinf(x),
            {
                "f32": "fabsf({0}) == __int_as_float(0x7f800000)",
                "f64": "fabs({0}) == __longlong_as_double(0x7ff0000000000000ll)",
            },
            compares=True,
        ),
        # Binary.
        Semantics(
            "add",
            2,
            "number",
            "x + y; integers wrap",
            lambda np, x, y: x + y,
            wrapping("add", "+"),
            commutative=True,
            smt=smt.add,
        ),
        Semantics(
            "sub", 2, "number", "x − y; integers wrap", lambda np, x, y: x - y, wrapping("sub", "-"), smt=smt.sub
        ),
        Semantics(
            "mul",
            2,
            "number",
            "x · y; integers wrap",
            lambda np, x, y: x * y,
            wrapping("mul", "*"),
            commutative=True,
            smt=smt.mul,
        ),
        Semantics("div", 2, "float", "x ÷ y", lambda np, x, y: x / y, {kind: "{0} / {1}" for kind in f32_f64}),
        Semantics(
            "floordiv",
            2,
            "number",
            "⌊x ÷ y⌋",
            lambda np, x, y: np.floor_divide(x, y),
            {
                "f32": "float_floor_div({0}, {1})",
                "f64": "float_floor_div({0}, {1})",
                "int": "floor_div<{T}>({0}, {1})",
            },
            helpers={"f32": "float_floor_div", "f64": "float_floor_div", "int": "floor_div", "index": "floor_div"},
            smt=smt.floordiv,
        ),
        Semantics(
            "floormod",
            2,
            "number",
            "x − ⌊x ÷ y⌋ · y: the sign of y",
            _floor_mod,
            {
                "f32": "float_floor_mod({0}, {1})",
                "f64": "float_floor_mod({0}, {1})",
                "int": "floor_mod<{T}>({0}, {1})",
            },
            helpers={"f32": "float_floor_mod", "f64": "float_floor_mod", "int": "floor_mod", "index": "floor_mod"},
            smt=smt.floormod,
        ),
        Semantics(
            "truncdiv",
            2,
            "number",
            "x ÷ y rounded towards 0",
            _trunc_div,
            {"f32": "truncf({0} / {1})", "f64": "trunc({0} / {1})", "int": "({T})({0} / {1})", "index": "{0} / {1}"},
            smt=smt.truncdiv,
        ),
        Semantics(
            "truncmod",
            2,
            "number",
            "remainder of truncdiv: the sign of x",
            lambda np, x, y: np.fmod(x, y),
            {"f32": "fmodf({0}, {1})", "f64": "fmod({0}, {1})", "int": "({T})({0} % {1})", "index": "{0} % {1}"},
            smt=smt.truncmod,
        ),
        Semantics(
            "pow",
            2,
            "number",
            "xʸ; integers wrap",
            _pow,
            {"f32": "powf({0}, {1})", "f64": "pow({0}, {1})", "int": "int_pow<{T}>({0}, {1})"},
            helpers={"int": "int_pow", "index": "int_pow"},
            smt=smt.pow,
        ),
        Semantics(
            "atan2",
            2,
            "float",
            "angle of the point (y, x): atan2(first, second)",
            lambda np, x, y: np.arctan2(x, y),
            {"f32": "atan2f({0}, {1})", "f64": "atan2({0}, {1})"},
        ),
        Semantics(
            "min",
            2,
            "any",
            "the lesser; NaN if either is NaN; of 0 and −0, either",
            lambda np, x, y: np.minimum(x, y),
            {
                "f32": "min_nan({0}, {1})",
                "f64": "{0} < {1} || {0} != {0} ? {0} : {1}",
                "int": "{0} < {1} ? {0} : {1}",
                "bool": "{0} && {1}",
            },
            commutative=True,
            associative=True,
            idempotent=True,
            helpers={"f32": "min_nan"},
            smt=smt.min,
        ),
        Semantics(
            "max",
            2,
            "any",
            "the greater; NaN if either is NaN; of 0 and −0, either",
            lambda np, x, y: np.maximum(x, y),
            {
                "f32": "max_nan({0}, {1})",
                "f64": "{0} > {1} || {0} != {0} ? {0} : {1}",
                "int": "{0} > {1} ? {0} : {1}",
                "bool": "{0} || {1}",
            },
            commutative=True,
            associative=True,
            idempotent=True,
            helpers={"f32": "max_nan"},
            smt=smt.max,
        ),
        bitwise("and", "&", "bitwise and; of bools, and", lambda np, x, y: np.bitwise_and(x, y), smt.and_, True),
        bitwise("or", "|", "bitwise or; of bools, or", lambda np, x, y: np.bitwise_or(x, y), smt.or_, True),
        bitwise("xor", "^", "bitwise exclusive or", lambda np, x, y: np.bitwise_xor(x, y), smt.xor, False),
        Semantics(
            "shl",
            2,
            "integer",
            "x · 2ʸ, wrapping; 0 where y is not in [0, bits)",
            _shift_left,
            {
                "int": "shift_left<{T}>({0}, {1})",
                "index": "{0} << {1}",  # gpu-kernel-check refuses other counts
            },
            helpers={"int": "shift_left"},
            smt=smt.shl,
        ),
        Semantics(
            "shr",
            2,
            "integer",
            "⌊x ÷ 2ʸ⌋; −1 or 0 where y is not in [0, bits)",
            _shift_right,
            {
                "int": "shift_right<{T}>({0}, {1})",
                "index": "{0} >> {1}",  # gpu-kernel-check refuses other counts
            },
            helpers={"int": "shift_right"},
            smt=smt.shr,
        ),
        compare("eq", "==", "x = y", True),
        compare("ne", "!=", "x ≠ y; true when either is NaN", True),
        compare("lt", "<", "x < y"),
        compare("le", "<=", "x ≤ y"),
        compare("gt", ">", "x > y"),
        compare("ge", ">=", "x ≥ y"),
        # Ternary.
        Semantics(
            "where",
            3,
            "any",
            "the second where the first is true, else the third",
            lambda np, c, x, y: np.where(c, x, y),
            {kind: "{0} ? {1} : {2}" for kind in ("f32", "f64", "int", "bool")},
            smt=smt.where,
        ),
        Semantics(
            "fma",
            3,
            "float",
            "x · y + z, rounded once",
            _fma,
            {"f32": "fmaf({0}, {1}, {2})", "f64": "fma({0}, {1}, {2})"},
        ),
    ]


ALU: dict[str, Semantics] = {row.name: row for row in _rows()}
"""The table: op name (without the dialect) → meaning."""

C_TYPES: dict[str, str] = {
    "f64": "double",
    "f32": "float",
    "f16": "__half",
    "bf16": "__nv_bfloat16",
    "i1": "bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "ui8": "unsigned char",
}
"""CUDA's spelling of each element type; `index` is `int` or `long long`, as the kernel says."""

_UNSIGNED = {
    "signed char": "unsigned char",
    "unsigned char": "unsigned char",
    "short": "unsigned short",
    "int": "unsigned int",
    "long long": "unsigned long long",
}

_TO_F32 = {"f16": "__half2float({})", "bf16": "__bfloat162float({})"}
_FROM_F32 = {"f16": "__float2half_rn({})", "bf16": "__float2bfloat16_rn({})"}


@dataclass(frozen=True)
class Spelling:
    """An expression of CUDA text and the helper function that it calls, if any."""

    text: str
    helper: str | None = None


def cuda_expression(row: Semantics, element: Attribute, operands: list[str], index_type: str = "int") -> Spelling:
    """CUDA text of one ALU op on operands of type `element`, which are names or literals.

    index_type: what `index` is in this kernel. Raises `KeyError` when the op is not defined for the type.
    """
    name = type_name(element)
    if name in _TO_F32 and name not in row.cuda:
        if row.name == "where":
            return Spelling(row.cuda["f32"].format(*operands))
        inner = row.cuda["f32"].format(*(_TO_F32[name].format(x) for x in operands))
        text = inner if row.compares else _FROM_F32[name].format(inner)
        return Spelling(text, row.helpers.get("f32"))
    if name in ("f16", "bf16", "f32", "f64"):
        kind = name
    elif name == "i1":
        kind = "bool"
    else:
        kind = "index" if name == "index" and "index" in row.cuda else "int"
    c_type = index_type if name == "index" else C_TYPES[name]
    text = row.cuda[kind].format(*operands, T=c_type, U=_UNSIGNED.get(c_type, c_type))
    return Spelling(text, row.helpers.get(kind))


def cuda_cast(source: Attribute, target: Attribute, operand: str, index_type: str = "int") -> str:
    """CUDA text of `uop.cast`: floats round to nearest even, float to integer truncates, anything to bool is `!= 0`."""
    source_name, target_name = type_name(source), type_name(target)
    value = _TO_F32.get(source_name, "{}").format(operand)
    if target_name == "i1":
        return f"{value} != 0"
    if target_name in _FROM_F32:
        # f64 and integers go through f32, too, as PyTorch's constructors do: they round twice.
        return _FROM_F32[target_name].format(value if is_float(source) and source_name != "f64" else f"(float){value}")
    return f"({index_type if target_name == 'index' else C_TYPES[target_name]}){value}"


def cuda_bitcast(source: Attribute, target: Attribute, operand: str) -> str:
    """CUDA text of `uop.bitcast`."""
    source_name, target_name = type_name(source), type_name(target)
    to_bits = {
        "f64": "__double_as_longlong({})",
        "f32": "__float_as_int({})",
        "f16": "__half_as_short({})",
        "bf16": "__bfloat16_as_short({})",
    }
    from_bits = {
        "f64": "__longlong_as_double({})",
        "f32": "__int_as_float({})",
        "f16": "__short_as_half({})",
        "bf16": "__short_as_bfloat16({})",
    }
    bits = to_bits.get(source_name, "{}").format(operand)
    return from_bits[target_name].format(bits) if target_name in from_bits else f"({C_TYPES[target_name]}){bits}"


def numpy_dtype(element: Attribute) -> str:
    """numpy's dtype for an element type. bf16, which numpy lacks, is kept as f32 numbers that bf16 can hold."""
    names = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "float32", "i1": "bool", "ui8": "uint8"}
    name = type_name(element)
    return names.get(name) or ("int64" if name == "index" else name.replace("i", "int"))


def round_to_element(np: Any, array: Any, element: Attribute) -> Any:
    """`array` as numbers of type `element`: rounds floats to nearest even, truncates floats to integers, wraps
    integers."""
    if is_bool(element):
        return np.asarray(array) != 0
    array = np.asarray(array)
    if type_name(element) in ("f16", "bf16"):
        array = array.astype(np.float32, copy=False)  # PyTorch rounds twice
        return array.astype(np.float16) if type_name(element) == "f16" else round_to_bf16(np, array)
    if not isinstance(element, FLOAT_TYPES) and np.issubdtype(array.dtype, np.floating):
        low, high = integer_bounds(element)
        bounded = np.clip(np.nan_to_num(np.trunc(array), nan=0.0), float(low), float(high))
        # 2⁶³ − 1 is no float: the cast of the nearest float would overflow.
        return np.where(bounded >= float(high), high, bounded).astype(numpy_dtype(element))
    return array.astype(numpy_dtype(element))


def round_to_bf16(np: Any, array: Any) -> Any:
    """f32 numbers rounded to the nearest that bf16 can hold, ties to even; NaN stays NaN."""
    bits = np.asarray(array, np.float32).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(array), np.float32(np.nan), rounded.view(np.float32))


def evaluate(np: Any, row: Semantics, element: Attribute, operands: list[Any]) -> Any:
    """The meaning of one ALU op on numpy arrays; `element` is the element type of the operands (a `where`'s
    branches)."""
    name = type_name(element)
    narrow = name in ("f16", "bf16")
    values = [
        x.astype(np.float32) if narrow and np.issubdtype(x.dtype, np.floating) else x
        for x in (np.asarray(x) for x in operands)
    ]
    with np.errstate(all="ignore"):
        result = row.numpy(np, *values)
        return np.asarray(result, dtype=bool) if row.compares else round_to_element(np, result, element)
