"""The driver of rewrite rules, common subexpressions, loop invariants, and intervals."""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from module_text import parse
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from uop.dialects.axes import AxisKind
from uop.dialects.loop import ReduceOp
from uop.dialects.semantics import ALU, evaluate, numpy_dtype
from uop.dialects.tile import AxisOp
from uop.dialects.types import f32, i1, i8, integer_bounds, ui8
from uop.dialects.uop import AddOp, ConstOp, KernelOp, LoadOp, MulOp, RangeOp
from uop.passes.uop.uop_simplify import simplify
from uop.rewriting.builder import Builder
from uop.rewriting.cse import eliminate_common_subexpressions
from uop.rewriting.diagnostics import PassError
from uop.rewriting.driver import Order, RewriteBuilder, RewriteLimitError, rewrite
from uop.rewriting.hoist import hoist_invariants
from uop.rewriting.interval_arithmetic import INTERVALS, Interval
from uop.rewriting.intervals import IntervalAnalysis
from uop.rewriting.listeners import RewriteListener, listen
from uop.rewriting.locations import UNKNOWN, source_lines
from uop.rewriting.patterns import INTEGER, OpPattern, Rule, constants, variables
from uop.rewriting.rules import Rules
from uop.rewriting.term_text import op_text, term_depth, value_text
from uop.rewriting.vocabulary import add, cast, mul, neg, sub, where

x, y, z = variables("x y z")
n, m = variables("n m", INTEGER)
a, b = constants("a b")


def ops(module: Operation, kind: type[Operation]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


def located(module: ModuleOp) -> ModuleOp:
    """The module whose ops come from lines 1, 2, … of model.py, in the order of the text."""
    for line, op in enumerate(module.walk()):
        op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(line), IntAttr(0))
    return module


SUM = """
func.func @f(%n: i32, %m: i32) -> i32 {
  %one = uop.const 1 : i32
  %two = uop.const 2 : i32
  %0 = uop.add %n, %one : i32
  %1 = uop.add %0, %two : i32
  func.return %1 : i32
}
"""


def test_rule_has_its_text_and_place() -> None:
    rule = add[add[n, a], b].when(a > 0, b % 2 == 0) >> add[n, a + b]
    assert str(rule) == "add[add[n, a], b] >> add[n, a + b] for integer n when a > 0, b % 2 == 0"
    assert rule.place.startswith(__file__)
    assert str(rule.named("sum of constants")) == "sum of constants"


def test_chained_condition_is_refused() -> None:
    with pytest.raises(TypeError, match="give `when` several conditions"):
        mul[n, a].when(0 <= n.min < a)  # pyright: ignore


def test_rewrites_are_counted_and_dead_ops_removed() -> None:
    module = parse(SUM)
    rule = add[add[n, a], b] >> add[n, a + b]
    statistics = rewrite(module, Rules(rule))
    assert statistics.fired == {rule: 1}
    assert statistics.removed == 3  # the inner sum and both constants
    assert [op.number for op in ops(module, ConstOp)] == [3]
    module.verify()


def test_new_ops_have_the_locations_of_what_matched() -> None:
    module = located(parse(SUM))
    inner, outer = (source_lines(op.location)[0] for op in ops(module, AddOp))
    rewrite(module, Rules(add[add[n, a], b] >> add[n, a + b]))
    assert all(source_lines(op.location) == [inner, outer] for op in (*ops(module, AddOp), *ops(module, ConstOp)))


def test_commutative_and_ordered() -> None:
    text = """
func.func @f(%n: i32) -> (i32, i32) {
  %c = uop.const 0 : i32
  %0 = uop.add %c, %n : i32
  %1 = uop.add %n, %c : i32
  func.return %0, %1 : i32, i32
}"""
    assert rewrite(parse(text), Rules(add[n, 0] >> n)).rewrites == 2
    assert rewrite(parse(text), Rules(add.ordered[n, 0] >> n)).rewrites == 1


