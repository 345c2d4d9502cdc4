"""What a fused kernel must not do: the criteria by which `uop-partition` cuts.

A kernel is judged on the accesses of its trial range form (accesses.py). It has a parallel space (the ranges of its
result) and, where it reduces, one reduction space.

Recomputation
    A reduction is computed once for each element of its result. Threads of an axis that it does not depend on would
    all compute it again (a norm fused into the matrix product behind it: once for each output column), and so would
    a second place at which it is read. An axis that the reduction itself goes over does not count: the phases of a
    softmax walk it one after the other.
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
    need nothing of it, `PRODUCTS` in all, and statistics of the rows that they read; and their results are indexed by
    whole ranges, so that they can be tiled. Statistics that an operand is made of (LayerNorm) are computed again by
    each tile in front of the product, where that costs less than a kernel of their own (row_statistics.py).
    What is computed for one of its operands is computed again for each tile of the other: at most a few cheap ops.
One pass
    Attention, a softmax between two products, is no second space: its reductions become one walk over the keys
    (one_pass.py), in which scores are computed once for all channels of the values, whose sums a block holds:
    `VALUE_CHANNELS` at most. The scores do not depend on these channels, and are not computed again for them. What else
    is computed for an operand of the two products is.
Gather
    What is gathered from lies in memory.
Places
    A value is not computed at more than `PLACES` places for each element of the result (stencils of stencils).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import AluOp, ConstOp, GatherOp, IotaOp, MovementOp, ScanAxisOp
from .accesses import Access, Accesses, CrowdedError, UnorderedScanError
from .axis_classes import AxisPairs
from .cones import (
    Combination,
    Cone,
    Reduction,
    byte_count,
    is_contraction,
    operands_of,
    reads_of,
    reductions_of,
    size_of,
)
from .row_statistics import DEAR_COST, DEAR_OPS, row_statistics

RECOMPUTATION = 1.5
"""How often a reduction may be computed for each of its elements: a bit more than once, for padding of the result."""

PLACES = 16

PRODUCTS = 8
"""Contractions in one kernel: more leave each a tile too narrow for matrix instructions."""

VALUE_CHANNELS = 256
"""Sums that a block holds for each query: more would be computed in parts, each with all scores of its own."""

RUN = 8
"""Neighbours of a dimension of a contraction's result that are a tile: the columns of a matrix instruction."""

OPERAND_COST = 6
"""What an operand of a contraction may cost: its loads and its ops, a dear one counted as `DEAR_COST`."""

OPERAND_REPETITION = 16
"""Below this many repetitions the cost of an operand does not matter."""


@dataclass(frozen=True)
class Violation:
    """A criterion that a kernel breaks: the op whose result should lie in memory instead, and what it does."""

    op: Operation
    reason: str

    def __str__(self) -> str:
        return f"{self.op.name} of {self.op.results[0].type} {self.reason}"


def find_violation(
    cone: Cone,
    pairs: AxisPairs | None = None,
    one_pass: frozenset[Operation] = frozenset(),
    products: int = PRODUCTS,
) -> Violation | None:
    """The first criterion that the kernel breaks, None if it keeps them all.

    pairs: see `Accesses`. one_pass: the kernel's reductions, where they become one pass over an axis.
    products: the most contractions that a kernel may have.
    """
    for op in cone.ops:
        if isinstance(op, GatherOp) and (producer := _producer(op.input, cone)) is not None:
            return Violation(producer, "would be read at places that data chooses")
    try:
        plan = Accesses(cone.ops, cone.roots, cone.leaves, PLACES, pairs, cone.parts)
    except CrowdedError as error:
        return Violation(error.op, f"would be computed at more than {PLACES} places for each element of the result")
    except UnorderedScanError as error:
        return Violation(error.scan, "would be read elsewhere than at one step of its axis after the other")
    reductions = reductions_of(cone, plan)
    if not reductions:
        return None
    if one_pass:
        return _find_wide_pass(cone, plan, reductions)
    if products > 1:
        statistics = row_statistics(cone, plan, reductions)
        if not statistics.are_cheap:
            return Violation(statistics.in_front[0].op, f"is needed by a product of its rows: {statistics}")
        reductions = [each for each in reductions if each not in statistics.allowed]
    return (
        _find_recomputation(plan, reductions)
        or _find_second_space(cone, reductions)
        or _find_untiled_contraction(cone, plan, reductions, products)
    )


