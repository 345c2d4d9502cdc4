"""Kernels on a GPU: loaded, launched, and what their errors say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..artifact.artifact import Artifact
from ..artifact.plan import Kernel, Plan
from ..nvrtc import compile_cuda
from .driver import Function, Stream
from .errors import LaunchError
from .gpus import Gpu
from .images import number_of


@dataclass(frozen=True)
class LoadedKernel:
    """A kernel on a GPU.

    registers, shared_bytes: what it takes there, of a thread and of a block. sources: the user's lines, `model.py:7`
    """

    name: str
    kernel: Kernel
    gpu: Gpu
    function: Function
    registers: int
    shared_bytes: int
    sources: Sequence[str]

    def __str__(self) -> str:
        grid = "×".join(map(str, self.kernel.grid))
        return (
            f"kernel @{self.name} (grid {grid}, {self.kernel.threads} threads, {_bytes(self.shared_bytes)} shared, "
            f"{self.registers} registers)"
        )

    def launch(self, pointers: Sequence[int], stream: Stream | None, *, blocking: bool) -> None:
        """Put it on the stream. pointers: of its buffers. blocking: wait until it is done

        The GPU's context must be current. Raises `LaunchError`, without `blocking` also for what went wrong before.
        """
        try:
            block, shared = (self.kernel.threads, 1, 1), self.kernel.dynamic_shared_bytes
            self.function.prepared_async_call(self.kernel.grid, block, stream, *pointers, shared_size=shared)
            if blocking:
                self.gpu.synchronize()
        except self.gpu.driver.Error as error:
            places = "".join(f"\n  from {source}" for source in self.sources)
            doubt = (
                "" if blocking else "\nAn earlier launch may be to blame: run with CUDA_LAUNCH_BLOCKING=1 to see which"
            )
            raise LaunchError(f"CUDA error in {self} on {self.gpu}: {error}{places}{doubt}") from error


def load_kernel(artifact: Artifact, name: str, gpu: Gpu) -> LoadedKernel:
    """Load a kernel: its cubin where that is for the GPU, else its text is compiled for it.

    The GPU's context must be current. Raises `LaunchError`, `CompileError` where NVRTC refuses the text, and
    `PlanError` where there is none.
    """
    plan = artifact.plan
    kernel = plan.kernels[name]
    image = artifact.file(kernel, "cubin") if plan.arch == gpu.arch else None
    if image is None:
        image = compile_cuda(artifact.text(kernel, "cuda"), gpu.arch, name=f"{kernel.entry}.cu").image
    function = gpu.load(image, kernel.entry)
    function.prepare("P" * len(next(launch.buffers for launch in plan.launches if launch.kernel == name)))
    attributes = gpu.driver.function_attribute
    try:
        most, registers, shared = map(
            function.get_attribute,
            (attributes.MAX_THREADS_PER_BLOCK, attributes.NUM_REGS, attributes.SHARED_SIZE_BYTES),
        )
    except gpu.driver.Error as error:
        raise LaunchError(f"kernel @{name} cannot be asked for what it takes on {gpu}: {error}") from error
    dynamic = kernel.dynamic_shared_bytes
    loaded = LoadedKernel(name, kernel, gpu, function, registers, shared + dynamic, plan.sources_of(kernel))
    if kernel.threads > most:
        raise LaunchError(f"{loaded} can have {most} threads at most on {gpu}: give it a schedule with fewer")
    if dynamic:
        try:
            function.set_attribute(attributes.MAX_DYNAMIC_SHARED_SIZE_BYTES, dynamic)
        except gpu.driver.Error as error:
            raise LaunchError(f"{loaded} has more shared memory than a block of {gpu} can have: {error}") from error
    return loaded


def check_arch(plan: Plan, gpu: Gpu) -> None:
    """Raise `LaunchError` where the kernels are written for a newer architecture than the GPU's."""
    if plan.arch and number_of(plan.arch) > number_of(gpu.arch):
        raise LaunchError(f"@{plan.function} is compiled for {plan.arch}, and {gpu} is {gpu.arch}: compile it for that")


def _bytes(count: int) -> str:
    return f"{count / 1024:g} KiB" if count >= 1024 else f"{count} bytes"
