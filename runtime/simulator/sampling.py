"""Which blocks of a large grid stand for all of them."""

from __future__ import annotations

from collections.abc import Sequence

GROUP = 8
"""Blocks of a group, at least: rows that are not aligned repeat their sectors every 8 rows of 4-byte elements."""

GROUPS = 6
_GOLDEN_RATIO = 0.6180339887498949


def sample_spans(blocks: int) -> Sequence[range]:
    """Groups of consecutive blocks, all of one length that divides the grid: the first, the last, some between.

    The groups between are spread by the golden ratio, which falls in step with no pattern of the grid. One span with
    every block where the groups would be most of the grid.
    """
    size = next((size for size in range(GROUP, blocks // (2 * GROUPS) + 1) if blocks % size == 0), None)
    if size is None:
        return [range(blocks)]
    last = blocks - size
    between = (int(last * (number * _GOLDEN_RATIO % 1)) for number in range(1, GROUPS - 1))
    return [range(start, start + size) for start in (0, *between, last)]
