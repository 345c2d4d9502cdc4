"""GPUs that programs are loaded on: their contexts, and the streams that kernels are put on."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache, cached_property

from ..nvrtc import version
from .driver import NON_BLOCKING, Driver, Function, Stream, load_driver
from .errors import GpuUnavailableError, LaunchError
from .images import image_arch
from .torch_gpus import PyTorch, TorchGpus

BLOCKING = "CUDA_LAUNCH_BLOCKING"
"""CUDA's environment variable for debugging: each launch is waited for, so that errors are told where they happen."""


class Gpu:
    """One GPU. Its context is the one of PyTorch, the primary context, retained for the life of the process."""

    def __init__(self, driver: Driver, torch: TorchGpus, index: int) -> None:
        """Raises `GpuUnavailableError` for one that kernels cannot run on."""
        self.driver = driver
        self.torch = torch
        self.index = index
        self.arch = image_arch(torch.capability(index), str(self))
        try:
            self._context = driver.Device(index).retain_primary_context()
        except driver.Error as error:
            raise GpuUnavailableError(f"{self} gives no context: {error}") from error
        self._streams: dict[int, Stream] = {}
        self._lock = threading.Lock()

    def __str__(self) -> str:
        return f"cuda:{self.index} ({self._name})"

    @cached_property
    def _name(self) -> str:
        return self.torch.name(self.index)

    @contextmanager
    def current(self) -> Generator[None]:
        """The context is current in this thread."""
        self._context.push()
        try:
            yield
        finally:
            self._context.pop()

    def synchronize(self) -> None:
        """Wait for all that is under way. Raises `driver.Error` for what failed."""
        self._context.synchronize()

    @contextmanager
    def stream(self) -> Generator[Stream | None]:
        """Makes the context current, and gives a stream for launches that come behind what PyTorch's current stream
        holds, and before what it is given afterwards; None for the default stream. Raises `LaunchError`.

        pycuda launches on no stream but the default one and those that it made, so each other stream of PyTorch has one
        beside it, and events put them in order; in a graph that PyTorch records, launches there are recorded too.
        """
        theirs = self.torch.stream(self.index)
        with self.current():
            if theirs == 0:
                yield None
                return
            ours = self._beside(theirs)
            self.torch.order(theirs, ours.handle, self.index)
            yield ours
            self.torch.order(ours.handle, theirs, self.index)

    def _beside(self, theirs: int) -> Stream:
        with self._lock:
            if theirs not in self._streams:
                try:
                    self._streams[theirs] = self.driver.Stream(NON_BLOCKING)
                except self.driver.Error as error:
                    raise LaunchError(f"there is no stream to launch on, on {self}: {error}") from error
            return self._streams[theirs]

    def close(self) -> None:
        """Give the context back."""
        self._context.detach()

    def load(self, image: bytes, entry: str) -> Function:
        """The function of that name, from an image. The context must be current. Raises `LaunchError`."""
        if self.torch.is_capturing():
            raise LaunchError(
                f"kernel @{entry} cannot be loaded on {self} while a CUDA graph is recorded: "
                "run the program once before that"
            )
        try:
            return self.driver.module_from_buffer(image).get_function(entry)
        except self.driver.Error as error:
            raise LaunchError(f"kernel @{entry} cannot be loaded on {self}: {error}{self._advice()}") from error

    def _advice(self) -> str:
        """What may be the matter where an image is not taken."""
        newest, nvrtc = self.driver.get_driver_version() // 1000, version()
        if newest >= nvrtc[0]:
            return ""
        return (
            f"\nNVIDIA's driver is one for CUDA {newest}, NVRTC is {nvrtc[0]}.{nvrtc[1]}: install a newer driver, or "
            "PTX and cubins of an older NVRTC"
        )


class Gpus:
    """All GPUs, each opened when it is first asked for."""

    def __init__(self, driver: Driver, torch: TorchGpus) -> None:
        self.driver = driver
        self.torch = torch
        self._opened: dict[int, Gpu] = {}
        self._lock = threading.Lock()

    def open(self, index: int) -> Gpu:
        """Raises `GpuUnavailableError`."""
        with self._lock:
            if index not in self._opened:
                self._opened[index] = Gpu(self.driver, self.torch, index)
            return self._opened[index]

    def close(self) -> None:
        """Give all contexts back."""
        with self._lock:
            for gpu in self._opened.values():
                gpu.close()
            self._opened.clear()


def is_blocking() -> bool:
    """Whether the user asks for each launch to be waited for."""
    return os.environ.get(BLOCKING, "0") not in ("", "0")


@cache
def all_gpus() -> Gpus:
    """The GPUs of this machine. Raises `GpuUnavailableError`."""
    torch = PyTorch()
    if not torch.count():
        raise GpuUnavailableError(
            "PyTorch sees no GPU: is it built for CUDA (torch.version.cuda), and is there one that CUDA_VISIBLE_DEVICES"
            " does not hide? Without one, choose another device"
        )
    gpus = Gpus(load_driver(), torch)
    # What pycuda itself does with a primary context that is left over at the end fails, and it says so.
    atexit.register(gpus.close)
    return gpus
