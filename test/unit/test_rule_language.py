"""What rules can say: each part of the language matches what it should, and nothing else."""

from collections.abc import Sequence
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import Builtin, ModuleOp, StringAttr
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test, TestPureOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.traits import Commutative, Pure

from uop.dialects import get_all_dialects
from uop.dialects.monoids import MonoidAttr
from uop.dialects.types import bf16, f16, f32
from uop.dialects.uop import AddOp, ConstOp, LoadOp, NegOp, ReduceAxisOp, SubOp
from uop.rewriting.driver import RewriteBuilder, rewrite
from uop.rewriting.patterns import (
    FLOAT,
    INTEGER,
    RESULT,
    Assumption,
    PropertyPattern,
    Rule,
    any_of,
    attributes,
    constants,
    exactly,
    gcd,
    op,
    operands,
    variables,
)
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import abs, add, cast, floormod, mul, neg, sub, where

x, y, z = variables("x y z")
n, m = variables("n m", INTEGER)
a, b = constants("a b")
xs, ys = operands("xs ys")


@irdl_op_definition
class MixOp(IRDLOperation):
    """An op of somebody else's."""

    name = "mine.mix"
    lhs = operand_def()
    rhs = operand_def()
    weight = prop_def(StringAttr)
    note = opt_prop_def(StringAttr)
    result = result_def()
    traits = traits_def(Pure(), Commutative())


@irdl_op_definition
class PickOp(IRDLOperation):
    name = "mine.pick"
    first = operand_def()
    rest = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())


@irdl_op_definition
class MaybeOp(IRDLOperation):
    name = "mine.maybe"
    first = operand_def()
    second = opt_operand_def()
    result = result_def()
    traits = traits_def(Pure())


mix, pick, maybe = op(MixOp), op(PickOp), op(MaybeOp)


def parse(body: str, arguments: str = "%n: i32, %m: i32, %u: f32, %v: f32", results: str = "i32") -> ModuleOp:
    """A module with a function of this body, which defines %r."""
    ctx = Context()
    for dialect in (Builtin, Func, arith.Arith, Test):
        ctx.load_dialect(dialect)
    for cls in (MixOp, PickOp, MaybeOp):
        ctx.load_op(cls)
    for name, factory in get_all_dialects().items():
        ctx.register_dialect(name, factory)
    text = f"func.func @f({arguments}) -> {results} {{\n{body}\nfunc.return %r : {results}\n}}"
    module = Parser(ctx, text).parse_module()
    module.verify()
    return module


def ops(module: Operation, kind: type[Operation]) -> list[Any]:
    return [op for op in module.walk() if isinstance(op, kind)]


def fires(rule: Rule | Sequence[Rule], body: str, results: str = "i32") -> int:
    """How often a rule fires in a function."""
    module = parse(body, results=results)
    rewrites = rewrite(module, Rules(rule)).rewrites
    module.verify()
    return rewrites


# Alternatives.

SUM = "%r = uop.add %n, %m : i32"
DIFFERENCE = "%r = uop.sub %n, %m : i32"
PRODUCT = "%r = uop.mul %n, %m : i32"


def test_one_of_several_ops() -> None:
    rules = (add | sub)[x, y] >> x
    assert [str(rule) for rule in rules] == ["add[x, y] >> x", "sub[x, y] >> x"]
    assert [fires(rules, body) for body in (SUM, DIFFERENCE, PRODUCT)] == [1, 1, 0]


def test_ops_that_stand_twice_are_the_same() -> None:
    """`neg` moves into a sum and into a difference, and the op stays what it is."""
    either = add | sub
    module = parse("%0 = uop.sub %n, %m : i32 \n %r = uop.neg %0 : i32")
    rules = Rules(neg[either[n, m]] >> either[neg[n], neg[m]])
    assert [rule.term.operands[0].head.op for rule in rules if rule.term.operands] == [AddOp, SubOp]  # pyright: ignore
    assert rewrite(module, rules).rewrites == 1
    assert ops(module, SubOp)
    assert not ops(module, AddOp)


