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

        With limits the first is a multiple of `together`, so that each of those uses its own slots; there may be none.
        """
        extent = op.axis.extent.data
        if not op.limits.values or not extent:
            return Steps(ZERO, LinearForm({}, extent), extent)
        indices = lowering.indices

        def limit(value: SSAValue) -> LinearForm:
            (form,) = lowering.values.elements(scope, [value])
            assert isinstance(form, LinearForm)
            bounds = indices.bounds(form)
            if 0 <= bounds.low and bounds.high <= extent:
                return form
            found = indices.value(scope, form)
            if bounds.high > extent:
                found = scope.alu("min", found, indices.constant(extent))
            if bounds.low < 0:
                found = scope.alu("max", found, indices.constant(0))
            low, high = (min(max(number, 0), extent) for number in (bounds.low, bounds.high))
            return indices.leaf(found, Interval(low, high))

        first, end = ZERO, LinearForm({}, extent)
        if op.lower is not None:
            first = indices.quotient(scope, limit(op.lower), together) * together
        if op.upper is not None:
            end = limit(op.upper)
        return Steps(first, end, extent)

    @contextmanager
    def executed(self, lowering: Lowering, scope: Scope, step: LinearForm) -> Generator[Scope | None]:
        """A scope in which a step, not before the first, is one of them; None where it never is."""
        with _where(scope, lowering.indices.compare(scope, "lt", step, self.end)) as inner:
            yield inner

    @contextmanager
    def none(self, lowering: Lowering, scope: Scope) -> Generator[Scope | None]:
        """A scope in which there is no step; None where there always is one."""
        with _where(scope, lowering.indices.compare(scope, "ge", self.first, self.end)) as inner:
            yield inner


@contextmanager
def _where(scope: Scope, condition: SSAValue) -> Generator[Scope | None]:
    """A scope in which a condition holds, the one that is given where it always does; None where it never does."""
    decided = constant_value(condition)
    if decided is not None:
        yield scope if decided else None
        return
    branch = IfOp.of(condition)
    with scope.inside(branch, branch.then.block) as inner:
        yield inner
