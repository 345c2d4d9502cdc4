"""What a fused kernel cannot do: the criteria by which `uop-partition` cuts, whatever a cut costs.

A kernel is judged on the accesses of its trial range form (accesses.py). It has a parallel space (the ranges of its
result) and, where it reduces, one reduction space.

One reduction space
    All reductions of a kernel depend on the same ranges and go over the same ranges (maximum and sum of a softmax,
    mean and variance of a norm). Where they differ, one that feeds another is cut; of two that do not feed each
    other, the one with the smaller result.
Scans
    A scan walks its axis: all of a kernel depend on the same ranges and go over the same one, there is no reduction
    beside them, and each is read at one step of its axis after the other.
Contractions
    A contraction is a reduction whose elements combine values none of which depends on the whole space: a matrix
    product. The only other reductions of its kernel are contractions that share an operand with it (gate and up) and
    need nothing of it, as many as the machine's tiles can hold (machines.py), and statistics of the rows that they read
    (row_statistics.py). Results are indexed by whole ranges, so that they can be tiled.
One pass
    Attention, a softmax between two products, is no second space: its reductions become one walk over the keys
    (one_pass.py), in which scores are computed once for all channels of the values, whose sums a block holds:
    `VALUE_CHANNELS` at most.
Gather
    What is gathered from lies in memory.
Places
    A value is not computed at more than `PLACES` places for each element of the result (stencils of stencils).

What could be done, but repeats work, is a question of price: fusion_judge.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.uop import ConstOp, GatherOp, IotaOp, MovementOp, ScanAxisOp
from .accesses import Access, Accesses, CrowdedError, UnorderedScanError
from .axis_classes import AxisPairs
from .cones import Combination, Cone, Reduction, byte_count, reads_of, size_of

PLACES = 16
"""Places of a value for each element of the result: more make the kernel's text long."""

VALUE_CHANNELS = 256
"""Sums that a block holds for each query: more would be computed in parts, each with all scores of its own."""

RUN = 8
"""Neighbours of a dimension of a contraction's result that are a tile: the columns of a matrix instruction."""


@dataclass(frozen=True)
class Violation:
    """What is wrong with a kernel: the op whose result should lie in memory instead, and what it does."""

    op: Operation
    reason: str

    def __str__(self) -> str:
        return f"{self.op.name} of {self.op.results[0].type} {self.reason}"


def find_impossible(
    cone: Cone, plan: Accesses, reductions: Sequence[Reduction], contractions: Sequence[Reduction], products: int
) -> Violation | None:
    """The first criterion that the kernel breaks whose reductions, but for statistics of rows, are these.

    contractions: those that are products. products: the most that a kernel may have.
    """
    return _find_second_space(cone, reductions) or (
        _find_mixed_contraction(cone, plan, reductions, contractions, products) if contractions else None
    )


def find_gathered(cone: Cone) -> Violation | None:
    """What a kernel computes and reads at places that data chooses."""
    for op in cone.ops:
        if isinstance(op, GatherOp) and (producer := _producer(op.input, cone)) is not None:
            return Violation(producer, "would be read at places that data chooses")
    return None


def find_wide_pass(plan: Accesses, scores: Reduction, values: Reduction) -> Violation | None:
    """The scores of a kernel whose reductions become one pass, if no block can hold what it sums."""
    channels = size_of(plan, values.dependent - scores.dependent)
    if channels > VALUE_CHANNELS:
        reason = f"would be one pass with that of its softmax, but {channels} channels are more than {VALUE_CHANNELS}"
        return Violation(scores.op, reason)
    return None


def find_accesses(cone: Cone, pairs: AxisPairs) -> Accesses | Violation:
    """The plan of a kernel's accesses, or what cannot be read as it is."""
    try:
        return Accesses(cone.ops, cone.roots, cone.leaves, PLACES, pairs, cone.parts)
    except CrowdedError as error:
        reason = f"would be computed at more than {PLACES} places for each element of the result"
        return Violation(error.op, reason)
    except UnorderedScanError as error:
        return Violation(error.scan, "would be read elsewhere than at one step of its axis after the other")


