"""How long programs take on the CPU: they alternate, so that what the machine does meanwhile meets all of them."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

Run = Callable[[], Any]

GAP_SECONDS = 0.004
"""Between contenders, so that the threads of one, which wait actively for a while, do not run beside the next."""

MOST_RUNS = 200
"""Of a contender in a round."""


@dataclass(frozen=True)
class Times:
    """Microseconds of one run: the median, and between what the middle 80 % lie. how: `graph`, `launches` or `clock`"""

    median: float
    low: float
    high: float
    runs: int
    how: str

    @staticmethod
    def of(microseconds: Sequence[float], how: str) -> Times:
        ordered = sorted(microseconds)
        tenth = len(ordered) // 10
        low, high = ordered[tenth], ordered[-1 - tenth]
        return Times(round(statistics.median(ordered), 3), round(low, 3), round(high, 3), len(ordered), how)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def alternate(programs: Mapping[str, Run], *, rounds: int, seconds: float = 0.02) -> dict[str, Times]:
    """Time programs that have run before, one after the other in each round.

    seconds: about how long a program runs in a round, where that is more than one run; the round's time is the median
    """
    counts = {name: max(1, min(MOST_RUNS, int(seconds / min(_measure(run, 2))))) for name, run in programs.items()}
    found: dict[str, list[float]] = {name: [] for name in programs}
    names = list(programs)
    for number in range(rounds):
        turn = number % len(names)
        for name in (*names[turn:], *names[:turn]):
            time.sleep(GAP_SECONDS)
            programs[name]()  # wakes threads, and brings what it reads back into the caches
            found[name].append(1e6 * statistics.median(_measure(programs[name], counts[name])))
    return {name: Times.of(times, "clock") for name, times in found.items()}


def _measure(run: Run, count: int) -> list[float]:
    """Seconds of each run."""
    times: list[float] = []
    for _ in range(count):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return times


def raise_priority() -> bool:
    """Put this process in front of others where the system lets it, all of its threads; whether it did.

    Linux schedules sessions before processes, and so only a process that leads its session does it: that of a terminal
    would keep the priority behind it.
    """
    if os.getsid(0) != os.getpid():
        return False
    try:
        for thread in os.listdir("/proc/self/task"):
            os.setpriority(os.PRIO_PROCESS, int(thread), -20)
        Path("/proc/self/autogroup").write_text("-20")
    except OSError:
        return False
    return True
