"""How a text becomes C for one element type and number of lanes.

In a text `T` is the type of a value and `E` that of a lane, `I` and `U` are the signed and unsigned integers as wide,
`C` is what a comparison gives (`I`; `int` of scalars), `M` a bool or mask, `BITS` the width of a lane, and `<f32>` so
many lanes of f32. `$f` is the function f for that type, `$f:i32` that of i32. `@4` behind any of them says of how many
lanes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .. import c_types

Use = tuple[str, str, int]
"""A function that a text calls: what it computes, the element type that it takes, and the lanes."""

Vector = tuple[str, int]
"""The element type and lanes of a vector whose type a text names."""


@dataclass(frozen=True)
class Spelling:
    """C text, the functions that it calls, and the vectors whose types it names."""

    text: str
    uses: tuple[Use, ...] = ()
    vectors: tuple[Vector, ...] = ()


def function_name(op: str, element: str, lanes: int) -> str:
    return f"{op}_{element}" if lanes == 1 else f"{op}_{element}x{lanes}"


def spell(text: str, element: str, lanes: int) -> Spelling:
    """C for a text with tokens."""
    uses: dict[Use, None] = {}
    vectors: dict[Vector, None] = {}

    def replace(match: re.Match[str]) -> str:
        token, _, count = match[0].partition("@")
        width = int(count) if count else lanes
        if token[0] == "$":
            op, _, taken = token[1:].partition(":")
            use = (op, taken or element, width)
            uses[use] = None
            return function_name(*use)
        match token:
            case "E":
                return c_types.SCALARS[element]
            case "C" if width == 1:
                return "int"
            case "BITS":
                return str(8 * c_types.lane_bytes(element, width))
            case "T":
                named = element
            case "I" | "C":
                named = c_types.integer_type(element, width)
            case "U":
                named = c_types.unsigned_type(element, width)
            case "M":
                named = "i1"
            case _:
                named = token[1:-1]
        vectors[named, width] = None
        return c_types.vector_type(named, width)

    return Spelling(_TOKEN.sub(replace, text), tuple(uses), tuple(vectors))


_TOKEN = re.compile(r"(?:\b(?:T|E|I|U|C|M|BITS)\b|\$\w+(?::\w+)?|<[a-z]+\d*>)(?:@\d+)?")
