"""A simulator of CUDA kernels: a PTX interpreter on numpy, with checks and exact counters. No GPU.

`simulate(ptx, grid, block, arguments)` runs what NVRTC made of a kernel. It finds accesses out of bounds or
misaligned, races, reads of uninitialised shared memory, copies that nobody waited for and divergent barriers,
and counts instructions, memory sectors, bank conflicts and barriers.
"""

from .counters import Counters, InstructionCounters
from .errors import SimulationError, UnsupportedPtxError
from .launch import simulate

__all__ = ["Counters", "InstructionCounters", "SimulationError", "UnsupportedPtxError", "simulate"]
