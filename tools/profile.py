"""The text of `uop run --profile`: what each line of CUDA did, and which line of PyTorch it came from."""

from __future__ import annotations

import linecache
from collections.abc import Iterator, Sequence
from textwrap import wrap

from ..runtime.profile import LaunchProfile, ProfileLine, Residency, Traffic

WIDTH = 120
TITLES = ("instr.", "requests", "sectors", "conflicts")
LEFT_TITLES = ("GPU", "limited by")


def profile_text(profile: LaunchProfile, *, with_opcodes: bool = False) -> str:
    """A launch in at most 120 columns: how it fills the GPUs, its totals, its text with the counters of each line.

    with_opcodes: below each line the PTX instructions that it took.
    """
    return "\n".join(line.rstrip() for line in _lines(profile, with_opcodes))


def _lines(profile: LaunchProfile, with_opcodes: bool) -> Iterator[str]:
    kernel = profile.compiled.kernel
    grid = " x ".join(map(str, kernel.grid_shape))
    yield f"{profile.compiled.name}: grid {grid}, {kernel.threads:,} threads a block"
    for source in profile.sources:
        text = _source_text(source)
        yield _cut(f"  {source} | {text}" if text else f"  {source}")
    yield from (f"  {line}" for line in (*_residencies(profile), *_totals(profile)))
    yield ""
    cells = [*(_cells(line.traffic) for line in profile.lines), _cells(profile.total), TITLES]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    number_width = max(4, len(str(len(profile.lines))))

    def row(cells: Sequence[str], number: str, text: str) -> str:
        counts = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        return f"{counts}  {number:>{number_width}}  {text}"

    blank = ("",) * len(TITLES)
    room = WIDTH - len(row(blank, "", ""))
    yield row(TITLES, "line", "CUDA")
    last: tuple[str, ...] = ()
    for line in profile.lines:
        indent = " " * (len(line.code) - len(line.code.lstrip()))
        if line.sources and line.sources != last:
            last = line.sources
            for part in wrap(", ".join(last), room - len(indent) - 3):
                yield row(blank, "", f"{indent}// {part}")
        first, *others = _wrapped(line, indent, room)
        yield row(_cells(line.traffic), str(line.number or ""), first)
        for part in others:
            yield row(blank, "", part)
        if with_opcodes and line.opcodes:
            opcodes = ", ".join(f"{count:,} {opcode}" for opcode, count in line.opcodes.items())
            for part in wrap(opcodes, room - len(indent) - 4):
                yield row(blank, "", f"{indent}  > {part}")
    yield row(_cells(profile.total), "", "total")


def _wrapped(line: ProfileLine, indent: str, room: int) -> list[str]:
    code = line.code if line.number else "(instructions without a line)"
    if len(code) <= room:
        return [code]
    return wrap(code.strip(), room, initial_indent=indent, subsequent_indent=f"{indent}      ", break_on_hyphens=False)


def _cells(traffic: Traffic) -> tuple[str, ...]:
    counts = (traffic.instructions, traffic.requests, traffic.sectors, traffic.conflicts)
    return tuple(f"{count:,}" if count else "" for count in counts)


def _residencies(profile: LaunchProfile) -> Iterator[str]:
    """A table with a row for each GPU."""
    rows = [("GPU", "registers", "shared", "blocks per multiprocessor", "limited by", "warps", "waves")]
    rows += [_residency_row(residency) for residency in profile.residencies]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(
            cell.ljust(width) if title in LEFT_TITLES else cell.rjust(width)
            for cell, width, title in zip(row, widths, rows[0], strict=True)
        )


def _residency_row(residency: Residency) -> tuple[str, ...]:
    resources, occupancy = residency.resources, residency.occupancy
    return (
        f"{residency.gpu} ({residency.arch})",
        str(resources.registers),
        f"{resources.shared_bytes:,} B",
        str(occupancy.blocks),
        occupancy.limiter,
        f"{occupancy.fraction:.0%}",
        "does not fit" if residency.waves is None else f"{residency.waves:,.{_decimals(residency.waves)}f}",
    )


def _decimals(waves: float) -> int:
    """Digits behind the point that tell what the last wave leaves idle, or how little a small grid fills."""
    return 2 if waves >= 0.1 else 4


def _totals(profile: LaunchProfile) -> Iterator[str]:
    total, counters = profile.total, profile.counters

    def moved(sectors: int, requests: int, least: int | None) -> str:
        return f"{sectors:,} sectors in {requests:,} requests" + (f", {least:,} at least" if least is not None else "")

    loads = moved(total.load_sectors, total.load_requests, profile.least_load_sectors)
    stores = moved(total.store_sectors, total.store_requests, profile.least_store_sectors)
    yield f"loads: {loads}; stores: {stores}"
    yield f"shared memory: {total.wavefronts:,} passes, {total.conflicts:,} of them for bank conflicts"
    if counters.simulated_blocks < counters.blocks:
        yield f"{counters.simulated_blocks:,} of {counters.blocks:,} blocks ran, which count the same"


def _source_text(source: str) -> str:
    """The text of `model.py:7`; empty where the file is not there."""
    file, _, line = source.rpartition(":")
    return linecache.getline(file, int(line)).strip()


def _cut(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
