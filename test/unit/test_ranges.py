"""Ranges: intervals and congruences against all results that the semantics table gives."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import i1, i8, i16, i32, i64
from xdsl.dialects.func import Func
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.parser import Parser

from uop.dialects.semantics import ALU, evaluate, numpy_dtype, round_to_element
from uop.dialects.types import index, integer_bounds, ui8
from uop.dialects.uop import CastOp, ConstOp
from uop.rewriting.builder import Builder
from uop.rewriting.congruences import CONGRUENCES, Congruence
from uop.rewriting.driver import RewriteBuilder, rewrite
from uop.rewriting.interval_arithmetic import INTERVALS, Interval
from uop.rewriting.patterns import INTEGER, constants, variables
from uop.rewriting.ranges import Range, RangeAnalysis
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import and_
from uop.tools.universe import UOP_UNIVERSE

INTEGER_OPS = sorted(name for name, row in ALU.items() if row.domain in ("any", "number", "integer", "bits"))


def test_every_integer_op_has_a_transfer_function() -> None:
    assert set(INTEGER_OPS) == set(INTERVALS)


# One op at a time.


def arguments(analysis: RangeAnalysis, element: Attribute, operands: Sequence[Range]) -> Block:
    """A block with arguments of these ranges."""
    block = Block(arg_types=[element] * len(operands))
    for argument, known in zip(block.args, operands, strict=True):
        analysis.assume(argument, known.interval)
        analysis._congruences[argument] = known.congruence  # pyright: ignore[reportPrivateUsage]
    return block


def numbers(known: Range) -> list[int]:
    return [n for n in range(known.min, known.max + 1) if known.congruence.holds(n)]


def check(name: str, element: Attribute, operands: Sequence[Range]) -> None:
    """The range of an op on operands of these ranges holds all results."""
    values = [numbers(known) for known in operands]
    if not all(values) or (("div" in name or "mod" in name) and 0 in values[1]):
        return  # nothing to compute, or division by zero, which has no meaning
    analysis = RangeAnalysis()
    block = arguments(analysis, element, operands)
    found = analysis.of(Builder(block).alu(name, *block.args))
    assert found is not None
    grids = np.meshgrid(*(np.array(column).astype(numpy_dtype(element)) for column in values), indexing="ij")
    results = evaluate(np, ALU[name], element, [grid.reshape(-1) for grid in grids])
    for result in {int(number) for number in results}:
        assert found.holds(result), (name, operands, result, found)


SMALL = [Range(Interval(low, high), Congruence(1, 0)) for low, high in itertools.combinations_with_replacement(
    (-128, -5, -2, -1, 0, 1, 3, 8, 127), 2
)]  # fmt: skip
PROGRESSIONS = [
    Range(Interval(low, high), Congruence(modulus, residue))
    for low, high in ((-128, 127), (-8, 9), (0, 40))
    for modulus, residue in ((2, 1), (4, 0), (4, 3), (6, 2), (12, 8), (64, 32), (0, 6), (0, -4))
]


@pytest.mark.parametrize("name", [name for name in INTEGER_OPS if name != "where"])
def test_ranges_hold_all_results(name: str) -> None:
    for operands in itertools.product(SMALL, repeat=ALU[name].arity):
        check(name, i8, operands)


@pytest.mark.parametrize("name", [name for name in CONGRUENCES if name != "where"])
def test_congruences_hold_all_results(name: str) -> None:
    for element in (i8, ui8):
        low, _ = integer_bounds(element)
        ranges = [known for known in PROGRESSIONS if known.min >= low]
        for operands in itertools.product(ranges, repeat=ALU[name].arity):
            check(name, element, operands)


@st.composite
def ranges(draw: st.DrawFn, element: Attribute) -> Range:
    # An index that leaves its 64 bits has no meaning: what products of these do not do.
    limits = (-(2**31), 2**31) if element == index else integer_bounds(element)
    low, high = sorted(draw(st.lists(st.integers(*limits), min_size=2, max_size=2)))
    modulus = draw(st.integers(1, 40))
    return Range(Interval(low, high), Congruence(modulus, draw(st.integers(0, modulus - 1))))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_ranges_of_wider_integers(data: st.DataObject) -> None:
    """Of numbers drawn from the operands' ranges, the result is in its range."""
    element = data.draw(st.sampled_from([i16, i32, i64, index]))
    name = data.draw(st.sampled_from([name for name in INTEGER_OPS if name not in ("where", "pow")]))
    if element == index and name == "shl":
        return
    known = [data.draw(ranges(element)) for _ in range(ALU[name].arity)]
    chosen: list[int] = []
    for operand in known:
        tight = operand.congruence.nearest(operand.interval)
        if tight is None:
            return
        steps = data.draw(st.integers(0, (tight.high - tight.low) // operand.modulus))
        chosen.append(tight.low + steps * operand.modulus)
    if ("div" in name or "mod" in name) and chosen[1] == 0:
        return
    analysis = RangeAnalysis()
    block = arguments(analysis, element, known)
    found = analysis.of(Builder(block).alu(name, *block.args))
    assert found is not None
    operands = [np.array([number]).astype(numpy_dtype(element)) for number in chosen]
    assert found.holds(int(evaluate(np, ALU[name], element, operands)[0])), (name, known, chosen, found)


# Trees.

TREE_OPS = [name for name in INTEGER_OPS if name != "where"] + ["where"] * 4
ELEMENTS = [i8, ui8, index]


class Tree:
    """A random expression of two arguments, and its value for every pair of numbers that they take."""

    def __init__(self, data: st.DataObject, element: Attribute):
        self.data = data
        self.analysis = RangeAnalysis()
        low, high = (-40, 40) if element == index else integer_bounds(element)
        self.columns = [np.arange(low, high + 1), np.arange(3, 60)]
        self.block = Block(arg_types=[element] * 2)
        self.builder = Builder(self.block)
        grids = np.meshgrid(*self.columns, indexing="ij")
        self.values: list[tuple[SSAValue, np.ndarray]] = []
        for argument, column, grid in zip(self.block.args, self.columns, grids, strict=True):
            self.analysis.assume(argument, Interval(int(column[0]), int(column[-1])))
            self.values.append((argument, grid.reshape(-1).astype(numpy_dtype(element))))

    def of_type(self, element: Attribute) -> list[tuple[SSAValue, np.ndarray]]:
        return [(value, array) for value, array in self.values if value.type == element]

    def grow(self) -> None:
        """One more op on values that are there, unless its results have no meaning."""
        draw = self.data.draw
        element = draw(st.sampled_from([value.type for value, _ in self.values]))
        name = draw(st.sampled_from([*TREE_OPS, "const", "cast"]))
        if name == "const":
            number = draw(st.integers(0, 1) if element == i1 else st.sampled_from([0, 1, 2, 3, 4, 7, 8, 16, 64]))
            value = self.builder.const(bool(number) if element == i1 else number, element)
            self.values.append((value, np.full_like(self.of_type(element)[0][1], number)))
            return
        if name == "cast":
            source, array = draw(st.sampled_from(self.of_type(element)))
            target = draw(st.sampled_from([i1, i8, ui8, i16, index]))
            if target != element:
                value = self.builder.pure(CastOp, (source,), (target,)).results[0]
                self.values.append((value, np.asarray(round_to_element(np, array, target))))
            return
        row = ALU[name]
        if not row.accepts(element):
            return
        operands = [draw(st.sampled_from(self.of_type(element))) for _ in range(row.arity)]
        if name == "where":
            conditions = self.of_type(i1)
            if not conditions:
                return
            operands[0] = draw(st.sampled_from(conditions))
        arrays = [array for _, array in operands]
        if ("div" in name or "mod" in name) and not np.all(arrays[1]):
            return
        result = evaluate(np, row, element, arrays)
        if element == index and np.abs(result.astype(float)).max() > 2**20:
            return
        if element == index and name in ("pow", "shl") and np.abs(arrays[1].astype(float)).max() > 6:
            return
        self.values.append((self.builder.alu(name, *(value for value, _ in operands)), result))


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_ranges_of_trees(data: st.DataObject) -> None:
    """Every value of a random expression lies in its range, for all arguments, wrapped around or not."""
    tree = Tree(data, data.draw(st.sampled_from(ELEMENTS)))
    for _ in range(data.draw(st.integers(1, 14))):
        tree.grow()
    for value, array in tree.values:
        found = tree.analysis.of(value)
        assert found is not None
        assert all(found.holds(int(number)) for number in np.unique(array)), (value.owner, found)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_ranges_given_a_condition(data: st.DataObject) -> None:
    """The same where some bool of the expression is true, or false."""
    tree = Tree(data, data.draw(st.sampled_from(ELEMENTS)))
    for _ in range(data.draw(st.integers(4, 16))):
        tree.grow()
    conditions = [(value, array) for value, array in tree.values if value.type == i1]
    if not conditions:
        return
    condition, chosen = data.draw(st.sampled_from(conditions))
    holds = data.draw(st.booleans())
    given_analysis = tree.analysis.given(condition, holds)
    for value, array in tree.values:
        found = given_analysis.of(value)
        assert found is not None
        assert all(found.holds(int(number)) for number in np.unique(array[chosen == holds])), (value.owner, found)


# What is found: the point of it all.


def found_in(text: str) -> dict[str, Range]:
    """The ranges of the values of a kernel, by name."""
    context = UOP_CONTEXT
    module = Parser(context, text).parse_module()
    analysis = RangeAnalysis()
    result: dict[str, Range] = {}
    for op in module.walk():
        for value in (*op.results, *(argument for region in op.regions for argument in region.block.args)):
            known = analysis.of(value)
            if value.name_hint is not None and known is not None:
                result[value.name_hint] = known
    return result


def _context() -> Context:
    context = Context()
    context.load_dialect(Func)
    for name, factory in UOP_UNIVERSE.all_dialects.items():
        context.register_dialect(name, factory)
    return context


UOP_CONTEXT = _context()


def test_ranges_of_a_gpu_kernel() -> None:
    found = found_in("""
gpu_kernel.kernel @k(%out : memref<4096xf32>) outputs 1 grid [6, 2, 1] block 48 arch "sm_90" index_bits 32 {
  %x = gpu_kernel.block_id x
  %y = gpu_kernel.block_id y
  %z = gpu_kernel.block_id z
  %t = gpu_kernel.thread_id
  %l = gpu_kernel.lane_id
  %c4 = uop.const 4 : index
  %t4 = uop.mul %t, %c4 : index
  %row = uop.truncdiv %t, %c4 : index
  %column = uop.truncmod %t4, %c4 : index
  gpu_kernel.for %i = %t4 to 512 step 64 {
    %c16 = uop.const 16 : index
    %i_odd = uop.floormod %i, %c16 : index
  }
  %s = gpu_kernel.alloc : memref<8xi8, "shared">
  %b = gpu_kernel.load %s[%z] : memref<8xi8, "shared"> -> i8
}""")
    assert (found["x"].min, found["x"].max) == (0, 5)
    assert (found["y"].min, found["y"].max) == (0, 1)
    assert (found["z"].min, found["z"].max, found["z"].modulus) == (0, 0, 0)
    assert (found["t"].min, found["t"].max) == (0, 47)
    assert (found["l"].min, found["l"].max) == (0, 31)
    assert (found["row"].min, found["row"].max) == (0, 11)
    assert found["column"].max == 0
    assert (found["i"].min, found["i"].max) == (0, 508)
    assert found["i"].divisible_by(4)
    assert not found["i"].divisible_by(8)
    assert (found["i_odd"].max, found["i_odd"].modulus) == (12, 4)
    assert (found["b"].min, found["b"].max) == (-128, 127)


def test_ranges_given_a_mask() -> None:
    block = Block(arg_types=[index, index])
    builder = Builder(block)
    i, j = block.args
    analysis = RangeAnalysis({i: Interval(0, 99), j: Interval(0, 15)})
    four, limit = builder.const(4, index), builder.const(150, index)
    position = builder.alu("add", builder.alu("mul", i, four), j)
    inside = builder.alu("lt", position, limit)
    inner = analysis.given(inside)
    assert inner.of(i) == Range(Interval(0, 37), Congruence(1, 0))
    assert inner.of(position) is not None
    outside = analysis.given(inside, False)
    assert outside.of(i) == Range(Interval(34, 99), Congruence(1, 0))
    assert analysis.of(i) == Range(Interval(0, 99), Congruence(1, 0))
    multiple = analysis.given(builder.alu("lt", builder.alu("mul", i, four), builder.const(10, index)))
    known = multiple.of(builder.alu("mul", i, four))
    assert known is not None
    assert known.max == 8


def test_branches_of_where_are_refined() -> None:
    block = Block(arg_types=[index])
    builder = Builder(block)
    (i,) = block.args
    analysis = RangeAnalysis({i: Interval(-9, 30)})
    zero = builder.const(0, index)
    clamped = builder.alu("where", builder.alu("lt", i, zero), zero, i)
    assert analysis.interval(clamped) == Interval(0, 30)
    turned = builder.alu("where", builder.alu("gt", zero, i), builder.alu("neg", i), i)
    assert analysis.interval(turned) == Interval(-30, 30)  # the branch that is computed from it is not


def test_constants() -> None:
    block = Block()
    builder = Builder(block)
    seven = builder.const(7, i32)
    assert isinstance(seven.owner, ConstOp)
    assert RangeAnalysis().of(seven) == Range(Interval(7, 7), Congruence(0, 7))


def test_rules_ask_for_ranges() -> None:
    """A replacement sees what a value is modulo some number: `n and 3` of a multiple of 4 is 0."""
    (n,) = variables("n", INTEGER)
    (a,) = constants("a")

    def zero(builder: RewriteBuilder, n: SSAValue, a: int) -> SSAValue | None:
        known = builder.range(n)
        return builder.number(0, n.type) if known is not None and known.divisible_by(a + 1) else None

    module = Parser(
        UOP_CONTEXT,
        """
func.func @f(%n: i32) -> (i32, i32) {
  %c12 = uop.const 12 : i32
  %c3 = uop.const 3 : i32
  %c7 = uop.const 7 : i32
  %0 = uop.mul %n, %c12 : i32
  %1 = uop.and %0, %c3 : i32
  %2 = uop.and %0, %c7 : i32
  func.return %1, %2 : i32, i32
}""",
    ).parse_module()
    assert rewrite(module, Rules(and_[n, a] >> zero)).rewrites == 1
    assert "uop.and %0, %c3" not in str(module)
    assert "uop.and %0, %c7" in str(module)
