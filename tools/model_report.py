"""The table of `uop compile` for language models."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from .model_compilation import CompiledStep


def model_table(steps: Sequence[CompiledStep]) -> Table:
    """What came of each program: kernels, work and memory, a column for each."""
    table = Table()
    table.add_column("")
    for step in steps:
        table.add_column(step.name, justify="right")

    def row(name: str, *cells: str) -> None:
        table.add_row(name, *cells)

    row("kernels a layer", *(str(step.kernels_per_layer) for step in steps))
    row("distinct kernels", *(str(step.kernels) for step in steps))
    row("launches", *(str(step.launches) for step in steps))
    table.add_section()
    row("operations on floats", *(_scaled(step.work.flops, "") for step in steps))
    row("  against the least", *(_ratio(step.work.flops, step.least_flops) for step in steps))
    row("bytes moved", *(_bytes(step.work.moved) for step in steps))
    row("  against the least", *(_ratio(step.work.moved, step.work.bytes) for step in steps))
    table.add_section()
    row("peak memory", *(_bytes(step.memory.total) for step in steps))
    for name in ("weights", "cache", "arena", "others"):
        row(f"  {name}", *(_bytes(getattr(step.memory, name)) for step in steps))
    table.add_section()
    row("CPU seconds", *(f"{sum(step.seconds.values()):.2f}" for step in steps))
    row("  but for torch.export", *(f"{step.own_seconds:.2f}" for step in steps))
    table.add_section()
    for name in dict.fromkeys(name for step in steps for name in step.seconds):
        row(f"  {name}", *(f"{step.seconds.get(name, 0):.2f}" for step in steps))
    return table


def _ratio(amount: int, least: int) -> str:
    return f"{amount / least:.2f}x" if least else ""


def _bytes(count: int) -> str:
    return _scaled(count, "B")


def _scaled(count: int, unit: str) -> str:
    """`1.23 GB`"""
    value, prefix = float(count), ""
    for larger in ("k", "M", "G", "T"):
        if value < 1000:
            break
        value, prefix = value / 1000, larger
    return f"{value:.3g} {prefix}{unit}".rstrip()
