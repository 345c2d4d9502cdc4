"""gpu_kernel: hardware primitives. Everything is decided; the CUDA printer is a one-to-one walk."""

from xdsl.ir import Dialect

from .control import BarrierOp, BlockIdOp, ForOp, IfOp, KernelOp, LaneIdOp, ThreadIdOp, WarpBarrierOp
from .memory import (
    GREATEST_OFFSET,
    AllocOp,
    AsyncCommitOp,
    AsyncCopyOp,
    AsyncWaitOp,
    AtomicOp,
    LdmatrixOp,
    LoadOp,
    StoreOp,
)
from .registers import PackOp, PinOp
from .target import ARCHITECTURES, DEFAULT_ARCHITECTURE, Architecture
from .warp import MmaOp, ShuffleOp

GPUKernel = Dialect(
    "gpu_kernel",
    [
        KernelOp,
        BlockIdOp,
        ThreadIdOp,
        LaneIdOp,
        ForOp,
        IfOp,
        BarrierOp,
        WarpBarrierOp,
        AllocOp,
        LoadOp,
        StoreOp,
        AtomicOp,
        AsyncCopyOp,
        AsyncCommitOp,
        AsyncWaitOp,
        LdmatrixOp,
        ShuffleOp,
        MmaOp,
        PinOp,
        PackOp,
    ],
    [],
)

__all__ = [
    "ARCHITECTURES",
    "DEFAULT_ARCHITECTURE",
    "GREATEST_OFFSET",
    "AllocOp",
    "Architecture",
    "AsyncCommitOp",
    "AsyncCopyOp",
    "AsyncWaitOp",
    "AtomicOp",
    "BarrierOp",
    "BlockIdOp",
    "ForOp",
    "GPUKernel",
    "IfOp",
    "KernelOp",
    "LaneIdOp",
    "LdmatrixOp",
    "LoadOp",
    "MmaOp",
    "PackOp",
    "PinOp",
    "ShuffleOp",
    "StoreOp",
    "ThreadIdOp",
    "WarpBarrierOp",
]
