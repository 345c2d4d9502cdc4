"""What the environment says about the cache."""

from __future__ import annotations

import os
import re
import warnings
from functools import lru_cache
from pathlib import Path

from .store import Cache, CacheWarning

SWITCH, FOLDER, SIZE = "UOP_CACHE", "UOP_CACHE_DIR", "UOP_CACHE_SIZE"

DEFAULT_SIZE = 2 << 30
"""Bytes."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def default_folder() -> Path:
    """`$UOP_CACHE_DIR`, else `$XDG_CACHE_HOME/uop`, else `~/.cache/uop`."""
    if named := os.environ.get(FOLDER):
        return Path(named).expanduser().absolute()
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser().absolute() / "uop"


def default_cache() -> Cache | None:
    """The user's cache; None where `UOP_CACHE=0` turns it off."""
    if os.environ.get(SWITCH, "1").lower() in ("0", "false", "off", "no"):
        return None
    return cache_at(default_folder())


def cache_at(folder: Path) -> Cache:
    """The cache in a folder, of the size that `UOP_CACHE_SIZE` says."""
    return _cache_at(folder, os.environ.get(SIZE, ""))


@lru_cache(maxsize=16)  # one object for each folder, so that what cannot be written is told once
def _cache_at(folder: Path, size: str) -> Cache:
    return Cache(folder, _bytes(size))


def _bytes(text: str) -> int:
    """`500M`, `2 GiB` or a number of bytes; the default for nothing, and with a warning for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", text, re.IGNORECASE)
    if match:
        return int(float(match[1]) * _UNITS[match[2].lower()])
    if text.strip():
        message = f"uop: {SIZE}={text!r} is no size such as 500M or 2GiB: the cache may take {DEFAULT_SIZE >> 30} GiB"
        warnings.warn(message, CacheWarning, stacklevel=2)
    return DEFAULT_SIZE
