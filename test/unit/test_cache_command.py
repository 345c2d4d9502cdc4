"""`uop cache`: what it lists, how it explains, what it clears."""

import json
import os
import time
from pathlib import Path

import pytest

from uop.runtime.cache import Cache, Key, default_cache
from uop.tools.cache_command import age_text, size_text
from uop.tools.uop import main

USUAL = {
    "kind": "program",
    "name": "forward",
    "target": "gpu-kernel",
    "text": "func.func @forward() {\n  a\n  b\n}\n",
    "option arch": "'sm_90'",
}
OTHER_ARCH = {**USUAL, "option arch": "'sm_80'"}
OTHER_TEXT = {**USUAL, "text": "func.func @forward() {\n  a\n  c\n}\n", "uop": "2"}
KERNEL = {"kind": "cuda", "name": "forward_0.cu", "target": "sm_90", "text": "x", "options": ""}


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    """Four entries, the first used last."""
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    cache = default_cache()
    assert cache is not None
    for age, parts in enumerate((USUAL, OTHER_ARCH, OTHER_TEXT, KERNEL)):
        cache.put(Key(parts), {"a": bytes(1000)})
        used = time.time() - 7200 * age
        os.utime(cache.find(Key(parts).digest)[0].path, (used, used))
    return cache


def name(parts: dict[str, str]) -> str:
    return Key(parts).digest[:12]


def test_list(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "list"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = [line for line in lines if any("gpu-kernel" in word or "sm_90" in word for word in line)]
    assert [row[1] for row in rows] == [name(each) for each in (USUAL, OTHER_ARCH, OTHER_TEXT, KERNEL)]
    assert (
        rows[1][3:] == ["│", "program", "│", "forward", "│", "gpu-kernel", "│", "1.2", "kB", "│", "2", "hours", "│"][1:]
    )
    assert any(line[:2] == ["4", "entries,"] for line in lines)
    assert main(["cache", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["digest"][:12] for row in rows] == [name(each) for each in (USUAL, OTHER_ARCH, OTHER_TEXT, KERNEL)]
    assert rows[3]["kind"] == "cuda"
    assert rows[3]["bytes"] == cache.entries()[3].size


def test_damaged_entries_are_left_out(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    cache.entries()[0].path.write_bytes(b"")
    assert main(["cache", "list", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == 3


@pytest.mark.usefixtures("cache")
def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "explain", name(USUAL), name(OTHER_TEXT)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"{name(USUAL)} and {name(OTHER_TEXT)} differ in text, uop",
        "",
        "text:",
        "  @@ -1,4 +1,4 @@",
        "   func.func @forward() {",
        "     a",
        "  -  b",
        "  +  c",
        "   }",
        "",
        "uop:",
        "  - ",
        "  + 2",
    ]
    assert main(["cache", "explain", name(USUAL), name(USUAL)]) == 0
    assert "are one entry" in capsys.readouterr().out


@pytest.mark.usefixtures("cache")
def test_explain_takes_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "explain", name(OTHER_TEXT)]) == 0
    assert f"and {name(USUAL)} differ in text, uop" in capsys.readouterr().out
    assert main(["cache", "explain", name(USUAL)]) == 0
    out = capsys.readouterr().out
    assert f"and {name(OTHER_ARCH)} differ in option arch" in out
    assert "  - 'sm_90'\n  + 'sm_80'\n" in out


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ("", "4 entries begin with ''"),
        ("xyz", "there is no entry 'xyz' (`uop cache list` shows all)"),
        (name(KERNEL), "there is no other entry of kind 'cuda'"),
    ],
)
def test_explain_what_there_is_not(entry: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "explain", entry]) == 1
    assert capsys.readouterr().err.startswith(f"uop: error: {told}")


def test_clear_and_path(cache: Cache, capsys: pytest.CaptureFixture[str]) -> None:
    size = sum(stored.size for stored in cache.entries())
    assert main(["cache", "clear"]) == 0
    assert capsys.readouterr().out == f"4 entries, {size_text(size)}, removed from {cache.folder}\n"
    assert cache.entries() == []
    assert main(["cache", "list"]) == 0
    assert "0 entries" in capsys.readouterr().out
    assert main(["cache", "path"]) == 0
    assert capsys.readouterr().out == f"{cache.folder}\n"


def test_no_cache_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("UOP_CACHE", "1")
    assert main(["run", "-c", "torch.arange(5) + 123456", "--no-cache"]) == 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (2 << 30, "2.1 GB"), (12345678, "12.3 MB")]
)
def test_sizes(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(("age", "text"), [(59, "now"), (60, "1 minute"), (7300, "2 hours"), (90000, "1 day")])
def test_ages(age: float, text: str) -> None:
    assert age_text(age) == text