def test_repeated_variable_is_the_same_value_or_an_equal_constant() -> None:
    rules = Rules(sub[n, n] >> 0)
    text = "func.func @f(%n: i32, %m: i32) -> i32 {{ {} \n func.return %0 : i32 }}"
    constants = "%c = uop.const {} : i32 \n %d = uop.const {} : i32 \n %0 = uop.sub %c, %d : i32"
    assert rewrite(parse(text.format("%0 = uop.sub %n, %n : i32")), rules).rewrites == 1
    assert rewrite(parse(text.format("%0 = uop.sub %n, %m : i32")), rules).rewrites == 0
    assert rewrite(parse(text.format(constants.format(5, 5))), rules).rewrites == 1
    assert rewrite(parse(text.format(constants.format(5, 6))), rules).rewrites == 0


@pytest.mark.parametrize(
    ("number", "matching"),
    [
        ("0 : i32", ["0"]),
        ("0 : ui8", ["0"]),
        ("0.0 : f32", ["0", "0.0"]),
        ("-0.0 : f32", ["-0.0"]),
        ("1.0 : f32", []),
        ("false", ["False"]),
    ],
)
def test_numbers_match_exactly(number: str, matching: list[str]) -> None:
    type = number.split(": ")[1] if ":" in number else "i1"
    for literal in (0, 0.0, -0.0, False):
        module = parse(f"""
func.func @f(%p: i1, %x: {type}) -> {type} {{
  %c = uop.const {number}
  %0 = uop.where %p, %x, %c : {type}
  func.return %0 : {type}
}}""")
        assert rewrite(module, Rules(where[y, x, literal] >> x)).rewrites == (str(literal) in matching)


def test_replacement_by_a_function_may_fail() -> None:
    built: list[Operation] = []

    def give_up(builder: RewriteBuilder, n: SSAValue) -> None:
        built.append(builder.alu("neg", n).owner)  # pyright: ignore[reportArgumentType]

    module = parse(SUM)
    before = str(module)
    assert rewrite(module, Rules(add[n, a] >> give_up)).rewrites == 0
    assert len(built) == 2
    assert str(module) == before


def test_built_values_are_shared() -> None:
    module = parse("""
func.func @f(%n: i32) -> (i32, i32, i32) {
  %c = uop.const 2 : i32
  %0 = uop.mul %n, %c : i32
  %1 = uop.mul %n, %c : i32
  %2 = uop.mul %n, %c : i32
  func.return %0, %1, %2 : i32, i32, i32
}""")
    rewrite(module, Rules(mul[n, 2] >> add[n, add[n, 0]]))
    assert len(ops(module, ConstOp)) == 1
    assert len(ops(module, AddOp)) == 2


def test_rules_that_undo_each_other_are_named() -> None:
    to_sub = (add[x, y] >> sub[x, neg[y]]).named("to sub")
    to_add = (sub[x, neg[y]] >> add[x, y]).named("to add")
    with pytest.raises(RewriteLimitError, match=r"`to (add|sub)`.* and `to (add|sub)` .*test_rewriting.py:"):
        rewrite(parse(SUM), Rules(to_sub, to_add))


def test_rule_that_grows_is_stopped() -> None:
    with pytest.raises(RewriteLimitError, match="grow"):
        rewrite(parse(SUM), Rules((add[x, y] >> add[add[x, y], 1]).named("grow")))


def test_rule_that_changes_the_type_is_named() -> None:
    module = parse("func.func @f(%n: i32) -> i64 { %0 = uop.cast %n : i32 -> i64 \n func.return %0 : i64 }")
    with pytest.raises(PassError, match=r"no cast.*gives a i32 for a i64"):
        rewrite(module, Rules((cast[x] >> x).named("no cast")))


def test_long_chain() -> None:
    """10⁴ sums become one, without recursion."""
    block = Block(arg_types=(i32,))
    builder = Builder(block)
    value: SSAValue = block.args[0]
    for _ in range(10_000):
        value = builder.insert(AddOp.build_on(value, builder.const(1, i32))).results[0]
    block.add_op(ReturnOp(value))
    module = ModuleOp([FuncOp("f", ([i32], [i32]), Region(block))])
    assert rewrite(module, Rules(add[add[n, a], b] >> add[n, a + b])).rewrites == 9_999
    assert [op.number for op in ops(module, ConstOp)] == [10_000]
    module.verify()


