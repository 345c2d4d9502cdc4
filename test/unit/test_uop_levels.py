"""Programs of tensor ops through partition, rangeify, simplify and the conversion to loops: all mean the same."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from module_text import make_context, parse
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, UnknownLoc, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.passes import ModulePass

from uop.dialects.semantics import numpy_dtype, round_to_element
from uop.dialects.types import element_of, shape_of
from uop.dialects.uop import ExpandOp, FlipOp, KernelOp, LaunchOp, PadOp, ReshapeOp, ShrinkOp, YieldOp
from uop.passes.uop.convert_uop_to_loop import ConvertUOpToLoopPass
from uop.passes.uop.uop_partition import UOpPartitionPass
from uop.passes.uop.uop_rangeify import UOpRangeifyPass
from uop.passes.uop.uop_simplify import UOpSimplifyPass
from uop.rewriting.builder import Builder
from uop.runtime.interpret.program import interpret_program

Array = np.ndarray[Any, Any]

PROGRAMS = (Path(__file__).parent / "inputs" / "tensor_programs.mlir").read_text()


NAMES = [op.sym_name.data for op in parse(PROGRAMS).ops if isinstance(op, FuncOp)]


def program(name: str) -> ModuleOp:
    """The module with this one function."""
    module = parse(PROGRAMS)
    for op in list(module.ops):
        if isinstance(op, FuncOp) and op.sym_name.data != name:
            module.body.block.erase_op(op)
    return module


def example(type: Attribute, seed: int) -> Array:
    """Random numbers; integers are small indices."""
    random = np.random.default_rng(seed)
    element = element_of(type)
    if np.dtype(numpy_dtype(element)).kind == "f":
        return round_to_element(np, random.standard_normal(shape_of(type)), element)
    return random.integers(0, 4, shape_of(type)).astype(numpy_dtype(element))


def arguments_of(module: ModuleOp) -> list[Array]:
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    return [example(argument.type, 7 + n) for n, argument in enumerate(function.body.block.args)]


def name_of(module: ModuleOp) -> str:
    return next(op.sym_name.data for op in module.ops if isinstance(op, FuncOp))


def as_one_kernel(module: ModuleOp) -> ModuleOp:
    """The module's function as one kernel and its launch."""
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    body = function.detach_region(function.body)
    returned = body.block.last_op
    assert returned is not None
    body.block.insert_op_before(YieldOp.create(operands=returned.operands, location=returned.location), returned)
    body.block.erase_op(returned)
    types = function.function_type
    block = Block(arg_types=list(types.inputs))
    launch = LaunchOp.of("whole", block.args, list(types.outputs))
    block.add_ops([launch, ReturnOp(*launch.results)])
    function.add_region(Region(block))
    module.body.block.insert_op_before(KernelOp.of("whole", list(types.outputs), body), function)
    return module


PIPELINE: Sequence[ModulePass] = (
    UOpPartitionPass(),
    UOpRangeifyPass(),
    UOpSimplifyPass(),
    ConvertUOpToLoopPass(),
)


def check_levels(module: ModuleOp, exact: bool, passes: Sequence[ModulePass] = PIPELINE) -> None:
    """Every form of the program gives what its tensor form gives, and prints and parses to itself."""
    name = name_of(module)
    arguments = arguments_of(module)
    expected = interpret_program(module, name, arguments)
    for step in passes:
        step.apply(make_context(), module)
        module.verify()
        module = reparsed(module)
        for found, wanted in zip(interpret_program(module, name, arguments), expected, strict=True):
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            if exact:
                np.testing.assert_array_equal(found, wanted, err_msg=f"after {step.name}")
            else:
                np.testing.assert_allclose(
                    found.astype(np.float64), wanted.astype(np.float64), 2e-6, 2e-6, err_msg=f"after {step.name}"
                )


def reparsed(module: ModuleOp) -> ModuleOp:
    again = parse(str(module))
    assert str(again) == str(module)
    return again


@pytest.mark.parametrize("name", NAMES)
def test_each_pass_keeps_the_meaning(name: str) -> None:
    check_levels(program(name), exact=False)


@pytest.mark.parametrize("name", NAMES)
def test_one_kernel_without_cuts_means_the_same(name: str) -> None:
    """Rangeify and the conversion to loops do not count on what partition cuts."""
    check_levels(as_one_kernel(program(name)), exact=False, passes=PIPELINE[1:])


