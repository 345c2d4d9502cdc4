"""Intervals of values: the least and the greatest number of integers, indices and bools.

A value of tensor or vector type has one interval for all its elements. Nothing is known of what memory holds, beyond
the limits of its type, nor of the state that a loop carries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ..dialects import cpu_kernel, gpu_kernel, loop, tile
from ..dialects.monoids import MonoidAttr
from ..dialects.types import element_of, index, shape_of
from ..dialects.uop import (
    ALU_OPS,
    AddOp,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    IotaOp,
    PadOp,
    PermuteOp,
    RangeOp,
    ReduceAxisOp,
    ReduceOp,
    ReshapeOp,
    ScanAxisOp,
    ScanOp,
    ShrinkOp,
    WhereOp,
    WindowOp,
)
from .interval_arithmetic import INTERVALS, Interval, cast, whole, within
from .interval_arithmetic import Transfer as Arithmetic
from .quotients import remainder_of

Transfer = Callable[[Operation, Sequence[Interval]], Interval | None]
"""From an op and its operands' intervals to its first result's interval; None where nothing is known."""


_INDEX = whole(index)


class IntervalAnalysis:
    """Intervals of values, found when asked for and kept. They stay true when ops are replaced by equal
    ones.

    assumed: what is known of some values beyond what their ops say, where something holds of one element, thread and
      step.
    everywhere: the analysis without it, which says what is known of all elements, threads and steps together.
    """

    def __init__(
        self, assumed: Mapping[SSAValue, Interval] | None = None, everywhere: IntervalAnalysis | None = None
    ) -> None:
        self._everywhere = everywhere
        # By id, which hashes faster; `_values` keeps the values, so that ids stay theirs.
        self._known: dict[int, Interval | None] = {}
        self._values: list[SSAValue] = []
        self._assumed: dict[int, Interval] = {}
        for value, interval in (assumed or {}).items():
            self.assume(value, interval)

    def assume(self, value: SSAValue, interval: Interval) -> None:
        """Take for granted that a value, of which nothing has been asked yet, is in the interval."""
        self._assumed[id(value)] = interval
        self._values.append(value)

    def of(self, value: SSAValue) -> Interval | None:
        """The interval of a value; None for floats."""
        known = self._known
        if id(value) in known:
            return known[id(value)]
        stack = [value]
        while stack:
            current = stack[-1]
            # Most are indices. Classes are compared, here and below: isinstance asks abstract classes.
            limits = _INDEX if type(current.type) is IndexType else whole(element_of(current.type))
            result = limits
            if limits is not None:
                owner = current.owner
                if type(owner) is Block:
                    result = self._of_argument(owner, current, stack)
                else:
                    result = self._of_result(owner, current, limits, stack)  # pyright: ignore[reportArgumentType]  # an op
                if result is None:  # not before what is now on the stack
                    continue
                if (assumed := self._assumed.get(id(current))) is not None:
                    # Where both cannot hold, nothing is executed and anything is true.
                    result = result.intersection(assumed) or result
            known[id(current)] = result
            self._values.append(current)
            stack.pop()
        return known[id(value)]

    def _of_result(self, op: Operation, value: SSAValue, limits: Interval, stack: list[SSAValue]) -> Interval | None:
        """The interval of a result of an op, or None when more values have to be known first: they are on the stack."""
        cls = type(op)
        arithmetic = ARITHMETIC.get(cls)
        transfer = None if arithmetic is not None else TRANSFER.get(cls)
        if arithmetic is None and transfer is None:
            return limits
        if self._everywhere is not None and cls in MIXING:
            return self._everywhere.of(value)
        # A reduction combines what its body yields.
        inputs = op.yielded if cls is loop.ReduceOp and isinstance(op, loop.ReduceOp) else op.operands
        if (is_later := type(value) is OpResult and value.index > 0) and _finds_place(op):
            inputs = inputs[1:2]
        known = self._known
        missing = [operand for operand in inputs if id(operand) not in known]
        if missing:
            stack += missing
            return None
        operands = [known[id(operand)] for operand in inputs]
        numbers = [operand for operand in operands if operand is not None]
        if len(numbers) < len(operands):  # a float among them
            return limits
        if arithmetic is not None:
            if cls is WhereOp:
                numbers = _refined(op, numbers)
            result = within(limits, arithmetic(element_of(value.type), numbers))
            if cls is AddOp and result.low < 0 <= numbers[0].low:
                return remainder_of(op, self._found) or result
            return result
        if is_later:
            # Of the places of elements, one; the greatest number, where there are no elements.
            return numbers[0] if _finds_place(op) and _count(op) else limits
        assert transfer is not None
        return within(limits, transfer(op, numbers))

    def _found(self, value: SSAValue) -> Interval | None:
        """The interval of a value that has been asked for."""
        return self._known.get(id(value))

    def _of_argument(self, block: Block, value: SSAValue, stack: list[SSAValue]) -> Interval | None:
        """The interval of an argument of a block, or None as `_of_result`."""
        parent = block.parent_op()
        if isinstance(parent, loop.ForOp | loop.ReduceOp) and value is parent.index:
            return Interval.of_extent(parent.axis.extent.data)
        if isinstance(parent, gpu_kernel.ForOp):
            missing = [operand for operand in parent.operands if id(operand) not in self._known]
            if missing:
                stack += missing
                return None
            start = self._known[id(parent.start)]
            assert start is not None
            end = parent.until
            if not isinstance(end, int):
                known = self._known[id(end)]
                assert known is not None
                end = known.high
            return _of_steps(start, end, parent.step.value.data)
        return whole(element_of(value.type))


def _of_steps(start: Interval, end: int, step: int) -> Interval:
    """The index of a loop in its body, which is not executed from `end` on."""
    last = max(end - 1, start.low)
    if start.is_single:
        last = start.low + (last - start.low) // step * step
    return Interval(start.low, last)


# `where`: what its condition says of its branches.

_NEGATED = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}

_COMPARED: dict[type[Operation], str] = {ALU_OPS[name]: name for name in _NEGATED}


def _refined(op: Operation, operands: Sequence[Interval]) -> list[Interval]:
    """The operands' intervals of a `where` that chooses between values that its condition compares with constants."""
    condition, first, second = operands
    comparison = op.operands[0].owner
    name = _COMPARED.get(type(comparison))  # pyright: ignore[reportArgumentType]  # a block has none
    if name is None or not isinstance(comparison, Operation):
        return [condition, first, second]
    left, right = comparison.operands
    for chosen, relation in ((1, name), (2, _NEGATED[name])):
        branch = op.operands[chosen]
        interval = first if chosen == 1 else second
        other = _number(right) if branch is left else _number(left) if branch is right else None
        if other is not None:
            if branch is right:
                relation = MIRRORED[relation]
            limited = limited_by(relation, interval, Interval(other, other)) or interval
            first, second = (limited, second) if chosen == 1 else (first, limited)
    return [condition, first, second]


