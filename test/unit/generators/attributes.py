"""Strategies of attributes and types: every element type, every number, nested containers."""

import struct
from collections.abc import Callable, Sequence

from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseArrayBase,
    DictionaryAttr,
    FileLineColLoc,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FusedLoc,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    NameLoc,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute

from uop.dialects.axes import AxisAttr, AxisKind
from uop.dialects.layouts import REGISTER, SHARED, SwizzleAttr, packed_strides
from uop.dialects.monoids import MONOIDS, MonoidAttr, number_attribute
from uop.dialects.schedule import Alignment, BlockGroup, Factor, Schedule, ScheduleAttr, Slots, Staging
from uop.dialects.types import ELEMENT_TYPES, integer_bounds, is_float

from .symbols import symbol_attributes

ELEMENTS = tuple(ELEMENT_TYPES.values())

elements = st.sampled_from(ELEMENTS)


def elements_where(accepts: Callable[[Attribute], bool]) -> st.SearchStrategy[Attribute]:
    return st.sampled_from([element for element in ELEMENTS if accepts(element)])


extents = st.sampled_from((0, 1, 2, 3, 5))
shapes = st.lists(extents, max_size=3).map(tuple)


def _bits_of_floats(width: int, exponent_bits: int) -> st.SearchStrategy[int]:
    """Bit patterns: any, and those at the edges (zeros, infinities, NaNs with payloads, subnormals)."""
    mantissa_bits = width - 1 - exponent_bits
    infinity = ((1 << exponent_bits) - 1) << mantissa_bits
    least, edge = 1, (1 << mantissa_bits) - 1
    corners = [0, least, edge, edge + 1, infinity - 1, infinity, infinity + least, infinity | edge, infinity + 2]
    sign = 1 << (width - 1)
    return st.sampled_from(corners + [sign | pattern for pattern in corners]) | st.integers(0, (1 << width) - 1)


_FLOAT_BITS = {
    Float64Type: _bits_of_floats(64, 11),
    Float32Type: _bits_of_floats(32, 8),
    Float16Type: _bits_of_floats(16, 5),
    BFloat16Type: _bits_of_floats(16, 8),
}


def _float_of_bits(type: Attribute, bits: int) -> float:
    match type:
        case Float64Type():
            return struct.unpack("<d", struct.pack("<Q", bits))[0]
        case Float32Type():
            return struct.unpack("<f", struct.pack("<I", bits))[0]
        case Float16Type():
            return struct.unpack("<e", struct.pack("<H", bits))[0]
        case _:
            return struct.unpack("<f", struct.pack("<I", bits << 16))[0]


@st.composite
def numbers(draw: st.DrawFn, type: Attribute) -> FloatAttr | IntegerAttr:
    """Any number of an element type."""
    if is_float(type):
        return FloatAttr(_float_of_bits(type, draw(_FLOAT_BITS[type.__class__])), type)
    low, high = integer_bounds(type)
    value = draw(st.sampled_from((low, high, 0, min(1, high), max(-1, low))) | st.integers(low, high))
    return number_attribute(bool(value) if type == i1 else value, type)


# Quotes, backslashes, control characters; or letters beyond ASCII. xDSL reads a string that has both as bytes.
strings = st.text(st.characters(max_codepoint=127), max_size=6) | st.text(
    st.characters(min_codepoint=32, exclude_characters='"\\\x7f', exclude_categories=("Cs",)), max_size=6
)

names: st.SearchStrategy[str] = st.sampled_from(
    ("x", "forward", "a.b", "_1", "f$g", "π", "with space", 'quo"te', "1st")
)
"""Names of symbols and of discardable attributes."""


_files = st.sampled_from(("model.py", "<command>", "/home/é x/m.py", 'a"b\\c.py'))


@st.composite
def _known_locations(draw: st.DrawFn) -> LocationAttr:
    def file() -> FileLineColLoc:
        line, column = draw(st.integers(0, 2**31)), draw(st.integers(0, 200))
        return FileLineColLoc(StringAttr(draw(_files)), IntAttr(line), IntAttr(column))

    match draw(st.sampled_from(("file", "file", "named", "named file", "fused"))):
        case "named":
            return NameLoc(StringAttr(draw(_files)), NoneAttr())
        case "named file":
            return NameLoc(StringAttr(draw(_files)), file())
        case "fused":
            return FusedLoc(tuple(file() for _ in range(draw(st.integers(1, 3)))), NoneAttr())
        case _:
            return file()


locations: st.SearchStrategy[LocationAttr] = st.just(UnknownLoc()) | _known_locations()


