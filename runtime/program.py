"""Programs of several kernels: compile each, run them in order, keep the buffers between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ..dialects import gpu_kernel
from ..dialects.types import shape_of
from ..dialects.uop import LaunchOp, ReshapeOp
from ..rewriting.diagnostics import PassError
from ..targets.cuda import gpu_kernels, kernel_lines, kernel_name, kernel_text
from .arena import Arena
from .nvrtc import Resources, compile_cuda
from .simulator import Counters, SimulationError, simulate
from .storage import Array, storage_dtype


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel, ready to run.

    text: its CUDA text. ptx: what the simulator executes. resources: what it takes on `kernel.arch`.
    """

    kernel: gpu_kernel.KernelOp
    text: str
    ptx: str
    resources: Resources

    @property
    def name(self) -> str:
        return self.kernel.sym_name.data

    @property
    def is_empty(self) -> bool:
        """Whether its grid has no blocks, so that there is nothing to launch."""
        return 0 in self.kernel.grid_shape


@dataclass(frozen=True)
class KernelRun:
    """One launch of a kernel and what it did."""

    compiled: CompiledKernel
    counters: Counters


@dataclass(frozen=True)
class ProgramRun:
    """The results of a program, each launch in order, and the memory between them.

    arena: bytes that the launches' results share, as `uop-plan-buffers` planned. unplanned: bytes without reuse.
    """

    outputs: list[Array]
    kernels: list[KernelRun]
    arena: int
    unplanned: int


def flat(array: Array) -> Array:
    """The array as a buffer: a view of one dimension."""
    return array.reshape(-1)


def read_only(array: Array) -> Array:
    """A view of the array as a buffer that the simulator lets no kernel store to."""
    view = flat(array)
    view.flags.writeable = False
    return view


def compile_kernel(kernel: gpu_kernel.KernelOp) -> CompiledKernel:
    """CUDA text, PTX and resources of one kernel for the architecture that it names."""
    text = kernel_text(kernel)
    arch = kernel.arch.data
    name = kernel_name(kernel)
    resources = compile_cuda(text, arch, name=f"{name}.cu").resources[name]
    ptx = compile_cuda(text, arch.replace("sm_", "compute_"), name=f"{name}.cu").ptx
    return CompiledKernel(kernel, text, ptx, resources)


def _launch(compiled: CompiledKernel, buffers: Sequence[Array], *, check_races: bool, sample: bool) -> Counters:
    """Simulate one launch; what goes wrong is told with the user's lines, where its CUDA line has some."""
    kernel = compiled.kernel
    try:
        return simulate(
            compiled.ptx,
            kernel.grid_shape,
            kernel.threads,
            buffers,
            check_races=check_races,
            source=compiled.text,
            sample=sample,
        )
    except SimulationError as error:
        sources = kernel_lines(kernel)[error.line - 1].sources if error.line else ()
        places = "".join(f"\n  from {source}" for source in sources)
        raise SimulationError(f"{error}{places}", error.kind, error.line) from None


class Program:
    """The kernels of a module in `gpu_kernel` form, and the function that launches them."""

    def __init__(self, module: ModuleOp, name: str = "forward"):
        """Compile the kernels. Raises `PassError` where one is at another level, or there is no such function."""
        self.kernels = {kernel.sym_name.data: compile_kernel(kernel) for kernel in gpu_kernels(module)}
        functions = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name]
        if not functions:
            raise PassError(f"the module has no function @{name}", module)
        self.function = functions[0]

    def run(
        self,
        arguments: Sequence[Array],
        *,
        check_races: bool = True,
        sample: bool = False,
        on_kernel: Callable[[KernelRun], None] | None = None,
    ) -> ProgramRun:
        """Run the program in the simulator.

        arguments: one contiguous array for each argument of the function, of its shape and `storage_dtype`; they are
          not changed. sample: run a few blocks of a large grid for its counters, as `simulate` does; the outputs are
          then incomplete. on_kernel: called after each launch.
        Raises the simulator's errors: races, accesses out of bounds, reads of what was not written; and `PassError`
        for a plan of the memory that loses a result.
        """
        block = self.function.body.block
        values: dict[SSAValue, Array] = {}
        for argument, array in zip(block.args, arguments, strict=True):
            expected = storage_dtype(argument.type)
            if array.shape != shape_of(argument.type) or array.dtype != expected:
                raise ValueError(
                    f"argument {argument.name_hint or argument.index} is {argument.type},"
                    f" not an array of {array.dtype} of shape {array.shape}"
                )
            values[argument] = np.ascontiguousarray(array)
        runs: list[KernelRun] = []
        arena = Arena(self.function)
        for op in block.ops:
            if isinstance(op, LaunchOp):
                compiled = self.kernels[op.kernel.root_reference.data]
                outputs = arena.results(op)
                counters = Counters()
                if not compiled.is_empty:
                    buffers = [*map(flat, outputs), *(read_only(values[operand]) for operand in op.operands)]
                    counters = _launch(compiled, buffers, check_races=check_races, sample=sample)
                runs.append(KernelRun(compiled, counters))
                if on_kernel is not None:
                    on_kernel(runs[-1])
                values.update(zip(op.results, outputs, strict=True))
                arena.after(op)
            elif isinstance(op, ReshapeOp):
                values[op.result] = values[op.input].reshape(shape_of(op.result.type))
            elif isinstance(op, ReturnOp):
                return ProgramRun([values[operand] for operand in op.operands], runs, arena.size, arena.unplanned)
            else:
                raise PassError(f"{op.name} does not stand in a program", op, "uop-partition moves it into a kernel")
        raise PassError("the program returns nothing", self.function)
