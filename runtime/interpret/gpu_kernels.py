"""The meaning of a kernel in gpu_kernel form: NVRTC makes PTX of its CUDA text, and the simulator executes that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...dialects import gpu_kernel
from ...rewriting.diagnostics import PassError
from ...targets.cuda import kernel_name, kernel_text
from ..nvrtc import INSTALL_HINT, CompileError, NvrtcNotFoundError, compile_cuda
from ..simulator import SimulationError, UnsupportedPtxError, simulate
from ..storage import poisoned
from .arrays import Array, ExecutionError, NotExecutableError
from .buffers import NONE
from .stored import from_storage, to_storage


def interpret_gpu_kernel(kernel: gpu_kernel.KernelOp, buffers: Sequence[Array], kept: Mapping[int, int] = NONE) -> None:
    """Run a kernel on its buffers, outputs first, of any shape; it writes its outputs in place.

    kept: outputs whose elements it need not write, each with the input that it does not read in its stead
    Raises `ExecutionError` for a kernel that the compiler refuses or that races or accesses what it must not, and
    `NotExecutableError` where the compiler is not installed.
    """
    try:
        text = kernel_text(kernel)
        arch, name = kernel.arch.data.replace("sm_", "compute_"), f"{kernel_name(kernel)}.cu"
        ptx = compile_cuda(text, arch, name=name).ptx
    except PassError as error:
        raise ExecutionError(error.message, kernel) from error
    except NvrtcNotFoundError as error:
        raise NotExecutableError(f"NVRTC is not installed: {INSTALL_HINT}", kernel) from error
    except CompileError as error:
        raise ExecutionError(f"NVRTC refuses the kernel: {error.log.strip() or error}", kernel) from error
    types = [argument.type for argument in kernel.body.block.args]
    outputs = kernel.outputs.value.data
    stored = [
        to_storage(buffer, type)
        if place in kept
        else poisoned(type).reshape(-1)
        if place < outputs
        else _read_only(to_storage(buffer, type))
        for place, (buffer, type) in enumerate(zip(buffers, types, strict=True))
    ]
    if 0 not in kernel.grid_shape:
        try:
            shared_bytes = kernel.dynamic_shared_bytes
            simulate(ptx, kernel.grid_shape, kernel.threads, stored, source=text, shared_bytes=shared_bytes)
        except SimulationError as error:
            raise ExecutionError(str(error), kernel) from error
        except UnsupportedPtxError as error:
            raise NotExecutableError(str(error), kernel) from error
    for buffer, array, type in zip(buffers[:outputs], stored, types, strict=False):
        buffer[...] = from_storage(array, type).reshape(buffer.shape)


def _read_only(array: Array) -> Array:
    """So that the simulator lets no kernel store to it."""
    array.flags.writeable = False
    return array
