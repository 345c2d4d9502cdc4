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
    need nothing of it, `PRODUCTS` in all, and statistics of what they read; and their results are indexed by whole
    ranges, so that they can be tiled.
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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Block, Operation, SSAValue

from ...dialects.types import byte_width, element_count, element_of, shape_of
from ...dialects.uop import AluOp, ConstOp, GatherOp, IotaOp, MovementOp, ReduceAxisOp, ScanAxisOp
from .accesses import Access, Accesses, CrowdedError, UnorderedScanError
from .axis_classes import AxisPairs

RECOMPUTATION = 1.5
"""How often a reduction may be computed for each of its elements: a bit more than once, for padding of the result."""

Combination = ReduceAxisOp | ScanAxisOp
"""Ops that combine elements: what is dear to compute twice."""

PLACES = 16

PRODUCTS = 8
"""Contractions in one kernel: more leave each a tile too narrow for matrix instructions."""

VALUE_CHANNELS = 256
"""Sums that a block holds for each query: more would be computed in parts, each with all scores of its own."""
TILE_COLUMNS = 128
"""Columns of a product for which a tile computes the statistics of its rows once."""

STATISTIC_OPERATIONS = 4
"""What an element of a row costs in each tile that computes a statistic: a cast and an addition, in two warps."""

MOST_OPERATIONS = 1 << 27
"""Operations of threads that take as long as a kernel for the statistics of rows: 5 microseconds of a large GPU (an
estimate, not measured)."""

RUN = 8
"""Neighbours of a dimension of a contraction's result that are a tile: the columns of a matrix instruction."""

OPERAND_COST = 6
"""What an operand of a contraction may cost: its loads and its ops, a dear one counted as `DEAR_COST`."""

OPERAND_REPETITION = 16
"""Below this many repetitions the cost of an operand does not matter."""

DEAR_COST = 8
DEAR_OPS = frozenset(
    "div floordiv floormod truncdiv truncmod pow reciprocal sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan"
    " asin acos atan sinh cosh tanh asinh acosh atanh atan2 erf".split()
)


@dataclass(frozen=True)
class Cone:
    """The ops of a kernel: all that its root needs, up to what lies in memory.

    ops: operands first. roots: the results that are used elsewhere. leaves: what the kernel reads.
    parts: into how many parts each dimension of the roots is cut (`Accesses`); none if empty.
    """

    ops: list[Operation]
    roots: list[SSAValue]
    leaves: dict[SSAValue, None]
    parts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Violation:
    """A criterion that a kernel breaks: the op whose result should lie in memory instead, and what it does."""

    op: Operation
    reason: str

    def __str__(self) -> str:
        return f"{self.op.name} of {self.op.results[0].type} {self.reason}"


@dataclass(frozen=True)
class _Reduction:
    """One access to a reduction or a scan: the ranges that its result depends on, and those that it goes over."""

    op: Combination
    access: Access
    dependent: frozenset[int]
    over: frozenset[int]

    @property
    def bound(self) -> frozenset[int]:
        """The ranges that it goes over and its result does not depend on."""
        return self.over - self.dependent

    @property
    def space(self) -> tuple[frozenset[int], frozenset[int]]:
        return self.dependent, self.over


def byte_count(value: SSAValue) -> int:
    """Bytes of a tensor."""
    return element_count(shape_of(value.type)) * byte_width(element_of(value.type))


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
    reductions = _reductions(cone, plan)
    if not reductions:
        return None
    if one_pass:
        return _find_wide_pass(cone, plan, reductions)
    if products > 1:
        reductions = _without_statistics(cone, plan, reductions)
    return (
        _find_recomputation(plan, reductions)
        or _find_second_space(cone, reductions)
        or _find_untiled_contraction(cone, plan, reductions, products)
    )


def _reductions(cone: Cone, plan: Accesses) -> list[_Reduction]:
    return [
        _Reduction(op, access, plan.algebra.ranges_of(access.indices), frozenset(plan.bound[op, access]))
        for op in cone.ops
        if isinstance(op, Combination)
        for access in plan.of.get(op, ())
    ]


def statistics_of(cone: Cone, pairs: AxisPairs | None = None) -> set[Operation]:
    """The statistics of rows that a legal kernel computes beside contractions: other kernels may compute them, too."""
    plan = Accesses(cone.ops, cone.roots, cone.leaves, None, pairs, cone.parts)
    reductions = _reductions(cone, plan)
    others = {each.op for each in _without_statistics(cone, plan, reductions)}
    return {each.op for each in reductions if each.op not in others}


