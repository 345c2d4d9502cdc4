"""Functions of the C library, and those of its functions that are instructions, on the lanes of a vector."""

from __future__ import annotations

from .. import c_types

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
"""Functions that machines have instructions for."""

FUNCTIONS = {
    name: name
    for name in (
        "exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc "
        "pow atan2"
    ).split()
} | {"truncmod": "fmod"}
"""Functions that are called lane by lane."""

_ARITY = {"copysign": 2, "pow": 2, "atan2": 2, "truncmod": 2, "fma": 3}


def instruction(op: str, element: str, lanes: int) -> str:
    """One of `INSTRUCTIONS` for all lanes."""
    if op == "fma" and lanes > 1:
        return _fma(element, lanes)
    return _by_lanes(op, _builtin(INSTRUCTIONS[op], element), lanes)


def function(op: str, element: str, lanes: int) -> str:
    """One of `FUNCTIONS` for one lane after the other; `libm_sin` is the library's where `sin` is our own."""
    stem = op.removeprefix("libm_")
    return in_turn(op, _builtin(FUNCTIONS[stem], element), _ARITY.get(stem, 1), lanes)


def _builtin(stem: str, element: str) -> str:
    return f"__builtin_{stem}{'f' if element == 'f32' else ''}"


def _by_lanes(op: str, function: str, lanes: int) -> str:
    """One expression of all lanes, which compilers make one instruction of."""
    arity = _ARITY.get(op, 1)
    parameters = ", ".join(f"T {name}" for name in "xyz"[:arity])
    if lanes == 1:
        return f"T ${op}({parameters}) {{ return {function}({', '.join('xyz'[:arity])}); }}"
    calls = [f"{function}({', '.join(f'{name}[{lane}]' for name in 'xyz'[:arity])})" for lane in range(lanes)]
    wide = 4 if arity == 1 else 2
    rows = ",\n".join("    " + ", ".join(calls[first : first + wide]) for first in range(0, lanes, wide))
    return f"T ${op}({parameters}) {{\n  return (T){{\n{rows}}};\n}}"


def _fma(element: str, lanes: int) -> str:
    """Of one expression of all lanes compilers make the same, but take their time: products have many of these."""
    kind = "s" if element == "f32" else "d"
    bits = 8 * c_types.element_bytes(element) * lanes
    builtin, feature, arguments = {
        128: (f"__builtin_ia32_vfmaddp{kind}", "__FMA__", "x, y, z"),
        256: (f"__builtin_ia32_vfmaddp{kind}256", "__FMA__", "x, y, z"),
        512: (f"__builtin_ia32_vfmaddp{kind}512_mask", "__AVX512F__", "x, y, z, -1, 4"),
    }.get(bits, ("", "", ""))
    plain = _by_lanes("fma", _builtin("fma", element), lanes)
    head, body = plain.split("\n", 1)
    text = f"{head}\n#if __has_builtin(__builtin_elementwise_fma)\n  return __builtin_elementwise_fma(x, y, z);\n"
    if builtin:
        text += f"#elif defined {feature}\n  return {builtin}({arguments});\n"
    return f"{text}#else\n{body.removesuffix('}')}#endif\n}}"


def extremum(op: str, element: str, lanes: int) -> str:
    """`min` or `max`, which keep NaN of either. The instructions of x86 give `y` where one is NaN, as the comparison
    does; GCC does not make them of comparisons of vectors."""
    sign = "<" if op == "min" else ">"
    if lanes == 1:
        return f"T ${op}(T x, T y) {{ return x != x ? x : x {sign} y ? x : y; }}"
    name = f"__builtin_ia32_{op}p{'s' if element == 'f32' else 'd'}"
    builtin, feature = {
        128: (f"{name}(x, y)", "__SSE2__"),
        256: (f"{name}256(x, y)", "__AVX__"),
        512: (f"{name}512_mask(x, y, y, -1, 4)", "__AVX512F__"),
    }.get(8 * c_types.element_bytes(element) * lanes, ("", ""))
    plain = f"  T r = $select(x {sign} y, x, y);\n"
    if builtin:
        plain = f"#if defined {feature} && !defined __clang__\n  T r = {builtin};\n#else\n{plain}#endif\n"
    return f"T ${op}(T x, T y) {{\n{plain}  return $select(x != x, x, r);\n}}"


def in_turn(op: str, function: str, arity: int, lanes: int) -> str:
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
