"""The commands of docs/finding_faults.md do what the page says."""

import re
import shlex
from pathlib import Path

import pytest

from uop.passes.uop.rules import plugins as rule_plugins
from uop.tools.driver import drive
from uop.tools.uop import main

PAGE = Path(__file__).parents[2] / "docs" / "finding_faults.md"
BLOCK = re.compile(r"```(\w+)(?: (\S+))?\n(.*?)```", re.DOTALL)


def test_commands_print_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    check_page(PAGE, tmp_path, monkeypatch, capsys)


def check_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Blocks with a name are files; a line of output that ends in `…` may go on."""
    monkeypatch.setattr(rule_plugins, "_rules", rule_plugins.simplify_rules())
    monkeypatch.chdir(tmp_path)
    printed = ""
    shown = 0
    for language, name, text in BLOCK.findall(page.read_text()):
        if name:
            (tmp_path / name).write_text(text)
        elif language == "sh":
            for command in text.splitlines():
                program, *arguments = shlex.split(command)
                {"uop-opt": drive, "uop": main}[program](arguments)
            output = capsys.readouterr()
            printed = output.err + output.out
        else:
            for line in text.splitlines():
                expected = re.escape(line.removesuffix("…")) + ("" if line.endswith("…") else "$")
                assert re.search(f"^{expected}", printed, re.MULTILINE), f"{line!r} is not in\n{printed}"
                shown += 1
    assert shown > 10
