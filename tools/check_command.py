"""`uop check`: run a suite of programs, and say which are right, wrong or refused."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from .checking.batches import run_in_batches
from .checking.cases import BadCaseFile, CaseSuite
from .checking.outcomes import BatchedSuite, Outcome, Suite
from .checking.summary import JsonFile, summary
from .checking.workers import run_suite
from .console import console


def check_command(options: argparse.Namespace) -> int:
    """Run the suite; 1 if a result is wrong, something crashed, or nothing was checked; 130 if it was interrupted."""
    suite = _SUITES[options.suite](options)
    try:
        cases = suite.cases()
        if not cases:
            raise BadCaseFile("no case has such a name")
        outcomes, interrupted = _run(suite, cases, options)
    except (BadCaseFile, OSError) as error:
        print(f"uop check: error: {error}", file=sys.stderr)
        return 1
    console().print(summary(suite.title, outcomes))
    return 130 if interrupted else int(any(outcome.verdict.is_failure for outcome in outcomes))


def _run(suite: Suite[Any], cases: Sequence[Any], options: argparse.Namespace) -> tuple[list[Outcome], bool]:
    """The outcomes of the cases, in their order, and whether the user interrupted the run.

    Failures as they come, and progress, go to standard error.
    """
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    file = JsonFile(options.json, suite.title) if options.json else None
    outcomes: list[Outcome] = []
    failures = 0
    interrupted = False
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("checking", total=len(cases) * len(suite.levels))
            for outcome in _outcomes(suite, cases, options):
                outcomes.append(outcome)
                if file is not None:
                    file.write_now_and_then(outcomes)
                if outcome.verdict.is_failure:
                    failures += 1
                    told = f"{outcome.verdict}: {outcome.case}, {outcome.level}: {'; '.join(outcome.reasons)}"
                    progress.console.print(told, markup=False, highlight=False, soft_wrap=True)
                description = f"{failures} wrong or crashed" if failures else "checking"
                progress.update(task, advance=1, description=description)
    except KeyboardInterrupt:
        interrupted = True
    places = {str(case): place for place, case in enumerate(cases)}
    outcomes.sort(key=lambda outcome: places[outcome.case])
    if file is not None:
        file.write(outcomes)
    return outcomes, interrupted


def _outcomes(suite: Suite[Any], cases: Sequence[Any], options: argparse.Namespace) -> Iterator[Outcome]:
    size: int = getattr(options, "batch", 1)
    if size > 1 and isinstance(suite, BatchedSuite):
        return run_in_batches(suite, size, jobs=options.jobs, time_limit=options.time_limit)
    return run_suite(suite, cases, jobs=options.jobs, time_limit=options.time_limit)


def _cases(options: argparse.Namespace) -> Suite[Any]:
    return CaseSuite(options.file, options.level, options.match)


def _opinfo(options: argparse.Namespace) -> Suite[Any]:
    from .checking.opinfo import ERRORS, OpInfoSuite

    dtypes = [*options.dtype, *([ERRORS] if options.include_errors else [])]
    samples = None if options.all_samples else options.samples
    return OpInfoSuite(options.level, dtypes, samples, options.match, options.limit)


def _models(options: argparse.Namespace) -> Suite[Any]:
    from .checking.models import ModelSuite

    return ModelSuite(options.level, options.match)


_SUITES: dict[str, Callable[[argparse.Namespace], Suite[Any]]] = {
    "cases": _cases,
    "opinfo": _opinfo,
    "models": _models,
}
"""Suite → what makes it; what it needs is imported where it is asked for."""
