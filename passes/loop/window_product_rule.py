"""The schedule of convolutions as products of 16-bit floats: matrix instructions over slabs that windows share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from math import prod

from ...dialects.atoms import ATOMS, Atom
from ...dialects.axes import WARP, AxisKind
from ...dialects.loop import ReduceOp
from ...dialects.schedule import Factor, Staging
from .kernel_shape import Access, KernelShape
from .matrix_products import matrix_atom, why_no_matrix
from .schedule_parts import Axes, Choice, ceil_div, schedule_of

SHARED_BYTES = 48 * 1024
"""Shared memory that a kernel gets without asking."""

SECTOR_BYTES = 32

UNIT_BYTES = 16
"""What ldmatrix and the stores of slabs move at once."""

MOST_WARPS = 4
"""Warps of a block."""

MOST_ACCUMULATORS = 32
"""Accumulators of 4 elements a lane: half of its registers."""

DEPTHS = (4, 2, 1)
"""Instructions along the reduced axis in one step: as many as shared memory has room for."""

MOST_UNROLLED = 32
"""Instructions along taps and the reduced axis of one step that are written out."""

FEW_BLOCKS = 54
"""Blocks that half of the multiprocessors of an A100 have one each of: fewer do not count as less work."""

PIECE_INSTRUCTIONS = 90
"""What it takes to load, transpose and store 8 × 8 elements of 16 bits (counted)."""


def window_product_schedule(shape: KernelShape, row: str, column: str, reduced: str) -> Choice | str:
    """Matrix instructions over a tile of windows a block, or why not.

    The columns of a tile are places of windows: runs along the innermost axis, in several lines. What they read is
    staged once for all taps, and so is the other operand. Rows of both slabs go along the reduced axis, so that each
    tap is another row, and matrices are read as they lie; they are an odd number of 16-byte units long, which lie in
    different banks.

    Of all tiles that fit it is the one with the fewest instructions and sectors.
    """
    for rows, columns in ((row, column), (column, row)):
        found = _Product.of(shape, rows, columns, reduced)
        if not isinstance(found, str):
            break
    if isinstance(found, str):
        return found
    tiles = list(found.tiles())
    if not tiles:
        return "no tile of its windows fits shared memory"
    return found.choice(found.deepened(min(tiles, key=found.cost)))


@dataclass(frozen=True)
class _Tile:
    """What a block computes: instructions of a warp along rows, lines and columns, and warps along rows and lines.

    depth: instructions along the reduced axis in a step.
    """

    rows: int
    lines: int
    columns: int
    row_warps: int
    line_warps: int
    depth: int = 1

    @property
    def warps(self) -> int:
        return self.row_warps * self.line_warps

    @property
    def accumulators(self) -> int:
        return self.rows * self.lines * self.columns


@dataclass(frozen=True)
class _Product:
    """A convolution as a product.

    line: the axis of which columns go over several places; None if there is none.
    weights: the operand that varies with the rows. windows: the one that varies with the columns.
    """

    shape: KernelShape
    atom: Atom
    atom_name: str
    row: str
    column: str
    line: str | None
    reduced: str
    weights: Access
    windows: Access

    @staticmethod
    def of(shape: KernelShape, row: str, column: str, reduced: str) -> _Product | str:
        if reason := why_no_matrix(shape.kernel, row, column, reduced):
            return reason
        if shape.scanned or sum(isinstance(op, ReduceOp) for op in shape.kernel.body.walk()) != len(shape.reduced):
            return "the kernel reduces, or scans, more than its windows"
        name = matrix_atom(shape.kernel, reduced)
        atom = ATOMS[name]
        for axis, least in ((row, atom.m), (column, atom.n), (reduced, atom.k)):
            if shape.extents[axis] <= least // 2:
                return f"axis {axis} has {shape.extents[axis]} elements, an instruction {least}"
        operands = [access for access in shape.loads if reduced in access.axes]
        if len(operands) != 2:
            return f"{len(operands)} buffers are read along {reduced}"
        weights, windows = operands if row in operands[0].axes else operands[::-1]
        for access in operands:
            if not access.is_linear:
                return f"%{access.buffer} is read at places that are not linear"
            if _dimension(access, reduced) is None:
                return f"%{access.buffer} is not read by single steps along {reduced}"
            if access.element_bytes * atom.pack != 4:
                return f"%{access.buffer} has elements of {access.element_bytes} bytes, which are not read as matrices"
        lines = [axis for axis in shape.rows if axis not in (row, column) and axis in _shared(windows, shape.taps)]
        line = lines[-1] if lines else None
        return _Product(shape, atom, name, row, column, line, reduced, weights, windows)

    def tiles(self) -> Iterator[_Tile]:
        """Tiles that are hardly larger than the output, and whose slabs fit, one instruction deep."""
        extents, atom = self.shape.extents, self.atom
        rows, columns = ceil_div(extents[self.row], atom.m), ceil_div(extents[self.column], atom.n)
        lines = extents[self.line] if self.line else 1
        # Columns of a warp that leave none over, for each number of blocks.
        widths = sorted({ceil_div(columns, parts) for parts in range(1, columns + 1)})
        counts = (1, 2, 4)
        line_counts = (*counts, *(count for count in (3, 5, 6, 7) if lines % count == 0))
        for row_warps, line_warps, own_rows, own_lines in product(counts, counts, counts, line_counts):
            if row_warps * line_warps > MOST_WARPS:
                continue
            if row_warps * own_rows >= 2 * rows or line_warps * own_lines >= 2 * lines:
                continue
            for width in widths:
                tile = _Tile(own_rows, own_lines, width, row_warps, line_warps)
                if tile.accumulators <= MOST_ACCUMULATORS and self._fits(tile):
                    yield tile

    def deepened(self, tile: _Tile) -> _Tile:
        """The tile with as many steps of the reduced axis together as there is room for."""
        for depth in DEPTHS:
            deep = replace(tile, depth=depth)
            is_used = (depth - 1) * self.atom.k < self.shape.extents[self.reduced]
            if is_used and depth * self._taps <= MOST_UNROLLED and self._fits(deep):
                return deep
        return tile

    def _fits(self, tile: _Tile) -> bool:
        elements = sum(map(prod, self._slabs(tile)))
        row = tile.depth * self.atom.k
        return elements // row * (row + self._pad) * self.weights.element_bytes <= SHARED_BYTES

    @property
    def _pad(self) -> int:
        """Elements of one unit."""
        return UNIT_BYTES // self.weights.element_bytes

    @cached_property
    def _taps(self) -> int:
        return prod(self.shape.extents[axis] for axis in self.shape.reduced if axis != self.reduced)

    @property
    def _operands(self) -> tuple[Access, Access]:
        return self.weights, self.windows

    def _sizes(self, tile: _Tile) -> dict[str, int]:
        """How many places of each tiled axis a block walks in one step."""
        sizes = {
            self.row: tile.row_warps * tile.rows * self.atom.m,
            self.column: tile.columns * self.atom.n,
            self.reduced: tile.depth * self.atom.k,
        }
        if self.line is not None:
            sizes[self.line] = tile.line_warps * tile.lines
        return sizes

    @cached_property
    def _dimensions(self) -> list[list[tuple[int, list[tuple[str, int]]]]]:
        """For each dimension of each operand how many places taps alone reach, and the tiled axes with their steps."""
        taps = [axis for axis in self.shape.reduced if axis != self.reduced]
        tiled = [axis for axis in (self.row, self.column, self.line, self.reduced) if axis is not None]
        return [
            [
                (
                    1 + sum(index.get(axis, 0) * (self.shape.extents[axis] - 1) for axis in taps),
                    [(axis, index[axis]) for axis in tiled if index.get(axis)],
                )
                for index in access.indices
                if index is not None
            ]
            for access in self._operands
        ]

    def _slabs(self, tile: _Tile) -> list[list[int]]:
        """The extents of the slabs of both operands, which are not padded."""
        sizes = self._sizes(tile)
        return [
            [reach + sum(step * (sizes[axis] - 1) for axis, step in steps) for reach, steps in dimensions]
            for dimensions in self._dimensions
        ]

    def _blocks(self, tile: _Tile) -> dict[str, int]:
        """The blocks along each axis."""
        sizes = self._sizes(tile)
        return {axis: ceil_div(max(1, self.shape.extents[axis]), sizes.get(axis, 1)) for axis in self.shape.parallel}

    def cost(self, tile: _Tile) -> tuple[float, int]:
        """Instructions of all blocks and sectors of windows and results, of which a multiprocessor moves as many in the
        same time, as if there were at least `FEW_BLOCKS`; of equals, the tile with the fewest warps."""
        blocks, sizes = self._blocks(tile), self._sizes(tile)
        steps = ceil_div(self.shape.extents[self.reduced], tile.depth * self.atom.k)
        # Two matrices of B, or one of A, are a read of four of 8 × 8.
        reads = tile.rows + ceil_div(tile.lines * tile.columns, 2)
        per_step = tile.warps * tile.depth * self._taps * (tile.accumulators + reads)
        slabs = self._slabs(tile)
        per_step += sum(map(prod, slabs)) / (64 * WARP) * PIECE_INSTRUCTIONS
        *lines, length = slabs[1]
        per_step += prod(lines) * self._sectors(length, self.windows)
        run, runs = sizes[self.column], sizes[self.row] * tile.line_warps
        if blocks[self.column] > 1:
            runs *= tile.lines
        else:  # the whole lines of a warp follow each other
            run = self.shape.extents[self.column] * tile.lines
        per_block = steps * per_step + runs * self._sectors(run, self.shape.stores[0])
        return max(prod(blocks.values()), FEW_BLOCKS) * per_block, tile.warps

    @staticmethod
    def _sectors(elements: int, access: Access) -> float:
        """Those of a run of so many elements: one begins before it, or ends behind it, unless it is made of whole
        ones."""
        sectors, rest = divmod(elements * access.element_bytes, SECTOR_BYTES)
        return sectors + (1 + rest / SECTOR_BYTES if rest else 0)

    def choice(self, tile: _Tile) -> Choice:
        shape, blocks = self.shape, self._blocks(tile)
        steps = ceil_div(shape.extents[self.reduced], tile.depth * self.atom.k)
        mma = AxisKind.MMA
        axes: Axes = {
            self.row: _factors(
                (blocks[self.row], AxisKind.BLOCK),
                (tile.row_warps, AxisKind.WARP),
                (tile.rows, AxisKind.REGISTER),
                (self.atom.m, mma),
            ),
            self.column: _factors(
                (blocks[self.column], AxisKind.BLOCK), (tile.columns, AxisKind.REGISTER), (self.atom.n, mma)
            ),
            self.reduced: _factors((steps, AxisKind.LOOP), (tile.depth, AxisKind.UNROLL), (self.atom.k, mma)),
        }
        if self.line is not None:
            axes[self.line] = _factors(
                (blocks[self.line], AxisKind.BLOCK), (tile.line_warps, AxisKind.WARP), (tile.lines, AxisKind.REGISTER)
            )
        written_out = tile.depth
        for axis in reversed(shape.reduced):
            if axis != self.reduced:
                written_out *= shape.extents[axis]
                kind = AxisKind.UNROLL if written_out <= MOST_UNROLLED else AxisKind.LOOP
                axes[axis] = [Factor(max(1, shape.extents[axis]), kind)]
        stage = tuple(
            Staging(access.buffer, along=_along(access, self.reduced), pad=self._pad) for access in self._operands
        )
        sizes = self._sizes(tile)
        lines = f"{sizes[self.line]} lines of " if self.line is not None else ""
        reason = (
            f"windows as a product by {self.atom_name}: a tile of {sizes[self.row]} x {lines}{sizes[self.column]} a "
            f"block of {tile.warps} warps, {sizes[self.reduced]} deep, {steps} steps"
        )
        return Choice(schedule_of(shape, axes, stage), reason)


def _shared(access: Access, taps: list[str]) -> frozenset[str]:
    """The axes that share a dimension with a tap."""
    return frozenset[str]().union(*(axes for axes in access.index_axes if not axes.isdisjoint(taps)))


def _dimension(access: Access, axis: str) -> int | None:
    """The dimension whose index is a place along the axis, and of nothing that a tile walks; None if there is none."""
    places = [place for place, index in enumerate(access.indices) if index and index.get(axis)]
    return places[0] if len(places) == 1 and access.indices[places[0]] == {axis: 1} else None


def _along(access: Access, axis: str) -> int | None:
    """That dimension, as a staging says it: not if it is the last."""
    place = _dimension(access, axis)
    return None if place == len(access.indices) - 1 else place


def _factors(*parts: tuple[int, AxisKind]) -> list[Factor]:
    return [Factor(extent, kind) for extent, kind in parts if extent > 1]