def _number(value: SSAValue) -> int | None:
    owner = value.owner
    while isinstance(owner, ExpandOp):
        owner = owner.input.owner
    if isinstance(owner, ConstOp) and isinstance(owner.value, IntegerAttr):
        return int(owner.number)
    return None


MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
"""Comparison → the one that holds when the operands change places."""


def limited_by(relation: str, x: Interval, y: Interval) -> Interval | None:
    """The numbers of x that stand in a relation to one of y; None where none does."""
    match relation:
        case "lt":
            return x.intersection(Interval(x.low, y.high - 1)) if y.high > x.low else None
        case "le":
            return x.intersection(Interval(x.low, y.high)) if y.high >= x.low else None
        case "gt":
            return x.intersection(Interval(y.low + 1, x.high)) if y.low < x.high else None
        case "ge":
            return x.intersection(Interval(y.low, x.high)) if y.low <= x.high else None
        case "eq":
            return x.intersection(y)
        case "ne" if y.is_single and not (x.is_single and x == y):
            return Interval(x.low + (x.low == y.low), x.high - (x.high == y.high))
        case _:
            return None if x.is_single and x == y else x


# Sources.


def _const(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    assert isinstance(op, ConstOp)
    return Interval(int(op.number), int(op.number)) if isinstance(op.value, IntegerAttr) else None


def _axis(op: Operation, operands: Sequence[Interval]) -> Interval:
    assert isinstance(op, RangeOp | tile.AxisOp)
    return Interval.of_extent(op.extent)


def _iota(op: Operation, operands: Sequence[Interval]) -> Interval:
    return Interval.of_extent(shape_of(op.results[0].type)[0])


def _kernel_of(op: Operation) -> gpu_kernel.KernelOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, gpu_kernel.KernelOp):
        parent = parent.parent_op()
    return parent


