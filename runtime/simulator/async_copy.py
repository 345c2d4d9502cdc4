"""cp.async: copies from global to shared memory that arrive when their thread waits for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import Fault
from .formats import Array
from .machine import AsyncCopies, AsyncCopy, Machine, Step
from .memory import check_alignment, gather_parts, scatter
from .operands import Operands, UnsupportedOperandError
from .program import Linked, Slot
from .ptx import Immediate
from .shadow import Access
from .spaces import address_reader, count_global, count_shared, judge_global, lanes_of, shared_offsets


def _issue(machine: Machine, offsets: Array, pieces: Array) -> None:
    """Add copies by the active lanes to their open groups."""
    lanes = lanes_of(machine)
    copies = _copies(machine)
    copies.pending.append(AsyncCopy(machine.pc, lanes, offsets, pieces, copies.committed[lanes]))


def _commit(machine: Machine) -> None:
    """Close the open group of the active lanes."""
    _copies(machine).committed[lanes_of(machine)] += 1


def _wait(machine: Machine, keep: int, *, everything: bool = False) -> None:
    """Let all but the last `keep` groups of the active lanes arrive, or every copy."""
    copies = _copies(machine)
    limit = np.full(machine.lanes, -1, np.int32)
    lanes = lanes_of(machine)
    limit[lanes] = np.iinfo(np.int32).max if everything else copies.committed[lanes] - keep
    remaining: list[AsyncCopy] = []
    for copy in copies.pending:
        arrives = copy.groups < limit[copy.lanes]
        if not arrives.any():
            remaining.append(copy)
            continue
        if arrives.all():
            _arrive(machine, copy)
            continue
        _arrive(machine, _part(copy, arrives))
        remaining.append(_part(copy, ~arrives))
    copies.pending = remaining


def _arrive(machine: Machine, copy: AsyncCopy) -> None:
    scatter(machine.shared, copy.offsets, copy.pieces)
    if machine.shadow is not None:
        phases = None if machine.phases is None else machine.phases[copy.lanes]
        access = Access(machine.thread[copy.lanes], phases, machine.epoch, copy.instruction)
        machine.shadow.complete(copy.offsets, copy.pieces.shape[1], access)


def _part(copy: AsyncCopy, chosen: Array) -> AsyncCopy:
    return AsyncCopy(
        copy.instruction, copy.lanes[chosen], copy.offsets[chosen], copy.pieces[chosen], copy.groups[chosen]
    )


def _copies(machine: Machine) -> AsyncCopies:
    if machine.copies is None:
        machine.copies = AsyncCopies(np.zeros(machine.lanes, np.int32))
    return machine.copies


def compile_async_copy(linked: Linked, operands: Operands) -> Step:
    """The step of a cp.async instruction."""
    instruction = linked.instruction
    if instruction.has("bulk", "mbarrier", "reduce"):
        raise UnsupportedOperandError("only cp.async of 4, 8 and 16 bytes is simulated")
    if instruction.has("commit_group"):
        return lambda machine: _commit(machine)
    if instruction.has("wait_all"):
        return lambda machine: _wait(machine, 0, everything=True)
    if instruction.has("wait_group"):
        count = linked.operands[0]
        if not isinstance(count, Immediate):
            raise UnsupportedOperandError("a number of groups that is not a literal")
        return lambda machine: _wait(machine, count.value)
    return _copy(linked, operands)


def _copy(linked: Linked, operands: Operands) -> Step:
    instruction = linked.instruction
    given = linked.operands[:-1] if instruction.has("L2::cache_hint") else linked.operands
    destination, source, size_operand, *rest = given
    if not isinstance(size_operand, Immediate) or size_operand.value not in (4, 8, 16):
        raise UnsupportedOperandError("a size other than 4, 8 or 16")
    if instruction.has("cg") and size_operand.value != 16:
        raise UnsupportedOperandError(".cg copies are of 16 bytes")
    size = size_operand.value
    to, at = address_reader(destination, operands), address_reader(source, operands)
    read_size: Callable[[Machine], Any] | None = None
    if rest:
        if isinstance(rest[0], Slot) and rest[0].type == "pred":
            raise UnsupportedOperandError("the form with ignore-src")
        read_size = operands.reader(rest[0], "u32")

    def step(machine: Machine) -> None:
        addresses = to(machine)
        offsets = shared_offsets(machine, addresses, size, "cp.async to shared memory")
        sources = at(machine)
        check_alignment(sources, size, "cp.async from global memory")
        sizes = None if read_size is None else machine.of_active(read_size(machine))
        pieces = _read_source(machine, sources, size, sizes)
        count_shared(machine, addresses, size, is_copy=True)
        if machine.shadow is not None and machine.shadow.write(offsets, size, machine.access(), is_async=True):
            raise Fault("race: two threads copy to one place in shared memory at once", 0)
        _issue(machine, offsets, pieces)

    return step


def _read_source(machine: Machine, sources: Array, size: int, sizes: Array | None) -> Array:
    """The bytes to copy, shape (active lanes, size). Of `sizes` bytes only so many are read, the rest is zero."""
    what = "cp.async from global memory"
    if sizes is None or (sizes == size).all():
        parts = machine.memory.locate(sources, size, what)
        count_global(machine, sources, size, parts, is_copy=True)
        judge_global(machine, sources, size, parts)
        return gather_parts(parts, sources, size)
    if (sizes > size).any():
        position = int(np.flatnonzero(sizes > size)[0])
        raise Fault("cp.async with a source size above its size", position, f"{int(sizes[position])} of {size} bytes")
    pieces = np.zeros((len(sources), size), np.uint8)
    for length in np.unique(sizes[sizes > 0]).tolist():
        chosen = np.flatnonzero(sizes == length)
        addresses = sources[chosen]
        try:
            parts = machine.memory.locate(addresses, length, what)
        except Fault as fault:
            fault.lane = int(chosen[fault.lane or 0])
            raise
        count_global(machine, addresses, length, parts, is_copy=True, chosen=chosen)
        judge_global(machine, addresses, length, parts, chosen=chosen)
        pieces[chosen, :length] = gather_parts(parts, addresses, length)
    return pieces
