"""Range form and loop form."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Region, SSAValue

from uop.dialects.axes import AxisAttr, AxisKind
from uop.dialects.loop import ForOp, ReduceOp, ScanOp, YieldOp
from uop.dialects.types import element_of, index, with_element
from uop.dialects.uop import KernelOp, LoadOp, RangeOp, StoreOp
from uop.dialects.uop import ReduceOp as RangeReduceOp
from uop.dialects.uop import ScanOp as RangeScanOp

from .attributes import axes, axis_names, elements, memrefs, schedules, shapes
from .program import Maker, Program
from .vocabulary import VOCABULARY, any_monoid


def scalar(element: Attribute) -> st.SearchStrategy[Attribute]:
    return st.just(element)


def range_(program: Program) -> None:
    program.add(RangeOp.of(program.draw(axis_names), program.draw(st.integers(0, 2**40))))


def _access(program: Program) -> tuple[SSAValue, list[SSAValue], SSAValue | None]:
    """A buffer, its indices, and a mask or none."""
    shape = program.draw(shapes)
    buffer = program.value(program.draw(memrefs(program.draw(elements), shape)))
    mask = program.value(i1) if program.draw(st.booleans()) else None
    return buffer, program.values([index] * len(shape)), mask


def load(program: Program) -> None:
    program.add(LoadOp.of(*_access(program)))


def store(program: Program) -> None:
    buffer, indices, mask = _access(program)
    program.add(StoreOp.of(program.value(element_of(buffer.type)), buffer, indices, mask))


def _ranges(program: Program) -> list[SSAValue]:
    while not (ranges := program.known(lambda value: isinstance(value.owner, RangeOp))):
        range_(program)
    return ranges


def reduce_over_ranges(program: Program) -> None:
    name, types = any_monoid(program)
    over = program.draw(st.lists(st.sampled_from(_ranges(program)), min_size=1, max_size=3))
    program.add(RangeReduceOp.of(name, program.values(types), over))


def scan_over_range(program: Program) -> None:
    name, types = any_monoid(program)
    over = program.draw(st.sampled_from(_ranges(program)))
    program.add(RangeScanOp.of(name, program.values(types), [over]))


RANGE_OPS = (*VOCABULARY, range_, load, store, reduce_over_ranges, scan_over_range)


def for_(inner: Callable[[], tuple[Maker, ...]]) -> Maker:
    """Makes loops whose bodies hold `inner` ops, with or without state."""

    def make(program: Program) -> None:
        groups = [any_monoid(program) for _ in range(program.draw(st.integers(0, 2)))]
        types: list[Attribute] = []
        for _, elements_of_group in groups:
            shaped = program.type(elements_of_group[0])
            types += [with_element(shaped, element) for element in elements_of_group]
        inits = program.values(types) if program.draw(st.booleans()) else ()
        axis = AxisAttr(
            program.draw(axis_names), program.draw(st.integers(0, 2**40)), program.draw(st.sampled_from(AxisKind))
        )
        op = ForOp.of(axis, [name for name, _ in groups], types, inits)
        body = program.nested(op.body.block)
        body.fill(inner(), 3)
        if types:
            body.add(YieldOp.create(operands=body.values(types)))
        program.add(op)

    return make


def reduce(program: Program) -> None:
    name, types = any_monoid(program)
    axis = program.draw(axes.filter(lambda axis: axis.axis_kind in (None, AxisKind.PARALLEL)))
    op = ReduceOp.of(axis, name, types)
    body = program.nested(op.body.block)
    body.fill(LOOP_OPS, 3)
    body.add(YieldOp.create(operands=body.values(types)))
    program.add(op)


def _is_index_of_loop(value: SSAValue) -> bool:
    loop = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return isinstance(loop, ForOp | ReduceOp) and value is loop.index


def scan(program: Program) -> None:
    """A scan over a loop around it; nothing where there is none."""
    if indices := program.known(_is_index_of_loop):
        name, types = any_monoid(program)
        program.add(ScanOp.of(name, program.values(types), [program.draw(st.sampled_from(indices))]))


LOOP_OPS: tuple[Maker, ...] = (*VOCABULARY, load, store, reduce, scan, for_(lambda: LOOP_OPS))


def _kernel(program: Program, name: str) -> KernelOp:
    kernel = KernelOp.of(name, (), Region(program.block))
    if program.one_in(2):
        kernel.schedule = program.draw(schedules)
    program.decorate(kernel)
    return kernel


@st.composite
def range_kernels(draw: st.DrawFn, name: str) -> KernelOp:
    program = Program(draw, scalar)
    program.fill(RANGE_OPS, 10)
    return _kernel(program, name)


@st.composite
def loop_kernels(draw: st.DrawFn, name: str) -> KernelOp:
    program = Program(draw, scalar)
    program.fill(LOOP_OPS, 8)
    return _kernel(program, name)
