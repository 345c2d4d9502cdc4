"""CUDA text of ALU ops, casts and bitcasts, from the templates of the semantics table."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Attribute

from ..dialects.semantics import Semantics
from ..dialects.types import is_float, type_name


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
