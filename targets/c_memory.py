"""Loads and stores of vectors in C that are more than one access: the functions that the printer writes for them.

Each is a loop over lanes that GCC and Clang make one masked, gathering or scattering instruction of, where the machine
has it; what a mask leaves out is not touched. Arguments are pointers to elements as memory has them: bools are `ui8`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dialects.cpu_kernel.transposes import exchanged_lanes
from . import c_types

LANES = """\
#ifdef __clang__
#define LANES(n) PRAGMA(clang loop unroll(disable) vectorize(assume_safety) vectorize_width(n))
#else
#define LANES(n)
#endif"""
"""What stands before a loop over lanes: Clang would unroll it and miss the instruction."""

Vector = tuple[str, int]
"""An element type and lanes."""

_INLINE = "static inline __attribute__((always_inline)) "


@dataclass(frozen=True)
class Function:
    """A C function: its name, its text, the vectors whose types it names, and those that it names as memory types."""

    name: str
    text: str
    vectors: tuple[Vector, ...]
    memory: tuple[Vector, ...] = ()


def load(element: str, lanes: int, *, count: int | None = None, index: str | None = None, masked: bool) -> Function:
    """A load of some lanes, 0 in the others.

    count: only so many. index: element type of a vector of places; None for lanes side by side. masked: by a mask.
    """
    name = _name("load", element, lanes, count, index, masked)
    type, place = c_types.vector_type(element, lanes), "i" if index is None else "places.lanes[i]"
    chosen = f"chosen.lanes[i] ? from[{place}] : 0" if masked else f"from[{place}]"
    if count is not None:
        chosen = f"i < {count} ? from[i] : 0"
    by_lane = [
        f"  {_union(element, lanes)} to;",
        *_unions(lanes, index, masked),
        f"  LANES({lanes}) for (int i = 0; i < {lanes}; ++i) to.lanes[i] = {chosen};",
        "  return to.vector;",
    ]
    vectors, memory = [(element, lanes), *_more_vectors(lanes, index, masked)], ()
    if count is not None and _is_vector(count):
        widths = _doubled(count, lanes)
        vectors, memory = [*vectors, *((element, width) for width in widths)], ((element, count),)
        by_lane = _where_shuffled(
            [f"  {c_types.vector_type(element, count)} x{count} = *({_at(element, count)} const *)from;"]
            + [_widened(element, width) for width in widths if width < lanes]
            + [f"  return x{lanes};"],
            by_lane,
        )
    lines = [
        f"{_INLINE}{type} {name}(const {c_types.SCALARS[element]} *from{_parameters(lanes, index, masked)}) {{",
        *by_lane,
        "}",
    ]
    return Function(name, "\n".join(lines), tuple(vectors), memory)


def store(element: str, lanes: int, *, count: int | None = None, index: str | None = None, masked: bool) -> Function:
    """A store of some lanes; the arguments are those of `load`, and the value comes behind the pointer."""
    name = _name("store", element, lanes, count, index, masked)
    type, place = c_types.vector_type(element, lanes), "i" if index is None else "places.lanes[i]"
    condition = "if (chosen.lanes[i]) " if masked else ""
    if count is not None:
        condition = f"if (i < {count}) "
    parameters = f"{c_types.SCALARS[element]} *to, {type} value{_parameters(lanes, index, masked)}"
    by_lane = [
        f"  {_union(element, lanes)} from = {{value}};",
        *_unions(lanes, index, masked),
        f"  LANES({lanes}) for (int i = 0; i < {lanes}; ++i) {condition}to[{place}] = from.lanes[i];",
    ]
    vectors, memory = [(element, lanes), *_more_vectors(lanes, index, masked)], ()
    if count is not None and _is_vector(count):
        vectors, memory = [*vectors, (element, count)], ((element, count),)
        first = ", ".join(map(str, range(count)))
        whole = f"  *({_at(element, count)} *)to = __builtin_shufflevector(value, value, {first});"
        by_lane = _where_shuffled([whole], by_lane)
    return Function(name, "\n".join([f"{_INLINE}void {name}({parameters}) {{", *by_lane, "}"]), tuple(vectors), memory)


def _is_vector(count: int) -> bool:
    """Whether the first lanes are as many as a vector has."""
    return count > 1 and count & (count - 1) == 0


def _doubled(count: int, lanes: int) -> list[int]:
    """Lanes of the vectors on the way from one to another that has more: compilers widen by two at a time."""
    widths: list[int] = []
    while count <= lanes:
        widths.append(count)
        count *= 2
    return widths


def _widened(element: str, width: int) -> str:
    """`x16` as `x8`, and zeros behind it."""
    type, wider = c_types.vector_type(element, width), c_types.vector_type(element, 2 * width)
    picked = ", ".join(map(str, range(2 * width)))
    return f"  {wider} x{2 * width} = __builtin_shufflevector(x{width}, ({type}){{0}}, {picked});"


