"""The tables of `uop run`."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ..rewriting.locations import source_lines
from ..runtime.cuda.program import CudaProgram
from ..runtime.program import ProgramRun
from .comparison import Comparison


def kernel_table(run: ProgramRun) -> Table:
    """One row for each launch: its source lines, its launch, what it takes and what it did."""
    table = Table(title="Kernels in the simulator", title_justify="left")
    table.add_column("kernel")
    table.add_column("source", overflow="fold")
    for title in (
        "grid",
        "block",
        "registers",
        "shared",
        "spills",
        "instructions",
        "loads/least",
        "stores/least",
        "conflicts",
    ):
        table.add_column(title, justify="right")
    for launch in run.kernels:
        kernel, resources, counters = launch.compiled.kernel, launch.compiled.resources, launch.counters
        table.add_row(
            launch.compiled.name,
            "\n".join(source_lines(kernel.location)),
            "x".join(map(str, kernel.grid_shape)),
            str(kernel.threads),
            str(resources.registers),
            f"{resources.shared_bytes} B",
            f"{resources.spill_store_bytes + resources.spill_load_bytes} B",
            f"{counters.instructions:,}",
            f"{counters.global_load_sectors:,}/{counters.unique_load_sectors:,}",
            f"{counters.global_store_sectors:,}/{counters.unique_store_sectors:,}",
            f"{counters.bank_conflicts:,}",
        )
    table.caption = (
        "instructions: issued by warps · loads, stores: 32-byte sectors of global memory against the least possible"
        " · conflicts: extra passes over shared memory"
    )
    if run.arena:
        table.caption += f"\nbuffers between kernels: {run.arena:,} B, {run.unplanned:,} B without reuse"
    return table


def gpu_table(program: CudaProgram) -> Table:
    """One row for each launch on the GPU that the program ran on: its source lines, its launch, and what it takes."""
    gpu, kernels = next(iter(program.loaded.items()))
    table = Table(title=f"Kernels on {gpu}", title_justify="left")
    table.add_column("kernel")
    table.add_column("source", overflow="fold")
    for title in ("grid", "block", "registers", "shared"):
        table.add_column(title, justify="right")
    for launch in program.plan.launches:
        loaded = kernels.get(launch.kernel)
        if loaded is not None:
            table.add_row(
                launch.kernel,
                "\n".join(loaded.sources),
                "x".join(map(str, loaded.kernel.grid)),
                str(loaded.kernel.threads),
                str(loaded.registers),
                f"{loaded.shared_bytes} B",
            )
    if program.plan.arena_bytes:
        table.caption = f"buffers between kernels: {program.plan.arena_bytes:,} B"
    return table


def comparison_table(comparisons: Sequence[Comparison]) -> Table:
    """One row for each output: its error, eager's error, the verdict."""
    table = Table(title="Result against float64", title_justify="left")
    table.add_column("output")
    for title in ("error", "eager's error", "NaN or ∞ mismatches"):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    for row in comparisons:
        shape = "x".join(map(str, row.shape)) or "scalar"
        table.add_row(
            f"{shape} {row.dtype}",
            f"{row.error:.2e}",
            f"{row.eager_error:.2e}",
            str(row.mismatches),
            "right" if row.right else "[bold red]WRONG",
        )
    return table
