"""The meaning of a whole program at any level: its launches in order, each kernel in the form that it has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...dialects import cpu_kernel, gpu_kernel
from ...dialects.tile import Tile
from ...dialects.types import shape_of
from ...dialects.uop import KernelOp, LaunchOp, ReshapeOp, shown_by
from .arrays import Array, ExecutionError, NotExecutableError
from .bounded import BoundedCall
from .buffers import NONE, poisoned_buffer
from .cpu_kernels import interpret_cpu_kernel
from .gpu_kernels import interpret_gpu_kernel
from .scalars import interpret_scalar_kernel
from .tensors import interpret_function
from .tensors import interpret_kernel as interpret_tensor_kernel
from .tiles import interpret_tile_kernel

Kernel = KernelOp | gpu_kernel.KernelOp | cpu_kernel.KernelOp

OnLaunch = Callable[[str, Sequence[Array]], None]
"""Told of each launch: the kernel's name and what it has given."""


def interpret_kernel(kernel: Kernel, buffers: Sequence[Array], kept: Mapping[int, int] = NONE) -> None:
    """Run a kernel in any form on its buffers, outputs first; it writes its outputs in place.

    kept: outputs that hold elements which it need not write, each with the input that it does not read in its stead
    Raises `ExecutionError`, which names the op that does what has no meaning.
    """
    if isinstance(kernel, gpu_kernel.KernelOp):
        interpret_gpu_kernel(kernel, buffers, kept)
    elif isinstance(kernel, cpu_kernel.KernelOp):
        interpret_cpu_kernel(kernel, buffers, kept)
    elif kernel.is_tensor_form:
        outputs = len(kernel.declared_results.data)
        results = interpret_tensor_kernel(kernel, buffers[outputs:])
        for buffer, result in zip(buffers, results, strict=False):
            buffer[...] = result
    elif any(isinstance(op, tuple(Tile.operations)) for op in kernel.body.walk()):
        interpret_tile_kernel(kernel, buffers, kept)
    else:
        interpret_scalar_kernel(kernel, buffers, kept)


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
            kept = {place: taken for place, taken in enumerate(op.reused()) if taken is not None}
            outputs = [poisoned_buffer(result.type) for result in op.results]
            for place in kept:
                _take_over(op, place, values, outputs[place])
            if isinstance(kernel, KernelOp) and not kernel.is_tensor_form:
                for buffer in kernel.body.block.args[: len(outputs)]:
                    if buffer.first_use is None and 0 not in shape_of(buffer.type):
                        raise ExecutionError(f"the kernel does not write %{buffer.name_hint}", kernel)
            interpret_kernel(kernel, [*outputs, *(values[operand] for operand in op.operands)], kept)
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


def _take_over(launch: LaunchOp, result: int, values: dict[SSAValue, Array], output: Array) -> None:
    """Let an output start with the elements of the operand whose buffer it takes, and poison those: who reads the old
    value, the kernel included, gets what nobody has written."""
    operand = launch.reused()[result]
    assert operand is not None
    old = launch.operands[operand]
    output[...] = values[old].reshape(output.shape)
    for value in list(values):
        if shown_by(value) is shown_by(old):
            values[value] = poisoned_buffer(value.type)
