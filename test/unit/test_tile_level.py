"""The passes of the tile level under many schedules: what they make is interpreted and compared with numpy."""

from collections.abc import Callable
from dataclasses import dataclass
from math import erf, prod
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnknownLoc
from xdsl.parser import Parser

from uop.dialects import get_all_dialects
from uop.dialects.axes import AxisKind
from uop.dialects.loop import ForOp, ReduceOp, ScanOp
from uop.dialects.schedule import Factor, Schedule, ScheduleAttr
from uop.dialects.tile import ReadOp, StageOp, WriteOp
from uop.dialects.uop import KernelOp
from uop.passes.loop.convert_loop_to_tile import ConvertLoopToTilePass
from uop.passes.tile.tile_drop_masks import TileDropMasksPass
from uop.passes.tile.tile_stage import TileStagePass
from uop.passes.tile.tile_vectorize import TileVectorizePass
from uop.rewriting.diagnostics import collect_remarks
from uop.runtime.interpret.arrays import ExecutionError
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.scalars import interpret_scalar_kernel
from uop.runtime.interpret.tiles import interpret_tile_kernel

Array = np.ndarray[Any, Any]

KERNELS = (Path(__file__).parent / "inputs" / "loop_kernels.mlir").read_text()


def context() -> Context:
    ctx = Context()
    ctx.load_dialect(Builtin)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    return ctx


def parse(text: str) -> ModuleOp:
    return Parser(context(), text).parse_module()


LOOP_FORM = {k.sym_name.data: k for k in parse(KERNELS).ops if isinstance(k, KernelOp)}


def random(seed: int, *shape: int) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def integers(low: int, high: int, dtype: str, *shape: int) -> Array:
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


def softmax(x: Array) -> Array:
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def layer_norm(x: Array, w: Array) -> Array:
    x = x.astype(np.float64)
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w


def windows(x: Array) -> Array:
    counted = np.where((np.arange(16) >= 2) & (np.arange(16) <= 11), x, 0)
    return np.array([counted[i : i + 8].sum() for i in range(8)])


def running_maximum_of_sums(x: Array) -> tuple[Array, Array]:
    sums = x.astype(np.float64).cumsum(1)
    greatest = np.maximum.accumulate(sums, 1)
    places = np.where(sums == greatest, np.arange(13), 0)
    return greatest - x, np.maximum.accumulate(places, 1)


def with_nan(x: Array) -> Array:
    """Ties in row 0, a NaN in row 1."""
    x[0, 3] = x[0, 30] = 9
    x[1, 20] = np.nan
    return x


Reference = (
    Callable[[], Any] | Callable[[Array], Any] | Callable[[Array, Array], Any] | Callable[[Array, Array, Array], Any]
)


@dataclass(frozen=True)
class Example:
    """Inputs of a kernel, and what numpy makes of them: an array, or a tuple of one for each output."""

    inputs: Callable[[], list[Array]]
    outputs: Reference


