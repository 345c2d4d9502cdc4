"""Ranges of values: interval and congruence together, and what a condition adds to them.

`RangeAnalysis().of(value)` is what guards of rules and checks ask: `x.min`, `x.max`, `x.divisible_by(4)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from ..dialects import gpu_kernel
from ..dialects.types import bit_width, element_of, index, is_bool
from ..dialects.uop import (
    ALU_OPS,
    AndOp,
    BitcastOp,
    CastOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    NotOp,
    OrOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    WindowOp,
)
from .congruences import ANYTHING, CONGRUENCES, Congruence, Transfer, constant
from .interval_arithmetic import INTERVALS, Interval, whole
from .intervals import MIRRORED, MIXING, IntervalAnalysis, limited_by
from .linear import LinearForm, linear_form


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers of an interval that satisfy a congruence."""

    interval: Interval
    congruence: Congruence

    @property
    def min(self) -> int:
        return self.interval.low

    @property
    def max(self) -> int:
        return self.interval.high

    @property
    def modulus(self) -> int:
        """All the numbers leave `residue` when divided by it; 0 where there is but one number."""
        return self.congruence.modulus

    @property
    def residue(self) -> int:
        return self.congruence.residue

    def divisible_by(self, number: int) -> bool:
        """Whether each is a multiple of `number`."""
        return self.congruence.divisible_by(number)

    def holds(self, number: int) -> bool:
        """Whether `number` is in the range."""
        return self.min <= number <= self.max and self.congruence.holds(number)


class RangeAnalysis:
    """Ranges of values, found when asked for and kept; see `IntervalAnalysis`.

    assumed, everywhere: as for intervals.
    """

    def __init__(
        self, assumed: Mapping[SSAValue, Interval] | None = None, everywhere: RangeAnalysis | None = None
    ) -> None:
        self._assumed = dict(assumed or {})
        self._everywhere = everywhere
        self.intervals = IntervalAnalysis(self._assumed, everywhere and everywhere.intervals)
        self._congruences: dict[SSAValue, Congruence] = {}
        self._forms: dict[SSAValue, LinearForm] = {}

    def of(self, value: SSAValue) -> Range | None:
        """The range of a value; None for floats."""
        interval = self.intervals.of(value)
        if interval is None:
            return None
        congruence = self.congruence(value)
        # Nothing is left where code is never executed: then anything holds.
        interval = congruence.nearest(interval) or interval
        return Range(interval, constant(interval.low) if interval.is_single else congruence)

    def interval(self, value: SSAValue) -> Interval | None:
        """The least and the greatest number; None for floats. Cheaper than `of`, which may know tighter ends."""
        return self.intervals.of(value)

    def remainder(self, value: SSAValue, divisor: int) -> Interval | None:
        """The least and the greatest remainder of a value when divided (floor division); None for floats."""
        interval = self.intervals.of(value)
        if interval is None:
            return None
        quotient = interval.low // divisor
        if interval.high // divisor == quotient:
            return Interval(interval.low - quotient * divisor, interval.high - quotient * divisor)
        return self.congruence(value).remainders(divisor)

    def assume(self, value: SSAValue, interval: Interval) -> None:
        """Take for granted that a value, of which nothing has been asked yet, is in the interval."""
        self._assumed[value] = interval
        self.intervals.assume(value, interval)

    def congruence(self, value: SSAValue) -> Congruence:
        """What the value is modulo some number; of floats, nothing is known."""
        known = self._congruences
        stack = [value]
        while stack:
            current = stack[-1]
            if current not in known:
                is_linear = type(current.owner) in _LINEAR and current.type == index
                interval = _UNKNOWN if is_linear else self.intervals.of(current)
                if interval is None:
                    known[current] = ANYTHING
                elif interval.is_single:
                    known[current] = constant(interval.low)
                else:
                    inputs = _inputs(current)
                    missing = [operand for operand in inputs if operand not in known]
                    if missing:
                        stack += missing
                        continue
                    known[current] = self._congruence(current, inputs)
            stack.pop()
        return known[value]

    def _congruence(self, value: SSAValue, inputs: list[SSAValue]) -> Congruence:
        if not inputs:
            return ANYTHING
        owner = value.owner
        if self._everywhere is not None and type(owner) in MIXING:
            return self._everywhere.congruence(value)
        operands = [self._congruences[operand] for operand in inputs]
        transfer = _TRANSFER.get(type(owner))  # pyright: ignore[reportArgumentType]  # a block has none
        if transfer is not None and type(owner) in _LINEAR and value.type == index:
            return transfer(operands, ())
        if isinstance(owner, Block):  # of a loop: the index goes on in steps
            parent = owner.parent_op()
            assert isinstance(parent, gpu_kernel.ForOp)
            return operands[0].union(operands[0] + constant(parent.step.value.data))
        if transfer is None:
            result = operands[0]
            if isinstance(owner, PadOp):
                result = result.union(constant(0))
            elif isinstance(owner, NotOp):
                limits = whole(element_of(value.type))
                assert limits is not None
                result = constant(limits.low + limits.high) + -result
        else:
            intervals = [self.intervals.of(operand) for operand in inputs]
            numbers = [interval for interval in intervals if interval is not None]
            if len(numbers) < len(intervals):
                return ANYTHING
            result = transfer(operands, numbers)
        return result if self.is_exact(owner) else result.modulo(1 << bit_width(element_of(value.type)))

    def is_exact(self, op: Operation) -> bool:
        """Whether an op of integers gives the number that arithmetic gives: that it does not wrap around.

        An index never does.
        """
        element = element_of(op.results[0].type)
        if is_bool(element) and isinstance(op, CastOp):
            return False  # whether it is 0
        if isinstance(element, IndexType) and not isinstance(op, CastOp):
            return True
        limits = whole(element)
        if limits is None:
            return False
        operands = [self.intervals.of(operand) for operand in op.operands]
        numbers = [operand for operand in operands if operand is not None]
        if len(numbers) < len(operands):
            return False
        if isinstance(op, CastOp | BitcastOp):
            return limits.contains(numbers[0])
        transfer = INTERVALS.get(op.name.removeprefix("uop."))
        if transfer is None:  # movement
            return True
        exact = transfer(element, numbers)
        return exact is not None and limits.contains(exact)

    def form(self, value: SSAValue) -> LinearForm:
        """The value as a linear form of values that are none themselves."""
        return linear_form(value, self.is_exact, self._forms)

    def interval_of_form(self, form: LinearForm) -> Interval:
        """The least and the greatest value of a form, each leaf taking all of its own."""
        low = high = form.constant
        for leaf, coefficient in form.terms.items():
            known = self.of(leaf)
            assert known is not None, "a form is made of integers"
            ends = known.interval * coefficient
            low, high = low + ends.low, high + ends.high
        return Interval(low, high)

    def congruence_of_form(self, form: LinearForm) -> Congruence:
        """What a form is modulo some number."""
        result = constant(form.constant)
        for leaf, coefficient in form.terms.items():
            result += self.congruence(leaf) * constant(coefficient)
        return result

    # Conditions.

    def given(self, condition: SSAValue, holds: bool = True) -> RangeAnalysis:
        """The analysis where a condition (a bool) is known to be true, or false."""
        assumed = dict(self._assumed)
        for atom, is_true in atoms_of(condition, holds):
            assumed[atom] = Interval(int(is_true), int(is_true))
            for form in self.nonpositive_forms(atom, is_true):
                self._limit_leaves(form, assumed)
        return RangeAnalysis(assumed, self._everywhere or self)

    def nonpositive_forms(self, atom: SSAValue, holds: bool) -> list[LinearForm]:
        """Forms that are at most 0 where a comparison of integers holds (or not)."""
        comparison = atom.owner
        name = _COMPARISONS.get(type(comparison))  # pyright: ignore[reportArgumentType]  # a block has none
        if name is None or not isinstance(comparison, Operation):
            return []
        left, right = comparison.operands
        if whole(element_of(left.type)) is None:
            return []
        difference = self.form(left) - self.form(right)
        one = LinearForm({}, 1)
        match name if holds else _NEGATED[name]:
            case "lt":
                return [difference + one]
            case "le":
                return [difference]
            case "gt":
                return [difference * -1 + one]
            case "ge":
                return [difference * -1]
            case "eq":
                return [difference, difference * -1]
            case _:
                return []

    def _limit_leaves(self, form: LinearForm, assumed: dict[SSAValue, Interval]) -> None:
        """What form ≤ 0 says of each leaf, the others taking their least."""
        least = self.interval_of_form(form).low
        for leaf, coefficient in form.terms.items():
            known = self.of(leaf)
            assert known is not None
            rest = least - (known.interval * coefficient).low
            # coefficient · leaf ≤ −rest
            limit = -rest // coefficient if coefficient > 0 else -(rest // coefficient)
            relation = "le" if coefficient > 0 else "ge"
            interval = assumed.get(leaf, known.interval)
            limited = limited_by(relation, interval, Interval(limit, limit))
            if limited is not None:
                assumed[leaf] = known.congruence.nearest(limited) or limited


