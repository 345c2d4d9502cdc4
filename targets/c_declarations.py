"""What functions of C text are called and declared with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from xdsl.ir import Attribute

from ..dialects import semantics
from ..dialects.types import element_of, type_name
from . import c_types
from .writer import CodeLine, Names, identifier

_KEYWORDS = (
    "asm auto break case char const continue default do double else enum extern float for goto if inline int linux "
    "long register restrict return short signed sizeof static struct switch typedef typeof union unix unsigned void "
    "volatile while _Bool nullptr bool true false alignas alignof constexpr static_assert thread_local typeof_unqual"
).split()

_LIBRARY = (
    "main malloc calloc realloc free memcpy memmove memset memcmp abort exit rint fmod fabs copysign "
    "omp_get_thread_num omp_get_num_threads"
).split()

RESERVED = frozenset(
    [
        *_KEYWORDS,
        *_LIBRARY,
        *(f"{name}{suffix}" for name in (*semantics.ALU, "rint", "fmod", "fabs", "copysign") for suffix in ("", "f")),
        *"arena threads buffers first end task uop_part uop_parallel uop_pool stream_fence".split(),
        *"PRAGMA UNROLL LANES SHUFFLE".split(),
    ]
)
"""Names that a function or a variable would hide from the text, or from the C library."""

_LIKE_A_FUNCTION = re.compile(rf"(^|_)({'|'.join(c_types.SCALARS)})(x\d+)?(_\w+)?$|^__")
"""What the functions and types of the text are called like, `exp_f32x16`, and what is the compiler's."""


class CNames(Names):
    """Names that no function or type of the text has, nor C itself or its library."""

    def __init__(self, more: Iterable[str] = ()) -> None:
        """more: names that are taken"""
        super().__init__(RESERVED | set(more))

    def fresh(self, base: str) -> str:
        return super().fresh(f"{base}_" if _LIKE_A_FUNCTION.search(base) else base)


def program_name(symbol: str) -> str:
    """What the function of a program is called in C; `_run` behind it is the one that takes an array."""
    return CNames().fresh(identifier(symbol))


def buffer_type(type: Attribute) -> str:
    """C type of an element in memory, where a bool is a byte."""
    name = type_name(element_of(type))
    return c_types.SCALARS["ui8" if name == "i1" else name]


def function_head(head: str, parameters: Sequence[str]) -> list[CodeLine]:
    """The first lines of a function's definition."""
    line = f"{head}({', '.join(parameters)}) {{"
    if len(line) <= 110:
        return [CodeLine(line)]
    first, last = parameters[:-1], parameters[-1]
    return [CodeLine(f"{head}("), *(CodeLine(f"    {each},") for each in first), CodeLine(f"    {last}) {{")]
