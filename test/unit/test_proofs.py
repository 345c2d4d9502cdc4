"""Every rewrite rule is proved, and rules that are wrong are refuted with a counterexample."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Sequence
from math import inf
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.ir import Attribute, SSAValue

import uop.passes
from uop.dialects.semantics import ALU, round_to_element
from uop.dialects.types import bf16, f16
from uop.dialects.uop import ALU_OPS, ReduceOp
from uop.passes.rule_families import RULE_FAMILIES
from uop.passes.uop.rules import REDUCTIONS
from uop.passes.uop.rules.casts import is_same_type
from uop.rewriting.patterns import BITS, BOOL, FLOAT, INDEX, INTEGER, SIGNED, Rule, Term, constants, gcd, op, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import (
    abs,
    add,
    and_,
    cast,
    div,
    eq,
    flip,
    floordiv,
    floormod,
    fma,
    ge,
    gt,
    le,
    lt,
    max,
    min,
    mul,
    ne,
    neg,
    not_,
    or_,
    pad,
    permute,
    reciprocal,
    reshape,
    shl,
    shr,
    sqrt,
    sub,
    truncdiv,
    truncmod,
    where,
    xor,
)
from uop.runtime.interpret.tensors import interpret_function
from uop.runtime.proofs import symbolic_proof
from uop.runtime.proofs.agreement import same_results
from uop.runtime.proofs.instances import Instance
from uop.runtime.proofs.kernels import check_on_kernels
from uop.runtime.proofs.pairs import Side
from uop.runtime.proofs.prove import NO_MEANING, Outcome, prove
from uop.runtime.proofs.samples import some_of
from uop.runtime.proofs.solving import Answer
from uop.runtime.proofs.typings import typings
from uop.tools.uop import main

n, m = variables("n m", INTEGER)
s, t = variables("s t", SIGNED)
i, j = variables("i j", INDEX)
u, v, w = variables("u v w", FLOAT)
d, e = variables("d e", BITS)
x, y = variables("x y")
(p,) = variables("p", BOOL)
a, b, c = constants("a b c")

WRONG_ON_FLOATS = [
    add[u, 0] >> u,  # −0.0 + 0.0 is 0.0
    sub[u, -0.0] >> u,  # −0.0
    sub[0, u] >> neg[u],  # 0.0 − 0.0
    mul[u, 0] >> 0,  # infinity, NaN, negative numbers
    sub[u, u] >> 0,  # infinity, NaN
    div[u, u] >> 1,  # 0, infinity, NaN
    div[mul[u, v], v] >> u,
    div[0, u] >> 0,
    eq[u, u] >> True,  # NaN
    ne[u, u] >> False,  # NaN
    le[u, u] >> True,  # NaN
    not_[lt[u, v]] >> ge[u, v],  # NaN
    neg[sub[u, v]] >> sub[v, u],  # the sign of 0
    add[add[u, a], b] >> add[u, a + b],  # rounding
    add[sub[u, v], v] >> u,  # rounding
    add[add[u, v], w] >> add[u, add[v, w]],  # rounding
    add[mul[u, w], mul[v, w]] >> mul[add[u, v], w],  # rounding, infinity
    div[u, a] >> mul[u, div[1, a]],  # rounding
    mul[u, reciprocal[v]] >> div[u, v],  # rounding
    reciprocal[reciprocal[u]] >> u,  # rounding
    mul[sqrt[u], sqrt[u]] >> u,  # rounding, below 0
    max[u, v] >> where[gt[u, v], u, v],  # NaN
    min[u, v] >> where[lt[v, u], v, u],  # NaN
    max[neg[u], neg[v]] >> neg[max[u, v]],
    max[u, inf] >> inf,  # NaN
    min[u, -inf] >> -inf,  # NaN
    where[lt[u, v], u, v] >> min[u, v],  # NaN
    where[eq[u, v], u, v] >> v,  # 0 and −0
    where[lt[u, 0], neg[u], u] >> abs[u],  # −0.0, and the payload is not compared
]

WRONG_ON_INTEGERS = [
    abs[neg[n]] >> abs[n],  # of unsigned numbers
    abs[s].when(s.min >= -1) >> s,
    neg[abs[s]] >> abs[neg[s]],
    mul[n, 2] >> shl[n, 2],
    truncdiv[i, a].when(a > 0) >> floordiv[i, a],  # below 0
    truncmod[i, a].when(a > 0) >> floormod[i, a],  # below 0
    truncmod[n, 8] >> and_[n, 7],  # below 0
    truncdiv[n, 2] >> shr[n, 1],  # below 0
    floordiv[n, a] >> n,
    floordiv[mul[n, m], m].when(m.min > 0) >> n,  # n · m wraps around
    floordiv[mul[n, a], a].when(a > 0) >> n,  # n · a wraps around
    floordiv[add[mul[i, a], j], a].when(a > 0) >> i,  # j outside [0, a)
    floordiv[add[mul[i, a], b], a].when(a > 0) >> i,  # b outside [0, a)
    floordiv[add[mul[n, a], m], a].when(a > 0, m.min >= 0, m.max < a) >> n,  # n · a wraps around
    truncdiv[add[mul[i, a], j], a].when(a > 0, j.min >= 0, j.max < a) >> i,  # i below 0
    truncmod[add[mul[i, a], j], a].when(a > 0, j.min >= 0) >> truncmod[j, a],  # i below 0
    truncdiv[add[i, mul[truncdiv[j, a], a]], a].when(a > 0, i.min >= 0, i.max < a) >> truncdiv[j, a],  # j below 0
    floormod[n, a].when(n.max < a) >> n,  # below 0
    floordiv[add[i, a], b].when(b > 0) >> add[floordiv[i, b], a // b],  # b does not divide a
    truncdiv[add[i, a], b].when(b > 0, a % b == 0) >> add[truncdiv[i, b], a // b],  # different signs
    truncdiv[add[i, a], b].when(b > 0) >> add[truncdiv[add[i, a % b], b], a // b],  # removal of constants
    floordiv[add[mul[i, 4], -2], 8] >> floordiv[i, 2],  # −2 ÷ 4 rounded towards 0
    floordiv[sub[mul[i, a], b], a].when(a > 0, b >= 0, b < a) >> i,  # a negative numerator
    floordiv[add[mul[i, 2], 1], 6] >> floordiv[add[i, 1], 3],  # gcd without the remainder
    floordiv[mul[i, a], b].when(b > 0) >> mul[i, a // b],
    floordiv[floordiv[i, a], b].when(a > 0) >> floordiv[i, a * b],  # b below 0
    floormod[floormod[i, a], b].when(b > 0) >> floormod[i, b],
    add[mul[floordiv[i, a], a], truncmod[i, a]].when(a > 0) >> i,
    lt[add[n, a], b] >> lt[n, b - a],  # n + a wraps around
    lt[add[n, m], n] >> lt[m, 0],  # n + m wraps around
    lt[mul[i, a], b].when(a > 0) >> lt[i, b // a],  # rounded down
    lt[floordiv[i, a], b].when(a != 0) >> lt[i, a * b],  # a below 0
    lt[neg[n], neg[m]] >> lt[m, n],  # the least number is its own negative
    le[n, m].when(n.min <= m.max) >> True,
    shr[shl[n, a], a] >> n,  # bits that left
    shl[shl[n, a], b] >> shl[n, a + b],  # a + b wraps around, and negative amounts
    min[n, m].when(n.min <= m.max) >> n,
    max[n, m].when(n.max >= m.max) >> n,
    add[n, neg[m]] >> sub[m, n],
    sub[n, m] >> add[n, not_[m]],
    and_[d, or_[d, e]] >> e,
    xor[d, d] >> d,
    floormod[n, a].when(n.min // a == n.max // a) >> n,
    floordiv[add[i, a], b].when(a // b > 0) >> floordiv[i, b],  # the guard divides by zero
    floormod[n, a].when(n.divisible_by(a)) >> 0,  # so does this
    floormod[n, a].when(a != 0, n.divisible_by(2)) >> 0,
    floormod[n, 6].when((n % 3).max == 0) >> 0,
    mul[floordiv[n, 4], 4].when(n.divisible_by(2)) >> n,
    floormod[mul[n, a], a].when(a > 0, n.divisible_by(3)) >> 1,  # of integers that wrap around
    floordiv[add[i, j], a].when(a > 0, (i % a).max + j.max < a) >> floordiv[i, a],  # j below 0
    floordiv[add[i, b], a].when(a > 0, (i % a).min + b >= 0, (i % a).max + b <= a) >> floordiv[i, a],
    floordiv[add[n, m], a].when(a > 0, n.divisible_by(a), m.min >= 0, m.max < a) >> floordiv[n, a],  # n + m wraps
    add[n, m].when(n.divisible_by(8), m.min >= 0, m.max <= 8) >> or_[n, m],
    eq[n, a].when(n.divisible_by(2), a % 3 == 1) >> False,
    floordiv[add[mul[i, a], b], c].when(c > 0, gcd(c, b) > 1)
    >> floordiv[add[mul[i, a], b // gcd(c, b)], c // gcd(c, b)],
    floordiv[mul[i, a], b].when(gcd(a, b) > 1) >> mul[i, a // gcd(a, b)],
    floordiv[mul[n, a], b].when(a > 0, b > 0) >> floordiv[mul[n, a // gcd(a, b)], b // gcd(a, b)],  # wraps around
]


def has_type_of_result(x: SSAValue, result: SSAValue) -> bool:
    """Whether the op gives the type of x."""
    return x.type == result.type


WRONG_ON_TYPES = [
    cast[cast[x]] >> cast[x],  # through a narrowing
    cast[cast[n]] >> cast[n],  # through a narrowing of integers
    cast[y @ cast[x]].when(has_type_of_result) >> x,  # through a narrowing and back
    abs[v @ cast[n]] >> v,
    pad[a] >> a,
    flip[x] >> x,
    permute[x].when(is_same_type) >> x,
    reshape[permute[x]] >> reshape[x],
]


at_one_pair = and_[eq[u, 4.58e-05], eq[v, 1234]]

WRONG_AT_ONE_PAIR = [
    add[u, v] >> where[at_one_pair, u, add[u, v]],
    lt[u, v] >> and_[lt[u, v], not_[at_one_pair]],
    max[u, v] >> where[at_one_pair, u, max[u, v]],
]

ALWAYS_WRONG = [*WRONG_ON_FLOATS, *WRONG_AT_ONE_PAIR, *WRONG_ON_INTEGERS, *WRONG_ON_TYPES]


@pytest.mark.parametrize("rule", ALWAYS_WRONG, ids=str)
def test_wrong_rule_is_refuted(rule: Rule) -> None:
    proof = prove(rule)
    assert proof.outcome is Outcome.REFUTED, proof
    assert proof.detail
    assert "became" in proof.detail or "divides by zero" in proof.detail


def test_counterexample_is_one() -> None:
    detail = prove(lt[add[s, a], b] >> lt[s, b - a]).detail or ""
    numbers = {name: int(number) for name, number in re.findall(r"(\w) = (-?\d+)", detail)}
    total = (numbers["s"] + numbers["a"] + 128) % 256 - 128
    difference = (numbers["b"] - numbers["a"] + 128) % 256 - 128
    assert (total < numbers["b"]) != (numbers["s"] < difference)


@pytest.mark.parametrize(
    "rule",
    [
        floordiv[n, a].when(a > 0, a < 0) >> n,
        floormod[n, 4].when(n.divisible_by(4), (n % 2).min == 1) >> 0,
        floormod[n, 4].when(n.divisible_by(4), n.min >= 5, n.max <= 7) >> 0,
        floormod[i, a].when(a > 2, (i % a).min > (i % a).max) >> 0,
        neg[neg[x]].when(x.uses < 1) >> x,
        add[n, m].when(n.min > n.max) >> n,
        mul[u, True] >> u,
    ],
    ids=str,
)
def test_guard_that_nothing_satisfies_is_noticed(rule: Rule) -> None:
    assert prove(rule).outcome is Outcome.NEVER_FIRES


@pytest.mark.parametrize(
    ("rule", "types"),
    [
        (floormod[n, a].when(a != 0, n.divisible_by(a)) >> 0, 6),
        (mul[floordiv[n, a], a].when(a != 0, n.divisible_by(a)) >> n, 6),
        (and_[n, 7].when(n.divisible_by(8)) >> 0, 6),
        (add[n, m].when(n.divisible_by(8), m.min >= 0, m.max < 8) >> or_[n, m], 6),
        (eq[n, a].when(n.divisible_by(2), a % 2 == 1) >> False, 7),
        (floordiv[add[i, b], a].when(a > 0, (i % a).min + b >= 0, (i % a).max + b < a) >> floordiv[i, a], 1),
        (floordiv[mul[i, a], b].when(b > 0) >> floordiv[mul[i, a // gcd(a, b)], b // gcd(a, b)], 1),
        (neg[y @ neg[x]].when(y.uses > 1) >> x, 10),
        (neg[y @ neg[x]].when(y.one_use) >> x, 10),
    ],
    ids=str,
)
def test_rule_about_remainders_or_uses_is_proved_and_run(rule: Rule, types: int) -> None:
    proof = prove(rule)
    assert proof.is_right, proof
    assert len(proof.types) == types
    assert proof.instances


def test_rule_about_unknown_ops_is_not_proved() -> None:
    proof = prove(add[n, op(arith.AddiOp)[n, m]] >> n)
    assert proof.outcome is Outcome.NO_MEANING
    assert proof.detail == NO_MEANING.format(ops="arith.addi")
    assert not proof.is_right
    assert prove(op(ReduceOp)[n] >> n).outcome is Outcome.UNKNOWN


def test_what_the_solver_does_not_know_is_no_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_up(constraints: Sequence[object], effort: int = 0, seed: int = 0) -> Answer:
        return Answer(None)

    monkeypatch.setattr(symbolic_proof, "solve", give_up)
    proof = prove(add[n, 0] >> n)
    assert proof.outcome is Outcome.UNKNOWN
    assert not proof.is_right


@pytest.mark.parametrize(
    ("rule", "outcome"),
    [
        (mul[u, 0] >> 0, Outcome.REFUTED),
        ((mul[u, 0] >> 0).finite(), Outcome.PROVED),
        ((div[u, u] >> 1).finite(), Outcome.PROVED),  # 0 ÷ 0 is not finite
        (div[u, v] >> mul[u, reciprocal[v]], Outcome.REFUTED),
        ((add[add[u, v], w] >> add[u, add[v, w]]).finite(), Outcome.REFUTED),
        ((add[add[u, v], w] >> add[u, add[v, w]]).up_to_rounding(), Outcome.REFUTED),  # ∞ and overflow
        ((add[add[u, v], w] >> add[u, add[v, w]]).finite().up_to_rounding(), Outcome.PROVED),
        ((add[u, v] >> sub[u, v]).finite().up_to_rounding(), Outcome.REFUTED),
        ((add[u, 0] >> u).finite(), Outcome.PROVED),  # the sign of 0 does not matter
    ],
    ids=str,
)
def test_rule_under_assumptions(rule: Rule, outcome: Outcome) -> None:
    assert prove(rule).outcome is outcome


@pytest.mark.parametrize(
    ("rule", "method", "types"),
    [
        (where[p, x, x] >> x, "z3", 11),
        (add[n, 0] >> n, "z3", 6),
        (neg[neg[u]] >> u, "all f16", 4),
        (neg[neg[u]] >> u, "z3 ∀ f32", 4),
        (where[p, u, u] >> u, "z3 ∀ f64", 5),
        (add[u, neg[v]] >> sub[u, v], "all bf16 × all bf16", 4),
        (mul[cast[p], u] >> mul[u, cast[p]], "all i1 × all f16", 5),
        (reshape[reshape[x]] >> reshape[x], "run on shapes", 3),
    ],
    ids=str,
)
def test_methods(rule: Rule, method: str, types: int) -> None:
    proof = prove(rule)
    assert proof.is_right
    assert method in proof.methods
    assert len(proof.types) == types


@pytest.mark.parametrize("element", [f16, bf16], ids=str)
@pytest.mark.parametrize(
    "term", [fma[u, v, u], mul[add[u, v], v], neg[sub[u, v]], max[mul[u, v], neg[v]], lt[add[u, v], div[v, u]]], ids=str
)
def test_pairs_are_computed_as_the_interpreter_does(element: Attribute, term: Term) -> None:
    (typing,) = (typing for typing in typings(term >> u) if typing.variables["u"] == element)
    instance = Instance(term >> u, typing, {})
    rows, columns = some_of(element, 64), some_of(element, 200)
    first, second = (side.reshape(-1) for side in np.meshgrid(rows, columns, indexing="ij"))
    (expected,) = interpret_function(instance.function(first.size)[0], [first, second])
    wide = rows.astype(np.float32)[:, np.newaxis], columns.astype(np.float32)[np.newaxis, :]
    actual = Side(instance.function(None)[0], wide).results((slice(0, 64), slice(0, 200)))
    with np.errstate(all="ignore"):
        actual = actual if actual.dtype == bool else round_to_element(np, actual, element)
    assert same_results(expected, actual.reshape(-1)).all()


# The project's rules.


def test_all_sets_of_rules_are_listed() -> None:
    listed = {rule for rules in RULE_FAMILIES.values() for rule in rules}
    for info in pkgutil.walk_packages(uop.passes.__path__, "uop.passes."):
        for name, value in vars(importlib.import_module(info.name)).items():
            if isinstance(value, Rules):
                assert listed.issuperset(value), f"{info.name}.{name} is not in passes/rule_families.py"


RULES = [pytest.param(rule, id=f"{family}: {rule}") for family, rules in RULE_FAMILIES.items() for rule in rules]


@pytest.mark.parametrize("rule", RULES[::25])
def test_some_rules_are_proved(rule: Rule) -> None:
    proof = prove(rule)
    assert proof.is_right, proof


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_all_rules_are_proved(rule: Rule) -> None:
    proof = prove(rule)
    assert proof.is_right, proof


def test_reductions_are_proved_on_small_floats_and_positions() -> None:
    fired = {name: wrong for rule in REDUCTIONS for name, _, wrong in check_on_kernels(rule)}
    assert not any(fired.values()), fired
    for family in ("max of an invariant, f16", "max of an invariant, bf16", "argmax of invariants, f32"):
        assert family in fired
    assert any(name.startswith("argmin in a loop") for name in fired)


# The command.


def test_list(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    text = capsys.readouterr().out
    assert all(f"{family} ({len(rules)})" in text for family, rules in RULE_FAMILIES.items())
    assert "add[n, 0] >> n for integer n  " in text
    assert "rules/identities.py:" in text


def test_prove(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--prove", "neg[neg[x]]"]) == 0
    text = capsys.readouterr().out
    assert "proved  neg[neg[x]] >> x" in text
    assert "∀" in text
    assert "1 rules: 1 proved" in text


def test_prove_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "--prove", "--json", "neg[neg[x]]"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["verdict"] == "proved"
    assert row["types"] == ["f64", "f32", "f16", "bf16", "i8", "i16", "i32", "i64", "ui8", "index"]


def test_several_processes_prove_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str] = []
    for jobs in ("1", "3"):
        assert main(["rules", "--prove", "--jobs", jobs, "not["]) == 0
        texts.append(re.sub(r"[\d.]+ s\b", "", capsys.readouterr().out))
    assert texts[0] == texts[1]
    assert " proved; " in texts[0]


def test_no_such_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "no such rule"]) == 1
    assert "no family or rule has no such rule in its name" in capsys.readouterr().err


LOADED = """\
from uop.rewriting.patterns import FLOAT, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import mul

