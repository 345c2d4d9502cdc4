"""ldmatrix and mma.sync, with the register layouts of the PTX manual.

Lane l of a warp belongs to group g = l / 4 and has place t = l % 4 in it. A matrix in registers is tiled by
8 x 4 words of 32 bits: word (g, t) of a tile is in one register of lane 4 g + t. For A the tiles go down the
rows first, then along k; for B they go along k, with g counting columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .errors import Fault
from .formats import Array, decode_bf16, decode_f16, encode_f16
from .machine import Machine, Step
from .memory import gather
from .operands import Operands, Reader, UnsupportedOperandError, elements
from .program import Linked
from .spaces import address_reader
from .traffic import INACTIVE, WARP, count_wavefronts

_ROW_BYTES = 16  # of the 8 x 8 matrices of 16-bit elements that ldmatrix loads


def compile_ldmatrix(linked: Linked, operands: Operands) -> Step:
    """ldmatrix: lanes 8 q … 8 q + 7 give the row addresses of matrix q."""
    instruction = linked.instruction
    if not instruction.has("m8n8") or instruction.type != "b16":
        raise UnsupportedOperandError("a shape other than m8n8.b16")
    writers = [operands.writer(element, "b32") for element in elements(linked.operands[0])]
    read_address = address_reader(linked.operands[1], operands)
    transposed = instruction.has("trans")

    def step(machine: Machine) -> None:
        rows = machine.spread(read_address(machine), INACTIVE)
        warps = np.flatnonzero(machine.mask_rows().any(axis=1))
        count = 8 * len(writers)
        addresses = rows[warps, :count]
        _check_rows(machine, addresses, warps)
        lanes = (warps[:, None] * WARP + np.arange(count)).reshape(-1)
        offsets = (addresses + machine.shared_base[lanes].reshape(addresses.shape)).reshape(-1)
        if machine.shadow is not None:
            access = machine.access(as_warp=True)
            order = np.searchsorted(np.flatnonzero(machine.mask_rows().reshape(-1)), lanes)
            machine.shadow.read(offsets, _ROW_BYTES, access.select(order))
        _count(machine, addresses)
        matrices = gather(machine.shared, offsets, _ROW_BYTES).view(np.uint16).reshape(len(warps), -1, 8, 8)
        if transposed:
            matrices = matrices.transpose(0, 1, 3, 2)
        words = np.ascontiguousarray(matrices).view(np.uint32).reshape(len(warps), len(writers), WARP)
        for index, write in enumerate(writers):
            result = np.zeros((machine.lanes // WARP, WARP), np.uint32)
            result[warps] = words[:, index]
            write(machine, result.reshape(-1))

    return step


def _check_rows(machine: Machine, addresses: Array, warps: Array) -> None:
    limit = machine.launch.shared_bytes
    bad = (addresses < 0) | (addresses + _ROW_BYTES > limit)
    kind = "ldmatrix out of bounds of shared memory"
    if not bad.any():
        bad = (addresses & (_ROW_BYTES - 1)) != 0
        kind = "misaligned ldmatrix"
        if not bad.any():
            return
    warp, row = np.argwhere(bad)[0]
    lane = int(warps[warp]) * WARP + int(row)
    position = int(np.count_nonzero(machine.mask_rows().reshape(-1)[:lane]))
    raise Fault(kind, position, f"row address {int(addresses[warp, row])}; the block has {limit} bytes")


def _count(machine: Machine, addresses: Array) -> None:
    """Each matrix is read in a pass of its own."""
    if not machine.launch.count:
        return
    stats = machine.stats[machine.pc]
    stats.requests += len(addresses)
    stats.bytes += addresses.size * _ROW_BYTES
    padded = np.full((len(addresses), addresses.shape[1] // 8, WARP), INACTIVE, np.int64)
    padded[:, :, :8] = addresses.reshape(len(addresses), -1, 8)
    _, wavefronts, ideal = count_wavefronts(padded.reshape(-1, WARP), _ROW_BYTES)
    stats.wavefronts += wavefronts
    stats.ideal_wavefronts += ideal


def _decode_tf32(words: Array) -> Array:
    return (words & np.uint32(0xFFFFE000)).view(np.float32)


_DECODERS: dict[str, tuple[int, Callable[[Array], Array]]] = {
    "f16": (2, lambda words: decode_f16(words.view(np.uint16))),
    "bf16": (2, lambda words: decode_bf16(words.view(np.uint16))),
    "tf32": (1, _decode_tf32),
    "s8": (4, lambda words: words.view(np.int8).astype(np.int32)),
    "u8": (4, lambda words: words.view(np.uint8).astype(np.int32)),
}


def compile_mma(linked: Linked, operands: Operands) -> Step:
    """mma.sync.aligned.m16n8k*.row.col: D (16 x 8) = A (16 x k) B (k x 8) + C.

    Products are exact and added up in f64, then rounded once: within the error of the tensor core, whose own
    order and rounding are not documented. Integers wrap.
    """
    instruction = linked.instruction
    shape = next((m for m in instruction.modifiers if re.fullmatch(r"m16n8k\d+", m)), None)
    d_type, a_type, b_type, c_type = instruction.modifiers[-4:]
    if shape is None or a_type not in _DECODERS or b_type not in _DECODERS:
        raise UnsupportedOperandError("this shape or type of mma")
    per_word, decode_a = _DECODERS[a_type]
    decode_b = _DECODERS[b_type][1]
    depth = int(shape.removeprefix("m16n8k"))
    a_registers, b_registers, c_registers, d_registers = (elements(linked.operands[index]) for index in (1, 2, 3, 0))
    k_tiles = depth // (4 * per_word)
    if len(a_registers) != 2 * k_tiles or len(b_registers) != k_tiles:
        raise UnsupportedOperandError("a number of registers that does not match the shape")
    readers = [[operands.reader(register, "b32") for register in registers] for registers in (a_registers, b_registers)]
    read_c = [operands.reader(register, "b32") for register in c_registers]
    writers = [operands.writer(register, "b32") for register in d_registers]

    def step(machine: Machine) -> None:
        a = _tiles(machine, readers[0], decode_a, per_word)  # (warps, tiles, 8, 4 per_word)
        b = _tiles(machine, readers[1], decode_b, per_word)
        warps = len(a)
        a = a.reshape(warps, k_tiles, 2, 8, -1).transpose(0, 2, 3, 1, 4).reshape(warps, 16, depth)
        b = b.transpose(0, 1, 3, 2).reshape(warps, depth, 8)
        wide = np.int64 if a.dtype.kind == "i" else np.float64
        c = _read_accumulators(machine, read_c, c_type)
        total = np.matmul(a.astype(wide), b.astype(wide)) + c
        _write_accumulators(machine, writers, total, d_type)

    return step


def _words(machine: Machine, readers: list[Reader]) -> Array:
    """Registers as words of shape (warps, registers, 32)."""
    words = np.empty((machine.lanes // WARP, len(readers), WARP), np.uint32)
    for index, read in enumerate(readers):
        words[:, index] = np.broadcast_to(read(machine), (machine.lanes,)).reshape(-1, WARP)
    return words


def _tiles(machine: Machine, readers: list[Reader], decode: Callable[[Array], Array], per_word: int) -> Array:
    """Operand registers as tiles of shape (warps, registers, 8, 4 * per_word)."""
    words = _words(machine, readers)
    return decode(words).reshape(*words.shape[:2], 8, 4 * per_word)


def _read_accumulators(machine: Machine, readers: list[Reader], type_: str) -> Array:
    """C as (warps, 16, 8): registers 0, 1 hold columns 2 t, 2 t + 1 of row g; 2, 3 those of row g + 8."""
    words = _words(machine, readers)
    warps = len(words)
    if type_ == "f16":
        values = decode_f16(words.view(np.uint16)).reshape(warps, 2, 8, 8)
        return values.reshape(warps, 16, 8).astype(np.float64)
    dtype = {"f32": np.float32, "s32": np.int32}.get(type_)
    if dtype is None:
        raise UnsupportedOperandError(f"accumulators of type {type_}")
    values = words.view(dtype).reshape(warps, 2, 2, 8, 4)
    wide = np.float64 if type_ == "f32" else np.int64
    return values.transpose(0, 1, 3, 4, 2).reshape(warps, 16, 8).astype(wide)


def _write_accumulators(machine: Machine, writers: list[Any], values: Array, type_: str) -> None:
    warps = len(values)
    if type_ == "f16":
        halves = np.ascontiguousarray(encode_f16(values)).view(np.uint32).reshape(warps, 2, WARP)
        for index, write in enumerate(writers):
            write(machine, np.ascontiguousarray(halves[:, index]).reshape(-1))
        return
    narrow = values.astype(np.float32) if type_ == "f32" else values.astype(np.int32)
    words = narrow.view(np.uint32).reshape(warps, 2, 8, 4, 2)
    for index, write in enumerate(writers):
        write(machine, np.ascontiguousarray(words[:, index >> 1, :, :, index & 1]).reshape(-1))
