"""`uop-opt` as a process: hostile input, pipes, start-up, and the way that errors are placed."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.test import Test
from xdsl.universe import Universe

from uop.tools.arguments import normalize_arguments
from uop.tools.diagnostics import Diagnostic, DiagnosticError, Source
from uop.tools.driver import UOpOptMain
from uop.tools.parsing import parse_source, split_source
from uop.tools.uop_opt import main

UOP_OPT = [sys.executable, "-m", "uop.tools.uop_opt"]
XDSL_OPT = [sys.executable, "-m", "xdsl.tools.xdsl_opt"]


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"", "error: the input is empty: it has no operation"),
        (b" \n// nothing\n", "error: the input is empty: it has no operation"),
        (b'"test.op"() : () -> ()\n\xff', ":2:1: error: the input is not UTF-8 text (byte 0xff)"),
        (b"\x00\x01\x02", r":1:1: error: Unexpected character: \x00"),
        (bytes(range(128)), "error: "),
        (b"\x7fELF\x02\x01\x01" + b"\x00" * 9, "error: "),
        (b"func.func @f(", ":1:14: error: "),
        (b'"test.op"() ({', "error: "),
        (b'"test.op"() : () -> ()\r\nfoo.bar\r\n', ":2:1: error: Operation foo.bar is not registered\nfoo.bar\n^"),
        (b'"test.op"() {a = !foo.bar\n\n} : () -> ()', ":1:19: error: 'foo.bar' is not registered"),
        (b"\t\tfoo.bar", ":1:3: error: Operation foo.bar is not registered\n\t\tfoo.bar\n\t\t^"),
        (b'"test.op"() ({' * 3000, "error: the input is nested too deeply"),
    ],
)
def test_bad_input_is_one_clean_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: bytes, error: str
) -> None:
    file = tmp_path / "f.mlir"
    file.write_bytes(content)
    assert main([str(file)]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert error in err
    assert err.startswith(str(file))
    assert "Traceback" not in err


@given(st.binary(max_size=40) | st.text(alphabet='%a0="()[]{}<>!#@^:-,.x*?\n /', max_size=40).map(str.encode))
def test_any_input_ends_in_output_or_a_diagnostic(content: bytes) -> None:
    context = Context(allow_unregistered=True)
    for dialect in (Builtin, Func, Test):
        context.load_dialect(dialect)
    diagnostic: Diagnostic | None = None
    try:
        parse_source(context, Source("f.mlir", content.decode(errors="replace")))
    except DiagnosticError as error:
        diagnostic = error.diagnostic
    assert diagnostic is None or str(diagnostic).startswith("f.mlir:")


@pytest.mark.parametrize(
    "arguments",
    [["--no-such-flag"], ["-p"], ["-p", "nopass"], ["-t", "notarget"], ["-p", "cse("], ["--uop-to-cuda=arch="]],
)
def test_a_bad_command_line_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    try:
        code = main([str(tmp_path / "missing.mlir"), *arguments])
    except SystemExit as exit:
        code = exit.code
    assert code == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "error: " in err


def test_a_missing_file_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    for path in ("missing.mlir", "missing\0.mlir", "/"):
        assert main([path]) == 1
        assert "error: cannot read the input: " in capsys.readouterr().err


def test_a_broken_pipe_is_silent(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    file.write_text('"test.op"() : () -> ()\n' * 5000)
    process = subprocess.Popen([*UOP_OPT, str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait()


def test_output_follows_links_and_keeps_modes(tmp_path: Path) -> None:
    file, real, link = tmp_path / "f.mlir", tmp_path / "real.mlir", tmp_path / "link.mlir"
    file.write_text("module {}")
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    assert main([str(file), "-o", str(link)]) == 0
    assert link.is_symlink()
    assert real.read_text().startswith("builtin.module")
    assert real.stat().st_mode & 0o777 == 0o640
    assert main([str(file), "-o", os.devnull]) == 0
    assert not os.path.isfile(os.devnull)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f.mlir", "link.mlir", "real.mlir"]


def test_arguments_in_the_spelling_of_mlir_opt() -> None:
    assert normalize_arguments(["-split-input-file", "--mlir-print-op-generic", "-print-ir-after=cse"]) == [
        "--split-input-file",
        "--print-op-generic",
        "--print-ir-after=cse",
    ]
    assert normalize_arguments(["--timing", "--verify-each=false", "--print-debuginfo=1", "-o", "f"]) == [
        "--mlir-timing",
        "--no-verify-each",
        "--print-debuginfo",
        "-o",
        "f",
    ]
    # The options of a named pipeline may be left out: the file is not taken for them.
    assert normalize_arguments(["--uop-to-cuda", "f.mlir", "--", "-timing"]) == [
        "--uop-to-cuda=",
        "f.mlir",
        "--",
        "-timing",
    ]


def test_pieces_know_their_lines() -> None:
    pieces = split_source(Source("f", "a\n// -----\nb // -----\n  // -----\n// -----  \r\n// -----"))
    assert [(piece.text, piece.first_line) for piece in pieces] == [
        ("a\n", 1),
        ("b // -----\n  // -----\n", 3),
        ("", 6),
        ("", 6),
    ]


@given(st.text(alphabet="ab\n\r\t", max_size=30), st.data())
def test_positions_become_lines_and_columns(text: str, data: st.DataObject) -> None:
    position = data.draw(st.integers(0, len(text)))
    line, column, line_text = Source("f", text, first_line=5).locate(position)
    before = text[:position]
    assert line == 5 + before.count("\n")
    assert column == len(before) - (before.rfind("\n") + 1) + 1
    assert line_text == text.split("\n")[line - 5].rstrip("\r")


def test_text_of_a_diagnostic() -> None:
    assert str(Diagnostic("error", "bad", "f.mlir")) == "f.mlir: error: bad"
    note = Diagnostic("note", "here", "f.mlir", 2, 2, "\tx")
    full = Diagnostic("error", "bad", "f.mlir", 1, 3, "a b", "do this", (note,), ("note: see",))
    assert str(full) == ("f.mlir:1:3: error: bad\na b\n  ^\nf.mlir:2:2: note: here\n\tx\n\t^\nnote: see\nhelp: do this")


def loaded_modules(command: list[str], file: Path) -> set[str]:
    code = (
        "import sys, runpy\n"
        f"sys.argv = {[*command[2:], str(file)]!r}\n"
        "try: runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)\n"
        "except SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(result.stderr.split())


def test_start_loads_little_beside_xdsl(tmp_path: Path) -> None:
    file = tmp_path / "f.mlir"
    file.write_text("builtin.module {}")
    ours = loaded_modules(UOP_OPT, file)
    extra = {name for name in ours - loaded_modules(XDSL_OPT, file) if not name.startswith("uop.")}
    assert extra <= {"gc", "traceback"}
    heavy = ("numpy", "torch", "difflib", "hashlib", "uop.dialects.uop", "uop.tools.pipeline", "uop.runtime")
    assert not {name for name in ours if name.startswith(heavy)}
    assert len({name for name in ours if name.startswith("uop.")}) <= 18


def cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_start_takes_no_longer_than_xdsl_opt(tmp_path: Path) -> None:
    """CPU time, the best of some runs; measured 3 % below xdsl-opt, with slack for a busy machine."""
    file = tmp_path / "empty.mlir"
    file.write_text("")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path / "cache")  # both start from bytecode
    ours: list[float] = []
    theirs: list[float] = []
    for _ in range(6):
        ours.append(cpu_seconds([*UOP_OPT, str(file)], environment))
        theirs.append(cpu_seconds([*XDSL_OPT, str(file)], environment))
    assert min(ours) < 1.15 * min(theirs)


def test_every_registered_name_is_known() -> None:
    driver = UOpOptMain([])
    assert {"cse", "canonicalize"} <= driver.available_passes.keys()
    assert {"mlir", "cuda"} <= driver.available_targets.keys()
    assert {"arith", "uop", "torch", "loop", "tile", "gpu_kernel"} <= {*driver.ctx.registered_dialect_names}


def test_a_broken_plugin_is_one_error(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def get_multiverse() -> Universe:
        raise ValueError("Duplicate definition of gpu in ['third', 'xdsl'].")

    monkeypatch.setattr(Universe, "get_multiverse", get_multiverse)
    assert main([]) == 2
    assert capsys.readouterr().err == (
        "uop-opt: error: cannot load the plugins of the group `xdsl.universe`: "
        "ValueError: Duplicate definition of gpu in ['third', 'xdsl'].\n"
    )
