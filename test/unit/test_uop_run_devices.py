"""`uop run --device` and `uop exec --device`: what runs the program, and what is told of it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from stand_in_gpu import FailedLaunch, StandIn

from uop.runtime.artifact import devices as artifact_devices
from uop.runtime.artifact import load
from uop.runtime.cuda.gpus import all_gpus
from uop.runtime.devices import DEVICES
from uop.tools import execution
from uop.tools import uop as command
from uop.tools.uop import main

CODE = "(torch.randn(5, 7) + torch.randn(7)).relu()"


def test_devices_are_those_of_the_runtime() -> None:
    assert set(command.DEVICES) == set(DEVICES)


def test_in_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--device", "interpret", "-c", CODE]) == 0
    printed = capsys.readouterr().out
    assert "5x7 float32" in printed
    assert "right" in printed
    assert "forward_0" not in printed


def test_each_pass_can_be_checked_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--device", "interpret", "--check", "each", "-c", CODE]) == 0
    assert "right" in capsys.readouterr().out


def test_natively_where_there_is_no_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gone = replace(artifact_devices.DEVICES["cuda"], is_there=lambda: False)
    monkeypatch.setitem(artifact_devices.DEVICES, "cuda", gone)  # pyright: ignore[reportArgumentType]  # it is a dict
    assert main(["run", "-c", CODE]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("on the CPU: ")
    assert "right" in printed


def test_on_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in = StandIn(capabilities=[(8, 0)])
    stand_in.install(monkeypatch)
    assert main(["run", "--device", "cuda", "-c", CODE]) == 0
    printed = capsys.readouterr().out
    assert "Kernels on cuda:0 (stand-in)" in printed
    assert "forward_0" in printed
    assert "<command>:1" in printed
    assert "5x7 float32" in printed
    assert stand_in.calls.count("synchronize") == stand_in.calls.count("launch") == 1


def test_a_launch_that_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    stand_in = StandIn()
    stand_in.install(monkeypatch)
    stand_in.machine.failures["launch"] = FailedLaunch("cuLaunchKernel failed: unspecified launch failure")
    assert main(["run", "--device", "cuda", "-c", CODE]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith("uop: error: CUDA error in kernel @forward_0 (grid 1×1×1, ")
    assert error[0].endswith("on cuda:0 (stand-in): cuLaunchKernel failed: unspecified launch failure")
    assert error[1:] == ["  from <command>:1"]


def test_a_wrong_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    StandIn().install(monkeypatch)
    right = execution.compare_tensors

    def wrong(ours: torch.Tensor, eager: torch.Tensor, exact: torch.Tensor) -> object:
        return right(ours + 1, eager, exact)

    monkeypatch.setattr(execution, "compare_tensors", wrong)
    assert main(["run", "--device", "cuda", "-c", CODE]) == 1
    captured = capsys.readouterr()
    assert "WRONG" in captured.out
    assert "the simulator may say more of it" in captured.err


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_there_is_no_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    all_gpus.cache_clear()
    assert main(["run", "--device", "cuda", "-c", CODE]) == 1
    assert capsys.readouterr().err.startswith("uop: error: PyTorch sees no GPU")


def test_the_profile_is_the_simulators(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--device", "cuda", "--profile", "-c", CODE])
    assert "--profile tells what the simulator counts" in capsys.readouterr().err


# ---- artifacts


@pytest.fixture(name="folder")
def fixture_folder(tmp_path: Path) -> Path:
    """A layer as `uop compile -o --weights` writes it."""
    code = "import torch; torch.manual_seed(0)\nnn.Linear(8, 4)(torch.ones(3, 8))"
    assert main(["compile", "-c", code, "-o", str(tmp_path / "out"), "--weights"]) == 0
    return tmp_path / "out"


def test_an_artifact_on_a_gpu(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    stand_in.install(monkeypatch)
    kept: list[torch.Tensor] = []

    def keep(value: Any) -> Any:
        kept.append(value)
        return value

    cuda = replace(artifact_devices.DEVICES["cuda"], keep=keep)
    monkeypatch.setitem(artifact_devices.DEVICES, "cuda", cuda)  # pyright: ignore[reportArgumentType]  # it is a dict
    program, simulated = load(folder, device="cuda"), load(folder, device="sim")
    inputs = [torch.ones(value.shape) for value in program.given]
    torch.testing.assert_close(program(*inputs), simulated(*inputs))
    arrays = [value.numpy() for value in inputs]
    np.testing.assert_array_equal(program(*arrays), simulated(*arrays))
    assert len(kept) == len(program.plan.inputs) - len(inputs)
    assert stand_in.calls.count("launch") == 2


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_an_artifact_without_a_gpu(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    all_gpus.cache_clear()
    assert main(["exec", str(folder), "--device", "cuda"]) == 1
    assert capsys.readouterr().err.startswith("uop: error: PyTorch sees no GPU")
    assert main(["exec", str(folder)]) == 0
    assert "on sim" in capsys.readouterr().out
