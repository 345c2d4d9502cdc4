"""bench/index_arithmetic.py runs, and rules do not make the index arithmetic of kernels larger."""

import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).parents[2] / "bench" / "index_arithmetic.py"


def test_index_arithmetic_does_not_grow() -> None:
    programs = ["views", "cat", "attention causal", "linear, gelu, linear"]
    result = subprocess.run([sys.executable, str(BENCH), *programs], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "total" in result.stdout