def _where_shuffled(lines: Sequence[str], otherwise: Sequence[str]) -> list[str]:
    """Lines for compilers that shuffle vectors into shorter and longer ones (GCC does from 12 on), and for others."""
    return [
        "#if defined __has_builtin && __has_builtin(__builtin_shufflevector)",
        *lines,
        "#else",
        *otherwise,
        "#endif",
    ]


def _at(element: str, lanes: int) -> str:
    return c_types.memory_type(element, lanes)


_STREAMS = {
    64: ("__AVX512F__", "__builtin_ia32_movntps512"),
    32: ("__AVX__", "__builtin_ia32_movntps256"),
    16: ("__SSE__", "__builtin_ia32_movntps"),
}
"""Bytes of a vector → where GCC has an instruction that stores so many of f32 past the caches, what it is called."""


def stream(element: str, lanes: int) -> Function:
    """A store of a whole vector past the caches, where the place is aligned to the vector's size."""
    type, at = c_types.vector_type(element, lanes), c_types.memory_type(element, lanes)
    bytes = lanes * c_types.element_bytes(element)
    c_type = c_types.SCALARS[element]
    name = f"stream_{element}x{lanes}"
    vectors = [(element, lanes)]
    lines = [f"{_INLINE}void {name}({c_type} *to, {type} value) {{"]
    if bytes in _STREAMS:
        macro, instruction = _STREAMS[bytes]
        vectors.append(("f32", bytes // 4))
        lines += [
            f"  if ((__UINTPTR_TYPE__)to % {bytes} == 0) {{",
            "#if defined __clang__",
            f"    __builtin_nontemporal_store(value, ({type} *)to);",
            "    return;",
            f"#elif defined {macro}",
            f"    {instruction}((float *)to, ({c_types.vector_type('f32', bytes // 4)})value);",
            "    return;",
            "#endif",
            "  }",
        ]
    lines += [f"  *({at} *)to = value;", "}"]
    return Function(name, "\n".join(lines), tuple(vectors), ((element, lanes),))


def transpose(element: str, lanes: int) -> Function:
    """A copy of a square, its rows as columns: squares within squares, those off the diagonal change places (J. O.
    Eklundh, "A fast computer method for matrix transposing", 1972). It is called, so that it is compiled once."""
    type, at, c_type = (
        c_types.vector_type(element, lanes),
        c_types.memory_type(element, lanes),
        c_types.SCALARS[element],
    )
    integer = c_types.integer_type(element, lanes)
    integers = c_types.vector_type(integer, lanes)
    name = f"transpose_{element}x{lanes}"
    rows = [f"r{row}" for row in range(lanes)]
    lines = [
        "static __attribute__((noinline)) void "
        + f"{name}(const {c_type} *from, long long from_stride, {c_type} *to, long long to_stride) {{",
        *(f"  {type} {row} = *(const {at} *)&from[{n} * from_stride];" for n, row in enumerate(rows)),
        f"  {type} kept;",
    ]
    step = 1
    while step < lanes:
        first, second = (", ".join(map(str, picked)) for picked in exchanged_lanes(lanes, step))
        for place in range(lanes):
            if not place & step:
                x, y = rows[place], rows[place + step]
                lines.append(f"  kept = {x};")
                lines.append(f"  {x} = SHUFFLE({integers}, kept, {y}, {first});")
                lines.append(f"  {y} = SHUFFLE({integers}, kept, {y}, {second});")
        step *= 2
    lines += [*(f"  *({at} *)&to[{n} * to_stride] = {row};" for n, row in enumerate(rows)), "}"]
    return Function(name, "\n".join(lines), ((element, lanes), (integer, lanes)), ((element, lanes),))


STREAM_FENCE = """\
static inline void stream_fence(void) {
#ifdef __SSE__
  __builtin_ia32_sfence();
#endif
}"""
"""What orders streamed stores before whatever tells other threads of them."""


def _name(verb: str, element: str, lanes: int, count: int | None, index: str | None, masked: bool) -> str:
    verb = verb if index is None else {"load": "gather", "store": "scatter"}[verb]
    parts = [verb, *(["masked"] if masked else []), *([f"first{count}"] if count is not None else [])]
    return "_".join([*parts, f"{element}x{lanes}", *([index] if index is not None else [])])


def _union(element: str, lanes: int) -> str:
    c_type = c_types.SCALARS[c_types.integer_type(element, lanes) if element == "i1" else element]
    return f"union {{ {c_types.vector_type(element, lanes)} vector; {c_type} lanes[{lanes}]; }}"


def _parameters(lanes: int, index: str | None, masked: bool) -> str:
    places = "" if index is None else f", {c_types.vector_type(index, lanes)} at"
    return places + (f", {c_types.vector_type('i1', lanes)} mask" if masked else "")


def _unions(lanes: int, index: str | None, masked: bool) -> list[str]:
    lines = [] if index is None else [f"  {_union(index, lanes)} places = {{at}};"]
    return lines + ([f"  {_union('i1', lanes)} chosen = {{mask}};"] if masked else [])


def _more_vectors(lanes: int, index: str | None, masked: bool) -> list[Vector]:
    return [*([] if index is None else [(index, lanes)]), *([("i1", lanes)] if masked else [])]
