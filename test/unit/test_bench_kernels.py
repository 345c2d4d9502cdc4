"""The comparison of kernels: its verdicts, its bounds, and that our counters did not grow (bench/kernels.py)."""

import importlib
import json
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from uop.runtime.simulator import Counters, InstructionCounters

BENCH = Path(__file__).parents[2] / "bench"
RECORDED: dict[str, Any] = json.loads((BENCH / "kernels.json").read_text())
NVRTC = "nvidia-cuda-nvrtc"


@pytest.fixture(name="module")
def fixture_module(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Modules of bench/ by name; scripts there import each other by it."""
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    return importlib.import_module


@pytest.mark.skipif(
    RECORDED["versions"][NVRTC] != version(NVRTC), reason="the counters were recorded with another version of NVRTC"
)
def test_counters_did_not_grow(module: Any, capsys: pytest.CaptureFixture[str]):
    names = ["sum_rows", "rms_norm_4097"]
    assert module("kernel_check").check(names, RECORDED["cases"]) == 0, capsys.readouterr().out


def test_a_counter_that_grew_is_found(module: Any, capsys: pytest.CaptureFixture[str]):
    record = json.loads(json.dumps(RECORDED["cases"]["sum_rows"]))
    record["uop"]["counters"]["load sectors"] -= 1
    assert module("kernel_check").check(["sum_rows"], {"sum_rows": record}) == 1
    assert "load sectors 524,287 → 524,288" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("ours", "verdict", "worse"),
    [
        ({"a": 1, "b": 2}, "equal", []),
        ({"a": 1, "b": 1}, "better", []),
        ({"a": 0, "b": 3}, "mixed", ["b"]),
        ({"a": 1, "b": 3}, "worse", ["b"]),
    ],
)
def test_verdicts(module: Any, ours: dict[str, int], verdict: str, worse: list[str]):
    assert module("kernel_measure").compare(ours, {"a": 1, "b": 2}) == (verdict, worse)


def test_bounds_by_hand(module: Any):
    bounds = module("kernel_bounds")
    gpu = bounds.GPUS["A100"]
    counters = Counters(blocks=109, threads=109 * 32)
    counters.record(InstructionCounters("fma.rn.f32", "fp32", 1, warps=1000))
    counters.record(InstructionCounters("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "mma", 2, warps=10))
    counters.record(InstructionCounters("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "mma", 3, warps=10))
    counters.record(InstructionCounters("ld.global.f32", "load.global", 4, warps=8, requests=8, sectors=32))
    clocks = {pipe: time * gpu.clock_hz for pipe, time in bounds.bounds(counters, 1940, gpu).items()}
    # 109 blocks: one multiprocessor of 108 has two of them.
    assert clocks["fp32"] == pytest.approx(1000 / 2 * 2 / 109)
    assert clocks["tensor"] == pytest.approx((10 * 2048 + 10 * 1024 * 2) / 1024 * 2 / 109)
    assert clocks["issue"] == pytest.approx(1028 / 4 * 2 / 109)
    assert clocks["L1"] == pytest.approx(32 / 4 * 2 / 109)
    assert clocks["DRAM"] == pytest.approx(1e-9 * gpu.clock_hz)


def test_every_case_is_recorded_and_has_a_peer(module: Any):
    cases = list(module("kernel_cases").CASES)
    assert list(RECORDED["cases"]) == cases
    page = (BENCH.parent / "docs" / "kernels.md").read_text()
    assert page == module("kernel_report").document(RECORDED)
