"""The meaning of a kernel in cpu_kernel form: this machine's C compiler builds its C text, which the CPU executes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ...dialects import cpu_kernel
from ...dialects.argument_attributes import set_mutated
from ...dialects.types import is_memref
from ...dialects.uop import LaunchOp
from ...rewriting.diagnostics import PassError
from ..native.compilation import load_guarded
from ..native.compiler import INSTALL_HINT, CCompileError, CompilerNotFoundError
from ..native.program import OutOfBoundsError
from .arrays import Array, ExecutionError, NotExecutableError
from .buffers import NONE
from .stored import from_storage, to_storage


def interpret_cpu_kernel(kernel: cpu_kernel.KernelOp, buffers: Sequence[Array], kept: Mapping[int, int] = NONE) -> None:
    """Run a kernel on its buffers, outputs first, of any shape; it writes its outputs in place.

    kept: outputs whose elements it need not write, each with the input that it does not read in its stead
    Raises `ExecutionError` for a kernel that the compiler refuses, or that writes what it must not, and
    `NotExecutableError` where there is no compiler.
    """
    types = [argument.type for argument in kernel.body.block.args]
    outputs = kernel.outputs.value.data
    stored = [to_storage(buffer, type) for buffer, type in zip(buffers, types, strict=True)]
    inputs = stored[outputs:]
    for output, place in kept.items():
        inputs[place] = stored[output]
    try:
        program = load_guarded(_program_of(kernel, kept), _NAME)
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


def _program_of(kernel: cpu_kernel.KernelOp, kept: Mapping[int, int]) -> ModuleOp:
    """A program that launches the kernel once."""
    types = [_tensor(argument.type) for argument in kernel.body.block.args]
    outputs = kernel.outputs.value.data
    function = FuncOp(_NAME, (types[outputs:], types[:outputs]))
    arguments: Sequence[SSAValue] = function.body.block.args
    for argument, buffer in zip(arguments, kernel.body.block.args[outputs:], strict=True):
        argument.name_hint = buffer.name_hint
    launch = LaunchOp.of(kernel.sym_name.data, arguments, types[:outputs])
    launch.take([kept.get(place) for place in range(outputs)])
    function.body.block.add_ops([launch, ReturnOp(*launch.results)])
    set_mutated(function, {place: output for output, place in kept.items()})
    return ModuleOp([kernel.clone(), function])


def _tensor(type: Attribute) -> TensorType[Attribute]:
    assert is_memref(type)
    buffer: MemRefType[Attribute] = type
    return TensorType(buffer.element_type, buffer.get_shape())
