"""Rules of reductions: what does not change along a reduced axis is not combined element by element.

A reduction may combine its elements in any order. n equal floats add up to n · x to the last bit, in some order, where
n has at most two bits set: doubling is exact, and then there is one rounding. The sum begins at +0.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects import loop
from ....dialects.monoids import Number
from ....dialects.syntax import segment_sizes
from ....dialects.types import element_of, is_float, is_integer, shape_of, type_name, with_shape
from ....dialects.uop import AddOp, ExpandOp, MulOp, NegOp, RangeOp, ReduceAxisOp, ReduceOp, SubOp, WhereOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import OpPattern
from ....rewriting.rules import Rules
from ....rewriting.values import number_of, same_number
from .casts import SIGNIFICANDS

reduce = OpPattern("reduce", ReduceOp)
reduce_axis = OpPattern("reduce_axis", ReduceAxisOp)
loop_reduce = OpPattern("loop.reduce", loop.ReduceOp)

IDEMPOTENT = ("max", "min", "and", "or", "argmax", "argmin", "argmax_last", "argmin_last")
"""Monoids in which an element combined with itself is itself."""

Reduction = ReduceOp | ReduceAxisOp | loop.ReduceOp


def dependents(values: Iterable[SSAValue], ranges: Collection[SSAValue]) -> set[SSAValue]:
    """Which of the ranges the values are computed from."""
    found: set[SSAValue] = set()
    seen: set[SSAValue] = set()
    stack = list(values)
    while stack and len(found) < len(ranges):
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if value in ranges:
            found.add(value)
        elif isinstance(value.owner, Operation):
            stack += value.owner.operands
    return found


def can_repeat(monoid: str, element: Attribute, count: int) -> bool:
    """Whether `repeated` gives `count` times the same element to the last bit."""
    if monoid in IDEMPOTENT:
        return count > 0
    if monoid == "add" and is_float(element):
        significand = SIGNIFICANDS[type_name(element)]
        return significand >= SIGNIFICANDS["f32"] and count.bit_count() <= 2 and 0 < count < 1 << significand
    return is_integer(element) and (monoid == "add" or (monoid == "mul" and count < 64))


def repeated(builder: RewriteBuilder, monoid: str, values: Sequence[SSAValue], count: int) -> Sequence[SSAValue]:
    """`count` times the same element combined."""
    if monoid in IDEMPOTENT:
        return values
    (value,) = values
    if is_float(element_of(value.type)):
        product = builder.alu("mul", value, builder.constant_like(float(count), value))
        return [builder.alu("add", product, builder.constant_like(0.0, value))]
    number = builder.number(count, value.type)
    assert number is not None
    return [builder.alu("mul" if monoid == "add" else "pow", value, number)]


# Range form.


def extents_of(ranges: Iterable[SSAValue]) -> list[int]:
    """Extents of the ranges that a reduction binds."""
    return [range.owner.extent for range in ranges if isinstance(range.owner, RangeOp)]


def rebuild(
    builder: RewriteBuilder, op: ReduceOp, inputs: Sequence[SSAValue], over: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """The reduction of other values, or over fewer ranges."""
    if not over:
        return inputs
    sizes = {"operandSegmentSizes": segment_sizes(len(inputs), len(over))}
    return builder.pure(
        ReduceOp, (*inputs, *over), [value.type for value in inputs], {"monoid": op.monoid, **sizes}
    ).results


def identity_of_nothing(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """What a reduction over an empty range gives."""
    if 0 not in extents_of(op.over):
        return None
    elements = [value.type for value in op.inputs]
    numbers = op.monoid.monoid.identity(elements)
    return [builder.const(number, element) for number, element in zip(numbers, elements, strict=True)]


def without_invariant_ranges(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """The reduction over the ranges that its element depends on, repeated for the others."""
    over = list(op.over)
    needed = dependents(op.inputs, over)
    if len(needed) == len(over):
        return None
    kept = [range for range in over if range in needed]
    count = prod(extents_of(range for range in over if range not in needed))
    if not can_repeat(op.monoid.data, element_of(op.inputs[0].type), count):
        return None
    return repeated(builder, op.monoid.data, rebuild(builder, op, op.inputs, kept), count)


def without_invariant_parts(builder: RewriteBuilder, op: ReduceOp) -> Sequence[SSAValue] | None:
    """A factor, a term or a condition that no bound range changes goes out of the reduction."""
    if len(op.inputs) != 1:
        return None
    (value,) = op.inputs
    element, over = value.type, list(op.over)
    inner = value.owner
    if not isinstance(inner, WhereOp | MulOp | NegOp | AddOp | SubOp):
        return None

    def varies(part: SSAValue) -> bool:
        return bool(dependents((part,), over))

    def reduced(part: SSAValue) -> SSAValue:
        return rebuild(builder, op, (part,), over)[0]

    if isinstance(inner, WhereOp):
        condition, x, y = inner.operands
        neutral = op.monoid.monoid.identity([element])[0]
        if varies(condition) or not is_number(y, neutral):
            return None
        return [builder.alu("where", condition, reduced(x), y)]
    if op.monoid.data != "add" or not is_integer(element):
        return None
    if isinstance(inner, NegOp):
        return [builder.alu("neg", reduced(inner.operands[0]))]
    x, y = inner.operands
    if varies(x) == varies(y):
        return None
    if isinstance(inner, MulOp):
        factor, rest = (y, x) if varies(x) else (x, y)
        return [builder.alu("mul", reduced(rest), factor)]
    total = builder.number(prod(extents_of(over)), element)
    assert total is not None
    parts = [reduced(part) if varies(part) else builder.alu("mul", part, total) for part in (x, y)]
    return [builder.alu(inner.row().name, *parts)]


def is_number(value: SSAValue, number: Number) -> bool:
    """Whether the value is this constant; +0 is not −0."""
    known = number_of(value.owner) if isinstance(value.owner, Operation) else None
    return known is not None and same_number(known, number)


# Tensor form and register tiles.


def without_expanded_axes(builder: RewriteBuilder, op: ReduceAxisOp) -> Sequence[SSAValue] | None:
    """The reduction along the axes that were not repeated, repeated for those that were."""
    axes = op.axis_list()
    sources = [value.owner.operands[0] for value in op.inputs if isinstance(value.owner, ExpandOp)]
    if len(sources) < len(op.inputs):
        return None
    shape = shape_of(op.inputs[0].type)
    ones = [
        [axis for axis in axes if not shape_of(source.type) or shape_of(source.type)[axis] == 1] for source in sources
    ]
    same = [axis for axis in ones[0] if all(axis in other for other in ones)]
    if not same:
        return None
    count = prod(shape[axis] for axis in same)
    kept = [axis for axis in axes if axis not in same]
    narrow = [1 if axis in same else n for axis, n in enumerate(shape)]
    if not can_repeat(op.monoid.data, element_of(op.inputs[0].type), count):
        return None
    values = [
        builder.expand(source, with_shape(value.type, narrow)) for source, value in zip(sources, op.inputs, strict=True)
    ]
    if kept:
        values = list(builder.reduce_axis(op.monoid.data, values, kept))
    return repeated(builder, op.monoid.data, values, count)


# Loop form.


def without_loop(builder: RewriteBuilder, op: loop.ReduceOp) -> Sequence[SSAValue] | None:
    """What a loop combines that yields values from outside, without the loop."""
    body = op.body.block
    for value in op.yielded:
        block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
        if block is body:
            return None
    count = op.axis.extent.data
    if not can_repeat(op.monoid.data, element_of(op.results[0].type), count):
        return None
    return repeated(builder, op.monoid.data, op.yielded, count)


REDUCTIONS = Rules(
    reduce[...] >> identity_of_nothing,
    reduce[...] >> without_invariant_ranges,
    reduce[...] >> without_invariant_parts,
    reduce_axis[...] >> without_expanded_axes,
    loop_reduce[...] >> without_loop,
)
