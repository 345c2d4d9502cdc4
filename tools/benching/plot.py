# matplotlib is partly untyped.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false
"""The results of `uop bench` as a picture: a bar for each contender, and the machine's limit."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

from .comparing import Entry
from .limits import Limits
from .table import NAMES
from .work import Work


def write_plot(path: Path, entries: Mapping[str, Entry], work: Work, limits: Limits, title: str) -> None:
    """Write it. Raises ModuleNotFoundError where matplotlib is not installed."""
    figure = import_module("matplotlib.figure").Figure(figsize=(7, 1.2 + 0.6 * len(entries)), layout="constrained")
    axes = figure.add_subplot()
    timed = {NAMES[name]: entry.times for name, entry in entries.items() if entry.times is not None}
    medians = [times.median for times in timed.values()]
    spread = [
        [times.median - times.low for times in timed.values()],
        [times.high - times.median for times in timed.values()],
    ]
    axes.barh(list(timed), medians, xerr=spread, capsize=3)
    axes.invert_yaxis()
    least = 1e6 * limits.seconds(work)
    axes.axvline(least, color="black", linestyle="--", label=f"limit by {limits.bound(work)}: {least:.1f} µs")
    axes.set_xlabel("µs of a run: median, and the middle 80 % of the runs")
    axes.set_title(title)
    axes.legend()
    figure.savefig(path, dpi=150)