EXAMPLES = {
    "seed": Example(
        lambda: [random(1, 16, 64), random(2, 64), random(3, 64, 16)],
        lambda x, bias, w: np.maximum((x + bias) @ w, 0),
    ),
    "softmax": Example(lambda: [random(1, 6, 1000)], softmax),
    "online_softmax": Example(lambda: [random(1, 6, 1000)], softmax),
    "layer_norm": Example(lambda: [random(1, 5, 67), random(2, 67)], layer_norm),
    "column_sums": Example(lambda: [random(1, 33, 10)], lambda x: x.sum(0)),
    "ragged": Example(
        lambda: [random(1, 13, 17), random(2, 17, 11), random(3, 11)],
        lambda x, w, bias: np.vectorize(erf)(x @ w + bias),
    ),
    "batch_matmul": Example(lambda: [random(1, 3, 5, 12), random(2, 3, 12, 8)], lambda x, w: x @ w),
    "variance": Example(lambda: [random(1, 4, 37)], lambda x: x.astype(np.float64).var(1)),
    "argmax": Example(lambda: [with_nan(random(1, 4, 37))], lambda x: x.argmax(1)),
    "sum_2d": Example(lambda: [random(1, 3, 7, 10)], lambda x: x.sum((1, 2))),
    "max_of_sums": Example(lambda: [random(1, 7, 10)], lambda x: x.sum(1).max()),
    "padded": Example(lambda: [random(1, 4, 29)], lambda x: np.exp(x).sum(1)),
    "gather": Example(lambda: [random(1, 20, 6), integers(0, 20, "int64", 9)], lambda table, places: table[places]),
    "half_matmul": Example(
        lambda: [random(1, 12, 16).astype(np.float16), random(2, 16, 10).astype(np.float16)],
        lambda x, w: (x.astype(np.float32) @ w.astype(np.float32)).astype(np.float16),
    ),
    "int_sum": Example(lambda: [integers(-(2**31), 2**31, "int32", 6, 19)], lambda x: x.astype(np.int64).sum(1)),
    "all_positive": Example(lambda: [np.abs(random(1, 6, 19)) - 0.05], lambda x: (x > 0).all(1)),
    "two_outputs": Example(lambda: [random(1, 6, 19)], lambda x: (x * x.sum(1, keepdims=True), x.sum(1))),
    "reduced_index": Example(
        lambda: [random(1, 20), integers(1, 4, "int64", 6, 5)],
        lambda table, counts: table[20 - counts.sum(1)],
    ),
    "convolution": Example(lambda: [random(1, 16), random(2, 6)], lambda x, w: np.convolve(x, w)[:19]),
    "window": Example(lambda: [random(1, 16)], windows),
    "scans": Example(lambda: [random(1, 5, 13)], running_maximum_of_sums),
    "first_columns": Example(lambda: [random(1, 8, 6)], lambda x: x[:, :4]),
    "count": Example(list, lambda: np.full(4, 21.0)),
    "constant": Example(list, lambda: np.float32(3)),
    "empty_sum": Example(lambda: [random(1, 4, 0)], lambda x: np.zeros(4)),
    "nothing": Example(lambda: [random(1, 0, 4)], lambda x: x),
}

