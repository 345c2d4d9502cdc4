"""What programs run on: each device executes one form of a program, and is all that a launcher has to know of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

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
    load:    makes a program in that form ready to run
    """

    name: str
    stage: str
    summary: str
    load: Callable[[ImportedFunction], Executable]


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


DEVICES: Mapping[str, Device] = {
    device.name: device
    for device in (
        Device("interpret", "uop", "the tensor form, operation by operation in numpy: slow", _interpreter),
        Device("sim", "gpu-kernel", "the CUDA text in the simulator, races checked: very slow", _simulator),
    )
}
"""By the name that `device` takes."""
