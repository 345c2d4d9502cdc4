"""What compiled: versions of uop and of the packages that it compiles with, as parts of keys."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .store import listing

_FOLDERS = ("dialects", "rewriting", "passes", "targets", "frontends", "runtime", "tools")
_ROOT = Path(__file__).parents[2]
_IMPORTED = time.time()


@cache
def uop_version() -> str:
    """The version of uop, and a digest over names, sizes and times of its files: an editable install changes without
    a new version. It takes some milliseconds, once a process.

    Where a file has changed since this process began, which may have read it before, no other process has this version.
    """
    stats: list[str] = []
    newest = 0.0
    left = [os.path.join(_ROOT, folder) for folder in _FOLDERS]
    while left:
        for entry in listing(left.pop()):
            if entry.name.endswith(".py"):
                stat = entry.stat()
                stats.append(_identity(entry.path, stat))
                newest = max(newest, stat.st_mtime)
            elif entry.name != "__pycache__" and entry.is_dir():
                left.append(entry.path)
    if newest >= _process_start():
        stats.append(f"process {os.getpid()} at {time.time_ns()}")
    return f"{package_version('uop')} {hashlib.sha256(chr(10).join(stats).encode()).hexdigest()[:16]}"


def _process_start() -> float:
    """When this process began, in seconds since 1970, or a little earlier; where the system does not tell, when this
    file was imported."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        age = time.clock_gettime(time.CLOCK_BOOTTIME) - int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError, IndexError):
        return _IMPORTED
    return time.time() - age - 0.02  # the start is told in ticks of 10 ms


def file_identity(path: str) -> str:
    """A file as it is now: its path, size in bytes and time of change in nanoseconds."""
    return _identity(path, os.stat(path))


def _identity(path: str, stat: os.stat_result) -> str:
    return f"{path} {stat.st_size} {stat.st_mtime_ns}"


@cache
def package_version(name: str) -> str:
    """The version of an installed package; `none` where it is not installed."""
    module = sys.modules.get(name)
    if isinstance(told := getattr(module, "__version__", None), str):
        return told  # to look it up takes a millisecond
    try:
        return version(name)
    except PackageNotFoundError:
        return "none"