def test_any_op_and_replacement_of_ops_without_results() -> None:
    load = OpPattern("load", LoadOp)

    def zero(builder: RewriteBuilder, op: LoadOp) -> SSAValue:
        return builder.const(0.0, op.result.type)

    module = parse("""
uop.kernel @k(%out: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %0 = uop.load %x[%i] : memref<8xf32>
  uop.store %0, %out[%i] : memref<8xf32>
}""")
    assert rewrite(module, Rules(load[...] >> zero)).rewrites == 1
    assert not ops(module, LoadOp)
    module.verify()


def test_bad_rules_say_where_they_are() -> None:
    def wants_q(q: SSAValue) -> bool:
        return True

    for rule, message in [
        (add[x, y, z] >> x, "add takes 2 operands"),
        (add[x, y].when(wants_q) >> x, "binds no q"),
        (add[x, y].when(x.min > 0) >> x, "floats have no x.min"),
        (add[n, a + b] >> n, "in replacements only"),
    ]:
        with pytest.raises(TypeError, match=f"test_rewriting.py:.*{message}"):
            Rules(rule).matcher(AddOp)


# Common subexpressions.

TWICE = """
uop.kernel @k(%out: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %j = uop.range j = 8
  %0 = uop.add %i, %j : index
  %1 = uop.add %j, %i : index
  %2 = uop.mul %0, %1 : index
  %r = loop.reduce %k (k = 8) add : f32 {
    %3 = uop.add %i, %j : index
    %4 = uop.mul %3, %k : index
    %5 = uop.load %x[%3] : memref<8xf32>
    loop.yield %5 : f32
  }
  %s = loop.reduce %k (k = 8) add : f32 {
    %6 = uop.mul %0, %k : index
    %7 = uop.load %x[%6] : memref<8xf32>
    loop.yield %7 : f32
  }
  %8 = uop.load %x[%2] : memref<8xf32>
  %9 = uop.add %r, %s : f32
  %10 = uop.add %9, %8 : f32
  uop.store %10, %out[%2] : memref<8xf32>
}"""


def test_cse_sees_the_blocks_around_but_not_siblings() -> None:
    module = located(parse(TWICE))
    first = ops(module, AddOp)[0]
    lines = [source_lines(op.location)[0] for op in ops(module, AddOp)[:3]]
    assert eliminate_common_subexpressions(module) == 2
    assert len(ops(module, AddOp)) == 3  # one of indices, two of floats
    assert len(ops(module, MulOp)) == 3  # %4 and %6 are in sibling regions
    assert source_lines(first.location) == lines
    module.verify()


def test_cse_keeps_ranges_and_axes_apart() -> None:
    block = Block(
        [RangeOp.of("i", 4), RangeOp.of("i", 4), AxisOp.of("i", 4, AxisKind.THREAD), AxisOp.of("i", 4, AxisKind.THREAD)]
    )

    module = ModuleOp([KernelOp.of("k", [], Region(block))])
    assert eliminate_common_subexpressions(module) == 0


def test_cse_order_of_min_and_max_of_floats_counts() -> None:
    text = """
func.func @f(%x: f32, %y: f32) -> (f32, f32) {
  %0 = uop.max %x, %y : f32
  %1 = uop.max %y, %x : f32
  func.return %0, %1 : f32, f32
}"""
    assert eliminate_common_subexpressions(parse(text)) == 0
    assert eliminate_common_subexpressions(parse(text.replace("f32", "i32"))) == 1


SUM_ORDERS = """
func.func @f(%x: TYPE, %y: TYPE, %z: TYPE) -> (TYPE, TYPE, TYPE) {
  %0 = uop.add %x, %y : TYPE
  %1 = uop.add %0, %z : TYPE
  %2 = uop.add %z, %x : TYPE
  %3 = uop.add %y, %2 : TYPE
  %4 = uop.sub %y, %z : TYPE
  %5 = uop.add %4, %x : TYPE
  func.return %1, %3, %5 : TYPE, TYPE, TYPE
}"""


