# torch.cuda is partly untyped.
# pyright: reportUnknownMemberType=false
"""Our kernels on a real GPU: are they right, how fast, and how far from what the simulator says.

Usage: python bench/gpu.py [--budget SECONDS] [--output DIR] [--case NAME]… [--model NAME]… [--redo CONTENDER] [--fresh]
       python bench/gpu.py --dry-run [--output DIR]

Every case of bench/kernels.py and every model of `uop check models` is checked against eager PyTorch and timed, beside
eager, torch.compile (Inductor) and Triton where it is installed. The most important comes first, and the run ends by
itself when the budget (480 s) is used up; results are written to DIR/gpu.json after each step, and the next run goes on
from there. DIR/gpu.md is the same as tables. Then factors are fitted between measured times and the simulator's bounds.

A kernel that hangs or breaks the GPU's context costs its own step alone: measuring is done in a process of its own,
which is started again.

--dry-run does the same with two small cases and a model on a GPU that is not there; it needs the tests' folder.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch
from gpu_contenders import CASE_CONTENDERS, MODEL_CONTENDERS, RECORDED
from gpu_report import REFERENCES, document, fitted
from gpu_units import OVERHEAD, RIGHT, STARTED, Bench, Results, units
from kernel_cases import CASES, Case
from kernel_measure import COUNTED_ON
from kernel_runs import run_ours

from uop.runtime import nvrtc
from uop.runtime.cuda.errors import GpuError
from uop.runtime.cuda.gpus import all_gpus
from uop.runtime.devices import DEVICES
from uop.tools.benching.gpu_times import ClockTimer, GpuTimer, Timer
from uop.tools.checking.models import MODELS

BUDGET = 480.0
HANG = 90.0
"""Seconds after which a step is ended that shows no progress."""

AGAIN = 75
"""Exit status of the measuring process when it has to be started again."""

PACKAGES = ("torch", "triton", "pycuda", "transformers")


def _relu_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.relu(a @ b)


DRY_CASES = {
    "softmax_small": Case("softmax, 8×64", partial(torch.softmax, dim=-1), {"x": ((8, 64), torch.float32)}),
    "matmul_small": Case(
        "relu(matmul), 16×16×16",
        _relu_matmul,
        {"a": ((16, 16), torch.float32), "b": ((16, 16), torch.float32)},
    ),
}
DRY_MODELS = ("t5",)

Bounds = Mapping[str, Mapping[str, float]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=BUDGET, metavar="SECONDS", help="(default: %(default)s)")
    parser.add_argument(
        "--output", type=Path, default=Path("gpu-results"), metavar="DIR", help="(default: %(default)s)"
    )
    parser.add_argument("--case", action="append", choices=list(CASES), metavar="NAME")
    parser.add_argument("--model", action="append", choices=list(MODELS), metavar="NAME")
    contenders = list(dict.fromkeys((*CASE_CONTENDERS, *MODEL_CONTENDERS)))
    parser.add_argument("--redo", choices=contenders, metavar="CONTENDER", help="measure one of them again")
    parser.add_argument("--fresh", action="store_true", help="start over")
    parser.add_argument("--dry-run", action="store_true", help="on a GPU that is not there")
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)  # the measuring process, and when it ends
    options = parser.parse_args()
    is_chosen = options.case or options.model
    cases = {name: CASES[name] for name in (options.case or (() if is_chosen else CASES))}
    models = tuple(options.model or (() if is_chosen else MODELS))
    try:
        if options.dry_run:
            return _dry_run(options.output)
        if options.until is not None:
            bench = Bench(cases, GpuTimer(), "cuda")
            return measure(bench, models, Results.read(_file(options.output), machine()), options.until)
        return _supervise(options, cases, models)
    except (GpuError, nvrtc.NvrtcNotFoundError, ValueError) as error:
        print(f"bench/gpu.py: {error}", file=sys.stderr)
        return 1


def machine() -> dict[str, Any]:
    """What is measured on. Raises `GpuError` where there is no GPU."""
    gpus = all_gpus()
    gpu = gpus.torch.current()
    return _machine(gpus.torch.name(gpu), gpus.open(gpu).arch, gpus.driver.get_driver_version(), dry_run=False)


def measure(bench: Bench, models: tuple[str, ...], results: Results, until: float) -> int:
    """Measure what has no result yet and is likely to be done by `until`, in seconds since the epoch; 0, or AGAIN
    after a failure that broke the GPU's context."""
    if OVERHEAD not in results.units:
        for key, record in bench.machine():
            results.record(key, record)
    for unit in units(bench.cases, models):
        if unit.key in results.units:
            continue
        if time.time() + results.longest(unit) >= until:
            continue
        results.record(unit.key, {"status": STARTED})
        record = bench.measure(unit)
        results.record(unit.key, record)
        median = f"{record['times']['median']:,.1f} µs" if "times" in record else record.get("error", "")
        print(f"{unit.key}: {record['status']}, {median.splitlines()[0] if median else ''}", flush=True)
        if record["status"] != RIGHT and _is_broken(bench.timer):
            return AGAIN
    return 0


