"""Instructions that a warp executes together: shuffles, votes, warp barriers, ldmatrix and mma."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import Fault
from .formats import Array, view_dtype
from .machine import Control, Machine, Step
from .operands import Operands, UnsupportedOperandError
from .program import Linked, LinkedOperand, LinkedPair
from .ptx import Immediate
from .tensor_core import compile_ldmatrix, compile_mma
from .traffic import WARP

_LANE = np.arange(WARP)
_FULL = 0xFFFFFFFF


def compile_warp(linked: Linked, operands: Operands) -> Control | None:
    """What a warp instruction does once all the lanes that it names have reached it."""
    instruction = linked.instruction
    match instruction.name:
        case "shfl":
            step, members = _shuffle(linked, operands), linked.operands[-1]
        case "vote":
            step, members = _vote(linked, operands), linked.operands[-1]
        case "redux":
            step, members = _reduce(linked, operands), linked.operands[-1]
        case "match":
            step, members = _match(linked, operands), linked.operands[-1]
        case "bar" if instruction.has("warp"):
            step, members = _warp_barrier, linked.operands[0]
        case "elect":
            step, members = _elect(linked, operands), linked.operands[-1]
        case "activemask":
            write = operands.writer(linked.operands[0], "b32")
            return lambda machine, pc: _then(pc, write(machine, _ballot(machine.mask_rows())))
        case "ldmatrix":
            step, members = compile_ldmatrix(linked, operands), None
        case "mma":
            step, members = compile_mma(linked, operands), None
        case _:
            return None
    if linked.guard is not None:
        raise UnsupportedOperandError("a predicate on an instruction of the whole warp")
    if instruction.name in ("shfl", "vote", "match") and not instruction.has("sync"):
        raise UnsupportedOperandError("without .sync")
    return _together(step, members, operands)


def _then(pc: int, _: None) -> int:
    return pc + 1


def _together(step: Step, members: LinkedOperand, operands: Operands) -> Control:
    """Run the step when the named lanes are there. members None: all lanes of the warp, none may be missing."""
    if members is None:

        def run_aligned(machine: Machine, pc: int) -> int | None:
            if not machine.converge(None, pc):
                return None
            if machine.mask is not None:
                rows = machine.mask_rows()
                partial = rows.any(axis=1) & ~rows.all(axis=1)
                if partial.any():
                    raise Fault("warp divergence: an instruction needs all 32 lanes of the warp", 0)
            step(machine)
            return pc + 1

        return run_aligned
    is_full = isinstance(members, Immediate) and members.value & _FULL == _FULL
    read = None if is_full else operands.reader(members, "u32")

    def run(machine: Machine, pc: int) -> int | None:
        named: Array | None = None
        if read is not None:
            mask = read(machine)
            if np.ndim(mask) != 0 or int(mask) != _FULL:
                wide = np.broadcast_to(mask, (machine.lanes,)).reshape(-1, WARP)
                bits = (wide >> _LANE.astype(np.uint32)) & np.uint32(1)
                mine = machine.mask_rows() & (bits == 0)
                if mine.any():
                    lane = int(np.flatnonzero(mine[machine.mask_rows()])[0])
                    raise Fault("a lane executes a warp instruction whose mask leaves it out", lane)
                named = _members_of_rows(machine, wide)
        if not machine.converge(named, pc):
            return None
        step(machine)
        return pc + 1

    return run


def _members_of_rows(machine: Machine, masks: Array) -> Array:
    """Which lanes the masks of the active lanes name, for each warp."""
    active = machine.mask_rows()
    combined = np.bitwise_or.reduce(np.where(active, masks, np.uint32(0)), axis=1)
    return ((combined[:, None] >> _LANE.astype(np.uint32)) & np.uint32(1)) != 0


def _rows(machine: Machine, values: Any) -> Array:
    return np.broadcast_to(values, (machine.lanes,)).reshape(-1, WARP)


def _ballot(votes: Array) -> Array:
    """Bits of booleans of shape (warps, 32), repeated for each lane."""
    words = np.packbits(votes, axis=1, bitorder="little").view(np.uint32)
    return np.repeat(words.reshape(-1), WARP)


def _shuffle(linked: Linked, operands: Operands) -> Step:
    mode = next(mode for mode in ("up", "down", "bfly", "idx") if linked.instruction.has(mode))
    destination = linked.operands[0]
    first, second = (
        (destination.first, destination.second) if isinstance(destination, LinkedPair) else (destination, None)
    )
    write, write_predicate = operands.writer(first, "b32"), operands.writer(second, "pred")
    read, read_b, read_c = (operands.reader(operand, "u32") for operand in linked.operands[1:4])

    def step(machine: Machine) -> None:
        b, c = read_b(machine), read_c(machine)
        if np.ndim(b) == 0 and np.ndim(c) == 0:
            source, in_range = _shuffle_source(mode, np.int64(b), np.int64(c))
            source, in_range = source[None, :], in_range[None, :]
        else:
            source, in_range = _shuffle_source(
                mode, _rows(machine, b).astype(np.int64), _rows(machine, c).astype(np.int64)
            )
        rows = _rows(machine, read(machine))
        source = np.broadcast_to(source, rows.shape)
        if machine.mask is not None:
            active = machine.mask_rows()
            missing = active & ~np.take_along_axis(active, source, axis=1)
            if missing.any():
                position = int(np.flatnonzero(missing[active])[0])
                warp, lane = np.argwhere(missing)[0]
                detail = f"lane {lane} reads lane {source[warp, lane]}, which has exited or is elsewhere"
                raise Fault("shuffle reads a lane that does not take part", position, detail)
        write(machine, np.take_along_axis(rows, source, axis=1).reshape(-1))
        if second is not None:
            write_predicate(machine, np.broadcast_to(in_range, rows.shape).reshape(-1))

    return step


def _shuffle_source(mode: str, b: Any, c: Any) -> tuple[Array, Array]:
    """For each lane the lane that it reads, and whether that is in its segment (else it reads itself)."""
    clamp, segment = c & 31, c >> 8 & 31
    b = b & 31
    least = _LANE & segment
    most = least | (clamp & ~segment)
    if mode == "up":
        source = _LANE - b
        in_range = source >= most
    else:
        source = {"down": _LANE + b, "bfly": _LANE ^ b, "idx": least | (b & ~segment)}[mode]
        in_range = source <= most
    return np.where(in_range, source, _LANE), in_range


def _vote(linked: Linked, operands: Operands) -> Step:
    """vote: among the lanes that a lane's own mask names."""
    instruction = linked.instruction
    mode = next((m for m in ("ballot", "any", "all", "uni") if instruction.has(m)), "")
    read, read_mask = operands.reader(linked.operands[1], "pred"), operands.reader(linked.operands[2], "u32")
    write = operands.writer(linked.operands[0], "b32" if mode == "ballot" else "pred")

    def step(machine: Machine) -> None:
        active = machine.mask_rows()
        named = _ballot(active) & read_mask(machine)
        votes = _ballot(_rows(machine, read(machine)) & active) & named
        if mode == "ballot":
            write(machine, votes)
        else:
            some, every = votes != 0, votes == named
            write(machine, {"any": some, "all": every, "uni": every | ~some}[mode])

    return step


