"""The memory of a program's results: what `uop-plan-buffers` planned, carried out and checked."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ..dialects.types import byte_count
from ..dialects.uop import LaunchOp
from ..rewriting.diagnostics import PassError
from ..rewriting.lifetimes import last_readers
from .storage import Array, poisoned


class Arena:
    """The results of the launches of one run: places in shared memory, or memory of their own.

    size: bytes of the shared memory. unplanned: bytes that its results would take without reuse.
    """

    def __init__(self, function: FuncOp) -> None:
        placed = [
            (offset, byte_count(result.type))
            for launch in function.body.block.ops
            if isinstance(launch, LaunchOp)
            for offset, result in zip(launch.offsets(), launch.results, strict=True)
            if offset is not None
        ]
        self.size = max((offset + size for offset, size in placed), default=0)
        self.unplanned = sum(size for _, size in placed)
        self._bytes = np.empty(self.size, np.uint8)
        self._readers = last_readers(function.body.block)
        self._held: dict[SSAValue, tuple[int, int]] = {}
        """The bytes [start, end) of each result that is still needed."""

    def results(self, launch: LaunchOp) -> list[Array]:
        """Arrays for the results of the next launch, poisoned.

        Raises `PassError` where the plan gives a result memory that another, still needed, lies in.
        """
        return [
            self._place(launch, result, offset) for result, offset in zip(launch.results, launch.offsets(), strict=True)
        ]

    def after(self, op: Operation) -> None:
        """Give back the memory of what `op` was the last to read."""
        self._held = {value: place for value, place in self._held.items() if self._readers[value] is not op}

    def _place(self, launch: LaunchOp, result: SSAValue, offset: int | None) -> Array:
        if offset is None:
            return poisoned(result.type)
        end = offset + byte_count(result.type)
        for start, stop in self._held.values():
            if offset < stop and start < end:
                raise PassError(
                    f"bytes {offset} to {end} of the arena hold a result that is still needed",
                    launch,
                    "drop `arena` from the launches and run uop-plan-buffers again",
                )
        self._held[result] = offset, end
        return poisoned(result.type, self._bytes[offset:end])
