"""What programs run on: each device executes one form of a program, and is all that a launcher has to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from ..dialects.gpu_kernel import ARCHITECTURES, DEFAULT_ARCHITECTURE
from .cuda.gpus import all_gpus
from .cuda.graphs import GraphedProgram
from .cuda.images import number_of
from .cuda.program import CudaProgram
from .interpret.program import interpret_program
from .program import Program
from .tensors import from_array, from_interpreted, to_array, to_interpreted

if TYPE_CHECKING:
    from ..frontends.imported import ImportedFunction

Tensors = Sequence[torch.Tensor]

Executable = Callable[[Tensors], Tensors]
"""A program that can be run: takes one dense tensor for each argument of the function and gives new tensors, dense and
row-major, one for each result. Raises what the device has to say against the program or its inputs."""


@dataclass(frozen=True)
class Device:
    """Something that executes programs.

    stage:   the form that it executes, a name of the pipeline's table of stages
    summary: what it is, for people
    load:    makes a program in that form ready to run. Raises what the device has to say where it is not there
    memory:  the type of PyTorch's device that tensors lie on
    arch:    the architecture to compile for where the user names none
    replay:  makes a loaded program one that is recorded once and replayed; None where there is no such thing
    """

    name: str
    stage: str
    summary: str
    load: Callable[[ImportedFunction], Executable]
    memory: str = "cpu"
    arch: Callable[[], str] = lambda: DEFAULT_ARCHITECTURE
    replay: Callable[[Executable], Executable] | None = None


def _interpreter(function: ImportedFunction) -> Executable:
    module, name, types = function.module, function.name, function.result_types

    def run(inputs: Tensors) -> Tensors:
        arrays = interpret_program(module, name, [to_interpreted(value) for value in inputs])
        return [from_interpreted(array, type) for array, type in zip(arrays, types, strict=True)]

    return run


def _simulator(function: ImportedFunction) -> Executable:
    program, types = Program(function.module, function.name), function.result_types

    def run(inputs: Tensors) -> Tensors:
        arrays = program.run([to_array(value) for value in inputs]).outputs
        # A result may be an argument in another shape, whose memory the caller keeps.
        return [from_array(array, type).clone() for array, type in zip(arrays, types, strict=True)]

    return run


def _gpu(function: ImportedFunction) -> CudaProgram:
    gpus = all_gpus()
    return CudaProgram(Program(function.module, function.name).artifact(), gpus)


def _arch_of_gpu() -> str:
    """The newest architecture that kernels are written for and that PyTorch's current GPU executes."""
    gpus = all_gpus()
    newest = number_of(gpus.open(gpus.torch.current()).arch)
    return max((arch for arch in ARCHITECTURES if number_of(arch) <= newest), key=number_of)


def _graph(program: Executable) -> GraphedProgram:
    assert isinstance(program, CudaProgram)
    return GraphedProgram(program)


DEVICES: Mapping[str, Device] = {
    device.name: device
    for device in (
        Device("interpret", "uop", "the tensor form, operation by operation in numpy: slow", _interpreter),
        Device("sim", "gpu-kernel", "the CUDA text in the simulator, races checked: very slow", _simulator),
        Device("cuda", "gpu-kernel", "the kernels on an NVIDIA GPU, by pycuda", _gpu, "cuda", _arch_of_gpu, _graph),
    )
}
"""By the name that `device` takes."""
