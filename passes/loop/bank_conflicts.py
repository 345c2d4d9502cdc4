"""Bank conflicts of a shared slab, counted from how a warp reads it."""

from collections import defaultdict
from collections.abc import Callable, Iterable

WARP = 32
BANKS = 32
BANK_BYTES = 4


def wavefronts(addresses: Iterable[int], bytes: int) -> int:
    """Passes over the banks that one warp's read takes: the most different words that one bank is asked for.

    addresses: byte address of each lane. bytes: what each lane reads; wide reads go in groups of lanes of 128 bytes.
    """
    lanes = list(addresses)
    per_group = max(1, BANKS * BANK_BYTES // max(bytes, BANK_BYTES))
    total = 0
    for first in range(0, len(lanes), per_group):
        words: defaultdict[int, set[int]] = defaultdict(set)
        for address in lanes[first : first + per_group]:
            for word in range(address // BANK_BYTES, -(-(address + bytes) // BANK_BYTES)):
                words[word % BANKS].add(word)
        total += max((len(group) for group in words.values()), default=0)
    return total


def warp_wavefronts(address: Callable[[int, int], int], padding: int, bytes: int) -> int:
    """`wavefronts` of a whole warp. address: (lane, padding in elements) → byte address that the lane reads."""
    return wavefronts((address(lane, padding) for lane in range(WARP)), bytes)


def best_padding(address: Callable[[int, int], int], widths: Iterable[int], unit: int, units: int) -> int:
    """The least number of elements to add to each row so that a warp's reads conflict least.

    widths: sizes in bytes of the reads to count, as the compiler may merge neighbours. unit: padding goes up in
      steps of this
      many elements, which keeps rows aligned. units: how many steps to try.
    """
    sizes = tuple(widths)

    def cost(padding: int) -> int:
        return sum(warp_wavefronts(address, padding, size) for size in sizes)

    return min(range(0, unit * units, unit), key=lambda padding: (cost(padding), padding))