def test_alternative_operands() -> None:
    rule = mul[x, any_of(2, neg[y])] >> x
    assert [str(one) for one in Rules(rule)] == ["mul[x, 2] >> x", "mul[x, neg[y]] >> x"]
    assert fires(rule, "%c = uop.const 2 : i32 \n %r = uop.mul %c, %n : i32") == 1
    assert fires(rule, "%0 = uop.neg %m : i32 \n %r = uop.mul %n, %0 : i32") == 1
    assert fires(rule, PRODUCT) == 0


def test_alternative_terms_and_their_names() -> None:
    rules = (add[x, 0] | sub[x, 0]).when(x.one_use) >> x
    assert [str(rule) for rule in rules] == ["add[x, 0] >> x when x.one_use", "sub[x, 0] >> x when x.one_use"]
    assert [str(rule) for rule in rules.named("neutral")] == ["neutral: add[x, 0]", "neutral: sub[x, 0]"]
    nested = (neg[add[x, y] | sub[x, y]] >> x).named("inside")
    assert [str(rule) for rule in Rules(nested)] == ["inside: neg[add[x, y]] >> x", "inside: neg[sub[x, y]] >> x"]
    captured = neg[z @ (add[x, y] | sub[x, y])] >> z
    assert fires(captured, f"{DIFFERENCE.replace('%r', '%0')} \n %r = uop.neg %0 : i32") == 1


# Operands.


def test_any_number_of_operands() -> None:
    body = '%r = "mine.pick"(%n, %m, %n) : (i32, i32, i32) -> i32'
    counts: list[int] = []

    def count(builder: RewriteBuilder, xs: Sequence[SSAValue]) -> None:
        counts.append(len(xs))

    for term in (pick[xs], pick[x, xs], pick[x, xs, y], pick[x, y, z, xs]):
        assert fires(term >> count, body) == 0
    assert counts == [3, 2, 1, 0]
    assert fires(pick[x, xs, x] >> x, body) == 1
    assert fires(pick[x, xs, y, y] >> x, body) == 0
    assert fires(pick[x, y, z, n, xs] >> x, body) == 0


def test_any_number_of_operands_in_replacement() -> None:
    module = parse('%0 = "mine.maybe"(%n) : (i32) -> i32 \n %r = "mine.maybe"(%0, %m) : (i32, i32) -> i32')
    assert rewrite(module, Rules(maybe[maybe[x], xs] >> neg[x])).rewrites == 1
    many = op(TestPureOp)
    module = parse('%0 = "test.pureop"(%n, %m) : (i32, i32) -> i32 \n %r = uop.neg %0 : i32')

    def reversed_operands(builder: RewriteBuilder, op: TestPureOp, xs: Sequence[SSAValue]) -> SSAValue:
        return builder.any_op(TestPureOp, xs[::-1], (op.results[0].type,), {}).results[0]

    rewrite(module, Rules(many[xs].when(lambda xs: xs[0].name_hint == "n") >> reversed_operands))  # pyright: ignore
    assert [operand.name_hint for operand in ops(module, TestPureOp)[0].operands] == ["m", "n"]


def test_one_operand_that_does_not_matter() -> None:
    assert str(where[..., x, x] >> x) == "where[..., x, x] >> x"
    body = "%p = uop.lt %n, %m : i32 \n %r = uop.where %p, %n, {} : i32"
    assert fires(where[..., x, x] >> x, body.format("%n")) == 1
    assert fires(where[..., x, x] >> x, body.format("%m")) == 0
    assert fires(add[..., ...] >> (lambda builder, op: op.operands[1]), SUM) == 1  # pyright: ignore


