"""What programs run on: each device executes one form of a program, and is all that a launcher has to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from ..dialects.gpu_kernel import ARCHITECTURES, DEFAULT_ARCHITECTURE
from . import nvrtc
from .artifact.artifact import Artifact
from .artifact.conversions import from_array, to_array
from .artifact.simulated import SimulatedProgram
from .cuda.gpus import all_gpus
from .cuda.graphs import GraphedProgram
from .cuda.images import number_of
from .cuda.program import CudaProgram
from .interpret.program import interpret_program
from .native.compilation import compile_program
from .native.compiler import toolchain
from .native.cpu import host
from .native.program import CpuProgram
from .program import Program
from .tensors import from_interpreted, to_interpreted

if TYPE_CHECKING:
    from ..frontends.imported import ImportedFunction

Tensors = Sequence[torch.Tensor]

Executable = Callable[[Tensors], Tensors]
"""A program that can be run: takes one dense tensor for each argument of the function and gives new tensors, dense and
row-major, one for each result. Raises what the device has to say against the program or its inputs."""


@dataclass(frozen=True)
class Ahead:
    """How programs for a device are compiled to data, which is kept, and made ready to run from that.

    build:     what a program in the device's form becomes
    open:      makes that ready to run. Raises what the device has to say where it is not there
    toolchain: says what `build` compiles with, its version included
    """

    build: Callable[[ImportedFunction], Artifact]
    open: Callable[[Artifact], Executable]
    toolchain: Callable[[], str]

    def load(self, function: ImportedFunction) -> Executable:
        """Both."""
        return self.open(self.build(function))


@dataclass(frozen=True)
class Device:
    """Something that executes programs.

    stage:   the form that it executes, a name of the pipeline's table of stages
    summary: what it is, for people
    load:    makes a program in that form ready to run. Raises what the device has to say where it is not there
    memory:  the type of PyTorch's device that tensors lie on
    arch:    the architecture to compile for where the user names none
    replay:  makes a loaded program one that is recorded once and replayed; None where there is no such thing
    ahead:   the two steps of `load`, where what is between them can be kept
    target:  what programs become on the way to its form, a name of the pipeline's table of targets
    vector_bytes: bytes of the vectors to compile for, with target `c`
    """

    name: str
    stage: str
    summary: str
    load: Callable[[ImportedFunction], Executable]
    memory: str = "cpu"
    arch: Callable[[], str] = lambda: DEFAULT_ARCHITECTURE
    replay: Callable[[Executable], Executable] | None = None
    ahead: Ahead | None = None
    target: str = "cuda"
    vector_bytes: Callable[[], int] = lambda: host().vector_bytes


def _interpreter(function: ImportedFunction) -> Executable:
    module, name, types = function.module, function.name, function.result_types

    def run(inputs: Tensors) -> Tensors:
        arrays = interpret_program(module, name, [to_interpreted(value) for value in inputs])
        return [from_interpreted(array, type) for array, type in zip(arrays, types, strict=True)]

    return run


def _build_cuda(function: ImportedFunction) -> Artifact:
    return Program(function.module, function.name).artifact()


def _open_simulator(artifact: Artifact) -> Executable:
    program, plan = SimulatedProgram(artifact), artifact.plan
    takes, gives = ([plan.values[place] for place in places] for places in (plan.arguments, plan.outputs))

    def run(inputs: Tensors) -> Tensors:
        given = zip(takes, plan.without_symbols(inputs), strict=True)
        arrays = program.execute([to_array(value, tensor) for value, tensor in given])
        return [from_array(value, array, tensor=True) for value, array in zip(gives, arrays, strict=True)]

    return run


def _open_gpu(artifact: Artifact) -> CudaProgram:
    return CudaProgram(artifact, all_gpus())


def _arch_of_gpu() -> str:
    """The newest architecture that kernels are written for and that PyTorch's current GPU executes."""
    gpus = all_gpus()
    newest = number_of(gpus.open(gpus.torch.current()).arch)
    return max((arch for arch in ARCHITECTURES if number_of(arch) <= newest), key=number_of)


def _graph(program: Executable) -> GraphedProgram:
    assert isinstance(program, CudaProgram)
    return GraphedProgram(program)


def _build_c(function: ImportedFunction) -> Artifact:
    return compile_program(function.module, function.name)


_CPU = Ahead(_build_c, CpuProgram, toolchain)
_SIMULATOR = Ahead(_build_cuda, _open_simulator, nvrtc.identity)
_GPU = Ahead(_build_cuda, _open_gpu, nvrtc.identity)

DEVICES: Mapping[str, Device] = {
    device.name: device
    for device in (
        Device(
            "cpu", "cpu-kernel", "this machine's CPU, by its C compiler or ziglang's", _CPU.load, ahead=_CPU, target="c"
        ),
        Device("interpret", "uop", "the tensor form, operation by operation in numpy: slow", _interpreter),
        Device(
            "sim",
            "gpu-kernel",
            "the CUDA text in the simulator, races checked: very slow",
            _SIMULATOR.load,
            ahead=_SIMULATOR,
        ),
        Device(
            "cuda",
            "gpu-kernel",
            "the kernels on an NVIDIA GPU, by pycuda",
            _GPU.load,
            "cuda",
            _arch_of_gpu,
            _graph,
            _GPU,
        ),
    )
}
"""By the name that `device` takes."""
