"""atom and red on global and shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import Fault
from .formats import DECODE, ENCODE, Array, bits_of, view_dtype
from .machine import Machine, Step
from .memory import Buffer, check_alignment
from .operands import Operands, UnsupportedOperandError
from .program import Linked, LinkedVector
from .spaces import Space, address_reader, count_global, count_shared, resolve_generic, shared_offsets, space_of

Function = Callable[..., Any]


def _increment(old: Array, limit: Array) -> Array:
    following: Array = old + old.dtype.type(1)
    return np.where(old >= limit, old.dtype.type(0), following)


def _decrement(old: Array, limit: Array) -> Array:
    return np.where((old == 0) | (old > limit), limit, old - old.dtype.type(1))


def _exchange(old: Array, new: Array) -> Array:
    return new


def _compare_and_swap(old: Array, compare: Array, new: Array) -> Array:
    return np.where(old == compare, new, old)


_OPERATIONS: dict[str, Function] = {
    "add": np.add,
    "min": np.minimum,
    "max": np.maximum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "exch": _exchange,
    "inc": _increment,
    "dec": _decrement,
    "cas": _compare_and_swap,
}


def compile_atomic(linked: Linked, operands: Operands) -> Step:
    """The step of an atom or red instruction. Lanes that meet at one address take effect in lane order."""
    instruction = linked.instruction
    type_ = instruction.type
    has_result = instruction.name == "atom"
    name = next((name for name in _OPERATIONS if instruction.has(name)), None)
    address, *values = linked.operands[1:] if has_result else linked.operands
    if name is None or any(isinstance(value, LinkedVector) for value in values):
        raise UnsupportedOperandError("this atomic operation")
    function = _sixteen_bit(name, type_) if "16" in type_ and type_[0] != "b" else _OPERATIONS[name]
    dtype = view_dtype(type_)
    read_address = address_reader(address, operands)
    readers = [operands.reader(value, type_) for value in values]
    write = operands.active_writer(linked.operands[0], type_) if has_result else None
    space, size = space_of(instruction), bits_of(type_) // 8

    def step(machine: Machine) -> None:
        addresses = read_address(machine)
        arguments = [machine.of_active(read(machine)) for read in readers]
        old = np.empty(len(addresses), dtype)
        for data, offsets, chosen in _places(machine, space, addresses, size):
            cells = data.view(dtype)
            index = offsets >> (size.bit_length() - 1)
            old[chosen] = _apply(cells, index, function, [argument[chosen] for argument in arguments])
        if write is not None:
            write(machine, old)

    return step


def _places(machine: Machine, space: Space, addresses: Array, size: int) -> list[tuple[Array, Array, Any]]:
    """The byte arrays that are touched, with the offsets in each and which lanes they are of."""
    if space is Space.GENERIC:
        space, addresses = resolve_generic(machine, addresses)
    everyone = slice(None)
    if space is Space.SHARED:
        offsets = shared_offsets(machine, addresses, size, "shared atomic operation")
        count_shared(machine, addresses, size)
        if machine.shadow is not None:
            machine.shadow.atomic(offsets, size, machine.access())
        return [(machine.shared, offsets, everyone)]
    what = "global atomic operation"
    check_alignment(addresses, size, what)
    parts = machine.memory.locate(addresses, size, what)
    count_global(machine, addresses, size, parts, is_store=True)
    return [_place(buffer, addresses, everyone if where is None else where) for buffer, where in parts]


def _place(buffer: Buffer, addresses: Array, where: Any) -> tuple[Array, Array, Any]:
    if not buffer.is_writable:
        raise Fault(f"atomic operation on {buffer.owner}, which is read-only")
    return buffer.data, addresses[where] - buffer.base, where


def _apply(cells: Array, index: Array, function: Function, arguments: list[Array]) -> Array:
    """Update `cells[index]` and return the old values."""
    _, first, inverse = np.unique(index, return_index=True, return_inverse=True)
    old = cells[index]
    if len(first) == len(index):
        cells[index] = function(old, *arguments)
        return old
    # Rounds: the n-th lane at each address acts in round n.
    order = np.argsort(inverse.reshape(-1), kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(inverse.reshape(-1)[order]) != 0])
    lengths = np.diff(np.r_[starts, len(order)])
    for turn in range(int(lengths.max())):
        lanes = order[starts[lengths > turn] + turn]
        old[lanes] = cells[index[lanes]]
        cells[index[lanes]] = function(old[lanes], *(argument[lanes] for argument in arguments))
    return old


def _sixteen_bit(name: str, type_: str) -> Function:
    """Addition of f16 and bf16, single or packed."""
    element = type_.removesuffix("x2")
    if name != "add":
        raise UnsupportedOperandError("this atomic operation")
    decode, encode = DECODE[element], ENCODE[element]

    def add(old: Array, value: Array) -> Array:
        a, b = (np.ascontiguousarray(x)[..., None].view(np.uint16) for x in (old, value))
        total = encode(decode(a).astype(np.float64) + decode(b).astype(np.float64))
        return np.ascontiguousarray(total).view(old.dtype)[..., 0]

    return add
