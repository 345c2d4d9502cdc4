"""What the linters, the type checker and lit say of the whole repository."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("pyright", "--pythonpath", sys.executable),
        ("lint-imports", "--config", "../pyproject.toml", "--cache-dir", "../.import_linter_cache"),
        ("lit", "-q", "."),
    ],
    ids=lambda command: command[0] + (" " + command[1] if command[0] == "ruff" else ""),
)
def test_tool_is_content(command: tuple[str, ...]) -> None:
    folder = ROOT / "typings" if command[0] == "lint-imports" else ROOT  # where `uop` holds its packages
    result = subprocess.run([BIN / command[0], *command[1:]], cwd=folder, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
