"""Accesses of the active lanes to global, shared and local memory, with counting and race checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum

import numpy as np

from .errors import Fault, UnsupportedPtxError
from .formats import Array
from .global_shadow import GlobalAccess, GlobalShadow
from .machine import Machine
from .memory import LOCAL_WINDOW, SHARED_WINDOW, Buffer, check_alignment, gather, gather_parts, scatter
from .operands import Operands, UnsupportedOperandError
from .program import LinkedAddress, LinkedOperand, Parameter
from .ptx import Instruction
from .traffic import INACTIVE, SECTOR_BYTES, count_sectors, count_wavefronts


class Space(Enum):
    """State spaces of PTX."""

    GLOBAL = "global"
    SHARED = "shared"
    LOCAL = "local"
    CONST = "const"
    GENERIC = "generic"


def space_of(instruction: Instruction) -> Space:
    """The space that an ld, st, atom or red names."""
    for modifier in instruction.modifiers:
        name, _, scope = modifier.partition("::")
        if name in ("global", "local", "const") or (name == "shared" and scope in ("", "cta")):
            return Space(name)
        if name == "shared":
            raise UnsupportedOperandError("shared memory of a cluster")
    return Space.GENERIC


def address_reader(operand: LinkedOperand, operands: Operands) -> Callable[[Machine], Array]:
    """The addresses of the active lanes, as int64."""
    if not isinstance(operand, LinkedAddress):
        raise UnsupportedOperandError(f"address {operand}")
    base, offset = operand.base, np.int64(operand.offset)
    if base is None:
        return lambda machine: machine.of_active(offset)
    if isinstance(base, Parameter):
        raise UnsupportedOperandError("a parameter's address")
    type_ = "u32" if base.type == "b32" else "u64"
    read = operands.reader(base, type_)
    if type_ == "u32":
        # 32-bit addresses wrap around.
        return lambda machine: (machine.of_active(read(machine)) + np.uint32(operand.offset & 0xFFFFFFFF)).astype(
            np.int64
        )
    return lambda machine: machine.of_active(read(machine)).view(np.int64) + offset


def resolve_generic(machine: Machine, addresses: Array) -> tuple[Space, Array]:
    """The space that generic addresses are in, and the addresses there. The access is counted as of that space."""
    windows = addresses >> 60
    window = int(windows[0])
    if (windows != window).any():
        text = machine.code.instructions[machine.pc].text
        raise UnsupportedPtxError(f"lanes of `{text}` address different memory spaces, which is not simulated")
    space = {SHARED_WINDOW >> 60: Space.SHARED, LOCAL_WINDOW >> 60: Space.LOCAL}.get(window, Space.GLOBAL)
    stats = machine.stats[machine.pc]
    stats.kind = f"{stats.kind.partition('.')[0]}.{space.value}"
    base = {Space.SHARED: SHARED_WINDOW, Space.LOCAL: LOCAL_WINDOW}.get(space, 0)
    return space, addresses - base


# -- global -----------------------------------------------------------------------------------------------------


def load_global(machine: Machine, addresses: Array, size: int) -> Array:
    """Bytes of shape (active lanes, size)."""
    check_alignment(addresses, size, "global load")
    parts = machine.memory.locate(addresses, size, "global load")
    count_global(machine, addresses, size, parts)
    judge_global(machine, addresses, size, parts)
    return gather_parts(parts, addresses, size)


def store_global(machine: Machine, addresses: Array, pieces: Array) -> None:
    """Store bytes of shape (active lanes, size)."""
    size = pieces.shape[1]
    check_alignment(addresses, size, "global store")
    parts = machine.memory.locate(addresses, size, "global store")
    count_global(machine, addresses, size, parts, is_store=True)
    judge_global(machine, addresses, size, parts, pieces=pieces)
    for buffer, positions in parts:
        if not buffer.is_writable:
            raise Fault(
                f"store to {buffer.owner}, which is read-only", int(positions[0]) if positions is not None else 0
            )
        offsets = (addresses if positions is None else addresses[positions]) - buffer.base
        mine = pieces if positions is None else pieces[positions]
        scatter(buffer.data, offsets, mine)
        if machine.launch.check_races:
            _check_same_instruction(machine, buffer.data, offsets, mine, positions, f"in {buffer.owner}")


def count_global(
    machine: Machine,
    addresses: Array,
    size: int,
    parts: list[tuple[Buffer, Array | None]],
    *,
    is_store: bool = False,
    is_copy: bool = False,
    chosen: Array | None = None,
) -> None:
    """Add an access to the counters of the instruction.

    is_copy: the global side of a cp.async, whose requests are counted on the shared side. chosen: the addresses
    are those of only these of the active lanes.
    """
    for buffer, positions in parts:
        offsets = (addresses if positions is None else addresses[positions]) - buffer.base
        (buffer.stored if is_store else buffer.loaded)[offsets // SECTOR_BYTES] = True
    if not machine.launch.count:
        return
    stats = machine.stats[machine.pc]
    everyone = addresses
    if chosen is not None:
        everyone = np.full(len(lanes_of(machine)), INACTIVE, np.int64)
        everyone[chosen] = addresses
    requests, sectors = count_sectors(machine.spread(everyone, INACTIVE))
    stats.requests += 0 if is_copy else requests
    stats.sectors += sectors
    stats.bytes += len(addresses) * size


def judge_global(
    machine: Machine,
    addresses: Array,
    size: int,
    parts: list[tuple[Buffer, Array | None]],
    *,
    pieces: Array | None = None,
    chosen: Array | None = None,
) -> None:
    """Look for races with earlier accesses. pieces: what is stored, None for loads. chosen: as in `count_global`."""
    if not machine.launch.check_races:
        return
    for buffer, positions in parts:
        shadow = buffer.shadow
        if shadow is None:
            if pieces is None:
                continue
            shadow = buffer.shadow = GlobalShadow(len(buffer.data), machine.code.store_granule, judges_loads=False)
        lanes = lanes_of(machine) if chosen is None else lanes_of(machine)[chosen]
        mine = lanes if positions is None else lanes[positions]
        blocks = machine.first_block + machine.block[mine]
        access = GlobalAccess(machine.thread[mine], blocks, machine.epoch, machine.pc, machine.name_thread_of)
        offsets = (addresses if positions is None else addresses[positions]) - buffer.base
        try:
            if pieces is None:
                shadow.load(offsets, size, access)
            else:
                stored = pieces if positions is None else pieces[positions]
                shadow.store(offsets, size, access, lambda b=buffer, o=offsets, p=stored: _changes(b, o, p))
        except Fault as fault:
            fault.kind = f"{fault.kind} ({buffer.owner})"
            for mapping in (positions, chosen):
                if mapping is not None and fault.lane is not None:
                    fault.lane = int(mapping[fault.lane])
            raise


def _changes(buffer: Buffer, offsets: Array, pieces: Array) -> Array:
    return (gather(buffer.data, offsets, pieces.shape[1]) != pieces).any(axis=1)


def _check_same_instruction(
    machine: Machine, data: Array, offsets: Array, pieces: Array, positions: Array | None, where: str
) -> None:
    """After a scatter: lanes that stored different values to one place see another's value."""
    differs = (gather(data, offsets, pieces.shape[1]) != pieces).any(axis=1)
    if not differs.any():
        return
    position = int(np.flatnonzero(differs)[0])
    last = int(np.flatnonzero(offsets == offsets[position])[-1])
    at, other = (position, last) if positions is None else (int(positions[position]), int(positions[last]))
    detail = f"{machine.name_lane(int(lanes_of(machine)[other]))} stores another value"
    raise Fault(f"race: two threads store different values to one place {where} at once", at, detail)


