"""cpu_kernel form."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, VectorType, i1
from xdsl.ir import Attribute, Region, SSAValue

from uop.dialects.cpu_kernel import (
    AllocOp,
    ExtractOp,
    ForOp,
    IfOp,
    KernelOp,
    LanesOp,
    LoadOp,
    ShuffleOp,
    SplatOp,
    StoreOp,
    TaskIdOp,
    TransposeOp,
    YieldOp,
)
from uop.dialects.layouts import LOCAL
from uop.dialects.types import index, is_vector, shape_of, with_element

from .attributes import elements
from .loops import scalar
from .program import Maker, Program, branch
from .vocabulary import VOCABULARY

LANES = (2, 4, 8)
"""Any element has so many in a vector of 64 bytes."""


def shaped(element: Attribute) -> st.SearchStrategy[Attribute]:
    """A scalar or a vector."""
    return st.sampled_from((element, *(VectorType(element, (lanes,)) for lanes in LANES)))


def _vector(program: Program, type: VectorType[Attribute]) -> SSAValue:
    known = program.visible(type)
    if known and not program.one_in(3):
        return program.draw(st.sampled_from(known))
    return program.add(SplatOp.of(program.value(type.element_type), shape_of(type)[0])).result


def _value(program: Program, type: Attribute) -> SSAValue:
    return _vector(program, type) if is_vector(type) else program.value(type)


def task_id(program: Program) -> None:
    program.add(TaskIdOp.of())


def alloc(program: Program) -> None:
    program.add(AllocOp.of(MemRefType(program.draw(elements), [program.choose(0, 1, 64)], memory_space=LOCAL)))


def splat(program: Program) -> None:
    program.add(SplatOp.of(program.value(program.draw(elements)), program.choose(*LANES)))


def lanes(program: Program) -> None:
    program.add(LanesOp.of(program.choose(*LANES)))


def shuffle(program: Program) -> None:
    count = program.choose(*LANES)
    type = VectorType(program.draw(elements), (count,))
    picked = program.draw(st.lists(st.integers(0, 2 * count - 1), min_size=count, max_size=count))
    program.add(ShuffleOp.of(_vector(program, type), _vector(program, type), picked))


def extract(program: Program) -> None:
    count = program.choose(*LANES)
    vector = _vector(program, VectorType(program.draw(elements), (count,)))
    program.add(ExtractOp.of(vector, program.draw(st.integers(0, count - 1))))


def _place(program: Program, moved: Attribute) -> tuple[SSAValue, SSAValue | None, int | None]:
    """A place, a mask or none, and how many lanes, if not all."""
    if not is_vector(moved):
        return program.value(index), program.value(i1) if program.draw(st.booleans()) else None, None
    each = program.one_in(3)
    place = _vector(program, VectorType(index, shape_of(moved))) if each else program.value(index)
    mask = program.choose(None, i1, with_element(moved, i1))
    count = program.draw(st.integers(1, shape_of(moved)[0] - 1)) if not each and program.one_in(3) else None
    return place, None if mask is None else _value(program, mask), count


def _buffer(program: Program, element: Attribute) -> SSAValue:
    return program.value(MemRefType(element, (program.choose(1, 64),)))


def load(program: Program) -> None:
    element = program.draw(elements)
    moved = program.draw(shaped(element))
    place, mask, count = _place(program, moved)
    program.add(LoadOp.of(_buffer(program, element), place, moved, mask, count))


def store(program: Program) -> None:
    element = program.draw(elements)
    moved = program.draw(shaped(element))
    place, mask, count = _place(program, moved)
    value, buffer = _value(program, moved), _buffer(program, element)
    program.add(StoreOp.of(value, buffer, place, mask, count, program.draw(st.booleans())))


def transpose(program: Program) -> None:
    element = program.draw(elements)
    source, target = ((_buffer(program, element), program.value(index)) for _ in range(2))
    strides = program.draw(st.integers(1, 2**33)), program.draw(st.integers(1, 2**33))
    program.add(TransposeOp.of(source, strides[0], target, strides[1], program.choose(*LANES)))


def for_(program: Program) -> None:
    types = [program.draw(shaped(program.draw(elements))) for _ in range(program.choose(0, 0, 1, 2))]
    inits = [_value(program, type) for type in types]
    step, unroll = program.draw(st.integers(1, 2**33)), program.choose(None, 1, 4)
    op = ForOp.of(program.value(index), program.value(index), inits, step, unroll)
    inner = program.nested(op.body.block)
    inner.fill(OPS, 3)
    if types:
        inner.add(YieldOp.create(operands=[_value(inner, type) for type in types]))
    program.add(op)


OPS: tuple[Maker, ...] = (
    *VOCABULARY,
    task_id,
    alloc,
    splat,
    lanes,
    shuffle,
    extract,
    load,
    store,
    transpose,
    for_,
    branch(IfOp, lambda: OPS),
)


@st.composite
def cpu_kernels(draw: st.DrawFn, name: str) -> KernelOp:
    program = Program(draw, scalar)
    program.fill(OPS, 12)
    kernel = KernelOp.of(
        name,
        Region(program.block),
        outputs=draw(st.integers(0, len(program.block.args))),
        tasks=draw(st.integers(0, 2**40)),
        grain=draw(st.integers(1, 2**20)),
        vector_bytes=64,
        index_bits=program.choose(32, 64),
    )
    program.decorate(kernel)
    return kernel
