"""What a cubin says about its kernels.

The ELF attributes are not documented by NVIDIA; those read here are the ones that `cuobjdump -res-usage` shows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from .nvrtc import Resources

# Attributes of the section .nv.info: each has the index of the kernel's symbol and a value.
_REGISTER_COUNT, _FRAME_SIZE, _MIN_STACK_SIZE = 0x2F, 0x11, 0x12
_INDEXED_ATTRIBUTE = 4  # the format of attributes that carry a size and data
_SYMBOL_TABLE = 2
_SYMBOL_BYTES = 24


def kernel_resources(cubin: bytes) -> dict[str, Resources]:
    """Registers, static shared memory and stack of each kernel. An ELF does not tell spills: they are 0 here.

    From sm_90 on, shared memory includes the 1024 bytes that the system reserves.
    Raises ValueError if the bytes are not a cubin.
    """
    if cubin[:4] != b"\x7fELF" or len(cubin) < 64:
        raise ValueError("not a cubin: it does not start like an ELF file")
    sections = list(_sections(cubin))
    symbols = next((section for section in sections if section.kind == _SYMBOL_TABLE), None)
    if symbols is None:
        raise ValueError("not a cubin: it has no symbols")
    names = sections[symbols.link]
    values: dict[str, dict[int, int]] = {}
    for section in sections:
        if section.name == ".nv.info":
            for attribute, symbol, value in _attributes(cubin, section):
                at = symbols.offset + _SYMBOL_BYTES * symbol
                name = _string(cubin, names.offset + struct.unpack_from("<I", cubin, at)[0])
                values.setdefault(name, {})[attribute] = value
    shared = {
        section.name.removeprefix(".nv.shared."): section.size for section in sections if "shared" in section.name
    }
    code = {section.name.removeprefix(".text.") for section in sections if section.name.startswith(".text.")}
    return {
        name: Resources(
            registers=found[_REGISTER_COUNT],
            shared_bytes=shared.get(name, 0),
            spill_store_bytes=0,
            spill_load_bytes=0,
            stack_bytes=max(found.get(_FRAME_SIZE, 0), found.get(_MIN_STACK_SIZE, 0)),
        )
        for name, found in values.items()
        if name in code and _REGISTER_COUNT in found
    }


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    offset: int
    size: int
    link: int


def _sections(cubin: bytes) -> Iterator[_Section]:
    """The section headers of a 64-bit little-endian ELF file."""
    (table,) = struct.unpack_from("<Q", cubin, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + index * entry_size) for index in range(count)]
    names = headers[names_index][4]
    for header in headers:
        yield _Section(_string(cubin, names + header[0]), header[1], header[4], header[5], header[6])


def _attributes(cubin: bytes, section: _Section) -> Iterator[tuple[int, int, int]]:
    """(attribute, symbol, value) of the attributes that have these."""
    position, end = section.offset, section.offset + section.size
    while position < end:
        kind, attribute, size = struct.unpack_from("<BBH", cubin, position)
        position += 4
        if kind == _INDEXED_ATTRIBUTE:
            if size == 8:
                symbol, value = struct.unpack_from("<II", cubin, position)
                yield attribute, symbol, value
            position += size


def _string(data: bytes, offset: int) -> str:
    return data[offset : data.index(0, offset)].decode()