@st.composite
def _types(draw: st.DrawFn) -> Attribute:
    element, shape = draw(elements), draw(shapes)
    match draw(st.sampled_from(("scalar", "tensor", "vector", "memref"))):
        case "tensor":
            return TensorType(element, shape)
        case "vector" if shape:
            return VectorType(element, shape)
        case "memref":
            return MemRefType(element, shape)
        case _:
            return element


types = _types()

axis_names = st.sampled_from(("i", "j", "k1", "loc", "mask", "a_b", "x.y", "T$"))
axes = st.builds(AxisAttr, axis_names, st.integers(0, 2**40), st.none() | st.sampled_from(AxisKind))
monoids = st.sampled_from(sorted(MONOIDS)).map(MonoidAttr)

_factors = st.builds(
    Factor, st.integers(1, 2**33), st.sampled_from([kind for kind in AxisKind if kind is not AxisKind.PARALLEL])
)


@st.composite
def _stagings(draw: st.DrawFn) -> Staging:
    buffer = draw(st.sampled_from(("x", "w", "x_1", "7", "a.b-c", "$")))
    pad, swizzle = draw(st.sampled_from(((0, 0), (1, 0), (4, 0), (0, 8))))
    over = draw(st.none() | axis_names)
    asynchronous, prepared, reread = (draw(st.booleans()) for _ in range(3))
    return Staging(
        buffer, draw(st.integers(1, 4)), asynchronous, pad, swizzle, over=over, prepared=prepared, reread=reread
    )


_staging = _stagings()


@st.composite
def _schedules(draw: st.DrawFn) -> ScheduleAttr:
    names = draw(st.lists(axis_names, max_size=3, unique=True))
    axes = [(name, tuple(draw(st.lists(_factors, min_size=1, max_size=3)))) for name in names]
    stage = draw(st.lists(_staging, max_size=2, unique_by=lambda staging: staging.buffer))
    blocks = [(axis, f.extent) for axis, factors in axes for f in factors if f.kind is AxisKind.BLOCK]
    grouped = [(axis, extent) for axis, extent in blocks if [name for name, _ in blocks].count(axis) == 1]
    group = draw(st.none() | st.sampled_from([BlockGroup(axis, n) for axis, n in grouped])) if grouped else None
    align = draw(st.none() | st.builds(Alignment, axis_names, st.integers(1, 64)))
    slots = draw(st.none() | st.builds(Slots, axis_names, st.integers(1, 9)))
    return ScheduleAttr(Schedule(tuple(axes), tuple(stage), draw(st.none() | st.integers(1, 32)), group, align, slots))


schedules = _schedules()

swizzles = st.builds(SwizzleAttr, st.sampled_from((1, 4, 8)), st.sampled_from((1, 2, 3, 4, 8, 14, 16)))


@st.composite
def memrefs(draw: st.DrawFn, element: Attribute, shape: Sequence[int], space: StringAttr | None = None) -> MemRefType:
    """A buffer; one in shared memory has any layout."""
    if space is None:
        return MemRefType(element, shape)
    if space != SHARED or not shape:
        return MemRefType(element, shape, memory_space=space)
    strides = packed_strides([max(extent, 1) + draw(st.integers(0, 2)) for extent in shape])
    layout = draw(st.none() | swizzles | st.just(StridedLayoutAttr(strides)))
    return (
        MemRefType(element, shape, memory_space=space) if layout is None else MemRefType(element, shape, layout, space)
    )


spaces = st.sampled_from((SHARED, REGISTER))


def _plain() -> st.SearchStrategy[Attribute]:
    return st.one_of(
        elements.flatmap(numbers),
        strings.map(StringAttr),
        st.just(UnitAttr()),
        st.integers(-(2**63), 2**63 - 1).map(lambda value: IntegerAttr(value, IntegerType(64))),
    )


def _nested(inner: st.SearchStrategy[Attribute]) -> st.SearchStrategy[Attribute]:
    return st.lists(inner, max_size=3).map(ArrayAttr) | st.dictionaries(names, inner, max_size=2).map(DictionaryAttr)


arguments = st.recursive(_plain(), _nested, max_leaves=4)
"""What an argument of an ATen call may be."""

attributes = st.one_of(
    arguments,
    names.map(SymbolRefAttr),
    types,
    axes,
    monoids,
    schedules,
    swizzles,
    symbol_attributes,
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3).map(lambda values: DenseArrayBase.from_list(i64, values)),
)
"""What a discardable attribute may be."""
