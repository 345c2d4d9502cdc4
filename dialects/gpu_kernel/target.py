"""What each architecture can do: facts that the verifier of `gpu_kernel` holds kernels to.

Source: CUDA C++ Programming Guide, "Compute Capabilities", and the PTX ISA's target notes.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Architecture:
    """Limits of one compute capability.

    shared_bytes: shared memory that one block can have when it asks for more than `static_shared_bytes`.
    static_shared_bytes: shared memory of statically declared arrays.
    registers: 32-bit registers of one thread.
    """

    name: str
    shared_bytes: int
    static_shared_bytes: int = 48 * 1024
    threads: int = 1024
    registers: int = 255
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    async_copy_bytes: tuple[int, ...] = (4, 8, 16)
    atoms: tuple[str, ...] = ("m16n8k16", "m16n8k8")


ARCHITECTURES: dict[str, Architecture] = {
    arch.name: arch
    for arch in (
        Architecture("sm_80", shared_bytes=163 * 1024),
        Architecture("sm_90", shared_bytes=227 * 1024),
        Architecture("sm_100", shared_bytes=227 * 1024),
    )
}
"""Architectures by the name that `--arch` takes."""

DEFAULT_ARCHITECTURE = "sm_90"

VECTOR_BYTES = (2, 4, 8, 16)
"""Sizes of one vector load or store."""
