"""Loads, stores and atomic operations, and cp.async."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from .async_copy import compile_async_copy
from .atomics import compile_atomic
from .formats import Array, bits_of, storage_dtype, view_dtype
from .machine import Machine, Step
from .memory import LOCAL_WINDOW, SHARED_WINDOW
from .operands import Operands, UnsupportedOperandError, elements
from .program import Linked, LinkedOperand, Slot
from .ptx import Instruction
from .spaces import (
    Space,
    address_reader,
    load_global,
    load_local,
    load_shared,
    resolve_generic,
    space_of,
    store_global,
    store_local,
    store_shared,
)


def compile_access(linked: Linked, operands: Operands) -> Step | None:
    """The step of an instruction that accesses memory, or None for another instruction."""
    instruction = linked.instruction
    match instruction.name:
        case "ld" | "ldu" if not instruction.has("param"):
            return _load(linked, operands)
        case "st" if not instruction.has("param"):
            return _store(linked, operands)
        case "atom" | "red":
            return compile_atomic(linked, operands)
        case "cp" if instruction.has("async"):
            return compile_async_copy(linked, operands)
        case "cvta":
            return _convert_address(linked, operands)
        case "isspacep":
            return _is_space(linked, operands)
        case _:
            return None


def _access_bytes(instruction: Instruction) -> int:
    """Bytes that one lane moves with ld, st, atom or red."""
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    return bits_of(instruction.type) // 8 * count


def shared_width(linked: Linked) -> int:
    """Bytes of the access if the instruction may access shared memory, else 0."""
    instruction = linked.instruction
    if instruction.name == "cp" and instruction.has("shared", "shared::cta"):
        size = linked.operands[2]
        return getattr(size, "value", 4)
    if instruction.name in ("ld", "st", "atom", "red") and space_of(instruction) in (Space.SHARED, Space.GENERIC):
        return _access_bytes(instruction)
    return 0


def store_width(linked: Linked) -> int:
    """Bytes of the access if the instruction may store to global memory, else 0."""
    instruction = linked.instruction
    is_store = instruction.name in ("st", "atom", "red")
    return _access_bytes(instruction) if is_store and space_of(instruction) in (Space.GLOBAL, Space.GENERIC) else 0


def _used_bytes(destinations: Sequence[LinkedOperand], size: int) -> list[tuple[int, int]]:
    """(first, length) of the runs of bytes of a load that go to a register."""
    width = size // len(destinations)
    runs: list[tuple[int, int]] = []
    for index, destination in enumerate(destinations):
        if destination is None:
            continue
        if runs and sum(runs[-1]) == index * width:
            runs[-1] = (runs[-1][0], runs[-1][1] + width)
        else:
            runs.append((index * width, width))
    return runs


def _load(linked: Linked, operands: Operands) -> Step:
    instruction = linked.instruction
    type_ = instruction.type
    destinations = elements(linked.operands[0])
    count, size = len(destinations), bits_of(type_) // 8 * len(destinations)
    if size > 32:
        raise UnsupportedOperandError(f"{size} bytes in one access")
    writers = [operands.active_writer(destination, type_) for destination in destinations]
    read_address = address_reader(linked.operands[1], operands)
    element = storage_dtype(type_)
    load = _dispatch(instruction, load_global, partial(load_shared, judged=_used_bytes(destinations, size)), load_local)

    def step(machine: Machine) -> None:
        pieces = load(machine, read_address(machine), size)
        values = pieces.view(element)
        for index, write in enumerate(writers):
            write(machine, np.ascontiguousarray(values[:, index]) if count > 1 else values.reshape(-1))

    return step


def _store(linked: Linked, operands: Operands) -> Step:
    instruction = linked.instruction
    type_ = instruction.type
    sources = elements(linked.operands[1])
    count, size = len(sources), bits_of(type_) // 8 * len(sources)
    if size > 32:
        raise UnsupportedOperandError(f"{size} bytes in one access")
    readers = [operands.reader(source, type_) for source in sources]
    read_address = address_reader(linked.operands[0], operands)
    element = storage_dtype(type_)
    store = _dispatch(instruction, store_global, store_shared, store_local)

    def step(machine: Machine) -> None:
        addresses = read_address(machine)
        values = np.empty((len(addresses), count), element)
        for index, read in enumerate(readers):
            values[:, index] = machine.of_active(read(machine)).view(element)
        store(machine, addresses, values.view(np.uint8).reshape(len(addresses), size))

    return step


def _dispatch(instruction: Instruction, on_global: Any, on_shared: Any, on_local: Any) -> Callable[..., Any]:
    """The access function of the instruction's space; a generic address says its space itself."""
    match space_of(instruction):
        case Space.GLOBAL | Space.CONST:
            return on_global
        case Space.SHARED:
            return on_shared
        case Space.LOCAL:
            return on_local
        case Space.GENERIC:

            def generic(machine: Machine, addresses: Array, *arguments: Any) -> Any:
                space, addresses = resolve_generic(machine, addresses)
                access = {Space.GLOBAL: on_global, Space.SHARED: on_shared, Space.LOCAL: on_local}[space]
                return access(machine, addresses, *arguments)

            return generic


_WINDOWS = {"shared": SHARED_WINDOW, "shared::cta": SHARED_WINDOW, "local": LOCAL_WINDOW}


def _convert_address(linked: Linked, operands: Operands) -> Step:
    """cvta: global and constant addresses are generic ones; shared and local ones are offset by a window."""
    instruction = linked.instruction
    type_ = instruction.type
    window = next((_WINDOWS[name] for name in _WINDOWS if instruction.has(name)), 0)
    read = operands.reader(linked.operands[1], type_)
    write = operands.writer(linked.operands[0], type_)
    dtype = view_dtype(type_).type
    if bits_of(type_) == 32:
        raise UnsupportedOperandError("32-bit generic addresses")
    if instruction.has("to"):
        return lambda machine: write(machine, read(machine) - dtype(window))
    return lambda machine: write(machine, read(machine) + dtype(window))


def _is_space(linked: Linked, operands: Operands) -> Step:
    instruction = linked.instruction
    space = instruction.modifiers[0]
    destination = linked.operands[0]
    if not isinstance(destination, Slot):
        raise UnsupportedOperandError("destination")
    read, write = operands.reader(linked.operands[1], "u64"), operands.writer(destination, "pred")
    window = _WINDOWS.get(space, 0) >> 60
    return lambda machine: write(machine, (read(machine) >> np.uint64(60)) == np.uint64(window))