SCHEDULES = [
    # A tile of threads and registers; factors of 1 say nothing.
    ("seed", "i = 1 block * 8 thread * 2 register, j = 1 block * 8 thread * 2 register, k = 64 loop"),
    # Staged, with two buffers and padding.
    (
        "seed",
        "i = 1 block * 8 thread * 2 register, j = 1 block * 8 thread * 2 register, k = 2 loop * 32 loop, "
        "stage = [%x buffers 2 async pad 4, %bias buffers 2, %w buffers 2]",
    ),
    ("seed", "i = 2 block * 8 thread, j = 4 thread * 4 register, k = 8 loop * 8 unroll, stage = [%x pad 1, %bias, %w]"),
    # Three serial factors, registers along the reduced axis.
    (
        "seed",
        "i = 2 block * 8 thread, j = 4 thread * 4 register, k = 2 loop * 2 loop * 4 loop * 4 register, "
        "stage = [%x, %w]",
    ),
    # One serial factor: a slab of one step.
    ("seed", "i = 2 block * 8 thread, j = 4 thread * 4 register, k = 64 loop, stage = [%x, %bias, %w]"),
    # The reduced axis over the lanes of a warp.
    ("seed", "i = 16 block, j = 8 block * 2 thread, k = 2 register * 32 lane"),
    ("seed", "i = 4 block * 4 register, j = 2 thread * 8 thread, k = 4 thread * 16 loop"),
    # Everything serial: one thread.
    ("column_sums", "i = 33 loop, j = 10 loop"),
    ("batch_matmul", "b = 3 unroll, i = 5 loop, j = 8 loop, k = 12 loop"),
    ("seed", "i = 4 loop * 4 thread, j = 2 unroll * 8 register, k = 2 loop * 32 loop, stage = [%x, %w]"),
    # A row a block, in registers.
    ("softmax", "i = 6 block, j = 1 register * 256 thread * 4 register"),
    ("softmax", "i = 6 block, j = 4 register * 256 thread"),
    # The row is read in pieces.
    ("softmax", "i = 6 block, j = 4 loop * 256 thread"),
    ("softmax", "i = 6 block, j = 2 loop * 2 register * 256 thread"),
    # A warp a row, vectors of four.
    ("softmax", "i = 2 block * 4 warp, j = 8 register * 32 lane * 4 register"),
    # Two rows a thread.
    ("softmax", "i = 3 block * 2 register, j = 4 register * 256 thread"),
    ("softmax", "i = 6 block, j = 8 loop * 32 thread * 4 register"),
    ("online_softmax", "i = 6 block, j = 1 register * 256 thread * 4 register"),
    ("online_softmax", "i = 6 block, j = 8 loop * 32 thread * 4 register"),
    ("online_softmax", "i = 2 block * 4 thread, j = 4 loop * 2 register * 32 thread * 4 register"),
    ("online_softmax", "i = 6 thread, j = 125 loop * 8 register"),
    ("layer_norm", "i = 5 block, j = 32 thread * 3 register"),
    ("layer_norm", "i = 2 block * 3 thread, j = 3 loop * 23 thread"),
    # Positions begin in front of the rows.
    ("layer_norm", "i = 5 block, j = 3 register * 32 thread, align = j 8"),
    ("layer_norm", "i = 2 block * 3 warp, j = 3 register * 32 lane, align = j 16"),
    ("layer_norm", "i = 5 block, j = 2 loop * 2 register * 19 thread, align = j 5"),
    ("argmax", "i = 2 block * 2 thread, k = 6 register * 8 thread, align = k 8"),
    ("two_outputs", "i = 6 block, j = 3 register * 8 thread, align = j 4"),
    ("scans", "i = 5 thread, j = 13 loop"),
    ("scans", "i = 2 block * 3 thread, j = 13 unroll"),
    ("scans", "i = 2 thread * 3 register, j = 3 loop * 5 loop"),
    ("scans", "i = 2 block * 3 register, j = 2 loop * 3 loop * 3 unroll"),
    ("scans", "i = 5 loop, j = 16 loop"),
    ("scans", "i = 8 thread, j = 4 loop * 4 loop, stage = [%x buffers 2 pad 1]"),
    ("column_sums", "i = 11 register * 3 thread, j = 3 block * 4 thread"),
    ("column_sums", "i = 33 loop, j = 2 block * 5 thread"),
    ("column_sums", "i = 5 loop * 8 thread, j = 10 register"),
    (
        "ragged",
        "i = 2 block * 4 thread * 2 register, j = 3 block * 2 thread * 2 register, k = 3 loop * 7 loop, "
        "stage = [%x buffers 2 pad 1, %w buffers 2, %bias]",
    ),
    ("ragged", "i = 4 block * 4 thread, j = 2 block * 2 thread * 4 register, k = 3 loop * 2 register * 4 thread"),
    ("ragged", "i = 13 block, j = 3 loop * 4 register, k = 18 register"),
    ("batch_matmul", "b = 3 block, i = 2 thread * 3 register, j = 2 thread * 4 register, k = 12 loop"),
    (
        "batch_matmul",
        "b = 2 block * 2 thread, i = 3 thread * 2 loop, j = 2 thread * 4 register, k = 3 loop * 4 loop, "
        "stage = [%w, %x]",
    ),
    ("variance", "i = 4 block, k = 3 loop * 2 register * 8 thread"),
    ("variance", "i = 3 thread * 2 register, k = 37 loop"),
    ("argmax", "i = 4 block, k = 2 loop * 4 register * 8 thread"),
    ("argmax", "i = 2 block * 2 register, k = 64 thread"),
    # Lanes share the shuffles of several rows.
    ("argmax", "i = 4 register, k = 2 register * 32 lane"),
    ("variance", "i = 8 register, k = 2 register * 32 lane"),
    ("online_softmax", "i = 3 block * 2 register, j = 8 register * 32 lane * 4 register"),
    ("sum_2d", "i = 3 block, k = 7 loop, k1 = 2 loop * 5 thread"),
    ("sum_2d", "i = 2 block * 2 thread, k = 4 thread * 2 register, k1 = 3 loop * 4 register"),
    ("sum_2d", "i = 3 block, k = 7 register, k1 = 16 thread"),
    ("sum_2d", "i = 3 thread, k = 7 loop, k1 = 10 loop, stage = [%x]"),
    ("max_of_sums", "k = 7 loop, k1 = 10 loop, stage = [%x]"),
    ("max_of_sums", "k = 2 loop * 4 thread, k1 = 4 thread * 3 register"),
    ("max_of_sums", "k = 8 register, k1 = 5 loop * 2 register"),
    ("padded", "i = 4 block, k = 31 loop, stage = [%x]"),
    ("padded", "i = 2 block * 2 thread, k = 4 loop * 8 loop, stage = [%x pad 1]"),
    ("padded", "i = 4 thread, k = 8 thread * 4 register"),
    ("gather", "i = 9 block, j = 6 thread"),
    ("gather", "i = 2 block * 5 thread, j = 2 thread * 4 register"),
    ("gather", "i = 5 loop * 2 register, j = 2 thread * 3 loop"),
    ("half_matmul", "i = 3 block * 4 register, j = 5 thread * 2 register, k = 2 loop * 8 loop, stage = [%x, %w pad 2]"),
    ("half_matmul", "i = 13 thread, j = 3 thread * 4 register, k = 16 register"),
    ("int_sum", "i = 2 block * 3 thread, k = 5 loop * 4 thread"),
    ("int_sum", "i = 4 thread * 2 register, k = 4 register * 5 register"),
    ("all_positive", "i = 2 block * 3 thread, k = 5 loop * 4 thread"),
    ("all_positive", "i = 6 thread, k = 20 register"),
    ("two_outputs", "i = 6 block, j = 8 thread * 3 register"),
    ("two_outputs", "i = 3 block * 2 register, j = 2 loop * 10 thread"),
    ("reduced_index", "i = 2 block * 4 thread, k = 2 loop * 3 loop"),
    ("reduced_index", "i = 4 loop * 2 register, k = 8 thread"),
    ("convolution", "i = 4 block * 5 thread, k = 3 loop * 2 loop, stage = [%x, %w]"),
    ("convolution", "i = 5 thread * 4 register, k = 2 loop * 2 register * 2 loop, stage = [%x buffers 2]"),
    ("convolution", "i = 2 loop * 10 thread, k = 6 loop, stage = [%w, %x]"),
    ("window", "i = 2 block * 4 thread, k = 4 loop * 2 loop, stage = [%x]"),
    ("window", "i = 2 thread * 4 register, k = 3 loop * 3 loop, stage = [%x]"),
    ("first_columns", "i = 8 thread, j = 4 register"),
    ("first_columns", "i = 3 block * 3 thread, j = 4 register"),
    ("count", "i = 4 thread, k = 2 loop * 3 register * 4 thread"),
    ("count", "i = 4 block, k = 32 lane"),
    ("count", "i = 4 block, k = 21 register"),
    ("empty_sum", "i = 4 thread, k = 1 loop"),
    ("empty_sum", "i = 4 thread, k = 2 loop * 2 register * 2 thread, stage = [%x]"),
    ("nothing", "i = 1 block, j = 4 thread"),
    ("nothing", "i = 1 loop, j = 4 loop"),
]


