"""uop's arithmetic in C: what an ALU op, a cast or a bitcast is written as, and the functions that this calls.

`expression` spells one op on scalars or vectors of one element type; it names the functions that it `uses`, and
`definitions` writes those, with what they call, in an order that depends on nothing else. No header is included.

The text is for GCC and Clang, with `COMPILER_FLAGS`. A scalar gives the same bits as a lane of a vector.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...dialects.semantics import ALU
from .. import c_types
from .float32 import ERRORS
from .functions import Use, define, function_name
from .operators import operator

__all__ = ["COMPILER_FLAGS", "ERRORS", "Spelling", "Use", "bitcast", "call", "cast", "definitions", "expression"]

COMPILER_FLAGS = ("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off")
"""What the text needs: functions of libm set no `errno` and floating-point exceptions are not looked at, so square
roots and roundings are single instructions; and no compiler fuses what the program does not."""


@dataclass(frozen=True)
class Spelling:
    """A C expression, and the functions that it calls."""

    text: str
    uses: tuple[Use, ...] = ()


def call(op: str, element: str, lanes: int) -> str:
    """The name of the function that computes `op`, `exp_f32x16`; `exp_f32` is of scalars."""
    return function_name(op, element, lanes)


def definitions(uses: Iterable[Use], vectors: Iterable[tuple[str, int]] = ()) -> str:
    """C text of functions and all that they call: types first, each function behind those that it calls.

    vectors: element types and lanes of more vectors whose types are to be defined (targets/c_types.py).
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
            types |= definition.vectors
        else:
            stack.append((use, True))
            stack += [(called, False) for called in reversed(definition.uses)]
    typedefs = c_types.typedefs(types)
    return "\n\n".join(([typedefs] if typedefs else []) + list(done.values()))


def expression(op: str, element: str, lanes: int, operands: Sequence[str]) -> Spelling:
    """C text of an ALU op (dialects/semantics.py) on operands that are names or literals; a vector's are names.

    element: of the operands (of a `where`, of what it selects). A scalar `index` is 64-bit and does not wrap. The text
    is to initialise a variable: a scalar of fewer than 32 bits is an `int` until then.
    """
    row = ALU[op]
    if element in ("f16", "bf16") and op != "where":
        widened = [f"{call('f32_from', element, lanes)}({operand})" for operand in operands]
        inner = expression(op, "f32", lanes, widened)
        uses = (("f32_from", element, lanes), *inner.uses)
        if row.compares:
            return Spelling(inner.text, uses)
        narrow: Use = (f"{element}_from", "f32", lanes)
        return Spelling(f"{function_name(*narrow)}({inner.text})", (*uses, narrow))
    template = operator(op, element, lanes)
    if template is not None:
        return Spelling(template.format(*operands))
    use = (op, element, lanes)
    return Spelling(f"{function_name(*use)}({', '.join(operands)})", (use,))


def cast(source: str, target: str, lanes: int, operand: str) -> Spelling:
    """C text of `uop.cast`: floats round to nearest even, a float to an integer truncates, to bool is `!= 0`."""
    value = operand
    uses: list[Use] = []
    if source in ("f16", "bf16"):
        uses.append(("f32_from", source, lanes))
        value, source = f"{function_name(*uses[-1])}({value})", "f32"
    narrow = target if target in ("f16", "bf16") else None
    if narrow is not None:
        target = "f32"  # f64 and integers round twice, as PyTorch's do
    if source != target:
        value = _converted(source, target, lanes, value)
    if narrow is not None:
        uses.append((f"{narrow}_from", "f32", lanes))
        value = f"{function_name(*uses[-1])}({value})"
    return Spelling(value, tuple(uses))


def _converted(source: str, target: str, lanes: int, value: str) -> str:
    """Between types that C has."""
    if lanes == 1:
        return f"{value} != 0" if target == "i1" else f"({c_types.SCALARS[target]}){value}"
    if target == "i1":
        value, source = f"({value} != 0)", c_types.integer_type(source, lanes)
        if c_types.lane_bytes(source, lanes) == c_types.lane_bytes("i1", lanes):
            return f"({c_types.vector_type('i1', lanes)}){value}"
    elif source == "i1":
        value = f"(-{value})"
    elif source in ("f32", "f64") and c_types.element_bytes(target) < 4:
        value = f"__builtin_convertvector({value}, {c_types.vector_type('i32', lanes)})"
    return f"__builtin_convertvector({value}, {c_types.vector_type(target, lanes)})"


def bitcast(source: str, target: str, lanes: int, operand: str) -> Spelling:
    """C text of `uop.bitcast`: between types of one width, neither of them bool."""
    if lanes > 1 or not {source, target} & {"f32", "f64"}:
        return Spelling(f"({c_types.vector_type(target, lanes)}){operand}")
    use = (f"bits_to_{target}", source, 1)
    return Spelling(f"{function_name(*use)}({operand})", (use,))
