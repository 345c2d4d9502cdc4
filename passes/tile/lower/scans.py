"""tile.scan_across: a thread scans runs of its registers, lanes combine by shuffles, warps through shared memory.

Each factor of the axis is a level, the innermost first: it scans the totals of the level inside of it. The innermost
is scanned inclusively; of the others, each gives what stands before the runs inside of it. In the end every element
is combined once with all that stands before its innermost run. Only associativity is used, and the order is kept.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod

from xdsl.ir import Attribute, SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import ForOp, LoadOp, StoreOp
from ....dialects.monoids import Monoid
from ....dialects.tile import AxisOp, ScanAcrossOp
from ....dialects.types import element_of, shape_of
from ....rewriting.linear import LinearForm
from .exchanges import from_lane
from .grid import Digit, Grid
from .indices import ZERO
from .lowering import Lowering
from .reductions import set_results
from .scopes import Scope
from .values import Place, array_type

Elements = Sequence[SSAValue]
"""One element: a value for each of the monoid's."""


@dataclass(frozen=True)
class _Tile:
    """Register arrays, one for each of the monoid's values."""

    lowering: Lowering
    shape: tuple[int, ...]
    arrays: Sequence[SSAValue]

    @staticmethod
    def of(lowering: Lowering, scope: Scope, types: Sequence[Attribute], shape: tuple[int, ...], hint: str) -> _Tile:
        values = lowering.values
        return _Tile(
            lowering, shape, [values.allocate(scope, array_type(type, shape, values.flat), hint) for type in types]
        )

    def load(self, scope: Scope, place: Place) -> Elements:
        at = self.lowering.values.place_in(scope, self.shape, place)
        return [scope.insert(LoadOp.of(array, at)).result for array in self.arrays]

    def store(self, scope: Scope, place: Place, elements: Elements) -> None:
        at = self.lowering.values.place_in(scope, self.shape, place)
        for element, array in zip(elements, self.arrays, strict=True):
            scope.insert(StoreOp.of(element, array, at))


def lower_scan_across(lowering: Lowering, scope: Scope, op: ScanAcrossOp) -> None:
    """The levels one after the other, and the result from what they give."""
    scan = _Scan(lowering, op)
    scan.build(scope)
    set_results(lowering, scope, op.scanned, scan.scanned.arrays)
    set_results(lowering, scope, op.last, scan.last.arrays)


def scan_uses_shared_memory(grid: Grid, op: ScanAcrossOp) -> bool:
    """Whether a factor of the axis has more threads than shuffles reach."""
    digits = [grid.bind(factor) for factor in op.factors if factor.dimension is None]
    return any(digit.extent > _lanes_of(grid, digit) for digit in digits)


def _lanes_of(grid: Grid, digit: Digit) -> int:
    """How many neighbours along a digit of the threads' number are lanes of one warp, for every thread."""
    lanes = 1
    # All 32 lanes must be there to take part.
    if grid.threads % WARP == 0 and digit.stride & (digit.stride - 1) == 0:
        while 2 * lanes * digit.stride <= WARP and digit.extent % (2 * lanes) == 0:
            lanes *= 2
    return lanes


