"""A launch in the simulator of CUDA kernels."""

from __future__ import annotations

from collections.abc import Sequence

from ..simulator import Counters, SimulationError, simulate
from .arrays import Array
from .plan import Kernel, Plan


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
        return simulate(ptx, kernel.grid, kernel.threads, arrays, check_races=check_races, source=text, sample=sample)
    except SimulationError as error:
        sources = plan.sources_of(kernel, error.line) if error.line else ()
        places = "".join(f"\n  from {source}" for source in sources)
        raise SimulationError(f"{error}{places}", error.kind, error.line) from None
