"""What kernels cost, and what they would cost if a value between them were not stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.ir import Operation, SSAValue

from ...dialects.types import byte_width, element_of
from ...dialects.uop import AluOp, GatherOp
from .accesses import Access, Accesses, UnorderedScanError
from .axis_classes import AxisPairs
from .cones import Combination, Cone, byte_count


@dataclass(frozen=True)
class Cost:
    """launches: of kernels. bytes: what they read, each element of each buffer once a kernel, and write. operations: of
    ALU ops, and combinations of reductions, with all that is computed again and by several threads."""

    launches: int = 0
    bytes: int = 0
    operations: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.launches + other.launches, self.bytes + other.bytes, self.operations + other.operations)

    def __str__(self) -> str:
        launches = "1 launch" if self.launches == 1 else f"{self.launches} launches"
        return f"{launches}, {self.bytes:,} bytes, {_short(self.operations)} operations"


def _short(count: int) -> str:
    return f"{count:,}" if count < 1_000_000 else f"{count:.3g}"


def cost_of(cones: Iterable[Cone], pairs: AxisPairs) -> Cost:
    """The cost of some kernels together."""
    return sum((_cost(cone, pairs) for cone in cones), Cost())


def _cost(cone: Cone, pairs: AxisPairs) -> Cost:
    plan = Accesses(cone.ops, cone.roots, cone.leaves, None, pairs, cone.parts)
    parallel = frozenset[int]().union(*(plan.algebra.ranges_of(access.indices) for _, access in plan.roots))

    def size(ranges: Iterable[int]) -> int:
        return prod(max(plan.algebra.extents[number], 1) for number in ranges)

    read = 0
    for leaf in cone.leaves:
        places = sum(size(plan.algebra.ranges_of(access.indices)) for access in plan.of.get(leaf, ()))
        read += min(places * byte_width(element_of(leaf.type)), byte_count(leaf))
    operations = 0
    # How often what a place holds is computed: by each thread along axes that the reductions behind do not depend on.
    times: dict[tuple[Operation, Access], int] = {}
    for op in reversed(cone.ops):
        for access in plan.of.get(op, ()):
            count = times.get((op, access), 1)
            ranges = plan.algebra.ranges_of(access.indices)
            if isinstance(op, Combination):
                bound = frozenset(plan.bound[op, access])
                count = size(parallel - ranges - bound)
                operations += count * size(ranges | bound)
            elif isinstance(op, AluOp):
                operations += count * size(ranges)
            for value, place in plan.inputs(op, access):
                if isinstance(value.owner, Operation) and value not in cone.leaves:
                    times[value.owner, place] = max(times.get((value.owner, place), 1), count)
    return Cost(1, read + sum(map(byte_count, cone.roots)), operations)


def readers_of(cone: Cone, cones: Sequence[Cone]) -> list[Cone]:
    """The kernels that read what a kernel writes."""
    return [other for other in cones if any(root in other.leaves for root in cone.roots)]


def absorbed(reader: Cone, cone: Cone, position: Mapping[Operation, int]) -> Cone:
    """The kernel that computes for itself what it reads of another."""
    ops = sorted({*reader.ops, *cone.ops}, key=position.__getitem__)
    leaves = [leaf for leaf in (*cone.leaves, *reader.leaves) if leaf not in cone.roots]
    return Cone(ops, reader.roots, dict.fromkeys(leaves), reader.parts)


def why_not_absorbed(reader: Cone, cone: Cone, whole: Cone, pairs: AxisPairs) -> str | None:
    """Why a kernel cannot compute for itself what it reads of another, at any cost; None if it can."""
    if any(isinstance(op, GatherOp) and _source(op.input, whole) in cone.roots for op in reader.ops):
        return "it is read at places that data chooses"
    try:
        Accesses(whole.ops, whole.roots, whole.leaves, None, pairs, whole.parts)
    except UnorderedScanError:
        return "a scan would be read elsewhere than at one step of its axis after the other"
    return None


def _source(value: SSAValue, cone: Cone) -> SSAValue:
    """The value that movement shows."""
    while value not in cone.leaves and isinstance(value.owner, Operation) and len(value.owner.operands) == 1:
        value = value.owner.operands[0]
    return value
