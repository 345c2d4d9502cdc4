"""What a GPU is given to load: a cubin for its architecture, or PTX where NVRTC does not know it yet."""

from __future__ import annotations

from collections.abc import Sequence

from ..nvrtc import supported_architectures, version
from .errors import GpuUnavailableError

OLDEST = 80
"""The architecture, sm_80, that all kernels are written for."""


def number_of(arch: str) -> int:
    """90 for `sm_90`, `sm_90a` or `compute_90`."""
    return int(arch.rpartition("_")[2].rstrip("af"))


def image_arch(capability: tuple[int, int], what: str, known: Sequence[int] | None = None) -> str:
    """What to compile for: `sm_86` for a GPU of compute capability (8, 6), or PTX for the closest architecture below,
    `compute_121`, that the driver compiles for a GPU which is newer than NVRTC.

    what: the GPU, for messages. known: the architectures that NVRTC compiles for, by default those of this one.
    Raises `GpuUnavailableError` for a GPU that is too old.
    """
    major, minor = capability
    number = 10 * major + minor
    if number < OLDEST:
        raise GpuUnavailableError(
            f"{what} has compute capability {major}.{minor}; kernels take 8.0 (Ampere, such as an A100 or RTX 30) or "
            "later: choose another device"
        )
    known = supported_architectures() if known is None else known
    if number in known:
        return f"sm_{number}"
    below = [other for other in known if OLDEST <= other < number]
    if not below:
        raise GpuUnavailableError(
            f"NVRTC {'.'.join(map(str, version()))} does not compile for {what} (sm_{number}), only for "
            f"{', '.join(f'sm_{other}' for other in known)}: install another version of nvidia-cuda-nvrtc"
        )
    return f"compute_{max(below)}"
