"""Matchers of op classes that are the root of many rules: compiled when they are met, each of the rules that may match.

Most rules want operands that certain ops give. Which ops give an op's operands is known before any of them is tried:
it leaves few rules, whose matcher is short, and most of the others are never compiled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xdsl.ir import Block, Operation

from .matcher import Found, Matcher, candidates, compile_matcher
from .patterns import Capture, Constant, Operand, Rule, Term
from .values import READERS

Owners = tuple[type[Operation | Block], ...]
"""The classes of the ops that give an op's operands; `Block` for the argument of a block."""


def matcher_by_owners(op: type[Operation], rules: Iterable[Rule]) -> Matcher:
    """The matcher of the rules whose root is `op`, tried in order."""
    every = candidates(rules)
    compiled: dict[tuple[int, ...], Matcher] = {}
    known: dict[Owners, Matcher] = {}

    def matcher_for(owners: Owners) -> Matcher:
        left = tuple(number for number, (_, term) in enumerate(every) if _may_match(term, owners))
        if left not in compiled:
            compiled[left] = compile_matcher(op, [every[number] for number in left])[0]
        known[owners] = compiled[left]
        return known[owners]

    def match(op: Operation, rewriter: Any) -> Found | None:
        owners = tuple([type(operand.owner) for operand in op._operands])  # pyright: ignore[reportPrivateUsage]  # fast
        return (known.get(owners) or matcher_for(owners))(op, rewriter)

    return match


def _may_match(term: Term, owners: Owners) -> bool:
    """Whether a term can match an op whose operands come from there."""
    if term.operands is None or len(term.operands) != len(owners):
        return True  # it names fields, or takes any number of operands
    return all(map(_may_be, term.operands, owners))


def _may_be(operand: Operand, owner: type[Operation | Block]) -> bool:
    """Whether a pattern can match a value that comes from there."""
    if isinstance(operand, Capture):
        operand = operand.term
    if isinstance(operand, Term):
        return operand.head.op is owner
    return not isinstance(operand, Constant | int | float) or READERS[owner] is not None
