"""The reference page of rules says what the rules are."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_page_is_not_stale() -> None:
    command = [sys.executable, str(ROOT / "docs" / "update_rules.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[:2000] + result.stderr
