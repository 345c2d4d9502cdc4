"""The dialects of uop, registered by name and loaded only when a file uses them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.ir import Dialect


def get_all_dialects() -> dict[str, Callable[[], Dialect]]:
    """Dialect name → factory."""

    def get_torch() -> Dialect:
        from .torch import Torch

        return Torch

    def get_uop() -> Dialect:
        from .uop import UOp

        return UOp

    def get_loop() -> Dialect:
        from .loop import Loop

        return Loop

    def get_tile() -> Dialect:
        from .tile import Tile

        return Tile

    def get_cpu_kernel() -> Dialect:
        from .cpu_kernel import CPUKernel

        return CPUKernel

    def get_gpu_kernel() -> Dialect:
        from .gpu_kernel import GPUKernel

        return GPUKernel

    return {
        "torch": get_torch,
        "uop": get_uop,
        "loop": get_loop,
        "tile": get_tile,
        "cpu_kernel": get_cpu_kernel,
        "gpu_kernel": get_gpu_kernel,
    }