def test_cse_knows_sums_of_indices_in_every_order() -> None:
    module = parse(SUM_ORDERS.replace("TYPE", "index"))
    assert eliminate_common_subexpressions(module) == 1
    first, second, third = (operand for op in module.walk() if op.name == "func.return" for operand in op.operands)
    assert first is second
    assert first is not third
    # Sums of floats depend on their order; those of other integers are left to the rules.
    for other in ("f32", "i32"):
        assert eliminate_common_subexpressions(parse(SUM_ORDERS.replace("TYPE", other))) == 0


def test_hoisting_leaves_loads_and_what_changes() -> None:
    module = parse(TWICE)
    assert hoist_invariants(module) == 1  # %3
    reduce = ops(module, ReduceOp)[0]
    assert [op.name for op in reduce.body.block.ops] == ["uop.mul", "uop.load", "loop.yield"]
    module.verify()


def test_simplify_keeps_locations() -> None:
    module = located(parse(TWICE))
    simplify(module)
    assert all(op.location != UNKNOWN for op in module.walk())
    module.verify()


# Intervals.


@pytest.mark.parametrize(
    ("name", "element"),
    [
        (name, element)
        for name, row in ALU.items()
        for element in (i8, ui8, i1)
        if name in INTERVALS and row.accepts(element) and name != "where"
    ],
    ids=str,
)
def test_intervals_hold_all_results(name: str, element: Attribute) -> None:
    """Every interval of an ALU op on 8-bit numbers holds all results that the semantics table gives."""
    row = ALU[name]
    low, high = integer_bounds(element)
    ends = sorted({low, low + 1, -9, -3, -1, 0, 1, 2, 5, 8, 100, high - 1, high} & set(range(low, high + 1)))
    intervals = list(itertools.combinations_with_replacement(ends, 2))
    if row.arity == 2 and len(intervals) > 30:
        intervals = intervals[:: len(intervals) // 30]
    for chosen in itertools.product(intervals, repeat=row.arity):
        found = interval_of(name, element, chosen)
        values = [np.arange(low, high + 1).astype(numpy_dtype(element)) for low, high in chosen]
        grids = np.meshgrid(*values, indexing="ij")
        if ("div" in name or "mod" in name) and not np.all(grids[1]):
            continue  # division by zero has no meaning
        result = evaluate(np, row, element, [grid.reshape(-1) for grid in grids])
        assert found.low <= int(result.min()), (chosen, found)
        assert int(result.max()) <= found.high, (chosen, found)


def interval_of(name: str, element: Attribute, operands: Sequence[tuple[int, int]]) -> Interval:
    """What the analysis says of an ALU op on arguments of given intervals."""
    block = Block(arg_types=[element] * len(operands))
    builder = Builder(block)
    analysis = IntervalAnalysis()
    for argument, ends in zip(block.args, operands, strict=True):
        analysis._known[id(argument)] = Interval(*ends)  # pyright: ignore[reportPrivateUsage]
    found = analysis.of(builder.alu(name, *block.args))
    assert found is not None
    return found


def test_intervals_of_sources() -> None:
    module = parse("""
uop.kernel @k(%out: memref<8xf32>) {
  %i = uop.range i = 8
  %ri = tile.axis i = 2 register : vector<2xindex>
  %s = loop.reduce %k (k = 5) max : index {
    loop.yield %k : index
  }
  %c = uop.const 3 : index
  %0 = uop.mul %i, %c : index
  %1 = uop.expand %0 : index -> vector<2xindex>
  %2 = uop.add %1, %ri : vector<2xindex>
  %3 = uop.sub %s, %i : index
}""")
    analysis = IntervalAnalysis()
    block = next(iter(module.ops)).regions[0].block
    known = {op.results[0].name_hint or op.name: analysis.of(op.results[0]) for op in block.ops}
    assert known["i"] == Interval(0, 7)
    assert known["ri"] == Interval(0, 1)
    assert known["uop.add"] == Interval(0, 22)
    assert known["uop.sub"] == Interval(-7, 4)  # the greatest of 0 … 4, less 0 … 7
    (reduce,) = ops(module, ReduceOp)
    assert analysis.of(reduce.index) == Interval(0, 4)
    assert analysis.of(Block(arg_types=(TensorType(f32, [2]),)).args[0]) is None


# Listeners and orders.


class Recorder(RewriteListener):
    counts_tries = True

    def __init__(self) -> None:
        self.rewrites: list[str] = []
        self.tries: dict[str, int] = {}

    def rewriting(self, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]) -> None:
        self.rewrites.append(f"{op_text(op, term_depth(rule.term))} → {value_text(values[0], built)}")

    def tried(self, counts: Mapping[Rule, int]) -> None:
        self.tries = {str(rule): count for rule, count in counts.items()}