class _Scan:
    """One `tile.scan_across` while it is lowered.

    scanned: the innermost level scanned, in the end the result. before: what stands before the runs inside of each
    other level, the innermost first. last: the total of the levels so far.
    """

    def __init__(self, lowering: Lowering, op: ScanAcrossOp):
        self.lowering = lowering
        self.op = op
        self.monoid: Monoid = op.monoid.monoid
        self.types = [element_of(value.type) for value in op.inputs]
        self.hint = op.scanned[0].name_hint or "scan_r"
        self.before: list[_Tile] = []
        self.inner_digits: list[Digit] = []

    def build(self, scope: Scope) -> None:
        outermost, *_ = factors = self.op.factors
        innermost = factors[-1]
        levels = list(factors)
        while levels:
            factor = levels.pop()
            if factor is not innermost and self._is_row_of_lanes(factor, levels):
                self.over_lanes_in_turn(scope, factor, levels.pop())
            elif factor.dimension is None:
                self.over_threads(scope, factor, inclusive=factor is innermost)
            elif factor is innermost:
                self.over_run(scope, factor.dimension, begins=factor is outermost)
            else:
                self.over_registers(scope, factor.dimension, begins=factor is outermost)
        begun = outermost.dimension is not None
        if begun and outermost is innermost:
            return
        self.finish(scope, innermost.dimension, begun)

    # Levels.

    def over_run(self, scope: Scope, dimension: int, begins: bool) -> None:
        """The innermost level: neighbours in registers. begins: there is no other level, so that this one continues
        what stands before."""
        values = self.lowering.values
        shape = shape_of(self.op.inputs[0].type)
        self.scanned = self.tile(scope, shape, self.hint)
        self.last = self.tile(scope, _without(shape, dimension), "total")
        with values.nest(scope, self.last.shape) as (outer, place):
            first = values.scalars(outer, self.op.inputs, place)
            if begins:
                first = self.monoid.combine(outer, values.scalars(outer, self.op.before, place), first)
            self.scanned.store(outer, place, first)
            with self.steps(outer, dimension, 1, shape[dimension]) as (inner, step):
                at = _at(place, dimension, step)
                elements = values.scalars(inner, self.op.inputs, at)
                before = self.scanned.load(inner, _at(place, dimension, step + LinearForm({}, -1)))
                self.scanned.store(inner, at, self.monoid.combine(inner, before, elements))
            end = _at(place, dimension, LinearForm({}, shape[dimension] - 1))
            self.last.store(outer, place, self.scanned.load(outer, end))

    def over_registers(self, scope: Scope, dimension: int, begins: bool) -> None:
        """What stands before each place of a register dimension. begins: the level is the outermost, so that it
        continues what stands before all."""
        values, totals = self.lowering.values, self.last
        before = self.tile(scope, totals.shape, "before")
        self.last = self.tile(scope, _without(totals.shape, dimension), "total")
        with values.nest(scope, self.last.shape) as (outer, place):
            first = values.scalars(outer, self.op.before, place) if begins else self.identity(outer)
            before.store(outer, place, first)
            with self.steps(outer, dimension, 1, totals.shape[dimension]) as (inner, step):
                previous = _at(place, dimension, step + LinearForm({}, -1))
                elements = self.monoid.combine(inner, before.load(inner, previous), totals.load(inner, previous))
                before.store(inner, _at(place, dimension, step), elements)
            end = _at(place, dimension, LinearForm({}, totals.shape[dimension] - 1))
            self.last.store(outer, place, self.monoid.combine(outer, before.load(outer, end), totals.load(outer, end)))
        self.before.append(before)

    def over_threads(self, scope: Scope, factor: AxisOp, inclusive: bool) -> None:
        """Neighbouring threads: lanes by shuffles, and what is beyond a warp through shared memory."""
        lowering, values = self.lowering, self.lowering.values
        digit = lowering.grid.bind(factor)
        lanes = _lanes_of(lowering.grid, digit)
        shape = shape_of(self.op.inputs[0].type) if inclusive else self.last.shape
        level = self.tile(scope, shape, self.hint if inclusive else "before")
        totals = self.tile(scope, shape, "total")
        parts = None
        if digit.extent > lanes:
            parts = _Parts(self, digit, lanes, shape)
            lowering.barrier_before(scope, self.op)
        with values.nest(scope, shape) as (inner, place):
            elements = values.scalars(inner, self.op.inputs, place) if inclusive else self.last.load(inner, place)
            elements = own = self.over_lanes(inner, elements, digit, lanes)
            if not inclusive:
                own = self.of_lane_before(inner, elements, digit, lanes, self.identity(inner))
            elements = self.of_last_lane(inner, elements, digit, lanes)
            level.store(inner, place, own)
            if parts is None:
                totals.store(inner, place, elements)
            else:
                parts.put(inner, place, elements)
        if parts is not None:
            lowering.barrier(scope)
            with values.nest(scope, shape) as (inner, place):
                before, elements = parts.get(inner, place)
                totals.store(inner, place, elements)
                if lanes > 1 or inclusive:
                    before = self.monoid.combine(inner, before, level.load(inner, place))
                level.store(inner, place, before)
        if inclusive:
            self.scanned = level
        else:
            self.before.append(level)
        self.last = totals
        self.inner_digits.append(digit)

    def _is_row_of_lanes(self, factor: AxisOp, outer: Sequence[AxisOp]) -> bool:
        """Whether lanes are all of a factor, and what is around it is one register dimension, the outermost level."""
        if factor.dimension is not None or len(outer) != 1 or outer[0].dimension is None:
            return False
        grid = self.lowering.grid
        digit = grid.bind(factor)
        return digit.extent == _lanes_of(grid, digit)

    def over_lanes_in_turn(self, scope: Scope, factor: AxisOp, outer: AxisOp) -> None:
        """Lanes, and the outermost level around them: each of its places continues the last lane of the one before it,
        and a lane finds what stands before it one shuffle away."""
        values, totals, dimension = self.lowering.values, self.last, outer.dimension
        assert dimension is not None
        digit = self.lowering.grid.bind(factor)
        inclusive = self.tile(scope, totals.shape, "scan")
        before = self.tile(scope, totals.shape, "before")
        self.last = self.tile(scope, _without(totals.shape, dimension), "total")
        with values.nest(scope, totals.shape) as (inner, place):
            inclusive.store(inner, place, self.over_lanes(inner, totals.load(inner, place), digit, digit.extent))
        with values.nest(scope, self.last.shape) as (around, place):
            self.last.store(around, place, values.scalars(around, self.op.before, place))
            with self.steps(around, dimension, 0, outer.extent) as (inner, step):
                at = _at(place, dimension, step)
                so_far = self.last.load(inner, place)
                elements = self.monoid.combine(inner, so_far, inclusive.load(inner, at))
                before.store(inner, at, self.of_lane_before(inner, elements, digit, digit.extent, so_far))
                self.last.store(inner, place, self.of_last_lane(inner, elements, digit, digit.extent))
        self.before.append(before)
        self.inner_digits.append(digit)

    def over_lanes(self, scope: Scope, elements: Elements, digit: Digit, lanes: int) -> Elements:
        """Each lane's combined with those of the lanes before it.

        The distance between what is combined doubles: Hillis and Steele, "Data parallel algorithms" (1986).
        """
        distance = 1
        while distance < lanes:
            is_there, others = self._from_before(scope, elements, digit, lanes, distance)
            elements = _choose(scope, is_there, self.monoid.combine(scope, others, elements), elements)
            distance *= 2
        return elements

    def of_lane_before(self, scope: Scope, elements: Elements, digit: Digit, lanes: int, first: Elements) -> Elements:
        """What the lane before holds; `first` in the first one."""
        if lanes == 1:
            return first
        is_there, others = self._from_before(scope, elements, digit, lanes, 1)
        return _choose(scope, is_there, others, first)

    def of_last_lane(self, scope: Scope, elements: Elements, digit: Digit, lanes: int) -> Elements:
        """What the last lane holds."""
        if lanes == 1:
            return elements
        lowering, indices = self.lowering, self.lowering.indices
        lane = indices.remainder(lowering.root, lowering.grid.thread, WARP)
        position = indices.remainder(lowering.root, digit.position, lanes)
        end = indices.value(scope, lane + position * -digit.stride + LinearForm({}, (lanes - 1) * digit.stride))
        return [from_lane(lowering, scope, element, "idx", end) for element in elements]

    def _from_before(
        self, scope: Scope, elements: Elements, digit: Digit, lanes: int, distance: int
    ) -> tuple[SSAValue, list[SSAValue]]:
        """Whether there is a lane so far before, and what it holds."""
        lowering, indices = self.lowering, self.lowering.indices
        position = indices.remainder(lowering.root, digit.position, lanes)
        is_there = indices.compare(scope, "ge", position, LinearForm({}, distance))
        away = indices.constant(distance * digit.stride)
        return is_there, [from_lane(lowering, scope, element, "up", away) for element in elements]

    def finish(self, scope: Scope, dimension: int | None, begun: bool) -> None:
        """Combine each element with what stands before its innermost run. begun: the outermost level has continued what
        stands before all."""
        values, monoid = self.lowering.values, self.monoid
        shape = self.scanned.shape
        runs = shape if dimension is None else _without(shape, dimension)
        with values.nest(scope, runs) as (outer, place):
            pieces = [tile.load(outer, place) for tile in self.before]
            if not begun:
                pieces.append(values.scalars(outer, self.op.before, place))
            before = pieces[0]
            for piece in pieces[1:]:
                before = monoid.combine(outer, piece, before)
            if dimension is None:
                self.scanned.store(outer, place, monoid.combine(outer, before, self.scanned.load(outer, place)))
            else:
                with self.steps(outer, dimension, 0, shape[dimension]) as (inner, step):
                    at = _at(place, dimension, step)
                    self.scanned.store(inner, at, monoid.combine(inner, before, self.scanned.load(inner, at)))
        if not begun:
            with values.nest(scope, self.last.shape) as (inner, place):
                first = values.scalars(inner, self.op.before, place)
                self.last.store(inner, place, monoid.combine(inner, first, self.last.load(inner, place)))

    # Helpers.

    def tile(self, scope: Scope, shape: tuple[int, ...], hint: str) -> _Tile:
        return _Tile.of(self.lowering, scope, self.types, shape, hint)

    def identity(self, scope: Scope) -> list[SSAValue]:
        numbers = self.monoid.identity(self.types)
        return [scope.const(number, type) for number, type in zip(numbers, self.types, strict=True)]

    @contextmanager
    def steps(self, scope: Scope, dimension: int, start: int, end: int) -> Generator[tuple[Scope, LinearForm]]:
        """An unrolled loop over the places `start`, …, `end − 1` of a dimension."""
        loop = ForOp.of(self.lowering.indices.constant(start), end, 1, unroll=0)
        loop.index.name_hint = self.lowering.values.dimension_names.get(dimension, "r")
        with scope.inside(loop, loop.body.block) as inner:
            yield inner, self.lowering.indices.leaf(loop.index)