# -- shared -----------------------------------------------------------------------------------------------------


def shared_offsets(machine: Machine, addresses: Array, size: int, what: str) -> Array:
    """Positions in the chunk's shared memory, checked."""
    check_alignment(addresses, size, what)
    limit = machine.launch.shared_bytes
    if int(addresses.min()) < 0 or int(addresses.max()) + size > limit:
        position = int(np.flatnonzero((addresses < 0) | (addresses + size > limit))[0])
        address = int(addresses[position])
        where = f"{size} bytes at {address}; the block has {limit} bytes"
        if address >= 1 << 40:
            where += " (a global or generic address was used as a shared one)" if address < SHARED_WINDOW else ""
        raise Fault(f"{what} out of bounds", position, where)
    active = machine.active()
    return addresses + (machine.shared_base if active is None else machine.shared_base[active])


def count_shared(machine: Machine, addresses: Array, size: int, *, is_copy: bool = False) -> None:
    """Add an access to the counters of the instruction.

    is_copy: the shared side of a cp.async, whose bytes are counted on the global side.
    """
    if not machine.launch.count:
        return
    stats = machine.stats[machine.pc]
    requests, wavefronts, ideal = count_wavefronts(machine.spread(addresses, INACTIVE), size)
    stats.requests += requests
    stats.wavefronts += wavefronts
    stats.ideal_wavefronts += ideal
    stats.bytes += 0 if is_copy else len(addresses) * size


