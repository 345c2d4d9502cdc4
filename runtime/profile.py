"""What a launch did, line by line of its CUDA text, and how it fills the GPUs: data for `uop run --profile`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from math import prod
from typing import Any

from ..dialects.gpu_kernel import ARCHITECTURES
from ..targets.cuda import kernel_lines, kernel_name
from .nvrtc import Resources, compile_cuda
from .occupancy import Occupancy, occupancy, waves
from .program import CompiledKernel, KernelRun
from .simulator import Counters


@dataclass(frozen=True)
class Traffic:
    """The counters of a line or a launch.

    instructions: issued by warps. Of global memory, requests: warp instructions that accessed it, sectors: the 32-byte
    pieces that they moved. wavefronts: passes over shared memory, conflicts: those beyond the least possible.
    """

    instructions: int
    load_requests: int
    load_sectors: int
    store_requests: int
    store_sectors: int
    atomic_requests: int
    atomic_sectors: int
    wavefronts: int
    conflicts: int

    @property
    def requests(self) -> int:
        return self.load_requests + self.store_requests + self.atomic_requests

    @property
    def sectors(self) -> int:
        return self.load_sectors + self.store_sectors + self.atomic_sectors


def traffic(counters: Counters) -> Traffic:
    """Add up counters."""
    atomics = counters.of_kind("atomic.global", "atomic.generic").by_instruction.values()
    return Traffic(
        counters.instructions,
        counters.global_load_requests,
        counters.global_load_sectors,
        counters.global_store_requests,
        counters.global_store_sectors,
        sum(instruction.requests for instruction in atomics),
        sum(instruction.sectors for instruction in atomics),
        counters.shared_wavefronts,
        counters.bank_conflicts,
    )


@dataclass(frozen=True)
class ProfileLine:
    """A line of CUDA text, counted from 1. number 0: instructions that no line is known of.

    sources: the lines of PyTorch, `model.py:7`, that it computes. opcodes: of PTX, how often warps issued each.
    """

    number: int
    code: str
    sources: tuple[str, ...]
    traffic: Traffic
    opcodes: dict[str, int]


@dataclass(frozen=True)
class Residency:
    """How a launch fills the GPU of an architecture. waves: None where not one block fits."""

    arch: str
    gpu: str
    multiprocessors: int
    resources: Resources
    occupancy: Occupancy
    waves: float | None


@dataclass(frozen=True)
class LaunchProfile:
    """One launch: its kernel, what each line of it did, and how it fills each GPU that uop compiles for."""

    compiled: CompiledKernel
    counters: Counters
    lines: list[ProfileLine]

    @property
    def total(self) -> Traffic:
        return traffic(self.counters)

    @property
    def least_load_sectors(self) -> int | None:
        """Distinct sectors that it loads: the least that it could move. None where not all blocks ran."""
        return self.counters.unique_load_sectors if self._all_blocks_ran else None

    @property
    def least_store_sectors(self) -> int | None:
        """The same of its stores."""
        return self.counters.unique_store_sectors if self._all_blocks_ran else None

    @property
    def _all_blocks_ran(self) -> bool:
        return self.counters.simulated_blocks == self.counters.blocks

    @property
    def sources(self) -> list[str]:
        """The lines of PyTorch that it computes, in the order of its text."""
        return list(dict.fromkeys(source for line in self.lines for source in line.sources))

    @cached_property
    def residencies(self) -> list[Residency]:
        """Compiles the kernel's text for every architecture. Raises `CompileError`."""
        return list(_residencies(self.compiled))

    def as_json(self) -> dict[str, Any]:
        """Everything as JSON has it."""
        kernel, counters = self.compiled.kernel, self.counters
        return {
            "kernel": self.compiled.name,
            "grid": list(kernel.grid_shape),
            "threads": kernel.threads,
            "blocks": counters.blocks,
            "simulated_blocks": counters.simulated_blocks,
            "sources": self.sources,
            "total": {
                **asdict(self.total),
                "least_load_sectors": self.least_load_sectors,
                "least_store_sectors": self.least_store_sectors,
            },
            "kinds": counters.instructions_by_kind,
            "residency": [asdict(residency) for residency in self.residencies],
            "lines": [asdict(line) for line in self.lines],
        }


def profile_launch(run: KernelRun) -> LaunchProfile:
    """The profile of a launch; one of an empty grid has done nothing."""
    compiled, counters = run.compiled, run.counters
    listing = kernel_lines(compiled.kernel)
    lines = [_line(counters, number, line.code, line.sources) for number, line in enumerate(listing, 1)]
    if 0 in counters.lines:
        lines.append(_line(counters, 0, "", ()))
    return LaunchProfile(compiled, counters, lines)


def _line(counters: Counters, number: int, code: str, sources: tuple[str, ...]) -> ProfileLine:
    part = counters.at_line(number)
    opcodes = {instruction.opcode: instruction.warps for instruction in part.by_instruction.values()}
    return ProfileLine(number, code, sources, traffic(part), opcodes)


def _residencies(compiled: CompiledKernel) -> Iterator[Residency]:
    kernel, name = compiled.kernel, kernel_name(compiled.kernel)
    for arch in ARCHITECTURES.values():
        resources = compile_cuda(compiled.text, arch.name, name=f"{name}.cu").resources[name]
        resources = resources.launched_with(kernel.dynamic_shared_bytes)
        fitting = occupancy(resources, kernel.threads, arch.name)
        filled = waves(prod(kernel.grid_shape), fitting.blocks, arch.name)
        yield Residency(arch.name, arch.gpu, arch.multiprocessors, resources, fitting, filled)
