"""The kernels that uop-partition chooses from, and what they reduce."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Operation, SSAValue

from ...dialects.types import bit_width, byte_width, element_count, element_of, is_float, shape_of
from ...dialects.uop import AluOp, CastOp, IotaOp, ReduceAxisOp, ScanAxisOp
from .accesses import Access, Accesses

Combination = ReduceAxisOp | ScanAxisOp
"""Ops that combine elements: what is dear to compute twice."""

Place = tuple[SSAValue, Access]
"""A value, and where it is read."""


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


class Forms:
    """What is equal for kernels of equal ops on leaves of equal types, such as those of a model's layers."""

    def __init__(self) -> None:
        self._kinds: dict[Hashable, int] = {}
        self._kind_of: dict[Operation | SSAValue, int] = {}

    def of(self, cone: Cone) -> Hashable:
        """The form of a kernel."""
        numbers: dict[SSAValue, int] = {value: number for number, value in enumerate(cone.leaves)}
        form = [self._kind_of.get(leaf) or self._kind(leaf, leaf.type) for leaf in cone.leaves]
        for op in cone.ops:
            form.append(self._kind_of.get(op) or self._kind(op, _properties(op)))
            form += [numbers[operand] for operand in op.operands]
            for result in op.results:
                numbers[result] = len(numbers)
        return len(cone.leaves), tuple(form), tuple(numbers[root] for root in cone.roots), cone.parts

    def _kind(self, key: Operation | SSAValue, properties: Hashable) -> int:
        """A number for what is equal, from 1: hashes of attributes take long, so each is asked for once."""
        kind = self._kind_of[key] = self._kinds.setdefault(properties, len(self._kinds) + 1)
        return kind


def _properties(op: Operation) -> Hashable:
    """All of an op but its operands: with these in front of them, sequences of ops are read in one way."""
    return type(op), len(op.operands), tuple(result.type for result in op.results), tuple(op.properties.items())


def cut_at(cone: Cone, value: SSAValue) -> tuple[Cone, Cone]:
    """The kernel in two, of which the first stores the value for the second."""
    before = part_of(cone, [value], cone.leaves)
    behind = part_of(cone, cone.roots, {**cone.leaves, value: None})
    return before, replace(behind, parts=cone.parts)


def part_of(cone: Cone, roots: Sequence[SSAValue], leaves: Container[SSAValue]) -> Cone:
    """The ops that some values of a kernel need, up to these leaves."""
    needed: set[Operation] = set()
    read: dict[SSAValue, None] = {}
    pending = list(roots)
    while pending:
        value = pending.pop()
        if value in leaves:
            read[value] = None
        elif isinstance(value.owner, Operation) and value.owner not in needed:
            needed.add(value.owner)
            pending += value.owner.operands
    return Cone([op for op in cone.ops if op in needed], list(roots), read)


@dataclass(frozen=True)
class Reduction:
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


def reductions_of(cone: Cone, plan: Accesses) -> list[Reduction]:
    """The reductions and scans of a kernel, at each place where they are read."""
    return [
        Reduction(op, access, plan.algebra.ranges_of(access.indices), frozenset(plan.bound[op, access]))
        for op in cone.ops
        if isinstance(op, Combination)
        for access in plan.of.get(op, ())
    ]


def size_of(plan: Accesses, ranges: Iterable[int]) -> int:
    """The positions along some ranges."""
    return prod(max(plan.algebra.extents[number], 1) for number in ranges)


def is_contraction(cone: Cone, plan: Accesses, reduction: Reduction) -> bool:
    """Whether no source of the elements depends on the whole space; sources are loads, iotas and other reductions."""
    if isinstance(reduction.op, ScanAxisOp):
        return False
    whole = reduction.dependent | reduction.over
    sources = 0
    for value, access in reads_of(plan, reduction):
        op = value.owner
        if value in cone.leaves or isinstance(op, IotaOp | Combination):
            sources += 1
            if plan.algebra.ranges_of(access.indices) == whole:
                return False
    return sources > 1


def reads_of(plan: Accesses, reduction: Reduction) -> Sequence[Place]:
    """What the elements of a reduction are computed from, each place once, up to leaves and other reductions."""
    key = reduction.op, reduction.access
    if key not in plan.reads:
        plan.reads[key] = list(made_of(plan, plan.inputs(*key)))
    return plan.reads[key]


def made_of(plan: Accesses, places: Iterable[Place]) -> Iterator[Place]:
    """These places, and what is computed for them, each once, up to leaves and reductions."""
    pending = list(places)
    seen: set[Place] = set()
    while pending:
        place = pending.pop()
        if place in seen:
            continue
        seen.add(place)
        yield place
        op = place[0].owner
        if isinstance(op, Operation) and not isinstance(op, Combination) and (op, place[1]) in plan.operands:
            pending.extend(plan.inputs(op, place[1]))


def operands_of(cone: Cone, plan: Accesses, contraction: Reduction) -> Iterator[Place]:
    """The largest parts of a contraction's elements that do not depend on its whole space, but leaves."""
    whole = contraction.dependent | contraction.over
    pending = list(plan.inputs(contraction.op, contraction.access))
    seen: set[Place] = set()
    while pending:
        place = pending.pop(0)
        value, access = place
        if place in seen or value in cone.leaves:
            continue
        seen.add(place)
        if plan.algebra.ranges_of(access.indices) != whole:
            yield place
            continue
        assert isinstance(value.owner, Operation)
        pending.extend(plan.inputs(value.owner, access))


def only_widens(op: Operation) -> bool:
    """Whether an op gives the numbers that it takes, in more bits, or cut to TF32: whoever reads them does that for
    nothing, and a matrix instruction takes them as they were."""
    if isinstance(op, CastOp):
        source, target = element_of(op.input.type), element_of(op.result.type)
        return is_float(source) and is_float(target) and bit_width(source) < bit_width(target)
    return isinstance(op, AluOp) and op.row().name == "to_tf32"
