"""tile.take_across → an array of the task, which holds the tile, and loads of one element or vector of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue

from ....dialects.cpu_kernel import AllocOp
from ....dialects.layouts import LOCAL
from ....dialects.tile import AxisOp, TakeAcrossOp
from ....dialects.types import element_of, shape_of
from ....rewriting.linear import LinearForm
from ..lower.values import Value
from .accesses import load, store
from .lowering import ONLY, CPULowering, Place
from .masks import Mask
from .vector_scope import VectorScope


def keep_taken(lowering: CPULowering, scope: VectorScope, value: SSAValue) -> None:
    """Store a tile of which elements are taken by their number: registers have none."""
    takes = [use.operation for use in value.uses if isinstance(use.operation, TakeAcrossOp)]
    for over in dict.fromkeys(tuple(take.over) for take in takes if take.input is value):
        shape = shape_of(value.type)
        array = lowering.root.insert(AllocOp.of(MemRefType(element_of(value.type), [prod(shape)], memory_space=LOCAL)))
        array.result.name_hint = value.name_hint
        lowering.taken[value, over] = array.result
        strides = _strides(shape, over)
        for place in lowering.places(shape):
            part = lowering.vector_at(scope, value, place)
            store(lowering, scope, part, array.result, _address(lowering, shape, strides, place), Mask())


def lower_take(lowering: CPULowering, scope: VectorScope, op: TakeAcrossOp) -> None:
    array = lowering.taken[op.input, tuple(op.over)]
    shape, type = shape_of(op.result.type), lowering.part_type(op.result.type)
    strides = _strides(shape_of(op.input.type), tuple(op.over))
    number = lowering.form_at(scope, op.place, (), ONLY)
    parts: dict[Place, Value] = {}
    for place in lowering.places(shape):
        address = _address(lowering, shape, strides, place) + number
        parts[place] = load(lowering, scope, array, address, type, Mask())
    lowering.set(op.result, parts)


def _strides(shape: Sequence[int], over: Sequence[SSAValue]) -> dict[int, int]:
    """Dimension → how far its elements are apart: those of the factors side by side, the last the fastest."""
    factors = [axis.owner.dimension for axis in over if isinstance(axis.owner, AxisOp)]
    others = [dimension for dimension in range(len(shape)) if dimension not in factors]
    strides: dict[int, int] = {}
    stride = 1
    for dimension in reversed([*others, *(dimension for dimension in factors if dimension is not None)]):
        strides[dimension] = stride
        stride *= shape[dimension]
    return strides


def _address(lowering: CPULowering, shape: Sequence[int], strides: dict[int, int], place: Place) -> LinearForm:
    """Where the part at a place of a tile of this shape lies."""
    along = lowering.lane_dimension(shape)
    address = LinearForm({})
    for dimension, number in enumerate(place):
        if dimension == along:
            position = lowering.lane + LinearForm({}, number * lowering.lanes)
        else:
            position = LinearForm({}, number)
        address += position * strides[dimension]
    return address