_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _reduce(linked: Linked, operands: Operands) -> Step:
    instruction = linked.instruction
    type_ = instruction.type
    name = next(name for name in _REDUCTIONS if instruction.has(name))
    if type_ == "f32":
        raise UnsupportedOperandError("redux of floats")
    function: Any = _REDUCTIONS[name]
    dtype = view_dtype(type_)
    limits = np.iinfo(dtype)
    identity = {"min": limits.max, "max": limits.min, "and": -1}.get(name, 0)
    neutral = np.array(identity, np.int64).astype(dtype)
    read, write = operands.reader(linked.operands[1], type_), operands.writer(linked.operands[0], type_)
    read_mask = operands.reader(linked.operands[2], "u32")

    def step(machine: Machine) -> None:
        masks = machine.of_active(read_mask(machine))
        if (masks != masks[0]).any():
            raise Fault("lanes of one redux name different lanes", 0, "the simulator does not execute this")
        rows = np.where(machine.mask_rows(), _rows(machine, read(machine)), neutral)
        write(machine, np.repeat(function.reduce(rows, axis=1), WARP).astype(dtype))

    return step


def _match(linked: Linked, operands: Operands) -> Step:
    """match.any: the lanes that hold the same value."""
    instruction = linked.instruction
    if not instruction.has("any"):
        raise UnsupportedOperandError("match.all")
    read, write = operands.reader(linked.operands[1], instruction.type), operands.writer(linked.operands[0], "b32")
    read_mask = operands.reader(linked.operands[2], "u32")

    def step(machine: Machine) -> None:
        rows, active = _rows(machine, read(machine)), machine.mask_rows()
        equal = (rows[:, :, None] == rows[:, None, :]) & active[:, None, :]
        words = np.packbits(equal, axis=2, bitorder="little").view(np.uint32)
        write(machine, words.reshape(-1) & read_mask(machine))

    return step


def _elect(linked: Linked, operands: Operands) -> Step:
    """elect.sync: the lowest lane leads."""
    destination = linked.operands[0]
    if not isinstance(destination, LinkedPair):
        raise UnsupportedOperandError("destination")
    write, write_predicate = operands.writer(destination.first, "b32"), operands.writer(destination.second, "pred")

    def step(machine: Machine) -> None:
        leader = np.repeat(np.argmax(machine.mask_rows(), axis=1), WARP)
        write(machine, leader.astype(np.uint32))
        write_predicate(machine, leader == machine.thread % WARP)

    return step


def _warp_barrier(machine: Machine) -> None:
    """Orders the memory accesses of the lanes that meet: their phase becomes a common, higher one."""
    phases = machine.phases
    assert phases is not None
    rows, active = phases.reshape(-1, WARP), machine.mask_rows()
    highest = np.where(active, rows, 0).max(axis=1, keepdims=True) + 1
    machine.phases = np.where(active, highest, rows).astype(np.int32).reshape(-1)
