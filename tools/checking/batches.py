"""Many small programs at once: most of the time of a check is spent once for each export and each compilation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from .outcomes import Outcome, Verdict
from .workers import run_suite


class Batch(Protocol):
    """Cases that make one program. Its text is its name."""

    @property
    def cases(self) -> Sequence[Any]: ...


@runtime_checkable
class BatchedSuite(Protocol):
    """A `Suite` that checks batches, too."""

    @property
    def title(self) -> str: ...

    @property
    def levels(self) -> Sequence[str]: ...

    def cases(self) -> Sequence[Any]: ...

    def check(self, case: Any) -> Iterator[Outcome]: ...

    def batches(self, size: int) -> Sequence[Batch]:
        """All cases, at most so many of a kind together."""
        ...


def run_in_batches(suite: BatchedSuite, size: int, *, jobs: int = 1, time_limit: float = 60.0) -> Iterator[Outcome]:
    """Check batches of at most so many cases, then one by one the cases of those that are not right at each level; an
    outcome for each case and level.

    A batch is right only if all that its cases give is. jobs, time_limit: as of `run_suite`
    """
    batches = suite.batches(size)
    by_name = {str(batch): batch for batch in batches}
    found: dict[str, list[Outcome]] = {}
    for outcome in run_suite(suite, batches, jobs=jobs, time_limit=time_limit):
        of_batch = found.setdefault(outcome.case, [])
        of_batch.append(outcome)
        if len(of_batch) == len(suite.levels) and all(each.verdict is Verdict.RIGHT for each in of_batch):
            cases = by_name.pop(outcome.case).cases
            for each in of_batch:
                yield from (replace(each, case=str(case), seconds=each.seconds / len(cases)) for case in cases)
    left = [case for batch in by_name.values() for case in batch.cases]
    yield from run_suite(suite, left, jobs=jobs, time_limit=time_limit)
