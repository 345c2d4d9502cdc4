"""The builder of pure ops: what is built twice is the same value, and nothing is built without a location."""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar

from xdsl.dialects.builtin import IntegerAttr, LocationAttr, TensorType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.monoids import MonoidAttr, Number, number_attribute
from ..dialects.syntax import integers
from ..dialects.types import element_of, shape_of, with_element, with_shape
from ..dialects.uop import (
    ALU_OPS,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    IotaOp,
    PadOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
    ScanAxisOp,
    ScatterOp,
    ShrinkOp,
    WindowOp,
)
from .effects import is_pure
from .keys import has_operands, op_key
from .locations import UNKNOWN, fuse_locations

OpT = TypeVar("OpT", bound=Operation)


class Builder:
    """Appends ops to a block (or inserts them before an op), each with the current location.

    Pure ops are hash-consed: the same op on the same operands gives the value that is already there, in this
    block or one around it, and that value's location becomes the fusion of both. Identity is then equality.
    """

    def __init__(self, block: Block, before: Operation | None = None, parent: Builder | None = None):
        self.block = block
        self.before = before
        self.parent = parent
        self.location: LocationAttr = parent.location if parent is not None else UNKNOWN
        self._known: dict[Hashable, Operation] = {}
        self._fusions: dict[tuple[int, int], tuple[LocationAttr, ...]] = parent._fusions if parent is not None else {}

    def nested(self, block: Block) -> Builder:
        """A builder for a block inside an op of this one; it sees what is known here."""
        return Builder(block, parent=self)

    @contextmanager
    def at(self, location: LocationAttr) -> Generator[None]:
        """New ops get this location."""
        outer, self.location = self.location, location
        try:
            yield
        finally:
            self.location = outer

    def insert(self, op: OpT) -> OpT:
        """Insert an op as it is; it gets the current location if it has none."""
        if op.location == UNKNOWN:
            op.location = self.location
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)
        return op

    def _find(self, key: Hashable, operands: Sequence[SSAValue]) -> Operation | None:
        """The op with this key on these operands, in this block or one around it."""
        scope: Builder | None = self
        while scope is not None:
            if (op := scope._known.get(key)) is not None and has_operands(op, operands):
                if op.location is not self.location:
                    op.location = self._fused(op.location)
                return op
            scope = scope.parent
        return None

    def _fused(self, location: LocationAttr) -> LocationAttr:
        """A location and the current one; itself where it says that already. Few pairs come up, but often, and
        locations compare and hash slowly: they are known by their ids, and kept for as long."""
        key = id(location), id(self.location)
        if key not in self._fusions:
            fused = fuse_locations((location, self.location))
            self._fusions[key] = (location if fused == location else fused), location, self.location
        return self._fusions[key][0]

    def remember(self, ops: Iterable[Operation]) -> None:
        """Use these where they are pure, instead of building the same again: they stand before what is built."""
        for op in ops:
            if not op.regions and is_pure(type(op)):
                types = [result.type for result in op.results]
                self._known.setdefault(op_key(type(op), op.operands, types, op.properties), op)

    def pure(
        self,
        cls: type[OpT],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
    ) -> OpT:
        """The pure op of this class on these operands: the one that is there, or a new one."""
        properties = properties or {}
        key = op_key(cls, operands, result_types, properties)
        if (known := self._find(key, operands)) is not None:
            assert isinstance(known, cls)
            return known
        op = cls.create(  # pyright: ignore[reportUnknownMemberType]
            operands=operands, result_types=result_types, properties=properties, location=self.location
        )
        self._known[key] = op
        return self.insert(op)

    def pure_like(self, op: Operation, operands: Sequence[SSAValue]) -> Operation:
        """A pure op without regions again, on other operands of the same types."""
        return self.pure(type(op), operands, [result.type for result in op.results], op.properties)

    # uop's vocabulary.

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        """An ALU op on operands of one type."""
        cls = ALU_OPS[name]
        key = op_key(cls, operands)
        if (known := self._find(key, operands)) is not None:
            return known.results[0]
        op = cls.build_on(*operands)
        op.location = self.location
        self._known[key] = op
        return self.insert(op).results[0]

    def const(self, value: Number, type: Attribute) -> SSAValue:
        """A scalar constant."""
        return self.pure(ConstOp, (), (type,), {"value": number_attribute(value, type)}).results[0]

    def constant_like(self, value: Number, like: SSAValue) -> SSAValue:
        """The number as a value of the type of `like`: a scalar constant, expanded."""
        return self.expand(self.const(value, element_of(like.type)), like.type)

    def expand_like(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """`value` repeated to the shape of `like`; itself if it has that shape."""
        return self.expand(value, with_element(like.type, element_of(value.type)))

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """`value` with another element type; itself if it has that type."""
        if element_of(value.type) == element:
            return value
        return self.pure(CastOp, (value,), (with_element(value.type, element),)).results[0]

    def bitcast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The bits of `value` as another element type of the same width."""
        return self.pure(BitcastOp, (value,), (with_element(value.type, element),)).results[0]

    def expand(self, value: SSAValue, type: Attribute) -> SSAValue:
        """`value` repeated to `type`; itself if it has that type."""
        if value.type == type:
            return value
        return self.pure(ExpandOp, (value,), (type,)).results[0]

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """`value` under another shape; itself if it has that shape."""
        if shape_of(value.type) == tuple(shape):
            return value
        return self.pure(ReshapeOp, (value,), (with_shape(value.type, shape),)).results[0]

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """`value` with its axes reordered; itself if the order is the one it has."""
        if list(order) == list(range(len(order))):
            return value
        shape = shape_of(value.type)
        type = with_shape(value.type, [shape[axis] for axis in order])
        return self.pure(PermuteOp, (value,), (type,), {"order": integers(order)}).results[0]

    def pad(self, value: SSAValue, low: Sequence[int], high: Sequence[int]) -> SSAValue:
        """`value` with zeros (or false) in front of and behind each axis; itself if there are none."""
        if not any((*low, *high)):
            return value
        shape = [a + n + b for a, n, b in zip(low, shape_of(value.type), high, strict=True)]
        properties = {"low": integers(low), "high": integers(high)}
        return self.pure(PadOp, (value,), (with_shape(value.type, shape),), properties).results[0]

    def shrink(
        self,
        value: SSAValue,
        offsets: Sequence[int],
        shape: Sequence[int],
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """Of each axis `shape` elements from `offsets` on, `strides` apart; `value` itself if that is all."""
        if shape_of(value.type) == tuple(shape):
            return value
        properties: dict[str, Attribute] = {"offsets": integers(offsets)}
        if strides is not None and any(step != 1 for step in strides):
            properties["strides"] = integers(strides)
        return self.pure(ShrinkOp, (value,), (with_shape(value.type, shape),), properties).results[0]

    def window(self, value: SSAValue, axis: int, extents: Sequence[int], strides: Sequence[int]) -> SSAValue:
        """`value` with several axes in the place of one: `strides` says how far each of them walks on it."""
        shape = shape_of(value.type)
        if len(extents) == 1 and extents[0] == shape[axis]:
            return value
        type = with_shape(value.type, (*shape[:axis], *extents, *shape[axis + 1 :]))
        properties: dict[str, Attribute] = {"axis": IntegerAttr(axis, i64), "strides": integers(strides)}
        return self.pure(WindowOp, (value,), (type,), properties).results[0]

    def flip(self, value: SSAValue, axes: Sequence[int]) -> SSAValue:
        """`value` with axes turned round; itself if there are none."""
        if not axes:
            return value
        return self.pure(FlipOp, (value,), (value.type,), {"axes": integers(sorted(axes))}).results[0]

    def iota(self, count: int, element: Attribute) -> SSAValue:
        """The tensor 0, 1, …, count − 1."""
        return self.pure(IotaOp, (), (TensorType(element, [count]),)).results[0]

    def gather(self, value: SSAValue, indices: SSAValue, axis: int) -> SSAValue:
        """Elements of `value` chosen by `indices` along one axis."""
        type = with_shape(value.type, shape_of(indices.type))
        return self.pure(GatherOp, (value, indices), (type,), {"axis": IntegerAttr(axis, i64)}).results[0]

    def scatter(
        self, value: SSAValue, indices: SSAValue, updates: SSAValue, axis: int, monoid: str | None = None
    ) -> SSAValue:
        """`value` with `updates` put at the places on one axis that `indices` name, or combined into them."""
        properties: dict[str, Attribute] = {"axis": IntegerAttr(axis, i64)}
        if monoid is not None:
            properties["monoid"] = MonoidAttr(monoid)
        return self.pure(ScatterOp, (value, indices, updates), (value.type,), properties).results[0]

    def scan_axis(self, monoid: str, values: Sequence[SSAValue], axis: int) -> Sequence[SSAValue]:
        """`values` combined with all that stand before them along one axis."""
        properties = {"monoid": MonoidAttr(monoid), "axis": IntegerAttr(axis, i64)}
        return self.pure(ScanAxisOp, values, [value.type for value in values], properties).results

    def reduce_axis(self, monoid: str, values: Sequence[SSAValue], axes: Sequence[int]) -> Sequence[SSAValue]:
        """`values` combined along `axes`, which stay with extent 1."""
        shape = [1 if axis in axes else n for axis, n in enumerate(shape_of(values[0].type))]
        types = [with_shape(value.type, shape) for value in values]
        properties = {"monoid": MonoidAttr(monoid), "axes": integers(axes)}
        return self.pure(ReduceAxisOp, values, types, properties).results
