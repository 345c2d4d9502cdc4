"""What devices say of a program that they cannot run: told to the user as it is."""

from ..runtime.cuda.errors import GpuError
from ..runtime.native.compiler import CCompileError, CompilerNotFoundError
from ..runtime.nvrtc import CompileError, NvrtcNotFoundError
from ..runtime.simulator import SimulationError, UnsupportedPtxError

DEVICE_ERRORS = (
    CompileError,
    GpuError,
    NvrtcNotFoundError,
    CCompileError,
    CompilerNotFoundError,
    SimulationError,
    UnsupportedPtxError,
)
