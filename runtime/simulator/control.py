"""Branches, returns and block barriers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import Fault
from .machine import Control, Machine, Step
from .operands import Operands, Reader, UnsupportedOperandError
from .program import Linked, LinkedOperand, Slot
from .ptx import Immediate, Instruction


def compile_control(linked: Linked, operands: Operands) -> Control | None:
    """What decides where control goes after an instruction; None if it just goes on."""
    instruction = linked.instruction
    match instruction.name:
        case "bra":
            return _branch(linked.guard, linked.targets)
        case "ret" if linked.targets:  # of an inlined function: goes on after the copy
            return _branch(linked.guard, linked.targets)
        case "ret":
            return exit_control(linked.guard)
        case "exit":
            return exit_control(linked.guard)
        case "brx":
            return _indexed_branch(linked, operands)
        case "bar" | "barrier" if not instruction.has("warp"):
            return _barrier(linked, operands)
        case "trap" | "brkpt":
            return _trap(linked.guard)
        case _:
            return None


def _condition(guard: tuple[Slot, bool] | None) -> Reader:
    if guard is None:
        return lambda machine: True
    index, negated = guard[0].index, guard[1]
    if negated:
        return lambda machine: ~machine.registers[index]
    return lambda machine: machine.registers[index]


def _branch(guard: tuple[Slot, bool] | None, targets: list[int]) -> Control:
    target = targets[0]
    if guard is None:
        return lambda machine, pc: target
    condition = _condition(guard)
    return lambda machine, pc: machine.branch(condition(machine), target, pc + 1)


def exit_control(guard: tuple[Slot, bool] | None) -> Control:
    """ret in a kernel, and exit."""
    condition = _condition(guard)
    return lambda machine, pc: machine.exit(condition(machine), pc + 1)


def _indexed_branch(linked: Linked, operands: Operands) -> Control:
    if linked.guard is not None:
        raise UnsupportedOperandError("a predicate on it")
    read = operands.reader(linked.operands[0], "u32")
    table = np.array(linked.targets, np.int32)

    def decide(machine: Machine, pc: int) -> int | None:
        index = read(machine)
        if np.ndim(index) == 0:
            return int(table[index])
        # Lanes outside the group may hold anything.
        return machine.branch_each(table[np.minimum(index, np.uint32(len(table) - 1))])

    return decide


def _trap(guard: tuple[Slot, bool] | None) -> Control:
    condition = _condition(guard)

    def decide(machine: Machine, pc: int) -> int:
        hit = machine.of_active(condition(machine))
        if hit.any():
            raise Fault("the kernel trapped", int(np.flatnonzero(hit)[0]), "a failed assertion or an explicit trap")
        return pc + 1

    return decide


def _barrier(linked: Linked, operands: Operands) -> Control:
    """bar.sync 0 of the whole block, and bar.red, which also combines a predicate over the block."""
    instruction = linked.instruction
    if linked.guard is not None:
        raise UnsupportedOperandError("a predicate on a barrier")
    values = list(linked.operands)
    is_reduction = instruction.has("red")
    destination = values.pop(0) if is_reduction else None
    predicate = values.pop() if is_reduction else None
    if not is_reduction and not instruction.has("sync"):
        raise UnsupportedOperandError("only bar.sync and bar.red are simulated")
    if not values or not isinstance(values[0], Immediate) or values[0].value != 0:
        raise UnsupportedOperandError("only barrier 0 is simulated")
    threads = operands.reader(values[1], "u32") if len(values) > 1 else None
    complete = _reduction(instruction, destination, predicate, operands) if is_reduction else None

    def decide(machine: Machine, pc: int) -> int | None:
        if threads is not None:
            named = machine.of_active(threads(machine))
            if (named != machine.launch.padded_threads).any():
                raise Fault("barrier for a part of the block", 0, f"it names {int(named[0])} threads")
        return machine.barrier(pc, complete)

    return decide


def _reduction(
    instruction: Instruction, destination: LinkedOperand, predicate: LinkedOperand, operands: Operands
) -> Step:
    """What bar.red does when the whole block has arrived."""
    operation = next(name for name in ("popc", "and", "or") if instruction.has(name))
    read = operands.reader(predicate, "pred")
    write = operands.writer(destination, "u32" if operation == "popc" else "pred")
    return lambda machine: write(machine, _combine_over_block(machine, read(machine), operation))


def _combine_over_block(machine: Machine, values: Any, operation: str) -> Any:
    rows = np.broadcast_to(values, (machine.lanes,)).reshape(machine.blocks, -1)
    rows = rows[:, : machine.launch.threads_per_block]
    if operation == "popc":
        combined = rows.sum(axis=1).astype(np.uint32)
    else:
        combined = rows.all(axis=1) if operation == "and" else rows.any(axis=1)
    return np.repeat(combined, machine.launch.padded_threads)
