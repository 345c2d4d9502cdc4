"""Batches of cases, and what is to be confirmed of them by itself."""

from __future__ import annotations

from collections.abc import Iterator

from .outcomes import BatchedSuite, Outcome, Verdict
from .workers import run_suite

_SUSPICIOUS = (Verdict.WRONG, Verdict.CRASH, Verdict.TOO_SLOW)
"""What comes of a batch that a case has to confirm by itself."""


def run_in_batches(suite: BatchedSuite, size: int, *, jobs: int = 1, time_limit: float = 60.0) -> Iterator[Outcome]:
    """Check batches of at most so many cases, then one by one those that failed, or whose process ended; an outcome
    for each case and level.

    jobs, time_limit: as of `run_suite`
    """
    batches = suite.batches(size)
    alone = {str(case): case for batch in batches if len(batch.cases) > 1 for case in batch.cases}
    found: dict[str, list[Outcome]] = {}
    for outcome in run_suite(suite, batches, jobs=jobs, time_limit=time_limit):
        of_case = found.setdefault(outcome.case, [])
        of_case.append(outcome)
        if len(of_case) < len(suite.levels):
            continue
        if outcome.case not in alone or not any(each.verdict in _SUSPICIOUS for each in of_case):
            alone.pop(outcome.case, None)
            yield from of_case
    yield from run_suite(suite, list(alone.values()), jobs=jobs, time_limit=time_limit)
