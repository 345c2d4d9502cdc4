"""What a compiled program did in the simulator and takes from a GPU, and which of two programs is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from kernel_bounds import GPUS, bounds

from uop.runtime.nvrtc import Resources
from uop.runtime.occupancy import occupancy
from uop.runtime.simulator import Counters

COUNTED_ON = "sm_80"
"""The architecture whose PTX is executed: Triton's for later ones has instructions that the simulator lacks."""

ARCHS = ("sm_80", "sm_90", "sm_100")

Verdict = Literal["better", "equal", "mixed", "worse"]


@dataclass(frozen=True)
class Kernel:
    """One launch. resources: by architecture. argument_bytes: of all its buffers together."""

    name: str
    threads: int
    counters: Counters
    argument_bytes: int
    resources: Mapping[str, Resources]


def _local_accesses(counters: Counters) -> int:
    kinds = counters.instructions_by_kind
    return kinds.get("load.local", 0) + kinds.get("store.local", 0)


COUNTERS: dict[str, Callable[[Counters], int]] = {
    "instructions": lambda counters: counters.instructions,
    "without moves": lambda counters: counters.instructions - counters.instructions_by_kind.get("move", 0),
    "load requests": lambda counters: counters.global_load_requests,
    "load sectors": lambda counters: counters.global_load_sectors,
    "store requests": lambda counters: counters.global_store_requests,
    "store sectors": lambda counters: counters.global_store_sectors,
    "atomics": lambda counters: counters.atomics,
    "local": _local_accesses,
    "wavefronts": lambda counters: counters.shared_wavefronts,
    "conflicts": lambda counters: counters.bank_conflicts,
    "barriers": lambda counters: counters.barriers,
    "mma": lambda counters: counters.mma,
    "ldmatrix": lambda counters: counters.ldmatrix,
    "cp.async": lambda counters: counters.async_copies,
    "commit + wait": lambda counters: counters.async_copy_controls,
    "shuffles": lambda counters: counters.shuffles,
}
"""What is compared, besides launches, spilled bytes and bounds: fewer is better. Warps issue instructions, requests,
barriers, mma, …; sectors have 32 bytes; wavefronts are passes over shared memory, conflicts those beyond the least
possible. Moves between registers mostly vanish in ptxas, so instructions count with them and without."""

LAUNCHES, SPILLS = "launches", "spills"
BOUND_IN_NS = {gpu: f"{gpu} bound, ns" for gpu in GPUS}


@dataclass(frozen=True)
class Measured:
    """A program: totals over its launches.

    counters: by name; also launches, spilled bytes per thread (of all architectures) and bounds in nanoseconds, since
    a grid that leaves most of a GPU idle can do little and take long. kinds: warp instructions by class.
    resources: of each launch by architecture. bounds: by GPU, microseconds of each launch's longest pipe added up, and
    that pipe of the launch that takes longest. simulated: how many of the blocks, `all` or `48 of 1024`.
    """

    counters: dict[str, int]
    kinds: dict[str, int]
    resources: list[dict[str, Any]]
    bounds: dict[str, dict[str, Any]]
    simulated: str

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def measure(kernels: Sequence[Kernel]) -> Measured:
    """Add up the launches of a program."""
    total = sum((kernel.counters for kernel in kernels), Counters())
    counters = {LAUNCHES: len(kernels)} | {name: count(total) for name, count in COUNTERS.items()}
    counters[SPILLS] = sum(
        resources.spill_store_bytes + resources.spill_load_bytes
        for kernel in kernels
        for resources in kernel.resources.values()
    )
    limits = {gpu: _bounds(kernels, gpu) for gpu in GPUS}
    counters |= {BOUND_IN_NS[gpu]: round(1000 * limit["us"]) for gpu, limit in limits.items()}
    simulated = "all" if total.simulated_blocks == total.blocks else f"{total.simulated_blocks} of {total.blocks}"
    return Measured(counters, total.instructions_by_kind, [_resources(kernel) for kernel in kernels], limits, simulated)


def _resources(kernel: Kernel) -> dict[str, Any]:
    return {"kernel": kernel.name, "threads": kernel.threads} | {
        arch: {
            "registers": resources.registers,
            "shared": resources.shared_bytes,
            "spills": resources.spill_store_bytes + resources.spill_load_bytes,
            "occupancy": round(occupancy(resources, kernel.threads, arch).fraction, 3),
        }
        for arch, resources in kernel.resources.items()
    }


def _bounds(kernels: Sequence[Kernel], name: str) -> dict[str, Any]:
    """Microseconds in total and of each pipe in the launch that takes longest."""
    gpu = GPUS[name]
    each = [
        {pipe: 1e6 * time for pipe, time in bounds(kernel.counters, kernel.argument_bytes, gpu).items()}
        for kernel in kernels
    ]
    longest = max(each, key=lambda pipes: max(pipes.values()))
    return {
        "us": round(sum(max(pipes.values()) for pipes in each), 3),
        "limit": max(longest, key=lambda pipe: longest[pipe]),
        "pipes": {pipe: round(time, 3) for pipe, time in longest.items()},
    }


def compare(ours: Mapping[str, int], theirs: Mapping[str, int]) -> tuple[Verdict, list[str]]:
    """Whether ours is better, no worse on every counter and better on one; and the counters on which it is worse."""
    worse = [name for name, count in ours.items() if count > theirs[name]]
    is_better = any(count < theirs[name] for name, count in ours.items())
    if worse:
        return "mixed" if is_better else "worse", worse
    return "better" if is_better else "equal", worse