def _block_id(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    assert isinstance(op, gpu_kernel.BlockIdOp)
    kernel = _kernel_of(op)
    return None if kernel is None else Interval.of_extent(kernel.grid_shape["xyz".index(op.dimension.data)])


def _thread_id(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    kernel = _kernel_of(op)
    return None if kernel is None else Interval.of_extent(kernel.threads)


def _lane_id(op: Operation, operands: Sequence[Interval]) -> Interval:
    kernel = _kernel_of(op)
    return Interval.of_extent(32 if kernel is None else min(32, kernel.threads))


# Movement: elements of the first operand, and zeros.


def _first(op: Operation, operands: Sequence[Interval]) -> Interval:
    return operands[0]


def _pad(op: Operation, operands: Sequence[Interval]) -> Interval:
    return operands[0].union(Interval(0, 0))


def _cast(op: Operation, operands: Sequence[Interval]) -> Interval:
    return cast(element_of(op.results[0].type), operands)


# Reductions.


def _combined(monoid: MonoidAttr, element: Attribute, count: int, x: Interval) -> Interval | None:
    """What `count` numbers of an interval give together."""
    match monoid.data:
        case "add":
            return x * count
        case "min" | "max" | "and" | "or" if count:
            # Not below, or above, all elements; bitwise ones of negative numbers may be.
            return x if monoid.data in ("min", "max") or whole(element) == Interval(0, 1) else None
        case _:
            return None


Reduction = ReduceOp | ReduceAxisOp | loop.ReduceOp | tile.ReduceAcrossOp


def _finds_place(op: Operation) -> bool:
    """Whether an op gives the place of one of its elements as its second result."""
    return isinstance(op, Reduction) and op.monoid.data in ("argmax", "argmin")


def _count(op: Operation) -> int:
    """How many elements a reduction combines."""
    assert isinstance(op, Reduction)
    count = 1
    if isinstance(op, loop.ReduceOp):
        count = op.axis.extent.data
    elif isinstance(op, ReduceAxisOp):
        shape = shape_of(op.operands[0].type)
        for axis in op.axis_list():
            count *= shape[axis]
    else:
        for axis in op.over:
            owner = axis.owner
            assert isinstance(owner, RangeOp | tile.AxisOp)
            count *= owner.extent
    return count


def _reduce(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    assert isinstance(op, Reduction)
    return _combined(op.monoid, element_of(op.results[0].type), _count(op), operands[0])


def _scan(op: Operation, operands: Sequence[Interval]) -> Interval | None:
    assert isinstance(op, ScanOp | ScanAxisOp | loop.ScanOp)
    element = element_of(op.results[0].type)
    if isinstance(op, ScanAxisOp):
        count = shape_of(op.operands[0].type)[op.axis.value.data]
    elif isinstance(op, loop.ScanOp):
        count = op.loop.axis.extent.data
    else:
        (over,) = op.over
        assert isinstance(over.owner, RangeOp)
        count = over.owner.extent
    first = _combined(op.monoid, element, 1, operands[0])
    last = _combined(op.monoid, element, max(count, 1), operands[0])
    return None if first is None or last is None else first.union(last)


ARITHMETIC: dict[type[Operation], Arithmetic] = {ALU_OPS[name]: transfer for name, transfer in INTERVALS.items()}

TRANSFER: dict[type[Operation], Transfer] = {
    ConstOp: _const,
    CastOp: _cast,
    # Of integers of one width: the same number, or one that does not fit.
    BitcastOp: _first,
    RangeOp: _axis,
    tile.AxisOp: _axis,
    IotaOp: _iota,
    gpu_kernel.BlockIdOp: _block_id,
    gpu_kernel.ThreadIdOp: _thread_id,
    gpu_kernel.LaneIdOp: _lane_id,
    ExpandOp: _first,
    gpu_kernel.PinOp: _first,
    ReshapeOp: _first,
    PermuteOp: _first,
    ShrinkOp: _first,
    WindowOp: _first,
    FlipOp: _first,
    PadOp: _pad,
    GatherOp: _first,
    gpu_kernel.ShuffleOp: _first,
    cpu_kernel.LanesOp: _iota,
    cpu_kernel.SplatOp: _first,
    cpu_kernel.ExtractOp: _first,
    ReduceOp: _reduce,
    ReduceAxisOp: _reduce,
    loop.ReduceOp: _reduce,
    tile.ReduceAcrossOp: _reduce,
    ScanOp: _scan,
    ScanAxisOp: _scan,
    loop.ScanOp: _scan,
}
"""Op class → its transfer function; a dialect whose ops give integers adds its own."""

LAUNCH_IDS = (gpu_kernel.BlockIdOp, gpu_kernel.ThreadIdOp, gpu_kernel.LaneIdOp)
"""Ops that say where a thread is in the launch of its kernel."""

MIXING = frozenset[type[Operation]](
    {
        *(ReduceOp, ReduceAxisOp, loop.ReduceOp, tile.ReduceAcrossOp),
        *(ScanOp, ScanAxisOp, loop.ScanOp, tile.ScanAcrossOp),
        *(ReshapeOp, PermuteOp, ShrinkOp, WindowOp, FlipOp, PadOp, GatherOp, gpu_kernel.ShuffleOp),
    }
)
"""Ops whose result in one place comes from other elements, steps, or threads of their operands."""
