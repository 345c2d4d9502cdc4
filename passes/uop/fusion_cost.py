"""What kernels cost: launches, bytes that they move, and operations, with all that is computed again.

An operation is an ALU op or a cast of one element, or one combination of a reduction. An axis of the result that a
value does not depend on makes threads compute it again, unless it is walked by a reduction anyway (the phases of a
softmax share their threads). Beside a product, what an operand is made of is computed once for each tile. What is
computed again is read again, from caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

from xdsl.ir import Operation

from ...dialects.types import byte_width, element_count, element_of, is_float, shape_of
from ...dialects.uop import AluOp, CastOp
from .accesses import Access, Accesses
from .cones import Combination, Cone, Reduction, byte_count, made_of, only_widens, operands_of, reads_of, size_of
from .machines import FUNCTION_COSTS, Machine
from .row_statistics import (
    MULTIPROCESSORS,
    SMALL_TILE,
    STATISTIC_OPERATIONS,
    THREAD_COLUMNS,
    TILE_COLUMNS,
    RowStatistics,
    are_prepared,
    is_for_matrices,
)

LEAST_TILE = 32
"""Rows and columns of the tiles of products that would leave most multiprocessors idle otherwise."""

UNTILED_OPERATIONS = 8
"""What a multiplication with its addition costs whose operands no tile shares: two loads and their addresses."""


@dataclass(frozen=True)
class Cost:
    """launches: of kernels. bytes: what they read, each element of each buffer once a kernel, and write. again: bytes
    that they read again, from caches. operations: of threads, those of functions counted by `FUNCTION_COSTS`.
    microseconds: that all of it takes, one after the other."""

    launches: int = 0
    bytes: int = 0
    again: int = 0
    operations: int = 0
    microseconds: float = 0

    @staticmethod
    def of(machine: Machine, launches: int, bytes: int, again: int, operations: int) -> Cost:
        memory = max(bytes * machine.byte, (bytes + again) * machine.cached_byte)
        work = max(memory, operations) if machine.overlaps else memory + operations
        return Cost(launches, bytes, again, operations, (launches * machine.launch + work) / machine.speed)

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.launches + other.launches,
            self.bytes + other.bytes,
            self.again + other.again,
            self.operations + other.operations,
            self.microseconds + other.microseconds,
        )

    def __lt__(self, other: Cost) -> bool:
        return self.microseconds < other.microseconds

    def __str__(self) -> str:
        launches = "1 launch" if self.launches == 1 else f"{self.launches} launches"
        bytes = f"{self.bytes:,} bytes" + (f" and {_short(self.again)} again" if self.again else "")
        return f"{launches}, {bytes}, {_short(self.operations)} operations: {self.microseconds:.3g} µs"


def _short(count: int) -> str:
    return f"{count:,}" if count < 1_000_000 else f"{count:.3g}"


@dataclass(frozen=True)
class Work:
    """What an op of a kernel computes. elements: those that are needed; of a reduction, those that it combines.
    computed: what threads compute, with all repetitions. operations: that this takes."""

    op: Operation
    elements: int
    computed: int
    operations: int

    @property
    def times(self) -> float:
        """How often each element is computed."""
        return self.computed / self.elements if self.elements else 1.0

    @property
    def repeated(self) -> int:
        """Operations that are repetitions."""
        return self.operations * max(self.computed - self.elements, 0) // max(1, self.computed)


@dataclass(frozen=True)
class KernelWork:
    """A kernel, the plan of its accesses, and what is known of its reductions.

    contractions: the products of matrices among the reductions. tiled: whether tiles compute their results.
    one_pass: whether the reductions become one pass. statistics: of rows, beside contractions.
    """

    cone: Cone
    plan: Accesses
    machine: Machine
    reductions: Sequence[Reduction] = ()
    contractions: Sequence[Reduction] = ()
    tiled: bool = True
    one_pass: bool = False
    statistics: RowStatistics = field(default_factory=RowStatistics)

    @cached_property
    def cost(self) -> Cost:
        cone, plan = self.cone, self.plan
        moved, again = sum(map(byte_count, cone.roots)), 0
        for leaf in cone.leaves:
            places = read = 0
            for access in plan.of.get(leaf, ()):
                ranges = plan.algebra.ranges_of(access.indices)
                size = size_of(plan, ranges)
                places += size
                is_reduced = not self.contractions and not self._walked.isdisjoint(ranges)
                read += size * (self._threads(ranges) if is_reduced else self._repetitions(ranges))
            width = byte_width(element_of(leaf.type))
            once = min(places * width, byte_count(leaf))
            moved += once
            again += read * width - once
        operations = sum(each.operations for each in self.work) + self._of_statistics()
        return Cost.of(self.machine, 1, moved, again, operations)

    @cached_property
    def work(self) -> list[Work]:
        """Op by op, without statistics of rows beside contractions."""
        return list(self.work_of(self.cone.ops))

    def work_of(self, ops: Iterable[Operation]) -> Iterator[Work]:
        """The same of some ops."""
        for op in ops:
            if op not in self._positions and (weight := _weight(op)) and (work := self._work_of(op, weight)):
                yield work

    @cached_property
    def _positions(self) -> set[Operation]:
        """What computes integers from positions and single elements: masks. They become guards and bounds of loops."""
        cone = self.cone
        values = {leaf for leaf in cone.leaves if element_count(shape_of(leaf.type)) == 1}
        found: set[Operation] = set()
        for op in cone.ops:
            if not is_float(element_of(op.results[0].type)) and values.issuperset(op.operands):
                values.update(op.results)
                found.add(op)
        return found

    def _work_of(self, op: Operation, weight: int) -> Work | None:
        plan = self.plan
        needed = computed = operations = 0
        for access in plan.of.get(op, ()):
            if (op, access) in self._elsewhere:
                continue
            ranges = plan.algebra.ranges_of(access.indices)
            if isinstance(op, Combination):
                ranges = ranges.union(plan.bound[op, access])
            size = size_of(plan, ranges)
            needed += size
            if isinstance(op, Combination):
                count = size * self._threads(ranges)
            else:
                count = size * self._repetitions(ranges)
            computed += count
            if op in self._products:
                operations += self._of_product(count, size_of(plan, plan.bound[op, access]))
            else:
                operations += count * weight
        if not computed:
            return None
        elements = op.operands[0] if isinstance(op, Combination) else op.results[0]
        return Work(op, min(needed, prod(shape_of(elements.type))), computed, operations)

    @cached_property
    def _products(self) -> frozenset[Operation]:
        return frozenset(each.op for each in self.contractions)

    def _threads(self, ranges: frozenset[int]) -> int:
        """How many threads, or groups of them, reduce what depends on these ranges, each for itself."""
        return size_of(self.plan, set(self._parallel) - ranges)

    def _repetitions(self, ranges: frozenset[int]) -> int:
        """How often what depends on these ranges is computed, by threads that do not share it."""
        if self._tile > 1:
            missing = sorted(max(self.plan.algebra.extents[axis], 1) for axis in self._parallel if axis not in ranges)
            return prod(missing[:-2]) * prod(-(-extent // self._tile) for extent in missing[-2:])
        outer = inner = 1
        for axis in self._parallel:
            if axis not in ranges:
                inner *= max(self.plan.algebra.extents[axis], 1)
            else:
                outer, inner = outer * inner, 1
        return outer * -(-inner // self.machine.row)

    @cached_property
    def _parallel(self) -> Sequence[int]:
        """The ranges, outermost first, along which what does not depend on them is computed again."""
        plan = self.plan
        if self.one_pass:  # scores are computed once for all channels of the values, and what they are made of for each
            return sorted(self.contractions[0].dependent)
        axes = [plan.algebra.ranges(index) for _, access in plan.roots[:1] for index in access.indices]
        return [number for axis in axes for number in sorted(axis - self._walked)]

    @cached_property
    def _walked(self) -> frozenset[int]:
        """The ranges that reductions walk."""
        return frozenset[int]().union(*self.plan.bound.values())

    @cached_property
    def _elsewhere(self) -> set[tuple[object, Access]]:
        """Places that are counted with contractions and statistics of rows."""
        places: list[tuple[object, Access]] = [(each.op, each.access) for each in self.statistics.allowed]
        plan = self.plan
        for each in self.contractions:
            whole = each.dependent | each.over
            reads = reads_of(plan, each)
            places += [(value.owner, at) for value, at in reads if plan.algebra.ranges_of(at.indices) == whole]
        places += [(value.owner, at) for each in self.statistics.allowed for value, at in reads_of(plan, each)]
        in_front = {each.op for each in self.statistics.in_front}
        for each in self.contractions if in_front else ():
            for place in operands_of(self.cone, plan, each):
                made = list(made_of(plan, [place]))
                if any(value.owner in in_front for value, _ in made):
                    places += [(value.owner, at) for value, at in made]
        return set(places)

    @cached_property
    def _tile(self) -> int:
        """For how many elements along an axis what does not depend on it is computed once."""
        if not self.contractions or not self.tiled:
            return 1
        if self._by_matrices:
            tile = TILE_COLUMNS
        elif self.machine.prepares and are_prepared(self.cone, self.plan, self.contractions):
            tile = SMALL_TILE
        else:
            return THREAD_COLUMNS
        elements = size_of(self.plan, self.contractions[0].dependent)
        while tile > LEAST_TILE and 2 * elements < MULTIPROCESSORS * tile**2:
            tile //= 2
        return tile

    @cached_property
    def _by_matrices(self) -> bool:
        """Whether matrix instructions compute the contractions."""
        return self.machine.matrix_speed > 1 and self.tiled and all(map(self._is_for_matrices, self.contractions))

    def _is_for_matrices(self, contraction: Reduction) -> bool:
        factors = [value for value, _ in operands_of(self.cone, self.plan, contraction)]
        return len(factors) > 1 and all(map(is_for_matrices, factors))

    def _of_product(self, size: int, depth: int) -> int:
        """Operations for so many multiplications with their additions, `depth` of which one thread does."""
        if not self.tiled:
            return max(size, depth * self.machine.threads) * UNTILED_OPERATIONS
        return size // self.machine.matrix_speed if self._by_matrices else size

    def _of_statistics(self) -> int:
        """What tiles compute for statistics of rows; for those in front, and the operand that is made of them, all."""
        operations = self.statistics.operations
        for each in self.statistics.beside:
            columns = max(size_of(self.plan, other.dependent - each.dependent) for other in self.contractions)
            tiles = -(-columns // TILE_COLUMNS)
            operations += STATISTIC_OPERATIONS * tiles * size_of(self.plan, each.dependent | each.over)
        return operations


def _weight(op: Operation) -> int:
    """Operations for an element."""
    if only_widens(op):
        return 0
    if isinstance(op, AluOp):
        return FUNCTION_COSTS.get(op.row().name, 1)
    return 1 if isinstance(op, CastOp | Combination) else 0
