"""What values are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Operation, SSAValue


def backward_slice(values: Iterable[SSAValue], up_to: Operation | None = None) -> Iterator[Operation]:
    """The ops that values are made of, each once; not `up_to`, nor what only that needs.

    They are found as they are asked for. Regions are not entered.
    """
    seen: set[Operation | None] = {up_to}
    pending = list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            yield owner
            pending += owner.operands
