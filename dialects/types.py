"""Element types of uop and what is asked of shaped types: one place for tensor, vector, memref and scalar alike."""

from collections.abc import Sequence
from functools import cache

from typing_extensions import TypeIs
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

index = IndexType()
ui8 = IntegerType(8, Signedness.UNSIGNED)

ELEMENT_TYPES: dict[str, Attribute] = {
    "f64": f64,
    "f32": f32,
    "f16": f16,
    "bf16": bf16,
    "i1": i1,
    "i8": i8,
    "i16": i16,
    "i32": i32,
    "i64": i64,
    "ui8": ui8,
    "index": index,
}
"""Every element type by name. `i8` … `i64` are signless in MLIR's text and signed in meaning; `i1` is bool."""

_NAMES = {type: name for name, type in ELEMENT_TYPES.items()}

_SHAPED = frozenset((TensorType, VectorType, MemRefType))

FLOAT_TYPES = (Float64Type, Float32Type, Float16Type, BFloat16Type)

_WIDTHS = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i1": 8, "index": 64}


def type_name(element: Attribute) -> str:
    """`f32`, `i1`, `ui8`, … Raises `KeyError` when `element` is no element type of uop."""
    return _NAMES[element]


def is_element_type(type: Attribute) -> bool:
    return type in _NAMES


def is_float(element: Attribute) -> TypeIs[Float64Type | Float32Type | Float16Type | BFloat16Type]:
    return isinstance(element, FLOAT_TYPES)


def is_bool(element: Attribute) -> bool:
    return element == i1


def is_integer(element: Attribute) -> bool:
    """An integer type or `index`; not bool."""
    return isinstance(element, IndexType) or (isinstance(element, IntegerType) and element != i1)


def bit_width(element: Attribute) -> int:
    """Bits that an element takes in memory (a bool takes a byte)."""
    name = _NAMES[element]
    return _WIDTHS.get(name) or int(name.lstrip("ui"))


def byte_width(element: Attribute) -> int:
    return bit_width(element) // 8


def integer_bounds(element: Attribute) -> tuple[int, int]:
    """Least and greatest value of an integer or bool type (`index` counts as 64 bits)."""
    if element == i1:
        return 0, 1
    width = bit_width(element)
    if element == ui8:
        return 0, (1 << width) - 1
    return -(1 << (width - 1)), (1 << (width - 1)) - 1


# Types are final: comparing classes takes a tenth of `isinstance`, which asks an abstract base class.


def is_tensor(type: Attribute) -> TypeIs[TensorType[Attribute]]:
    return type.__class__ is TensorType


def is_vector(type: Attribute) -> TypeIs[VectorType[Attribute]]:
    return type.__class__ is VectorType


def is_memref(type: Attribute) -> TypeIs[MemRefType[Attribute]]:
    return type.__class__ is MemRefType


def is_shaped(type: Attribute) -> TypeIs[TensorType[Attribute] | VectorType[Attribute] | MemRefType[Attribute]]:
    return type.__class__ in _SHAPED


def is_value_type(type: Attribute) -> bool:
    """An element type, or a tensor, vector or memref of one whose extents are all known."""
    return element_of(type) in _NAMES and all(extent >= 0 for extent in shape_of(type))


def shape_of(type: Attribute) -> tuple[int, ...]:
    """Shape of a tensor, vector or memref; `()` for a scalar."""
    if is_shaped(type):
        return tuple([extent.data for extent in type.shape.data])  # `get_shape` goes through a generator
    return ()


def element_of(type: Attribute) -> Attribute:
    """Element type of a tensor, vector or memref; a scalar is its own."""
    if is_shaped(type):
        return type.element_type
    return type


@cache
def with_element(type: Attribute, element: Attribute) -> Attribute:
    """`type` with another element type."""
    if is_tensor(type):
        return TensorType(element, type.get_shape())
    if is_vector(type):
        return VectorType(element, type.get_shape())
    return element


def with_shape(type: Attribute, shape: Sequence[int]) -> Attribute:
    """`type` (a tensor, or a vector or scalar in registers) with another shape; a vector of no dimensions is a
    scalar."""
    return _with_shape(type, tuple(shape))


# Making a shaped type takes 20 µs, looking one up 1 µs; a compile makes few different ones many times.
@cache
def _with_shape(type: Attribute, shape: tuple[int, ...]) -> Attribute:
    if is_tensor(type):
        return TensorType(type.element_type, shape)
    element = element_of(type)
    return VectorType(element, shape) if shape else element


def element_count(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def byte_count(type: Attribute) -> int:
    """Bytes that the elements of a tensor or memref type take, packed."""
    return element_count(shape_of(type)) * byte_width(element_of(type))


def packed_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides, in elements, of rows that lie one after the other."""
    strides: list[int] = []
    stride = 1
    for extent in reversed(shape):
        strides.append(stride)
        stride *= extent
    return tuple(reversed(strides))


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that scalars and vectors of one rank have together; None when they do not fit."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        if not shape:
            continue
        if not result:
            result = shape
        elif len(shape) != len(result) or any(1 not in (a, b) and a != b for a, b in zip(shape, result, strict=True)):
            return None
        else:
            result = tuple(max(a, b) for a, b in zip(shape, result, strict=True))
    return result