def test_operands_by_name() -> None:
    load = op(LoadOp)
    text = """
uop.kernel @k(%out: memref<8xf32>, %x: memref<8xf32>) {
  %i = uop.range i = 8
  %c = uop.const 4 : index
  %p = uop.lt %i, %c : index
  %0 = uop.load %x[%i] : memref<8xf32>
  %1 = uop.load %x[%i] mask %p : memref<8xf32>
  %2 = uop.add %0, %1 : f32
  uop.store %2, %out[%i] : memref<8xf32>
}
func.func @f(%n: i32) -> i32 { func.return %n : i32 }"""

    def zero(builder: RewriteBuilder, result: SSAValue) -> SSAValue | None:
        return builder.number(0, result.type)

    for term, expected in [
        (load(buffer=x, mask=None), 1),
        (load(mask=y), 1),
        (load(indices=xs), 2),
        (load(mask=neg[y]), 0),
    ]:
        ctx = Context()
        ctx.load_dialect(Builtin)
        ctx.load_dialect(Func)
        for name, factory in get_all_dialects().items():
            ctx.register_dialect(name, factory)
        module = Parser(ctx, text).parse_module()
        assert rewrite(module, Rules(term >> zero)).rewrites == expected, str(term)
    assert str(load(buffer=x, mask=None) >> zero) == "load(buffer=x, mask=None) >> zero"
    with pytest.raises(TypeError, match=r"uop.load has no masc: its fields are buffer, indices, mask"):
        load(masc=x)
    with pytest.raises(TypeError, match="indices of load is any number of operands"):
        Rules(load(indices=x) >> zero).matcher(LoadOp)
    assert str(mix(rhs=0) >> x) == "mix[..., 0] >> x".replace("mix", "mine.mix")


# Attributes.

MIX = '%r = "mine.mix"(%n, %m) <{{weight = "{}"}}> : (i32, i32) -> i32'


def test_properties() -> None:
    (weight,) = attributes("weight")

    def starts_with_h(attribute: Attribute) -> bool:
        assert isinstance(attribute, StringAttr)
        return attribute.data.startswith("h")

    cases: list[tuple[PropertyPattern, int]] = [
        ("heavy", 1),
        ("light", 0),
        (StringAttr("heavy"), 1),
        (StringAttr("light"), 0),
        (starts_with_h, 1),
        (weight, 1),
    ]
    for pattern, expected in cases:
        assert fires(mix[x, y].having(weight=pattern) >> x, MIX.format("heavy")) == expected
    assert fires(mix[x, y].having(note=None) >> x, MIX.format("heavy")) == 1
    assert fires(mix[x, y].having(note=weight) >> x, MIX.format("heavy")) == 0


def test_property_that_stands_twice_is_equal() -> None:
    (weight,) = attributes("weight")
    rule = mix[mix[x, y].having(weight=weight), z].having(weight=weight) >> mix[y, z].having(weight=weight)
    body = MIX.format("{}").replace("%r", "%0").replace("{{", "{").replace("}}", "}")
    for inner, outer, expected in (("a", "a", 1), ("a", "b", 0)):
        outer_op = f'%r = "mine.mix"(%0, %m) <{{weight = "{outer}"}}> : (i32, i32) -> i32'
        inner_op = f'%0 = "mine.mix"(%n, %m) <{{weight = "{inner}"}}> : (i32, i32) -> i32'
        module = parse(f"{inner_op}\n{outer_op}")
        assert rewrite(module, Rules(rule)).rewrites == expected, body
        if expected:
            assert [op.weight.data for op in ops(module, MixOp)] == ["a"]