def _is_broken(timer: Timer) -> bool:
    try:
        timer.synchronize()
    except RuntimeError:
        return True
    return False


def _supervise(options: argparse.Namespace, cases: Mapping[str, Case], models: tuple[str, ...]) -> int:
    """Start the measuring process, as often as it takes, and write the page."""
    until = time.time() + options.budget
    file = _file(options.output)
    if options.fresh:
        file.unlink(missing_ok=True)
    results = Results.read(file, machine())
    results.forget(options.redo)
    results.write()
    chosen = [*(f"--case={name}" for name in options.case or ()), *(f"--model={name}" for name in options.model or ())]
    command = [sys.executable, __file__, f"--output={options.output}", f"--until={until}", *chosen]
    status, measured = AGAIN, -1
    while status == AGAIN and len(results.units) > measured and time.time() < until:
        measured = len(results.units)
        status = _watch(command, file, until)
        results = Results.read(file, results.machine)
        results.close_started()
        results.write()
    _write_page(results, {name: case.title for name, case in cases.items()}, _recorded_bounds(results.machine["arch"]))
    return 0 if all(record["status"] in (RIGHT, "missing") for record in results.units.values()) else 1


def _watch(command: list[str], file: Path, until: float) -> int:
    """Run the measuring process; its status, AGAIN where it was ended because it hung or ended by itself in a step."""
    process = subprocess.Popen(command)
    while process.poll() is None:
        time.sleep(0.2)
        now = time.time()
        if now - file.stat().st_mtime > HANG or now > until + HANG:
            process.kill()
            process.wait()
            return AGAIN
    return AGAIN if process.returncode not in (0, 1, 2) else process.returncode


def _recorded_bounds(arch: str) -> tuple[Bounds, str]:
    """The bounds of kernels.json on the GPU that is closest, and its name."""
    reference = REFERENCES.get(arch, "H100")
    recorded = json.loads(RECORDED.read_text())["cases"]
    return {name: record["uop"]["bounds"][reference]["pipes"] for name, record in recorded.items()}, reference


def _write_page(results: Results, titles: Mapping[str, str], bounds: tuple[Bounds, str]) -> None:
    data: dict[str, Any] = {"machine": results.machine, "units": results.units}
    data["fit"] = fitted(data, bounds[0])
    results.path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    page = results.path.with_suffix(".md")
    page.write_text(document(data, titles, *bounds))
    print(f"{page} and {results.path} are written")


def _machine(gpu: str, arch: str, cuda: int, *, dry_run: bool) -> dict[str, Any]:
    versions = {"CUDA driver": f"{cuda // 1000}.{cuda % 1000 // 10}", "NVRTC": ".".join(map(str, nvrtc.version()))}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    return {"gpu": gpu, "arch": arch, "versions": versions, "dry_run": dry_run}


def _file(output: Path) -> Path:
    return output / "gpu.json"


def _dry_run(output: Path) -> int:
    """Two small cases and models on the tests' stand-in for a GPU."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "test" / "unit"))
    import pytest

    with pytest.MonkeyPatch.context() as patch:
        stand_in: Any = importlib.import_module("stand_in_gpu").StandIn(capabilities=[(8, 0)])
        stand_in.install(patch)
        bench = Bench(DRY_CASES, ClockTimer(), "cpu", copied=1 << 16, extent=16)
        described = _machine("stand-in", DEVICES["cuda"].arch(), 13000, dry_run=True)
        results = Results.read(_file(output), described)
        for contender in ("triton", "inductor"):  # they take a GPU, and a C++ compiler
            for name in DRY_CASES:
                results.units[f"case/{name}/{contender}"] = {"status": "missing", "error": "not in a dry run"}
            for name in DRY_MODELS:
                results.units[f"model/{name}/{contender}"] = {"status": "missing", "error": "not in a dry run"}
        measure(bench, DRY_MODELS, results, time.time() + 600)
        simulated = {name: run_ours(case, case.make_inputs()).bounds for name, case in DRY_CASES.items()}
    assert described["arch"] == COUNTED_ON
    bounds = {name: found["A100"]["pipes"] for name, found in simulated.items()}
    _write_page(results, {name: case.title for name, case in DRY_CASES.items()}, (bounds, "A100"))
    return 0 if all(record["status"] in (RIGHT, "missing") for record in results.units.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
