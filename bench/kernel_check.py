"""Whether our kernels still count no more than was recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kernel_cases import CASES
from kernel_measure import compare
from kernel_runs import run_ours


def check(names: Iterable[str], recorded: Mapping[str, Any]) -> int:
    """Compare our counters with those of the records, and print what changed; the number of cases that got worse."""
    failures = 0
    for name in names:
        before: dict[str, int] = recorded[name]["uop"]["counters"]
        now = run_ours(CASES[name], CASES[name].make_inputs()).counters
        verdict, worse = compare(now, before)
        if worse:
            failures += 1
            changes = ", ".join(f"{counter} {before[counter]:,} → {now[counter]:,}" for counter in worse)
            print(f"{name}: worse than recorded: {changes}")
        elif verdict == "better":
            print(f"{name}: better than recorded; write it down: python bench/kernels.py --ours --write --case {name}")
        else:
            print(f"{name}: as recorded")
    return failures
