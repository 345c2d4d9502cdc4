"""bench/gpu.py on a GPU that is not there: what is measured, how a run goes on, and the fit of rates."""

import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from uop.runtime.simulator import Counters
from uop.tools.benching.gpu_times import ClockTimer

BENCH = Path(__file__).parents[2] / "bench"

Modules = Callable[[str], Any]

MACHINE = {"gpu": "a GPU", "arch": "sm_90", "versions": {"torch": "2"}, "dry_run": False}


@pytest.fixture(name="module")
def fixture_module(monkeypatch: pytest.MonkeyPatch) -> Modules:
    """Modules of bench/ by name; scripts there import each other by it."""
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    return importlib.import_module


def dry_run(module: Modules, monkeypatch: pytest.MonkeyPatch, output: Path) -> int:
    monkeypatch.setattr(sys, "argv", ["gpu.py", "--dry-run", "--output", str(output)])
    return module("gpu").main()


def test_a_dry_run_and_one_that_goes_on(
    module: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module("gpu"), "DRY_MODELS", ())
    assert dry_run(module, monkeypatch, tmp_path) == 0
    printed = capsys.readouterr().out
    assert "case/matmul_small/uop: right" in printed
    results = json.loads((tmp_path / "gpu.json").read_text())
    ours = results["units"]["case/softmax_small/uop"]
    assert (ours["status"], ours["notes"]["launches"]) == ("right", 1)
    assert ours["difference"] < 1e-5
    assert results["fit"]
    page = (tmp_path / "gpu.md").read_text()
    assert "**A dry run on a GPU that is not there" in page
    assert "| softmax, 8×64 |" in page
    assert dry_run(module, monkeypatch, tmp_path) == 0
    assert ": right" not in capsys.readouterr().out


