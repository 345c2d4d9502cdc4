"""What each architecture can do: what the verifier of `gpu_kernel` holds kernels to, and how much a GPU holds at once.

Source: CUDA C++ Programming Guide, "Compute Capabilities" (table "Technical Specifications per Compute Capability"),
and the PTX ISA's target notes. Multiprocessors of the GPUs: NVIDIA's A100 and H100 architecture papers (the SXM
versions); of the B200, what the CUDA runtime reports.
"""

from dataclasses import dataclass

from ..axes import WARP


@dataclass(frozen=True)
class Architecture:
    """Limits of one compute capability, and the GPU that it is best known for.

    multiprocessors: of that GPU.
    shared_bytes: shared memory that one block can have when it asks for more than `static_shared_bytes`.
    static_shared_bytes: shared memory of statically declared arrays.
    registers: 32-bit registers of one thread.
    multiprocessor_…: what all resident blocks of a multiprocessor share.
    reserved_shared_bytes: of each block, by the system. Shared memory is given out in units of `shared_unit` bytes,
      registers to each warp in units of `register_unit`, from the quarter of them that its scheduler has.
    """

    name: str
    gpu: str
    multiprocessors: int
    shared_bytes: int
    multiprocessor_shared_bytes: int
    static_shared_bytes: int = 48 * 1024
    threads: int = 1024
    registers: int = 255
    grid: tuple[int, int, int] = (2**31 - 1, 65535, 65535)
    async_copy_bytes: tuple[int, ...] = (4, 8, 16)
    atoms: tuple[str, ...] = ("m16n8k16", "m16n8k8")
    multiprocessor_threads: int = 2048
    multiprocessor_blocks: int = 32
    multiprocessor_registers: int = 65536
    schedulers: int = 4
    register_unit: int = 256
    shared_unit: int = 128
    reserved_shared_bytes: int = 1024

    def resident_blocks(self, threads: int) -> int:
        """Blocks of so many threads that a multiprocessor holds at most; registers and memory may allow fewer."""
        warps = -(-threads // WARP)
        return min(self.multiprocessor_blocks, self.multiprocessor_threads // WARP // warps)


ARCHITECTURES: dict[str, Architecture] = {
    arch.name: arch
    for arch in (
        Architecture("sm_80", "A100", 108, shared_bytes=163 * 1024, multiprocessor_shared_bytes=164 * 1024),
        Architecture("sm_90", "H100", 132, shared_bytes=227 * 1024, multiprocessor_shared_bytes=228 * 1024),
        Architecture("sm_100", "B200", 148, shared_bytes=227 * 1024, multiprocessor_shared_bytes=228 * 1024),
    )
}
"""Architectures by the name that `--arch` takes."""

DEFAULT_ARCHITECTURE = "sm_90"

VECTOR_BYTES = (2, 4, 8, 16)
"""Sizes of one vector load or store."""
