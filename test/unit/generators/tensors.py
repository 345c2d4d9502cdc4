"""Tensor form: kernels of tensor ops, programs that launch them, and the exported graph above them."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, IntegerAttr, StringAttr, TensorType, UnitAttr, i1, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Region, SSAValue

from uop.dialects.monoids import MONOIDS, MonoidAttr
from uop.dialects.torch import AtenOp
from uop.dialects.types import is_integer, is_tensor, shape_of, with_element, with_shape
from uop.dialects.uop import GatherOp, IotaOp, KernelOp, LaunchOp, ScanAxisOp, ScatterOp, YieldOp

from .attributes import arguments, elements, elements_where, extents, names, schedules, shapes
from .program import Program
from .vocabulary import MOVEMENT, VOCABULARY, any_monoid


def tensor_of(element: Attribute) -> st.SearchStrategy[Attribute]:
    return shapes.map(lambda shape: TensorType(element, shape))


def _tensor_with_axes(program: Program, element: Attribute) -> tuple[TensorType[Attribute], int]:
    """A type of rank 1 or more, and one of its axes."""
    shape = program.draw(st.lists(extents, min_size=1, max_size=3))
    return TensorType(element, shape), program.draw(st.integers(0, len(shape) - 1))


def iota(program: Program) -> None:
    element = program.draw(elements_where(lambda element: element != i1))
    program.add(IotaOp.create(result_types=(TensorType(element, [program.draw(extents)]),)))


def scan(program: Program) -> None:
    name, types = any_monoid(program)
    type, axis = _tensor_with_axes(program, types[0])
    values = program.values([with_element(type, element) for element in types])
    program.add(
        ScanAxisOp.create(
            operands=values,
            result_types=[value.type for value in values],
            properties={"monoid": MonoidAttr(name), "axis": IntegerAttr(axis, i64)},
        )
    )


def _indices(program: Program, shape: tuple[int, ...], axis: int, *, smaller: bool) -> SSAValue:
    counts = [
        program.draw(extents) if d == axis else program.draw(st.integers(0, extent)) if smaller else extent
        for d, extent in enumerate(shape)
    ]
    return program.value(TensorType(program.draw(elements_where(is_integer)), counts))


def gather(program: Program) -> None:
    type, axis = _tensor_with_axes(program, program.draw(elements))
    indices = _indices(program, shape_of(type), axis, smaller=False)
    program.add(
        GatherOp.create(
            operands=(program.value(type), indices),
            result_types=(with_shape(type, shape_of(indices.type)),),
            properties={"axis": IntegerAttr(axis, i64)},
        )
    )


def scatter(program: Program) -> None:
    name = program.choose(None, *(name for name, row in MONOIDS.items() if row.width == 1))

    def accepts(element: Attribute) -> bool:
        return name is None or MONOIDS[name].accepts([element])

    type, axis = _tensor_with_axes(program, program.draw(elements_where(accepts)))
    indices = _indices(program, shape_of(type), axis, smaller=True)
    updates = program.value(with_shape(type, shape_of(indices.type)))
    properties: dict[str, Attribute] = {"axis": IntegerAttr(axis, i64)}
    if name is not None:
        properties["monoid"] = MonoidAttr(name)
    program.add(
        ScatterOp.create(operands=(program.value(type), indices, updates), result_types=(type,), properties=properties)
    )


OPS = (*VOCABULARY, *MOVEMENT, iota, scan, gather, scatter)


def _some_tensors(program: Program) -> list[SSAValue]:
    """Values to return: none, some, one of them twice."""
    known = program.known(lambda value: is_tensor(value.type))
    return program.draw(st.lists(st.sampled_from(known), max_size=3)) if known else []


@st.composite
def kernels(draw: st.DrawFn, name: str) -> KernelOp:
    """A kernel in tensor form."""
    program = Program(draw, tensor_of)
    program.fill(OPS, 10)
    returned = _some_tensors(program)
    shape = shape_of(returned[0].type) if returned else ()
    parts = [extent if extent and draw(st.booleans()) else 1 for extent in shape] if program.one_in(4) else ()
    end = YieldOp.of(returned, parts)
    program.add(end)
    kernel = KernelOp.of(name, [value.type for value in returned], Region(program.block))
    if program.one_in(4):
        kernel.schedule = draw(schedules)
    program.decorate(kernel)
    return kernel


def _function(program: Program, name: str) -> FuncOp:
    """The function of a program's ops."""
    returned = _some_tensors(program)
    program.add(ReturnOp(*returned))
    type = FunctionType.from_lists([x.type for x in program.block.args], [x.type for x in returned])
    function = FuncOp(name, type, Region(program.block))
    program.decorate(function)
    return function


def launch(program: Program) -> None:
    types = program.draw(st.lists(elements.flatmap(tensor_of), max_size=3))
    results = program.draw(st.lists(elements.flatmap(tensor_of), max_size=3))
    op = LaunchOp.of(program.draw(names), program.values(types), results)
    if program.draw(st.booleans()):
        op.place([program.draw(st.none() | st.integers(0, 2**40)) for _ in results])
    program.add(op)


def aten(program: Program) -> None:
    types = program.draw(st.lists(elements.flatmap(tensor_of), max_size=3))
    results = program.draw(st.lists(elements.flatmap(tensor_of), max_size=3))
    call = AtenOp.create(
        operands=program.values(types),
        result_types=results,
        properties={
            "overload": StringAttr(program.choose("mm", "sum.dim_IntList", "é")),
            "arguments": DictionaryAttr(program.draw(st.dictionaries(names, arguments, max_size=3))),
        },
    )
    if program.one_in(3):
        call.allow_tf32 = UnitAttr()
    program.add(call)


@st.composite
def functions(draw: st.DrawFn, name: str) -> FuncOp:
    """A function of tensors: ATen calls, tensor ops, launches."""
    program = Program(draw, tensor_of)
    program.fill(draw(st.sampled_from(((aten,), (launch, *MOVEMENT), OPS))), 8)
    return _function(program, name)
