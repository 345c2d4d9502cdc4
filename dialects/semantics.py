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

from . import numpy_meanings, smt
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
    """C functions that a template calls: class of type → name in targets/cuda_expressions.py."""

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
            lambda np, x: np.negative(x),
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
            numpy_meanings.sign,
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
        float_unary("erf", "error function", numpy_meanings.of_math("erf")),
        float_unary("erfc", "1 − erf x, exact for great x", numpy_meanings.of_math("erfc")),
        float_unary("floor", "greatest whole number not above x", lambda np, x: np.floor(x)),
        float_unary("ceil", "least whole number not below x", lambda np, x: np.ceil(x)),
        float_unary("round", "nearest whole number, ties to even", lambda np, x: np.rint(x), "rint"),
        float_unary("trunc", "whole part", lambda np, x: np.trunc(x)),
        # What tensor cores make of the operands of a product in TF32, so that nothing is left to do for them.
        Semantics(
            "to_tf32",
            1,
            "f32",
            "x with the 10 bits behind the point that TF32 has: the 13 others are 0",
            numpy_meanings.to_tf32,
            {"f32": "__uint_as_float(__float_as_uint({0}) & 0xffffe000u)"},
        ),
        Semantics(
            "not",
            1,
            "bits",
            "complement of every bit; of a bool, not",
            lambda np, x: np.invert(x),
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
            numpy_meanings.floor_mod,
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
            numpy_meanings.trunc_div,
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
            numpy_meanings.power,
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
            numpy_meanings.shift_left,
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
            numpy_meanings.shift_right,
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
            numpy_meanings.fma,
            {"f32": "fmaf({0}, {1}, {2})", "f64": "fma({0}, {1}, {2})"},
        ),
    ]


ALU: dict[str, Semantics] = {row.name: row for row in _rows()}
"""The table: op name (without the dialect) → meaning."""


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
