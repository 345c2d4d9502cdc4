"""bench/cpu.py and `uop bench` on small programs: what is measured, checked and told; what machines can do."""

import importlib
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from uop.frontends.capture import capture_expression
from uop.frontends.captured import Call, Captured
from uop.tools.benching import comparing, contenders, limits
from uop.tools.benching.limits import Limits
from uop.tools.benching.times import Times, alternate
from uop.tools.benching.work import Work, work_of
from uop.tools.plugins import make_context
from uop.tools.uop import main

BENCH = Path(__file__).parents[2] / "bench"

CODE = "torch.relu(torch.randn(5, 7) @ torch.randn(7, 3))"


@pytest.fixture(autouse=True)
def fixture_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine is measured quickly."""
    monkeypatch.setattr(limits, "COPIED_BYTES", 1 << 16)
    monkeypatch.setattr(limits, "REPEATS", 2)
    monkeypatch.setattr(limits, "STEPS", 1 << 10)


Modules = Callable[[str], Any]


@pytest.fixture(name="module")
def fixture_module(monkeypatch: pytest.MonkeyPatch) -> Modules:
    """Modules of bench/ by name; scripts there import each other by it."""
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    return importlib.import_module


ARGUMENTS = ["relu_mm", "--rounds", "2", "--no-inductor", "--no-tinygrad", "--json"]


def check_script(printed: str, file: Path) -> None:
    assert "Microseconds of a run" in printed
    found = json.loads(file.read_text())["results"]["relu_mm"]
    assert set(found) == {"work", "uop", "cached", "eager", "times"}
    assert found["work"]["kernels"] == 1
    assert found["uop"]["memory"] >= found["uop"]["memory before"] > 0
    for name in ("uop", "eager"):
        assert found["times"][name]["right"]
        assert found["times"][name]["times"]["runs"] == 2


def test_the_script(
    module: Modules, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With all steps in one process."""
    file, measure = tmp_path / "cpu.json", module("cpu_measure")

    def run(self: object, step: str, name: str, *chosen: str, **environment: str) -> dict[str, Any]:
        if step == "limits":
            return {"bytes": 1e9, "flops": 1e9, "source": "", "priority": False}
        captured = module("cpu_programs").program(name)
        return measure.times(captured, 2, chosen) if step == "times" else measure.one(captured, step)

    monkeypatch.setattr(module("cpu_steps").Steps, "run", run)
    monkeypatch.setattr(sys, "argv", ["cpu.py", *ARGUMENTS, str(file)])
    assert module("cpu").main() == 0
    check_script(capsys.readouterr().out, file)


