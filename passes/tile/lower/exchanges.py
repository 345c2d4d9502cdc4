"""How threads combine: lanes of a warp by shuffles, the rest through shared memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, prod

from xdsl.dialects.builtin import f32, i32
from xdsl.ir import SSAValue

from ....dialects.axes import WARP
from ....dialects.gpu_kernel import ForOp, IfOp, LoadOp, ShuffleOp, StoreOp
from ....dialects.monoids import MONOIDS, Monoid, MonoidAttr
from ....dialects.tile import AxisOp, ReduceAcrossOp
from ....dialects.types import bit_width, byte_width, element_of, is_float, shape_of
from ....rewriting.linear import LinearForm
from .accesses import moved_type
from .grid import Digit, Grid
from .indices import ZERO
from .lowering import Lowering
from .scopes import Scope
from .values import Place, Values, array_type

RUN_BYTES = 16
"""What a thread moves at once."""

_MOST_UNROLLED = 128
"""Partial results that a thread combines in a text without loops."""


@dataclass(frozen=True)
class Exchange:
    """How the threads of a `tile.reduce_across` combine.

    A digit of a thread's number whose stride is a power of two has its low bits in bits of the lane: lanes that differ
    in these bits combine by shuffles. What is left of the reduced digits goes through shared memory: `partials` values
    of each group of threads that get one result.

    masks: exclusive-or masks of lanes, in the order in which they are applied.
    shuffled: for each reduced digit, by how many values of it the shuffles combine.
    """

    over: tuple[Digit, ...]
    shuffled: tuple[int, ...]
    masks: tuple[int, ...]
    partials: int

    @staticmethod
    def of(grid: Grid, op: ReduceAcrossOp) -> Exchange:
        over: list[Digit] = []
        for axis in op.over:
            assert isinstance(axis.owner, AxisOp)
            digit = grid.bind(axis.owner)
            if digit not in over:
                over.append(digit)
        shuffled: list[int] = []
        masks: list[int] = []
        for digit in over:
            mask = digit.stride
            # All 32 lanes must be there to take part.
            if grid.threads % WARP == 0 and mask & (mask - 1) == 0:
                while mask < WARP and digit.extent % (2 * mask // digit.stride) == 0:
                    masks.append(mask)
                    mask *= 2
                shuffled.append(mask // digit.stride)
            else:
                shuffled.append(1)
        partials = prod(digit.extent // count for digit, count in zip(over, shuffled, strict=True))
        return Exchange(tuple(over), tuple(shuffled), tuple(sorted(masks, reverse=True)), partials)

    @property
    def keeps_first(self) -> bool:
        """Whether the first threads can do without their own partial results in memory: whole warps have others."""
        apart = all(digit.stride % WARP == 0 for digit in self.over)
        return apart and not self.masks and self.partials <= WARP

    @property
    def reads_all(self) -> bool:
        """Whether each thread combines all partial results of its group: lanes do not share that by shuffles."""
        return max(self.shuffled) < self.partials <= WARP


Element = Sequence[SSAValue]
"""One element: a value for each of the monoid's."""


def combine_lanes(
    lowering: Lowering, scope: Scope, monoid: MonoidAttr, elements: Element, masks: Sequence[int]
) -> Element:
    """Combine with the lanes whose numbers differ in the bits of the masks."""
    return combine_rows(lowering, scope, monoid, [elements], masks)[0]


def combine_rows(
    lowering: Lowering, scope: Scope, monoid: MonoidAttr, rows: Sequence[Element], masks: Sequence[int]
) -> Sequence[Element]:
    """Several elements, each combined with those of the lanes whose numbers differ in the bits of the masks."""
    return _in_stages(lowering, scope, monoid.monoid, rows, masks) if masks else rows


