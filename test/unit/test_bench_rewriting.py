"""The benchmark of the rewrite engine does what it times; bench/rewriting.py itself says how fast."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "bench" / "rewriting.py"


def test_both_engines_do_the_work() -> None:
    """Each case asserts how many ops are left by ours and by xDSL's."""
    command = [sys.executable, str(SCRIPT), "--ops", "300", "--repeats", "1", "--no-scaling"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("< 0.") == 5
