"""Matchers that are compiled for the ops which give operands: they find what a matcher of all rules finds."""

from collections.abc import Sequence

import pytest
from module_text import parse
from xdsl.ir import Operation

from uop.dialects.uop import AddOp, AndOp
from uop.passes.uop.rules import SIMPLIFY
from uop.rewriting import dispatch
from uop.rewriting.dispatch import matcher_by_owners
from uop.rewriting.driver import Rewriter
from uop.rewriting.matcher import Candidate, Matcher, candidates, compile_matcher
from uop.rewriting.patterns import constants, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import add, mul, neg, sub

x, y = variables("x y")
a, b = constants("a b")

SUMS = """
func.func @f(%n: i32, %m: i32, %c: i1, %f: f32) -> (i32, i32, i32, i32, i1, i1, f32) {
  %zero = uop.const 0 : i32
  %one = uop.const 1 : i32
  %minus = uop.neg %n : i32
  %product = uop.mul %n, %m : i32
  %twice = uop.mul %product, %m : i32
  %0 = uop.add %n, %minus : i32
  %1 = uop.add %zero, %twice : i32
  %2 = uop.add %1, %one : i32
  %3 = uop.add %2, %one : i32
  %4 = uop.add %minus, %product : i32
  %true = uop.const true
  %less = uop.lt %n, %m : i32
  %greater = uop.ge %n, %m : i32
  %5 = uop.and %less, %true : i1
  %6 = uop.and %less, %greater : i1
  %none = uop.const 0.0 : f32
  %7 = uop.add %f, %none : f32
  func.return %0, %1, %3, %4, %5, %6, %7 : i32, i32, i32, i32, i1, i1, f32
}
"""


def fired(rules: Rules, *, by_owners: bool) -> list[str | None]:
    """The rule that is found for each sum and conjunction of `SUMS`."""
    module = parse(SUMS)
    rewriter = Rewriter(module, rules)
    found: list[str | None] = []
    for op in [op for op in module.walk() if isinstance(op, AddOp | AndOp)]:
        roots = [rule for rule in rules if rule.term.head.op is type(op)]
        match = matcher_by_owners(type(op), roots) if by_owners else compile_matcher(type(op), candidates(roots))[0]
        result = match(op, rewriter)
        found.append(None if result is None else result[0].name)
    return found


def test_the_first_rule_that_applies_is_found() -> None:
    rules = Rules(
        add[x, neg[y]] >> sub[x, y],
        add[add[x, a], b] >> x,
        add[x, 0] >> x,
        add[x, mul[y, y]] >> y,
    )
    assert fired(rules, by_owners=True) == fired(rules, by_owners=False)


def test_all_simplifications() -> None:
    found = fired(SIMPLIFY.under(), by_owners=True)
    assert found == fired(SIMPLIFY.under(), by_owners=False)
    assert len(set(found)) > 4


def test_rules_that_cannot_match_are_not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    every = len(candidates(rule for rule in SIMPLIFY.under() if rule.term.head.op is AddOp))
    compiled: list[int] = []

    def counted(op: type[Operation], candidates: Sequence[Candidate]) -> tuple[Matcher, str]:
        compiled.extend([len(candidates)] if op is AddOp else [])
        return compile_matcher(op, candidates)

    monkeypatch.setattr(dispatch, "compile_matcher", counted)
    fired(SIMPLIFY.under(), by_owners=True)
    assert compiled
    assert max(compiled) < every / 2
