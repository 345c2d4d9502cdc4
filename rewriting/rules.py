"""Sets of rewrite rules."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from .matcher import Matcher, compile_matcher
from .patterns import Rule


class Rules:
    """Rules in the order in which they are tried; sets add up with `+`.

    The matcher of an op class is compiled when the first op of that class is met.
    """

    def __init__(self, *rules: Rule | Rules):
        self.rules: tuple[Rule, ...] = tuple(
            rule for item in rules for rule in ((item,) if isinstance(item, Rule) else item)
        )
        self._by_op: dict[type[Operation], list[Rule]] = {}
        for rule in self.rules:
            self._by_op.setdefault(rule.term.head.op, []).append(rule)
        self._matchers: dict[type[Operation], Matcher | None] = {}

    def __add__(self, other: Rules) -> Rules:
        return Rules(self, other)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __len__(self) -> int:
        return len(self.rules)

    def matcher(self, op: type[Operation]) -> Matcher | None:
        """What tries all rules whose root is `op`; None if there are none."""
        if op not in self._matchers:
            rules = self._by_op.get(op)
            self._matchers[op] = compile_matcher(op, rules)[0] if rules else None
        return self._matchers[op]

    def source(self, op: type[Operation]) -> str:
        """The Python that `matcher` runs."""
        return compile_matcher(op, self._by_op.get(op, ()))[1]
