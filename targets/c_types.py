"""C's types for the element types of uop, and vectors of them (GCC's and Clang's vector extension).

A vector type is called by its element type and lanes, `f32x16`; one lane is the scalar. Numbers of 16-bit float types
are held as their bits, in `unsigned short`: arithmetic on them is f32 (dialects/semantics.py).

A bool is a `_Bool` where it is a scalar, and a byte that is 0 or 1 in memory. A vector `i1x16` is a mask: its lanes are
integers, 0 or −1, as C's vector comparisons give them.
"""

from __future__ import annotations

from collections.abc import Iterable

SCALARS: dict[str, str] = {
    "f64": "double",
    "f32": "float",
    "f16": "unsigned short",
    "bf16": "unsigned short",
    "i1": "_Bool",
    "i8": "signed char",
    "i16": "short",
    "i32": "int",
    "i64": "long long",
    "ui8": "unsigned char",
    "ui16": "unsigned short",
    "ui32": "unsigned int",
    "ui64": "unsigned long long",
    "index": "long long",
}
"""C's spelling of each element type, and of the unsigned integers that arithmetic which wraps goes through."""

_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i1": 1, "index": 8}

_WIDEST_MASK = 64
"""Bytes of the widest vector register that there is: a mask is no wider."""


def element_bytes(element: str) -> int:
    """Bytes of an element in memory."""
    return _BYTES.get(element) or int(element.lstrip("ui")) // 8


def lane_bytes(element: str, lanes: int) -> int:
    """Bytes of a lane. Those of a mask are 4, as those of f32; fewer where so many would be wider than any register."""
    return max(1, min(4, _WIDEST_MASK // lanes)) if element == "i1" and lanes > 1 else element_bytes(element)


def vector_type(element: str, lanes: int) -> str:
    """What a value of so many lanes is called: `f32x16`; `float` where it is one."""
    return SCALARS[element] if lanes == 1 else f"{element}x{lanes}"


def memory_type(element: str, lanes: int) -> str:
    """The type through which a vector is read and written in memory, at any address that suits an element:
    `*(f32x16_at *)p`."""
    return SCALARS[element] if lanes == 1 else f"{stored(element)}x{lanes}_at"


def stored(element: str) -> str:
    """The element type as which an element is in memory: a bool is a byte, which a cast from `ui8` makes a bool or
    mask, and a cast to `ui8` 0 or 1."""
    return "ui8" if element == "i1" else element


def integer_type(element: str, lanes: int) -> str:
    """The element type of the signed integers as wide as a lane, which compare and select it."""
    return f"i{8 * lane_bytes(element, lanes)}"


def unsigned_type(element: str, lanes: int) -> str:
    """The element type of the unsigned integers in which arithmetic wraps: as wide as a lane; of scalars, not narrower
    than `int`, to which C promotes."""
    bytes = lane_bytes(element, lanes)
    return f"ui{8 * (max(bytes, 4) if lanes == 1 else bytes)}"


def typedefs(vectors: Iterable[tuple[str, int]]) -> str:
    """C text that defines vector types, of element types and lanes; a scalar needs none."""
    lines: list[str] = []
    for element, lanes in _ordered(vectors):
        bytes = lane_bytes(element, lanes)
        c_type = SCALARS[f"i{8 * bytes}" if element == "i1" else element]
        lines.append(f"typedef {c_type} {element}x{lanes} __attribute__((vector_size({bytes * lanes})));")
    return "\n".join(lines)


def memory_typedefs(vectors: Iterable[tuple[str, int]]) -> str:
    """C text that defines the types called by `memory_type`."""
    lines: list[str] = []
    for element, lanes in _ordered((stored(element), lanes) for element, lanes in vectors):
        bytes = element_bytes(element)
        attributes = f"vector_size({bytes * lanes}), aligned({bytes}), may_alias"
        lines.append(f"typedef {SCALARS[element]} {element}x{lanes}_at __attribute__(({attributes}));")
    return "\n".join(lines)


def _ordered(vectors: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    return sorted((element, lanes) for element, lanes in set(vectors) if lanes > 1)
