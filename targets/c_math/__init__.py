"""uop's arithmetic in C: what an ALU op, a cast or a bitcast is written as, and the functions that this calls.

`expression` spells one op on scalars or vectors of one element type; it names the functions that it `uses`, and
`definitions` writes those, with what they call, in an order that depends on nothing else. No header is included.

The text is for GCC and Clang, with `COMPILER_FLAGS`. A scalar gives the same bits as a lane of a vector. f32 has
functions of its own where speed matters (float32.py); other functions, and those of f64, call libm lane by lane.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from ...dialects.semantics import ALU
from .. import c_types
from .float32 import ERRORS
from .functions import define
from .operators import conversion, operator
from .text import Spelling, Use, Vector, function_name, spell

__all__ = ["COMPILER_FLAGS", "ERRORS", "Spelling", "Use", "bitcast", "call", "cast", "definitions", "expression"]

COMPILER_FLAGS = ("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
"""What the text needs: functions of libm set no `errno` and floating-point exceptions are not looked at, so square
roots and roundings are single instructions; and no compiler fuses what the program does not."""


def call(op: str, element: str, lanes: int) -> str:
    """The name of the function that computes `op`, `exp_f32x16`; `exp_f32` is of scalars."""
    return function_name(op, element, lanes)


def definitions(uses: Iterable[Use], vectors: Iterable[Vector] = ()) -> str:
    """C text of functions and all that they call: types first, each function behind those that it calls.

    vectors: more vectors whose types are to be defined (targets/c_types.py).
    """
    done: dict[Use, str] = {}
    types = set(vectors)
    stack = [(use, False) for use in sorted(set(uses), reverse=True)]
    while stack:
        use, called_are_done = stack.pop()
        if use in done:
            continue
        definition = define(use)
        if called_are_done:
            done[use] = definition.text
            types.update(definition.vectors)
        else:
            stack.append((use, True))
            stack += [(called, False) for called in reversed(definition.uses)]
    typedefs = c_types.typedefs(types)
    return "\n\n".join(([typedefs] if typedefs else []) + list(done.values()))


def expression(op: str, element: str, lanes: int, operands: Sequence[str]) -> Spelling:
    """C text of an ALU op (dialects/semantics.py) on operands that are names or literals; a vector's are names.

    element: of the operands (of a `where`, of what it selects). A scalar `index` is 64-bit and does not wrap. The text
    is to initialise a variable: a scalar of fewer than 32 bits is an `int` until then.
    Raises `KeyError` where the op is not defined for the type.
    """
    return _with_operands(_expression(op, element, lanes), operands)


def cast(source: str, target: str, lanes: int, operand: str) -> Spelling:
    """C text of `uop.cast`: floats round to nearest even, a float to an integer truncates, to bool is `!= 0`."""
    return _with_operands(_cast(source, target, lanes), [operand])


def bitcast(source: str, target: str, lanes: int, operand: str) -> Spelling:
    """C text of `uop.bitcast`: between types of one width, neither of them bool."""
    float_and_integer = lanes == 1 and {source, target} & {"f32", "f64"}
    text = f"$bits_to_{target}({{0}})" if float_and_integer else f"(<{target}>){{0}}"
    return _with_operands(spell(text, source, lanes), [operand])


def _with_operands(spelling: Spelling, operands: Sequence[str]) -> Spelling:
    return Spelling(spelling.text.format(*operands), spelling.uses, spelling.vectors)


@cache
def _expression(op: str, element: str, lanes: int) -> Spelling:
    """The text with `{0}`, `{1}`, … for operands."""
    row = ALU[op]
    places = [f"{{{place}}}" for place in range(row.arity)]
    if element in ("f16", "bf16") and op != "where":
        widen = spell("$f32_from({0})", element, lanes)
        parts = [widen, _expression(op, "f32", lanes)]
        text = parts[1].text.format(*(widen.text.format(place) for place in places))
        if not row.compares:
            parts.append(spell(f"${element}_from({{0}})", "f32", lanes))
            text = parts[-1].text.format(text)
        return _merged(text, parts)
    return spell(operator(op, element, lanes) or f"${op}({', '.join(places)})", element, lanes)


@cache
def _cast(source: str, target: str, lanes: int) -> Spelling:
    """The text with `{0}` for the operand. Numbers become f16 and bf16 by way of f32: they round twice, as
    PyTorch's do."""
    parts: list[Spelling] = []
    if source in ("f16", "bf16"):
        parts.append(spell("$f32_from({0})", source, lanes))
        source = "f32"
    middle = "f32" if target in ("f16", "bf16") else target
    if source != middle:
        parts.append(spell(conversion(source, middle, lanes), source, lanes))
    if middle != target:
        parts.append(spell(f"${target}_from({{0}})", "f32", lanes))
    text = "{0}"
    for part in parts:
        text = part.text.format(text)
    return _merged(text, parts)


def _merged(text: str, parts: Sequence[Spelling]) -> Spelling:
    """`text`, and what its parts need."""
    uses = dict.fromkeys(use for part in parts for use in part.uses)
    vectors = dict.fromkeys(vector for part in parts for vector in part.vectors)
    return Spelling(text, tuple(uses), tuple(vectors))
