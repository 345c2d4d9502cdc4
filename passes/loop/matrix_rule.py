"""The schedule of products of 16-bit floats, and of f32 cut to TF32: matrix instructions over staged slabs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from ...dialects.atoms import ATOMS, Atom
from ...dialects.axes import WARP, AxisKind
from ...dialects.loop import ReduceOp
from ...dialects.schedule import BlockGroup, Factor, Staging
from ...dialects.traversal import ops_inside
from ...dialects.types import element_of
from ...dialects.uop import ALU_OPS
from .kernel_shape import Access, KernelShape
from .matrix_products import is_made_of_reductions, matrix_atom, products_along, why_no_matrix
from .product_cost import DEPTH_BYTES, SUM_BYTES, Product, Tiling
from .product_rule import REGISTERS
from .schedule_parts import Axes, Choice, ceil_div, power_of_two_above, schedule_of

SHARED_BYTES = 48 * 1024
"""Shared memory that a kernel gets without asking."""

WARPS = 4
"""Warps of a block."""

SLABS = 2
"""Slabs of one operand that are held at once: one is used while the next is on its way."""

WARP_TILE = 32
"""Rows and columns of a tile that one warp computes alone."""

SWIZZLE_BYTES = 16
"""Bytes that ldmatrix and asynchronous copies move at once."""

FEW_BLOCKS = 64
"""Blocks below which a smaller tile, which makes four times as many, is the faster one: about half of the
multiprocessors of a large GPU (a model's estimate, not measured)."""


OTHER_REGISTERS = 96
"""Registers of a thread beside accumulators: fragments, addresses, sums of rows."""

_PERIODIC = (ALU_OPS["sin"], ALU_OPS["cos"])

GROUP, MANY_COLUMNS = 8, 64
"""Rows of tiles whose blocks follow each other where a row has so many tiles: the two hundred or so blocks that run at
the same time read 8 + 27 rows and columns of tiles of the operands, not 3 + 64 or more."""


@dataclass(frozen=True)
class _Side:
    """The rows or the columns of a block's tile: `registers` instructions of `atom` elements in each of its warps."""

    axis: str
    extent: int
    atom: int
    tile: int
    warps: int

    @property
    def blocks(self) -> int:
        return ceil_div(self.extent, self.tile)

    def factors(self) -> list[Factor]:
        outer = (
            (self.blocks, AxisKind.BLOCK),
            (self.warps, AxisKind.WARP),
            (self.tile // (self.warps * self.atom), AxisKind.REGISTER),
        )
        return [*(Factor(n, kind) for n, kind in outer if n > 1), Factor(self.atom, AxisKind.MMA)]


def matrix_schedule(shape: KernelShape, row: str, column: str, reduced: str) -> Choice | str:
    """A tile of the output a block, of which each warp computes a part by matrix instructions; or why not.

    Slabs of the operands are copied ahead, and lie in shared memory in units of 16 bytes permuted so that neither the
    copies nor the reads of matrices have bank conflicts.
    """
    reasons: list[str] = []
    for rows, columns in ((row, column), (column, row)):
        reason = _why_not(shape, rows, columns, reduced)
        if reason is None:
            return _schedule(shape, rows, columns, reduced)
        reasons.append(reason)
    return reasons[0]


def _why_not(shape: KernelShape, row: str, column: str, reduced: str) -> str | None:
    if reason := why_no_matrix(shape.kernel, row, column, reduced):
        return reason
    if len(shape.reduced) > 1 or shape.scanned:
        return "the kernel reduces, or scans, along further axes"
    atom = ATOMS[matrix_atom(shape.kernel, reduced)]
    for axis, least in ((row, atom.m), (column, atom.n), (reduced, atom.k)):
        if shape.extents[axis] < least:
            return f"axis {axis} has {shape.extents[axis]} elements, an instruction {least}"
    tiled = {row, column, reduced}
    for access in _operands(shape, reduced):
        for index in access.indices:
            along = {} if index is None else {axis: step for axis, step in index.items() if axis in tiled}
            if index is None or len(along) > 1 or any(step != 1 for step in along.values()):
                return f"%{access.buffer} is not read in boxes"
    return None


def _operands(shape: KernelShape, reduced: str) -> list[Access]:
    """What is read along the reduced axis: once where several products read it."""
    found: list[Access] = []
    for access in shape.loads:
        if reduced in access.axes and (access.buffer, access.indices) not in ((x.buffer, x.indices) for x in found):
            found.append(access)
    return found


def _sides(
    shape: KernelShape,
    row: str,
    column: str,
    atom: Atom,
    largest: int,
    products: int,
    most_across: int,
    warps: int = WARPS,
) -> tuple[_Side, _Side]:
    """The tile of a block, at most so long, and so wide in all of its products together, and its warps, at most so many
    side by side: in squares where they can be.

    Half of that where several products are combined with sines or cosines, as a rotary embedding does: the sums of
    all, which are needed at once, take half of a thread's registers, and those functions many of the others.
    """
    m, n = shape.extents[row], shape.extents[column]
    is_periodic = any(isinstance(op, _PERIODIC) for op in shape.kernel.walk())
    most_sums = largest * largest // (2 if products > 1 and is_periodic else 1)
    rows = max(atom.m, min(largest, power_of_two_above(m)))
    most = max(2 * atom.n, largest // power_of_two_above(products))
    columns = max(atom.n, min(most, power_of_two_above(n)))
    while rows > atom.m and products * rows * columns > most_sums:
        rows //= 2
    across = min(most_across, warps, max(1, columns // 16))
    down = min(warps // across, rows // atom.m)
    across = min(warps // down, max(1, columns // 16))
    return _Side(row, m, atom.m, rows, down), _Side(column, n, atom.n, columns, across)


def _staging(access: Access, slabs: int, reduced: str, atom: Atom) -> Staging:
    """The slabs of one operand, swizzled for ldmatrix where that can read it: elements as wide as the instruction's,
    which are not transposed if they are of 32 bits.

    Else a lane reads the neighbours along the reduced axis that are in a register, of 8 rows and 4 places in each. Rows
    that are 8 words more than a multiple of 32 apart, or, where two neighbours lie in two rows, two of which are 8
    words more, have them in different banks.
    """
    if len(access.indices) == 1:
        return Staging(access.buffer, slabs, True)
    along = access.contiguous_axis == reduced
    if access.element_bytes * atom.pack == 4 and (atom.pack == 2 or along):
        return Staging(access.buffer, slabs, True, swizzle=SWIZZLE_BYTES // access.element_bytes)
    pad = 8 if along or atom.pack == 1 else 4
    return Staging(access.buffer, slabs, True, pad * 4 // access.element_bytes)


def _exchange_bytes(shape: KernelShape, sides: tuple[_Side, _Side], slices: int, operands: Sequence[Access]) -> int:
    """Shared memory beside the slabs in which slices meet, and through which the lanes exchange results, 16 rows of
    each warp: none where those are of the operands' type, and can lie where the slabs were."""
    types = {element_of(access.op.buffer.type) for access in operands}
    results = [access.element_bytes for access in shape.stores if element_of(access.op.buffer.type) not in types]
    sums = (slices - 1) * sides[0].tile * sides[1].tile * SUM_BYTES
    return sums + 16 * sides[0].warps * sides[1].tile * max(results, default=0)


def _staged_behind(
    shape: KernelShape, sizes: Mapping[str, int], operands: Collection[str], room: int
) -> dict[str, Staging]:
    """What is read behind the sum, alike for all rows or all columns (a bias), in so many bytes.

    Each warp would read its own part, and wait for it; so it comes with the first slabs, for all of them.
    """
    stage: dict[str, Staging] = {}
    for access in shape.loads:
        tiled = [axis for axis in sizes if axis in access.axes]
        if access.buffer in operands or len(tiled) != 1 or access.contiguous_axis != tiled[0]:
            continue
        # What asynchronous copies move are words.
        is_words = shape.extents[tiled[0]] * access.element_bytes % 4 == 0
        size = sizes[tiled[0]] * access.element_bytes
        if access.is_linear and is_words and access.buffer not in stage and size <= room:
            stage[access.buffer] = Staging(access.buffer, 1, True)
            room -= size
    return stage


def _slab_bytes(operands: Sequence[Access], sizes: Mapping[str, int]) -> int:
    return sum(
        # A quarter more than its elements where rows are padded.
        access.element_bytes
        * prod(size for axis, size in sizes.items() if axis in access.axes)
        * (5 if access.element_bytes > 2 else 4)
        // 4
        for access in operands
    )


def _slices_of_few(
    shape: KernelShape, reduced: str, batches: int, depth: int, sides_of: Callable[[int], tuple[_Side, _Side]]
) -> Tiling:
    """The tiling of a product of few tiles, where it has room for its slabs and its sums.

    What several sums have would meet in shared memory one after the other: they are not sliced.
    """
    rows, columns = sides_of(64)
    operands = _operands(shape, reduced)
    element_bytes = max(access.element_bytes for access in operands)
    length = shape.extents[reduced]
    product = Product.of(rows.extent, columns.extent, length, batches, element_bytes, by_matrices=True)
    reductions = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    sums = [op for op in reductions if op.axis.axis.data == reduced]
    if len(sums) > 1 or product.tiles(64) >= FEW_BLOCKS:
        return Tiling(64, 1)

    def fits(tiling: Tiling) -> bool:
        rows, columns = sides_of(tiling.tile)
        sizes = {rows.axis: rows.tile, columns.axis: columns.tile, reduced: depth * tiling.slices}
        beside = _exchange_bytes(shape, (rows, columns), tiling.slices, operands)
        return SLABS * _slab_bytes(operands, sizes) + beside <= SHARED_BYTES

    return product.fastest(fits)


def _schedule(shape: KernelShape, row: str, column: str, reduced: str) -> Choice:
    batches = prod(max(1, shape.extents[axis]) for axis in shape.parallel if axis not in (row, column))
    name = matrix_atom(shape.kernel, reduced)
    atom, length = ATOMS[name], shape.extents[reduced]
    elements = products_along(shape.kernel, reduced)
    products = len(elements)
    # What is computed for an operand is computed by each of the warps that take it.
    across = 1 if any(is_made_of_reductions(element.result) for element in elements) else 2
    depth = DEPTH_BYTES * atom.pack // 4
    depth = depth if length > depth else atom.k

    def sides_of(tile: int) -> tuple[_Side, _Side]:
        warps = WARPS if tile > WARP_TILE else 1
        return _sides(shape, row, column, atom, tile, products, across, warps)

    tiling = Tiling(128, 1)
    sides = sides_of(tiling.tile)
    if prod(side.blocks for side in sides) * batches < FEW_BLOCKS:
        tiling = _slices_of_few(shape, reduced, batches, depth, sides_of)
        sides = sides_of(tiling.tile)
    step = depth * tiling.slices
    steps = ceil_div(length, step)
    axes: Axes = {row: sides[0].factors(), column: sides[1].factors()}
    loops = ((steps, AxisKind.LOOP), (tiling.slices, AxisKind.WARP), (depth // atom.k, AxisKind.UNROLL))
    axes[reduced] = [*(Factor(n, kind) for n, kind in loops if n > 1), Factor(atom.k, AxisKind.MMA)]

    sizes = {row: sides[0].tile, column: sides[1].tile, reduced: step}
    operands = _operands(shape, reduced)
    slab_bytes = _slab_bytes(operands, sizes)
    slabs = min(SLABS, steps, SHARED_BYTES // slab_bytes)
    stage: dict[str, Staging] = {}
    for access in operands:
        if steps > 1 and slabs:  # a slab of one step is read once
            stage[access.buffer] = _staging(access, slabs, reduced, atom)
    if steps > 1 and slabs > 1:
        room = SHARED_BYTES - slabs * slab_bytes - _exchange_bytes(shape, sides, tiling.slices, operands)
        stage |= _staged_behind(shape, sizes, stage, room)
    what = "product" if products == 1 else f"{products} products"
    reason = (
        f"{what} by {name}: a tile of {sides[0].tile} x {sides[1].tile} a block of "
        f"{sides[0].warps * sides[1].warps * tiling.slices} warps, {step} deep, {steps} steps"
    )
    if tiling.slices > 1:
        reason += f", summed in {tiling.slices} slices by warps of their own"
    first, last = sorted(zip((row, column), sides, strict=True), key=lambda side: shape.parallel.index(side[0]))
    group = None
    if last[1].blocks >= MANY_COLUMNS and first[1].blocks % GROUP == 0:
        group = BlockGroup(first[0], GROUP)
        reason += f", {GROUP} rows of them at once"
    # The reduced axis stands behind rows and columns, though sums of rows may come first in the text.
    sums = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    min_blocks = None
    if len(sums) > products:  # ptxas, told nothing, spills some of what rows are summed in
        threads = WARP * sides[0].warps * sides[1].warps * tiling.slices
        accumulators = products * sides[0].tile * sides[1].tile * tiling.slices // threads
        min_blocks = max(1, REGISTERS // (threads * (accumulators + OTHER_REGISTERS)))
    schedule = schedule_of(shape, axes, tuple(stage.values()), shape.parallel, min_blocks, group)
    return Choice(schedule, reason)
