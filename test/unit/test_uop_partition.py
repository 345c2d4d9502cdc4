"""What uop-partition fuses and cuts, on random programs and on chosen ones, and how long it takes."""

import cProfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from uop.dialects.types import shape_of
from uop.dialects.uop import FlipOp, KernelOp, LaunchOp, PadOp, ReduceAxisOp, ShrinkOp
from uop.passes.uop.axis_classes import AxisPairs
from uop.passes.uop.cones import Cone, Forms
from uop.passes.uop.convert_uop_to_loop import ConvertUOpToLoopPass
from uop.passes.uop.fusion_judge import Judge
from uop.passes.uop.machines import GPU
from uop.passes.uop.post_dominators import PostDominators
from uop.passes.uop.uop_partition import UOpPartitionPass
from uop.passes.uop.uop_rangeify import UOpRangeifyPass
from uop.rewriting.builder import Builder
from uop.rewriting.diagnostics import collect_remarks
from uop.runtime.interpret.program import interpret_program

Values = Sequence[SSAValue]
Build = Callable[[Builder, Values], Values]


def module_of(build: Build, *shapes: Sequence[int]) -> ModuleOp:
    """The function @forward of f32 tensors; `build(builder, arguments)` gives its results."""
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    for n, argument in enumerate(block.args):
        argument.name_hint = f"x{n}"
    results = build(Builder(block), block.args)
    block.add_op(ReturnOp(*results))
    types = [argument.type for argument in block.args], [result.type for result in results]
    return ModuleOp([FuncOp("forward", types, Region(block))])


def matmul(b: Builder, x: SSAValue, w: SSAValue) -> SSAValue:
    """x · wᵀ"""
    (n, k), (m, _) = shape_of(x.type), shape_of(w.type)
    whole = TensorType(f32, [n, m, k])
    product = b.alu("mul", b.expand(b.reshape(x, [n, 1, k]), whole), b.expand(b.reshape(w, [1, m, k]), whole))
    return b.reshape(b.reduce_axis("add", [product], [2])[0], [n, m])


def row_sum(b: Builder, x: SSAValue, axis: int = 1) -> SSAValue:
    """Sums along an axis, repeated along it."""
    return b.expand(b.reduce_axis("add", [x], [axis])[0], x.type)


def norm(b: Builder, x: SSAValue) -> SSAValue:
    return b.alu("mul", x, b.alu("rsqrt", row_sum(b, b.alu("mul", x, x))))


def gelu(b: Builder, x: SSAValue) -> SSAValue:
    return b.alu("mul", x, b.alu("erf", x))


def partitioned(build: Build, *shapes: Sequence[int]) -> list[KernelOp]:
    module = module_of(build, *shapes)
    UOpPartitionPass().apply(Context(), module)
    module.verify()
    return [op for op in module.ops if isinstance(op, KernelOp)]


def results_of(kernels: Sequence[KernelOp]) -> list[list[int]]:
    """The shape that each kernel writes."""
    return [list(shape_of(kernel.declared_results.data[0])) for kernel in kernels]


# What is fused.


def test_an_expensive_operand_of_a_contraction_is_cut() -> None:
    def product(b: Builder, x: Values) -> Values:
        return [matmul(b, gelu(b, x[0]), x[1])]

    assert results_of(partitioned(product, [1024, 256], [4096, 256])) == [[1024, 256], [1024, 4096]]
    assert results_of(partitioned(product, [32, 8], [64, 8])) == [[32, 64]]  # a launch costs more


def test_a_cheap_operand_is_fused() -> None:
    assert len(partitioned(lambda b, x: [matmul(b, b.alu("add", x[0], x[1]), x[2])], [32, 8], [32, 8], [64, 8])) == 1


def test_an_epilogue_joins_the_first_contraction() -> None:
    kernels = partitioned(lambda b, x: [matmul(b, gelu(b, matmul(b, x[0], x[1])), x[2])], [8, 4], [16, 4], [32, 16])
    assert results_of(kernels) == [[8, 16], [8, 32]]


def test_two_contractions_of_a_gate_are_one_kernel() -> None:
    def gate(b: Builder, arguments: Values) -> Values:
        x, v, w = arguments
        return [b.alu("mul", gelu(b, matmul(b, x, v)), matmul(b, x, w))]

    assert results_of(partitioned(gate, [8, 4], [16, 4], [16, 4])) == [[8, 16]]