def scheduled(name: str, schedule: str) -> KernelOp:
    """The kernel in loop form with the schedule, in a module of its own."""
    kernel = LOOP_FORM[name].clone()
    attribute = Parser(context(), f"#tile.schedule<{schedule}>").parse_attribute()
    assert isinstance(attribute, ScheduleAttr)
    kernel.schedule = attribute
    ModuleOp([kernel])
    return kernel


def module_of(kernel: KernelOp) -> ModuleOp:
    module = kernel.get_toplevel_object()
    assert isinstance(module, ModuleOp)
    return module


def interpret(kernel: KernelOp, inputs: list[Array]) -> list[Array]:
    """The kernel's outputs, whichever form it is in."""
    outputs = [a for a in kernel.body.block.args if (a.name_hint or "").startswith("out")]
    buffers = [poisoned_buffer(argument.type) for argument in outputs]
    tile_form = any(isinstance(op, WriteOp) for op in kernel.body.walk())
    run = interpret_tile_kernel if tile_form else interpret_scalar_kernel
    run(kernel, [*buffers, *(x.copy() for x in inputs)])
    return buffers


def assert_close(output: Array, reference: Any) -> None:
    relative = {"f": {2: 2**-10, 4: 2e-5}}.get(output.dtype.kind, {}).get(output.dtype.itemsize, 0)
    np.testing.assert_allclose(output, reference, rtol=relative, atol=relative if output.itemsize == 4 else 0)


