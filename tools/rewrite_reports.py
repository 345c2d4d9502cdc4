"""`--debug-rewrites` and `--pass-statistics`: what the rules do in each pass."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.ir import Operation, SSAValue

from ..rewriting.listeners import RewriteListener, listen
from ..rewriting.locations import source_lines
from ..rewriting.patterns import Rule
from ..rewriting.term_text import op_text, term_depth, value_text
from .pass_run import PassInstrumentation, PassRun


class RewriteReport(PassInstrumentation, RewriteListener):
    """A listener that knows which pass runs."""

    def __init__(self) -> None:
        self.run: PassRun | None = None

    def before_pass(self, run: PassRun) -> None:
        self.run = run

    @property
    def pass_name(self) -> str:
        return "(no pass)" if self.run is None else self.run.name


class DebugRewrites(RewriteReport):
    """Prints each rewrite on standard error: its rule, its place, and the term before and after."""

    def rewriting(self, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]) -> None:
        print(rewrite_text(self.pass_name, rule, op, built, values), file=sys.stderr)


@dataclass
class _PassRows:
    """What happened in all runs of one pass."""

    name: str
    fired: Counter[Rule] = field(default_factory=Counter[Rule])
    tried: Counter[Rule] = field(default_factory=Counter[Rule])
    others: Counter[str] = field(default_factory=Counter[str])

    def lines(self) -> list[str]:
        rules = sorted(self.tried | self.fired, key=lambda rule: (-self.fired[rule], -self.tried[rule]))
        lines = [self.name, *(f"  {count:6} {what}" for what, count in self.others.items())]
        if rules:
            lines.append("   fired   tried  rule")
        return lines + [f"  {self.fired[rule]:6}  {self.tried[rule]:6}  {rule} ({rule_place(rule)})" for rule in rules]


class PassStatistics(RewriteReport):
    """Counts for each pass how often each rule fired and on how many ops it was tried."""

    counts_tries = True

    def __init__(self) -> None:
        super().__init__()
        self._passes: dict[object, _PassRows] = {}

    @property
    def _rows(self) -> _PassRows:
        # By identity, as in the table of times: a pass may stand twice in a pipeline.
        key = None if self.run is None else id(self.run.pass_)
        return self._passes.setdefault(key, _PassRows(self.pass_name))

    def rewriting(self, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]) -> None:
        self._rows.fired[rule] += 1

    def tried(self, counts: Mapping[Rule, int]) -> None:
        self._rows.tried.update(counts)

    def counted(self, what: str, count: int) -> None:
        self._rows.others[what] += count

    def table(self) -> str:
        """For each pass that rewrites: its counts, then its rules, those that fired most first."""
        rule = f"===-{'-' * 73}-==="
        lines = [rule, f"{'... Pass statistics report ...':^81}".rstrip(), rule]
        for rows in self._passes.values():
            lines += rows.lines()
        if not self._passes:
            lines.append("no pass has rewritten by rules")
        return "\n".join(lines)


@dataclass
class RewriteReports:
    """The reports that the command line asks for."""

    reports: Sequence[RewriteReport] = ()

    @staticmethod
    def asked_for(args: argparse.Namespace) -> RewriteReports:
        reports: list[RewriteReport] = []
        if args.debug_rewrites:
            reports.append(DebugRewrites())
        if args.mlir_pass_statistics:
            reports.append(PassStatistics())
        return RewriteReports(reports)

    def listening(self) -> AbstractContextManager[None]:
        return listen(*self.reports) if self.reports else nullcontext()

    def print_tables(self) -> None:
        for report in self.reports:
            if isinstance(report, PassStatistics):
                print(report.table(), file=sys.stderr)


def rewrite_text(
    pass_name: str, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]
) -> str:
    """A rewrite in three lines: its rule and place, the term before, and after. Arguments as for `RewriteListener`."""
    before = op_text(op, term_depth(rule.term))
    after = ", ".join(value_text(value, built) for value in values)
    if not values:
        after = ", ".join(op_text(new, 1, built) for new in built if not new.results) or "nothing"
    types = ", ".join(str(result.type) for result in op.results)
    return "\n".join(
        (
            f"{pass_name}: {rule} ({rule_place(rule)}){_place(op)}",
            f"  - {before}{f' : {types}' if types else ''}",
            f"  + {after}",
        )
    )


def rule_place(rule: Rule) -> str:
    """`identities.py:38`: the same wherever uop is installed."""
    return f"{Path(rule.file).name}:{rule.line}"


def _place(op: Operation) -> str:
    """` at model.py:7 in @forward_0`"""
    lines = source_lines(op.location)
    text = f" at {', '.join(lines)}" if lines else ""
    parent = op.parent_op()
    while parent is not None:
        symbol = parent.get_attr_or_prop("sym_name")
        if symbol is not None:
            return f"{text} in @{getattr(symbol, 'data', symbol)}"
        parent = parent.parent_op()
    return text
