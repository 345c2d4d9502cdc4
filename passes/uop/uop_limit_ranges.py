"""uop-limit-ranges: ranges get limits where what is outside of them changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import reduce

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.limits import Limits
from ...dialects.monoids import Number
from ...dialects.types import index
from ...dialects.uop import (
    ALU_OPS,
    AddOp,
    CastOp,
    KernelOp,
    MulOp,
    RangeOp,
    ReduceOp,
    ScanOp,
    StoreOp,
    SubOp,
    constant_value,
)
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from ...rewriting.interval_arithmetic import whole
from ...rewriting.linear import LinearForm
from ...rewriting.ranges import RangeAnalysis, is_comparison
from ...rewriting.uses import replace_uses
from ..known_values import Known, KnownValues
from .free_ranges import Copies, FreeRanges
from .needed_extents import limit_to_needed
from .rules.exponentials import Base, Exponential


@dataclass(frozen=True)
class UOpLimitRangesPass(ModulePass):
    """Give the ranges of kernels in range form limits, which their loops need not leave.

    - A range of a reduction, by each comparison on which its elements depend: where they are the identity whenever
      that is false (or true), `where(k <= j, x, 0)` in a sum or `where(k <= j, x, −∞)` in a maximum or an online
      softmax, k goes to j + 1. Both sides may be linear in ranges and in what the kernel reads.
    - A sum of exp(x − m), where m is the maximum of the same x over the same range, by where x is −∞.
    - A range of a store, by the comparisons of its mask: `mask (j == position)` goes from position to position + 1.

    - A range of a store, by what is read of the buffer: backwards through programs whose results have extents that are
      symbols, see `needed_extents`. Kernels are given the symbols that their limits need.

    Masks stay where they are: a limit may be dropped, or rounded outwards. A range that some of its users need all of
    (the quotient of a softmax, which is stored everywhere) stays for them; the others get one of the same name.
    Leaves alone: kernels that are not in range form, ranges that are scanned, limits that depend on an inner range.

    finite: take for granted that what is multiplied by 0, or added to ±∞, is finite: then the product with a
      triangular matrix is limited, too, in which PyTorch's 0 · ∞ is NaN.
    """

    name = "uop-limit-ranges"

    finite: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp):
                comparisons, has_ranges = list[Operation](), False
                for each in kernel.body.block.ops:  # isinstance asks abstract classes
                    has_ranges |= type(each) is RangeOp
                    if is_comparison(each):
                        comparisons.append(each)
                if has_ranges and comparisons:
                    _Kernel(kernel, comparisons, self.finite).run()
        limit_to_needed(op)


@dataclass(frozen=True)
class _Limit:
    """What bounds a range: a form of it that is at most 0 wherever a position counts."""

    range: SSAValue
    form: LinearForm

    @property
    def coefficient(self) -> int:
        """That of the range: positive for what it must not exceed, negative for what it must reach."""
        return self.form.terms[self.range]

    @property
    def bound(self) -> tuple[LinearForm, int]:
        """(form, divisor): ⌊form ÷ divisor⌋ is the first position inside, or the first behind those inside."""
        divisor = abs(self.coefficient)
        rest = self.form + LinearForm({self.range: -self.coefficient})
        if self.coefficient > 0:  # r ≤ ⌊−rest ÷ c⌋
            return rest * -1 + LinearForm({}, divisor), divisor
        return rest + LinearForm({}, divisor - 1), divisor  # r ≥ ⌈rest ÷ |c|⌉


class _Needed(Enum):
    """Of the positions at which something holds: whether a result may depend on them."""

    NONE = auto()
    ONE = auto()
    """Only where no other position is left: then one is."""
    MAYBE = auto()


class _Kernel:
    def __init__(self, kernel: KernelOp, comparisons: Sequence[Operation], finite: bool):
        self.kernel = kernel
        self.block = kernel.body.block
        self.finite = finite
        self.free = FreeRanges()
        self.analysis = RangeAnalysis()
        ops = list(self.block.ops)
        self.users: list[ReduceOp | StoreOp] = [op for op in ops if isinstance(op, ReduceOp | StoreOp)]
        self.scanned = {op.over[0] for op in ops if isinstance(op, ScanOp)}
        self.nonempty: set[_Limit] = set()
        """Limits that leave a position of their range inside, whatever their forms say."""
        self.limited: dict[tuple[_Limit, ...], SSAValue] = {}
        """Limits of a range → the range that has them."""
        self.replaced: dict[SSAValue, SSAValue] = {}
        self.comparisons: dict[SSAValue, list[SSAValue]] = {}
        """Range → the comparisons that depend on it."""
        for op in comparisons:
            for range in self.free[op.results[0]] - self.scanned:
                self.comparisons.setdefault(range, []).append(op.results[0])

    def run(self) -> None:
        if not self.comparisons:
            return
        limits = {user: list(self.limits_of(user)) for user in self.users}
        stores = [user for user in self.users if isinstance(user, StoreOp)]
        for store in stores:  # those that share a range share its loop
            limits[store] = [
                limit
                for limit in limits[store]
                if all(limit in limits[other] for other in stores if limit.range in self.free.of(other.operands))
            ]
        builder = Builder(self.block)
        for user in self.users:
            if limits[user]:
                builder.before = user
                with builder.at(user.location):
                    self.replace(builder, user, limits[user])
        erase_unused(self.block)

    # What limits there are.

    def limits_of(self, user: ReduceOp | StoreOp) -> Iterator[_Limit]:
        """The limits of the ranges of a user, by all comparisons on which it depends."""
        ranges = self.ranges_of(user)
        tested = dict.fromkeys(each for range in ranges for each in self.comparisons.get(range, ()))
        if not tested:
            return
        made_of = _cone(user.inputs if isinstance(user, ReduceOp) else [] if user.mask is None else [user.mask])
        conditions = [
            (comparison, holds, needed)
            for comparison in tested
            if comparison in made_of
            for holds in (True, False)
            if (needed := self.needed_where(user, comparison, not holds)) is not _Needed.MAYBE
        ]
        where_needed = reduce(lambda known, each: known.given(each[0], each[1]), conditions, self.analysis)
        for comparison, holds, needed in conditions:
            for form in self.analysis.nonpositive_forms(comparison, holds):
                form = self.unwrapped(form, where_needed)
                for place, range in enumerate(ranges):
                    outside = frozenset(ranges[:place]) if isinstance(user, StoreOp) else frozenset[SSAValue]()
                    if self.is_limit(form, range, frozenset(ranges) - outside):
                        limit = _Limit(range, form)
                        if needed is _Needed.ONE:
                            self.nonempty.add(limit)
                        yield limit

    def unwrapped(self, form: LinearForm, where_needed: RangeAnalysis) -> LinearForm:
        """A form with sums and differences as arithmetic has them, though they may wrap around: not where they, and all
        of their operands but one, are known to be so small that the other must be, too."""
        while (leaf := next((leaf for leaf in form.terms if self.is_unwrapped(leaf, where_needed)), None)) is not None:
            op = leaf.owner
            assert isinstance(op, AddOp | SubOp)
            first, second = (self.analysis.form(operand) for operand in op.operands)
            if isinstance(op, SubOp):
                second *= -1
            form += (first + second + LinearForm({leaf: -1})) * form.terms[leaf]
        return form

    def is_unwrapped(self, leaf: SSAValue, where_needed: RangeAnalysis) -> bool:
        """Whether a sum or difference has not wrapped around."""
        op = leaf.owner
        if not isinstance(op, AddOp | SubOp):
            return False
        result, limits = where_needed.interval(leaf), whole(leaf.type)
        x, y = (self.analysis.interval(operand) for operand in op.operands)
        if result is None or limits is None or x is None or y is None:
            return False
        sign = -1 if isinstance(op, SubOp) else 1
        # x is the result less y, or y the result less x, turned round where that is subtracted.
        return limits.contains(result + y * -sign) or limits.contains((result + x * -1) * sign)

    def ranges_of(self, user: ReduceOp | StoreOp) -> list[SSAValue]:
        """The ranges that a reduction binds, or that a store goes over, outer loops first."""
        if isinstance(user, ReduceOp):
            return list(user.over)
        free = self.free.of(user.operands)
        direct = dict.fromkeys(value for value in user.indices if value in free)
        return list(direct)

    def is_limit(self, form: LinearForm, range: SSAValue, inner: frozenset[SSAValue]) -> bool:
        """Whether a form bounds the range by what is known in front of its loop."""
        others = [leaf for leaf in form.terms if leaf is not range]
        return range in form.terms and self.free.of(others).isdisjoint(inner | {range})

    def needed_where(self, user: ReduceOp | StoreOp, comparison: SSAValue, holds: bool) -> _Needed:
        """Whether a user needs the positions at which a comparison holds, or does not."""
        if isinstance(user, StoreOp):
            assert user.mask is not None
            known = KnownValues({comparison: holds}).of(user.mask)
            return _Needed.MAYBE if known is None or known else _Needed.NONE
        if self.is_identity(user, KnownValues({comparison: holds})):
            return _Needed.NONE
        if (exponential := _exponential_of_difference(user)) is not None:
            maximum, exponent = exponential
            # Where the element is −∞, so is the exponent. But where the maximum is, too, each exponential is NaN, and
            # one of them makes the sum so.
            known = KnownValues({comparison: holds}, nothing=[exponent])
            if _is_number(known.of(maximum.inputs[0]), float("-inf")) and self.is_identity(user, known):
                return _Needed.ONE
        if self.is_identity(user, KnownValues({comparison: holds}, finite=True)):
            if self.finite:
                return _Needed.NONE
            name, axis = self.kernel.sym_name.data, _name(user.over[0])
            emit_remark(
                user,
                f"@{name}: all of {axis} is computed, though much of it is multiplied by 0: 0 · ∞ is NaN; "
                "uop-limit-ranges{finite=true} takes for granted that there is no ∞",
            )
        return _Needed.MAYBE

    def is_identity(self, user: ReduceOp, known: KnownValues) -> bool:
        monoid = user.monoid.monoid
        identities = monoid.identity([value.type for value in user.inputs])
        pairs = list(zip(user.inputs, identities, strict=True))
        if user.monoid.data in ("online_softmax", "online_attention"):
            pairs = pairs[:1]  # exp(−∞ − m) is 0, and so is what is multiplied by it
        return all(_is_number(known.of(value), identity) for value, identity in pairs)

    # Carrying them out.

    def replace(self, builder: Builder, user: ReduceOp | StoreOp, limits: Sequence[_Limit]) -> None:
        """Let a user go over ranges with limits."""
        new: dict[SSAValue, SSAValue] = {}
        for range in dict.fromkeys(limit.range for limit in limits):
            own = tuple(limit for limit in limits if limit.range is range)
            if own not in self.limited:
                assert isinstance(range.owner, RangeOp)
                axis = range.owner.axis
                ends = self.ends(builder, own, new, axis.extent.data)
                op = builder.insert(RangeOp.of(axis.axis.data, axis.extent.data, ends))
                op.result.name_hint = range.name_hint
                self.limited[own] = op.result
            new[range] = self.limited[own]
        copies = Copies(builder, self.free, new)
        operands = [copies.of(operand) for operand in user.operands]
        if isinstance(user, StoreOp):
            builder.insert(StoreOp.create(operands=operands, properties=user.properties, attributes=user.attributes))
            self.block.erase_op(user)
            return
        copy = builder.pure_like(user, operands)
        for old, result in zip(user.results, copy.results, strict=True):
            self.replaced[old] = result
            replace_uses(old, result)

    def ends(self, builder: Builder, limits: Sequence[_Limit], new: dict[SSAValue, SSAValue], extent: int) -> Limits:
        """The limits of one range as values, in front of what uses it."""
        copies = Copies(builder, self.free, new)
        lowest, highest = ([limit for limit in limits if (limit.coefficient > 0) is up] for up in (False, True))

        def joined(name: str, own: Sequence[_Limit]) -> SSAValue | None:
            result: SSAValue | None = None
            for limit in own:
                form, divisor = limit.bound
                value = self.value(builder, form, copies)
                if divisor > 1:
                    value = builder.alu("floordiv", value, builder.const(divisor, index))
                result = value if result is None else builder.alu(name, result, value)
            return result

        lower, upper = joined("max", lowest), joined("min", highest)
        if not self.nonempty.isdisjoint(limits):
            return self.with_a_position(builder, lower, upper, [limit.bound for limit in (*highest, *lowest)], extent)
        return Limits(lower, upper)

    def with_a_position(
        self,
        builder: Builder,
        lower: SSAValue | None,
        upper: SSAValue | None,
        bounds: Sequence[tuple[LinearForm, int]],
        extent: int,
    ) -> Limits:
        """The limits, moved outwards as far as it takes that a position is inside, where that is not proved."""

        def least(form: LinearForm) -> int:
            return self.analysis.interval_of_form(form).low

        one = builder.const(1, index)
        forms = [form for form, divisor in bounds if divisor == 1]
        if lower is not None and (len(forms) < len(bounds) or least(forms[-1] * -1) <= -extent):
            lower = builder.alu("min", lower, builder.const(extent - 1, index))
        if upper is not None:
            if len(forms) < len(bounds) or least(forms[0]) < 1:
                upper = builder.alu("max", upper, one)
            if lower is not None and (len(bounds) > 2 or len(forms) < 2 or least(forms[0] - forms[1]) < 1):
                upper = builder.alu("max", upper, builder.alu("add", lower, one))
        return Limits(lower, upper)

    def value(self, builder: Builder, form: LinearForm, copies: Copies) -> SSAValue:
        """A form as an index: what is added, minus what is subtracted, plus the constant."""
        total: SSAValue | None = None
        terms = sorted(form.terms.items(), key=lambda term: term[1] < 0)
        for leaf, coefficient in terms:
            term = builder.cast(copies.of(self.replaced.get(leaf, leaf)), index)
            if abs(coefficient) != 1:
                term = builder.alu("mul", term, builder.const(abs(coefficient), index))
            if total is None and coefficient < 0:
                total = builder.const(0, index)
            total = term if total is None else builder.alu("add" if coefficient > 0 else "sub", total, term)
        if total is None or form.constant:
            constant = builder.const(form.constant, index)
            total = constant if total is None else builder.alu("add", total, constant)
        return total


def _cone(values: Sequence[SSAValue]) -> set[SSAValue]:
    """All that values are made of, but for what reductions inside of them combine."""
    seen: set[SSAValue] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value not in seen:
            seen.add(value)
            if isinstance(value.owner, Operation) and not isinstance(value.owner, ReduceOp):
                stack += value.owner.operands
    return seen


_EXPONENTIALS = (ALU_OPS["exp"], ALU_OPS["exp2"])


def _exponential_of_difference(user: ReduceOp) -> tuple[ReduceOp, SSAValue] | None:
    """Of a sum of exponentials of x − m, or of a positive multiple, the reduction m, if that is the maximum of x over
    the same ranges, and the exponent."""
    if user.monoid.data != "add" or len(user.inputs) != 1:
        return None
    power = _without_casts(user.inputs[0])
    if not isinstance(power.owner, _EXPONENTIALS):
        return None
    exponent = power.owner.operands[0]
    if (scaled := Exponential.of(power)) is not None:
        if scaled.base != Base(scaled.base.maximum):  # 0 is subtracted where the maximum is infinite
            return None
        value, maximum = scaled.value, scaled.base.maximum
    else:
        difference = _without_casts(exponent).owner
        if isinstance(difference, MulOp) and (constant_value(difference.operands[1]) or 0) > 0:
            difference = _without_casts(difference.operands[0]).owner
        if not isinstance(difference, SubOp):
            return None
        value, maximum = difference.operands
    reduction = maximum.owner
    if not isinstance(reduction, ReduceOp) or reduction.monoid.data != "max" or len(reduction.inputs) != 1:
        return None
    is_maximum = reduction.inputs[0] is value and set(reduction.over) == set(user.over)
    return (reduction, exponent) if is_maximum else None


def _without_casts(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, CastOp):
        value = value.owner.input
    return value


def _is_number(known: Known, number: Number) -> bool:
    """Whether a value is known to be a number, to the last bit."""
    return known is not None and known.tobytes() == known.dtype.type(number).tobytes()


def _name(range: SSAValue) -> str:
    assert isinstance(range.owner, RangeOp)
    return range.owner.axis.axis.data
