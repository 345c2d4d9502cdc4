"""Programs as CUDA graphs: all launches of a program are recorded once, and put on the stream at once from then on."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property

import torch

from .gpus import Gpu
from .program import CudaProgram, Run
from .tensors import new_tensor, sized_results
from .torch_gpus import Graph


class GraphedProgram:
    """A program that is replayed; called as `CudaProgram` is, and with the same results.

    A graph reads its inputs where they were when it was recorded. An input that comes in other memory the next time is
    from then on copied to memory of the graph's own, so that parameters, which stay where they are, are not copied.
    Results are copied out of the graph's memory, which the next replay writes to; what the program updates is copied
    back to where it was given. For each stream that the program is
    run on there is a graph: what one replay reads is then not overwritten by another.
    """

    def __init__(self, program: CudaProgram) -> None:
        self.program = program
        self._recorded: dict[tuple[int, int], _Recorded] = {}
        self._lock = threading.Lock()

    def __call__(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Run it. Raises what `CudaProgram` does."""
        gpu = self.program.gpu_of(tensors)
        inputs = self.program.fit(tensors, gpu)
        plan = self.program.plan
        if gpu.torch.is_capturing():  # a graph that the user records
            return sized_results(plan, tensors, self.program.run(inputs, gpu).results())
        key = gpu.index, gpu.torch.stream(gpu.index)
        with self._lock:
            if key not in self._recorded:
                self._recorded[key] = _Recorded(self.program, gpu)
            return sized_results(plan, tensors, self._recorded[key](inputs))


class _Recorded:
    """The graph of a program on one stream. copies: inputs that are copied, by their places"""

    def __init__(self, program: CudaProgram, gpu: Gpu) -> None:
        self.program = program
        self.gpu = gpu
        self.copies: dict[int, torch.Tensor] = {}
        self._addresses: list[int] = []
        self._graph: Graph | None = None
        self._run: Run | None = None

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        addresses = [tensor.data_ptr() for tensor in inputs]
        moved = [
            place
            for place, (now, before) in enumerate(zip(addresses, self._addresses, strict=False))
            if now != before and place not in self.copies
        ]
        plan = self.program.plan
        for place in moved:
            self.copies[place] = new_tensor(plan, plan.values[plan.inputs[place]], self.gpu)
        for place, copy in self.copies.items():
            copy.copy_(inputs[place])
        if self._graph is None or moved:
            self._record(inputs)
            self._addresses = addresses
        assert self._graph is not None
        assert self._run is not None
        self._graph.replay()
        results = self._run.results(copied=True)
        for place, result in self._updates.items():
            given = inputs[place]
            if place in self.copies:
                given.copy_(self.copies[place])
            results[result] = given.view(results[result].shape)
        return results

    @cached_property
    def _updates(self) -> Mapping[int, int]:
        """Input that the program updates → the result that is its new value, by their places."""
        plan = self.program.plan
        roots = [plan.roots[place] for place in plan.outputs]
        return {place: roots.index(root) for place, root in enumerate(plan.inputs) if root in plan.updated_inputs}

    def _record(self, inputs: Sequence[torch.Tensor]) -> None:
        read = [self.copies.get(place, tensor) for place, tensor in enumerate(inputs)]
        self._graph = self._run = None  # gives the memory of an earlier graph back
        self._graph, self._run = self.gpu.torch.capture(lambda: self.program.run(read, self.gpu), self.gpu.index)
