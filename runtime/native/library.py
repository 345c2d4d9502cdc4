"""Libraries of programs, loaded into this process, and the threads that they run on."""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

from .compiler import CompilerNotFoundError, build
from .cpu import core_count

_threads: int | None = None
_is_child = False


def get_threads() -> int:
    """The most threads that a program runs on: what was set, else PyTorch's number where it is loaded, else a thread
    for each core."""
    if _threads is not None:
        return _threads
    torch = sys.modules.get("torch")
    return core_count() if torch is None else torch.get_num_threads()


def set_threads(threads: int | None) -> None:
    """Set the most threads that programs run on; None for the default."""
    global _threads
    if threads is not None and threads < 1:
        raise ValueError(f"a program runs on at least 1 thread, not {threads}")
    _threads = threads


def _after_fork() -> None:
    """GCC's OpenMP hangs in the child of a process that has used it: there, a program runs on one thread."""
    global _is_child
    _is_child = True


os.register_at_fork(after_in_child=_after_fork)


class Library:
    """A shared library in this process, whose function `void name(void *const *buffers, int threads)` it runs."""

    def __init__(self, data: bytes, name: str) -> None:
        library = load_library(data)
        # Without `argtypes`, which take as long to look at as all the rest: bytes are passed as a pointer to them.
        self._function = library[name]
        self._function.restype = None
        try:
            pool = ctypes.c_void_p.in_dll(library, "uop_pool")
        except ValueError:
            self._openmp = True
        else:
            self._openmp = False
            pool.value = _pool()

    def run(self, pointers: bytes) -> None:
        """Run it on buffers. pointers: their addresses, one behind the other"""
        self._function(pointers, 1 if _is_child and self._openmp else get_threads())


def load_library(data: bytes) -> ctypes.CDLL:
    """Load a shared library from its bytes."""
    handle, path = tempfile.mkstemp(prefix="uop-", suffix=".so")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        return ctypes.CDLL(path)
    finally:
        os.unlink(path)  # what is loaded stays


@cache
def _pool() -> int | None:
    """The address of `uop_pool_run`, of the threads that the programs of this process share; None where there is no
    compiler, so that programs, which were built elsewhere, run on one thread."""
    text = (Path(__file__).parent / "pool.c").read_text()
    try:
        library = load_library(build(text, name="uop_pool", openmp=False))
    except CompilerNotFoundError:
        return None
    return ctypes.cast(library.uop_pool_run, ctypes.c_void_p).value