def load_shared(machine: Machine, addresses: Array, size: int, judged: Sequence[tuple[int, int]]) -> Array:
    """Bytes of shape (active lanes, size). judged: (first, length) of those that go somewhere."""
    offsets = shared_offsets(machine, addresses, size, "shared load")
    count_shared(machine, addresses, size)
    if machine.shadow is not None:
        for first, length in judged:
            machine.shadow.read(offsets + first if first else offsets, length, machine.access())
    return gather(machine.shared, offsets, size)


def store_shared(machine: Machine, addresses: Array, pieces: Array) -> None:
    """Store bytes of shape (active lanes, size)."""
    size = pieces.shape[1]
    offsets = shared_offsets(machine, addresses, size, "shared store")
    count_shared(machine, addresses, size)
    clash = machine.shadow is not None and machine.shadow.write(offsets, size, machine.access())
    scatter(machine.shared, offsets, pieces)
    if clash:
        _check_same_instruction(machine, machine.shared, offsets, pieces, None, "in shared memory")


# -- local ------------------------------------------------------------------------------------------------------


def _local_offsets(machine: Machine, addresses: Array, size: int, what: str) -> Array:
    check_alignment(addresses, size, what)
    limit = machine.code.program.local_bytes
    if int(addresses.min()) < 0 or int(addresses.max()) + size > limit:
        position = int(np.flatnonzero((addresses < 0) | (addresses + size > limit))[0])
        raise Fault(f"{what} out of bounds", position, f"at {int(addresses[position])} of {limit} bytes")
    active = machine.active()
    return addresses + (machine.local_base if active is None else machine.local_base[active])


def load_local(machine: Machine, addresses: Array, size: int) -> Array:
    """Bytes of shape (active lanes, size)."""
    offsets = _local_offsets(machine, addresses, size, "local load")
    _count_local(machine, addresses, size)
    return gather(machine.local, offsets, size)


def store_local(machine: Machine, addresses: Array, pieces: Array) -> None:
    """Store bytes of shape (active lanes, size)."""
    offsets = _local_offsets(machine, addresses, pieces.shape[1], "local store")
    _count_local(machine, addresses, pieces.shape[1])
    scatter(machine.local, offsets, pieces)


def _count_local(machine: Machine, addresses: Array, size: int) -> None:
    stats = machine.stats[machine.pc]
    stats.requests += int(machine.mask_rows().any(axis=1).sum())
    stats.bytes += len(addresses) * size


def lanes_of(machine: Machine) -> Array:
    """Indices of the active lanes."""
    active = machine.active()
    return np.arange(machine.lanes) if active is None else active