def test_two_contractions_that_share_no_operand_are_two_kernels() -> None:
    def gate(b: Builder, arguments: Values) -> Values:
        x, y, v, w = arguments
        return [b.alu("mul", gelu(b, matmul(b, x, v)), matmul(b, y, w))]

    assert results_of(partitioned(gate, [8, 4], [8, 4], [16, 4], [16, 4])) == [[8, 16], [8, 16]]


def test_a_residual_joins_the_product_in_front_of_it() -> None:
    def block(b: Builder, x: Values) -> Values:
        return [b.alu("add", x[0], matmul(b, norm(b, x[0]), x[1]))]

    assert results_of(partitioned(block, [8, 16], [16, 16])) == [[8, 16], [8, 16]]


def test_a_matrix_vector_product_is_no_contraction() -> None:
    """It reads each element once, so that its kernel may be the norm's."""
    kernels = partitioned(lambda b, x: [matmul(b, norm(b, x[0]), x[1])], [8, 16], [1, 16])
    assert len(kernels) == 1


def test_rows_and_columns_are_not_one_kernel() -> None:
    def centered(b: Builder, arguments: Values) -> Values:
        (x,) = arguments
        return [b.alu("sub", b.alu("sub", x, row_sum(b, x)), row_sum(b, x, 0))]

    assert len(partitioned(centered, [8, 6])) > 1


def test_stencils_of_stencils_are_cut() -> None:
    def stencil(b: Builder, arguments: Values) -> Values:
        (x,) = arguments
        shape = shape_of(x.type)
        for _ in range(20):
            padded = b.insert(PadOp.of(x, [1, 0], [1, 0])).result
            a, c, d = (b.insert(ShrinkOp.of(padded, [k, 0], shape)).result for k in range(3))
            x = b.alu("add", b.alu("add", a, c), d)
        return [x]

    kernels = partitioned(stencil, [16, 4])
    assert 2 <= len(kernels) <= 10


def test_what_many_kernels_need_is_written_once() -> None:
    def sums(b: Builder, arguments: Values) -> Values:
        total = arguments[0]
        for x in arguments[1:]:
            total = b.alu("add", total, x)
        return [b.reduce_axis("add", [total], [1])[0], b.reduce_axis("max", [total], [0])[0]]

    assert len(partitioned(sums, *[[2048, 2048]] * 3)) == 2
    assert len(partitioned(sums, *[[2048, 2048]] * 4)) == 3
    assert len(partitioned(sums, *[[8, 8]] * 4)) == 2  # a launch costs more


def test_cuts_are_told() -> None:
    module = module_of(lambda b, x: [matmul(b, norm(b, x[0]), x[1])], [8, 16], [32, 16])
    with collect_remarks() as remarks:
        UOpPartitionPass(machine="cpu").apply(Context(), module)
    (remark,) = remarks
    assert isinstance(remark.op, ReduceAxisOp)
    assert "would be computed 32 times" in remark.message


# On random programs.


@st.composite
def programs(draw: st.DrawFn) -> ModuleOp:
    """A graph of elementwise ops, reductions, products and movement on square matrices, with several results."""
    n = draw(st.integers(2, 3))

    def build(b: Builder, arguments: Values) -> Values:
        values = list(arguments)
        for _ in range(draw(st.integers(2, 12))):
            x, y = draw(st.sampled_from(values[-4:])), draw(st.sampled_from(values))
            axis = draw(st.integers(0, 1))
            match draw(st.integers(0, 9)):
                case 0:
                    made = b.alu("add", x, y)
                case 1:
                    made = b.alu("max", x, b.alu("neg", y))
                case 2:
                    made = b.alu("sin", x)
                case 3:
                    made = b.expand(b.reduce_axis("max", [x], [axis])[0], x.type)
                case 4:
                    made = b.alu("sub", x, row_sum(b, x, axis))
                case 5:
                    made = b.alu("sin", matmul(b, x, y))
                case 6:
                    made = b.permute(x, [1, 0])
                case 7:
                    padded = b.insert(PadOp.of(x, [1, 0], [0, 1])).result
                    made = b.insert(ShrinkOp.of(padded, [0, 1], [n, n])).result
                case 8:
                    made = b.insert(FlipOp.of(x, [axis])).result
                case _:
                    flat = b.reshape(x, [n * n])
                    made = b.reshape(b.insert(FlipOp.of(flat, [0])).result, [n, n])
            values.append(made)
        return draw(st.lists(st.sampled_from(values), min_size=1, max_size=3))

    return module_of(build, *[[n, n]] * draw(st.integers(1, 3)))


