"""Adaptive windows: an axis of `extent` elements seen as `count` windows of about the same size.

Window `o` starts at ⌊o · extent ÷ count⌋ and ends in front of ⌈(o + 1) · extent ÷ count⌉. Each element repeated `count`
times, it starts at place o · extent of that axis, and its elements are `count` apart: movement says it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import i64

from ....rewriting.builder import Builder
from .tensor import Tensor, along, iota
from .windows import resized


@dataclass(frozen=True)
class AdaptiveWindow:
    """The `count` windows of an axis of `extent` elements."""

    extent: int
    count: int

    @property
    def is_even(self) -> bool:
        """Whether all windows have one size."""
        return self.count == 0 or self.extent % self.count == 0

    @property
    def taps(self) -> int:
        """Elements of the largest window."""
        if self.count == 0:
            return 1
        return max(-(-(o + 1) * self.extent // self.count) - o * self.extent // self.count for o in range(self.count))

    def bounds(self, builder: Builder) -> tuple[Tensor, Tensor]:
        """The first element of each window and the one behind the last, i64."""
        places = iota(builder, self.count, i64) * self.extent
        return places.alu("floordiv", self.count), (places + (self.extent + self.count - 1)).alu("floordiv", self.count)


def adaptive_windows(x: Tensor, counts: Sequence[int]) -> list[AdaptiveWindow]:
    """Those of the last axes of a tensor."""
    return [AdaptiveWindow(extent, count) for extent, count in zip(x.shape[-len(counts) :], counts, strict=True)]


def adaptive_windowed(x: Tensor, windows: Sequence[AdaptiveWindow]) -> tuple[Tensor, Tensor | None]:
    """… × counts × taps, and a bool tensor of counts × taps that says which are elements of the window.

    The second is None where all are; where it is false the first has neighbours of the window's elements, or 0.
    """
    first = x.rank - len(windows)
    counts, taps = [window.count for window in windows], [window.taps for window in windows]
    there: Tensor | None = None
    for d in reversed(range(len(windows))):
        axis, window = first + d, windows[d]
        x = _windowed(x, axis, window)
        if not window.is_even:
            start, end = window.bounds(x.builder)
            sizes = along(end - start, d, (*counts, *taps))
            here = along(iota(x.builder, window.taps, i64), len(windows) + d, (*counts, *taps)) < sizes
            there = here if there is None else there & here
    places = range(first, x.rank)
    return x.permute([*range(first), *places[::2], *places[1::2]]), there


def _windowed(x: Tensor, axis: int, window: AdaptiveWindow) -> Tensor:
    before, behind = x.shape[:axis], x.shape[axis + 1 :]
    extent, count, taps = window.extent, window.count, window.taps
    if window.is_even:
        return x.window(axis, (count, taps), (taps, 1))
    repeated = (
        x.unsqueeze(axis + 1).expand((*before, extent, count, *behind)).reshape((*before, extent * count, *behind))
    )
    needed = (count - 1) * extent + (taps - 1) * count + 1
    return resized(repeated, axis, 0, max(needed - extent * count, 0)).window(axis, (count, taps), (extent, count))