def test_axes_and_monoid_of_a_reduction() -> None:
    """Two sums in a row are one, over the axes of both."""
    reduce_axis = op(ReduceAxisOp)
    rule = reduce_axis[x].having(monoid="add", axes=(0, 2)) >> x
    body = "%r = uop.reduce_axis {} %t axes [{}] : (tensor<1x3x1xf32>) -> tensor<1x{}x1xf32>"
    for monoid, axes, kept, expected in (("add", "0, 2", 3, 1), ("max", "0, 2", 3, 0), ("add", "1, 2", 1, 0)):
        tensor = f"tensor<1x{kept}x1xf32>"
        module = parse(body.format(monoid, axes, kept), "%t: tensor<1x3x1xf32>", tensor)
        assert rewrite(module, Rules(rule)).rewrites == expected


def test_two_reductions_are_one() -> None:
    """Terms of an op that may have several results match where it has one; properties are carried over."""
    reduce_axis = op(ReduceAxisOp)
    (axes,) = attributes("axes")
    rule = (
        reduce_axis[neg[reduce_axis[x].having(monoid="max", axes=axes)]].having(monoid="max", axes=axes)
        >> (neg[reduce_axis[x].having(monoid=MonoidAttr("max"), axes=axes)])
    )
    for axis, inner, outer, expected in ((1, "2x1", "2x1", 1), (0, "2x1", "1x1", 0)):
        body = f"""
%0 = uop.reduce_axis max %t axes [1] : (tensor<2x3xf32>) -> tensor<{inner}xf32>
%1 = uop.neg %0 : tensor<{inner}xf32>
%r = uop.reduce_axis max %1 axes [{axis}] : (tensor<{inner}xf32>) -> tensor<{outer}xf32>"""
        module = parse(body, "%t: tensor<2x3xf32>", f"tensor<{outer}xf32>")
        assert rewrite(module, Rules(rule)).rewrites == expected
        assert len(ops(module, ReduceAxisOp)) == 2 - expected
        module.verify()


# Types and uses.


def test_exact_element_types() -> None:
    (h,) = variables("h", exactly(f16, bf16))
    assert str(neg[neg[h]] >> h) == "neg[neg[h]] >> h for f16 or bf16 h"
    for type, expected in (("f16", 1), ("bf16", 1), ("f32", 0), ("tensor<4xf16>", 1), ("i16", 0)):
        module = parse(f"%0 = uop.neg %u : {type} \n %r = uop.neg %0 : {type}", f"%u: {type}", type)
        assert rewrite(module, Rules(neg[neg[h]] >> h)).rewrites == expected


def test_types_in_guards() -> None:
    rule = cast[x].when(x.type == RESULT.type) >> x
    assert str(rule) == "cast[x] >> x when x.type == result.type"
    assert fires(rule, "%r = uop.cast %n : i32 -> i32") == 1
    assert fires(rule, "%r = uop.cast %n : i32 -> i64", "i64") == 0
    for guard, expected in ((x.dtype == f32, 0), (x.dtype != f32, 1), (x.dtype == y.dtype, 1), (x.type != y.type, 0)):
        assert fires(add[x, y].when(guard) >> y, SUM) == expected
    with pytest.raises(TypeError, match="not true or false yet"):
        add[x, y].when(x.dtype == f32 and y.dtype == f32)


@pytest.mark.parametrize("uses", [1, 2, 3])
def test_uses(uses: int) -> None:
    steps = ["%0 = uop.neg %n : i32", "%1 = uop.neg %0 : i32"]
    steps += [f"%{number + 1} = uop.sub %{number}, %0 : i32" for number in range(1, uses)]
    body = "\n".join((*steps, f"%r = uop.mul %{uses}, %m : i32"))
    for condition, holds in (
        (z.uses == 2, uses == 2),
        (z.uses != 2, uses != 2),
        (z.uses < 2, uses < 2),
        (z.uses <= 2, uses <= 2),
        (z.uses > 2, uses > 2),
        (z.uses >= 2, uses >= 2),
        (z.one_use, uses == 1),
        (z.uses == 1, uses == 1),
    ):
        assert fires(neg[z @ neg[x]].when(condition) >> x, body) == holds, str(condition)
    assert str(z.uses < 2) == "z.uses < 2"
    assert str(z.uses == 1) == "z.one_use"