def is_comparison(op: Operation) -> bool:
    """Whether an op compares two values by size or for equality."""
    return type(op) in _COMPARISONS


def atoms_of(condition: SSAValue, holds: bool = True) -> list[tuple[SSAValue, bool]]:
    """Conditions that must be true, or false, for a bool to be; none of them an expansion, in order, each once."""
    found: dict[SSAValue, bool] = {}
    stack = [(condition, holds)]
    while stack:
        value, is_true = stack.pop()
        owner = value.owner
        while isinstance(owner, ExpandOp):
            value = owner.input
            owner = value.owner
        if isinstance(owner, NotOp):
            stack.append((owner.operands[0], not is_true))
        elif isinstance(owner, AndOp if is_true else OrOp):
            stack += [(operand, is_true) for operand in reversed(owner.operands)]
        else:
            found[value] = is_true
    return list(found.items())


_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}
_COMPARISONS: dict[type[Operation], str] = {ALU_OPS[name]: name for name in MIRRORED}
_TRANSFER: dict[type[Operation], Transfer] = {ALU_OPS[name]: transfer for name, transfer in CONGRUENCES.items()}
_LINEAR = frozenset(ALU_OPS[name] for name in ("add", "sub", "mul", "neg"))
"""Ops whose congruence follows from those of their operands alone, of an index, which does not wrap around."""
_UNKNOWN = Interval(0, 1)
"""Stands for an interval that nobody has asked for."""
_SAME: tuple[type[Operation], ...] = (
    *(CastOp, BitcastOp, NotOp, gpu_kernel.PinOp),
    *(ExpandOp, FlipOp, GatherOp, PadOp, PermuteOp, ReshapeOp, ShrinkOp, WindowOp),
)


def _inputs(value: SSAValue) -> list[SSAValue]:
    """The values from whose congruences that of `value` follows."""
    owner = value.owner
    if type(owner) in _LINEAR:
        return list(owner.operands)  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportAttributeAccessIssue]
    if isinstance(owner, Block):
        parent = owner.parent_op()
        return [parent.start] if isinstance(parent, gpu_kernel.ForOp) else []
    if type(owner) in _TRANSFER:
        return list(owner.operands)
    is_first = isinstance(value, OpResult) and value.index == 0
    return [owner.operands[0]] if is_first and isinstance(owner, _SAME) else []
