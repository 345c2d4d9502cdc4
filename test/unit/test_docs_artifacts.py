"""The commands and the Python of docs/artifacts.md do what the page says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from uop.tools.uop import main

PAGE = Path(__file__).parents[2] / "docs" / "artifacts.md"
BLOCK = re.compile(r"```(\w*)(?: (\S+))?\n(.*?)```", re.DOTALL)


def test_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Blocks with a name are files; a line of output that ends in `…` may go on."""
    monkeypatch.chdir(tmp_path)
    printed = ""
    shown = 0
    for language, name, text in BLOCK.findall(PAGE.read_text()):
        if name:
            (tmp_path / name).write_text(text)
        elif language == "sh":
            for command in text.splitlines():
                program, *arguments = shlex.split(command)
                if program == "uop":
                    assert main(arguments) == 0
                else:
                    assert program == "python"
                    subprocess.run([sys.executable, *arguments], check=True)
            printed = capfd.readouterr().out
        else:
            for line in text.splitlines():
                expected = re.escape(line.removesuffix("…")) + ("" if line.endswith("…") else "$")
                assert re.search(f"^{expected}", printed, re.MULTILINE), f"{line!r} is not in\n{printed}"
                shown += 1
    assert shown == 12
    assert (tmp_path / "results.npz").exists()
