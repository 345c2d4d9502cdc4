# Triton is in the extra `bench` alone, and its own types are partly unknown.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportPrivateImportUsage=false
"""Compile Triton's kernels without a GPU, to PTX that the simulator runs and to what ptxas reports."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # its default until 3.10, and what nvcc does

from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from triton_peers import Launch

from uop.runtime.nvrtc import Resources

SCRATCH_POINTERS = 2
"""Pointers behind those of the kernel, to scratch memory that these kernels do not use: null."""

POINTER_ALIGNMENT = [["tt.divisibility", 16]]


@dataclass(frozen=True)
class Built:
    """A compiled kernel: its text, and the dynamic shared memory that a block takes."""

    ptx: str
    shared_bytes: int
    threads: int


def build(launch: Launch, pointer_types: tuple[str, ...], arch: str) -> Built:
    """Compile the kernel of a launch for `arch`. pointer_types: of its buffers, in Triton's names (`fp16`)."""
    return _build(launch.kernel, pointer_types, tuple(launch.constants.items()), launch.warps, launch.stages, arch)


@cache
def _build(
    kernel: Any,
    pointer_types: tuple[str, ...],
    constants: tuple[tuple[str, Any], ...],
    warps: int,
    stages: int,
    arch: str,
) -> Built:
    names: list[str] = kernel.arg_names
    pointers = dict(zip(names, (f"*{name}" for name in pointer_types), strict=False))
    source = ASTSource(
        kernel,
        signature={name: pointers.get(name, "constexpr") for name in names},
        constexprs={(names.index(name),): value for name, value in constants},
        attrs={(index,): POINTER_ALIGNMENT for index in range(len(pointers))},
    )
    target = GPUTarget("cuda", int(arch.removeprefix("sm_")), 32)
    compiled = compile(source, target=target, options={"num_warps": warps, "num_stages": stages})
    return Built(compiled.asm["ptx"], compiled.metadata.shared, 32 * warps)


def resources(built: Built, arch: str) -> Resources:
    """What the kernel takes on `arch`, for which it was built, as the ptxas of Triton's wheel says."""
    architecture = f"{arch}a" if int(arch.removeprefix("sm_")) >= 90 else arch
    ptxas = Path(knobs.nvidia.ptxas.path).with_name("ptxas-blackwell")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.ptx"
        file.write_text(built.ptx)
        command = [ptxas, "-v", f"--gpu-name={architecture}", file, "-o", Path(folder) / "kernel.cubin"]
        log = subprocess.run(command, capture_output=True, text=True, check=True).stderr

    def number(pattern: str) -> int:
        match = re.search(pattern, log)
        if match is None:
            raise ValueError(f"ptxas reports no {pattern!r} for {architecture}:\n{log}")
        return int(match[1])

    return Resources(
        registers=number(r"Used (\d+) registers"),
        shared_bytes=built.shared_bytes,
        spill_store_bytes=number(r"(\d+) bytes spill stores"),
        spill_load_bytes=number(r"(\d+) bytes spill loads"),
        stack_bytes=number(r"(\d+) bytes stack frame"),
    )
