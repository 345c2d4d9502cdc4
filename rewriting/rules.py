"""Sets of rewrite rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from xdsl.ir import Operation

from .dispatch import matcher_by_owners
from .matcher import Matcher, candidates, compile_matcher
from .patterns import Assumption, Rule

FEW = 8
"""As many rules of an op class are compiled at once."""


class Rules:
    """Rules in the order in which they are tried; sets add up with `+`.

    A rule with alternatives is as many rules here. They are made, and the matcher of an op class is compiled, when the
    first op of that class is met.
    """

    def __init__(self, *rules: Rule | Iterable[Rule]):
        self._written: list[Rule] = []
        for item in rules:
            if isinstance(item, Rules):
                self._written += item._written
            else:
                self._written += (item,) if isinstance(item, Rule) else item
        self._matchers: dict[tuple[type[Operation], bool], Matcher | None] = {}
        self._under: dict[frozenset[Assumption], Rules] = {}

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        return _alternatives(self._written)

    def __add__(self, other: Rules) -> Rules:
        return Rules(self, other)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def under(self, assumptions: Collection[Assumption] = ()) -> Rules:
        """The rules that assume nothing but this: by default those that always hold."""
        granted = frozenset(assumptions)
        if granted not in self._under:
            rules = [rule for rule in self._written if rule.assumes <= granted]
            self._under[granted] = self if len(rules) == len(self._written) else Rules(rules)
        return self._under[granted]

    def matcher(self, op: type[Operation], counting: bool = False) -> Matcher | None:
        """What tries all rules whose root is `op`; None if there are none.

        counting: the matcher counts in `rewriter.tried` the ops on which each rule is tried.
        """
        key = op, counting
        if key not in self._matchers:
            rules = self._rules_of(op)
            if not rules:
                self._matchers[key] = None
            elif counting or len(rules) <= FEW:
                self._matchers[key] = compile_matcher(op, candidates(rules), counting)[0]
            else:
                self._matchers[key] = matcher_by_owners(op, rules)
        return self._matchers[key]

    def source(self, op: type[Operation]) -> str:
        """The Python that tries all rules whose root is `op`. `matcher` may run less, which means the same. Raises
        `TypeError` for a rule that makes no sense."""
        return compile_matcher(op, candidates(self._rules_of(op)))[1]

    @cached_property
    def _by_op(self) -> Mapping[type[Operation], Sequence[Rule]]:
        found: dict[type[Operation], list[Rule]] = {}
        for rule in self._written:
            found.setdefault(rule.term.head.op, []).append(rule)
        return found

    def _rules_of(self, op: type[Operation]) -> tuple[Rule, ...]:
        """Those whose root is `op`."""
        return _alternatives(self._by_op.get(op, ()))


def _alternatives(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(alternative for rule in rules for alternative in rule.alternatives)
