"""The part of `pycuda.driver` that programs are launched with.

pycuda has no types: these protocols say what of it is called, with its own names, and are what a stand-in implements.
"""

from __future__ import annotations

import importlib
from typing import Any, Protocol, cast

from .errors import GpuUnavailableError

INSTALL_HINT = "pip install 'uop[gpu]'; it is built from source, which takes the CUDA toolkit: see docs/gpu.md"

NON_BLOCKING = 1
"""CU_STREAM_NON_BLOCKING: the stream does not wait for the default stream, nor that for it."""


class Stream(Protocol):
    """A stream that pycuda made. handle: the `CUstream`."""

    @property
    def handle(self) -> int: ...


class Function(Protocol):
    """A kernel of a module."""

    def prepare(self, arg_types: str) -> object:
        """Say what it takes: `P`, a pointer, for each argument."""
        ...

    def prepared_async_call(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        stream: Stream | None,
        *args: int,
        shared_size: int = 0,
    ) -> None:
        """Launch it; None is the default stream. shared_size: bytes of dynamic shared memory"""
        ...

    def get_attribute(self, attribute: object) -> int:
        """A value of `Driver.function_attribute`."""
        ...

    def set_attribute(self, attribute: object, value: int) -> None: ...


class Module(Protocol):
    """A loaded image."""

    def get_function(self, name: str) -> Function: ...


class Context(Protocol):
    """A context. pycuda keeps a stack of those that are current of its own, so they are pushed even where PyTorch has
    made the same one current."""

    def push(self) -> None: ...

    def pop(self) -> None: ...

    def synchronize(self) -> None: ...

    def detach(self) -> None:
        """Give it back; it is of no use any more."""
        ...


class Device(Protocol):
    """A GPU."""

    def retain_primary_context(self) -> Context: ...


class FunctionAttributes(Protocol):
    """What a function can be asked for, and told."""

    @property
    def MAX_THREADS_PER_BLOCK(self) -> object: ...

    @property
    def NUM_REGS(self) -> object: ...

    @property
    def SHARED_SIZE_BYTES(self) -> object: ...

    @property
    def MAX_DYNAMIC_SHARED_SIZE_BYTES(self) -> object: ...


class Driver(Protocol):
    """The module `pycuda.driver`. Error: the base class of what it raises."""

    @property
    def Error(self) -> type[Exception]: ...

    @property
    def function_attribute(self) -> FunctionAttributes: ...

    def init(self) -> None: ...

    def Device(self, number: int) -> Device: ...

    def Stream(self, flags: int) -> Stream: ...

    def module_from_buffer(self, buffer: bytes) -> Module:
        """Load a cubin or PTX into the current context."""
        ...

    def get_driver_version(self) -> int:
        """The newest CUDA that the driver knows: 13000 for 13.0."""
        ...


def load_driver() -> Driver:
    """pycuda's driver API, initialised. Raises `GpuUnavailableError`."""
    try:
        driver: Any = importlib.import_module("pycuda.driver")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "pycuda":
            raise
        raise GpuUnavailableError(f"pycuda, which launches kernels, is not installed: {INSTALL_HINT}") from error
    except ImportError as error:  # libcuda.so.1 is NVIDIA's driver
        raise GpuUnavailableError(f"pycuda cannot be loaded, is NVIDIA's driver installed? {error}") from error
    try:
        driver.init()
    except driver.Error as error:
        raise GpuUnavailableError(f"NVIDIA's driver finds no GPU: {error}") from error
    return cast("Driver", driver)
