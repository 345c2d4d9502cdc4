"""What of a module can be called, at any level, and what a call gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ...dialects import cpu_kernel, gpu_kernel, loop
from ...dialects.function_sizes import FunctionSizes
from ...dialects.tile import Tile, WriteOp
from ...dialects.torch import AtenOp
from ...dialects.types import bf16, element_of, is_value_type, shape_of
from ...dialects.uop import KernelOp, LaunchOp, StoreOp
from .arrays import Array, ExecutionError, NotExecutableError
from .buffers import poisoned_buffer
from .program import Kernel, interpret_kernel, interpret_program

TORCH, TENSOR, RANGE, LOOP, TILE = "torch", "tensor", "range", "loop", "tile"
GPU_KERNEL, CPU_KERNEL = "gpu_kernel", "cpu_kernel"
"""The forms that a program may have."""

COMPILED = frozenset((GPU_KERNEL, CPU_KERNEL))
"""Those that a compiler of another makes machine code of, with functions of its own."""


@dataclass(frozen=True)
class Entry:
    """A function or kernel that is not called by the rest of its module.

    inputs, outputs: types and names of what it takes, and types of what it gives, of the greatest sizes. The buffers
      that a kernel writes are outputs.
    sizes: what of a function's sizes is known only when it is called
    """

    name: str
    inputs: tuple[Attribute, ...]
    names: tuple[str, ...]
    outputs: tuple[Attribute, ...]
    sizes: FunctionSizes | None = None

    def sized(self, arrays: Sequence[Array], choose: Callable[[int, int], int]) -> list[Array]:
        """Arrays of the inputs' types as a call has them, of sizes that are chosen between their bounds."""
        found = list(arrays)
        if self.sizes is not None:
            values = {name: choose(low, high) for name, (low, high) in self.sizes.bounds.items()}
            for name, (place, _) in self.sizes.symbols.items():
                found[place] = np.array(values[name])
            for place, extents in self.sizes.arguments.items():
                found[place] = found[place][tuple(slice(extent.evaluate(values)) for extent in extents)]
        return found


@dataclass
class Execution:
    """A call: its results, and what each launch in it gave. Arrays are as the interpreters hold them."""

    results: list[Array]
    launches: list[tuple[str, list[Array]]] = field(default_factory=list[tuple[str, list[Array]]])


def entries(module: ModuleOp) -> list[Entry]:
    """The entries of a module, in its order. Functions that only have a declaration are none."""
    launched = {op.kernel.root_reference.data for op in module.walk() if isinstance(op, LaunchOp)}
    found: list[Entry] = []
    for op in module.ops:
        if isinstance(op, FuncOp) and not op.is_declaration:
            if op.sym_visibility == StringAttr("private"):
                continue
            entry = _entry(op.sym_name.data, op.body.blocks[0].args, op.function_type.outputs.data)
            sizes = FunctionSizes.of(op)
            found.append(_with_sizes(entry, sizes) if sizes.symbols else entry)
        elif isinstance(op, Kernel) and op.sym_name.data not in launched:
            outputs, inputs = _split(op)
            results = tuple(argument.type for argument in outputs)
            if isinstance(op, KernelOp) and op.is_tensor_form:
                results = op.declared_results.data
            found.append(_entry(op.sym_name.data, inputs, results))
    return found


def forms(module: ModuleOp, entry: Entry) -> dict[str, str]:
    """The forms of the kernels that a call of the entry launches, by name; its own where it launches none."""
    symbols = _symbols(module)
    op = symbols[entry.name]
    if isinstance(op, Kernel):
        return {entry.name: _form(op)}
    names = [inner.kernel.root_reference.data for inner in op.body.block.ops if isinstance(inner, LaunchOp)]
    if not names:
        return {entry.name: TORCH if any(isinstance(inner, AtenOp) for inner in op.body.block.ops) else TENSOR}
    return {name: _form(kernel) for name in names if isinstance(kernel := symbols.get(name), Kernel)}


