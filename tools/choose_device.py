"""What `uop run` runs a program on, and what people are told of it."""

from __future__ import annotations

from dataclasses import dataclass

from ..runtime.artifact.devices import DEVICES
from ..runtime.native.compiler import CompilerNotFoundError, find_compiler
from ..runtime.native.cpu import host
from ..runtime.native.library import get_threads


@dataclass(frozen=True)
class Chosen:
    """A device. why: for what reason it is this one, where nobody has asked for it; '' where that needs no words"""

    name: str
    why: str = ""

    def summary(self) -> str:
        """A line that says what runs the program."""
        if self.name == "cpu":
            cpu, threads = host(), get_threads()
            vectors = f"{cpu.instructions} ({cpu.vector_bytes}-byte vectors)"
            return f"on the CPU: {find_compiler().label}, {vectors}, {threads} thread{'s' if threads > 1 else ''}"
        places = {"sim": "in the simulator", "interpret": "in numpy, the tensor form", "cuda": "on a GPU"}
        return places[self.name] + (f": {self.why}" if self.why else "")


def choose_device(name: str | None, *, simulated: bool = False, for_gpu: bool = False) -> Chosen:
    """The device of that name; where there is no name, a GPU, else this machine's CPU, else the simulator.

    simulated: whether what is asked for is what only the simulator tells. for_gpu: whether it is to be CUDA
    """
    if name is not None:
        return Chosen(name)
    if simulated:
        return Chosen("sim")
    if DEVICES["cuda"].is_there():  # looks for pycuda before it loads anything
        return Chosen("cuda")
    if for_gpu:
        return Chosen("sim", "there is no GPU")
    try:
        find_compiler()
    except CompilerNotFoundError as error:
        return Chosen("sim", f"there is no GPU, and {error}")
    return Chosen("cpu")
