"""The outcomes of a suite as a table and as JSON: how many of each verdict, and each reason once."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .outcomes import Outcome, Verdict

EXAMPLES = 3
"""Cases that are named for a reason."""


def totals_table(title: str, outcomes: Sequence[Outcome]) -> Table:
    """One row for each level, one column for each verdict that there is."""
    counts = Counter((outcome.level, outcome.verdict) for outcome in outcomes)
    verdicts = [verdict for verdict in Verdict if any(outcome.verdict is verdict for outcome in outcomes)]
    table = Table(title=title, title_justify="left")
    table.add_column("level")
    for verdict in verdicts:
        table.add_column(verdict.value, justify="right")
    for level in dict.fromkeys(outcome.level for outcome in outcomes):
        table.add_row(level, *(str(counts[level, verdict]) for verdict in verdicts))
    return table


def reasons_by_verdict(outcomes: Sequence[Outcome]) -> dict[Verdict, dict[str, list[str]]]:
    """Verdict → reason → cases, each once though it has the reason at several levels; the most frequent first.

    What is wrong or crashes comes first.
    """
    found: dict[Verdict, dict[str, dict[str, list[str]]]] = {}
    for outcome in outcomes:
        for reason in outcome.reasons:
            levels = found.setdefault(outcome.verdict, {}).setdefault(reason, {}).setdefault(outcome.case, [])
            levels.append(outcome.level)
    return {
        verdict: {reason: list(cases) for reason, cases in sorted(found[verdict].items(), key=lambda row: -len(row[1]))}
        for verdict in reversed(Verdict)
        if verdict in found
    }


def reasons_table(verdict: Verdict, reasons: dict[str, list[str]]) -> Table:
    """One row for each reason: how many cases, what, and some of them; of failures, all."""
    table = Table(title=f"{verdict.value}, and why", title_justify="left", title_style="bold red" * verdict.is_failure)
    table.add_column("cases", justify="right")
    table.add_column("reason", overflow="fold")
    table.add_column("such as", overflow="fold")
    for reason, cases in reasons.items():
        shown = cases if verdict.is_failure else cases[:EXAMPLES]
        more = f" and {len(cases) - len(shown)} more" if len(cases) > len(shown) else ""
        table.add_row(str(len(cases)), Text(reason), Text("\n".join(shown) + more))
    return table


def summary(title: str, outcomes: Sequence[Outcome]) -> RenderableType:
    """Everything that `uop check` prints of a suite."""
    tables = [reasons_table(verdict, reasons) for verdict, reasons in reasons_by_verdict(outcomes).items()]
    return Group(*tables, totals_table(title, outcomes))


class JsonFile:
    """A file with the totals by level and verdict, and every outcome whole. It is written again every few seconds,
    so that a run which is ended leaves what it found."""

    EVERY = 10.0
    """Seconds from one writing to the next."""

    def __init__(self, file: str, title: str) -> None:
        """Raises `OSError` where the file cannot be written, before anything is checked."""
        self.path = Path(file)
        self.title = title
        self.write([])

    def write(self, outcomes: Sequence[Outcome]) -> None:
        totals = Counter(f"{outcome.level}: {outcome.verdict}" for outcome in outcomes)
        rows = [asdict(outcome) for outcome in outcomes]
        text = json.dumps({"suite": self.title, "totals": totals, "outcomes": rows}, indent=1, ensure_ascii=False)
        self.path.write_text(text + "\n")
        self.written = time.monotonic()

    def write_now_and_then(self, outcomes: Sequence[Outcome]) -> None:
        if time.monotonic() >= self.written + self.EVERY:
            self.write(outcomes)
