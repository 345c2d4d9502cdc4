"""Where the elements of a shared slab lie. Padding is builtin's strided layout; the swizzle is here."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntAttr, MemRefLayoutAttr, MemRefType, NoneAttr, StridedLayoutAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .types import is_memref, packed_strides

SHARED = StringAttr("shared")
REGISTER = StringAttr("register")
LOCAL = StringAttr("local")


@irdl_attr_definition
class SwizzleAttr(MemRefLayoutAttr, ParametrizedAttribute):
    """`#tile.swizzle<unit 4, chunks 8>`: rows of `chunks` units of `unit` elements, the units of a row permuted by
    exclusive or.

    Unit `c` of row `r` lies at place `c xor ((r ÷ max(1, 8 ÷ p)) mod min(p, 8))`, where p is the greatest power of two
    that divides `chunks`. With 16-byte units, eight consecutive rows of one logical unit then lie in eight different
    groups of banks, and so do eight units behind each other.
    """

    name = "tile.swizzle"

    unit: IntAttr
    chunks: IntAttr

    def __init__(self, unit: int, chunks: int):
        super().__init__(IntAttr(unit), IntAttr(chunks))

    def verify(self) -> None:
        if self.unit.data < 1 or self.chunks.data < 1:
            raise VerifyException("a swizzle has units of at least 1 element, and at least one of them in a row")

    @property
    def rows(self) -> tuple[int, int]:
        """How many rows follow each other with one permutation, and how many permutations there are."""
        power = self.chunks.data & -self.chunks.data
        return max(1, 8 // power), min(power, 8)

    def get_affine_map(self) -> AffineMap:
        raise NotImplementedError("a swizzle permutes by exclusive or: it is no affine map")

    def column(self, row: int, column: int) -> int:
        """The place in its row of the element at (row, column)."""
        unit, repeat, period = self.unit.data, *self.rows
        chunk = column // unit ^ row // repeat % period
        return chunk * unit + column % unit

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("unit")
            unit = parser.parse_integer(allow_boolean=False)
            parser.parse_punctuation(",")
            parser.parse_keyword("chunks")
            chunks = parser.parse_integer(allow_boolean=False)
        return [IntAttr(unit), IntAttr(chunks)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"unit {self.unit.data}, chunks {self.chunks.data}")


def strides_of(type: MemRefType) -> tuple[int, ...]:
    """Strides in elements: the strided layout's, or those of packed rows."""
    if isinstance(type.layout, StridedLayoutAttr):
        return tuple(stride.data for stride in type.layout.strides.data if isinstance(stride, IntAttr))
    return packed_strides(type.get_shape())


def row_dimension(type: MemRefType) -> int:
    """The dimension along which elements are neighbours: the last one whose stride is 1, or by itself the last."""
    strides = strides_of(type)
    return max((place for place, stride in enumerate(strides) if stride == 1), default=len(strides) - 1)


def span_of(type: MemRefType) -> int:
    """Elements of memory from the first to the last."""
    shape = type.get_shape()
    if 0 in shape:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides_of(type), strict=True))


def slab_type(
    element: Attribute, shape: Sequence[int], pad: int = 0, swizzle: int = 0, along: int | None = None
) -> MemRefType:
    """A shared slab whose rows are `pad` elements longer than they need be, or whose units of `swizzle` elements are
    permuted in each row. Rows go along one dimension, by itself the last.

    Raises `ValueError` when it does not have that dimension, or when the rows are no whole number of units.
    """
    if along is not None and along >= len(shape):
        raise ValueError(f"a slab of {len(shape)} dimensions has no dimension {along}")
    if along in (None, len(shape) - 1) and swizzle and shape:
        if not shape[-1] or shape[-1] % swizzle:
            raise ValueError(f"rows of {shape[-1]} elements are no whole number of units of {swizzle}")
        return MemRefType(element, shape, SwizzleAttr(swizzle, shape[-1] // swizzle), SHARED)
    if along is None:
        along = len(shape) - 1
    if len(shape) < 2 or not (pad or along < len(shape) - 1):
        return MemRefType(element, shape, memory_space=SHARED)
    row = shape[along] + pad
    others = [stride * row for stride in packed_strides([*shape[:along], *shape[along + 1 :]])]
    return MemRefType(element, shape, StridedLayoutAttr([*others[:along], 1, *others[along:]]), SHARED)


def memory_space(type: Attribute) -> str:
    """`shared`, `register`, `local` (of a task on a CPU), or `global` for a plain memref."""
    assert is_memref(type)
    if isinstance(type.memory_space, NoneAttr):
        return "global"
    return type.memory_space.data if isinstance(type.memory_space, StringAttr) else str(type.memory_space)