# Remainders.


def positions(term: str) -> str:
    """A function's body that divides an index by 4."""
    return f"""
%t = uop.const 3 : index
%s = uop.const 6 : index
%two = uop.const 2 : index
%i = uop.cast %n : i32 -> index
%four = uop.const 4 : index
%0 = {term} : index
%1 = uop.floormod %0, %four : index
%r = uop.cast %1 : index -> i32"""


@pytest.mark.parametrize(
    ("term", "low", "high"),
    [
        ("uop.add %i, %t", 0, 3),
        ("uop.mul %i, %four", 0, 0),
        ("uop.mul %i, %s", 0, 2),
        ("uop.min %two, %t", 2, 2),
        ("uop.shl %i, %two", 0, 0),
    ],
)
def test_remainders(term: str, low: int, high: int) -> None:
    """Guards know what intervals and congruences tell of a remainder."""
    for guard, holds in (
        ((n % a).min == low, True),
        ((n % a).max == high, True),
        ((n % a).min > low, False),
        ((n % a).max < high, False),
        (n.divisible_by(a), high == 0),
        (n.divisible_by(a + a - 4), high == 0),
        ((n % 4).max - (n % 4).min == high - low, True),
    ):
        assert fires(floormod[n, a].when(guard) >> n, positions(term)) == holds, str(guard)
    assert fires(floormod[n, a].when((n % a).max < 4) >> (n % a).max, positions(term)) == 1


def test_common_divisors() -> None:
    rule = floormod[n, a].when(gcd(a, 6, a + 2) == 2, gcd(a, 6) > 1) >> gcd(4, a)
    assert str(rule).startswith("floormod[n, a] >> gcd(4, a) for integer n when gcd(gcd(a, 6), a + 2) == 2")
    module = parse(positions("uop.add %i, %t"))
    assert rewrite(module, Rules(rule)).rewrites == 1
    assert any(op.number == 4 for op in ops(module, ConstOp))


def test_text_of_remainders() -> None:
    rule = floormod[n, a].when(a != 0, n.divisible_by(a + 1), (n % (a * 2)).min >= 0) >> 0
    assert str(rule).endswith("for integer n when a != 0, n.divisible_by(a + 1), (n % (a * 2)).min >= 0")
    with pytest.raises(TypeError, match=r"floats have no \(x % 2\).min"):
        Rules(neg[x].when(x.divisible_by(2)) >> x).matcher(NegOp)
    with pytest.raises(TypeError, match="the term binds no b"):
        Rules(neg[n].when(n.divisible_by(b)) >> n).matcher(NegOp)


# Ops of other dialects.


def test_any_op_of_any_dialect() -> None:
    addi, muli = op(arith.AddiOp, constant=arith.ConstantOp), op(arith.MuliOp, constant=arith.ConstantOp)
    assert addi.commutative
    module = parse("""
%c = arith.constant 3 : i32
%z = arith.constant 0 : i32
%0 = arith.addi %c, %n : i32
%1 = arith.addi %0, %c : i32
%2 = arith.muli %1, %z : i32
%r = arith.addi %1, %2 : i32""")
    rules = Rules(addi[x, 0] >> x, addi[addi[x, a], b] >> addi[x, a + b], muli[x, 0] >> 0)
    assert rewrite(module, rules).rewrites == 3
    assert [op.value.value.data for op in ops(module, arith.ConstantOp)] == [6]
    assert len(ops(module, arith.AddiOp)) == 1
    module.verify()


def test_replacement_of_another_type() -> None:
    (result_type,) = variables("t")
    rule = cast[cast[result_type @ neg[x]]] >> cast[abs[x].of_type(x)]
    assert fires(rule, "%0 = uop.neg %n : i32 \n %1 = uop.cast %0 : i32 -> f32 \n %r = uop.cast %1 : f32 -> i64", "i64")


