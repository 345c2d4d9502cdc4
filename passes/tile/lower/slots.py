"""Register tiles that are held in registers for a part, and for the rest in shared memory, in slots of each thread."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import prod

from xdsl.ir import Operation, SSAValue

from ....dialects.gpu_kernel import AllocOp, ForOp, LoadOp, StoreOp
from ....dialects.tile import ReadOp
from ....dialects.types import byte_width, element_of, shape_of, with_shape
from ....dialects.uop import KernelOp
from ....rewriting.diagnostics import PassError
from ....rewriting.linear import LinearForm
from ...held_values import held_values
from .grid import Grid
from .indices import ZERO, Indices
from .lowering import shared_type
from .scopes import Scope
from .values import Place, Value, Values, array_type

_RESERVED_BYTES = 2048
"""Shared memory that is left to what threads exchange."""

_UNROLLED_STEPS = 8
"""Steps in slots that are written out where elements of 16 or 64 bits are read. Of more the compiler has too much on
its way, and spills: it puts halves of several steps into pairs, and computes with pairs of registers for doubles."""


@dataclass
class _Step:
    """A step along the dimension that is split. Elements that it reads are fetched in front of the loops over them;
    those that it writes are put into their slots behind these.

    scope: around these loops. fetched: value → its elements of this step. written: array → elements, of which value.
    """

    scope: Scope
    position: LinearForm
    in_slots: bool
    fetched: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    written: dict[SSAValue, tuple[SSAValue, SSAValue]] = field(
        default_factory=dict[SSAValue, tuple[SSAValue, SSAValue]]
    )


@dataclass(frozen=True)
class _Slots:
    """A shared array with slots for what one value of the kernel has at a time.

    users: the values that have had it, the last of which has it.
    """

    array: SSAValue
    users: list[SSAValue]


class SlottedValues(Values):
    """Values of a kernel whose schedule has `slots`: the last steps along the first dimension of its register tiles lie
    in shared memory.

    Each thread reads and writes slots of its own, so there are no barriers. It moves 16 bytes at once, next to those of
    its neighbours: step, unit of 16 bytes, thread, element is the order in memory. A value takes the slots of another
    that nobody needs any more, as it may in the step that computes it from that one. What one nest of loops needs alone
    is computed there, and read there, lest it takes slots; where there is no room, by each that needs it.
    """

    def __init__(self, kernel: KernelOp, root: Scope, indices: Indices, grid: Grid, bytes: int):
        """bytes: the shared memory that a block can have."""
        super().__init__(indices)
        assert kernel.schedule is not None
        slots = kernel.schedule.data.slots
        assert slots is not None
        self.kernel = kernel
        self.root = root
        self.grid = grid
        self.extent: int = next(factor.extent for factor in kernel.schedule.data.factors(slots.axis))
        self.held: int = self.extent - slots.steps
        self.left: int = bytes - _RESERVED_BYTES
        self.reads_pairs: bool = any(
            isinstance(op, ReadOp) and byte_width(element_of(op.result.type)) in (2, 8) for op in kernel.body.block.ops
        )
        self.step: _Step | None = None
        self.slots: dict[SSAValue, _Slots] = {}
        """Register array → slots."""
        self._kept, _ = held_values(list(kernel.body.block.ops), lambda value: self.splits(shape_of(value.type)))
        self._order: dict[Operation, int] = {op: place for place, op in enumerate(kernel.body.block.ops)}

    def splits(self, shape: Sequence[int]) -> bool:
        return bool(shape) and shape[0] == self.extent

    # Steps.

    @contextmanager
    def nest(
        self, scope: Scope, shape: Sequence[int], width: int = 1, dimension: int = -1
    ) -> Generator[tuple[Scope, Place]]:
        if self.splits(shape):
            raise PassError(
                f"kernel @{self.kernel.sym_name.data} has `slots`, which are for rows that are read, reduced, written",
                self.kernel,
                "leave `slots` out of its schedule",
            )
        with super().nest(scope, shape, width, dimension) as nest:
            yield nest

    def parts(
        self, scope: Scope, shape: Sequence[int], width: int = 1, dimension: int = -1
    ) -> Iterator[tuple[Scope, Place]]:
        if not self.splits(shape):
            yield from super().parts(scope, shape, width, dimension)
            return
        rest = [1, *shape[1:]]
        widths = [1] * len(shape)
        widths[dimension] = width
        # What lies in slots comes first, before registers are taken by the rest.
        for first, end in ((self.held, self.extent), (0, self.held)):
            in_slots = first > 0
            unroll = _UNROLLED_STEPS if in_slots and self.reads_pairs and end - first > _UNROLLED_STEPS else 0
            loop = ForOp.of(self.indices.constant(first), end, 1, unroll)
            loop.index.name_hint = self.dimension_names.get(0, "r")
            with scope.inside(loop, loop.body.block) as around:
                self.step = step = _Step(around, self.indices.leaf(loop.index), in_slots)
                with self.steps(around, rest, widths) as (inner, place):
                    yield inner, [step.position, *place[1:]]
                for array, (elements, value) in step.written.items():
                    self._move(step, value, elements, self.slots[array].array, to_slots=True)
                self.step = None

    def _move(self, step: _Step, value: SSAValue, elements: SSAValue, slots: SSAValue, *, to_slots: bool) -> None:
        """Move a value's elements of the step between registers and slots."""
        element, rest = element_of(value.type), [1, *shape_of(value.type)[1:]]
        width = _unit(rest, byte_width(element))
        moved = with_shape(element, () if width == 1 else (width,))
        with self.steps(step.scope, rest, [*[1] * (len(rest) - 1), width]) as (inner, place):
            offset = ZERO
            for extent, coordinate in zip(rest[1:], place[1:], strict=True):
                offset = offset * extent + coordinate
            index = (step.position - LinearForm({}, self.held)) * (prod(rest) * self.grid.threads)
            index += offset * self.grid.threads + self.grid.thread * width
            own, shared = self.place_in(inner, rest, place), [self.indices.value(inner, index)]
            source, target = ((elements, own), (slots, shared)) if to_slots else ((slots, shared), (elements, own))
            loaded = inner.insert(LoadOp.of(*source, None, moved)).result
            inner.insert(StoreOp.of(loaded, *target))

    # Elements.

    def _load(self, scope: Scope, value: SSAValue, place: Place) -> Value:
        elements = self.elements_of_step(value)
        if elements is None:
            return super()._load(scope, value, place)
        return scope.insert(LoadOp.of(elements, self.place_in(scope, [1, *shape_of(value.type)[1:]], place))).result

    def elements_of_step(self, value: SSAValue) -> SSAValue | None:
        """The array of a value's elements of the step that is built; None where they are in its own array."""
        step = self.step
        if step is None or not self.splits(shape_of(value.type)):
            return None
        late = self.late.get(value)
        if late is None and not step.in_slots:
            return None
        if value not in step.fetched:
            step.fetched[value] = elements = self._array_of_step(step, value)
            if late is None:
                self._move(step, value, elements, self.slots[self.arrays[value]].array, to_slots=False)
            else:
                rest = [1, *shape_of(value.type)[1:]]
                with self.steps(step.scope, rest, [*[1] * (len(rest) - 1), late.width]) as (inner, place):
                    loaded = late.load(inner, [step.position, *place[1:]])
                    inner.insert(StoreOp.of(loaded, elements, self.place_in(inner, rest, place)))
        return step.fetched[value]

    def _array_of_step(self, step: _Step, value: SSAValue) -> SSAValue:
        shape = (1, *shape_of(value.type)[1:])
        return self.allocate(step.scope, array_type(element_of(value.type), shape), "run")

    def put(self, scope: Scope, stored: SSAValue, value: SSAValue, place: Place, array: SSAValue) -> None:
        step = self.step
        if step is None or not step.in_slots or array not in self.slots:
            super().put(scope, stored, value, place, array)
            return
        if array not in step.written:
            step.written[array] = self._array_of_step(step, value), value
        at = self.place_in(scope, [1, *shape_of(value.type)[1:]], place)
        scope.insert(StoreOp.of(stored, step.written[array][0], at))

    # Arrays.

    def array_of(self, scope: Scope, value: SSAValue, hint: str, innermost: int | None = None) -> SSAValue:
        shape = shape_of(value.type)
        if not self.splits(shape):
            return super().array_of(scope, value, hint, innermost)
        array = self.allocate(scope, array_type(element_of(value.type), (self.held, *shape[1:])), hint)
        slots = self._free_slots(value)
        if slots is None:
            self.left -= self._bytes(value)
            type = shared_type(element_of(value.type), (self.extent - self.held) * prod(shape[1:]) * self.grid.threads)
            slots = _Slots(self.root.insert(AllocOp.of(type)).result, [])
            slots.array.name_hint = f"{hint.removesuffix('_r')}_s"
        slots.users.append(value)
        self.slots[array] = slots
        return array

    def is_kept(self, op: Operation, value: SSAValue) -> bool:
        return self._has_place(value) if self.splits(shape_of(value.type)) else super().is_kept(op, value)

    def reads_late(self, op: ReadOp) -> bool:
        return self.splits(shape_of(op.result.type)) and not self._has_place(op.result)

    def _has_place(self, value: SSAValue) -> bool:
        return value in self._kept and (self._free_slots(value) is not None or self._bytes(value) <= self.left)

    def _bytes(self, value: SSAValue) -> int:
        shape = shape_of(value.type)
        count = (self.extent - self.held) * prod(shape[1:]) * self.grid.threads
        return count * byte_width(element_of(value.type))

    def _free_slots(self, value: SSAValue) -> _Slots | None:
        """Slots for as many elements of this type, whose last user nobody needs but what computes the value."""
        for slots in self.slots.values():
            last = slots.users[-1]
            if last.type == value.type and not self._is_needed(last, value):
                return slots
        return None

    def _is_needed(self, value: SSAValue, new: SSAValue) -> bool:
        """Whether anything but the op of `new` is still to be computed from a value."""
        now = self._order.get(new.owner) if isinstance(new.owner, Operation) else None
        if now is None:
            return True
        stack, seen = [value], {value}
        while stack:
            for use in stack.pop().uses:
                op = use.operation
                place = self._order.get(op)
                if place is None or place > now:
                    return True
                for result in op.results:
                    # What is computed where it is used needs its operands there.
                    has_own = result in self.known or (result in self.arrays and not self._is_same(result, value))
                    if place < now and result not in seen and not has_own:
                        seen.add(result)
                        stack.append(result)
        return False

    def _is_same(self, result: SSAValue, value: SSAValue) -> bool:
        return self.arrays[result] is self.arrays.get(value)


def _unit(shape: Sequence[int], bytes: int) -> int:
    """Elements that are moved at once: 16 bytes, or as many as divide the last dimension."""
    width = max(1, 16 // bytes)
    while len(shape) < 2 or shape[-1] % width:
        width //= 2
        if width <= 1:
            return 1
    return width
