# Triton's and torch's functions are partly untyped.
# pyright: reportUnknownMemberType=false
"""Run a case: our kernels, Triton's and tinygrad's, each compiled without a GPU and executed in the simulator."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import torch
from compile_cases import Function
from kernel_cases import Case
from kernel_measure import ARCHS, COUNTED_ON, Kernel, Measured, measure

from uop.dialects.types import byte_count
from uop.frontends.importer import import_exported
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import CompiledKernel, Program, ProgramRun
from uop.runtime.simulator import simulate
from uop.runtime.storage import POISON, Array
from uop.runtime.tensors import to_array
from uop.targets.cuda import kernel_name
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions


class WrongResultError(Exception):
    """A program did not compute the case."""


def simulate_ours(case: Case, inputs: Sequence[torch.Tensor]) -> ProgramRun:
    """Compile the case and simulate it."""
    with float32_matmul_precision(case.precision):
        imported = import_exported(Function(case.function), tuple(inputs))
    for _ in compile_stages(imported, CompileOptions(arch=COUNTED_ON), verify=False):
        pass
    return Program(imported.module).run([to_array(value) for value in inputs], check_races=False, sample=True)


def run_ours(case: Case, inputs: Sequence[torch.Tensor], expected: Array | None = None) -> Measured:
    """Our kernels of a case. expected: what the result is compared with."""
    run = simulate_ours(case, inputs)
    measured = measure(launched(run))
    if expected is not None:
        check_result(case, run.outputs[0], expected, measured, "uop")
    return measured


def launched(run: ProgramRun) -> list[Kernel]:
    """The launches of a program that did something, each compiled for all architectures."""
    return [
        Kernel(
            launch.compiled.name,
            launch.compiled.kernel.threads,
            launch.counters,
            sum(byte_count(argument.type) for argument in launch.compiled.kernel.body.block.args),
            {arch: _resources(launch.compiled, arch) for arch in ARCHS},
        )
        for launch in run.kernels
        if not launch.compiled.is_empty
    ]


def _resources(compiled: CompiledKernel, arch: str) -> Any:
    name = kernel_name(compiled.kernel)
    resources = compile_cuda(compiled.text, arch, name=f"{name}.cu").resources[name]
    return resources.launched_with(compiled.kernel.dynamic_shared_bytes)


def run_triton(name: str, case: Case, inputs: Sequence[torch.Tensor], expected: Array) -> dict[str, Measured]:
    """Each configuration of Triton's kernels for a case."""
    import triton_build
    from triton_peers import OUT, PEERS, TYPE_NAMES

    results: dict[str, Measured] = {}
    for title, peer in PEERS[name].items():
        arrays = {key: to_array(value).reshape(-1) for key, value in zip(case.inputs, inputs, strict=True)}
        types = {key: TYPE_NAMES[value.dtype] for key, value in zip(case.inputs, inputs, strict=True)}
        arrays[OUT] = poisoned_like(expected)
        types[OUT] = TYPE_NAMES[case.result_type(inputs)]
        for key, elements in peer.temporaries.items():
            arrays[key] = poisoned_like(np.empty(elements, np.float32))
            types[key] = "fp32"
        kernels: list[Kernel] = []
        for launch in peer.launches:
            pointers = tuple(types[key] for key in launch.buffers)
            built = {arch: triton_build.build(launch, pointers, arch) for arch in ARCHS}
            counted = built[COUNTED_ON]
            buffers = [arrays[key] for key in launch.buffers]
            counters = simulate(
                counted.ptx,
                launch.grid,
                counted.threads,
                [*buffers, *[None] * triton_build.SCRATCH_POINTERS],
                shared_bytes=counted.shared_bytes,
                check_races=False,
                sample=True,
            )
            resources = {arch: triton_build.resources(built[arch], arch) for arch in ARCHS}
            traffic = sum(buffer.nbytes for buffer in buffers)
            kernels.append(Kernel(launch.kernel.__name__, counted.threads, counters, traffic, resources))
        results[title] = measure(kernels)
        check_result(case, arrays[OUT], expected, results[title], f"Triton, {title}")
    return results


def run_tinygrad(name: str, case: Case, inputs: Sequence[torch.Tensor], expected: Array) -> Measured:
    """tinygrad's CUDA text, which it writes in a process of its own, compiled like ours.

    Raises RuntimeError with tinygrad's own message where it fails.
    """
    script = Path(__file__).with_name("tinygrad_kernels.py")
    done = subprocess.run([sys.executable, str(script), name], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"tinygrad: {done.stderr.strip().splitlines()[-1]}")
    program: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    memory: list[Array] = [np.full(size, POISON, np.uint8) for size in program["memory"]]
    for number, value in zip(program["inputs"], inputs, strict=True):
        memory[number] = to_array(value).reshape(-1).view(np.uint8)

    def view(buffer: tuple[int, int, int]) -> Array:
        number, start, size = buffer
        return memory[number][start : start + size]

    kernels: list[Kernel] = []
    for launch in program["launches"]:
        text, kernel = launch["text"], launch["name"]
        buffers = [view(buffer) for buffer in launch["buffers"]]
        counters = simulate(
            compile_cuda(text, COUNTED_ON.replace("sm_", "compute_"), name=f"{kernel}.cu").ptx,
            tuple(launch["grid"]),
            tuple(launch["block"]),
            buffers,
            kernel=kernel,
            check_races=False,
            source=text,
            sample=True,
        )
        resources = {arch: compile_cuda(text, arch, name=f"{kernel}.cu").resources[kernel] for arch in ARCHS}
        traffic = sum(buffer.nbytes for buffer in buffers)
        kernels.append(Kernel(kernel, prod(launch["block"]), counters, traffic, resources))
    measured = measure(kernels)
    result = view(program["output"]).view(program["type"])
    check_result(case, result, expected, measured, "tinygrad")
    return measured


def poisoned_like(array: Array) -> Array:
    """A flat array of as many elements, each of which shows that it was not written."""
    return np.full(array.nbytes, POISON, np.uint8).view(array.dtype)


def check_result(case: Case, result: Array, expected: Array, measured: Measured, who: str) -> None:
    """Compare what was written: all elements if every block ran, the elements of those that ran otherwise.

    Raises WrongResultError.
    """
    result, expected = result.reshape(-1), expected.reshape(-1)
    if result.dtype == np.uint16:
        result, expected = _widen_bf16(result), _widen_bf16(expected)
    is_float = result.dtype.kind == "f"
    written = ~np.isnan(result) if is_float else result.view(np.uint8).reshape(len(result), -1).min(axis=1) != POISON
    if measured.simulated == "all" and not written.all():
        raise WrongResultError(f"{who} leaves {len(written) - written.sum()} elements of {case.title} unwritten")
    ours, reference = result[written].astype(np.float64), expected[written].astype(np.float64)
    if not len(ours):
        return
    error = np.abs(ours - reference).max() / max(1.0, np.abs(reference).max())
    if error > case.tolerance:
        raise WrongResultError(f"{who} computes {case.title} with an error of {error:.2g}, not {case.tolerance:.2g}")


def _widen_bf16(bits: Array) -> Array:
    return (bits.astype(np.uint32) << 16).view(np.float32)


@contextmanager
def float32_matmul_precision(precision: str) -> Generator[None]:
    """PyTorch's setting while a case is captured."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)
