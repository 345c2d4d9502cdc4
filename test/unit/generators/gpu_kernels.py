"""gpu_kernel form."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import IntegerAttr, MemRefType, VectorType, f32, i1, i64
from xdsl.ir import Attribute, Region, SSAValue

from uop.dialects.atoms import ATOMS, MATRIX_ROW_BYTES
from uop.dialects.gpu_kernel import (
    ARCHITECTURES,
    AllocOp,
    AsyncCommitOp,
    AsyncCopyOp,
    AsyncWaitOp,
    AtomicOp,
    BarrierOp,
    BlockIdOp,
    ForOp,
    IfOp,
    KernelOp,
    LaneIdOp,
    LdmatrixOp,
    LoadOp,
    MmaOp,
    PackOp,
    PinOp,
    ShuffleOp,
    StoreOp,
    ThreadIdOp,
    WarpBarrierOp,
)
from uop.dialects.gpu_kernel.target import VECTOR_BYTES
from uop.dialects.layouts import REGISTER, SHARED
from uop.dialects.types import ELEMENT_TYPES, byte_width, index, shape_of

from .attributes import elements, memrefs, spaces
from .loops import scalar
from .program import Maker, Program, branch
from .vocabulary import VOCABULARY


def block_id(program: Program) -> None:
    program.add(BlockIdOp.of(program.choose("x", "y", "z")))


def thread_id(program: Program) -> None:
    program.add(ThreadIdOp.of())


def lane_id(program: Program) -> None:
    program.add(LaneIdOp.of())


def barrier(program: Program) -> None:
    program.add(program.choose(BarrierOp, WarpBarrierOp, AsyncCommitOp).create())


def async_wait(program: Program) -> None:
    program.add(AsyncWaitOp.of(program.draw(st.integers(0, 4))))


def _array(program: Program, element: Attribute, rank: int, *places: str) -> SSAValue:
    """A buffer of an element type and a rank in one of these places."""
    space = program.choose(*places)
    if space == "global":
        return program.value(MemRefType(element, (program.choose(1, 64),)))
    shape = [program.choose(1, 4, 8) for _ in range(rank)]
    type = program.draw(memrefs(element, shape, SHARED if space == "shared" else REGISTER))
    known = program.visible(type)
    if known and not program.one_in(3):
        return program.draw(st.sampled_from(known))
    return program.add(AllocOp.of(type)).result


def alloc(program: Program) -> None:
    space = program.draw(spaces)
    shape = program.draw(st.lists(st.integers(0, 4), max_size=3))
    program.add(AllocOp.of(program.draw(memrefs(program.draw(elements), shape, space))))


def _moved(program: Program, element: Attribute) -> Attribute:
    """A scalar, or a vector that one instruction moves."""
    counts = [size // byte_width(element) for size in VECTOR_BYTES if size >= byte_width(element)]
    return element if program.draw(st.booleans()) else VectorType(element, (program.choose(*counts),))


def _access(program: Program, element: Attribute) -> tuple[SSAValue, list[SSAValue], SSAValue | None]:
    buffer = _array(program, element, program.choose(1, 1, 2), "global", "shared", "register")
    mask = program.value(i1) if program.draw(st.booleans()) else None
    return buffer, program.values([index] * len(shape_of(buffer.type))), mask


def load(program: Program) -> None:
    element = program.draw(elements)
    program.add(LoadOp.of(*_access(program, element), _moved(program, element)))


def store(program: Program) -> None:
    element = program.draw(elements)
    program.add(StoreOp.of(program.value(_moved(program, element)), *_access(program, element)))


def atomic(program: Program) -> None:
    monoid = program.choose(*AtomicOp.DEFINED)
    element = ELEMENT_TYPES[program.choose(*AtomicOp.DEFINED[monoid])]
    buffer = _array(program, element, 1, "global", "shared")
    mask = program.value(i1) if program.draw(st.booleans()) else None
    program.add(AtomicOp.of(monoid, program.value(element), buffer, [program.value(index)], mask))


def _offset(program: Program, width: int) -> int:
    """An offset of whole runs of so many elements."""
    return program.draw(st.integers(-4, 4)) * width


def async_copy(program: Program) -> None:
    element = program.draw(elements)
    width = program.choose(*(size // byte_width(element) for size in (4, 8, 16) if size >= byte_width(element)))
    mask = program.value(i1) if program.draw(st.booleans()) else None
    source = _array(program, element, 1, "global")
    target = _array(program, element, 1, "shared")
    program.add(
        AsyncCopyOp.of(
            source,
            program.value(index),
            target,
            program.value(index),
            width,
            mask,
            count=program.value(index) if program.draw(st.booleans()) else None,
            source_offset=_offset(program, width),
            target_offset=_offset(program, width),
        )
    )


def ldmatrix(program: Program) -> None:
    element = ELEMENT_TYPES[program.choose("f16", "bf16", "i16", "f32")]
    width = byte_width(element)
    buffer = _array(program, element, 1, "shared")
    type = VectorType(element, (program.choose(1, 2, 4) * 4 // width,))
    transposed = width == 2 and program.draw(st.booleans())
    offset = _offset(program, MATRIX_ROW_BYTES // width)
    program.add(LdmatrixOp.of(buffer, program.value(index), type, transposed, offset))


def shuffle(program: Program) -> None:
    value = program.value(program.draw(elements))
    program.add(ShuffleOp.of(program.choose(*ShuffleOp.MODES), value, program.value(index)))


def mma(program: Program) -> None:
    atom = program.choose(*ATOMS)
    element = f32 if atom == "m16n8k8" else ELEMENT_TYPES[program.choose("f16", "bf16")]
    a, b, c = ATOMS[atom].registers
    types = [VectorType(f32, (c,)), VectorType(element, (a,)), VectorType(element, (b,))]
    program.add(MmaOp.of(atom, *program.values(types)))


def pack(program: Program) -> None:
    program.add(PackOp.of(program.value(f32), program.value(f32), ELEMENT_TYPES[program.choose("f16", "bf16")]))


def pin(program: Program) -> None:
    program.add(PinOp.of(program.value(index)))


def for_(program: Program) -> None:
    end, step = program.draw(st.integers(-(2**40), 2**40)), program.draw(st.integers(1, 2**33))
    op = ForOp.of(program.value(index), end, step, program.choose(None, 0, 1, 4))
    program.nested(op.body.block).fill(OPS, 3)
    program.add(op)


OPS: tuple[Maker, ...] = (
    *VOCABULARY,
    block_id,
    thread_id,
    lane_id,
    barrier,
    async_wait,
    alloc,
    load,
    store,
    atomic,
    async_copy,
    ldmatrix,
    shuffle,
    mma,
    pack,
    pin,
    for_,
    branch(IfOp, lambda: OPS),
)


@st.composite
def gpu_kernels(draw: st.DrawFn, name: str) -> KernelOp:
    program = Program(draw, scalar)
    program.fill(OPS, 12)
    kernel = KernelOp.of(
        name,
        Region(program.block),
        outputs=draw(st.integers(0, len(program.block.args))),
        grid=draw(st.tuples(st.integers(0, 2**31 - 1), st.integers(0, 65535), st.integers(0, 65535))),
        block=draw(st.integers(1, 1024)),
        arch=program.choose(*ARCHITECTURES),
        index_bits=program.choose(32, 64),
    )
    if program.one_in(3):
        most = ARCHITECTURES[kernel.arch.data].resident_blocks(kernel.threads)
        kernel.min_blocks = IntegerAttr(draw(st.integers(1, most)), i64)
    program.decorate(kernel)
    return kernel
