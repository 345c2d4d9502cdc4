"""The benchmark of compile time runs on a model, and a small model compiles fast enough."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "bench" / "compile_time.py"

BUDGET = 2.0
"""CPU seconds from torch IR to CUDA text for a llama of two layers: some four times what it takes in 2026."""


@pytest.mark.slow
def test_small_llama(tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    command = [sys.executable, str(SCRIPT), "llama", "--json", str(numbers)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    measured = json.loads(numbers.read_text())["llama"]["uop"]
    assert measured["warm"] < BUDGET
    assert sum(measured["passes"].values()) == pytest.approx(measured["warm"], rel=0.25)


def test_unknown_cases_are_refused() -> None:
    result = subprocess.run([sys.executable, str(SCRIPT), "lama"], capture_output=True, text=True)
    assert result.returncode == 2
    assert "no case is called lama" in result.stderr
