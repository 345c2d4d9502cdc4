"""`--bisect`: which rewrite of a pass changes what the program computes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...rewriting.diagnostics import collect_remarks
from ...rewriting.listeners import RewriteListener, listen
from ...rewriting.patterns import Rule
from ..instruments import IRPrinter, unified_diff
from ..pipeline import apply_pass
from ..rewrite_reports import rewrite_text, rule_place
from .checker import Finding

DIFF_LINES = 60
"""Of longer diffs the rest is left out."""


class _Limit(RewriteListener):
    """Lets so many rewrites happen, and remembers the last."""

    def __init__(self, pass_name: str, limit: int | None) -> None:
        self.pass_name = pass_name
        self.limit = limit
        self.count = 0
        self.last: tuple[str, str] | None = None
        """The rule, and the rewrite as text."""

    def allows(self, rule: Rule, op: Operation) -> bool:
        return self.limit is None or self.count < self.limit

    def rewriting(self, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]) -> None:
        self.count += 1
        if self.count == self.limit:
            self.last = f"{rule} ({rule_place(rule)})", rewrite_text(self.pass_name, rule, op, built, values)


@dataclass(frozen=True)
class Replay:
    """A run of a pass that can be done again.

    before: the program that it was given. paths: of the ops that it ran on, in a nested pipeline
    """

    pass_: ModulePass
    context: Context
    before: ModuleOp
    paths: Sequence[tuple[int, ...]] = ()

    def run(self, limit: int | None = None) -> tuple[ModuleOp, _Limit]:
        """What the pass leaves when it may do no more than `limit` rewrites. Raises what the pass raises."""
        module = self.before.clone()
        listener = _Limit(self.pass_.name, limit)
        with listen(listener, alone=True), collect_remarks():
            ops = tuple(_at(module, path) for path in self.paths) or (module,)
            apply_pass(self.pass_, self.context, ops)
        return module, listener


@dataclass(frozen=True)
class Culprit:
    """What changes the program: lines that say it, and the rule if it is one."""

    lines: Sequence[str]
    rule: str | None = None


def bisect(finding: Finding, replay: Replay, after: ModuleOp) -> Culprit:
    """Find a rewrite such that the program differs with it, and does not with those before it alone.

    after: what the pass has left
    """
    _, everything = replay.run()
    wrong, good = everything.count, -1

    def differs(limit: int) -> bool | None:
        try:
            return finding.matches(replay.run(limit)[0])
        except Exception:  # a pass may rely on its rewrites being done to the end
            return None

    if not differs(wrong):
        return Culprit(["note: bisect: done again, the pass gives another result: it depends on more than the program"])
    unknown: list[int] = []
    while wrong - good > 1:
        middle = (wrong + good) // 2
        outcome = differs(middle)
        if outcome is None:
            unknown.append(middle)
        if outcome:
            wrong = middle
        else:
            good = middle
    if wrong == 0:
        name, rewrites = replay.pass_.name, everything.count
        already = f" already, with none of the {rewrites} rewrites done" if rewrites else ", which rewrites by no rules"
        lines = [f"note: bisect: the change is that of '{name}' itself{already}"]
        return Culprit([*lines, *_diff(replay.before, replay.run(0)[0] if everything.count else after)])
    module, listener = replay.run(wrong)
    assert listener.last is not None, "the limit was reached"
    rule, text = listener.last
    lines = [f"note: bisect: rewrite {wrong} of {everything.count} is the first that differs", *text.split("\n")]
    if good in unknown:
        lines.append(f"note: it may be an earlier one: after {good} alone the program cannot be executed")
        return Culprit(lines, rule)
    return Culprit([*lines, *_diff(replay.run(wrong - 1)[0], module)], rule)


def path_of(op: Operation) -> tuple[int, ...]:
    """Where an op stands in the outermost one: numbers of region, block and op, level by level."""
    path: list[int] = []
    while (block := op.parent) is not None and (region := block.parent) is not None and region.parent is not None:
        outer = region.parent
        path = [outer.regions.index(region), region.blocks.index(block), block.get_operation_index(op), *path]
        op = outer
    return tuple(path)


def _at(root: Operation, path: Sequence[int]) -> Operation:
    op = root
    for place in range(0, len(path), 3):
        region, block, number = path[place : place + 3]
        op = list(op.regions[region].blocks[block].ops)[number]
    return op


def _diff(before: ModuleOp, after: ModuleOp) -> list[str]:
    printer = IRPrinter()
    lines = unified_diff(printer.any_text(before), printer.any_text(after)).split("\n")
    left_out = len(lines) - DIFF_LINES
    return lines if left_out <= 0 else [*lines[:DIFF_LINES], f"… and {left_out} lines more"]
