"""Worker processes: a case that crashes or hangs takes its process with it, and the run goes on."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from ..garbage import old_objects_spared, rare_collections
from .outcomes import Outcome, Suite, Verdict, cases_of

CaseT = TypeVar("CaseT")

_SPAWN = multiprocessing.get_context("spawn")  # a forked process would hang in PyTorch's threads


def run_suite(
    suite: Suite[CaseT], cases: Sequence[CaseT], *, jobs: int = 1, time_limit: float = 60.0, patience: float = 20.0
) -> Iterator[Outcome]:
    """Check the cases in `jobs` processes; the outcomes as they come.

    time_limit: seconds of CPU time that one level of a case may take, after which its process is ended
    patience:   how many times as long that may be by the clock on the wall: on a busy machine, or asleep
    The time in which a process starts does not count.
    """
    waiting = list(reversed(cases))
    workers = [_Worker(suite, time_limit, patience) for _ in range(min(jobs, len(cases)))]
    try:
        while True:
            for worker in workers:
                if worker.case is None and waiting:
                    worker.begin(waiting.pop())
            busy = [worker for worker in workers if worker.case is not None]
            if not busy:
                return
            soonest = min(worker.deadline for worker in busy)
            ready = wait([worker.connection for worker in busy], max(0.0, soonest - time.monotonic()))
            for worker in busy:
                yield from worker.receive() if worker.connection in ready else worker.end_if_late()
    finally:
        for worker in workers:
            worker.stop()


class _Worker:
    """A process that checks one case after the other, and what is known of the case that it has."""

    START_LIMIT = 300.0
    """Seconds for importing PyTorch and what the suite needs, on a busy machine."""

    LEAVE_LIMIT = 10.0
    """Seconds for leaving."""

    def __init__(self, suite: Suite[Any], time_limit: float, patience: float) -> None:
        self.suite = suite
        self.time_limit = time_limit
        self.wall_limit = time_limit * patience
        self.case: Any = None
        self.start()

    def start(self) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_work, args=(theirs, self.suite, self.time_limit), daemon=True)
        self.process.start()
        theirs.close()
        self.is_ready = False

    def stop(self) -> None:
        """End the process: it leaves by itself when it waits for a case, which it learns will not come."""
        self.connection.close()
        if self.case is None:
            self.process.join(self.LEAVE_LIMIT)
        self.process.kill()
        self.process.join()

    def begin(self, case: Any) -> None:
        self.case = case
        self.owed = owed_outcomes(self.suite, case)
        with contextlib.suppress(OSError):  # that it has died is found by `receive`
            self.connection.send(case)
        self.wait_on()

    def wait_on(self) -> None:
        self.deadline = time.monotonic() + (self.wall_limit if self.is_ready else self.START_LIMIT)

    def receive(self) -> Iterator[Outcome]:
        """What the process says next: it has started, one outcome, or None when it has done with the case."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.process.join()
            if self.process.exitcode == -signal.SIGPROF:
                yield from self.give_up(Verdict.TOO_SLOW, f"ran past {self.time_limit:g} s of CPU time")
            else:
                yield from self.give_up(Verdict.CRASH, f"the process ended with status {self.process.exitcode}")
            return
        if isinstance(message, Outcome):
            self.owed.remove((message.case, message.level))
            yield message
        elif message is None:
            self.case = None
        self.is_ready = True
        self.wait_on()

    def end_if_late(self) -> Iterator[Outcome]:
        if time.monotonic() >= self.deadline:
            yield from self.give_up(Verdict.TOO_SLOW, f"took more than {self.wall_limit:g} s")

    def give_up(self, verdict: Verdict, reason: str) -> Iterator[Outcome]:
        """The outcomes that the case still owes; a new process takes the next case."""
        told: set[str] = set()
        for case, level in self.owed:
            yield Outcome(case, level, verdict, (f"{reason} at an earlier level" if case in told else reason,))
            told.add(case)
        self.stop()
        self.case = None
        self.start()


def owed_outcomes(suite: Suite[Any], case: Any) -> list[tuple[str, str]]:
    """Name and level of each outcome that checking a case, or a batch of them, is to give."""
    return [(str(each), level) for each in cases_of(case) for level in suite.levels]


_STARTED = "started"


def _work(connection: Connection, suite: Suite[Any], time_limit: float) -> None:
    """What a process does: take cases, say what comes of them; `SIGPROF` ends it when a level takes too long."""
    import torch

    def start_clock() -> None:
        signal.setitimer(signal.ITIMER_PROF, time_limit)

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # of what the programs of the suite do
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that reads the outcomes ends this one
    # What failing passes write, to run them again, is not for the user's folder.
    with (
        tempfile.TemporaryDirectory(prefix="uop-check-") as folder,
        contextlib.chdir(folder),
        old_objects_spared(),
        rare_collections(),
    ):
        connection.send(_STARTED)
        while True:
            try:
                case = connection.recv()
            except EOFError:
                return
            owed = owed_outcomes(suite, case)
            start_clock()
            try:
                for outcome in suite.check(case):
                    owed.remove((outcome.case, outcome.level))
                    connection.send(outcome)
                    start_clock()
            except Exception as error:
                reason = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"
                detail = "".join(traceback.format_exception(error))
                for name, level in owed:
                    connection.send(Outcome(name, level, Verdict.CRASH, (reason,), detail))
            connection.send(None)
