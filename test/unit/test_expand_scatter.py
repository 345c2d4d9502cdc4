"""uop-expand-scatter keeps the meaning of a scatter, for each monoid and type, and whatever is repeated."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, f16, f32, f64, i1, i8, i32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region

from uop.dialects.semantics import numpy_dtype
from uop.dialects.types import element_of, is_bool, is_float, shape_of, ui8
from uop.dialects.uop import ReduceAxisOp, ScatterOp
from uop.passes.uop.uop_expand_scatter import UOpExpandScatterPass
from uop.rewriting.builder import Builder
from uop.runtime.interpret.tensors import interpret_function

Shape = tuple[int, ...]

# (input, updates, axis), and how indices and updates come about: as they are, or repeated along some axes.
SHAPES: list[tuple[Shape, Shape, int]] = [
    ((7,), (0,), 0),
    ((7,), (3,), 0),
    ((7,), (9,), 0),
    ((1,), (9,), 0),
    ((5, 6), (9, 6), 0),
    ((5, 6), (2, 4), 0),
    ((5, 6), (4, 8), 1),
    ((3, 5, 6), (2, 9, 1), 1),
    ((0, 5), (0, 6), 1),
]
REPEATED = ("nothing", "indices", "updates")


def program(
    shapes: tuple[Shape, Shape, int], element: Attribute, index: Attribute, monoid: str | None, repeated: str
) -> tuple[ModuleOp, FuncOp]:
    """A function of one scatter."""
    shape, updates, axis = shapes
    narrow = [n if d == axis else 1 for d, n in enumerate(updates)] if repeated == "indices" else list(updates)
    one = [1 if d == axis else n for d, n in enumerate(updates)] if repeated == "updates" else list(updates)
    types = [TensorType(element, shape), TensorType(index, narrow), TensorType(element, one)]
    block = Block(arg_types=types)
    builder = Builder(block)
    places = builder.expand(block.args[1], TensorType(index, updates))
    values = builder.expand(block.args[2], TensorType(element, updates))
    block.add_op(ReturnOp(builder.scatter(block.args[0], places, values, axis, monoid)))
    function = FuncOp("f", (types, [types[0]]), Region(block))
    return ModuleOp([function]), function


def inputs(function: FuncOp, places: int) -> Iterator[np.ndarray]:
    generator = np.random.default_rng(0)
    for number, argument in enumerate(function.body.block.args):
        element, shape = element_of(argument.type), shape_of(argument.type)
        high = places if number == 1 else 2 if is_bool(element) else 9
        values = generator.integers(0, max(high, 1), shape)
        if is_float(element):
            # −0 and NaN among whole numbers, whose sums and products are exact
            values = np.where(values == 8, np.nan, np.where(values == 7, -0.0, (values - 3) % 3))
        yield np.asarray(values).astype(numpy_dtype(element))


@pytest.mark.parametrize("element", [f32, f64, f16, i64, i32, i8, ui8, i1], ids=str)
@pytest.mark.parametrize("monoid", [None, "add", "mul", "max", "min", "or"])
def test_meaning(element: Attribute, monoid: str | None) -> None:
    if (monoid in ("add", "mul") and is_bool(element)) or (monoid == "or" and is_float(element)):
        return
    for number, shapes in enumerate(SHAPES):
        for repeated in REPEATED:
            index = (i64, i32, i8)[number % 3]
            module, function = program(shapes, element, index, monoid, repeated)
            module.verify()
            arguments = list(inputs(function, shapes[0][shapes[2]]))
            (before,) = interpret_function(function, arguments)
            UOpExpandScatterPass().apply(Context(), module)
            module.verify()
            assert not any(isinstance(op, ScatterOp) for op in module.walk())
            (after,) = interpret_function(function, arguments)
            assert after.dtype == before.dtype
            np.testing.assert_array_equal(after, before, err_msg=f"{shapes} {repeated}")
            if monoid is None and is_float(element):
                np.testing.assert_array_equal(np.signbit(after), np.signbit(before))


def test_many_places_for_narrow_indices() -> None:
    """Places that an index of 8 bits cannot name stay as they are."""
    module, function = program(((300,), (9,), 0), f32, ui8, None, "nothing")
    arguments = list(inputs(function, 256))
    (before,) = interpret_function(function, arguments)
    UOpExpandScatterPass().apply(Context(), module)
    (after,) = interpret_function(function, arguments)
    np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("monoid", [None, "add"])
@pytest.mark.parametrize(("start", "step"), [(0, 1), (2, 1), (1, 2), (3, 3)])
def test_indices_in_steps_need_no_reduction(start: int, step: int, monoid: str | None) -> None:
    shape, updates = (4, 20), (4, 6)
    types = [TensorType(f32, shape), TensorType(f32, updates)]
    block = Block(arg_types=types)
    builder = Builder(block)
    iota = builder.iota(6, i64)
    places = builder.alu("mul", iota, builder.constant_like(step, iota))
    places = builder.alu("add", places, builder.constant_like(start, iota))
    places = builder.expand(builder.reshape(places, (1, 6)), TensorType(i64, updates))
    block.add_op(ReturnOp(builder.scatter(block.args[0], places, block.args[1], 1, monoid)))
    function = FuncOp("f", (types, [types[0]]), Region(block))
    module = ModuleOp([function])
    arguments = list(inputs(function, 20))
    (before,) = interpret_function(function, arguments)
    UOpExpandScatterPass().apply(Context(), module)
    assert not any(isinstance(op, ReduceAxisOp) for op in module.walk())
    (after,) = interpret_function(function, arguments)
    np.testing.assert_array_equal(after, before)
    np.testing.assert_array_equal(np.signbit(after), np.signbit(before))


@pytest.mark.parametrize("monoid", [None, "add"])
def test_positions_from_data_need_no_reduction(monoid: str | None) -> None:
    """Rows of a KV cache: those of new tokens from a position on, of which only the first ones are there."""
    shape, updates = (4, 20), (4, 6)
    scalar = TensorType(i64, ())
    types = [TensorType(f32, shape), TensorType(f32, updates), scalar, scalar]
    block = Block(arg_types=types)
    x, update, start, count = block.args
    builder = Builder(block)
    iota = builder.iota(6, i64)
    start, count = (builder.expand(builder.reshape(value, (1,)), iota.type) for value in (start, count))
    there = builder.alu("lt", iota, count)
    places = builder.alu("where", there, builder.alu("add", iota, start), builder.constant_like(-1, iota))
    places = builder.expand(builder.reshape(places, (1, 6)), TensorType(i64, updates))
    block.add_op(ReturnOp(builder.scatter(x, places, update, 1, monoid)))
    function = FuncOp("f", (types, [types[0]]), Region(block))
    module = ModuleOp([function])
    given = list(inputs(function, 20))[:2]
    cases = [[*given, np.asarray(s), np.asarray(n)] for s, n in ((0, 6), (3, 1), (14, 6), (19, 1), (20, 0), (5, 0))]
    before = [interpret_function(function, arguments)[0] for arguments in cases]
    UOpExpandScatterPass().apply(Context(), module)
    assert not any(isinstance(op, ReduceAxisOp) for op in module.walk())
    for arguments, expected in zip(cases, before, strict=True):
        np.testing.assert_array_equal(interpret_function(function, arguments)[0], expected)
