"""CUDA kernels in the simulator: launches, and whole artifacts."""

from __future__ import annotations

from collections.abc import Sequence

from ..nvrtc import compile_cuda
from ..simulator import Counters, SimulationError, simulate
from .arrays import Array, PoisonedMemory, copy_updated, fit_inputs, meant
from .artifact import Artifact
from .plan import Kernel, Launch, Plan
from .walk import walk


def simulate_launch(
    plan: Plan,
    kernel: Kernel,
    buffers: Sequence[Array],
    outputs: int,
    *,
    text: str,
    ptx: str,
    check_races: bool = True,
    sample: bool = False,
) -> Counters:
    """Simulate one launch; what goes wrong is told with the user's lines, where its CUDA line has some.

    buffers: the kernel's, outputs first; it can write to those only. text, ptx: of the kernel. sample: see `simulate`
    """
    if kernel.is_empty:
        return Counters()
    arrays = [buffer.reshape(-1) for buffer in buffers]
    for array in arrays[outputs:]:
        array.flags.writeable = False  # of the view that `reshape` has made
    try:
        return simulate(
            ptx,
            kernel.grid,
            kernel.threads,
            arrays,
            check_races=check_races,
            source=text,
            shared_bytes=kernel.dynamic_shared_bytes,
            sample=sample,
        )
    except SimulationError as error:
        sources = plan.sources_of(kernel, error.line) if error.line else ()
        places = "".join(f"\n  from {source}" for source in sources)
        raise SimulationError(f"{error}{places}", error.kind, error.line) from None


class SimulatedProgram:
    """An artifact in the simulator, with the race check on."""

    def __init__(self, artifact: Artifact) -> None:
        """Raises `PlanError` where a kernel has no text, `CompileError` where it has no PTX and NVRTC refuses that."""
        self.plan = artifact.plan
        kernels = self.plan.kernels.items()
        self._texts = {name: artifact.text(kernel, "cuda") for name, kernel in kernels}
        self._ptx = {name: self._ptx_of(artifact, name, kernel) for name, kernel in kernels}

    def _ptx_of(self, artifact: Artifact, name: str, kernel: Kernel) -> str:
        if artifact.file(kernel, "ptx") is not None:
            return artifact.text(kernel, "ptx")
        virtual = self.plan.arch.replace("sm_", "compute_")
        return compile_cuda(self._texts[name], virtual, name=f"{kernel.entry}.cu").ptx

    def execute(self, inputs: Sequence[Array]) -> list[Array]:
        """What the program gives, in memory of its own; the inputs are not changed. Raises the simulator's errors."""
        given = copy_updated(self.plan, fit_inputs(self.plan, inputs))
        outputs = walk(self.plan, given, PoisonedMemory(self.plan), self._launch)
        owned = zip(outputs, self.plan.owned_outputs, strict=True)
        return meant(self.plan, given, [output if its_own else output.copy() for output, its_own in owned])

    def _launch(self, launch: Launch, buffers: Sequence[Array]) -> None:
        name = launch.kernel
        simulate_launch(
            self.plan,
            self.plan.kernels[name],
            buffers,
            len(launch.outputs),
            text=self._texts[name],
            ptx=self._ptx[name],
        )
