"""cpu_kernel: tasks, loops and vectors of the machine's width. Everything is decided; the C printer is a one-to-one
walk."""

from xdsl.ir import Dialect

from .control import ForOp, IfOp, KernelOp, TaskIdOp, YieldOp
from .memory import AllocOp, LoadOp, StoreOp
from .transposes import TransposeOp
from .vectors import ExtractOp, LanesOp, ShuffleOp, SplatOp

CPUKernel = Dialect(
    "cpu_kernel",
    [
        KernelOp,
        TaskIdOp,
        ForOp,
        IfOp,
        YieldOp,
        AllocOp,
        LoadOp,
        StoreOp,
        TransposeOp,
        SplatOp,
        LanesOp,
        ShuffleOp,
        ExtractOp,
    ],
    [],
)

__all__ = [
    "AllocOp",
    "CPUKernel",
    "ExtractOp",
    "ForOp",
    "IfOp",
    "KernelOp",
    "LanesOp",
    "LoadOp",
    "ShuffleOp",
    "SplatOp",
    "StoreOp",
    "TaskIdOp",
    "TransposeOp",
    "YieldOp",
]