def check(name: str, schedule: str) -> KernelOp:
    """Each pass after the other, each one's text parsed again and interpreted."""
    example = EXAMPLES[name]
    inputs = example.inputs()
    result = cast(Callable[..., Any], example.outputs)(*inputs)
    expected = cast(tuple[Array, ...], result) if isinstance(result, tuple) else (result,)
    kernel = scheduled(name, schedule)
    for output, reference in zip(interpret(kernel, inputs), expected, strict=True):
        assert_close(output, reference)
    first: list[Array] | None = None
    for run in (ConvertLoopToTilePass(), TileDropMasksPass(), TileStagePass(), TileVectorizePass()):
        module = module_of(kernel)
        run.apply(context(), module)
        module.verify()
        text = str(module)
        module = parse(text)
        assert str(module) == text
        [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
        outputs = interpret(kernel, inputs)
        if first is None:
            first = outputs
            for output, reference in zip(outputs, expected, strict=True):
                assert_close(output, reference)
        for output, reference in zip(outputs, first, strict=True):
            assert output.tobytes() == reference.tobytes(), f"{run.name} changes the result"
    return kernel


@pytest.mark.parametrize(("name", "schedule"), SCHEDULES)
def test_schedule(name: str, schedule: str) -> None:
    check(name, schedule)


def test_one_thread_without_axes() -> None:
    check("constant", "")


# Random schedules.


@st.composite
def random_schedules(draw: st.DrawFn, name: str) -> str:
    """Factors of any kind that an axis allows, at most 64 threads, each product at least the extent."""
    kernel = LOOP_FORM[name]
    loops = [op for op in kernel.body.walk() if isinstance(op, ForOp | ReduceOp)]
    extents = {op.axis.axis.data: op.axis.extent.data for op in loops}
    reduced = {op.axis.axis.data for op in loops if isinstance(op, ReduceOp)}
    scanned = {op.loop.axis.axis.data for op in kernel.body.walk() if isinstance(op, ScanOp)}
    serial = reduced | scanned
    threads, registers = 64, 64
    axes: list[tuple[str, tuple[Factor, ...]]] = []
    for axis in draw(st.permutations(list(extents))):
        kinds = [AxisKind.LOOP, AxisKind.UNROLL]
        if axis not in scanned:
            kinds += [AxisKind.THREAD, AxisKind.REGISTER]
        factors: list[Factor] = []
        for _ in range(draw(st.integers(0, 3))):
            kind = draw(st.sampled_from(kinds if axis in serial else [*kinds, AxisKind.BLOCK]))
            extent = draw(st.integers(1, 5))
            if kind is AxisKind.THREAD:
                extent = min(extent, threads)
                threads //= extent
            if kind is AxisKind.REGISTER:
                extent = min(extent, registers)
                registers //= extent
            factors.append(Factor(extent, kind))
        rest = -(-extents[axis] // prod(factor.extent for factor in factors))
        rest_kind = (
            AxisKind.LOOP if axis in serial else draw(st.sampled_from([AxisKind.BLOCK, AxisKind.BLOCK, AxisKind.LOOP]))
        )
        factors.insert(draw(st.integers(0, len(factors))), Factor(max(rest, 1), rest_kind))
        axes.append((axis, tuple(factors)))
    inputs = [a.name_hint for a in kernel.body.block.args if a.name_hint and not a.name_hint.startswith("out")]
    staged = draw(st.lists(st.sampled_from(inputs), unique=True)) if inputs else []
    stage = [f"%{buffer} buffers {draw(st.integers(1, 2))} pad {draw(st.integers(0, 4))}" for buffer in staged]
    return f"{Schedule(tuple(axes))}" + (f", stage = [{', '.join(stage)}]" if stage else "")


RANDOMLY_SCHEDULED = (
    "ragged",
    "batch_matmul",
    "layer_norm",
    "sum_2d",
    "max_of_sums",
    "argmax",
    "scans",
    "variance",
    "padded",
    "gather",
    "two_outputs",
    "half_matmul",
    "reduced_index",
    "convolution",
    "window",
)


@pytest.mark.parametrize("name", RANDOMLY_SCHEDULED)
@settings(max_examples=6, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_random_schedules(name: str, data: st.DataObject) -> None:
    check(name, data.draw(random_schedules(name)))


@pytest.mark.slow
@pytest.mark.parametrize("name", RANDOMLY_SCHEDULED)
@settings(max_examples=50, deadline=None, database=None)
@given(data=st.data())
def test_many_random_schedules(name: str, data: st.DataObject) -> None:
    check(name, data.draw(random_schedules(name)))


# What the passes promise beyond the meaning.


def test_row_in_registers_is_read_once() -> None:
    kernel = check("softmax", "i = 2 block * 4 warp, j = 8 register * 32 lane * 4 register")
    [read] = [op for op in kernel.body.walk() if isinstance(op, ReadOp)]
    assert read.vector is not None
    assert read.vector.value.data == 4


def test_locations_survive() -> None:
    text = """
#schedule = #tile.schedule<i = 4 block * 2 thread, k = 2 loop * 5 loop * 2 register, stage = [%x]>
uop.kernel @f(%out: memref<6xf32>, %x: memref<6x19xf32>) schedule #schedule {
  %zero = uop.const 0.0 : f32 loc("m.py":1:0)
  loop.for %i (i = 6 parallel) {
    %sum = loop.reduce %k (k = 19) add : f32 {
      %0 = uop.load %x[%i, %k] : memref<6x19xf32> loc("m.py":2:0)
      %1 = uop.exp %0 : f32 loc("m.py":3:0)
      loop.yield %1 : f32 loc("m.py":4:0)
    } loc("m.py":4:0)
    %2 = uop.max %sum, %zero : f32 loc("m.py":5:0)
    uop.store %2, %out[%i] : memref<6xf32> loc("m.py":6:0)
  } loc("m.py":7:0)
} loc("m.py":8:0)
"""
    module = parse(text)
    for run in (ConvertLoopToTilePass(), TileDropMasksPass(), TileStagePass(), TileVectorizePass()):
        run.apply(context(), module)
        for op in module.walk():
            if op is not module:
                assert not isinstance(op.location, UnknownLoc), f"{run.name} drops the location of {op}"


# The interpreter finds what must not happen.


def tile_kernel(body: str) -> KernelOp:
    text = f"uop.kernel @f(%out: memref<4xf32>, %x: memref<4xf32>) {{\n{body}\n}}"
    [kernel] = parse(text).ops
    assert isinstance(kernel, KernelOp)
    kernel.verify()
    return kernel


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """
%t = tile.axis i = 5 thread : index
%0 = tile.read %x[%t] : memref<4xf32>(index) -> f32
tile.write %0, %out[%t] : f32 -> memref<4xf32>(index)""",
            "tile.read uses index 4 in dimension 0",
        ),
        (
            """
%t = tile.axis i = 4 thread : index
%zero = uop.const 0 : index
%0 = tile.read %x[%t] : memref<4xf32>(index) -> f32
tile.write %0, %out[%zero] : f32 -> memref<4xf32>(index)""",
            "writes different values to element",
        ),
        (
            """
%t = tile.axis i = 3 thread : index
%0 = tile.read %x[%t] : memref<4xf32>(index) -> f32
tile.write %0, %out[%t] : f32 -> memref<4xf32>(index)""",
            "does not write element",
        ),
        (
            """
%t = tile.axis i = 4 thread : index
loop.for %k (k = 1 loop) {
  %s = tile.stage %x[%t] buffers 1 : memref<4xf32> -> memref<1xf32, "shared">
  %zero = uop.const 0 : index
  %0 = tile.read %s[%zero] : memref<1xf32, "shared">(index) -> f32
  tile.write %0, %out[%t] : f32 -> memref<4xf32>(index)
}""",
            "the origin of a stage differs",
        ),
        (
            """
%r = tile.axis i = 4 register : vector<4xindex>
%c = uop.const 3 : index
%c_v = uop.expand %c : index -> vector<4xindex>
%i = uop.sub %c_v, %r : vector<4xindex>
%0 = tile.read %x[%i] vector 2 : memref<4xf32>(vector<4xindex>) -> vector<4xf32>
tile.write %0, %out[%i] : vector<4xf32> -> memref<4xf32>(vector<4xindex>)""",
            "no aligned vector of 2",
        ),
        (
            """
%r = tile.axis i = 4 register : vector<4xindex>
%c = uop.const 3 : index
%c_v = uop.expand %c : index -> vector<4xindex>
%ok = uop.lt %r, %c_v : vector<4xindex>
%0 = tile.read %x[%r] mask %ok vector 4 : memref<4xf32>(vector<4xindex>) -> vector<4xf32>
tile.write %0, %out[%r] : vector<4xf32> -> memref<4xf32>(vector<4xindex>)""",
            "differ in the mask",
        ),
    ],
)
def test_interpreter_refuses(body: str, message: str) -> None:
    buffers = [np.zeros(4, np.float32), np.arange(4, dtype=np.float32)]
    with pytest.raises(ExecutionError, match=message):
        interpret_tile_kernel(tile_kernel(body), buffers)


