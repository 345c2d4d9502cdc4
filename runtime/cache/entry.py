"""The format of an entry: one file that proves itself.

`uop-cache 1\\n`, the SHA-256 of all that follows, the header's length (8 bytes, little-endian), the header in JSON
(the key's parts, and names and sizes of the files), and the files' bytes. There is nothing in it that is executed when
it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .key import Key

MAGIC = b"uop-cache 1\n"
_CHECKSUM_END = len(MAGIC) + hashlib.sha256().digest_size
_HEADER_START = _CHECKSUM_END + 8


class EntryError(Exception):
    """The bytes are no entry, or not all of one."""


@dataclass(frozen=True)
class Entry:
    """A result: its key, and its files by name."""

    key: Key
    files: Mapping[str, bytes]


def encode(entry: Entry) -> bytes:
    """The entry's bytes."""
    sizes = [[name, len(data)] for name, data in entry.files.items()]
    header = json.dumps({"parts": dict(entry.key.parts), "files": sizes}).encode()
    body = b"".join((len(header).to_bytes(8, "little"), header, *entry.files.values()))
    return MAGIC + hashlib.sha256(body).digest() + body


def decode(data: bytes) -> Entry:
    """The entry that `encode` wrote. Raises `EntryError` where a bit of it is another."""
    if data[: len(MAGIC)] != MAGIC:
        raise EntryError("it does not begin as an entry of this version does")
    body = memoryview(data)[_CHECKSUM_END:]
    if hashlib.sha256(body).digest() != data[len(MAGIC) : _CHECKSUM_END]:
        raise EntryError("its checksum is another")
    try:
        header, start = _header(data)
        files: dict[str, bytes] = {}
        for name, size in header["files"]:
            files[name] = data[start : start + size]
            start += size
        key = Key(header["parts"])
    except (KeyError, TypeError, ValueError) as error:
        raise EntryError("its header is another") from error
    if start != len(data):
        raise EntryError("its length is another")
    return Entry(key, files)


def decode_key(data: bytes) -> Key:
    """The key of an entry, from its first bytes or all of them, unchecked: for listings. Raises `EntryError`."""
    try:
        return Key(_header(data)[0]["parts"])
    except (KeyError, ValueError) as error:
        raise EntryError("it has no header") from error


def header_bytes(start: bytes) -> int:
    """How many bytes of an entry `decode_key` needs, from its first `FIRST_BYTES`."""
    return _HEADER_START + int.from_bytes(start[_CHECKSUM_END:_HEADER_START], "little")


FIRST_BYTES = _HEADER_START


def _header(data: bytes) -> tuple[dict[str, Any], int]:
    """The header, and where the files begin."""
    end = header_bytes(data)
    return json.loads(data[_HEADER_START:end]), end
