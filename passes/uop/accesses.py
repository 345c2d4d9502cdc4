"""At which indices a kernel in tensor form reads each of its values: the plan of its range form.

One backward walk over the ops turns movement into index arithmetic. `uop-rangeify` then builds each op once for
each of its accesses; `uop-partition` reads from the same plan how often a fused kernel would compute what.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import combinations, product
from math import prod
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    IotaOp,
    PadOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
    ScanAxisOp,
    ShrinkOp,
    WindowOp,
)
from ...rewriting.diagnostics import PassError
from .axis_classes import AxisClasses, AxisPairs
from .index_algebra import ZERO, Index, IndexAlgebra


class Condition(NamedTuple):
    """`low ≤ value < high`; None where that side always holds."""

    value: Index
    low: int | None
    high: int | None


class Access(NamedTuple):
    """One place at which a value is read.

    indices: one for each dimension.
    valid: what holds whenever the element is used; where it does not, the indices may be outside the value.
    zero: conditions outside of which 0 is expected, where the value is a moved input of the kernel.
    """

    indices: tuple[Index, ...]
    valid: tuple[Condition, ...] = ()
    zero: tuple[Condition, ...] = ()


class CrowdedError(Exception):
    """An op is computed at more places than the walk was allowed."""

    def __init__(self, op: Operation):
        super().__init__(op)
        self.op = op


class UnorderedScanError(PassError):
    """A scan is read elsewhere than at the steps of a range: its range form has no element for that."""

    def __init__(self, op: Operation):
        super().__init__(
            f"{op.name} is read elsewhere than at one step of its axis after the other",
            op,
            "end its kernel at the scan, and read what it writes in another one: uop-partition does",
        )
        self.scan = op


class Accesses:
    """The accesses to the values of a kernel's ops.

    ops: the kernel's ops in an order in which operands come first.
    roots: what the kernel computes, each written at one range for each dimension; at those of the first where it has
    the same dimensions, or merged ones (`matched_dimensions`).
    leaves: values that are read from memory, not computed.
    limit: at how many places an op that computes something may be read; past it `CrowdedError` names the op.
    pairs: what is known of ops that were looked at before.
    parts: into how many equal parts each dimension of the first root is cut. They are written one beside the other, at
    ranges as long as a part, so that what moves elements from one to another (a rotary embedding) finds them there.
    """

    def __init__(
        self,
        ops: Sequence[Operation],
        roots: Sequence[SSAValue],
        leaves: Container[SSAValue],
        limit: int | None = None,
        pairs: AxisPairs | None = None,
        parts: Sequence[int] = (),
    ):
        self.algebra = IndexAlgebra()
        self.of: dict[Operation | SSAValue, dict[Access, None]] = {}
        """The accesses to each op's results, and to each leaf."""
        self.operands: dict[tuple[Operation, Access], tuple[Access, ...]] = {}
        """At what place each operand of an op is read for one access to its results."""
        self.bound: dict[tuple[Operation, Access], tuple[int, ...]] = {}
        """The ranges that a reduction or a scan goes over."""
        self.reads: dict[tuple[Operation, Access], list[tuple[SSAValue, Access]]] = {}
        """What the elements of a reduction are computed from, where that was asked for (cones.py)."""
        self.padding: dict[tuple[Operation, Access], tuple[Condition, ...]] = {}
        """Where a pad, for an access, has an element of its input, as far as that is not certain."""
        self.roots: list[tuple[SSAValue, Access]] = []
        """Where the roots are written: each part of each."""
        self._leaves = leaves
        self._limit = limit
        self._classes = AxisClasses(ops, pairs or AxisPairs())
        self._ranges: dict[int, list[int]] = {}
        self._range_indices: list[Index] = []
        first = list(self._written(roots[0], parts))
        for root in roots:
            matched = matched_dimensions(shape_of(roots[0].type), shape_of(root.type))
            for access in first if matched is not None else self._written(root):
                place = access if matched is None else self._merged(access, shape_of(roots[0].type), matched)
                self.roots.append((root, place))
                self._read(root, place)
        for op in reversed(ops):
            if op not in self.of:
                continue
            visit = _VISITS.get(type(op)) or (_elementwise if isinstance(op, AluOp) else None)
            if visit is None:
                raise PassError(f"{op.name} is not supported in kernels yet", op, "it has no form over ranges")
            for access in self.of[op]:
                self.operands[op, access] = visit(self, op, access)
                for operand, place in self.inputs(op, access):
                    self._read(operand, place)

    def inputs(self, op: Operation, access: Access) -> Iterable[tuple[SSAValue, Access]]:
        """What an op reads for one access to its results, and where: nothing where it is certain to give 0."""
        places = self.operands[op, access]
        return zip(op.operands, places, strict=True) if places else ()

    def _merged(self, access: Access, shape: Sequence[int], merged: Sequence[Sequence[int]]) -> Access:
        """The place of a value of which each dimension is some of those of `shape`, outermost first."""
        indices: list[Index] = []
        for group in merged:
            index = ZERO
            for d in group:
                index = self.algebra.sum(self.algebra.affine(index, shape[d]), access.indices[d])
            indices.append(index)
        return Access(tuple(indices))

    def _written(self, root: SSAValue, parts: Sequence[int] = ()) -> Iterator[Access]:
        """The places at which the parts of a root are written."""
        taken: set[int] = set()
        indices: list[Sequence[Index]] = []
        for d, extent in enumerate(shape_of(root.type)):
            count = parts[d] if parts else 1
            if count > 1:
                _, part = self._new_range(extent // count)
                indices.append([self.algebra.affine(part, 1, number * (extent // count)) for number in range(count)])
                continue
            indices.append([ZERO if extent == 1 else self.range_of(root, d, taken)])
            taken |= self.algebra.ranges(indices[-1][0])
        yield from map(Access, product(*indices))

    def range_of(self, value: SSAValue, dimension: int, taken: Container[int]) -> Index:
        """A range of the dimension's logical axis that is not taken: one that is there, or a new one."""
        ranges = self._ranges.setdefault(self._classes.find(value, dimension), [])
        for number in ranges:
            if number not in taken:
                return self._range_indices[number]
        number, index = self._new_range(shape_of(value.type)[dimension])
        ranges.append(number)
        return index

    def _new_range(self, extent: int) -> tuple[int, Index]:
        number, index = self.algebra.range(extent)
        self._range_indices.append(index)
        return number, index

    def _read(self, value: SSAValue, access: Access) -> None:
        if value in self._leaves:
            self.of.setdefault(value, {})[access] = None
            return
        op = value.owner
        assert isinstance(op, Operation)
        known = self.of.setdefault(op, {})
        known[access] = None
        if self._limit is not None and len(known) > self._limit and isinstance(op, AluOp | ReduceAxisOp | ScanAxisOp):
            raise CrowdedError(op)

    def place(self, access: Access, indices: Iterable[Index]) -> Access:
        """The access with other indices, without conditions that say nothing about them."""
        indices = tuple(indices)
        return Access(indices, self.connected(access.valid, indices), access.zero)

    def connected(self, conditions: Sequence[Condition], indices: Iterable[Index]) -> tuple[Condition, ...]:
        """The conditions that share ranges with the indices, or with a condition that does."""
        if not conditions:
            return ()
        ranges = self.algebra.ranges_of(indices)
        chosen: set[Condition] = set()
        grown = True
        while grown:
            grown = False
            for condition in conditions:
                own = self.algebra.ranges(condition.value)
                if condition not in chosen and (not own or own & ranges):
                    chosen.add(condition)
                    ranges |= own
                    grown = True
        return tuple(condition for condition in conditions if condition in chosen)

    def load_conditions(self, access: Access, shape: Sequence[int]) -> tuple[Condition, ...]:
        """The mask that a load needs: where it may leave the buffer, or where 0 is expected instead."""
        outside = [
            i for i, extent in zip(access.indices, shape, strict=True) if not self.algebra.is_within(i, 0, extent)
        ]
        needed = {*access.zero, *(self.connected(access.valid, outside) if outside else ())}
        return tuple(condition for condition in dict.fromkeys((*access.valid, *access.zero)) if condition in needed)

    def is_moved_leaf(self, value: SSAValue) -> bool:
        """Whether the value is a leaf seen through movement ops, so that a load gives its elements."""
        while value not in self._leaves:
            op = value.owner
            if not isinstance(op, _MOVES):
                return False
            value = op.operands[0]
        return True


def matched_dimensions(first: Sequence[int], shape: Sequence[int]) -> list[tuple[int, ...]] | None:
    """For each dimension of `shape` the dimensions of the first one that it is, all of them once; None if it is not.

    A dimension is one of the same extent, or else several in their order: heads and their channels.
    """
    left = [d for d, extent in enumerate(first) if extent != 1]
    groups: list[tuple[int, ...]] = []
    for extent in shape:
        group: tuple[int, ...] | None = () if extent == 1 else None
        for count in range(1, len(left) + 1):
            if group is None:
                group = next((g for g in combinations(left, count) if prod(first[d] for d in g) == extent), None)
        if group is None:
            return None
        groups.append(group)
        left = [d for d in left if d not in group]
    return None if left else groups


_MOVES = (ReshapeOp, ExpandOp, PermuteOp, PadOp, ShrinkOp, WindowOp, FlipOp, GatherOp)


def _without_zero(access: Access) -> Access:
    return access._replace(zero=()) if access.zero else access


def _elementwise(plan: Accesses, op: Operation, access: Access) -> tuple[Access, ...]:
    return (_without_zero(access),) * len(op.operands)


def _source(plan: Accesses, op: Operation, access: Access) -> tuple[Access, ...]:
    return ()


def _expand(plan: Accesses, op: ExpandOp, access: Access) -> tuple[Access, ...]:
    source = shape_of(op.input.type)  # () of a scalar
    return (plan.place(access, (ZERO if n == 1 else i for n, i in zip(source, access.indices, strict=False))),)


def _reshape(plan: Accesses, op: ReshapeOp, access: Access) -> tuple[Access, ...]:
    shape, target = shape_of(op.result.type), shape_of(op.input.type)
    return (plan.place(access, plan.algebra.reshape(access.indices, shape, target)),)


def _permute(plan: Accesses, op: PermuteOp, access: Access) -> tuple[Access, ...]:
    indices = [ZERO] * len(access.indices)
    for d, source in enumerate(op.integers("order")):
        indices[source] = access.indices[d]
    return (access._replace(indices=tuple(indices)),)


def _shrink(plan: Accesses, op: ShrinkOp, access: Access) -> tuple[Access, ...]:
    moves = zip(access.indices, op.steps(), op.integers("offsets"), strict=True)
    return (access._replace(indices=tuple(plan.algebra.affine(i, step, offset) for i, step, offset in moves)),)


def _window(plan: Accesses, op: WindowOp, access: Access) -> tuple[Access, ...]:
    axis, strides = op.place, op.integers("strides")
    windows = access.indices[axis : axis + len(strides)]
    place = plan.algebra.sum(*(plan.algebra.affine(i, step) for i, step in zip(windows, strides, strict=True)))
    return (access._replace(indices=(*access.indices[:axis], place, *access.indices[axis + len(strides) :])),)


def _flip(plan: Accesses, op: FlipOp, access: Access) -> tuple[Access, ...]:
    indices = list(access.indices)
    for axis in op.integers("axes"):
        extent = shape_of(op.input.type)[axis]
        if extent != 1:
            indices[axis] = plan.algebra.affine(indices[axis], -1, extent - 1)
    return (access._replace(indices=tuple(indices)),)


def _pad(plan: Accesses, op: PadOp, access: Access) -> tuple[Access, ...]:
    indices: list[Index] = []
    conditions: list[Condition] = []
    for i, low, high, extent in zip(
        access.indices, op.integers("low"), op.integers("high"), shape_of(op.input.type), strict=True
    ):
        moved = plan.algebra.affine(i, 1, -low)
        indices.append(ZERO if extent == 1 else moved)
        if low or high:
            bounds = plan.algebra.bounds(moved)
            if bounds is not None and (bounds[1] < 0 or bounds[0] >= extent):
                plan.padding[op, access] = ()
                return ()
            condition = Condition(
                moved,
                0 if bounds is None or bounds[0] < 0 else None,
                extent if bounds is None or bounds[1] >= extent else None,
            )
            if condition.low is not None or condition.high is not None:
                conditions.append(condition)
    plan.padding[op, access] = tuple(conditions)
    zero = tuple(dict.fromkeys((*access.zero, *conditions))) if plan.is_moved_leaf(op.input) else ()
    valid = tuple(dict.fromkeys((*access.valid, *conditions)))
    return (Access(tuple(indices), plan.connected(valid, indices), zero),)


def _reduce(plan: Accesses, op: ReduceAxisOp, access: Access) -> tuple[Access, ...]:
    first = op.operands[0]
    shape = shape_of(first.type)
    indices = list(access.indices)
    around = {*plan.algebra.ranges_of(indices), *plan.algebra.ranges_of(c.value for c in access.valid)}
    bound: list[int] = []
    for axis in op.axis_list():
        if shape[axis] == 1:
            continue
        indices[axis] = plan.range_of(first, axis, around)
        bound.extend(plan.algebra.ranges(indices[axis]))
        around.update(bound)
    plan.bound[op, access] = tuple(bound)
    return (plan.place(_without_zero(access), indices),) * len(op.operands)


def _scan(plan: Accesses, op: ScanAxisOp, access: Access) -> tuple[Access, ...]:
    """The inputs at the same place. They are needed at all steps before too, so nothing else may depend on the step."""
    axis = op.axis.value.data
    extent = shape_of(op.operands[0].type)[axis]
    bound: tuple[int, ...] = ()
    if extent != 1:
        number = plan.algebra.as_range(access.indices[axis])
        others = (*access.indices[:axis], *access.indices[axis + 1 :], *(c.value for c in access.valid))
        if number is None or plan.algebra.extents[number] != extent or number in plan.algebra.ranges_of(others):
            raise UnorderedScanError(op)
        bound = (number,)
    plan.bound[op, access] = bound
    return (_without_zero(access),) * len(op.operands)


def _gather(plan: Accesses, op: GatherOp, access: Access) -> tuple[Access, ...]:
    axis = op.axis.value.data
    chooser = _without_zero(access)
    indices = list(access.indices)
    extent = shape_of(op.input.type)[axis]
    if extent == 1:
        indices[axis] = ZERO
        return access._replace(indices=tuple(indices)), chooser
    indices[axis] = plan.algebra.data((op.indices, chooser), plan.algebra.ranges_of(access.indices))
    inside = Condition(indices[axis], 0, extent)
    return Access(tuple(indices), (*access.valid, inside), access.zero), chooser


_VISITS: dict[type[Operation], Callable[..., tuple[Access, ...]]] = {
    ConstOp: _source,
    IotaOp: _source,
    CastOp: _elementwise,
    BitcastOp: _elementwise,
    ExpandOp: _expand,
    ReshapeOp: _reshape,
    PermuteOp: _permute,
    ShrinkOp: _shrink,
    WindowOp: _window,
    FlipOp: _flip,
    PadOp: _pad,
    ReduceAxisOp: _reduce,
    ScanAxisOp: _scan,
    GatherOp: _gather,
}
