# torch.cuda is partly untyped.
# pyright: reportUnknownMemberType=false
"""How long programs take on a GPU: CUDA events around replays of a CUDA graph, with L2 flushed before each."""

from __future__ import annotations

import time
from typing import Protocol

import torch

from ...runtime.cuda.torch_gpus import PyTorch
from .times import Run, Times

FLUSHED_BYTES = 256 << 20
"""More than the L2 of any GPU has: writing so much takes longer than the CPU needs for a launch, too."""

WARM_UPS, LEAST_RUNS, MOST_RUNS = 3, 10, 200


class Timer(Protocol):
    """Something that runs programs and says how long they take."""

    def time(self, run: Run, *, graph: bool = True, seconds: float = 0.1) -> Times:
        """graph: record the launches once and replay them, so that what the CPU does for them is not in the time

        seconds: about how long to go on
        """
        ...

    def synchronize(self) -> None:
        """Wait for all that runs. Raises what failed."""
        ...


class GpuTimer:
    """CUDA events on PyTorch's current GPU."""

    def __init__(self) -> None:
        self._flushed = torch.empty(FLUSHED_BYTES, dtype=torch.uint8, device="cuda")

    def time(self, run: Run, *, graph: bool = True, seconds: float = 0.1) -> Times:
        how, step = "launches", run
        if graph:
            try:
                step = PyTorch().capture(run, torch.cuda.current_device())[0].replay
                how = "graph"
            except RuntimeError:  # some of PyTorch's operations cannot be recorded
                self.synchronize()
        for _ in range(WARM_UPS):
            step()
        first = self._measure(step, 1)[0]
        runs = max(LEAST_RUNS, min(MOST_RUNS, int(seconds * 1e6 / (first + 100))))
        return Times.of(self._measure(step, runs), how)

    def _measure(self, step: Run, runs: int) -> list[float]:
        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(runs)]
        for start, end in events:
            self._flushed.zero_()
            start.record()
            step()
            end.record()
        self.synchronize()
        return [1e3 * start.elapsed_time(end) for start, end in events]

    def synchronize(self) -> None:
        torch.cuda.synchronize()


class ClockTimer:
    """The CPU's clock, for a GPU that is not there: the times mean nothing."""

    def time(self, run: Run, *, graph: bool = True, seconds: float = 0.1) -> Times:
        times: list[float] = []
        for _ in range(2):
            start = time.perf_counter()
            run()
            times.append(1e6 * (time.perf_counter() - start))
        return Times.of(times, "clock")

    def synchronize(self) -> None:
        pass
