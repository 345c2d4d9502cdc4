"""What a machine can do at most: bytes that a copy moves, and operations on f32, both measured."""

from __future__ import annotations

import ctypes
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from importlib.metadata import version

import torch

from ...runtime.cache import Key, default_cache
from ...runtime.native.compiler import build
from ...runtime.native.cpu import host
from ...runtime.native.library import load_library
from .work import Work

COPIED_BYTES = 1 << 27
"""Several times what caches hold."""

STEPS, CHAINS = 1 << 18, 12
"""Of the measurement of multiply-adds: steps of a loop, and independent sums, more than an instruction takes clocks."""

REPEATS = 30

PRODUCT_EXTENT = 4096
"""Of the matrices whose product measures a GPU."""


@dataclass(frozen=True)
class Limits:
    """In a second: bytes read and written by a copy of much memory, and operations on f32.

    source: what they are measured with
    """

    bytes: float
    flops: float
    source: str

    def seconds(self, work: Work) -> float:
        """What a program takes at least whose inputs lie in memory. One whose inputs lie in caches may take less."""
        return max(work.bytes / self.bytes, work.flops / self.flops)

    def bound(self, work: Work) -> str:
        """What sets that."""
        return "memory" if work.bytes / self.bytes >= work.flops / self.flops else "arithmetic"


def limits(device: str, threads: int, reached: float = 0.0) -> Limits:
    """The machine's, from the cache where it has been measured before.

    threads: of the CPU. reached: operations on floats in a second that a program was seen to do. A machine that was
    measured with less did something else meanwhile: it is measured again, and the better of both kept.
    Raises `CompilerNotFoundError` where a CPU is to be measured and there is no C compiler.
    """
    cache = default_cache()
    machine = torch.cuda.get_device_name() if device == "cuda" else f"{host().identity} {threads} threads"
    key = Key({"kind": "limits", "name": device, "machine": machine, "torch": version("torch")})
    found = None if cache is None else cache.get(key)
    before = None if found is None else Limits(**json.loads(found["limits.json"]))
    if before is not None and before.flops >= reached:
        return before
    measured = measure_limits(device, threads)
    if before is not None:
        measured = Limits(max(before.bytes, measured.bytes), max(before.flops, measured.flops), measured.source)
    if cache is not None:
        cache.put(key, {"limits.json": json.dumps(asdict(measured)).encode()})
    return measured


def measure_limits(device: str, threads: int) -> Limits:
    """The same, measured now."""
    return _gpu_limits() if device == "cuda" else _cpu_limits(threads)


def _cpu_limits(threads: int) -> Limits:
    source, target = torch.zeros(COPIED_BYTES // 4), torch.zeros(COPIED_BYTES // 4)
    copy = _best(lambda: target.copy_(source))
    lanes = host().vector_bytes // 4
    library = load_library(build(multiply_adds_text(lanes), name="multiply_adds"))
    run = library.multiply_adds
    run.argtypes = (ctypes.c_long, ctypes.c_float)
    run.restype = ctypes.c_float
    with ThreadPoolExecutor(threads) as pool:  # calls of C let other threads of Python run
        spent = _best(lambda: list(pool.map(run, [STEPS] * threads, [1.0] * threads)))
    flops = 2 * STEPS * CHAINS * lanes * threads / spent
    return Limits(2 * COPIED_BYTES / copy, flops, f"a copy by PyTorch, multiply-adds in C, {threads} threads")


def multiply_adds_text(lanes: int) -> str:
    """C text of `multiply_adds(steps, x)`, which does as many multiply-adds of vectors in each of `CHAINS` sums."""
    sums = [f"s{number}" for number in range(CHAINS)]
    return "\n".join(
        (
            f"typedef float vector __attribute__((vector_size({4 * lanes})));",
            "float multiply_adds(long steps, float x) {",
            "  vector y = (vector){} + x, z = y * 0.5f;",
            f"  vector {', '.join(f'{name} = y' for name in sums)};",
            "  for (long step = 0; step < steps; ++step) {",
            # Nothing is known of the sums from step to step, so none of them is computed ahead.
            *(f'    {name} = {name} * z + y; __asm__ volatile("" : "+{_constraint()}"({name}));' for name in sums),
            "  }",
            f"  vector all = {' + '.join(sums)};",
            "  return all[0];",
            "}",
            "",
        )
    )


def _constraint() -> str:
    """GCC's name of vector registers."""
    return "v" if host().is_x86 else "w"


def _gpu_limits() -> Limits:
    from .gpu_times import GpuTimer

    timer = GpuTimer()
    source = torch.zeros(COPIED_BYTES, device="cuda")
    target = torch.empty_like(source)
    copy = timer.time(lambda: target.copy_(source)).median
    a, b = (torch.randn(PRODUCT_EXTENT, PRODUCT_EXTENT, device="cuda") for _ in range(2))
    product = timer.time(lambda: a @ b).median
    moved, computed = 8 * COPIED_BYTES / (1e-6 * copy), 2 * PRODUCT_EXTENT**3 / (1e-6 * product)
    return Limits(moved, computed, "a copy and a product of f32 matrices, by PyTorch")


def _best(run: Callable[[], object]) -> float:
    """Seconds of the quickest of several runs: what else the machine does makes none quicker."""
    times: list[float] = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)
