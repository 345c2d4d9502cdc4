"""Programs on a GPU: a plan is carried out on PyTorch's tensors, without copying them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from ..artifact.artifact import Artifact
from ..artifact.plan import Launch, Plan, Value
from ..artifact.walk import walk
from .gpus import Gpu, Gpus, is_blocking
from .kernels import LoadedKernel, check_arch, load_kernel
from .tensors import DTYPES, fit_tensors, gpu_of, new_arena, new_tensor, sized_results


@dataclass(frozen=True)
class _Buffer:
    """Where a value lies. tensor: what holds it; None in the arena"""

    address: int
    tensor: torch.Tensor | None


class Run:
    """A run of a program: its memory, and where it leaves its results."""

    def __init__(self, plan: Plan, gpu: Gpu) -> None:
        self.plan = plan
        self.gpu = gpu
        self.arena = new_arena(plan, gpu) if plan.arena_bytes else None
        self.buffers: Sequence[_Buffer] = ()
        """Of the results."""

    def allocate(self, value: Value) -> _Buffer:
        """Memory for what a launch writes."""
        if value.offset is None:
            return self.hold(new_tensor(self.plan, value, self.gpu))
        assert self.arena is not None
        return _Buffer(self.arena.data_ptr() + value.offset, None)

    def hold(self, tensor: torch.Tensor) -> _Buffer:
        """The memory of a tensor."""
        return _Buffer(tensor.data_ptr(), tensor)

    def view(self, buffer: _Buffer, value: Value) -> _Buffer:
        """The same memory: kernels take addresses, and `results` gives shapes."""
        return buffer

    def results(self, *, copied: bool = False) -> list[torch.Tensor]:
        """The results in memory that nothing else lies in. copied: also those that have memory of their own, but not
        what lies in that of an input which it is the new value of"""
        found = zip(self.plan.outputs, self.buffers, self.plan.owned_outputs, strict=True)
        updated = self.plan.updated_inputs
        return [
            self._result(
                self.plan.values[place], buffer, owned and not (copied and self.plan.roots[place] not in updated)
            )
            for place, buffer, owned in found
        ]

    def _result(self, value: Value, buffer: _Buffer, owned: bool) -> torch.Tensor:
        tensor = buffer.tensor
        if tensor is None:
            assert self.arena is not None
            offset = buffer.address - self.arena.data_ptr()
            tensor = self.arena[offset : offset + value.byte_count].view(DTYPES[value.dtype])
        tensor = tensor.view(value.shape)
        return tensor if owned else tensor.clone()


class CudaProgram:
    """A program on whichever GPU its inputs are on: call it with a tensor for each argument.

    Inputs on the CPU are copied there, to the current GPU if all are. Results are new tensors, which the kernels
    compute in the order of PyTorch's current stream; the new value of a tensor that the program updates lies in its
    memory, where that was not copied.
    """

    def __init__(self, artifact: Artifact, gpus: Gpus, *, blocking: bool | None = None) -> None:
        """blocking: wait for each launch, so that errors name their kernel; by default where CUDA_LAUNCH_BLOCKING is
        set."""
        self.plan = artifact.plan
        self.gpus = gpus
        self.blocking = is_blocking() if blocking is None else blocking
        self.loaded: dict[Gpu, Mapping[str, LoadedKernel]] = {}
        """The kernels on the GPUs that it has run on."""
        self._artifact = artifact
        self._lock = threading.Lock()

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Run it. Raises `GpuError`, and `CompileError` where NVRTC refuses a kernel for the GPU."""
        gpu = self.gpu_of(tensors)
        return sized_results(self.plan, tensors, self.run(self.fit(tensors, gpu), gpu).results())

    def gpu_of(self, tensors: Sequence[torch.Tensor]) -> Gpu:
        """The GPU that these tensors lie on."""
        return self.gpus.open(gpu_of(self.plan, tensors, self.gpus.torch))

    def fit(self, tensors: Sequence[torch.Tensor], gpu: Gpu) -> list[torch.Tensor]:
        """The tensors as `run` takes them; see `fit_tensors`."""
        return fit_tensors(self.plan, tensors, gpu)

    def run(self, inputs: Sequence[torch.Tensor], gpu: Gpu) -> Run:
        """Put the launches for tensors that fit on PyTorch's current stream."""
        plan, kernels = self.plan, self.kernels(gpu)
        run = Run(plan, gpu)
        launches: list[tuple[LoadedKernel, Sequence[_Buffer]]] = []

        def launch(each: Launch, buffers: Sequence[_Buffer]) -> None:
            if each.kernel in kernels:
                launches.append((kernels[each.kernel], buffers))

        # All memory is there before the first launch: what PyTorch does to give it comes before our stream is forked.
        run.buffers = walk(plan, [run.hold(tensor) for tensor in inputs], run, launch)
        blocking = self.blocking and not gpu.torch.is_capturing()
        with gpu.stream() as stream:
            for kernel, buffers in launches:
                kernel.launch([buffer.address for buffer in buffers], stream, blocking=blocking)
        return run

    def kernels(self, gpu: Gpu) -> Mapping[str, LoadedKernel]:
        """The kernels on a GPU, loaded when they are first asked for; those with nothing to do are left out."""
        with self._lock:
            if gpu not in self.loaded:
                check_arch(self.plan, gpu)
                launched = dict.fromkeys(launch.kernel for launch in self.plan.launches)
                with gpu.current():
                    self.loaded[gpu] = {
                        name: load_kernel(self._artifact, name, gpu)
                        for name in launched
                        if not self.plan.kernels[name].is_empty
                    }
            return self.loaded[gpu]