def execute(module: ModuleOp, entry: Entry, arrays: Sequence[Array]) -> Execution:
    """Call an entry. The arrays have the shapes and `numpy_dtype` of its inputs, and are not changed; of inputs whose
    extents are not numbers, what is meant.

    Raises `ExecutionError` for a program that does what has no meaning, `NotExecutableError` where it cannot be told.
    """
    op = _symbols(module)[entry.name]
    try:
        if isinstance(op, Kernel):
            return Execution(_call_kernel(op, arrays))
        if len(op.body.blocks) != 1:
            raise NotExecutableError("a function with branches is not interpreted", op)
        for given in entry.inputs:
            if not is_value_type(given):
                raise NotExecutableError(f"an argument of type {given} has no value", op)
        if any(isinstance(inner, AtenOp) for inner in op.body.block.ops):
            return Execution(_call_torch(op, arrays))
        execution = Execution([])
        execution.results = interpret_program(
            module, entry.name, arrays, lambda name, outputs: execution.launches.append((name, list(outputs)))
        )
        if entry.sizes is not None:  # what launches give beyond what is meant is open
            execution.launches.clear()
        return execution
    except (AssertionError, KeyError, IndexError, TypeError, ValueError, MemoryError) as error:
        # Interpreters rely on what the verifier checks; IR of other dialects may pass it and make no sense to them.
        reason = f"{type(error).__name__}: {error}".rstrip(": ")
        raise NotExecutableError(f"@{entry.name} cannot be interpreted: {reason}", op) from error


def _entry(name: str, inputs: Sequence[SSAValue], outputs: Sequence[Attribute]) -> Entry:
    names = (value.name_hint or str(place) for place, value in enumerate(inputs))
    return Entry(name, tuple(value.type for value in inputs), tuple(names), tuple(outputs))


def _with_sizes(entry: Entry, sizes: FunctionSizes) -> Entry:
    inputs, outputs = (tuple(map(sizes.bounded, types)) for types in (entry.inputs, entry.outputs))
    return replace(entry, inputs=inputs, outputs=outputs, sizes=sizes)


def _symbols(module: ModuleOp) -> dict[str, FuncOp | Kernel]:
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp | Kernel)}


def _split(kernel: Kernel) -> tuple[list[SSAValue], list[SSAValue]]:
    """The arguments that a kernel writes, and the others."""
    arguments = list[SSAValue](kernel.body.block.args)
    if isinstance(kernel, gpu_kernel.KernelOp | cpu_kernel.KernelOp):
        outputs = kernel.outputs.value.data
        return arguments[:outputs], arguments[outputs:]
    written = {op.buffer for op in kernel.body.walk() if isinstance(op, StoreOp | WriteOp)}
    return [value for value in arguments if value in written], [value for value in arguments if value not in written]


def _call_kernel(kernel: Kernel, arrays: Sequence[Array]) -> list[Array]:
    arguments = kernel.body.block.args
    if any(not is_value_type(argument.type) for argument in arguments):
        raise NotExecutableError("the kernel has an argument that is no buffer", kernel)
    outputs, inputs = _split(kernel)
    given = {value: array.reshape(shape_of(value.type)) for value, array in zip(inputs, arrays, strict=True)}
    if isinstance(kernel, KernelOp) and kernel.is_tensor_form:
        results = [poisoned_buffer(type) for type in kernel.declared_results.data]
        interpret_kernel(kernel, [*results, *given.values()])
        return results
    results = {value: poisoned_buffer(value.type) for value in outputs}
    interpret_kernel(kernel, [results[value] if value in results else given[value] for value in arguments])
    return list(results.values())


def _call_torch(function: FuncOp, arrays: Sequence[Array]) -> list[Array]:
    try:
        import torch

        from .aten import interpret_torch_function
    except ModuleNotFoundError as error:
        raise NotExecutableError("PyTorch is not installed: pip install 'uop[torch]'", function) from error
    arguments: list[torch.Tensor] = []
    for argument, array in zip(function.body.block.args, arrays, strict=True):
        tensor = torch.from_numpy(np.array(array, order="C"))  # pyright: ignore[reportUnknownMemberType]
        arguments.append(tensor.bfloat16() if element_of(argument.type) == bf16 else tensor)
    torch.manual_seed(0)  # pyright: ignore[reportUnknownMemberType]
    results = interpret_torch_function(function, arguments)
    return [(tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy() for tensor in results]


_INSIDE: Sequence[tuple[str, Callable[[object], bool]]] = (
    (TILE, lambda op: isinstance(op, tuple(Tile.operations))),
    (LOOP, lambda op: isinstance(op, tuple(loop.Loop.operations))),
)


def _form(kernel: Kernel) -> str:
    if isinstance(kernel, gpu_kernel.KernelOp):
        return GPU_KERNEL
    if isinstance(kernel, cpu_kernel.KernelOp):
        return CPU_KERNEL
    if kernel.is_tensor_form:
        return TENSOR
    ops = list(kernel.body.walk())
    return next((form for form, has in _INSIDE if any(map(has, ops))), RANGE)


def faults(module: ModuleOp, entry: Entry, arrays: Sequence[Array]) -> bool:
    """Whether a call does what has no meaning."""
    try:
        execute(module, entry, arrays)
    except NotExecutableError:
        return False
    except ExecutionError:
        return True
    return False