@pytest.mark.slow
def test_a_dry_run_with_a_model(module: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert dry_run(module, monkeypatch, tmp_path) == 0
    assert "| t5 |" in (tmp_path / "gpu.md").read_text()


def test_without_a_gpu(module: Modules, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    monkeypatch.setattr(sys, "argv", ["gpu.py"])
    assert module("gpu").main() == 1
    assert capsys.readouterr().err.startswith("bench/gpu.py: PyTorch sees no GPU")


# ---- runs that end early and go on


class FakeBench:
    """Units that take no time. statuses: unit → what comes of it, right by default"""

    def __init__(self, module: Modules, statuses: dict[str, str], *, broken: bool = False) -> None:
        self.cases = module("gpu").DRY_CASES
        self.statuses = statuses
        self.measured: list[str] = []
        self.timer = SimpleNamespace(synchronize=self.synchronize)
        self.broken = broken

    def synchronize(self) -> None:
        if self.broken:
            raise RuntimeError("CUDA error: an illegal memory access was encountered")

    def machine(self) -> Iterator[tuple[str, dict[str, Any]]]:
        times = {"median": 2.0, "low": 1.0, "high": 3.0}
        yield "overhead", {"status": "right", "times": times}
        yield "copy", {"status": "right", "times": times, "per second": 3.5e12}
        yield "product", {"status": "right", "times": times, "per second": 8e14}

    def measure(self, unit: Any) -> dict[str, Any]:
        self.measured.append(unit.key)
        times = {"median": 7.0, "low": 6.0, "high": 9.0}
        status = self.statuses.get(unit.key, "right")
        return {"status": status, "difference": 0.5, "times": times, "notes": {"launches": 1}}


def test_the_most_important_comes_first(module: Modules) -> None:
    found = [unit.key for unit in module("gpu_units").units(module("gpu").DRY_CASES, ("t5",))]
    assert found[:4] == [f"case/{case}/{by}" for case in ("softmax_small", "matmul_small") for by in ("uop", "eager")]
    assert found[4:7] == ["model/t5/uop", "model/t5/eager", "model/t5/uop, graph"]
    assert found[-1] == "model/t5/inductor"
    assert len(found) == len(set(found)) == 12


def test_the_budget_is_kept(module: Modules, tmp_path: Path) -> None:
    bench = FakeBench(module, {})
    results = module("gpu_units").Results(tmp_path / "gpu.json", MACHINE)
    assert module("gpu").measure(bench, (), results, time.time() - 1) == 0
    assert not bench.measured
    assert list(json.loads((tmp_path / "gpu.json").read_text())["units"]) == ["overhead", "copy", "product"]


def test_what_would_take_too_long_is_not_begun(module: Modules, tmp_path: Path) -> None:
    bench = FakeBench(module, {})
    results = module("gpu_units").Results(tmp_path / "gpu.json", MACHINE)
    results.record("case/another/inductor", {"status": "right", "seconds": 100.0})
    results.record("model/another/triton", {"status": "right", "seconds": 100.0})
    assert module("gpu").measure(bench, (), results, time.time() + 50) == 0
    assert {key.rpartition("/")[2] for key in bench.measured} == {"uop", "eager", "triton"}


def test_a_context_that_is_broken_ends_the_process(module: Modules, tmp_path: Path) -> None:
    first = "case/softmax_small/uop"
    bench = FakeBench(module, {first: "failed"}, broken=True)
    results = module("gpu_units").Results(tmp_path / "gpu.json", MACHINE)
    assert module("gpu").measure(bench, (), results, time.time() + 60) == module("gpu").AGAIN
    again = FakeBench(module, {})
    read = module("gpu_units").Results.read(tmp_path / "gpu.json", MACHINE)
    assert module("gpu").measure(again, (), read, time.time() + 60) == 0
    assert bench.measured == [first]
    assert first not in again.measured
    assert len(again.measured) == 7


def test_what_did_not_work_out_is_tried_again(module: Modules, tmp_path: Path) -> None:
    make: Any = module("gpu_units").Results
    results = make(tmp_path / "gpu.json", MACHINE)
    for contender, status in [("uop", "started"), ("eager", "right"), ("triton", "missing"), ("inductor", "wrong")]:
        results.record(f"case/x/{contender}", {"status": status})
    read = make.read(tmp_path / "gpu.json", MACHINE)
    read.close_started()
    assert read.units["case/x/uop"]["status"] == "failed"
    read.forget()
    assert set(read.units) == {"case/x/eager", "case/x/triton"}
    read.forget("eager")
    assert set(read.units) == {"case/x/triton"}
    with pytest.raises(ValueError, match=r"has results of .*: give --fresh, or --output"):
        make.read(tmp_path / "gpu.json", {**MACHINE, "gpu": "another"})


def test_a_process_that_hangs_is_ended(module: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpu = module("gpu")
    monkeypatch.setattr(gpu, "HANG", 0.5)
    file = tmp_path / "gpu.json"
    file.touch()
    watch: Callable[..., int] = gpu._watch
    start = time.time()
    assert watch([sys.executable, "-c", "import time; time.sleep(60)"], file, start + 60) == gpu.AGAIN
    assert time.time() - start < 30
    file.touch()
    assert watch([sys.executable, "-c", "import os; os.abort()"], file, start + 60) == gpu.AGAIN
    file.touch()
    monkeypatch.setattr(gpu, "HANG", 60)
    assert watch([sys.executable, "-c", ""], file, start + 60) == 0


def test_the_process_is_started_again_as_long_as_there_is_progress(
    module: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gpu = module("gpu")
    commands: list[list[str]] = []

    def watch(command: list[str], file: Path, until: float) -> int:
        """Measures two units, starts another and hangs; the third time nothing."""
        commands.append(command)
        results = module("gpu_units").Results.read(file, MACHINE)
        number = len(commands)
        if number < 3:
            results.record(f"case/{number}/uop", {"status": "missing", "error": "no reason"})
            results.record(f"case/{number}/eager", {"status": "started"})
        return gpu.AGAIN

    monkeypatch.setattr(gpu, "machine", lambda: MACHINE)
    monkeypatch.setattr(gpu, "_watch", watch)
    monkeypatch.setattr(sys, "argv", ["gpu.py", f"--output={tmp_path}", "--case=argmax", "--budget=60"])
    assert gpu.main() == 1
    assert len(commands) == 3
    assert commands[0][2:] == [f"--output={tmp_path}", commands[0][3], "--case=argmax"]
    assert (
        "- case/1/eager: failed, the process ended, or was ended because it hung" in (tmp_path / "gpu.md").read_text()
    )


def test_failures_are_told(module: Modules, tmp_path: Path) -> None:
    bench = FakeBench(module, {"case/matmul_small/uop": "wrong"})
    results = module("gpu_units").Results(tmp_path / "gpu.json", MACHINE)
    module("gpu").measure(bench, (), results, time.time() + 60)
    titles = {name: case.title for name, case in bench.cases.items()}
    bounds = {name: {"issue": 2.5, "DRAM": 1.0} for name in bench.cases}
    page = module("gpu_report").document({"machine": MACHINE, "units": results.units}, titles, bounds, "H100")
    lines = page.splitlines()
    right = "7.0 (6.0 to 9.0)"
    assert f"| softmax, 8×64 | {right} | {right} | {right} | {right} | 1.00 | 1.00 | 1.00 | 2.5 | 36% |" in lines
    assert f"| relu(matmul), 16×16×16 | {right}, wrong | {right} | {right} | {right} |  |  |  | 2.5 |  |" in lines
    assert "- case/matmul_small/uop: wrong, the greatest difference is 0.5 of the greatest element" in lines
    assert "| issue | 2.00 | issue = 2 | 0% | softmax_small |" in lines  # 7 of which 2 are the overhead, bound 2.5
    assert "A graph of almost nothing takes 2.0 (1.0 to 3.0) µs." in lines
    assert "A copy moves 3.50 TB/s, PyTorch's product of f16 matrices does 800 TFLOP/s." in lines


def test_a_unit_that_raises_is_a_result(module: Modules, monkeypatch: pytest.MonkeyPatch) -> None:
    gpu, gpu_units = module("gpu"), module("gpu_units")
    bench = gpu_units.Bench(gpu.DRY_CASES, ClockTimer(), "cpu")
    unit = gpu_units.Unit("case", "softmax_small", "eager")
    assert bench.measure(unit)["status"] == "right"

    def fail(name: str, case: Any, inputs: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    monkeypatch.setitem(module("gpu_contenders").CASE_CONTENDERS, "inductor", fail)
    record = bench.measure(gpu_units.Unit("case", "softmax_small", "inductor"))
    assert (record["status"], record["error"]) == ("failed", "RuntimeError: CUDA out of memory")
    record = bench.measure(gpu_units.Unit("case", "softmax_small", "triton"))
    assert (record["status"], record["error"]) in [
        ("missing", "Triton has no kernel for it"),
        ("missing", "Triton is not installed"),
    ]


def test_what_is_not_written_is_seen(module: Modules) -> None:
    """Memory that is freed holds NaN, as far as the allocator gives it again."""
    gpu = module("gpu")
    bench = module("gpu_units").Bench(gpu.DRY_CASES, ClockTimer(), "cpu")
    poisoned: list[torch.Tensor] = []
    original = torch.Tensor.fill_

    def fill(tensor: torch.Tensor, value: int) -> torch.Tensor:
        poisoned.append(original(tensor, value))
        return tensor

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(torch.Tensor, "fill_", fill)
        bench.measure(module("gpu_units").Unit("case", "softmax_small", "eager"))
    assert poisoned[0].view(torch.float32).isnan().all()
    assert poisoned[0].numel() == 8 * 64 * 4


@pytest.mark.parametrize(
    ("given", "expected", "error"),
    [
        ([1.0, 2.0], [1.0, 2.0], 0.0),
        ([1.0, 2.0], [1.0, 4.0], 0.5),
        ([float("nan"), 2.0], [float("nan"), 2.0], 0.0),
        ([float("inf"), 2.0], [float("inf"), 2.0], 0.0),
        ([float("nan"), 2.0], [1.0, 2.0], float("inf")),
        ([1.0, 2.0], [float("inf"), 2.0], float("inf")),
        ([1, 2], [1, 2], 0.0),
        ([1, 2], [1, 3], float("inf")),
        ([1.0], [1.0, 2.0], float("inf")),
        ([1.0], [1], float("inf")),
    ],
)
def test_differences(module: Modules, given: list[float], expected: list[float], error: float) -> None:
    difference = module("gpu_contenders").difference
    assert difference([torch.tensor(given)], [torch.tensor(expected)]) == error


# ---- the fit


def test_the_fit_finds_the_factors(module: Modules) -> None:
    """Times made by known factors, so that which pipe is slowest is not the one of the bounds."""
    gpu_fit = module("gpu_fit")
    factors = {"issue": 1.5, "DRAM": 1.1, "tensor": 3.0}
    demands = [(10, 2, 1), (8, 5, 1), (1, 9, 1), (2, 30, 6), (1, 3, 10), (12, 1, 9), (4, 4, 20)]
    samples: list[Any] = []
    for number, demand in enumerate(demands):
        pipes = dict(zip(factors, map(float, demand), strict=True))
        samples.append(gpu_fit.Sample(f"k{number}", pipes, max(factors[pipe] * pipes[pipe] for pipe in pipes)))
    found = gpu_fit.fit(samples)
    assert {pipe: factor.factor for pipe, factor in found.items()} == pytest.approx(factors)
    assert all(factor.error == pytest.approx(0, abs=1e-9) for factor in found.values())
    assert "k5" in found["tensor"].kernels  # 12 of issue and 9 of tensor: slowest by the factors alone


def test_every_pipe_has_a_rate(module: Modules) -> None:
    bounds = module("kernel_bounds")
    counters = Counters(blocks=1, threads=32)
    assert module("gpu_report").RATES.keys() == bounds.bounds(counters, 1, bounds.GPUS["H100"]).keys()
    assert all(hasattr(bounds.GPUS["H100"], field) for field in module("gpu_report").RATES.values())


def test_the_fit_tells_its_error(module: Modules) -> None:
    gpu_fit = module("gpu_fit")
    samples = [gpu_fit.Sample("one", {"DRAM": 10.0, "issue": 1.0}, 12.0), gpu_fit.Sample("two", {"DRAM": 10.0}, 8.0)]
    found = gpu_fit.fit(samples)
    assert found["DRAM"].factor == pytest.approx(1.0)
    assert found["DRAM"].error == pytest.approx(((10 / 12 - 1) ** 2 / 2 + (10 / 8 - 1) ** 2 / 2) ** 0.5)
    assert "issue" not in found
    assert gpu_fit.fit([]) == {}
