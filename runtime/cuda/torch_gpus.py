"""What is asked of PyTorch about its GPUs: tensors, streams and graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

import torch

Result = TypeVar("Result")


class Graph(Protocol):
    """Launches that were recorded."""

    def replay(self) -> None:
        """Put them on the current stream."""
        ...


class TorchGpus(Protocol):
    """PyTorch's side of the GPUs, each named by its index. Streams are named by their handles; 0 is the default one."""

    def count(self) -> int:
        """How many there are."""
        ...

    def current(self) -> int:
        """The one that PyTorch makes tensors on now."""
        ...

    def name(self, gpu: int) -> str: ...

    def capability(self, gpu: int) -> tuple[int, int]:
        """(8, 6) for sm_86."""
        ...

    def index_of(self, tensor: torch.Tensor) -> int | None:
        """The GPU that a tensor lies on; None for one on the CPU."""
        ...

    def empty(self, shape: Sequence[int], dtype: torch.dtype, gpu: int) -> torch.Tensor: ...

    def stream(self, gpu: int) -> int:
        """The current stream."""
        ...

    def order(self, first: int, then: int, gpu: int) -> None:
        """What is put on stream `then` from now on waits for what is on `first` now."""
        ...

    def is_capturing(self) -> bool:
        """Whether what is put on the current stream is recorded in a graph."""
        ...

    def capture(self, body: Callable[[], Result], gpu: int) -> tuple[Graph, Result]:
        """Run `body`, then record it in a graph; what it gave the second time, whose memory the graph writes to."""
        ...


class PyTorch:
    """PyTorch itself."""

    def count(self) -> int:
        return torch.cuda.device_count()

    def current(self) -> int:
        return torch.cuda.current_device()

    def name(self, gpu: int) -> str:
        return torch.cuda.get_device_name(gpu)

    def capability(self, gpu: int) -> tuple[int, int]:
        return torch.cuda.get_device_capability(gpu)

    def index_of(self, tensor: torch.Tensor) -> int | None:
        return tensor.device.index if tensor.is_cuda else None

    def empty(self, shape: Sequence[int], dtype: torch.dtype, gpu: int) -> torch.Tensor:
        return torch.empty(tuple(shape), dtype=dtype, device=torch.device("cuda", gpu))

    def stream(self, gpu: int) -> int:
        return torch.cuda.current_stream(gpu).cuda_stream

    def order(self, first: int, then: int, gpu: int) -> None:
        earlier, later = (torch.cuda.ExternalStream(handle, device=gpu) for handle in (first, then))
        later.wait_stream(earlier)

    def is_capturing(self) -> bool:
        return torch.cuda.is_current_stream_capturing()

    def capture(self, body: Callable[[], Result], gpu: int) -> tuple[Graph, Result]:
        with torch.cuda.device(gpu):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                body()  # what the driver loads at the first launch cannot be loaded while a graph is recorded
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                result = body()
        return graph, result
