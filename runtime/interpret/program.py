"""The meaning of a whole program at any level: its launches in order, each kernel in the form that it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...dialects import cpu_kernel, gpu_kernel
from ...dialects.tile import Tile
from ...dialects.types import shape_of
from ...dialects.uop import KernelOp, LaunchOp, ReshapeOp
from .arrays import Array, ExecutionError, NotExecutableError
from .bounded import BoundedCall
from .buffers import poisoned_buffer
from .cpu_kernels import interpret_cpu_kernel
from .gpu_kernels import interpret_gpu_kernel
from .scalars import interpret_scalar_kernel
from .tensors import interpret_function
from .tensors import interpret_kernel as interpret_tensor_kernel
from .tiles import interpret_tile_kernel

Kernel = KernelOp | gpu_kernel.KernelOp | cpu_kernel.KernelOp

OnLaunch = Callable[[str, Sequence[Array]], None]
"""Told of each launch: the kernel's name and what it has given."""


def interpret_kernel(kernel: Kernel, buffers: Sequence[Array]) -> None:
    """Run a kernel in any form on its buffers, outputs first; it writes its outputs in place.

    Raises `ExecutionError`, which names the op that does what has no meaning.
    """
    if isinstance(kernel, gpu_kernel.KernelOp):
        interpret_gpu_kernel(kernel, buffers)
    elif isinstance(kernel, cpu_kernel.KernelOp):
        interpret_cpu_kernel(kernel, buffers)
    elif kernel.is_tensor_form:
        outputs = len(kernel.declared_results.data)
        results = interpret_tensor_kernel(kernel, buffers[outputs:])
        for buffer, result in zip(buffers, results, strict=False):
            buffer[...] = result
    elif any(isinstance(op, tuple(Tile.operations)) for op in kernel.body.walk()):
        interpret_tile_kernel(kernel, buffers)
    else:
        interpret_scalar_kernel(kernel, buffers)


def interpret_program(
    module: ModuleOp, name: str, arguments: Sequence[Array], on_launch: OnLaunch | None = None
) -> list[Array]:
    """What the function `name` of the module returns; the arguments are not changed.

    arguments: one array for each argument, of its `numpy_dtype` and shape: of the extents that are meant, where it has
      some. on_launch: called after each launch.
    Raises `ExecutionError`, which names the op; so for a result that a kernel leaves unwritten.
    """
    symbols = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp | Kernel)}
    function = symbols.get(name)
    if not isinstance(function, FuncOp):
        raise NotExecutableError(f"the module has no function @{name}", module)
    block = function.body.block
    call = BoundedCall.of(function, arguments)
    arguments = call.with_room(arguments)
    if not any(isinstance(op, LaunchOp) for op in block.ops):
        return call.meant(interpret_function(function, arguments))
    values: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
    for op in block.ops:
        if isinstance(op, LaunchOp):
            kernel = symbols.get(op.kernel.root_reference.data)
            if not isinstance(kernel, Kernel):
                raise NotExecutableError(f"the module has no kernel {op.kernel}", op)
            outputs = [poisoned_buffer(result.type) for result in op.results]
            if isinstance(kernel, KernelOp) and not kernel.is_tensor_form:
                for buffer in kernel.body.block.args[: len(outputs)]:
                    if buffer.first_use is None and 0 not in shape_of(buffer.type):
                        raise ExecutionError(f"the kernel does not write %{buffer.name_hint}", kernel)
            interpret_kernel(kernel, [*outputs, *(values[operand] for operand in op.operands)])
            values.update(zip(op.results, outputs, strict=True))
            if on_launch is not None:
                on_launch(op.kernel.root_reference.data, outputs)
        elif isinstance(op, ReshapeOp):
            values[op.result] = values[op.input].reshape(shape_of(op.result.type))
        elif isinstance(op, ReturnOp):
            return call.meant([values[operand] for operand in op.operands])
        else:
            raise NotExecutableError(f"{op.name} does not stand in a program", op)
    raise ExecutionError("the program returns nothing", function)
