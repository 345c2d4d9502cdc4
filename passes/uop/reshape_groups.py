"""How a reshape merges and splits axes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

Groups = tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]


def reshape_groups(source: Sequence[int], target: Sequence[int]) -> Groups:
    """The smallest groups of axes with as many elements on both sides, in order: (axes of source, axes of target).

    source, target: shapes with the same number of elements, none of extent 0. Axes of extent 1 are in no group.
    """
    return _reshape_groups(tuple(source), tuple(target))


# A search for kernels goes through one reshape many times.
@cache
def _reshape_groups(source: tuple[int, ...], target: tuple[int, ...]) -> Groups:
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    olds = [axis for axis, extent in enumerate(source) if extent != 1]
    news = [axis for axis, extent in enumerate(target) if extent != 1]
    old = new = 0
    while old < len(olds):
        merged, split = [olds[old]], [news[new]]
        have, want = source[olds[old]], target[news[new]]
        old, new = old + 1, new + 1
        while have != want:
            if have < want:
                merged.append(olds[old])
                have *= source[olds[old]]
                old += 1
            else:
                split.append(news[new])
                want *= target[news[new]]
                new += 1
        groups.append((tuple(merged), tuple(split)))
    return tuple(groups)


def without_ones(shape: Sequence[int]) -> tuple[int, ...]:
    """The extents that are not 1."""
    return tuple(extent for extent in shape if extent != 1)