(u,) = variables("u", FLOAT)
RULES = Rules(mul[u, {number}] >> {replacement})
"""


@pytest.mark.parametrize(("number", "replacement", "code"), [("1", "u", 0), ("0", "0", 1)])
def test_loaded_rules(
    number: str, replacement: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(LOADED.format(number=number, replacement=replacement))
    assert main(["rules", "--prove", "--load", str(file), "mine:"]) == code
    text = capsys.readouterr().out
    assert ("proved  mul" if code == 0 else "REFUTED  mul") in text
    assert code == 0 or "u = -0.0: -0.0 became 0.0" in text


OWN_OP = """\
from xdsl.dialects import arith
from uop.dialects.semantics import Semantics
from uop.dialects.uop import alu_op
from uop.rewriting.patterns import INTEGER, op, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import add, neg

(n,) = variables("n", INTEGER)
triple = op(alu_op(Semantics("theirs.triple", 1, "number", "x + x + x", lambda np, x: x + x + x, {}, smt=SMT)))
addi = op(arith.AddiOp)
RULES = Rules(RULE)
"""


@pytest.mark.parametrize(
    ("rule", "smt", "flags", "code", "text"),
    [
        ("neg[triple[n]] >> triple[neg[n]]", "lambda z3, element, x: x * 3", [], 0, "proved  neg"),
        ("neg[triple[n]] >> triple[neg[n]]", "None", [], 0, "proved  neg"),  # by running it
        ("triple[n] >> add[n, n]", "lambda z3, element, x: x * 3", [], 1, "-3 became -2"),
        ("triple[n] >> add[n, n]", "None", [], 1, "became"),
        ("triple[n] >> add[add[n, n], n]", "lambda z3, element, x: x * 2", [], 1, "REFUTED"),  # its meanings differ
        (
            "addi[n, n] >> triple[n]",
            "None",
            [],
            0,
            "no meaning is registered for arith.addi: define the op with alu_op",
        ),
        ("addi[n, n] >> triple[n]", "None", ["--strict"], 1, "NO MEANING  arith.addi[n, n]"),
    ],
)
def test_rules_about_ops_of_ones_own(
    rule: str, smt: str, flags: list[str], code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "theirs.py"
    file.write_text(OWN_OP.replace("SMT", smt).replace("RULE)", f"{rule})"))
    with patch.dict(ALU), patch.dict(ALU_OPS):
        assert main(["rules", "--prove", *flags, "--load", str(file), "theirs:"]) == code
    assert text in capsys.readouterr().out
