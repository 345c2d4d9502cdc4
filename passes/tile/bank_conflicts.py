"""Bank conflicts of a shared slab, counted from how a warp reads it."""

from collections import defaultdict
from functools import cache

import numpy as np
import numpy.typing as npt

from ...dialects.axes import WARP

BANKS = 32
BANK_BYTES = 4


@cache
def warp_wavefronts(threads: tuple[int, ...], strides: tuple[int, ...], bytes: int) -> int:
    """Passes over the banks that one access of a warp takes: the most different words that one bank is asked for.

    threads: of the block, along some axes, the last the fastest. strides: bytes from a thread's address to its
      neighbour's along each. bytes: what each lane moves; wide accesses go in groups of lanes of 128 bytes.
    """
    addresses = [0] * WARP
    for lane in range(WARP):
        number = lane
        for extent, stride in zip(reversed(threads), reversed(strides), strict=True):
            addresses[lane] += number % extent * stride
            number //= extent
    group = max(1, BANKS * BANK_BYTES // max(bytes, BANK_BYTES))
    total = 0
    for first in range(0, WARP, group):
        words: defaultdict[int, set[int]] = defaultdict(set)
        for address in addresses[first : first + group]:
            for word in range(address // BANK_BYTES, -(-(address + bytes) // BANK_BYTES)):
                words[word % BANKS].add(word)
        total += max(map(len, words.values()))
    return total


def store_wavefronts(places: npt.NDArray[np.int64], bytes: int) -> int:
    """Passes over the banks that stores to these places take, 32 neighbours at a time, each of so many bytes. Places
    are multiples of that, and none is stored to twice."""
    unit = max(bytes, BANK_BYTES)
    group = BANKS * BANK_BYTES // unit
    slots = np.full(-(-len(places) // group) * group, -1)
    slots[: len(places)] = places // unit % group
    same = slots.reshape(-1, group, 1) == np.arange(group)
    return int(same.sum(axis=1).max(axis=1).sum())
