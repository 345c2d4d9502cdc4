"""The code of docs/rewriting.md runs, and its rules compile."""

import re
from pathlib import Path
from typing import Any
from unittest.mock import patch

from uop.dialects.semantics import ALU
from uop.dialects.uop import ALU_OPS
from uop.rewriting.rules import Rules

PAGE = Path(__file__).parents[2] / "docs" / "rewriting.md"


def test_page_runs() -> None:
    scope: dict[str, Any] = {}
    with patch.dict(ALU), patch.dict(ALU_OPS):
        run_blocks(scope)


def run_blocks(scope: dict[str, Any]) -> None:
    text = PAGE.read_text()
    for block in re.finditer(r"```python\n(.*?)```", text, re.DOTALL):
        line = text.count("\n", 0, block.start()) + 1
        # Errors name the line of the page.
        exec(compile("\n" * line + block[1], str(PAGE), "exec"), scope)
    rules = scope["rules"]
    assert isinstance(rules, Rules)
    assert len(rules) == 26
    for rule in rules:
        assert Rules(rule).matcher(rule.term.head.op) is not None
        assert rule.file == str(PAGE)
