"""The results of bench/gpu.py as a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from gpu_fit import Factor, Sample, fit
from gpu_units import COPY, OVERHEAD, PRODUCT, RIGHT
from kernel_bounds import GPUS

REFERENCES = {"sm_80": "A100", "sm_90": "H100"}
"""Architecture → the GPU whose rates the bounds are for."""

RATES = {pipe: pipe for pipe in ("issue", "fp32", "integer", "special", "tensor", "shared")} | {
    "L1": "l1_sectors",
    "L2": "l2_bytes",
    "DRAM": "dram_bytes",
}
"""Pipe of the bounds → the field of `kernel_bounds.Gpu` that is its rate."""

CASE_COLUMNS = ("uop", "eager", "inductor", "triton")
MODEL_COLUMNS = ("uop", "uop, graph", "eager", "inductor")

Units = Mapping[str, Mapping[str, Any]]


def samples(results: Mapping[str, Any], bounds: Mapping[str, Mapping[str, float]]) -> list[Sample]:
    """The cases that ours computes in one launch, with their times without what any launch takes.

    bounds: case → pipe → microseconds
    """
    overhead = results["units"].get(OVERHEAD, {}).get("times", {}).get("median", 0.0)
    found: list[Sample] = []
    for name, pipes in bounds.items():
        record = results["units"].get(f"case/{name}/uop", {})
        if record.get("status") == RIGHT and record["notes"].get("launches") == 1:
            found.append(Sample(name, pipes, max(record["times"]["median"] - overhead, 0.0)))
    return found


def fitted(results: Mapping[str, Any], bounds: Mapping[str, Mapping[str, float]]) -> dict[str, Any]:
    """The fit as JSON has it."""
    return {pipe: asdict(factor) for pipe, factor in fit(samples(results, bounds)).items()}


def document(
    results: Mapping[str, Any], titles: Mapping[str, str], bounds: Mapping[str, Mapping[str, float]], reference: str
) -> str:
    """The page, in Markdown. titles: of the cases; reference: the GPU whose bounds they are"""
    machine, units = results["machine"], results["units"]
    models = list(dict.fromkeys(key.split("/")[1] for key in units if key.startswith("model/")))
    parts = [f"# Measured on {machine['gpu']}", ""]
    if machine["dry_run"]:
        parts += ["**A dry run on a GPU that is not there: kernels ran in the simulator, no time means anything.**", ""]
    parts += [
        "<!-- Written by bench/gpu.py. -->",
        "",
        ", ".join(f"{name} {version}" for name, version in machine["versions"].items()) + ".",
        "",
        "Microseconds: median, and what the middle 80 % of the runs lie between. Cases are CUDA graphs that are",
        "replayed, with L2 flushed before each; models are called as a user calls them, launches included.",
    ]
    if OVERHEAD in units:
        parts.append(f"A graph of almost nothing takes {_times(units[OVERHEAD])} µs.")
    if COPY in units and PRODUCT in units:
        moved, computed = (units[key]["per second"] / 1e12 for key in (COPY, PRODUCT))
        parts.append(f"A copy moves {moved:.2f} TB/s, PyTorch's product of f16 matrices does {computed:.0f} TFLOP/s.")
    parts += ["", "## Cases", "", *_cases(units, titles, bounds, reference)]
    if models:
        parts += ["", "## Models", "", *_models(units, models)]
    parts += ["", "## Rates", "", *_rates(fit(samples(results, bounds)), reference)]
    failures = [(key, record) for key, record in units.items() if record["status"] != RIGHT]
    if failures:
        parts += ["", "## What did not work out", ""]
        parts += [f"- {key}: {record['status']}, {_reason(record)}" for key, record in failures]
    return "\n".join([*parts, ""])


def _cases(
    units: Units, titles: Mapping[str, str], bounds: Mapping[str, Mapping[str, float]], reference: str
) -> Iterator[str]:
    rows: list[Sequence[str]] = []
    for name, title in titles.items():
        records = [units.get(f"case/{name}/{contender}", {}) for contender in CASE_COLUMNS]
        if not any(records):
            continue
        ours = _median(records[0])
        bound = max(bounds[name].values()) if name in bounds else None
        rows.append(
            [
                title,
                *map(_times, records),
                *(_quotient(_median(record), ours) for record in records[1:]),
                "" if bound is None else f"{bound:.1f}",
                _quotient(bound, ours, percent=True),
            ]
        )
    faster = [f"{contender} / ours" for contender in CASE_COLUMNS[1:]]
    yield from _table(["case", *CASE_COLUMNS, *faster, f"bound, {reference}", "of the bound"], rows)


def _models(units: Units, models: Sequence[str]) -> Iterator[str]:
    rows: list[Sequence[str]] = []
    for name in models:
        records = [units.get(f"model/{name}/{contender}", {}) for contender in MODEL_COLUMNS]
        rows.append([name, *map(_times, records), _quotient(_median(records[2]), _median(records[1]))])
    yield from _table(["model", *MODEL_COLUMNS, "eager / ours, graph"], rows)


def _rates(factors: Mapping[str, Factor], reference: str) -> Iterator[str]:
    if not factors:
        yield "Nothing to fit them with."
        return
    yield f"How many times longer kernels take than the bound of their slowest pipe on {reference}, by least squares;"
    yield "the rate of `kernel_bounds.py` that would make them meet; and the error of times that are predicted so."
    yield ""
    rows = [
        [pipe, f"{factor.factor:.2f}", _rate(pipe, factor, reference), f"{factor.error:.0%}", ", ".join(factor.kernels)]
        for pipe, factor in factors.items()
    ]
    yield from _table(["pipe", "factor", "rate", "error", "kernels"], rows)


def _rate(pipe: str, factor: Factor, reference: str) -> str:
    """The field of `Gpu` that is the pipe's peak rate, divided by the factor."""
    field = RATES[pipe]
    return f"{field} = {getattr(GPUS[reference], field) / factor.factor:.3g}" if factor.factor else ""


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]


def _median(record: Mapping[str, Any]) -> float | None:
    """The time of a record that is right."""
    return record["times"]["median"] if record.get("status") == RIGHT else None


def _times(record: Mapping[str, Any]) -> str:
    if not record:
        return ""
    if "times" not in record:
        return record["status"]
    times = record["times"]
    text = f"{times['median']:.1f} ({times['low']:.1f} to {times['high']:.1f})"
    if record.get("notes", {}).get("left to eager"):
        text += ", in part eager"
    return text if record["status"] == RIGHT else f"{text}, {record['status']}"


def _quotient(one: float | None, other: float | None, *, percent: bool = False) -> str:
    if one is None or not other:
        return ""
    return f"{one / other:.0%}" if percent else f"{one / other:.2f}"


def _reason(record: Mapping[str, Any]) -> str:
    if "error" in record:
        return record["error"].strip().splitlines()[0]
    return f"the greatest difference is {record['difference']:.2g} of the greatest element"
