"""How long a product of matrices takes on a GPU, by its tile and the split of its sums: estimates that rank choices.

Few tiles leave most of a GPU idle, and the multiprocessors that have one wait for each of its slabs. Smaller tiles make
more blocks, and read more. Slices of the reduced axis, which warps of one block sum side by side, make the slabs of a
step larger, and the steps fewer; what they have summed meets in shared memory. Parts, which are blocks, meet in global
memory, in another kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ...dialects.gpu_kernel import ARCHITECTURES
from .schedule_parts import ceil_div, power_of_two_above

_GPU = ARCHITECTURES["sm_80"]
"""The estimates are for an A100, which has the fewest multiprocessors."""

MULTIPROCESSOR_BYTES, CHIP_BYTES = 64, 3400
"""Bytes of L2 a clock that one multiprocessor takes, and that all do (as in bench/kernel_bounds.py)."""

SHARED_BYTES = 128
"""Bytes of shared memory a clock."""

STEP_CLOCKS = 700
"""Between asking for a slab, one step ahead, and the end of the step that uses it: the latency of L2 and a barrier."""

BLOCK_CLOCKS = 1000
"""Of a block, beside its steps."""

LAUNCH_CLOCKS = 4000
"""Between the end of a kernel and the begin of one that waits for it, about 3 µs."""

SUM_BYTES = 4
"""Of a partial sum."""

DEPTH_BYTES = 64
"""Bytes of what is multiplied that a slab holds along the reduced axis, for each slice."""


@dataclass(frozen=True)
class Tiling:
    """tile: rows and columns, at most, of the results of a block. slices: of the reduced axis, summed by warps of their
    own."""

    tile: int
    slices: int


@dataclass(frozen=True)
class Product:
    """The extents of a product; `batches` of it.

    element_bytes: of what is multiplied. multiplications: with their additions, a clock on a multiprocessor.
    """

    rows: int
    columns: int
    depth: int
    batches: int
    element_bytes: int
    multiplications: int

    @staticmethod
    def of(rows: int, columns: int, depth: int, batches: int, element_bytes: int, *, by_matrices: bool) -> Product:
        """by_matrices: whether matrix instructions compute it: 16 bits, or f32 cut to TF32."""
        rate = 2048 // element_bytes if by_matrices else 64
        return Product(rows, columns, depth, batches, element_bytes, rate)

    def tiles(self, tile: int) -> int:
        """Of how many such tiles the results consist."""
        return self.batches * ceil_div(self.rows, tile) * ceil_div(self.columns, tile)

    @property
    def step(self) -> int:
        """Elements of the reduced axis in a slab for each slice."""
        return DEPTH_BYTES // self.element_bytes

    def fastest(self, fits: Callable[[Tiling], bool] = lambda _: True) -> Tiling:
        """The tiling of few tiles that takes the least time, the first of equals: tiles of 64 rows and columns without
        slices, or others that fit, whose slices have two steps at least."""
        first, *others = (Tiling(*tiling) for tiling in ((64, 1), (64, 2), (32, 1), (32, 2), (32, 4)))
        enough = [tiling for tiling in others if tiling.slices == 1 or self.depth >= 2 * self.step * tiling.slices]
        return min((first, *filter(fits, enough)), key=self.clocks)

    def clocks(self, tiling: Tiling) -> int:
        """Of the one kernel that computes it so."""
        rows, columns = (min(tiling.tile, power_of_two_above(extent)) for extent in (self.rows, self.columns))
        blocks = self.tiles(tiling.tile)
        busiest = ceil_div(blocks, _GPU.multiprocessors)
        read = (rows + columns) * self.depth * self.element_bytes
        # Two blocks of a multiprocessor wait at the same time.
        waiting = ceil_div(busiest, 2) * ceil_div(self.depth, self.step * tiling.slices) * STEP_CLOCKS
        steps = max(
            busiest * rows * columns * self.depth // self.multiplications,
            busiest * read // MULTIPROCESSOR_BYTES,
            blocks * read // CHIP_BYTES,
            waiting,
        )
        exchanged = 2 * (tiling.slices - 1) * rows * columns * SUM_BYTES
        return steps + busiest * exchanged // SHARED_BYTES + BLOCK_CLOCKS

    def clocks_in_parts(self, count: int) -> int:
        """Of the kernel that computes so many parts as fast as it can, and of one that adds them."""
        part = replace(self, depth=ceil_div(self.depth, count), batches=self.batches * count)
        partial = part.batches * self.rows * self.columns * SUM_BYTES
        adding = LAUNCH_CLOCKS + BLOCK_CLOCKS + STEP_CLOCKS + 2 * partial // CHIP_BYTES
        return part.clocks(part.fastest()) + adding
