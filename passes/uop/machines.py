"""What takes how long on the machines that programs are cut into kernels for: the estimates behind `uop-partition`.

No GPU was lent to time them. They are of the order of the machines' own numbers, and rank choices that differ by much.
"""

from __future__ import annotations

from ...dialects.dataclass import dataclass
from ...rewriting.diagnostics import PassError


@dataclass(frozen=True)
class Machine:
    """Times in operations of threads: an addition of one element is one.

    threads: that compute side by side; fewer take as long.
    row: neighbours for which a thread computes once what is the same for them.
    launch: from the end of a kernel to the begin of one that waits for it. byte: of memory, read or written.
    speed: operations in a microsecond.
    matrix_speed: multiplications with their additions that matrix instructions do in the time of an operation.
    products: contractions that share a kernel, at most: more leave each a tile too narrow for matrix instructions.
    row_statistics: whether products compute statistics of their rows.
    sharing: how many queries share keys, at least, where attention is one pass; fewer only where positions are compared
      with data, so that the pass may end early, or where uop-split-attention splits it.
    blocks: of attention, that keep it busy: where there are fewer, keys are split into parts.
    part: keys that a part has at the least.
    together: queries of attention that a block takes together.
    few_queries: that share keys, above which keys are not split: there are blocks enough, or matrix instructions.
    """

    threads: int
    row: int
    launch: int
    byte: float
    speed: float
    matrix_speed: int = 1
    products: int = 8
    row_statistics: bool = True
    sharing: int = 1
    blocks: int = 256
    part: int = 128
    together: int = 8
    few_queries: int = 16


GPU = Machine(threads=1 << 14, row=4, launch=1 << 27, byte=10, speed=(1 << 27) / 5, matrix_speed=16)
"""An H100: 132 multiprocessors of 128 lanes at 1.98 GHz and memory of 3.35 TB/s, both at four fifths of that; a launch
of 5 µs (an estimate)."""

CPU = Machine(
    threads=16,
    row=1 << 62,
    launch=100_000,
    byte=2.4,
    speed=93_000,
    products=1,
    row_statistics=False,
    sharing=8,
    blocks=16,
    part=512,
    together=128,
    few_queries=1 << 62,
)
"""The machine of docs/cpu.md: 186 GFLOP/s of multiplications with additions, 38 GB/s; about 1 µs to hand tasks to
threads (an estimate)."""

MACHINES = {"gpu": GPU, "cpu": CPU}
"""By the name that uop-partition knows them by."""


def machine_named(name: str) -> Machine:
    """The machine of that name. Raises `PassError` naming those there are."""
    if name not in MACHINES:
        raise PassError(f"there is no machine '{name}'", None, f"there are: {', '.join(MACHINES)}")
    return MACHINES[name]