def _producer(value: SSAValue, cone: Cone) -> Operation | None:
    """The op that computes a value, seen through movement; None if it is a leaf, a constant or an iota."""
    while value not in cone.leaves:
        op = value.owner
        assert isinstance(op, Operation)
        if not isinstance(op, MovementOp | GatherOp):
            return None if isinstance(op, ConstOp | IotaOp) else op
        value = op.operands[0]
    return None


def _find_recomputation(plan: Accesses, reductions: Sequence[Reduction]) -> Violation | None:
    parallel = frozenset[int]().union(*(plan.algebra.ranges_of(access.indices) for _, access in plan.roots))
    steps: dict[Combination, int] = {}
    elements: dict[Combination, int] = {}
    for reduction in reductions:
        steps[reduction.op] = steps.get(reduction.op, 0) + size_of(plan, parallel - reduction.bound)
        elements[reduction.op] = elements.get(reduction.op, 0) + size_of(plan, reduction.dependent)
    for op, count in steps.items():
        # Different places may be different elements: parts of the result that are computed one beside the other.
        size = prod(max(extent, 1) for extent in shape_of(op.results[0].type))
        count /= min(size, elements[op])
        if count > RECOMPUTATION:
            return Violation(op, f"would be computed {count:.4g} times for each of its elements")
    return None


def _find_second_space(cone: Cone, reductions: Sequence[Reduction]) -> Violation | None:
    if len({reduction.space for reduction in reductions}) == 1:
        return None
    space = {reduction.op: reduction.space for reduction in reductions}
    upstream: dict[Operation | Block, frozenset[Operation | Block]] = {}
    for op in cone.ops:
        owners = [value.owner for value in op.operands if value not in cone.leaves]
        sets = [upstream[owner] | {owner} if owner in space else upstream[owner] for owner in owners]
        upstream[op] = frozenset[Operation | Block]().union(*sets)
        if isinstance(op, Combination):
            for other in space:
                if other in upstream[op] and space[other] != space[op]:
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


def _find_untiled_contraction(
    cone: Cone, plan: Accesses, reductions: Sequence[Reduction], products: int
) -> Violation | None:
    contractions = [reduction for reduction in reductions if is_contraction(cone, plan, reduction)]
    if not contractions:
        return None
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
        violation = _find_uneven_result(plan, contraction) or _find_dear_operand(cone, plan, contraction)
        if violation is not None:
            return violation
    return None


def _find_uneven_result(plan: Accesses, contraction: Reduction) -> Violation | None:
    if not _is_tiled(plan, contraction.access):
        return Violation(contraction.op, "is a contraction whose result is not indexed by whole ranges")
    return None


def _find_wide_pass(cone: Cone, plan: Accesses, reductions: Sequence[Reduction]) -> Violation | None:
    """The first criterion that a kernel breaks whose reductions become one pass."""
    scores = reductions[0]
    values = max(reductions[1:], key=lambda reduction: len(reduction.dependent))
    channels = size_of(plan, values.dependent - scores.dependent)
    if channels > VALUE_CHANNELS:
        reason = f"would be one pass with that of its softmax, but {channels} channels are more than {VALUE_CHANNELS}"
        return Violation(scores.op, reason)
    violation = _find_recomputation(plan, [reduction for reduction in reductions if reduction.op is values.op])
    for product in (scores, values):
        violation = violation or _find_uneven_result(plan, product) or _find_dear_operand(cone, plan, product)
    return violation


def _is_tiled(plan: Accesses, access: Access) -> bool:
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


def _find_dear_operand(cone: Cone, plan: Accesses, contraction: Reduction) -> Violation | None:
    whole = contraction.dependent | contraction.over
    for value, access in operands_of(cone, plan, contraction):
        repetition = size_of(plan, whole - plan.algebra.ranges_of(access.indices))
        producer = _producer(value, cone)
        if producer is None or repetition < OPERAND_REPETITION:
            continue
        cost = _cost(cone, plan, value, access)
        if cost > OPERAND_COST:
            return Violation(producer, f"would be computed {repetition} times as an operand of a contraction")
    return None


def _cost(cone: Cone, plan: Accesses, value: SSAValue, access: Access) -> int:
    cost = 0
    pending = [(value, access)]
    seen: set[tuple[SSAValue, Access]] = set()
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        value, access = place
        op = value.owner
        if value in cone.leaves:
            cost += 1
            continue
        if isinstance(op, Combination):
            return 0  # of one pass, which forms it once, or of statistics, whose cost was looked at
        assert isinstance(op, Operation)
        if isinstance(op, AluOp):
            cost += DEAR_COST if op.row().name in DEAR_OPS else 1
        pending.extend(plan.inputs(op, access))
    return cost
