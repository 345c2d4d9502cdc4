"""Modules of `cpu_kernel` kernels from text, and a program that launches each once: what tests of C text share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from module_text import parse
from xdsl.dialects.builtin import ModuleOp


@dataclass(frozen=True)
class Kernel:
    """A kernel's text. out: elements and type of its one output, `64xf32`. inputs: by name of the program's argument"""

    body: str
    out: str
    inputs: Sequence[str]
    tasks: int = 1
    grain: int = 1
    vector_bytes: int = 64
    index_bits: int = 32


def module_of(arguments: Mapping[str, str], kernels: Sequence[Kernel]) -> ModuleOp:
    """A module whose @forward launches each kernel once and gives all of their outputs.

    arguments: name → elements and type, `64xf32`
    """
    parts: list[str] = []
    launches: list[str] = []
    for number, kernel in enumerate(kernels):
        buffers = ", ".join([f"%out: memref<{kernel.out}>", *(f"%{x}: memref<{arguments[x]}>" for x in kernel.inputs)])
        parts.append(
            f"cpu_kernel.kernel @k{number}({buffers}) outputs 1 tasks {kernel.tasks} grain {kernel.grain} "
            f"vector_bytes {kernel.vector_bytes} index_bits {kernel.index_bits} {{\n{kernel.body}\n}}"
        )
        types = ", ".join(f"tensor<{arguments[x]}>" for x in kernel.inputs)
        operands = ", ".join(f"%{x}" for x in kernel.inputs)
        launches.append(f"  %r{number} = uop.launch @k{number}({operands}) : ({types}) -> tensor<{kernel.out}>")
    parameters = ", ".join(f"%{name}: tensor<{type}>" for name, type in arguments.items())
    types = ", ".join(f"tensor<{kernel.out}>" for kernel in kernels)
    results = ", ".join(f"%r{number}" for number in range(len(kernels)))
    body = "\n".join([*launches, f"  func.return {results} : {types}"])
    parts.append(f"func.func @forward({parameters}) -> ({types}) {{\n{body}\n}}")
    return parse("\n".join(parts))
