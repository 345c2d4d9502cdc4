"""Bounds of memory accesses: proofs that every one stays inside its buffer, by ranges first, by z3 for the rest.

The conditions under which an access happens are assumed: its mask, the branches and loops around it, the launch. What a
kernel reads from memory may be any number of its type; PyTorch's contract, that indices in data are in range, is
assumed too, and each access that rests on it is listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ..dialects import gpu_kernel, loop, tile
from ..dialects.uop import KernelOp, RangeOp, ReduceOp
from .accesses import Access, Condition, walk_accesses
from .bounds_solver import BoundsSolver, Origin, origins_of
from .diagnostics import PassError
from .index_width import index_bits
from .interval_arithmetic import Interval
from .linear import LinearForm
from .ranges import RangeAnalysis, atoms_of


class Verdict(Enum):
    """What is known of an access along one dimension."""

    BY_RANGES = "proved by ranges"
    BY_SOLVER = "proved by z3"
    OUTSIDE = "out of bounds"
    """There is a thread and a step for which it is; the witness says which."""
    UNKNOWN = "not proved"
    """Nor refuted: the solver has given up."""
    DATA = "depends on data"
    """It holds if the data is what PyTorch asks for."""


@dataclass(frozen=True)
class Finding:
    """An access along one dimension.

    index: the index's text. extent: elements of the buffer along the dimension.
    witness: values of ids, ranges and loops for which the access is outside, and of the index itself.
    """

    access: Access
    dimension: int
    verdict: Verdict
    index: str
    extent: int
    witness: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def op(self) -> Operation:
        return self.access.op

    def is_failure(self, strict: bool = False) -> bool:
        """strict: whether what depends on data is one."""
        return self.verdict in (Verdict.OUTSIDE, Verdict.UNKNOWN) or (strict and self.verdict is Verdict.DATA)

    @property
    def message(self) -> str:
        """What is known, in one sentence."""
        access = self.access
        limits = f"{self.extent} elements"
        if len(access.extents) > 1:
            limits += f" along dimension {self.dimension}"
        vector = f" and the {self._width - 1} after it" if self._width > 1 else ""
        place = f"{access.verb} element {self.index}{vector} of %{access.buffer.name_hint or 'buffer'}, of {limits}"
        match self.verdict:
            case Verdict.OUTSIDE:
                values = ", ".join(f"{name} = {number}" for name, number in self.witness.items())
                return f"{place}: it is outside where {values}"
            case Verdict.DATA:
                return f"{place}: it is inside if the data that the index is made of is in range"
            case Verdict.UNKNOWN:
                return f"{place}: it is not proved to be inside, nor refuted"
            case _:
                return f"{place}: it is inside, {self.verdict.value}"

    @property
    def _width(self) -> int:
        return self.access.width if self.dimension == len(self.access.extents) - 1 else 1


def check_bounds(module: ModuleOp) -> list[Finding]:
    """One finding for each dimension of each access of the kernels of a module, in order.

    Needs z3 (`pip install uop[prove]`) where ranges do not prove an access; raises `MissingSolverError` without it.
    Proofs are of indices that do not wrap around; raises `PassError` for a kernel that has 32-bit indices without
    all being proved to fit.
    """
    return [
        finding
        for kernel in module.ops
        if isinstance(kernel, KernelOp | gpu_kernel.KernelOp)
        for finding in check_kernel(kernel)
    ]


def check_kernel(kernel: KernelOp | gpu_kernel.KernelOp) -> Iterator[Finding]:
    """The findings of one kernel."""
    prover = _Prover()
    if isinstance(kernel, gpu_kernel.KernelOp):
        if 0 in kernel.grid_shape:
            return
        if kernel.index_bits.value.data < index_bits(kernel, prover.ranges.intervals):
            raise PassError(
                f"kernel @{kernel.sym_name.data} has 32-bit indices, and not all are proved to fit",
                kernel,
                "give it index_bits 64",
            )
    for access in walk_accesses(kernel):
        for dimension in range(len(access.extents)):
            yield prover.check(access, dimension)


class _Prover:
    """Proofs about one kernel, which share what is known of its values."""

    def __init__(self) -> None:
        self.ranges = RangeAnalysis()
        self._given: dict[tuple[Condition, ...], tuple[RangeAnalysis, list[LinearForm]]] = {}
        self._solvers: list[BoundsSolver] = []

    def check(self, access: Access, dimension: int) -> Finding:
        index, extent = access.indices[dimension], access.extents[dimension]
        width, offset = (access.width, access.offset) if dimension == len(access.extents) - 1 else (1, 0)
        allowed = Interval(-offset, extent - width - offset)
        text = str(self.ranges.form(index) + LinearForm({}, offset))
        if self._is_within(access, index, allowed):
            return Finding(access, dimension, Verdict.BY_RANGES, text, extent)
        answer = self._find_outside(access, index, allowed)
        if answer is None:
            return Finding(access, dimension, Verdict.BY_SOLVER, text, extent)
        if Origin.MEMORY in origins_of([index]):
            return Finding(access, dimension, Verdict.DATA, text, extent)
        # Where the solver knows nothing of an op, its witness may be none.
        if not answer or Origin.UNKNOWN in origins_of([index, *(condition for condition, _ in access.conditions)]):
            return Finding(access, dimension, Verdict.UNKNOWN, text, extent)
        witness = answer | {"index": answer["index"] + offset}
        return Finding(access, dimension, Verdict.OUTSIDE, text, extent, witness)

    def _find_outside(self, access: Access, index: SSAValue, allowed: Interval) -> dict[str, int] | None:
        """As `BoundsSolver.find_outside`; what that gives up, it is asked again of less."""
        if not self._solvers:
            self._solvers = [BoundsSolver(self.ranges), BoundsSolver(self.ranges, loose=True)]
        exact, loose = self._solvers
        answer = exact.find_outside(access, index, allowed)
        return None if answer == {} and loose.find_outside(access, index, allowed) is None else answer

    def _is_within(self, access: Access, index: SSAValue, allowed: Interval) -> bool:
        known = self.ranges.interval(index)
        if known is not None and allowed.contains(known):
            return True
        if not is_executed(access):
            return True
        form = self.ranges.form(index)
        if _contains(allowed, self.ranges, form, ()):
            return True
        if not access.conditions:
            return False
        inner, limits = self._under(access.conditions)
        tighter = inner.of(index)
        return (tighter is not None and allowed.contains(tighter.interval)) or _contains(allowed, inner, form, limits)

    def _under(self, conditions: tuple[Condition, ...]) -> tuple[RangeAnalysis, list[LinearForm]]:
        """The analysis under conditions, and forms that are at most 0 there."""
        known = self._given.get(conditions)
        if known is None:
            inner, limits = self.ranges, list[LinearForm]()
            for condition, holds in conditions:
                inner = inner.given(condition, holds)
                for atom, is_true in atoms_of(condition, holds):
                    limits += [self._tightened(form) for form in self.ranges.nonpositive_forms(atom, is_true)]
            known = self._given[conditions] = inner, limits
        return known

    def _tightened(self, limit: LinearForm) -> LinearForm:
        """A form that is at most 0, made greater by as much as its congruence says that it stays away from 0."""
        known = self.ranges.congruence_of_form(limit)
        gap = -known.residue % known.modulus if known.modulus else 0
        return limit + LinearForm({}, gap)


def is_executed(access: Access) -> bool:
    """Whether a loop around the access, or a range that its indices go over, has any steps."""
    parent = access.op.parent_op()
    while parent is not None:
        if isinstance(parent, loop.ForOp | loop.ReduceOp) and parent.axis.extent.data == 0:
            return False
        parent = parent.parent_op()
    stack, seen = list(access.indices), set[SSAValue]()
    while stack:
        value = stack.pop()
        owner = value.owner
        if value not in seen and isinstance(owner, Operation):
            seen.add(value)
            if isinstance(owner, RangeOp | tile.AxisOp) and owner.extent == 0:
                return False
            if not isinstance(owner, ReduceOp):  # which gives the identity where its own ranges have no steps
                stack += owner.operands
    return True


def _contains(allowed: Interval, ranges: RangeAnalysis, form: LinearForm, limits: list[LinearForm] | tuple[()]) -> bool:
    """Whether a form stays in an interval where all of `limits` are at most 0."""
    return _greatest(ranges, form, limits) <= allowed.high and -_greatest(ranges, form * -1, limits) >= allowed.low


def _greatest(ranges: RangeAnalysis, form: LinearForm, limits: list[LinearForm] | tuple[()]) -> int:
    """A number that the form does not exceed.

    Where g ≤ 0, form ≤ form − q · g for any q ≥ 0: multiples of limits that cancel a leaf are taken off as long as that
    helps.
    """
    best = ranges.interval_of_form(form).high
    for _ in limits:
        candidates = [
            form - limit * (form.terms[leaf] // coefficient)
            for limit in limits
            for leaf, coefficient in limit.terms.items()
            if form.terms.get(leaf, 0) // coefficient > 0 and form.terms[leaf] % coefficient == 0
        ]
        bounds = [ranges.interval_of_form(candidate).high for candidate in candidates]
        if not bounds or min(bounds) >= best:
            break
        best = min(bounds)
        form = candidates[bounds.index(best)]
    return best
