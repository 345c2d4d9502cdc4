"""The README's stages are what the compiler prints."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_stages_are_not_stale() -> None:
    command = [sys.executable, str(ROOT / "docs" / "update_readme.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
