"""Statistics of rows in the kernel of a product of these rows: what they are, and what they cost there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ...dialects.types import bit_width, byte_width, element_of
from ...dialects.uop import AluOp, CastOp, MovementOp, ReduceAxisOp
from .accesses import Accesses
from .cones import (
    Combination,
    Cone,
    Place,
    Reduction,
    made_of,
    only_widens,
    operands_of,
    reads_of,
    size_of,
)
from .machines import FUNCTION_COSTS, GPU

TILE_COLUMNS = 128
"""Columns of a product for which a tile computes what stands beside it, of its rows, once."""

STATISTIC_OPERATIONS = 4
"""What an element of a row costs in each tile that computes a statistic: a cast and an addition, in two warps."""

MOST_OPERATIONS = GPU.launch
"""Operations of threads that take as long as a kernel for the statistics of rows."""

SMALL_TILE = 64
"""Rows and columns of the tiles of products of which there are few: what stands in front of such a tile is computed
once in it."""

FEW_ROWS, FEW_ROWS_COLUMNS = 4, 8
"""Rows whose product with a matrix reads that once, and columns of its blocks, each of which computes what stands in
front."""

MATRIX_ROWS = 16
"""Rows that a matrix instruction has at least."""

PREPARED_OPERATIONS = 2
"""What it takes to write an element to shared memory, and to read it again, for an operand that the threads of a block
compute together (tile-prepare)."""

THREAD_COLUMNS = 4
"""Columns of a tile for which a thread computes an element of the rows once, without matrix instructions, if the block
does not compute it together."""

WAITING_OPERATIONS = 1 << 19
"""Operations of a large GPU while it waits for one element of the reduced axis: products in f32 of what is computed are
not summed in slices, nor by steps that are written out, and walk slabs of 16 elements one after the other."""

MULTIPROCESSORS = 128
"""Of a large GPU: fewer tiles leave some idle, but take as long."""

OPERATIONS_PER_BYTE = round(GPU.byte)
"""Operations that take as long as a byte of memory, of a large GPU."""

LONGEST_ROW = 2048
"""Elements of a row up to which a maximum and a sum of exponentials stay two reductions (uop-fuse-reductions)."""


@dataclass(frozen=True)
class RowStatistics:
    """The statistics of rows of a kernel that its contractions, of these rows, allow.

    beside: of what contractions read anyway, in the same loops, and do not need: the sum of squares of a norm, whose
    rows are scaled behind the product. Each tile computes them again.
    in_front: what the operand is made of: mean and variance of a LayerNorm. Each tile walks its rows before.
    operand: the product's operand that is made of those in front.
    operations: what all tiles compute again for those in front, and for that operand.
    worth: as many take as long as a kernel of their own would, and the operand in memory.
    """

    beside: Sequence[Reduction] = ()
    in_front: Sequence[Reduction] = ()
    operand: SSAValue | None = None
    operations: int = 0
    worth: int = 0

    @property
    def are_cheap(self) -> bool:
        """Whether those in front cost less than a kernel of their own."""
        return self.operations <= self.worth

    @property
    def allowed(self) -> Sequence[Reduction]:
        return [*self.beside, *self.in_front] if self.are_cheap else self.beside

    def __str__(self) -> str:
        return (
            f"its tiles would compute {self.operations:,} operations again, a kernel of its own takes about as long as "
            f"{self.worth:,}"
        )


def row_statistics(
    cone: Cone, plan: Accesses, reductions: Sequence[Reduction], contractions: Sequence[Reduction]
) -> RowStatistics:
    """The statistics of rows among a kernel's reductions: they depend on fewer ranges than its contractions of most
    ranges, go over the same, and read nothing else."""
    widest = max((len(reduction.dependent) for reduction in reductions), default=0)
    if all(len(reduction.dependent) == widest for reduction in reductions):
        return RowStatistics()
    contractions = [each for each in contractions if len(each.dependent) == widest]
    if not contractions:
        return RowStatistics()
    reads = set[Place]().union(*(reads_of(plan, reduction) for reduction in contractions))
    statistics = [
        each
        for each in reductions
        if all(each.over == other.over and each.dependent < other.dependent for other in contractions)
        and (own := [place for place in reads_of(plan, each) if place[0] in cone.leaves])
        and reads.issuperset(own)
    ]
    needed = {value.owner for value, _ in reads}
    for each in reversed(statistics):  # what they need, too
        if each.op in needed:
            needed.update(value.owner for value, _ in reads_of(plan, each))
    beside = [each for each in statistics if each.op not in needed and _is_cheap_beside(plan, each, contractions)]
    in_front = [each for each in statistics if each.op in needed]
    return _with_operand(cone, plan, beside, in_front, contractions)


def _is_cheap_beside(plan: Accesses, each: Reduction, contractions: Sequence[Reduction]) -> bool:
    tiles = max(-(-size_of(plan, other.dependent - each.dependent) // TILE_COLUMNS) for other in contractions)
    return STATISTIC_OPERATIONS * tiles * size_of(plan, each.dependent | each.over) <= MOST_OPERATIONS


def _with_operand(
    cone: Cone,
    plan: Accesses,
    beside: Sequence[Reduction],
    in_front: Sequence[Reduction],
    contractions: Sequence[Reduction],
) -> RowStatistics:
    """With what those in front cost, if one operand alone is made of them, which all contractions share."""
    owners = {each.op for each in in_front}
    places = {
        place
        for contraction in contractions
        for place in operands_of(cone, plan, contraction)
        if any(value.owner in owners for value, _ in made_of(plan, [place]))
    }
    if len(places) != 1:
        return RowStatistics(beside)
    (place,) = places
    rows = frozenset[int]().union(*(each.dependent for each in in_front))
    over = contractions[0].over
    length = size_of(plan, over)
    if len(over) != 1 or (length > LONGEST_ROW and any(_monoid(each.op) == "max" for each in in_front)):
        return RowStatistics(beside)
    of_statistics = sum(1 + _operations(plan, reads_of(plan, each), over) for each in in_front)
    of_operand = _operations(plan, made_of(plan, [place]), over)
    count, columns = size_of(plan, rows), sum(size_of(plan, each.dependent - rows) for each in contractions)
    if FEW_ROWS < count < MATRIX_ROWS and is_for_matrices(place[0]):
        return RowStatistics(beside)  # as columns of the instruction, they are in other lanes than their statistics
    tile = SMALL_TILE if count > FEW_ROWS else FEW_ROWS_COLUMNS
    walked = length * max(count * -(-columns // tile), MULTIPROCESSORS * min(count, SMALL_TILE))
    stored = _stored(place[0])
    operations = (of_statistics + of_operand) * walked
    if count > FEW_ROWS and are_prepared(cone, plan, contractions):
        operations += PREPARED_OPERATIONS * walked
    elif not is_for_matrices(place[0]):
        operations += of_operand * walked * (SMALL_TILE // THREAD_COLUMNS - 1) + WAITING_OPERATIONS * length
    worth = MOST_OPERATIONS + 2 * OPERATIONS_PER_BYTE * count * length * byte_width(element_of(stored.type))
    return RowStatistics(beside, in_front, stored, operations, worth)


def are_prepared(cone: Cone, plan: Accesses, contractions: Sequence[Reduction]) -> bool:
    """Whether a block computes the operands of a contraction together: there is one, they are for no matrix
    instruction, and each is as wide as what it is made of, of which one varies with its rows and along them."""
    if len(contractions) != 1:
        return False
    (contraction,) = contractions
    for value, access in operands_of(cone, plan, contraction):
        width = byte_width(element_of(_stored(value).type))
        leaves = [(leaf, at) for leaf, at in made_of(plan, [(value, access)]) if leaf in cone.leaves]
        if is_for_matrices(value) or any(byte_width(element_of(leaf.type)) != width for leaf, _ in leaves):
            return False
        ranges = [plan.algebra.ranges_of(at.indices) for _, at in leaves]
        if sum(bool(each & contraction.over and each - contraction.over) for each in ranges) > 1:
            return False
    return True


def _monoid(op: Combination) -> str:
    return op.monoid.data if isinstance(op, ReduceAxisOp) else ""


def _operations(plan: Accesses, places: Iterable[Place], over: frozenset[int]) -> int:
    """What is computed for each element along the ranges."""
    count = 0
    for value, access in places:
        if not plan.algebra.ranges_of(access.indices) & over:
            continue
        if isinstance(value.owner, AluOp):
            count += FUNCTION_COSTS.get(value.owner.row().name, 1)
        elif isinstance(value.owner, CastOp):
            count += 1
    return count


def _stored(value: SSAValue) -> SSAValue:
    """What a kernel would store for the operand: not moved, and not made wider."""
    while isinstance(owner := value.owner, MovementOp) or (isinstance(owner, Operation) and only_widens(owner)):
        value = owner.operands[0]
    return value


def is_for_matrices(value: SSAValue) -> bool:
    """Whether matrix instructions take the operand: 16-bit floats, or f32 cut to TF32."""
    while isinstance(value.owner, MovementOp):
        value = value.owner.operands[0]
    is_cut = isinstance(value.owner, AluOp) and value.owner.row().name == "to_tf32"
    return is_cut or bit_width(element_of(_stored(value).type)) == 16