def _in_stages(
    lowering: Lowering, scope: Scope, monoid: Monoid, rows: Sequence[Element], masks: Sequence[int]
) -> Sequence[Element]:
    stages = monoid.stages
    if stages is None:
        return _exchanged(lowering, scope, monoid, rows, masks)
    first = MONOIDS[stages.first]
    totals = _in_stages(lowering, scope, first, [row[: first.width] for row in rows], masks)
    others = [stages.adapt(scope, row, total) for row, total in zip(rows, totals, strict=True)]
    results = [list(total) for total in totals]
    for value in range(len(others[0])):
        parts = [[other[value]] for other in others]
        for result, part in zip(results, _exchanged(lowering, scope, MONOIDS[stages.rest], parts, masks), strict=True):
            result += part
    return results


def _exchanged(
    lowering: Lowering, scope: Scope, monoid: Monoid, rows: Sequence[Element], masks: Sequence[int]
) -> Sequence[Element]:
    """`combine_rows` of a monoid without stages. Where lanes have one element each, each is handed out in the end."""
    count = len(rows)
    if count == 1 or not can_share_out(count, masks):
        return _combined_with(lowering, scope, monoid, rows, masks)
    element = share_out(lowering, scope, monoid, rows)
    return [_from_lanes(lowering, scope, element, "idx", row * WARP // count) for row in range(count)]


def _combined_with(
    lowering: Lowering, scope: Scope, monoid: Monoid, elements: Sequence[Element], masks: Sequence[int]
) -> Sequence[Element]:
    for mask in masks:
        others = [_from_lanes(lowering, scope, element, "xor", mask) for element in elements]
        elements = [monoid.combine(scope, x, y) for x, y in zip(elements, others, strict=True)]
    return elements


def can_share_out(count: int, masks: Sequence[int]) -> bool:
    """Whether all lanes of a warp combine so many elements, of which each can have one in the end."""
    return sum(masks) == WARP - 1 and count & (count - 1) == 0 and count <= WARP


def share_out(lowering: Lowering, scope: Scope, monoid: Monoid, rows: Sequence[Element]) -> Element:
    """Several elements, each combined with those of all lanes, and held by as many lanes side by side: of four, the
    first by the first eight.

    Half of the elements go to one half of the lanes and the others to the other half, until each lane has one: 3
    shuffles for 4 elements, where 8 would give each lane all.
    """
    mask = WARP // 2
    while len(rows) > 1:
        rows = _halved(lowering, scope, monoid, rows, mask)
        mask //= 2
    masks: list[int] = []
    while mask:
        masks.append(mask)
        mask //= 2
    return _combined_with(lowering, scope, monoid, rows, masks)[0]


def _halved(lowering: Lowering, scope: Scope, monoid: Monoid, rows: Sequence[Element], mask: int) -> list[Element]:
    """The first half of the elements in lanes without this bit, the second half in those with it, each combined with
    what the lane had that differs in the bit."""
    indices = lowering.indices
    lane = indices.remainder(lowering.root, lowering.grid.thread, 2 * mask)
    is_upper = indices.compare(lowering.root, "ge", lane, LinearForm({}, mask))
    results: list[Element] = []
    for low, high in zip(rows[: len(rows) // 2], rows[len(rows) // 2 :], strict=True):
        kept = [scope.alu("where", is_upper, y, x) for x, y in zip(low, high, strict=True)]
        sent = [scope.alu("where", is_upper, x, y) for x, y in zip(low, high, strict=True)]
        results.append(monoid.combine(scope, kept, _from_lanes(lowering, scope, sent, "xor", mask)))
    return results


def _from_lanes(lowering: Lowering, scope: Scope, element: Element, mode: str, lanes: int) -> Element:
    number = lowering.indices.constant(lanes)
    return [from_lane(lowering, scope, value, mode, number) for value in element]


def from_lane(lowering: Lowering, scope: Scope, value: SSAValue, mode: str, lanes: SSAValue) -> SSAValue:
    """What another lane holds: which, `mode` and `lanes` of `gpu_kernel.shuffle` say.

    Shuffles move 32 or 64 bits: smaller types go as f32 or i32, which hold them exactly.
    """
    element = value.type
    moved = value
    if bit_width(element) < 32:
        moved = scope.cast(value, f32 if is_float(element) else i32)
    shuffled = scope.insert(ShuffleOp.of(mode, moved, lanes)).result
    return scope.cast(shuffled, element)


@dataclass(frozen=True)
class _Slots:
    """Where partial results lie: for each element of a tile `per_element` of them, those of this thread's group at
    `base + (part − first) · stride`; a part of several reduced digits is split into them, (extent, stride), the last
    first.

    count: partial results of one group, whose threads all get one result. first: which part the first is.
    """

    arrays: Sequence[SSAValue]
    count: int
    per_element: int
    base: LinearForm
    digits: Sequence[tuple[int, int]]
    first: int = 0


class SharedExchange:
    """The partial results of a `tile.reduce_across` in shared memory.

    Those that threads have in common by shuffles are written once. They are numbered as the threads are, so that
    neighbouring threads write neighbouring places. Where each thread reads all of its group, up to 16 bytes of
    neighbours in the tile, a run, lie side by side and are moved at once.

    first_keeps: whether the first threads of groups keep their own partial results, and alone read the others.
    """

    def __init__(self, lowering: Lowering, op: ReduceAcrossOp, exchange: Exchange, *, first_keeps: bool):
        indices, root, digits = lowering.indices, lowering.root, lowering.grid.digits
        self.lowering = lowering
        self.exchange = exchange
        self.monoid = op.monoid
        self.types = [element_of(value.type) for value in op.inputs]
        self.shape = shape_of(op.inputs[0].type)
        self.first_keeps = first_keeps
        self.run = self._run()
        """The extents of a run."""
        shuffled = dict(zip(exchange.over, exchange.shuffled, strict=True))
        first = 1 if first_keeps and len(shuffled) == 1 else 0
        strides: dict[Digit, int] = {}
        threads = 1
        for digit in reversed(digits):
            strides[digit] = threads
            threads *= digit.extent // shuffled[digit] - first if digit in shuffled else digit.extent

        self.group, self.groups = ZERO, 1
        """The number of this thread's group, and how many there are."""
        self.part = ZERO
        """Which of its group's partial results this thread has."""
        self.first: SSAValue | None = None
        """Whether this thread is the first of those that have a partial result in common; None if it has its own."""
        base = ZERO
        for digit in digits:
            if digit not in shuffled:
                self.group, self.groups = self.group * digit.extent + digit.position, self.groups * digit.extent
                base += digit.position * strides[digit]
        for digit, count in shuffled.items():
            self.part = self.part * (digit.extent // count) + indices.quotient(root, digit.position, count)
            if count > 1:
                is_first = indices.compare(root, "eq", indices.remainder(root, digit.position, count), ZERO)
                self.first = is_first if self.first is None else root.alu("and", self.first, is_first)
        parts = [(digit.extent // count, strides[digit]) for digit, count in reversed(shuffled.items())]
        self._slots = _Slots(self._arrays(threads), exchange.partials, threads, base, parts, first)

    def _run(self) -> tuple[int, ...]:
        run = [1] * len(self.shape)
        widths = [byte_width(type) for type in self.types]
        room = RUN_BYTES // max(widths) if min(widths) >= 4 and self.exchange.reads_all else 1
        for dimension in reversed(range(len(self.shape))):
            run[dimension] = gcd(self.shape[dimension], room)
            room //= run[dimension]
            if run[dimension] < self.shape[dimension]:
                break
        return tuple(run)

    def places(self, place: Place) -> list[Place]:
        """Those of the elements of the run that begins at a place."""
        within = Values.places(self.run, [1] * len(self.run))
        return [[a + b for a, b in zip(place, own, strict=True)] for own in within]

    def _arrays(self, per_element: int) -> list[SSAValue]:
        size = prod(self.shape) * per_element
        return [self.lowering.shared_array(size, type, "partial") for type in self.types]

    def put(self, scope: Scope, place: Place, run: Sequence[Element]) -> None:
        """Write this thread's partial results of the run that begins at a place."""
        mask = self.first
        if self.first_keeps:
            mask = self.lowering.indices.compare(self.lowering.root, "ne", self.part, ZERO)
        self._store(scope, self._slots, place, run, mask)

    def shorten(self, scope: Scope) -> None:
        """Where a group has more partial results than a warp has lanes, as many of its threads first combine them."""
        if self._slots.count <= WARP:
            return
        works = self.lowering.indices.compare(scope, "lt", self.part, LinearForm({}, WARP))
        if self.first is not None:
            works = scope.alu("and", works, self.first)
        per_element = self.groups * WARP
        fewer = _Slots(self._arrays(per_element), WARP, per_element, self.group * WARP, [(WARP, 1)])
        branch = IfOp.of(works)
        with (
            scope.inside(branch, branch.then.block) as working,
            self.lowering.values.nest(working, self.shape) as (inner, place),
        ):
            run = self._combined(inner, place, self.part, WARP, unroll=None)
            self._store(inner, fewer, place, run, None)
        self._slots = fewer
        self.lowering.barrier(scope)

    def is_first_warp(self, scope: Scope) -> SSAValue | None:
        """Whether this warp has threads that are the first of their groups; None where that is not up to the warp."""
        digits = zip(self.exchange.over, self.exchange.shuffled, strict=True)
        if any(digit.stride * count % WARP for digit, count in digits):
            return None
        return self.lowering.indices.compare(scope, "eq", self.part, ZERO)

    def get(self, scope: Scope, place: Place, own: Sequence[Element]) -> Sequence[Element]:
        """The results of the run that begins at a place. own: what this thread has itself, if the first keep theirs."""
        count = self._slots.count
        unroll = 4 if count * prod(self.shape) > _MOST_UNROLLED else 0
        if self.first_keeps:
            return self._combined(scope, place, LinearForm({}, 1), 1, unroll, own)
        digit, lanes = max(zip(self.exchange.over, self.exchange.shuffled, strict=True), key=lambda pair: pair[1])
        takers = 1 << (count - 1).bit_length()
        if takers > lanes:
            # Written out, NVRTC reads four at a time, and beyond the last where they are no multiple of four.
            # Of many, ptxas moves all loads to the front, and keeps in memory what registers do not hold.
            return self._combined(scope, place, ZERO, 1, 1 if count % 4 else unroll)
        # Each lane takes one partial result, or the identity, and shuffles combine them.
        part = self.lowering.indices.remainder(scope, digit.position, takers)
        mask = None
        if takers > count:
            mask = self.lowering.indices.compare(scope, "lt", part, LinearForm({}, count))
        (element,) = self._load(scope, place, part, mask)
        masks = [digit.stride * takers >> step for step in range(1, takers.bit_length())]
        return [combine_lanes(self.lowering, scope, self.monoid, element, masks)]

    def _index(self, scope: Scope, slots: _Slots, place: Place, part: LinearForm) -> list[SSAValue]:
        indices, width = self.lowering.indices, prod(self.run)
        element = ZERO
        for extent, coordinate in zip(self.shape, place, strict=True):
            element = element * extent + coordinate
        form = element * slots.per_element + slots.base * width
        part = part - LinearForm({}, slots.first)
        for extent, stride in slots.digits[:-1]:
            form += indices.remainder(scope, part, extent) * (stride * width)
            part = indices.quotient(scope, part, extent)
        form += part * (slots.digits[-1][1] * width)
        # Around matrix instructions NVRTC else takes the first 16 bytes of many apart.
        return [indices.value(scope, indices.pinned(form) if self.lowering.values.flat else form)]

    def _load(self, scope: Scope, place: Place, part: LinearForm, mask: SSAValue | None = None) -> Sequence[Element]:
        """One partial result of this thread's group, of the run that begins at a place; the identity where the mask is
        false."""
        at, width = self._index(scope, self._slots, place, part), prod(self.run)
        by_value: list[list[SSAValue]] = []
        for array, type, number in zip(
            self._slots.arrays, self.types, self.monoid.monoid.identity(self.types), strict=True
        ):
            loaded = scope.insert(LoadOp.of(array, at, mask, moved_type(type, width))).result
            if mask is not None:
                loaded = scope.alu("where", mask, loaded, scope.constant_like(number, loaded))
            by_value.append(self._elements_of(scope, loaded))
        return list(zip(*by_value, strict=True))

    def _elements_of(self, scope: Scope, run: SSAValue) -> list[SSAValue]:
        width = prod(self.run)
        if width == 1:
            return [run]
        array = self.lowering.values.allocate(scope, array_type(element_of(run.type), (width,)), "run")
        constant = self.lowering.indices.constant
        scope.insert(StoreOp.of(run, array, [constant(0)]))
        return [scope.insert(LoadOp.of(array, [constant(number)])).result for number in range(width)]

    def _store(self, scope: Scope, slots: _Slots, place: Place, run: Sequence[Element], mask: SSAValue | None) -> None:
        """Write this thread's part of the run that begins at a place."""
        at = self._index(scope, slots, place, self.part)
        for elements, array in zip(zip(*run, strict=True), slots.arrays, strict=True):
            scope.insert(StoreOp.of(self._run_of(scope, elements), array, at, mask))

    def _run_of(self, scope: Scope, elements: Sequence[SSAValue]) -> SSAValue:
        if len(elements) == 1:
            return elements[0]
        element, constant = elements[0].type, self.lowering.indices.constant
        array = self.lowering.values.allocate(scope, array_type(element, (len(elements),)), "run")
        for number, value in enumerate(elements):
            scope.insert(StoreOp.of(value, array, [constant(number)]))
        return scope.insert(LoadOp.of(array, [constant(0)], None, moved_type(element, len(elements)))).result

    def _combined(
        self,
        scope: Scope,
        place: Place,
        start: LinearForm,
        step: int,
        unroll: int | None,
        before: Sequence[Element] | None = None,
    ) -> list[Element]:
        """What stands before, if anything does, and the partial results `start`, `start + step`, … of this thread's
        group, combined in order."""
        values, indices, monoid = self.lowering.values, self.lowering.indices, self.monoid.monoid
        width = prod(self.run)
        arrays = [values.allocate(scope, array_type(type, (width,)), "acc") for type in self.types]
        places: list[list[SSAValue]] = [[]] if width == 1 else [[indices.constant(number)] for number in range(width)]
        if before is None:
            first = [scope.const(n, type) for n, type in zip(monoid.identity(self.types), self.types, strict=True)]
            before = [first] * width

        def state(inner: Scope, at: Sequence[SSAValue]) -> Element:
            return [inner.insert(LoadOp.of(array, at)).result for array in arrays]

        def change(inner: Scope, at: Sequence[SSAValue], element: Element) -> None:
            for value, array in zip(element, arrays, strict=True):
                inner.insert(StoreOp.of(value, array, at))

        for at, element in zip(places, before, strict=True):
            change(scope, at, element)
        loop = ForOp.of(indices.value(scope, start), self._slots.count, step, unroll)
        loop.index.name_hint = "part"
        with scope.inside(loop, loop.body.block) as inner:
            run = self._load(inner, place, indices.leaf(loop.index))
            for at, element in zip(places, run, strict=True):
                change(inner, at, monoid.combine(inner, state(inner, at), element))
        return [state(scope, at) for at in places]