@pytest.mark.parametrize("name", NAMES)
def test_locations_and_names_survive(name: str) -> None:
    module = program(name)
    for line, op in enumerate(module.walk()):
        op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(line), IntAttr(0))
    for step in PIPELINE:
        step.apply(make_context(), module)
        for kernel in (op for op in module.ops if isinstance(op, KernelOp)):
            assert not isinstance(kernel.location, UnknownLoc)
            hints = [argument.name_hint for argument in kernel.body.block.args]
            assert None not in hints
            assert len(set(hints)) == len(hints), f"after {step.name}: {hints}"
            for op in kernel.body.walk():
                assert not isinstance(op.location, UnknownLoc), f"after {step.name}: {op}"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_program_gives_the_same_text(name: str) -> None:
    texts: set[str] = set()
    for _ in range(2):
        module = program(name)
        for step in PIPELINE:
            step.apply(make_context(), module)
        texts.add(str(module))
    assert len(texts) == 1


# Random movement.


def divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


@st.composite
def shapes_of(draw: st.DrawFn, count: int) -> list[int]:
    """A shape with `count` elements."""
    shape: list[int] = []
    while count > 1 and len(shape) < 3:
        shape.append(draw(st.sampled_from(divisors(count))))
        count //= shape[-1]
    return [*shape, count]


MOVES = ("reshape", "permute", "pad", "shrink", "window", "flip", "expand", "exp", "add", "sum", "twice")


@st.composite
def movement(draw: st.DrawFn) -> ModuleOp:
    """A function of one tensor: a chain of movement ops, with some ALU ops and sums between them."""
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    block = Block(arg_types=[TensorType(f32, shape)])
    block.args[0].name_hint = "x"
    b = Builder(block)
    value: SSAValue = block.args[0]
    for move in draw(st.lists(st.sampled_from(MOVES), min_size=1, max_size=7)):
        value = moved(draw, b, value, move)
    block.add_op(ReturnOp(value))
    function = FuncOp("forward", ([block.args[0].type], [value.type]), Region(block))
    return ModuleOp([function])


def moved(draw: st.DrawFn, b: Builder, value: SSAValue, move: str) -> SSAValue:
    shape = shape_of(value.type)
    size = int(np.prod(shape))

    def numbers(low: int, high: int) -> list[int]:
        return [draw(st.integers(low, high)) for _ in shape]

    match move:
        case "reshape":
            return b.reshape(value, draw(shapes_of(size)))
        case "permute":
            return b.permute(value, draw(st.permutations(range(len(shape)))))
        case "pad" if size < 200:
            return b.insert(PadOp.of(value, numbers(0, 2), numbers(0, 2))).result
        case "shrink":
            offsets = [draw(st.integers(0, n - 1)) for n in shape]
            strides = numbers(1, 3)
            most = [(n - 1 - o) // s + 1 for n, o, s in zip(shape, offsets, strides, strict=True)]
            return b.insert(ShrinkOp.of(value, offsets, [draw(st.integers(1, m)) for m in most], strides)).result
        case "window" if len(shape) < 5:
            axis = draw(st.integers(0, len(shape) - 1))
            taps, dilation, stride = (draw(st.integers(1, 3)) for _ in range(3))
            taps = min(taps, (shape[axis] - 1) // dilation + 1)
            count = (shape[axis] - 1 - (taps - 1) * dilation) // stride + 1
            return b.window(value, axis, (count, taps), (stride, dilation))
        case "flip":
            axes = [axis for axis in range(len(shape)) if draw(st.booleans())]
            return b.insert(FlipOp.of(value, axes)).result if axes else value
        case "expand" if size < 100 and 1 in shape:
            target = [draw(st.integers(2, 3)) if n == 1 else n for n in shape]
            return b.pure(ExpandOp, (value,), (TensorType(f32, target),)).result
        case "exp":  # exp(0) is not 0: shows zeros that are made in the wrong place
            return b.alu("exp", b.alu("neg", b.alu("abs", value)))
        case "add":
            return b.alu("add", value, b.constant_like(0.5, value))
        case "sum":
            return b.reduce_axis("max", [value], [draw(st.integers(0, len(shape) - 1))])[0]
        case "twice":  # two places of one value
            order = draw(st.permutations(range(len(shape))))
            other = b.permute(value, order)
            if shape_of(other.type) != shape:
                other = b.insert(FlipOp.of(value, [0])).result
            return b.alu("sub", value, other)
        case _:
            return value


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(movement())
def test_random_movement(module: ModuleOp) -> None:
    module.verify()
    check_levels(module, exact=True)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(movement())
def test_random_movement_in_one_kernel(module: ModuleOp) -> None:
    """The same without cuts: every mask and every index of a chain in one kernel."""
    check_levels(as_one_kernel(module), exact=True, passes=PIPELINE[1:])


@pytest.mark.slow
@settings(max_examples=1500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(movement())
def test_random_movement_at_length(module: ModuleOp) -> None:
    check_levels(module, exact=True)


def test_programs_hold_launches_and_views_only() -> None:
    module = parse(PROGRAMS)
    UOpPartitionPass().apply(make_context(), module)
    for function in module.ops:
        if isinstance(function, FuncOp):
            assert all(isinstance(op, LaunchOp | ReshapeOp | ReturnOp) for op in function.body.block.ops)