def test_what_cannot_be_built_is_refused() -> None:
    for rule, message in [
        (neg[x] >> mix[x, x], "mine.mix is built without weight"),
        (neg[x] >> mix[x].having(weight=StringAttr("a")), "mine.mix takes 2 operands"),
        (neg[x] >> op(LoadOp)[x, xs], "use a function to build load"),
        (neg[x] >> mix[x, x].having(weight="a"), "must be an attribute"),
        (neg[x] >> neg[y], "binds no y"),
        (neg[xs] >> x, "always takes 1 operands"),
        (pick[xs, ys] >> x, "two patterns for any number"),
    ]:
        with pytest.raises(TypeError, match=f"test_rule_language.py:.*{message}"):
            Rules(rule).matcher(rule.term.head.op)


# What a rule assumes.


def test_rules_that_assume_are_used_only_where_granted() -> None:
    (u,) = variables("u", FLOAT)
    exact, finite, rounding = sub[u, -0.0] >> u, (sub[u, u] >> 0).finite(), (neg[u] >> u).up_to_rounding()
    assert not exact.assumes
    assert finite.assumes == {Assumption.FINITE}
    assert finite.up_to_rounding().assumes == set(Assumption)
    rules = Rules(exact, finite, rounding)
    assert list(rules.under()) == [exact]
    assert list(rules.under({Assumption.FINITE})) == [exact, finite]
    body = "%0 = uop.sub %u, %u : f32 \n %r = uop.neg %0 : f32"
    for assuming, fired in (((), []), ((Assumption.FINITE,), [finite]), (tuple(Assumption), [finite, rounding])):
        module = parse(body, results="f32")
        assert list(rewrite(module, rules, assuming=frozenset(assuming)).fired) == fired


def test_attribute_is_bound_for_functions() -> None:
    (weight,) = attributes("weight")
    seen: list[StringAttr] = []

    def is_heavy(weight: StringAttr) -> bool:
        seen.append(weight)
        return weight.data == "heavy"

    rule = mix[x, y].having(weight=weight).when(is_heavy) >> x
    assert (fires(rule, MIX.format("heavy")), fires(rule, MIX.format("light"))) == (1, 0)
    assert {attribute.data for attribute in seen} == {"heavy", "light"}


# Generated code.


def test_rules_that_share_their_first_tests_are_tried_in_order() -> None:
    """The code of rules in a row shares what they begin with, and each sees operands in the order that it asks for."""
    nested = add[add[x, 1], y] >> x, add.ordered[add.ordered[x, 2], y] >> y, add[add.ordered[2, x], y] >> x
    body = "%one = uop.const 1 : i32 \n %two = uop.const 2 : i32 \n %0 = uop.add {} : i32 \n %r = uop.add %0, %m : i32"
    for operands_, expected in (
        ("%one, %n", nested[0]),
        ("%n, %one", nested[0]),
        ("%n, %two", nested[1]),
        ("%two, %n", nested[2]),
        ("%two, %one", nested[0]),
    ):
        module = parse(body.format(operands_))
        assert list(rewrite(module, Rules(*nested)).fired) == [expected], operands_


def test_size_of_code_does_not_grow_with_orders() -> None:
    deep = add[add[add[add[add[x, 1], 2], 3], 4], 5] >> x
    assert len(Rules(deep).source(AddOp).splitlines()) < 100
    assert (
        fires(
            deep,
            "\n".join(
                [f"%c{i} = uop.const {i} : i32" for i in range(1, 6)]
                + ["%s1 = uop.add %c1, %n : i32"]
                + [
                    f"%s{i} = uop.add {f'%s{i - 1}, %c{i}' if i % 2 else f'%c{i}, %s{i - 1}'} : i32"
                    for i in range(2, 5)
                ]
                + ["%r = uop.add %s4, %c5 : i32"]
            ),
        )
        == 1
    )
