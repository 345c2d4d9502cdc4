"""The meaning of a kernel in cpu_kernel form: this machine's C compiler builds its C text, which the CPU executes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ...dialects import cpu_kernel
from ...dialects.types import is_memref
from ...dialects.uop import LaunchOp
from ...rewriting.diagnostics import PassError
from ..native.compilation import load_guarded
from ..native.compiler import INSTALL_HINT, CCompileError, CompilerNotFoundError
from ..native.program import OutOfBoundsError
from .arrays import Array, ExecutionError, NotExecutableError
from .stored import from_storage, to_storage


def interpret_cpu_kernel(kernel: cpu_kernel.KernelOp, buffers: Sequence[Array]) -> None:
    """Run a kernel on its buffers, outputs first, of any shape; it writes its outputs in place.

    Raises `ExecutionError` for a kernel that the compiler refuses, or that writes what it must not, and
    `NotExecutableError` where there is no compiler.
    """
    types = [argument.type for argument in kernel.body.block.args]
    outputs = kernel.outputs.value.data
    inputs = [to_storage(buffer, type) for buffer, type in zip(buffers, types, strict=True)][outputs:]
    try:
        program = load_guarded(_program_of(kernel), _NAME)
        results = program.run_guarded(inputs)
    except PassError as error:
        raise ExecutionError(error.message, kernel) from error
    except CompilerNotFoundError as error:
        raise NotExecutableError(f"there is no C compiler: {INSTALL_HINT}", kernel) from error
    except (CCompileError, OutOfBoundsError) as error:
        raise ExecutionError(str(error), kernel) from error
    for buffer, array, type in zip(buffers[:outputs], results, types, strict=False):
        buffer[...] = from_storage(array, type).reshape(buffer.shape)


_NAME = "kernel_alone"


def _program_of(kernel: cpu_kernel.KernelOp) -> ModuleOp:
    """A program that launches the kernel once."""
    types = [_tensor(argument.type) for argument in kernel.body.block.args]
    outputs = kernel.outputs.value.data
    function = FuncOp(_NAME, (types[outputs:], types[:outputs]))
    arguments: Sequence[SSAValue] = function.body.block.args
    for argument, buffer in zip(arguments, kernel.body.block.args[outputs:], strict=True):
        argument.name_hint = buffer.name_hint
    launch = LaunchOp.of(kernel.sym_name.data, arguments, types[:outputs])
    function.body.block.add_ops([launch, ReturnOp(*launch.results)])
    return ModuleOp([kernel.clone(), function])


def _tensor(type: Attribute) -> TensorType[Attribute]:
    assert is_memref(type)
    buffer: MemRefType[Attribute] = type
    return TensorType(buffer.element_type, buffer.get_shape())
