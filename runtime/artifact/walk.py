"""Carrying out a plan: the one walk that every device shares."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from .plan import Launch, Plan, Value

Buffer = TypeVar("Buffer")
"""What a device holds a value in: an array, a tensor, an address."""


class Memory(Protocol[Buffer]):
    """The memory of one run."""

    def allocate(self, value: Value) -> Buffer:
        """Memory for what a launch writes: at `value.offset` of the arena, or its own."""
        ...

    def view(self, buffer: Buffer, value: Value) -> Buffer:
        """The same memory in the shape of `value`."""
        ...


def walk(
    plan: Plan,
    inputs: Sequence[Buffer],
    memory: Memory[Buffer],
    launch: Callable[[Launch, Sequence[Buffer]], None],
) -> list[Buffer]:
    """What the program gives for `inputs`, which hold what the plan says.

    launch: carries out a launch on its buffers, the outputs' first; nothing is to be done where `Kernel.is_empty`.
    Launches may write in the memory of `Plan.updated_inputs`. Results may lie in an input's memory, in the arena, or
    two in the same: see `Plan.owned_outputs`.
    """
    buffers: list[Buffer | None] = [None] * len(plan.values)

    def buffer(place: int) -> Buffer:
        found = buffers[place]
        if found is None:
            root = buffers[plan.roots[place]]
            assert root is not None, "Plan.check has seen that values are made before they are used"
            found = buffers[place] = memory.view(root, plan.values[place])
        return found

    for place, given in zip(plan.inputs, inputs, strict=True):
        buffers[place] = given
    for each in plan.launches:
        for place in each.outputs:
            if plan.values[place].view_of is None:
                buffers[place] = memory.allocate(plan.values[place])
        launch(each, [buffer(place) for place in each.buffers])
    return [buffer(place) for place in plan.outputs]
