"""Counting sectors and wavefronts of the accesses of whole warps.

Warps mostly repeat one pattern of addresses up to a shift, so patterns are counted once: the first row that a
shift makes equal to the others stands for them all.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .formats import Array

WARP = 32
SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4
INACTIVE = -(1 << 62)


def count_sectors(addresses: Array) -> tuple[int, int]:
    """(requests, sectors) of accesses by `addresses`, shape (warps, 32); lanes at INACTIVE do not access.

    Accesses are aligned and at most a sector wide, so each lies in one sector.
    """
    active = addresses != INACTIVE
    requests = active.any(axis=1)
    rows = np.where(active, addresses // SECTOR_BYTES, INACTIVE)[requests]
    return len(rows), _sum_over_patterns(rows, _distinct)


def count_wavefronts(addresses: Array, size: int) -> tuple[int, int, int]:
    """(requests, wavefronts, ideal wavefronts) of accesses of `size` bytes by `addresses`, shape (warps, 32).

    Up to 4 bytes a lane, a warp is served in one phase; 8 bytes in two halves, 16 in four quarters. A phase takes
    as many wavefronts as the busiest bank has distinct words. (Merging of phases that read the same words is
    not modelled, so wide broadcasts are counted from above.)
    """
    requests = int((addresses != INACTIVE).any(axis=1).sum())
    words = max(1, size // BANK_BYTES)
    phases = addresses.reshape(-1, WARP // words)
    phases = phases[(phases != INACTIVE).any(axis=1)]
    rows = np.where(phases == INACTIVE, INACTIVE, phases // BANK_BYTES)
    if words > 1:
        spread = rows[:, :, None] + np.arange(words)
        rows = np.where(rows[:, :, None] == INACTIVE, INACTIVE, spread).reshape(len(rows), -1)
    return requests, _sum_over_patterns(rows, _busiest_bank), len(rows)


def _sum_over_patterns(rows: Array, count: Callable[[Array], Array]) -> int:
    """Sum of `count(rows)`, a function of a row that does not change when the row is shifted."""
    if len(rows) == 0:
        return 0
    active = rows != INACTIVE
    first = np.where(active, rows, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
    relative = np.where(active, rows - first, INACTIVE)
    differs = (relative != relative[0]).any(axis=1)
    same = len(rows) - int(differs.sum())
    total = int(count(relative[:1])[0]) * same
    if same < len(rows):
        total += int(count(relative[differs]).sum())
    return total


def _distinct(rows: Array) -> Array:
    """Distinct active values of each row."""
    ordered = np.sort(rows, axis=1)
    changes = (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1)
    return changes + (ordered[:, 0] != INACTIVE)


def _busiest_bank(rows: Array) -> Array:
    """The most distinct words that one bank has to give, for each row of word indices."""
    ordered = np.sort(rows, axis=1)
    is_new = np.ones(ordered.shape, bool)
    is_new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    is_new &= ordered != INACTIVE
    row, column = np.nonzero(is_new)
    cells = row * BANKS + (ordered[row, column] % BANKS)
    return np.bincount(cells, minlength=len(rows) * BANKS).reshape(-1, BANKS).max(axis=1)
