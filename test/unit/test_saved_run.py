"""What a failing `uop run` leaves shows the same failure, and its commands find what is wrong."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from uop.passes.uop.rules import plugins as rule_plugins
from uop.tools.driver import drive
from uop.tools.uop import main

WRONG_RULES = str(Path(__file__).parents[1] / "tools" / "inputs" / "wrong_rules.py")
CODE = "x = torch.randn(5, 7)\ntorch.sqrt(x * x) + torch.randn(7)"


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:  # pyright: ignore[reportUnusedFunction]  # pytest calls it
    """Rules that a test loads are gone after it; what it writes is not in the repository."""
    monkeypatch.setattr(rule_plugins, "_rules", rule_plugins.simplify_rules())
    monkeypatch.chdir(tmp_path)


def test_the_folder_repeats_the_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--device", "sim", "-c", CODE, "--load", WRONG_RULES]) == 1
    output = capsys.readouterr()
    assert "WRONG" in output.out
    assert "see uop-run-failure/README.md" in output.err
    folder = tmp_path / "uop-run-failure"
    assert {path.name for path in folder.iterdir()} == {
        *("README.md", "repeat.py", "stages", "inputs", "eager", "float64", "loaded_0_wrong_rules.py")
    }
    assert "uop.add" in (folder / "stages" / "tile.mlir").read_text()
    repeat = subprocess.run([sys.executable, str(folder / "repeat.py")], capture_output=True, text=True, check=False)
    assert repeat.returncode == 1
    assert "result 0: WRONG" in repeat.stdout
    assert repeat.stderr == ""

    monkeypatch.chdir(folder)
    text = (folder / "README.md").read_text()
    bisect, reduce = (shlex.split(line)[1:] for line in re.findall(r"^ +(uop-opt .*)$", text, re.MULTILINE))
    assert drive(bisect) == 1
    assert "sqrt[mul[x, x]] >> x" in capsys.readouterr().err
    assert drive(reduce) == 0
    assert "reduce: 3 ops to 2" in capsys.readouterr().err
    assert (folder / "reduced.mlir").read_text().count("torch.aten") == 2


def test_check_each_names_the_pass_and_the_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--device", "sim", "-c", CODE, "--check", "each"]) == 0
    assert (
        main(["run", "--device", "sim", "-c", CODE, "--check", "each", "--load", WRONG_RULES, "--save", "chosen"]) == 1
    )
    error = capsys.readouterr().err
    assert "uop: error: 'uop-simplify' changes what @forward computes" in error
    assert "on inputs of the program: result 0" in error
    assert "rewrite 1 of" in error
    assert "sqrt[mul[x, x]] >> x for float x (wrong_rules.py:" in error
    assert "at <command>:2 in @forward" in error
    assert "Traceback" not in error
    assert "EACH = True" in (tmp_path / "chosen" / "repeat.py").read_text()
    assert sorted(path.name for path in (tmp_path / "chosen" / "stages").iterdir()) == [
        *("gpu_kernel.mlir", "kernels.cu", "loop.mlir", "partition.mlir", "range.mlir", "tile.mlir", "torch.mlir"),
        "uop.mlir",
    ]


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "uop-run-failure").mkdir()
    arguments = ["run", "--device", "sim", "-c", CODE, "--load", WRONG_RULES]
    assert main(arguments) == 1
    assert "see uop-run-failure-2/README.md" in capsys.readouterr().err
    assert not any((tmp_path / "uop-run-failure").iterdir())
    assert main([*arguments, "--save", "uop-run-failure-2"]) == 1
    assert "uop: error: --save: uop-run-failure-2 is there already" in capsys.readouterr().err


def test_a_refusal_is_no_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "-c", "torch.fft.fft(torch.randn(8))"]) == 1
    assert main(["run", "--device", "sim", "-c", CODE, "--load", "nowhere.py"]) == 1
    assert "nowhere.py: error: cannot be read" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
