"""The commands of docs/checking.md print what the page says."""

from pathlib import Path

import pytest
from test_docs_finding_faults import check_page


def test_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    check_page(Path(__file__).parents[2] / "docs" / "checking.md", tmp_path, monkeypatch, capsys)