class _Parts:
    """The totals of the warps that one digit goes over, in shared memory: side by side for each group of threads that
    scan together."""

    def __init__(self, scan: _Scan, digit: Digit, lanes: int, shape: tuple[int, ...]):
        indices, root, grid = scan.lowering.indices, scan.lowering.root, scan.lowering.grid
        self.scan = scan
        self.shape = shape
        self.count = digit.extent // lanes
        self.part = indices.quotient(root, digit.position, lanes)
        """Which of its group's parts this thread's is."""
        self.group, self.groups = ZERO, 1
        self.first: SSAValue | None = None
        """Whether this thread is the first of those that have a part in common; None if it has its own."""
        for other in grid.digits:
            if other is not digit and other not in scan.inner_digits:
                self.group, self.groups = self.group * other.extent + other.position, self.groups * other.extent
        shared = [other.position for other in scan.inner_digits]
        if lanes > 1:
            shared.append(indices.remainder(root, digit.position, lanes))
        for position in shared:
            is_first = indices.compare(root, "eq", position, ZERO)
            self.first = is_first if self.first is None else root.alu("and", self.first, is_first)
        size = prod(shape) * self.groups * self.count
        self.arrays = [scan.lowering.shared_array(size, type, "partial") for type in scan.types]

    def put(self, scope: Scope, place: Place, elements: Elements) -> None:
        at = self._index(scope, place, self.part)
        for element, array in zip(elements, self.arrays, strict=True):
            scope.insert(StoreOp.of(element, array, at, self.first))

    def get(self, scope: Scope, place: Place) -> tuple[Elements, Elements]:
        """What stands before this thread's part, and the total of all."""
        scan, indices = self.scan, self.scan.lowering.indices
        before, total = scan.tile(scope, (), "before"), scan.tile(scope, (), "total")
        before.store(scope, (), scan.identity(scope))
        total.store(scope, (), self._load(scope, place, ZERO))
        loop = ForOp.of(indices.constant(1), self.count, 1, unroll=0 if self.count <= WARP else None)
        loop.index.name_hint = "part"
        with scope.inside(loop, loop.body.block) as inner:
            part = indices.leaf(loop.index)
            so_far = total.load(inner, ())
            is_own = indices.compare(inner, "eq", self.part, part)
            before.store(inner, (), _choose(inner, is_own, so_far, before.load(inner, ())))
            total.store(inner, (), scan.monoid.combine(inner, so_far, self._load(inner, place, part)))
        return before.load(scope, ()), total.load(scope, ())

    def _load(self, scope: Scope, place: Place, part: LinearForm) -> Elements:
        at = self._index(scope, place, part)
        return [scope.insert(LoadOp.of(array, at)).result for array in self.arrays]

    def _index(self, scope: Scope, place: Place, part: LinearForm) -> list[SSAValue]:
        element = ZERO
        for extent, coordinate in zip(self.shape, place, strict=True):
            element = element * extent + coordinate
        form = (element * self.groups + self.group) * self.count + part
        return [self.scan.lowering.indices.value(scope, form)]


def _without(shape: tuple[int, ...], dimension: int) -> tuple[int, ...]:
    """The shape with extent 1 along a dimension."""
    return (*shape[:dimension], 1, *shape[dimension + 1 :])


def _at(place: Place, dimension: int, coordinate: LinearForm) -> Place:
    return [coordinate if d == dimension else own for d, own in enumerate(place)]


def _choose(scope: Scope, condition: SSAValue, x: Elements, y: Elements) -> list[SSAValue]:
    return [scope.alu("where", condition, a, b) for a, b in zip(x, y, strict=True)]
