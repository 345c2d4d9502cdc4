"""Programs of several CUDA kernels: compiled, and run in order in the simulator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects.builtin import ModuleOp

from ..dialects import gpu_kernel
from ..targets.cuda import gpu_kernels, kernel_lines, kernel_name
from ..targets.writer import CodeLine
from .artifact.arrays import Array, PoisonedMemory, copy_updated, fit_inputs, meant
from .artifact.artifact import Artifact
from .artifact.plan import Kernel, Launch, Plan
from .artifact.simulated import simulate_launch
from .artifact.walk import walk
from .nvrtc import Compiled, CompileError, Resources, compile_cuda
from .planning import Sources, find_function, plan_of
from .simulator import Counters


@dataclass(frozen=True)
class CompiledKernel:
    """One kernel as CUDA text, which is compiled when it is first asked what that gives.

    lines: its CUDA text, with the user's lines that each computes
    """

    kernel: gpu_kernel.KernelOp
    lines: Sequence[CodeLine]

    @property
    def name(self) -> str:
        return self.kernel.sym_name.data

    @cached_property
    def text(self) -> str:
        """Its CUDA text, without the comments that name the user's lines."""
        return code_of(self.lines)

    @property
    def is_empty(self) -> bool:
        """Whether its grid has no blocks, so that there is nothing to launch."""
        return 0 in self.kernel.grid_shape

    @cached_property
    def binary(self) -> Compiled:
        """Its cubin and PTX for the architecture that it names. Raises `CompileError` where NVRTC refuses the text."""
        return self._compile(self.kernel.arch.data)

    @property
    def resources(self) -> Resources:
        """What it takes on that architecture."""
        return self.binary.resources[kernel_name(self.kernel)].launched_with(self.kernel.dynamic_shared_bytes)

    @cached_property
    def ptx(self) -> str:
        """What the simulator executes. It takes half of the time of `binary`, and nothing behind that."""
        if "binary" in self.__dict__:
            return self.binary.ptx
        return self._compile(self.kernel.arch.data.replace("sm_", "compute_")).ptx

    def _compile(self, arch: str) -> Compiled:
        try:
            return compile_cuda(self.text, arch, name=f"{kernel_name(self.kernel)}.cu")
        except CompileError as error:
            sources = dict.fromkeys(source for line in error.lines for source in self.lines[line - 1].sources)
            raise CompileError("\n  from ".join([str(error), *sources]), error.log, error.source) from None


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


def code_of(lines: Iterable[CodeLine]) -> str:
    """The text of the lines. It does not change when the user's lines move."""
    return "".join(f"{line.code}\n" for line in lines)


CUDA, PTX, CUBIN = "cuda", "ptx", "cubin"
_SUFFIXES = {CUDA: "cu", PTX: "ptx", CUBIN: "cubin"}


def _planned(compiled: CompiledKernel, sources: Sources) -> Kernel:
    """The kernel as plans have it."""
    entry = kernel_name(compiled.kernel)
    files = {kind: f"kernels/{entry}.{suffix}" for kind, suffix in _SUFFIXES.items()}
    runs = sources.runs((number, line.sources) for number, line in enumerate(compiled.lines, 1))
    kernel = compiled.kernel
    return Kernel(entry, kernel.grid_shape, kernel.threads, files, runs, kernel.dynamic_shared_bytes)


class Program:
    """The kernels of a module in `gpu_kernel` form, and the plan of the function that launches them."""

    def __init__(self, module: ModuleOp, name: str = "forward"):
        """Raises `PassError` where a kernel is at another level, there is no such function, or its plan of the memory
        loses a result."""
        self.kernels = {
            kernel.sym_name.data: CompiledKernel(kernel, kernel_lines(kernel)) for kernel in gpu_kernels(module)
        }
        sources = Sources()
        kernels = {name: _planned(compiled, sources) for name, compiled in self.kernels.items()}
        arch = next((compiled.kernel.arch.data for compiled in self.kernels.values()), "")
        function = find_function(module, name)
        self.plan: Plan = plan_of(function, kernels, target=CUDA, arch=arch, sources=sources.lines)

    def compile(self) -> None:
        """Compile all kernels for their architecture. Raises `CompileError`."""
        for compiled in self.kernels.values():
            _ = compiled.binary

    def artifact(self) -> Artifact:
        """The program as data: its plan, and of each kernel the CUDA text, without comments, the PTX and the cubin.

        Raises `CompileError`.
        """
        self.compile()
        files: dict[str, bytes] = {}
        for name, kernel in self.plan.kernels.items():
            compiled = self.kernels[name]
            data = {CUDA: compiled.text.encode(), PTX: compiled.ptx.encode(), CUBIN: compiled.binary.cubin}
            files.update({kernel.files[kind]: data[kind] for kind in _SUFFIXES})
        return Artifact(self.plan, files)

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
        Raises `CompileError`, and the simulator's errors: races, accesses out of bounds, reads of what was not written.
        """
        plan = self.plan
        runs: list[KernelRun] = []

        def launch(each: Launch, buffers: Sequence[Array]) -> None:
            compiled = self.kernels[each.kernel]
            counters = simulate_launch(
                plan,
                plan.kernels[each.kernel],
                buffers,
                len(each.outputs),
                text=compiled.text,
                ptx=compiled.ptx,
                check_races=check_races,
                sample=sample,
            )
            runs.append(KernelRun(compiled, counters))
            if on_kernel is not None:
                on_kernel(runs[-1])

        given = copy_updated(plan, fit_inputs(plan, arguments))
        outputs = walk(plan, given, PoisonedMemory(plan), launch)
        return ProgramRun(meant(plan, given, outputs), runs, plan.arena_bytes, plan.unplanned_bytes)