def _without_statistics(cone: Cone, plan: Accesses, reductions: Sequence[_Reduction]) -> Sequence[_Reduction]:
    """The reductions but those that only read what contractions read anyway, in the same loops, and that these do not
    need: statistics of rows, such as the sum of squares of a norm. Each tile computes them again."""
    widest = max(len(reduction.dependent) for reduction in reductions)
    if all(len(reduction.dependent) == widest for reduction in reductions):
        return reductions
    # A statistic depends on fewer ranges than its contraction.
    contractions = [each for each in reductions if len(each.dependent) == widest and _is_contraction(cone, plan, each)]
    if not contractions:
        return reductions
    reads = set[tuple[SSAValue, Access]]().union(*(_elements(plan, reduction) for reduction in contractions))
    needed = {value.owner for value, _ in reads}

    def is_statistic(reduction: _Reduction) -> bool:
        if not all(each.over == reduction.over and reduction.dependent < each.dependent for each in contractions):
            return False
        own = [(value, access) for value, access in _elements(plan, reduction) if value in cone.leaves]
        if not own or not reads.issuperset(own) or reduction.op in needed:
            return False
        tiles = max(-(-_size(plan, each.dependent - reduction.dependent) // TILE_COLUMNS) for each in contractions)
        count = STATISTIC_OPERATIONS * tiles * _size(plan, reduction.dependent | reduction.over)
        return count <= MOST_OPERATIONS

    return [reduction for reduction in reductions if not is_statistic(reduction)]


def _producer(value: SSAValue, cone: Cone) -> Operation | None:
    """The op that computes a value, seen through movement; None if it is a leaf, a constant or an iota."""
    while value not in cone.leaves:
        op = value.owner
        assert isinstance(op, Operation)
        if not isinstance(op, MovementOp | GatherOp):
            return None if isinstance(op, ConstOp | IotaOp) else op
        value = op.operands[0]
    return None


def _size(plan: Accesses, ranges: Iterable[int]) -> int:
    return prod(max(plan.algebra.extents[number], 1) for number in ranges)


def _find_recomputation(plan: Accesses, reductions: Sequence[_Reduction]) -> Violation | None:
    parallel = frozenset[int]().union(*(plan.algebra.ranges_of(access.indices) for _, access in plan.roots))
    steps: dict[Combination, int] = {}
    elements: dict[Combination, int] = {}
    for reduction in reductions:
        steps[reduction.op] = steps.get(reduction.op, 0) + _size(plan, parallel - reduction.bound)
        elements[reduction.op] = elements.get(reduction.op, 0) + _size(plan, reduction.dependent)
    for op, count in steps.items():
        # Different places may be different elements: parts of the result that are computed one beside the other.
        size = prod(max(extent, 1) for extent in shape_of(op.results[0].type))
        count /= min(size, elements[op])
        if count > RECOMPUTATION:
            return Violation(op, f"would be computed {count:.4g} times for each of its elements")
    return None


def _find_second_space(cone: Cone, reductions: Sequence[_Reduction]) -> Violation | None:
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
    cone: Cone, plan: Accesses, reductions: Sequence[_Reduction], products: int
) -> Violation | None:
    contractions = [reduction for reduction in reductions if _is_contraction(cone, plan, reduction)]
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


def _find_uneven_result(plan: Accesses, contraction: _Reduction) -> Violation | None:
    if not _is_tiled(plan, contraction.access):
        return Violation(contraction.op, "is a contraction whose result is not indexed by whole ranges")
    return None


def _find_wide_pass(cone: Cone, plan: Accesses, reductions: Sequence[_Reduction]) -> Violation | None:
    """The first criterion that a kernel breaks whose reductions become one pass."""
    scores = reductions[0]
    values = max(reductions[1:], key=lambda reduction: len(reduction.dependent))
    channels = _size(plan, values.dependent - scores.dependent)
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


def _is_beside(cone: Cone, plan: Accesses, one: _Reduction, other: _Reduction) -> bool:
    """Whether two contractions read some elements at the same places, and neither needs the other."""
    one_reads, other_reads = (set(_elements(plan, reduction)) for reduction in (one, other))
    if any(value.owner is one.op for value, _ in other_reads) or any(value.owner is other.op for value, _ in one_reads):
        return False
    return any(value in cone.leaves for value, _ in one_reads & other_reads)


def _is_contraction(cone: Cone, plan: Accesses, reduction: _Reduction) -> bool:
    """Whether no source of the elements depends on the whole space; sources are loads, iotas and other reductions."""
    if isinstance(reduction.op, ScanAxisOp):
        return False
    whole = reduction.dependent | reduction.over
    sources = 0
    for value, access in _elements(plan, reduction):
        op = value.owner
        if value in cone.leaves or isinstance(op, IotaOp | Combination):
            sources += 1
            if plan.algebra.ranges_of(access.indices) == whole:
                return False
    return sources > 1


def _elements(plan: Accesses, reduction: _Reduction) -> Iterable[tuple[SSAValue, Access]]:
    """What the elements of a reduction are computed from, each place once, up to leaves and other reductions."""
    pending = list(plan.inputs(reduction.op, reduction.access))
    seen: set[tuple[SSAValue, Access]] = set()
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        yield place
        op = place[0].owner
        if isinstance(op, Operation) and not isinstance(op, Combination) and (op, place[1]) in plan.operands:
            pending.extend(plan.inputs(op, place[1]))


def _find_dear_operand(cone: Cone, plan: Accesses, contraction: _Reduction) -> Violation | None:
    """Operands are the largest parts of the elements' expression that do not depend on the whole space."""
    whole = contraction.dependent | contraction.over
    pending = list(plan.inputs(contraction.op, contraction.access))
    seen: set[tuple[SSAValue, Access]] = set()
    while pending:
        value, access = pending.pop(0)
        if (value, access) in seen or value in cone.leaves:
            continue
        seen.add((value, access))
        op = value.owner
        assert isinstance(op, Operation)
        ranges = plan.algebra.ranges_of(access.indices)
        if ranges == whole:
            pending.extend(plan.inputs(op, access))
            continue
        repetition = _size(plan, whole - ranges)
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
            return 0  # of one pass, which forms it once
        assert isinstance(op, Operation)
        if isinstance(op, AluOp):
            cost += DEAR_COST if op.row().name in DEAR_OPS else 1
        pending.extend(plan.inputs(op, access))
    return cost
