"""Slabs with several buffers: copies run ahead of the loop that uses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

from ....dialects.gpu_kernel import AsyncCommitOp, AsyncWaitOp
from ....dialects.loop import ForOp
from ....dialects.tile import LeaveUnlessOp, MmaOp, StageOp
from ....rewriting.linear import LinearForm
from .copies import SlabCopy
from .lowering import Lowering
from .scopes import Scope
from .steps import Steps
from .transposed_copies import slab_copy


def pipelined_stages(op: ForOp) -> list[StageOp]:
    """The stages directly in a loop's body whose slabs are copied ahead."""
    return [stage for stage in op.body.block.ops if isinstance(stage, StageOp) and stage.buffers.value.data > 1]


MOST_STEPS = 8
"""Steps with different slots that are written out; of more, each computes where its slots are."""

MOST_INSTRUCTIONS, MOST_IN_BRANCH = 32, 128
"""Matrix instructions of a step that is written out several times: what the compiler moves from one step to another
takes registers, and of many instructions the few that find a slot are a small part. From one branch to another it moves
nothing."""


@dataclass(frozen=True)
class _Ring:
    """A slab of which `depth` copies are held: that of step `n` in slot `n mod depth`."""

    copy: SlabCopy
    depth: int

    @property
    def asynchronous(self) -> bool:
        return self.copy.asynchronous


@dataclass
class Pipeline:
    """The copies that run ahead of one loop.

    In front of the loop the slabs of its first steps are copied. Each step waits until its own have arrived, meets the
    other threads at a barrier, starts the copies of a later step into the slots that the step before has freed, and
    computes. One barrier a step serves both sides: what it waits for is there, and what is overwritten has been read.

    Asynchronous copies of one step are one group. The group of a step is complete when at most `depth − 2` later ones
    are under way, for the least depth; deeper rings only copy earlier.
    """

    lowering: Lowering
    op: ForOp
    rings: Sequence[_Ring]

    @staticmethod
    def of(lowering: Lowering, op: ForOp) -> Pipeline | None:
        """The pipeline of a loop; None when no stage in it has several buffers."""
        stages = pipelined_stages(op)
        return Pipeline(lowering, op, [_ring(lowering, stage) for stage in stages]) if stages else None

    @property
    def period(self) -> int:
        """Steps after which the slots are used again in the same order."""
        return lcm(*(ring.depth for ring in self.rings))

    @property
    def together(self) -> int:
        """Steps that are written out, each with its own slots: around matrix instructions, but not around many."""
        if not self.lowering.values.flat or self.period > MOST_STEPS:
            return 1
        body = self.op.body.block.ops
        instructions = sum(op.instructions for op in body if isinstance(op, MmaOp))
        in_branch = any(isinstance(op, LeaveUnlessOp) for op in body)
        return 1 if instructions > (MOST_IN_BRANCH if in_branch else MOST_INSTRUCTIONS) else self.period

    @property
    def groups(self) -> int:
        """Groups of copies that `begin` starts."""
        return self._least_depth() - 1 if self.is_asynchronous else 0

    @property
    def is_asynchronous(self) -> bool:
        """Whether any of its copies are."""
        return bool(self._asynchronous)

    @property
    def _asynchronous(self) -> list[_Ring]:
        return [ring for ring in self.rings if ring.asynchronous]

    def _least_depth(self) -> int:
        return min(ring.depth for ring in self._asynchronous or self.rings)

    def begin(self, scope: Scope, steps: Steps) -> None:
        """Copy the slabs of the first steps."""
        self.lowering.barrier_before(scope, self.op)
        deepest, groups = max(ring.depth for ring in self.rings), self._least_depth() - 1
        for step in range(deepest - 1):
            number = steps.first + LinearForm({}, step)
            self._copy_if_executed(scope, [ring for ring in self.rings if step < ring.depth - 1], number, steps)
            # The last group takes what deeper rings copy further ahead.
            if self._asynchronous and (step < groups - 1 or step == deepest - 2):
                scope.insert(AsyncCommitOp.create())

    def step(self, scope: Scope, steps: Steps) -> None:
        """Wait for this step's slabs, and start the copies of later ones."""
        lowering = self.lowering
        current = lowering.values.known[self.op.index]
        assert isinstance(current, LinearForm)
        if self._asynchronous:
            scope.insert(AsyncWaitOp.of(self._least_depth() - 2))
        lowering.barrier(scope)
        for depth in sorted({ring.depth for ring in self.rings}):
            rings = [ring for ring in self.rings if ring.depth == depth]
            self._copy_if_executed(scope, rings, current + LinearForm({}, depth - 1), steps)
        if self._asynchronous:
            scope.insert(AsyncCommitOp.create())
        for ring in self.rings:
            lowering.slots[ring.copy.op.result] = self._slot(scope, ring, current)

    def end_without_steps(self, scope: Scope, steps: Steps) -> None:
        """Where there is no step, do what the first does for the copies in front of the loop: wait for them, and meet
        the other threads at a barrier."""
        with steps.none(self.lowering, scope) as inner:
            if inner is None:
                return
            if self._asynchronous:
                inner.insert(AsyncCommitOp.create())
                inner.insert(AsyncWaitOp.of(0))
            self.lowering.barrier(inner)

    def _slot(self, scope: Scope, ring: _Ring, step: LinearForm) -> LinearForm:
        """Where in its array the slab of a step begins."""
        return self.lowering.indices.remainder(scope, step, ring.depth) * ring.copy.span

    def _copy_if_executed(self, scope: Scope, rings: Sequence[_Ring], step: LinearForm, steps: Steps) -> None:
        """Copy the slabs of a step, if there is such a step."""
        with steps.executed(self.lowering, scope, step) as inner:
            if inner is not None:
                for ring in rings:
                    self._copy(inner, ring, step)

    def _copy(self, scope: Scope, ring: _Ring, step: LinearForm) -> None:
        with self.lowering.values.assuming(self.op.index, step), scope.at(ring.copy.op.location):
            ring.copy.build(self.lowering, scope, self._slot(scope, ring, step))


def _ring(lowering: Lowering, stage: StageOp) -> _Ring:
    copy, depth = slab_copy(lowering, stage), stage.buffers.value.data
    copy.declare(lowering, depth)
    return _Ring(copy, depth)
