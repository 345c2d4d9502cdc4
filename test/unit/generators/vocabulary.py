"""The ops that serve every form: ALU ops, casts, constants, and movement of tensors and vectors."""

from __future__ import annotations

from itertools import product

from hypothesis import strategies as st
from xdsl.dialects.builtin import VectorType, i1
from xdsl.ir import Attribute

from uop.dialects.monoids import MONOIDS
from uop.dialects.types import (
    bit_width,
    element_count,
    element_of,
    is_tensor,
    is_vector,
    shape_of,
    with_element,
    with_shape,
)
from uop.dialects.uop import (
    ALU_OPS,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    PadOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
    ShrinkOp,
    WindowOp,
)

from .attributes import ELEMENTS, elements, elements_where, numbers
from .program import Program


def alu(program: Program) -> None:
    """A few, for there are many."""
    for name in program.draw(st.lists(st.sampled_from(sorted(ALU_OPS)), min_size=1, max_size=6)):
        cls = ALU_OPS[name]
        type = program.type(program.draw(elements_where(cls.row().accepts)))
        program.add(cls.build_on(*program.values(cls.operand_types_for(type))))


def constant(program: Program) -> None:
    type = program.draw(elements)
    program.add(ConstOp.create(properties={"value": program.draw(numbers(type))}, result_types=(type,)))


def cast(program: Program) -> None:
    value = program.value(program.type(program.draw(elements)))
    program.add(CastOp.create(operands=(value,), result_types=(with_element(value.type, program.draw(elements)),)))


def bitcast(program: Program) -> None:
    source = program.draw(elements)
    target = program.draw(elements_where(lambda e: bit_width(e) == bit_width(source) and (e == i1) == (source == i1)))
    value = program.value(program.type(source))
    program.add(BitcastOp.create(operands=(value,), result_types=(with_element(value.type, target),)))


def _shaped_type(program: Program) -> Attribute:
    """A tensor or a vector, as the form has it."""
    type = program.type(program.draw(elements))
    return type if shape_of(type) or is_tensor(type) else VectorType(type, (2, 1))


def reshape(program: Program) -> None:
    value = program.value(_shaped_type(program))
    shape = list(shape_of(value.type))
    count = element_count(shape)
    choices: list[tuple[int, ...]] = [(count,), (1, count), (*shape, 1), *([(count // 2, 2)] if count % 2 == 0 else [])]
    if count == 1 and is_tensor(value.type):
        choices.append(())
    program.add(ReshapeOp.of(value, program.draw(st.sampled_from(choices))))


def expand(program: Program) -> None:
    type = _shaped_type(program)
    if program.one_in(3):
        source: Attribute = element_of(type)
    else:
        source = with_shape(type, [extent if program.draw(st.booleans()) else 1 for extent in shape_of(type)])
    program.add(ExpandOp.create(operands=(program.value(source),), result_types=(type,)))


def permute(program: Program) -> None:
    value = program.value(_shaped_type(program))
    order = program.draw(st.permutations(range(len(shape_of(value.type)))))
    program.add(PermuteOp.of(value, order))


def pad(program: Program) -> None:
    value = program.value(_shaped_type(program))
    amounts = st.lists(st.integers(0, 3), min_size=(rank := len(shape_of(value.type))), max_size=rank)
    program.add(PadOp.of(value, program.draw(amounts), program.draw(amounts)))


def shrink(program: Program) -> None:
    value = program.value(_shaped_type(program))
    offsets: list[int] = []
    steps: list[int] = []
    shape: list[int] = []
    for extent in shape_of(value.type):
        offset = program.draw(st.integers(0, extent))
        step = program.draw(st.integers(1, 3))
        offsets.append(offset)
        steps.append(step)
        shape.append(program.draw(st.integers(0, -(-(extent - offset) // step))))
    if is_vector(value.type) and not all(shape):
        return  # a vector has no extent 0
    program.add(ShrinkOp.of(value, offsets, shape, program.draw(st.none() | st.just(steps))))


def window(program: Program) -> None:
    value = program.value(_shaped_type(program))
    shape = shape_of(value.type)
    axis = program.draw(st.integers(0, len(shape) - 1)) if shape else 0
    left = shape[axis] - 1 if shape else -1
    extents: list[int] = []
    strides: list[int] = []
    for _ in range(program.draw(st.integers(1, 3))):
        strides.append(program.draw(st.integers(1, 3)))
        extents.append(program.draw(st.integers(1, left // strides[-1] + 1)) if left >= 0 else 0)
        left -= (extents[-1] - 1) * strides[-1]
    if shape and (all(extents) or is_tensor(value.type)):
        program.add(WindowOp.of(value, axis, extents, strides))


def _axes(program: Program, shape: tuple[int, ...]) -> list[int]:
    return [axis for axis in range(len(shape)) if program.draw(st.booleans())]


def flip(program: Program) -> None:
    value = program.value(_shaped_type(program))
    program.add(FlipOp.of(value, _axes(program, shape_of(value.type))))


_MONOID_ELEMENTS = {
    name: [types for types in product(ELEMENTS, repeat=row.width) if row.accepts(types)]
    for name, row in MONOIDS.items()
}


def any_monoid(program: Program) -> tuple[str, tuple[Attribute, ...]]:
    """A monoid, and element types that it takes, one for each of its values."""
    name = program.draw(st.sampled_from(sorted(MONOIDS)))
    return name, program.draw(st.sampled_from(_MONOID_ELEMENTS[name]))


def reduce_axis(program: Program) -> None:
    name, types = any_monoid(program)
    type = _shaped_type(program)
    values = program.values([with_element(type, element) for element in types])
    program.add(ReduceAxisOp.of(name, values, _axes(program, shape_of(type))))


VOCABULARY = (alu, alu, constant, cast, bitcast)
MOVEMENT = (reshape, expand, permute, pad, shrink, window, flip, reduce_axis)