def test_stage_is_zero_outside_the_buffer() -> None:
    kernel = tile_kernel("""
%t = tile.axis i = 4 thread : index
%two = uop.const 2 : index
loop.for %k (k = 1 loop) {
  %s = tile.stage %x[%two] buffers 1 : memref<4xf32> -> memref<4xf32, "shared">
  %0 = tile.read %s[%t] : memref<4xf32, "shared">(index) -> f32
  tile.write %0, %out[%t] : f32 -> memref<4xf32>(index)
}""")
    out = np.full(4, 9, np.float32)
    interpret_tile_kernel(kernel, [out, np.arange(1, 5, dtype=np.float32)])
    assert out.tolist() == [3, 4, 0, 0]


def test_slabs_that_have_no_room_are_remarked() -> None:
    kernel = scheduled("seed", "i = 16 thread, j = 16 thread, k = 2 loop * 32 loop, stage = [%x, %w]")
    module = module_of(kernel)
    ConvertLoopToTilePass().apply(context(), module)
    with collect_remarks() as remarks:
        TileStagePass(shared_bytes=3000).apply(context(), module)
    assert [remark.message for remark in remarks] == [
        "%w is not staged here: the slab takes 2048 bytes, and 2048 of the 3000 bytes that there are are taken"
    ]
    assert len([op for op in module.walk() if isinstance(op, StageOp)]) == 1