def _producer(value: SSAValue, cone: Cone) -> Operation | None:
    """The op that computes a value, seen through movement; None if it is a leaf, a constant or an iota."""
    while value not in cone.leaves:
        op = value.owner
        assert isinstance(op, Operation)
        if not isinstance(op, MovementOp | GatherOp):
            return None if isinstance(op, ConstOp | IotaOp) else op
        value = op.operands[0]
    return None


def _find_second_space(cone: Cone, reductions: Sequence[Reduction]) -> Violation | None:
    if len({reduction.space for reduction in reductions}) == 1:
        return None
    space = {reduction.op: reduction.space for reduction in reductions}
    for reduction in reductions:
        if space[reduction.op] != reduction.space:
            return Violation(reduction.op, "would be computed over several ranges")
    upstream: dict[Operation | Block, frozenset[Operation | Block]] = {}
    for op in cone.ops:
        owners = [value.owner for value in op.operands if value not in cone.leaves]
        sets = [upstream[owner] | {owner} if owner in space else upstream[owner] for owner in owners]
        upstream[op] = frozenset[Operation | Block]().union(*sets)
        if isinstance(op, Combination):
            for other in space:
                if other in upstream[op] and space[other] != space.get(op):
                    return Violation(other, f"feeds a {_kind(op, other)}")
    first, *rest = space
    other = next(op for op in rest if space[op] != space[first])
    smaller = min((first, other), key=lambda op: sum(map(byte_count, op.results)))
    return Violation(smaller, f"stands beside a {_kind(other if smaller is first else first, smaller)}")


def _kind(op: Combination, other: Combination) -> str:
    """What `op` is, and how it differs from `other`."""
    if isinstance(op, ScanAxisOp) is not isinstance(other, ScanAxisOp):
        return "scan" if isinstance(op, ScanAxisOp) else f"{op.monoid.data} over an axis"
    return f"{op.monoid.data} over other axes"


def _find_mixed_contraction(
    cone: Cone, plan: Accesses, reductions: Sequence[Reduction], contractions: Sequence[Reduction], products: int
) -> Violation | None:
    first = contractions[0]
    if len(contractions) < len(reductions):
        other = next(reduction for reduction in reductions if reduction not in contractions)
        return Violation(
            min(first, other, key=reductions.index).op,
            "shares a kernel with another reduction, and one is a contraction",
        )
    if len(reductions) > products:
        return Violation(first.op, f"shares a kernel with {len(reductions) - 1} other contractions")
    for number, contraction in enumerate(contractions):
        for other in contractions[:number]:
            if not _is_beside(cone, plan, other, contraction):
                return Violation(other.op, "shares a kernel with another contraction, but no operand")
    return None


def is_tiled(plan: Accesses, access: Access) -> bool:
    """Whether each index walks neighbours along a range of its own: a dimension, or runs of it (the channels of a
    head) that are long enough for a tile and are neighbours in the kernel's result, too."""
    used: set[int] = set()
    _, root = plan.roots[0]
    neighbours = plan.algebra.ranges(next((index for index in reversed(root.indices) if index[1]), (0, ())))
    for index in access.indices:
        ranges = {plan.algebra.as_range((0, ((atom, 1),))): coefficient for atom, coefficient in index[1]}
        if None in ranges or not used.isdisjoint(ranges):
            return False
        used.update(number for number in ranges if number is not None)
        runs = [number for number, step in ranges.items() if step == 1 and number is not None]
        if ranges and not runs:
            return False
        if len(ranges) > 1 and (plan.algebra.extents[runs[0]] < RUN or runs[0] not in neighbours):
            return False
    return True


def _is_beside(cone: Cone, plan: Accesses, one: Reduction, other: Reduction) -> bool:
    """Whether two contractions read some elements at the same places, and neither needs the other."""
    one_reads, other_reads = (set(reads_of(plan, reduction)) for reduction in (one, other))
    if any(value.owner is one.op for value, _ in other_reads) or any(value.owner is other.op for value, _ in one_reads):
        return False
    return any(value in cone.leaves for value, _ in one_reads & other_reads)
