"""The results of `uop bench` as a table."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from .comparing import Entry
from .contenders import EAGER, OURS
from .limits import Limits
from .work import Work

NAMES = {OURS: "uop", EAGER: "eager PyTorch", "inductor": "torch.compile (Inductor)"}


def bench_table(entries: Mapping[str, Entry], work: Work, limits: Limits, machine: str) -> Table:
    """A row for each contender: its time, and what it does with the machine."""
    table = Table(title=f"On {machine}", title_justify="left", caption_justify="left")
    table.add_column("contender")
    titles = ("median", "80 % of the runs", "÷ uop", "GB/s", "GFLOP/s", "of the limit", "error", "compile")
    for title in titles:
        table.add_column(title, justify="right")
    ours = entries[OURS].times
    for name, entry in entries.items():
        times = entry.times
        if times is None:
            state = ["failed" if entry.error else "wrong", *[""] * 5]
        else:
            seconds = 1e-6 * times.median
            state = [
                time_text(times.median),
                f"{time_text(times.low)} to {time_text(times.high)}",
                f"{times.median / ours.median:.2f}" if ours and name != OURS else "",
                f"{work.bytes / seconds / 1e9:.1f}",
                f"{work.flops / seconds / 1e9:.1f}",
                f"{limits.seconds(work) / seconds:.0%}",
            ]
        compile_ = f"{entry.seconds['compile']:.2f} s" if "compile" in entry.seconds else ""
        table.add_row(NAMES[name], *state, "" if entry.error else f"{entry.worst:.1e}", compile_)
    count = f"{work.kernels} kernel{'' if work.kernels == 1 else 's'}"
    table.caption = (
        f"the program reads and writes {work.bytes:,} B and does {work.flops:,} operations on floats, in {count}"
        f" which move {work.moved:,} B\n"
        f"limits: {limits.bytes / 1e9:.1f} GB/s, {limits.flops / 1e9:.1f} GFLOP/s ({limits.source}): at least"
        f" {time_text(1e6 * limits.seconds(work))}, for {limits.bound(work)}; what lies in caches may be faster\n"
        "error: the greatest against float64, relative to the greatest element · compile: without torch.export"
    )
    return table


def time_text(microseconds: float) -> str:
    """`12.3 µs`"""
    if microseconds < 1000:
        return f"{microseconds:.1f} µs"
    return f"{microseconds / 1e3:.2f} ms" if microseconds < 1e6 else f"{microseconds / 1e6:.2f} s"
