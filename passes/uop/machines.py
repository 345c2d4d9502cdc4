"""What takes how long on the machines that programs are cut into kernels for: the estimates behind `uop-partition`.

No GPU was lent to time them. They are of the order of the machines' own numbers, and rank choices that differ by much.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...rewriting.diagnostics import PassError

FUNCTION_COSTS = {
    **dict.fromkeys(("div", "reciprocal", "sqrt", "rsqrt", "exp", "exp2"), 8),
    **dict.fromkeys(("tanh", "erf"), 20),
    **dict.fromkeys(("floordiv", "floormod", "truncdiv", "truncmod", "expm1", "log", "log2", "log10", "log1p"), 32),
    **dict.fromkeys(("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh"), 32),
    "atan2": 50,
    "pow": 100,
}
"""Operations for an element, of what takes several: instructions of NVRTC's PTX, as the simulator counts them, but for
those that ptxas makes several of, and for `exp`, which most programs divide by a sum, or add 1 to
(uop-approximate)."""


@dataclass(frozen=True)
class Machine:
    """Times in operations of threads: an addition of one element is one.

    threads: that compute side by side; fewer take as long.
    row: neighbours for which a thread computes once what is the same for them.
    launch: from the end of a kernel to the begin of one that waits for it. byte: of memory, read or written.
    cached_byte: that other threads read too, beyond the first time.
    speed: operations in a microsecond. overlaps: whether they are done while others wait for memory.
    matrix_speed: multiplications with their additions that matrix instructions do in the time of an operation.
    prepares: whether the threads of a block compute the operands of a product together.
    products: contractions that share a kernel, at most: more leave each a tile too narrow for matrix instructions.
    row_statistics: whether products compute statistics of their rows.
    sharing: how many queries share keys, at least, where attention is one pass; fewer only where positions are compared
      with data, so that the pass may end early, or where uop-split-attention splits it.
    blocks: of attention, that keep it busy: where there are fewer, keys are split into parts.
    part: keys that a part has at the least.
    together: queries of attention that a block takes together.
    few_queries: that share keys, above which keys are not split: there are blocks enough, or matrix instructions.
    takes_neighbours: whether a thread takes blocks that are neighbours, as many as each other thread.
    """

    threads: int
    row: int
    launch: int
    byte: float
    cached_byte: float
    speed: float
    overlaps: bool = False
    matrix_speed: int = 1
    prepares: bool = False
    products: int = 8
    row_statistics: bool = True
    sharing: int = 1
    blocks: int = 256
    part: int = 128
    together: int = 8
    few_queries: int = 16
    takes_neighbours: bool = False


GPU = Machine(
    threads=1 << 14,
    row=4,
    launch=1 << 27,
    byte=10,
    cached_byte=5,
    speed=(1 << 27) / 5,
    overlaps=True,
    matrix_speed=16,
    prepares=True,
)
"""An H100: 132 multiprocessors of 128 lanes at 1.98 GHz and memory of 3.35 TB/s, both at four fifths of that; 5.5 TB/s
of its second cache; a launch of 5 µs (an estimate)."""

CPU = Machine(
    threads=16,
    row=1 << 62,
    launch=100_000,
    byte=2.4,
    cached_byte=0,
    speed=93_000,
    products=1,
    row_statistics=False,
    sharing=8,
    blocks=16,
    part=512,
    together=128,
    few_queries=1 << 62,
    takes_neighbours=True,
)
"""The machine of docs/cpu.md: 186 GFLOP/s of multiplications with additions, 38 GB/s; about 1 µs to hand tasks to
threads (an estimate). What caches hold is read beside the operations."""

MACHINES = {"gpu": GPU, "cpu": CPU}
"""By the name that uop-partition knows them by."""


def machine_named(name: str) -> Machine:
    """The machine of that name. Raises `PassError` naming those there are."""
    if name not in MACHINES:
        raise PassError(f"there is no machine '{name}'", None, f"there are: {', '.join(MACHINES)}")
    return MACHINES[name]
