"""Reading and writing registers in the types of an instruction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from .errors import UnsupportedPtxError
from .formats import SIGNED, bits_of, is_signed, storage_dtype, view_dtype
from .machine import Machine
from .program import (
    Linked,
    LinkedAddress,
    LinkedNot,
    LinkedOperand,
    LinkedVector,
    Parameter,
    Program,
    Slot,
)
from .ptx import Immediate

Reader: TypeAlias = Callable[[Machine], Any]
Writer: TypeAlias = Callable[[Machine, Any], None]


class UnsupportedOperandError(Exception):
    """An operand that an instruction cannot have; the compiler says where."""


class Operands:
    """Makes readers and writers for the registers of a program, and keeps its constants."""

    def __init__(self, program: Program):
        self.types = list(program.register_types)
        self.constants: list[tuple[int, Any]] = []
        self._indices: dict[tuple[int, int], int] = {}

    def constant(self, immediate: Immediate, type_: str) -> int:
        """A register that holds a literal of the given type."""
        bits = bits_of(type_)
        value = immediate.value & (1 << bits) - 1
        if immediate.float_bits == 64 and bits == 32:
            value = int(np.uint64(immediate.value).view(np.float64).astype(np.float32).view(np.uint32))
        key = (value, bits)
        if key not in self._indices:
            self._indices[key] = len(self.types)
            self.types.append("pred" if bits == 1 else f"b{bits}")
            self.constants.append((self._indices[key], storage_dtype(type_).type(value)))
        return self._indices[key]

    def reader(self, operand: LinkedOperand, type_: str) -> Reader:
        """Reads an operand as `type_`; a wider register is truncated."""
        match operand:
            case Immediate():
                index, stored = self.constant(operand, type_), storage_dtype(type_)
            case Slot(index, register_type):
                stored = storage_dtype(register_type)
            case LinkedNot(Slot(index, _)):
                return lambda machine: ~machine.registers[index]
            case LinkedAddress(Parameter(offset), more):
                return _parameter_reader(offset + more, type_)
            case _:
                raise UnsupportedOperandError(f"operand {operand}")
        wanted, bits = view_dtype(type_), storage_dtype(type_)
        if stored == wanted:
            return lambda machine: machine.registers[index]
        if stored.itemsize == wanted.itemsize:
            return lambda machine: machine.registers[index].view(wanted)
        if stored.itemsize < wanted.itemsize:
            raise UnsupportedOperandError(f"register of {stored.itemsize} bytes read as {type_}")
        return lambda machine: machine.registers[index].astype(bits).view(wanted)

    def writer(self, operand: LinkedOperand, type_: str) -> Writer:
        """Writes a `type_` value for all lanes; a wider register is extended by the type's sign."""
        return _writer(operand, type_, Machine.write)

    def active_writer(self, operand: LinkedOperand, type_: str) -> Writer:
        """Like `writer`, for arrays over the active lanes."""
        return _writer(operand, type_, Machine.write_active)


def _writer(operand: LinkedOperand, type_: str, write: Callable[[Machine, int, Any], None]) -> Writer:
    """write: sets the register of this number"""
    if operand is None:
        return lambda machine, value: None
    if not isinstance(operand, Slot):
        raise UnsupportedOperandError(f"destination {operand}")
    index, convert = operand.index, extension(operand, type_)
    if convert is None:
        stored = storage_dtype(operand.type)
        return lambda machine, value: write(machine, index, value.view(stored))
    return lambda machine, value: write(machine, index, convert(value))


def extension(slot: Slot, type_: str) -> Callable[[Any], Any] | None:
    """How a value of `type_` becomes the bits of a register; None if it is just viewed."""
    stored, bits = storage_dtype(slot.type), storage_dtype(type_)
    if stored == bits:
        return None
    if stored.itemsize < bits.itemsize or slot.type == "pred" or type_ == "pred":
        raise UnsupportedOperandError(f"{type_} written to a register of type {slot.type}")
    if is_signed(type_):
        narrow, wide = SIGNED[bits_of(type_)], SIGNED[bits_of(slot.type)]
        return lambda value: value.view(narrow).astype(wide).view(stored)
    return lambda value: value.view(bits).astype(stored)


def elements(operand: LinkedOperand) -> tuple[LinkedOperand, ...]:
    """The operands in braces, or the single one."""
    return operand.elements if isinstance(operand, LinkedVector) else (operand,)


def _parameter_reader(offset: int, type_: str) -> Reader:
    dtype = storage_dtype(type_)

    def read(machine: Machine) -> Any:
        return np.frombuffer(machine.parameters, dtype, count=1, offset=offset)[0]

    return read


def unsupported(linked: Linked, why: str = "") -> UnsupportedPtxError:
    """The error for an instruction that is not executed."""
    instruction = linked.instruction
    line = f"CUDA line {instruction.line}: " if instruction.line else ""
    reason = f" ({why})" if why else ""
    return UnsupportedPtxError(f"{line}the simulator does not execute the PTX instruction `{instruction.text}`{reason}")
