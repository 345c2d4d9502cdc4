"""Whether a fused kernel is possible, and whether it costs less than with a cut in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from .accesses import Accesses
from .axis_classes import AxisPairs
from .cones import Combination, Cone, Forms, byte_count, cut_at, is_contraction, reductions_of
from .fusion_cost import Cost, KernelWork, Work
from .fusion_limits import Violation, find_accesses, find_gathered, find_impossible, find_wide_pass, is_tiled
from .machines import Machine
from .row_statistics import RowStatistics, row_statistics

MOST_CANDIDATES = 6
"""Values of a kernel for which it is asked what it would cost to store them: those that are repeated most."""

PADDED = 1.5
"""How often what is padded is computed at most, for each of its elements."""

UNTILED = "is a contraction whose result is not indexed by whole ranges"


@dataclass
class _Findings:
    """What is known of kernels of one form. ops: of the first of them. work: of that, as far as it was looked at."""

    ops: Sequence[Operation]
    impossible: Violation | None
    work: KernelWork | None = None
    repeated: Violation | None = None
    dear: Violation | None = None
    is_priced: bool = False

    def on(self, ops: Sequence[Operation], violation: Violation | None) -> Violation | None:
        """What was found, on the ops of another kernel."""
        return violation and Violation(ops[self.ops.index(violation.op)], violation.reason)


class Judge:
    """Judges kernels, each once, and those of equal form, such as those of a model's layers, as one.

    A kernel breaks a criterion that says what is possible (fusion_limits.py), or it computes something again and again
    where a kernel more would cost less: one launch, and to write and read what is stored (fusion_cost.py).

    one_pass: the reductions of a kernel if they become one pass, else none.
    """

    def __init__(
        self, machine: Machine, forms: Forms, pairs: AxisPairs, one_pass: Callable[[Cone], frozenset[Operation]]
    ):
        self.machine = machine
        self._forms = forms
        self._pairs = pairs
        self._one_pass = one_pass
        self._findings: dict[Hashable, _Findings] = {}

    def find_impossible(self, cone: Cone) -> Violation | None:
        """Why the kernel is not possible."""
        found = self._find(cone)
        return found.on(cone.ops, found.impossible)

    def find_repeated(self, cone: Cone) -> Violation | None:
        """The same; or the first reduction of a kernel that is computed more than once, or without tiles."""
        found = self._find(cone)
        return found.on(cone.ops, found.impossible or found.repeated)

    def find_dear(self, cone: Cone) -> Violation | None:
        """Of a possible kernel that repeats no reduction, what would cost less if it were stored."""
        found = self._find(cone)
        if not found.is_priced and found.work is not None:
            found.dear, found.is_priced = self._find_dear(found.work, self._one_pass(cone)), True
        return found.on(cone.ops, found.dear)

    def work(self, cone: Cone) -> KernelWork:
        """What a kernel does, whether it is possible or not."""
        return self._find(cone).work or self._work(cone, frozenset())

    def cost(self, cones: Iterable[Cone]) -> Cost:
        """Of kernels, one after the other."""
        return sum((self.work(cone).cost for cone in cones), Cost())

    def _find(self, cone: Cone) -> _Findings:
        one_pass = self._one_pass(cone)
        form = self._forms.of(cone), not one_pass
        if form not in self._findings:
            self._findings[form] = self._look(cone, one_pass)
        return self._findings[form]

    def _look(self, cone: Cone, one_pass: frozenset[Operation]) -> _Findings:
        if (gathered := find_gathered(cone)) is not None:
            return _Findings(cone.ops, gathered)
        plan = find_accesses(cone, self._pairs)
        if isinstance(plan, Violation):
            return _Findings(cone.ops, plan)
        work = self._work(cone, one_pass, plan)
        statistics = work.statistics
        if one_pass:
            violation = find_wide_pass(plan, *work.contractions)
        elif not statistics.are_cheap:
            violation = Violation(statistics.in_front[0].op, f"is needed by a product of its rows: {statistics}")
        else:
            others = [each for each in work.reductions if each not in statistics.allowed]
            violation = None
            if others:
                violation = find_impossible(cone, plan, others, work.contractions, self.machine.products)
        return _Findings(cone.ops, violation, work, None if violation else _find_repeated(work))

    def _work(self, cone: Cone, one_pass: frozenset[Operation], plan: Accesses | None = None) -> KernelWork:
        if plan is None:
            plan = Accesses(cone.ops, cone.roots, cone.leaves, None, self._pairs, cone.parts)
        reductions = reductions_of(cone, plan)
        statistics = RowStatistics()
        if one_pass and one_pass.issubset(cone.ops):
            # The sum of the values depends on most.
            contractions = [reductions[0], max(reductions[1:], key=lambda each: len(each.dependent))]
        else:
            one_pass = frozenset()
            contractions = [each for each in reductions if is_contraction(cone, plan, each)]
            if contractions and self.machine.row_statistics:
                statistics = row_statistics(cone, plan, reductions, contractions)
        tiled = all(is_tiled(plan, each.access) for each in contractions)
        return KernelWork(cone, plan, self.machine, reductions, contractions, tiled, bool(one_pass), statistics)

    def _find_dear(self, work: KernelWork, one_pass: frozenset[Operation]) -> Violation | None:
        """What is computed again and again though to store it would cost less."""
        known = {each.op: each.repeated for each in work.work}
        if sum(known.values()) <= self.machine.launch:
            return None
        found, least = None, work.cost
        for op, reason in _candidates(work):
            # What is stored for one reader costs a launch, and is written and read.
            before, behind = cut_at(work.cone, op.results[0])
            stored = self.machine.launch + 2 * self.machine.byte * byte_count(op.results[0])
            if sum(known.get(each, 0) for each in before.ops) <= stored:
                continue
            cut = self._work(before, frozenset()).cost + self._work(behind, one_pass).cost
            if cut < least:
                found, least = Violation(op, reason), cut
        return found


def _find_repeated(work: KernelWork) -> Violation | None:
    for each in work.work_of(op for op in work.cone.ops if isinstance(op, Combination)):
        if each.times > PADDED:
            return Violation(each.op, _times(each))
    return None if work.tiled else Violation(work.contractions[0].op, UNTILED)


def _candidates(work: KernelWork) -> Sequence[tuple[Operation, str]]:
    """The ops that are computed more often than those that need them, and how often."""
    found: list[tuple[int, Operation, str]] = []
    known = {each.op: each for each in work.work}
    behind: dict[Operation, float] = {}
    """How often what needs the op is computed."""
    for op in reversed(work.cone.ops):
        times = known[op].times if op in known else behind.get(op, 1)
        if op in known and times > behind.get(op, 1):
            found.append((known[op].repeated, op, _times(known[op])))
        for value in op.operands:
            if isinstance(owner := value.owner, Operation) and value not in work.cone.leaves:
                behind[owner] = min(behind.get(owner, times), times)
    found = [each for each in found if each[1] is not work.cone.ops[-1]]
    return [(op, reason) for _, op, reason in sorted(found, key=lambda each: -each[0])[:MOST_CANDIDATES]]


def _times(work: Work) -> str:
    return f"would be computed {work.times:.4g} times for each of its elements"