@pytest.mark.slow
def test_the_script_in_its_processes(tmp_path: Path) -> None:
    file = tmp_path / "cpu.json"
    command = [sys.executable, str(BENCH / "cpu.py"), *ARGUMENTS, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    check_script(done.stdout, file)
    found = json.loads(file.read_text())["results"]["relu_mm"]
    assert found["cached"]["compile"] < found["uop"]["compile"]


def test_a_layer(module: Modules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A narrow decoder layer: what it computes on the CPU, and its kernels for a GPU."""
    pytest.importorskip("transformers")
    layers, kernels = module("model_layers"), module("model_kernels")
    monkeypatch.setitem(layers.LAYERS, "narrow", layers.Layer("Llama", 64, 96, 4, 2))
    call = layers.make_layer("narrow/decode-1")
    captured = Captured(call, lambda: call, "narrow")
    found = module("cpu_measure").times(captured, 1, ["eager", "uop"])
    assert found["uop"]["right"]
    assert [row["shape"] for row in found["uop"]["outputs"]] == [(1, 1, 64), (1, 2, 2, 16), (1, 2, 2, 16)]
    counted = kernels.count_kernels("narrow/decode-1")
    *rows, total = kernels.kernel_rows(counted)
    assert len(rows) == len(counted) > 4
    assert total[0] == f"all {len(rows)}"
    assert all(kernel["counters"]["instructions"] > 0 and not kernel["counters"]["spills"] for kernel in counted)


def test_the_page(module: Modules) -> None:
    cpu_report = module("cpu_report")

    def timed(median: float, right: bool = True) -> dict[str, Any]:
        times = {"median": median, "low": 0.9 * median, "high": 1.1 * median, "runs": 3, "how": "clock"}
        return {"right": right, "error": "", "worst": 1e-7, "times": times if right else None, "seconds": {}}

    results = {
        "relu_mm": {"times": {"uop": timed(5.0), "eager": timed(20.0), "inductor": timed(10.0)}},
        "softmax": {"times": {"uop": timed(8.0), "eager": timed(4.0), "inductor": timed(1.0, right=False)}},
        "vit": {"uop": {"failed": "status -11, Fatal"}},
    }
    assert list(cpu_report.verdict(results)) == [
        "2 cases: 1.00 times as fast as the better of eager and Inductor in geometric mean; slower: softmax (0.50).",
        "softmax: inductor is left out: off by 1.0e-07",
        "vit: step uop failed: status -11, Fatal",
    ]
    (row, *_) = cpu_report.time_rows(results)
    assert row[:6] == ["relu_mm", "5.0 (4.5 to 5.5)", "20.0 (18.0 to 22.0)", "10.0 (9.0 to 11.0)", "", "2.00"]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["bench", "--no-inductor", "--device", "cpu", "--rounds", "2", "--json", str(file), "-c", CODE]) == 0
    printed = capsys.readouterr().out
    assert "eager PyTorch" in printed
    assert "does 225 operations on floats, in 1 kernel" in printed
    data = json.loads(file.read_text())
    assert set(data["contenders"]) == {"eager", "uop"}
    assert data["work"] == {"flops": 225, "bytes": 4 * (35 + 21 + 15), "moved": 4 * (35 + 21 + 15), "kernels": 1}


def broken(call: Call, device: str) -> contenders.Ready:
    return contenders.Ready(lambda: call.module(*call.args, **call.kwargs) + 1)


def test_a_wrong_result_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(comparing, "ours", broken)
    assert main(["bench", "--no-inductor", "--device", "cpu", "--rounds", "1", "-c", CODE]) == 1
    printed = capsys.readouterr()
    assert "wrong" in printed.out
    assert printed.err == "uop: the result of uop is wrong, so it is not timed\n"


def test_a_peer_that_fails_costs_itself_alone() -> None:
    def fails(call: Call) -> contenders.Ready:
        raise RuntimeError("no such thing")

    chosen = {"inductor": fails, **comparing.contenders("cpu", with_inductor=False)}
    entries = comparing.compare_contenders(capture_expression(CODE), chosen, "cpu", rounds=1)
    assert entries["inductor"].error == "RuntimeError: no such thing"
    assert not entries["inductor"].right
    assert entries["uop"].times is not None


def test_a_program_that_changes_its_inputs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "model.py"
    file.write_text(
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x.add_(1)\n"
        "def make():\n    return M(), (torch.ones(3),)\n"
    )
    assert main(["bench", "--device", "cpu", f"{file}:make"]) == 1
    assert "the program changes its inputs or buffers" in capsys.readouterr().err


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from uop.tools import bench_command

    def missing(name: str) -> None:
        return None

    monkeypatch.setattr(bench_command, "find_spec", missing)
    assert main(["bench", "--plot", "x.png", "-c", CODE]) == 1
    assert "which is not installed: pip install matplotlib" in capsys.readouterr().err


def test_a_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "times.png"
    assert main(["bench", "--no-inductor", "--device", "cpu", "--rounds", "1", "--plot", str(file), "-c", CODE]) == 0
    assert file.read_bytes().startswith(b"\x89PNG")


def test_programs_alternate() -> None:
    ran: list[str] = []

    def program(name: str) -> Callable[[], None]:
        return lambda: ran.append(name)

    found = alternate({"a": program("a"), "b": program("b")}, rounds=4, seconds=0.0)
    assert set(found) == {"a", "b"}
    assert found["a"].runs == 4
    assert "".join(ran)[4:] == "aabbbbaa" * 2  # twice each before, for their speed; a run to wake threads


def test_times() -> None:
    times = Times.of([float(number) for number in range(20)], "clock")
    assert (times.median, times.low, times.high, times.runs) == (9.5, 2.0, 17.0, 20)


def test_limits() -> None:
    measured = limits.measure_limits("cpu", 1)
    assert measured.bytes > 1e8
    assert measured.flops > 1e8
    limit = Limits(bytes=100.0, flops=1000.0, source="")
    assert (limit.seconds(Work(500, 200, 0, 1)), limit.bound(Work(500, 200, 0, 1))) == (2.0, "memory")
    assert (limit.seconds(Work(5000, 200, 0, 1)), limit.bound(Work(5000, 200, 0, 1))) == (5.0, "arithmetic")


def test_limits_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    measured = limits.limits("cpu", 1)
    assert limits.limits("cpu", 1) == measured


def test_a_machine_that_a_program_outruns_is_measured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    rates = iter([Limits(3.0, 100.0, ""), Limits(2.0, 200.0, "")])

    def measured(device: str, threads: int) -> Limits:
        return next(rates)

    monkeypatch.setattr(limits, "measure_limits", measured)
    assert limits.limits("cpu", 1).flops == 100.0
    assert limits.limits("cpu", 1, reached=99.0).flops == 100.0
    assert limits.limits("cpu", 1, reached=101.0) == limits.limits("cpu", 1) == Limits(3.0, 200.0, "")


def test_operations_in_nested_loops_count_as_often_as_they_run() -> None:
    text = """
    uop.kernel @f_0(%out: memref<3xf32>, %x: memref<3x5xf32>) {
      loop.for %i (i = 3 parallel) {
        %s = loop.reduce %k (k = 5) add : f32 {
          %0 = uop.load %x[%i, %k] : memref<3x5xf32>
          %1 = uop.mul %0, %0 : f32
          loop.yield %1 : f32
        }
        %2 = uop.neg %s : f32
        %3 = uop.add %i, %i : index
        uop.store %2, %out[%i] : memref<3xf32>
      }
    }
    func.func @f(%x: tensor<3x5xf32>) -> tensor<3xf32> {
      %0 = uop.launch @f_0(%x) : (tensor<3x5xf32>) -> tensor<3xf32>
      func.return %0 : tensor<3xf32>
    }
    """
    context = make_context()
    context.load_dialect(Func)
    module = Parser(context, text).parse_module()
    function: Any = list(module.ops)[-1]
    assert work_of(module, function) == Work(3 * (2 * 5 + 1), 4 * 18, 4 * 18, 1)


def test_compiling_once_more() -> None:
    module = torch.nn.ReLU()
    assert contenders.compile_seconds(Call(module, (torch.ones(3),)), "cpu", repeats=1) > 0
