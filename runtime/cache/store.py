"""A folder of entries that many processes share.

An entry is written under a name of its own and then renamed, so that no reader sees half of one, whenever its writer is
killed. What is read is checked; an entry that is damaged is removed, and is as if it had never been there. Whatever the
disk refuses costs only time: a cache that cannot be written or read does nothing, and says so once.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .entry import FIRST_BYTES, Entry, EntryError, decode, decode_key, encode, header_bytes
from .key import Key

SUFFIX = ".entry"
TEMPORARY = ".tmp"

ABANDONED_SECONDS = 3600.0
"""After so long a temporary file has no writer any more."""

ROOM = 0.9
"""Where entries are evicted, as far as this part of the limit, so that not each new entry evicts one."""

PUTS_BETWEEN_SCANS = 64
"""How many entries a process writes before it looks at what others have written."""


class CacheWarning(UserWarning):
    """The cache cannot be used, and why."""


@dataclass(frozen=True)
class Stored:
    """An entry on disk: its digest, its size in bytes, and when it was last used, in seconds since 1970."""

    path: Path
    size: int
    used: float

    @property
    def digest(self) -> str:
        return self.path.name.removesuffix(SUFFIX)

    def key(self) -> Key:
        """Its key, read from its header alone. Raises `OSError` and `EntryError`."""
        with open(self.path, "rb") as file:
            start = file.read(FIRST_BYTES)
            return decode_key(start + file.read(max(0, min(header_bytes(start), self.size) - FIRST_BYTES)))


class Cache:
    """The entries in a folder.

    limit: bytes that they may take; the least recently used go first
    """

    def __init__(self, folder: Path, limit: int) -> None:
        self.folder = folder
        self.limit = limit
        self._size: int | None = None
        """What the entries take, as far as this process knows; None before it has looked."""
        self._puts = 0
        self._told = False

    def get(self, key: Key) -> Mapping[str, bytes] | None:
        """The files stored under the key; None where there are none, or they are damaged."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._tell("read", error)
            return None
        try:
            entry = decode(data)
        except EntryError:
            _remove(path)
            return None
        if entry.key.digest != key.digest:  # someone has renamed it
            _remove(path)
            return None
        try:
            os.utime(path)
        except OSError:
            pass  # evicted meanwhile, or not ours: it is good all the same
        return entry.files

    def put(self, key: Key, files: Mapping[str, bytes]) -> bool:
        """Store files under a key; False, and a warning, where the disk does not take them."""
        data = encode(Entry(key, files))
        if len(data) > self.limit:
            return False
        path = self._path(key)
        temporary = path.with_name(f"{key.digest}.{os.urandom(8).hex()}{TEMPORARY}")
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            try:
                _write(temporary, data)
                _rename(temporary, path)
            except BaseException:
                _remove(temporary)
                raise
            self._make_room(len(data))
        except OSError as error:
            self._tell("written", error)
            return False
        return True

    def remove(self, key: Key) -> None:
        """Forget an entry: what was in it did not work."""
        _remove(self._path(key))

    def entries(self) -> list[Stored]:
        """All entries, those used last first."""
        return sorted(self._scan(SUFFIX), key=lambda stored: (-stored.used, stored.digest))

    def find(self, prefix: str) -> list[Stored]:
        """The entries whose digests begin so."""
        return [stored for stored in self.entries() if stored.digest.startswith(prefix)]

    def clear(self) -> tuple[int, int]:
        """Remove all entries; their number and bytes."""
        removed = [stored for stored in self.entries() if _remove(stored.path)]
        for stored in self._scan(TEMPORARY):
            _remove(stored.path)
        self._size = None
        return len(removed), sum(stored.size for stored in removed)

    def _path(self, key: Key) -> Path:
        # Folders of thousands of files are slow to list.
        return self.folder / key.digest[:2] / f"{key.digest}{SUFFIX}"

    def _make_room(self, written: int) -> None:
        """Evict where `written` bytes more are too many."""
        self._puts += 1
        if self._size is None or self._puts % PUTS_BETWEEN_SCANS == 0:
            self._size = sum(stored.size for stored in self._scan(SUFFIX))
            for stored in self._scan(TEMPORARY):
                if time.time() - stored.used > ABANDONED_SECONDS:
                    _remove(stored.path)
        else:
            self._size += written
        if self._size <= self.limit:
            return
        entries = self.entries()
        self._size = sum(stored.size for stored in entries)
        while entries and self._size > ROOM * self.limit:
            oldest = entries.pop()
            _remove(oldest.path)
            self._size -= oldest.size

    def _scan(self, suffix: str) -> Iterator[Stored]:
        for folder in listing(self.folder):
            if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                for file in listing(folder.path):
                    if file.name.endswith(suffix):
                        try:
                            stat = file.stat(follow_symlinks=False)
                        except FileNotFoundError:
                            continue  # evicted by another process
                        yield Stored(Path(file.path), stat.st_size, stat.st_mtime)

    def _tell(self, what: str, error: OSError) -> None:
        if not self._told:
            self._told = True
            warnings.warn(
                f"uop: the cache {self.folder} cannot be {what}: {error.strerror or error}. It is compiled anew; "
                "UOP_CACHE_DIR names another folder, and UOP_CACHE=0 turns the cache off",
                CacheWarning,
                stacklevel=2,
            )


def _write(path: Path, data: bytes) -> None:
    """Write a new file, to the disk: after a loss of power the name that it gets must not stand for half of it."""
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _rename(temporary: Path, path: Path) -> None:
    try:
        os.replace(temporary, path)
    except FileNotFoundError:
        pass  # another process has cleared the cache meanwhile


def _remove(path: Path) -> bool:
    """Remove a file; False where that cannot be done, or another process has."""
    try:
        os.unlink(path)
    except OSError:
        return False
    return True


def listing(folder: os.PathLike[str] | str) -> list[os.DirEntry[str]]:
    """What is in a folder, in order of name; nothing where there is none."""
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except OSError:
        return []
