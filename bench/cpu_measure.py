"""One step of bench/cpu.py, in a process of its own: it prints one JSON object.

Usage: python cpu_measure.py STEP PROGRAM THREADS ROUNDS [CONTENDER …]
Steps: `times`, contenders against each other; `tinygrad`, alone; `uop`, `eager` and `inductor`, making one ready and
running it; `limits`, of no program, what the machine can do.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch
from cpu_programs import program

from uop.frontends.captured import Captured
from uop.tools.benching.comparing import Contender, compare_contenders, contenders
from uop.tools.benching.contenders import OURS, compile_seconds
from uop.tools.benching.limits import measure_limits
from uop.tools.benching.times import raise_priority

RUNS = 3
"""Before the memory is read."""


def peak_memory() -> int:
    """Bytes that this process has taken at most, PyTorch itself included. Linux's `ru_maxrss` would begin with what
    the process that started it takes."""
    with open("/proc/self/status") as file:
        fields = dict(line.split(":", 1) for line in file)
    return int(fields["VmHWM"].split()[0]) << 10


def one(captured: Captured, name: str) -> dict[str, Any]:
    """Making one contender ready, in a process that has compiled nothing before."""
    call = captured.make_call()
    before = peak_memory()
    with torch.no_grad():
        ready = contenders("cpu")[name](call)
        for _ in range(RUNS):
            ready.run()
    found: dict[str, Any] = {**ready.seconds, "memory": peak_memory(), "memory before": before}
    return found | ({"warm": compile_seconds(call, "cpu")} if name == OURS else {})


def times(captured: Captured, rounds: int, chosen: Sequence[str]) -> dict[str, Any]:
    """Contenders, checked and timed."""
    known = contenders("cpu")
    return compared(captured, {each: known[each] for each in chosen}, rounds)


def tinygrad(captured: Captured, rounds: int) -> dict[str, Any]:
    """tinygrad, checked and timed alone: its threads wait so actively that others' come to a halt."""
    import tinygrad_cpu

    return compared(captured, {"tinygrad": tinygrad_cpu.tinygrad}, rounds)


def compared(captured: Captured, chosen: Mapping[str, Contender], rounds: int) -> dict[str, Any]:
    entries = compare_contenders(captured, chosen, "cpu", rounds=rounds)
    return {name: entry.as_json() for name, entry in entries.items()}


def main() -> None:
    step, name, threads, rounds, *chosen = sys.argv[1:]
    torch.set_num_threads(int(threads))
    raised = raise_priority()
    if step == "limits":
        found = asdict(measure_limits("cpu", int(threads)))
    elif step == "times":
        found = times(program(name), int(rounds), chosen)
    elif step == "tinygrad":
        found = tinygrad(program(name), int(rounds))
    else:
        found = one(program(name), step)
    print(json.dumps({**found, "priority": raised}))


if __name__ == "__main__":
    main()
