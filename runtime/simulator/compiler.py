"""From a linked program to steps: one Python closure per instruction, with its operands resolved."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from . import control, data_access, warp
from .arithmetic import Operation, arithmetic
from .formats import storage_dtype, view_dtype
from .machine import Code, Control, Machine, Step
from .operands import Operands, Reader, UnsupportedOperandError, Writer, unsupported
from .program import Linked, LinkedPair, LinkedVector, Program, Slot, link
from .ptx import Instruction
from .shadow import MAX_INSTRUCTIONS


@lru_cache(maxsize=256)
def compile_kernel(ptx: str, kernel: str | None) -> Code:
    """Parse, link and compile one kernel of a PTX module."""
    program = link(ptx, kernel)
    if len(program.instructions) >= MAX_INSTRUCTIONS:
        raise ValueError(f"kernel {program.name} has {len(program.instructions)} instructions, too many to simulate")
    operands = Operands(program)
    steps: list[Step | None] = []
    controls: dict[int, Control] = {}
    joins = [False] * (len(program.instructions) + 1)
    for index, linked in enumerate(program.instructions):
        try:
            step, decide = _compile(linked, operands, program)
        except (UnsupportedOperandError, KeyError, ValueError) as error:
            raise unsupported(linked, str(error).strip("'")) from error
        steps.append(step)
        if decide is not None:
            controls[index] = decide
            joins[index + 1] = True
            joins[index] |= linked.instruction.name not in ("bra", "brx", "ret", "exit")
        for target in linked.targets:
            joins[target] = True
    # Falling off the end of the body is a return.
    steps.append(None)
    controls[len(steps) - 1] = control.exit_control(None)
    widths = [width for linked in program.instructions if (width := data_access.shared_width(linked))]
    stores = [width for linked in program.instructions if (width := data_access.store_width(linked))]
    end = Instruction("ret", 0, 0, None, "ret", (), ())
    return Code(
        program,
        [*(linked.instruction for linked in program.instructions), end],
        operands.types,
        operands.constants,
        program.specials,
        steps,
        controls,
        [*joins, True],
        min([16, *widths]),
        min([16, *stores]),
        any(linked.instruction.name in ("atom", "red", "membar", "fence") for linked in program.instructions),
        any(i.instruction.name == "bar" and i.instruction.has("warp") for i in program.instructions),
        -(-program.local_bytes // 16) * 16,
        program.shared_bytes,
    )


def _compile(linked: Linked, operands: Operands, program: Program) -> tuple[Step | None, Control | None]:
    """The step of an instruction, or what decides where control goes after it."""
    decide = control.compile_control(linked, operands) or warp.compile_warp(linked, operands)
    if decide is not None:
        return None, decide
    step = (
        data_access.compile_access(linked, operands)
        or _compile_move(linked, operands)
        or _compile_arithmetic(linked, operands, program)
    )
    if step is None:
        raise unsupported(linked)
    return (step if linked.guard is None else guarded(step, *linked.guard)), None


def guarded(step: Step, predicate: Slot, negated: bool) -> Step:
    """The step under a predicate."""
    index = predicate.index

    def run(machine: Machine) -> None:
        on = machine.registers[index]
        if negated:
            on = ~on
        if np.ndim(on) == 0:
            if on:
                step(machine)
            return
        mask, write_mask = machine.mask, machine.write_mask
        inner = on if mask is None else on & mask
        if not inner.any():
            return
        if mask is None and inner.all():
            step(machine)
            return
        machine.mask = machine.write_mask = inner
        step(machine)
        machine.mask, machine.write_mask = mask, write_mask

    return run


_NOTHING = frozenset(
    [
        "membar",
        "fence",
        "nanosleep",
        "prefetch",
        "prefetchu",
        "griddepcontrol",
        "setmaxnreg",
        "discard",
        "applypriority",
    ]
)


def _compile_move(linked: Linked, operands: Operands) -> Step | None:
    """mov, also to and from vectors; pseudo moves of parameters; instructions that do nothing here."""
    instruction = linked.instruction
    name, type_ = instruction.name, instruction.type
    if name in _NOTHING:
        return lambda machine: None
    if name in ("ld", "st") and instruction.has("param"):
        destination, source = linked.operands
        return _move(operands.reader(source, type_), operands.writer(destination, type_))
    if name != "mov":
        return None
    destination, source = linked.operands
    if isinstance(source, LinkedVector):
        return _pack(linked, source, operands)
    if isinstance(destination, LinkedVector):
        return _unpack(linked, destination, operands)
    return _move(operands.reader(source, type_), operands.writer(destination, type_))


def _move(read: Reader, write: Writer) -> Step:
    return lambda machine: write(machine, read(machine))


def _pack(linked: Linked, source: LinkedVector, operands: Operands) -> Step:
    """mov.b32 d, {a, b}: the first element in the lowest bits."""
    type_ = linked.instruction.type
    total = storage_dtype(type_)
    part_bits = total.itemsize * 8 // len(source.elements)
    readers = [operands.reader(element, f"b{part_bits}") for element in source.elements]
    write = operands.writer(linked.operands[0], type_)

    def step(machine: Machine) -> None:
        value = readers[0](machine).astype(total)
        for index, read in enumerate(readers[1:], 1):
            value = value | (read(machine).astype(total) << total.type(part_bits * index))
        write(machine, value)

    return step


def _unpack(linked: Linked, destination: LinkedVector, operands: Operands) -> Step:
    """mov.b32 {a, b}, s."""
    type_ = linked.instruction.type
    total = storage_dtype(type_)
    part_bits = total.itemsize * 8 // len(destination.elements)
    part = storage_dtype(f"b{part_bits}")
    read = operands.reader(linked.operands[1], type_)
    writers = [operands.writer(element, f"b{part_bits}") for element in destination.elements]

    def step(machine: Machine) -> None:
        value = read(machine)
        for index, write in enumerate(writers):
            write(machine, (value >> total.type(part_bits * index)).astype(part))

    return step


def _compile_arithmetic(linked: Linked, operands: Operands, program: Program) -> Step | None:
    operation = arithmetic(linked.instruction)
    if operation is None:
        return None
    destination, *sources = linked.operands
    if isinstance(destination, LinkedPair):
        destinations = [destination.first, destination.second]
    else:
        destinations = [destination]
    types = operation.results
    if operation.writes_carry:
        destinations, types = [*destinations, program.carry], (*types, "pred")
    readers = [operands.reader(source, type_) for source, type_ in zip(sources, operation.sources, strict=False)]
    if len(readers) < len(operation.sources):
        return None
    if operation.reads_carry:
        readers.append(operands.reader(program.carry, "pred"))
    writers = [operands.writer(target, type_) for target, type_ in zip(destinations, types, strict=True)]
    return _computation(operation, readers, writers, [view_dtype(type_) for type_ in types])


def _computation(
    operation: Operation, readers: list[Reader], writers: list[Writer], dtypes: list[np.dtype[Any]]
) -> Step:
    function: Callable[..., Any] = operation.function
    if len(writers) > 1:

        def step_several(machine: Machine) -> None:
            results = function(*[read(machine) for read in readers])
            for write, result in zip(writers, results, strict=True):
                write(machine, result)

        return step_several
    write, dtype = writers[0], dtypes[0]

    def step(machine: Machine) -> None:
        result = function(*[read(machine) for read in readers])
        if result.dtype != dtype:
            result = _expect(result, dtype)
        write(machine, result)

    return step


def _expect(result: Any, dtype: np.dtype[Any]) -> Any:
    """Results are in the operation's type, or are the bits of it."""
    if result.dtype.itemsize != dtype.itemsize:
        raise AssertionError(f"an operation returned {result.dtype} instead of {dtype}")
    return result