def test_listeners_see_rewrites_and_tries() -> None:
    fold, never = (add[add[n, a], b] >> add[n, a + b]).named("fold"), (sub[x, x] >> x).named("never")
    after = (add[n, 0] >> n).named("after")
    module = parse(SUM)
    with listen(recorder := Recorder()):
        rewrite(module, Rules(fold, never, after))
    assert recorder.rewrites == ["add(add(%n, 1), 2) → add(%n, 3)"]
    assert recorder.tries == {"fold": 3, "after": 2}  # each sum, and the new one; `after` where `fold` did not apply
    with listen(recorder := Recorder()):
        pass
    rewrite(parse(SUM), Rules(fold))
    assert not recorder.rewrites


NEGATIONS = """
func.func @f(%n: i32) -> i32 {
  %0 = uop.neg %n : i32
  %1 = uop.neg %0 : i32
  %2 = uop.neg %1 : i32
  func.return %2 : i32
}"""


def test_top_down_rewrites_the_largest_term_first() -> None:
    rules = Rules((neg[neg[neg[x]]] >> neg[x]).named("three"), (neg[neg[x]] >> x).named("two"))
    fired = {order: rewrite(parse(NEGATIONS), rules, order=order).fired for order in (Order.BOTTOM_UP, Order.TOP_DOWN)}
    assert [rule.name for rule in fired[Order.BOTTOM_UP]] == ["two"]
    assert [rule.name for rule in fired[Order.TOP_DOWN]] == ["three"]


def test_top_down_comes_to_the_same_end() -> None:
    module = parse(SUM)
    rewrite(module, Rules(add[add[n, a], b] >> add[n, a + b], add[n, 3] >> sub[n, 7]), order=Order.TOP_DOWN)
    assert [op.number for op in ops(module, ConstOp)] == [7]
    module.verify()


def test_one_sweep_does_not_visit_what_it_builds() -> None:
    module = parse(SUM)
    statistics = rewrite(module, Rules((add[x, y] >> add[add[x, y], 1]).named("grow")), order=Order.ONE_SWEEP)
    assert statistics.rewrites == 2
    assert len(ops(module, AddOp)) == 4
    module.verify()


def test_nested_isolated_ops_do_not_share() -> None:
    """Constants are built once in each function, and not taken from the module around it."""
    text = SUM.replace("@f", "@g")
    module = parse(SUM + text)
    rewrite(module, Rules(add[n, 1] >> sub[n, -1], add[n, 2] >> sub[n, -2]))
    assert len(ops(module, ConstOp)) == 4
    module.verify()


def test_hash_consing_knows_both_orders_and_not_the_dead() -> None:
    block = Block(arg_types=(i32, i32))
    p, q = block.args
    builder = Builder(block)
    total = builder.alu("add", p, q)
    assert builder.alu("add", q, p) is total
    assert builder.alu("sub", p, q) is not builder.alu("sub", q, p)
    assert isinstance(total.owner, Operation)
    total.owner.operands[0] = q  # a key made of operands that are no more
    assert builder.alu("add", p, q) is not total
