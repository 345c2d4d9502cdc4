"""Index arithmetic of a kernel: linear forms with bounds, built as ops where a value is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, SSAValue

from ....dialects.gpu_kernel import GREATEST_OFFSET, BlockIdOp, PinOp, ThreadIdOp
from ....dialects.types import byte_width, index
from ....dialects.uop import constant_value
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.intervals import IntervalAnalysis
from ....rewriting.linear import LinearForm
from .scopes import Scope

ZERO = LinearForm({})

_COMPARISONS: dict[str, Callable[[int, int], bool | None]] = {
    # (least, greatest) difference of the operands → the result, None where it depends.
    "lt": lambda low, high: True if high < 0 else False if low >= 0 else None,
    "le": lambda low, high: True if high <= 0 else False if low > 0 else None,
    "gt": lambda low, high: True if low > 0 else False if high <= 0 else None,
    "ge": lambda low, high: True if low >= 0 else False if high < 0 else None,
    "eq": lambda low, high: True if low == high == 0 else False if low > 0 or high < 0 else None,
    "ne": lambda low, high: False if low == high == 0 else True if low > 0 or high < 0 else None,
}


class Indices:
    """The index values of one kernel. A leaf of a form is a value of the kernel."""

    def __init__(self, root: Scope):
        self.root = root
        self.intervals = IntervalAnalysis()
        self._serials: dict[SSAValue, int] = {}
        self._constants: dict[int, SSAValue] = {}

    # Forms.

    def leaf(self, value: SSAValue, known: Interval | None = None) -> LinearForm:
        """The form of a value of the kernel; a constant where it can only be one number.

        known: its interval, where that says more than the op which computes it.
        """
        if value not in self._serials:
            self._serials[value] = len(self._serials)
            if known is not None:
                self.intervals.assume(value, known)
        interval = self._interval(value)
        return LinearForm({}, interval.low) if interval.is_single else LinearForm({value: 1})

    def bounds(self, form: LinearForm) -> Interval:
        """The least and the greatest value, each leaf taking all of its own."""
        low = high = form.constant
        for leaf, coefficient in form.terms.items():
            known = self._interval(leaf)
            ends = (known.low, known.high) if coefficient > 0 else (known.high, known.low)
            low, high = low + coefficient * ends[0], high + coefficient * ends[1]
        return Interval(low, high)

    def _interval(self, value: SSAValue) -> Interval:
        interval = self.intervals.of(value)
        assert interval is not None, "an index has an interval"
        return interval

    # Values.

    def constant(self, number: int) -> SSAValue:
        value = self._constants.get(number)
        if value is None:
            value = self._constants[number] = self.root.const(number, index)
        return value

    def value(self, scope: Scope, form: LinearForm) -> SSAValue:
        """The form as a value.

        Terms that change least often are added first, the constant before those that change most often, and each sum
        stands as far out as it can.
        """
        terms = [(scope.of(leaf).depth, self._serials[leaf], leaf, factor) for leaf, factor in form.terms.items()]
        terms.sort(key=lambda term: term[:2])
        constant = form.constant
        total: SSAValue | None = None
        for depth, _, leaf, factor in terms:
            if constant and total is not None and depth == terms[-1][0] > terms[0][0]:
                total, constant = self._plus(scope, total, constant), 0
            if total is not None and factor == -1:
                total = scope.alu("sub", total, leaf)
                continue
            term = leaf if factor == 1 else scope.alu("mul", leaf, self.constant(factor))
            total = term if total is None else scope.alu("add", total, term)
        if total is None:
            return self.constant(constant)
        return self._plus(scope, total, constant) if constant else total

    def value_and_offset(self, scope: Scope, form: LinearForm, element: Attribute) -> tuple[SSAValue, int]:
        """An index of elements as a value, which the places of many instructions have in common, and the offset that an
        instruction adds to it."""
        if abs(form.constant) * byte_width(element) > GREATEST_OFFSET:
            return self.value(scope, form), 0
        return self.value(scope, LinearForm(form.terms)), form.constant

    def pinned(self, form: LinearForm) -> LinearForm:
        """The form with all that no loop changes in one register."""
        steady, moving = self.split_by_loops(form)
        if not steady.terms:
            return form
        (first, coefficient), *rest = steady.terms.items()
        if not rest and coefficient == 1 and isinstance(first.owner, PinOp | ThreadIdOp | BlockIdOp):
            return form
        pinned = self.root.pure(PinOp, (self.value(self.root, steady),), (index,)).result
        return self.leaf(pinned, self.bounds(steady)) + moving

    def split_by_loops(self, form: LinearForm) -> tuple[LinearForm, LinearForm]:
        """The terms that no loop changes, and the others and the constant."""
        steady = {leaf: c for leaf, c in form.terms.items() if self.root.of(leaf) is self.root}
        moving = {leaf: c for leaf, c in form.terms.items() if leaf not in steady}
        return LinearForm(steady), LinearForm(moving, form.constant)

    def _plus(self, scope: Scope, value: SSAValue, number: int) -> SSAValue:
        return scope.alu("add" if number > 0 else "sub", value, self.constant(abs(number)))

    # Operations.

    def quotient(self, scope: Scope, form: LinearForm, divisor: int) -> LinearForm:
        """⌊form ÷ divisor⌋ for a positive divisor; truncating where the dividend is certainly not negative."""
        whole, rest = split_multiples(form, divisor)
        bounds = self.bounds(rest)
        if bounds.low // divisor == bounds.high // divisor:
            return whole + LinearForm({}, bounds.low // divisor)
        common, rest, _ = _reduced(rest, divisor)
        divisor //= common
        bounds = self.bounds(rest)
        op = "truncdiv" if bounds.low >= 0 else "floordiv"
        value = scope.alu(op, self.value(scope, rest), self.constant(divisor))
        return whole + self.leaf(value, Interval(bounds.low // divisor, bounds.high // divisor))

    def remainder(self, scope: Scope, form: LinearForm, divisor: int) -> LinearForm:
        """`form` modulo a positive divisor, in 0 … divisor − 1."""
        _, rest = split_multiples(form, divisor)
        bounds = self.bounds(rest)
        if bounds.low // divisor == bounds.high // divisor:
            return rest + LinearForm({}, -(bounds.low // divisor) * divisor)
        common, rest, left = _reduced(rest, divisor)
        op = "truncmod" if self.bounds(rest).low >= 0 else "floormod"
        value = scope.alu(op, self.value(scope, rest), self.constant(divisor // common))
        return self.leaf(value, Interval.of_extent(divisor // common)) * common + LinearForm({}, left)

    def compare(self, scope: Scope, name: str, first: LinearForm, second: LinearForm) -> SSAValue:
        """A comparison; a constant where the bounds decide it."""
        difference = first - second
        bounds = self.bounds(difference)
        if (decided := _COMPARISONS[name](bounds.low, bounds.high)) is not None:
            return scope.const(decided, i1)
        left = LinearForm({leaf: c for leaf, c in difference.terms.items() if c > 0})
        right = LinearForm({leaf: -c for leaf, c in difference.terms.items() if c < 0})
        if left.terms:
            right += LinearForm({}, -difference.constant)
        else:
            left = LinearForm({}, difference.constant)
        return scope.alu(name, self.value(scope, left), self.value(scope, right))

    def alu(self, scope: Scope, name: str, operands: Sequence[LinearForm]) -> LinearForm:
        """An ALU op of the semantics table with an index result."""
        first, last = operands[0], operands[-1]
        match name:
            case "add":
                return first + last
            case "sub":
                return first - last
            case "neg":
                return first * -1
            case "mul" if not last.terms:
                return first * last.constant
            case "mul" if not first.terms:
                return last * first.constant
            case "floordiv" | "truncdiv" if self._divides(name, first, last):
                return self.quotient(scope, first, last.constant)
            case "floormod" | "truncmod" if self._divides(name, first, last):
                return self.remainder(scope, first, last.constant)
            case _:
                pass
        if name in ("floordiv", "floormod") and self.bounds(first).low >= 0 and self.bounds(last).low >= 1:
            name = name.replace("floor", "trunc")
        return self.leaf(scope.alu(name, *(self.value(scope, operand) for operand in operands)))

    def _divides(self, name: str, dividend: LinearForm, divisor: LinearForm) -> bool:
        """Whether the op is a floor division, or the same as one, by a positive constant."""
        if divisor.terms or divisor.constant <= 0:
            return False
        return name.startswith("floor") or self.bounds(dividend).low >= 0

    def where(self, scope: Scope, condition: SSAValue, first: LinearForm, second: LinearForm) -> LinearForm:
        if (known := constant_value(condition)) is not None:
            return first if known else second
        value = scope.alu("where", condition, self.value(scope, first), self.value(scope, second))
        return self.leaf(value, self.bounds(first).union(self.bounds(second)))


def is_multiple(form: LinearForm, number: int) -> bool:
    """Whether every value of the form is a multiple of `number`."""
    return form.constant % number == 0 and all(c % number == 0 for c in form.terms.values())


def split_multiples(form: LinearForm, divisor: int) -> tuple[LinearForm, LinearForm]:
    """(w, r) with form = w · divisor + r: every multiple of the divisor is in w."""
    whole = {leaf: c // divisor for leaf, c in form.terms.items() if c % divisor == 0}
    rest = {leaf: c for leaf, c in form.terms.items() if c % divisor}
    return LinearForm(whole, form.constant // divisor), LinearForm(rest, form.constant % divisor)


def _reduced(form: LinearForm, divisor: int) -> tuple[int, LinearForm, int]:
    """(g, f, r) with form = g · f + r, 0 ≤ r < g and g dividing `divisor`: ⌊form ÷ divisor⌋ is ⌊f ÷ (divisor ÷ g)⌋."""
    common = gcd(divisor, *form.terms.values())
    terms = {leaf: c // common for leaf, c in form.terms.items()}
    return common, LinearForm(terms, form.constant // common), form.constant % common
