"""16-bit floats from and to f32, rounded to nearest, ties to even. A NaN stays NaN.

Vectors of f16 go through the machine's instructions where a compiler offers them: Clang by its type `_Float16`, GCC by
the built-in functions of x86 (its own conversions of `_Float16` vectors are lane by lane up to GCC 12).
"""

from __future__ import annotations

from collections.abc import Callable

_FROM_BF16 = "<f32> $f32_from(T x) { return (<f32>)($ui32_from(x) << 16); }"

_TO_BF16 = """\
<bf16> $bf16_from(T x) {
  U bits = (U)x, nan = (U)(x != x);
  U rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return (<bf16>)$ui16_from:ui32((rounded & ~nan) | (nan & 0x7fc0));
}"""

# Bits moved into place are those of x / 2¹¹², subnormal or not.
_FROM_F16 = """\
  <ui32> wide = $ui32_from(x);
  <ui32> bits = (<ui32>)((<f32>)((wide & 0x7fff) << 13) * 0x1p+112f);
  bits |= (<ui32>)((wide & 0x7c00) == 0x7c00) & 0x7f800000;
  return (<f32>)(bits | ((wide & 0x8000) << 16));"""

# Below 2⁻¹⁴, adding ½ rounds to a multiple of 2⁻²⁴, f16's least number.
_TO_F16 = """\
  U bits = (U)x, magnitude = bits & 0x7fffffff;
  U normal = (magnitude + (0xfff - 0x38000000) + ((magnitude >> 13) & 1)) >> 13;
  U subnormal = (U)((T)magnitude + 0.5f) - 0x3f000000;
  U small = (U)(magnitude < 0x38800000), great = (U)(magnitude >= 0x47800000), nan = (U)(magnitude > 0x7f800000);
  U half = (subnormal & small) | (normal & ~small);
  half = (half & ~great) | ((0x7c00 | (nan & 0x200)) & great);
  return (<f16>)$ui16_from:ui32(half | ((bits >> 16) & 0x8000));"""


def _from_f16(lanes: int) -> str:
    instruction = {
        4: "return __builtin_ia32_vcvtph2ps((<i16>@8){x[0], x[1], x[2], x[3]});",
        8: "return __builtin_ia32_vcvtph2ps256((<i16>)x);",
        16: "return __builtin_ia32_vcvtph2ps512_mask((<i16>)x, (<f32>){0}, (short)-1, 4);",
    }.get(lanes)
    convert = "return __builtin_convertvector((half)x, <f32>);"
    return f"<f32> $f32_from(T x) {{\n{_machine(lanes, instruction, convert)}{_FROM_F16}\n#endif\n}}"


def _to_f16(lanes: int) -> str:
    instruction = {
        4: "<i16>@8 half = __builtin_ia32_vcvtps2ph(x, 0);\n  return (<f16>){half[0], half[1], half[2], half[3]};",
        8: "return (<f16>)__builtin_ia32_vcvtps2ph256(x, 0);",
        16: "return (<f16>)__builtin_ia32_vcvtps2ph512_mask(x, 0, (<i16>){0}, (short)-1);",
    }.get(lanes)
    convert = "return (<f16>)__builtin_convertvector(x, half);"
    return f"<f16> $f16_from(T x) {{\n{_machine(lanes, instruction, convert)}{_TO_F16}\n#endif\n}}"


def _machine(lanes: int, instruction: str | None, convert: str) -> str:
    """The conversion where there is an instruction: Clang's, and GCC's for so many lanes; up to `#else`."""
    clang = f"""\
#if defined __clang__ && (defined __F16C__ || defined __aarch64__)
  typedef _Float16 half __attribute__((vector_size({2 * lanes})));
  {convert}
"""
    if instruction is None:
        return f"{clang}#else\n"
    return f"{clang}#elif defined {'__AVX512F__' if lanes == 16 else '__F16C__'}\n  {instruction}\n#else\n"


FUNCTIONS: dict[tuple[str, str], Callable[[int], str]] = {
    ("f32_from", "bf16"): lambda lanes: _FROM_BF16,
    ("bf16_from", "f32"): lambda lanes: _TO_BF16,
    ("f32_from", "f16"): _from_f16,
    ("f16_from", "f32"): _to_f16,
}
"""(function, type that it takes) → its text for a number of lanes (functions.py)."""

RESULTS = {key: key[0].removesuffix("_from") for key in FUNCTIONS}
"""The element type that each gives."""