def check_random(module: ModuleOp) -> None:
    random = np.random.default_rng(0)
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    arguments = [random.standard_normal(shape_of(x.type)).astype(np.float32) for x in function.body.block.args]
    expected = interpret_program(module, "forward", arguments)
    for step in (UOpPartitionPass(), UOpRangeifyPass(), ConvertUOpToLoopPass()):
        step.apply(Context(), module)
        module.verify()
        if step.name == "uop-partition":
            check_kernels(module)
        for found, wanted in zip(interpret_program(module, "forward", arguments), expected, strict=True):
            np.testing.assert_allclose(found, wanted, 1e-4, 1e-4, err_msg=f"after {step.name}")


def check_kernels(module: ModuleOp) -> None:
    """Every kernel keeps the criteria, and is launched once."""
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    launched = [op.kernel.root_reference.data for op in module.walk() if isinstance(op, LaunchOp)]
    assert launched == [kernel.sym_name.data for kernel in kernels]
    judge = Judge(GPU, Forms(), AxisPairs(), lambda _: frozenset())
    for kernel in kernels:
        *ops, result = kernel.body.block.ops
        leaves: dict[SSAValue, None] = dict.fromkeys(kernel.body.block.args)
        assert judge.find_impossible(Cone(ops, list(result.operands), leaves)) is None


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_random_programs(module: ModuleOp) -> None:
    check_random(module)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_random_programs_at_length(module: ModuleOp) -> None:
    check_random(module)


# Post-dominators.


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_post_dominators(data: Any) -> None:
    """Against the definition: the ops that all paths to an output go through."""

    def build(b: Builder, arguments: Values) -> Values:
        values = list(arguments)
        for _ in range(data.draw(st.integers(1, 10))):
            values.append(b.alu("add", *(data.draw(st.sampled_from(values[-3:])) for _ in range(2))))
        return values[-1:] + data.draw(st.lists(st.sampled_from(values[1:]), max_size=1))

    (function,) = module_of(build, [2]).ops
    assert isinstance(function, FuncOp)
    *ops, returned = function.body.block.ops
    outputs = {value.owner for value in returned.operands}
    users = {op: {use.operation for use in op.results[0].uses} - {returned} for op in ops}
    live = [op for op in ops if reaches(op, users, outputs, None)]
    found = PostDominators(live, outputs)
    for op in live:
        expected = [other for other in live if other is not op and not reaches(op, users, outputs, other)]
        assert list(found.after(op)) == expected


def reaches(
    op: Operation, users: dict[Operation, set[Operation]], outputs: set[Any], without: Operation | None
) -> bool:
    """Whether a path leads from the op to an output, past `without`."""
    if op is without:
        return False
    return op in outputs or any(reaches(user, users, outputs, without) for user in users[op])


# Size.


def layers(count: int) -> Build:
    def build(b: Builder, arguments: Values) -> Values:
        x, w = arguments
        for _ in range(count):
            x = b.alu("add", x, matmul(b, norm(b, x), w))
        return [x]

    return build


def convert(build: Build, *shapes: Sequence[int]) -> ModuleOp:
    module = module_of(build, *shapes)
    for step in (UOpPartitionPass(), UOpRangeifyPass(), ConvertUOpToLoopPass()):
        step.apply(Context(), module)
    return module


def calls(build: Build, *shapes: Sequence[int]) -> int:
    """Function calls that the passes make: an exact count, where times depend on what else the machine does."""
    profile = cProfile.Profile()
    profile.runcall(convert, build, *shapes)
    return sum(entry.callcount for entry in profile.getstats())  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def test_work_grows_with_the_program() -> None:
    """Four times the layers take about four times the work, not sixteen."""
    assert calls(layers(80), [8, 16], [16, 16]) < 6 * calls(layers(20), [8, 16], [16, 16])


def test_long_chains_do_not_overflow_the_stack() -> None:
    def chain(b: Builder, arguments: Values) -> Values:
        (x,) = arguments
        x = b.alu("sub", x, row_sum(b, x))
        for n in range(3000):
            x = b.alu("add" if n % 2 else "mul", x, b.constant_like(float(n), x))
        return [x]

    kernels = [op for op in convert(chain, [8, 16]).ops if isinstance(op, KernelOp)]
    assert len(kernels) == 1
