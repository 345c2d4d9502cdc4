"""Tile form."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, VectorType, i1
from xdsl.ir import Attribute, Region, SSAValue

from uop.dialects.atoms import ATOMS
from uop.dialects.axes import THREAD_KINDS, AxisKind
from uop.dialects.layouts import SHARED
from uop.dialects.tile import (
    AxisOp,
    LeaveUnlessOp,
    MmaOp,
    ReadOp,
    ReduceAcrossOp,
    ScanAcrossOp,
    StageOp,
    TakeAcrossOp,
    WriteOp,
)
from uop.dialects.types import ELEMENT_TYPES, byte_width, index, with_element
from uop.dialects.uop import KernelOp

from .attributes import axis_names, elements, memrefs, schedules, shapes
from .loops import for_
from .program import Maker, Program
from .vocabulary import MOVEMENT, VOCABULARY, any_monoid

_SHAPES = ((1, 1), (2, 1), (1, 4), (2, 4))


def register_tile(element: Attribute) -> st.SearchStrategy[Attribute]:
    """A scalar or a vector."""
    return st.just(element) | st.sampled_from(_SHAPES).map(lambda shape: VectorType(element, shape))


def axis(program: Program) -> None:
    _axis(program, program.choose(AxisKind.BLOCK, AxisKind.REGISTER, *THREAD_KINDS))


def _axis(program: Program, kind: AxisKind) -> SSAValue:
    extent = program.choose(1, 2, 8, 2**33)
    type: Attribute = index
    if kind is AxisKind.REGISTER:
        extent = program.choose(1, 2, 4)
        type = VectorType(index, program.choose((extent, 1), (1, extent)))
    return program.add(AxisOp.of(program.draw(axis_names), extent, kind, type)).result


def _access(program: Program, shape: tuple[int, ...]) -> tuple[MemRefType, list[SSAValue], SSAValue | None, int | None]:
    """A type of buffer, indices that broadcast to a shape, a mask or none, and how many elements are moved at once."""
    rank = len(program.draw(shapes))
    if shape and rank == 0:
        rank = 1
    space = program.draw(st.none() | st.just(SHARED))
    buffer = program.draw(memrefs(program.draw(elements), (5,) * rank, space))
    types = [program.choose(index, VectorType(index, shape)) if shape else index for _ in range(rank)]
    if shape:
        types[0] = VectorType(index, shape)
    indices = program.values(types)
    mask = program.value(_tile(shape, i1)) if program.draw(st.booleans()) else None
    vector = program.draw(st.none() | st.just(shape[-1])) if shape and shape[-1] > 1 else None
    return buffer, indices, mask, vector


def _tile(shape: tuple[int, ...], element: Attribute) -> Attribute:
    return VectorType(element, shape) if shape else element


def _slab(program: Program, type: MemRefType) -> SSAValue:
    """A buffer of this type: an argument, or a stage of one."""
    if type.memory_space != SHARED:
        return program.value(type)
    known = program.visible(type)
    if known and not program.one_in(3):
        return program.draw(st.sampled_from(known))
    source = program.value(MemRefType(type.element_type, type.get_shape()))
    origin = program.values([index] * len(type.get_shape()))
    limit = None
    if origin and program.draw(st.booleans()):
        limit = program.draw(st.integers(0, len(origin) - 1)), program.value(index)
    return program.add(
        StageOp.of(source, origin, type, program.draw(st.integers(1, 3)), program.draw(st.booleans()), limit)
    ).result


def read(program: Program) -> None:
    shape = program.choose((), *_SHAPES)
    type, indices, mask, vector = _access(program, shape)
    program.add(ReadOp.of(_slab(program, type), indices, _tile(shape, type.element_type), mask, vector))


def read_matrices(program: Program) -> None:
    element = ELEMENT_TYPES[program.choose("f16", "bf16", "i16", "f32")]
    width = byte_width(element)
    shape = (*program.choose((), (1, 3)), 4 // width)
    type = program.draw(memrefs(element, (5,), SHARED))
    indices = program.values([VectorType(index, shape)])
    result = VectorType(type.element_type, shape)
    transposed = width == 2 and program.draw(st.booleans())
    program.add(ReadOp.of(_slab(program, type), indices, result, ldmatrix=True, transposed=transposed))


def write(program: Program) -> None:
    shape = program.choose((), *_SHAPES)
    type, indices, mask, vector = _access(program, shape)
    value = program.value(_tile(shape, type.element_type))
    program.add(WriteOp.of(value, _slab(program, type), indices, mask, vector))


def stage(program: Program) -> None:
    _slab(program, program.draw(memrefs(program.draw(elements), program.draw(shapes), SHARED)))


def reduce_across(program: Program) -> None:
    name, types = any_monoid(program)
    shaped = program.type(types[0])
    over = [_axis(program, program.choose(*THREAD_KINDS)) for _ in range(program.choose(1, 2))]
    program.add(ReduceAcrossOp.of(name, program.values([with_element(shaped, e) for e in types]), over))


def scan_across(program: Program) -> None:
    name, types = any_monoid(program)
    over = [_axis(program, program.choose(*THREAD_KINDS)) for _ in range(program.choose(1, 2))]
    shape = program.choose((), *_SHAPES)
    begun = shape
    if shape and program.draw(st.booleans()):
        factor = AxisOp.of(program.draw(axis_names), shape[0], AxisKind.REGISTER, VectorType(index, (shape[0], 1)))
        over.append(program.add(factor).result)
        begun = (1, *shape[1:])
    inputs = program.values([_tile(shape, element) for element in types])
    program.add(ScanAcrossOp.of(name, inputs, program.values([_tile(begun, element) for element in types]), over))


def take_across(program: Program) -> None:
    over = [_axis(program, program.choose(*THREAD_KINDS)) for _ in range(program.choose(1, 2))]
    shape = program.choose(*_SHAPES)
    if program.draw(st.booleans()):
        factor = AxisOp.of(program.draw(axis_names), shape[0], AxisKind.REGISTER, VectorType(index, (shape[0], 1)))
        over.append(program.add(factor).result)
    tile = program.value(VectorType(program.draw(elements), shape))
    program.add(TakeAcrossOp.of(tile, program.value(index), over))


def mma(program: Program) -> None:
    atom = program.choose(*ATOMS)
    element = ELEMENT_TYPES["f32"] if atom == "m16n8k8" else ELEMENT_TYPES[program.choose("f16", "bf16")]
    a, b, c = ATOMS[atom].registers
    repeat = program.choose((), (2,), (1, 3))
    summed = repeat[: len(repeat) - program.choose(0, 1)]  # what is left out are steps along K
    operands = program.values(
        [
            VectorType(ELEMENT_TYPES["f32"], (*summed, c)),
            VectorType(element, (*repeat, a)),
            VectorType(element, (*repeat, b)),
        ]
    )
    program.add(MmaOp.of(atom, *operands))


def leave_unless(program: Program) -> None:
    program.add(LeaveUnlessOp.of(program.value(i1)))


OPS: tuple[Maker, ...] = (
    *VOCABULARY,
    *MOVEMENT,
    axis,
    read,
    read_matrices,
    write,
    stage,
    reduce_across,
    scan_across,
    take_across,
    mma,
    leave_unless,
    for_(lambda: OPS),
)


@st.composite
def tile_kernels(draw: st.DrawFn, name: str) -> KernelOp:
    program = Program(draw, register_tile)
    program.fill(OPS, 10)
    kernel = KernelOp.of(name, (), Region(program.block))
    if program.one_in(2):
        kernel.schedule = draw(schedules)
    program.decorate(kernel)
    return kernel
