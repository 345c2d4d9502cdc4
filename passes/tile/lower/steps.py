"""The steps of a loop that are executed: all of them, or those inside its limits."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ....dialects.gpu_kernel import IfOp
from ....dialects.loop import ForOp
from ....dialects.uop import constant_value
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .indices import ZERO
from .lowering import Lowering
from .scopes import Scope


@dataclass(frozen=True)
class Steps:
    """The steps from `first` up to and without `end`. extent: of the loop, which `end` does not exceed."""

    first: LinearForm
    end: LinearForm
    extent: int

    @property
    def all(self) -> bool:
        """Whether they are the loop's whole extent."""
        return self.first == ZERO and self.end == LinearForm({}, self.extent)

    @staticmethod
    def of(lowering: Lowering, scope: Scope, op: ForOp, together: int) -> Steps:
        """The steps of a loop of which `together` are written out, clipped to its extent.

        With limits there is at least one, which changes nothing, so that what a first step does, to wait for copies and
        meet at a barrier, is done; and the first is a multiple of `together`, so that each of those uses its own slots.
        """
        extent = op.axis.extent.data
        if not op.limits.values or extent < 2:
            return Steps(ZERO, LinearForm({}, extent), extent)
        indices = lowering.indices

        def limit(value: SSAValue, low: LinearForm, high: int) -> LinearForm:
            (form,) = lowering.values.elements(scope, [value])
            assert isinstance(form, LinearForm)
            bounds = indices.bounds(form)
            found = indices.value(scope, form)
            if bounds.high > high:
                found = scope.alu("min", found, indices.constant(high))
            least = indices.bounds(low).low
            if low.terms or bounds.low < least:
                found = scope.alu("max", found, indices.value(scope, low))
            return indices.leaf(found, Interval(least, high))

        first, end = ZERO, LinearForm({}, extent)
        if op.lower is not None:
            first = limit(op.lower, ZERO, extent - 1)
            first = indices.quotient(scope, first, together) * together
        if op.upper is not None:
            end = limit(op.upper, first + LinearForm({}, 1), extent)
        return Steps(first, end, extent)

    @contextmanager
    def executed(self, lowering: Lowering, scope: Scope, step: LinearForm) -> Generator[Scope | None]:
        """A scope in which a step, not before the first, is one of them; None where it never is."""
        inside = lowering.indices.compare(scope, "lt", step, self.end)
        decided = constant_value(inside)
        if decided is not None:
            yield scope if decided else None
            return
        branch = IfOp.of(inside)
        with scope.inside(branch, branch.then.block) as inner:
            yield inner
