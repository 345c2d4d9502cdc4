"""`uop-opt` around passes that refuse, crash, remark or leave invalid IR."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, IntAttr, ModuleOp, NoneAttr, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from uop.rewriting.diagnostics import PassError, collect_remarks, emit_remark
from uop.tools.driver import UOpOptMain


def additions(module: ModuleOp) -> list[arith.AddiOp]:
    return [op for op in module.walk() if isinstance(op, arith.AddiOp)]


class RefusePass(ModulePass):
    """Refuses additions."""

    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for addition in additions(op):
            raise PassError("cannot add", addition, help="multiply instead")


class FailPass(ModulePass):
    """Fails with an exception of xDSL, which knows no operation."""

    name = "fail"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("not today")


@dataclass(frozen=True)
class CrashPass(ModulePass):
    """Crashes half-way through the additions."""

    name = "crash"

    size: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for addition in additions(op):
            addition.attributes["half"] = builtin.UnitAttr()
            raise KeyError("what")


class MarkPass(ModulePass):
    """Marks additions."""

    name = "mark"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for addition in additions(op):
            addition.attributes["marked"] = builtin.UnitAttr()


class BreakPass(ModulePass):
    """Leaves a use before its definition."""

    name = "break"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for addition in additions(op):
            owner = addition.lhs.owner
            assert isinstance(owner, Operation)
            addition.detach()
            block = owner.parent
            assert block is not None
            block.insert_op_before(addition, owner)


class RemarkPass(ModulePass):
    """Remarks on additions."""

    name = "remark"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for addition in additions(op):
            emit_remark(addition, f"'{addition.name}' is slow")


PASSES: dict[str, type[ModulePass]] = {
    cls.name: cls for cls in (RefusePass, FailPass, CrashPass, MarkPass, BreakPass, RemarkPass)
}


def factory(cls: type[ModulePass]) -> Callable[[], type[ModulePass]]:
    return lambda: cls


class ToyMain(UOpOptMain):
    """`uop-opt` with the passes above."""

    def register_all_passes(self) -> None:
        super().register_all_passes()
        self.available_passes.update({name: factory(cls) for name, cls in PASSES.items()})


TEXT = """\
func.func @f(%a: i32) -> i32 {
  %b = arith.constant 1 : i32
  %c = arith.addi %b, %a : i32 loc("model.py":7:0)
  func.return %c : i32
}
"""


@dataclass
class Result:
    code: int
    out: str
    err: str


Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `uop-opt f.mlir ARGUMENTS` in a folder of its own."""

    def run(*arguments: str, text: str = TEXT) -> Result:
        monkeypatch.chdir(tmp_path)
        Path("f.mlir").write_text(text)
        code = ToyMain(["f.mlir", *arguments]).process()
        captured = capsys.readouterr()
        return Result(code, captured.out, captured.err)

    return run


def test_a_refusal_shows_operation_user_line_and_help(run: Run) -> None:
    result = run("-p", "cse,refuse")
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "f.mlir:3:8: error: cannot add\n"
        '  %c = arith.addi %b, %a : i32 loc("model.py":7:0)\n'
        "       ^\n"
        "note: in pass 'refuse'\n"
        "note: see operation: %c = arith.addi %b, %a : i32\n"
        "note: from model.py:7\n"
        "help: multiply instead\n"
    )
    assert [*Path.cwd().iterdir()] == [Path.cwd() / "f.mlir"]


def test_text_of_a_refusal() -> None:
    assert str(PassError("no")) == "no"
    assert str(PassError("no", help="yes")) == "no (yes)"
    error = PassError("no", ModuleOp([]), "yes")
    assert (error.message, error.help, isinstance(error.op, ModuleOp)) == ("no", "yes", True)


def test_every_place_in_the_users_program_is_shown(run: Run) -> None:
    text = TEXT.replace(
        'loc("model.py":7:0)', 'loc(fused["relu"("model.py":7:0), callsite("lib.py":3:1 at "model.py":9:0)])'
    )
    assert "note: from model.py:7\nnote: from lib.py:3\nnote: from model.py:9\n" in run("-p", "refuse", text=text).err


def test_an_operation_made_by_a_pass_is_placed_by_what_is_around_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    class ReplacePass(ModulePass):
        """Makes the additions anew."""

        name = "replace"

        def apply(self, ctx: Context, op: ModuleOp) -> None:
            for old in additions(op):
                new = arith.AddiOp(old.lhs, old.rhs)
                place = FileLineColLoc(StringAttr("model.py"), IntAttr(8), IntAttr(0))
                new.location = FusedLoc((old.location, place), NoneAttr())
                block = old.parent
                assert block is not None
                block.insert_op_before(new, old)
                old.result.replace_all_uses_with(new.result)
                old.detach()
                old.erase()

    monkeypatch.setitem(PASSES, "replace", ReplacePass)
    err = run("-p", "replace,refuse").err
    assert err.startswith("f.mlir:1:1: error: cannot add\nfunc.func @f")
    assert "note: from model.py:7\nnote: from model.py:8\n" in err


def test_a_failure_of_xdsl_names_the_pass(run: Run) -> None:
    assert run("-p", "fail").err == "f.mlir: error: not today\nnote: in pass 'fail'\n"


@pytest.mark.parametrize(
    ("passes", "reproduced", "mark"),
    [
        ("mark,crash,mark", "builtin.module(crash)", "marked"),
        ("mark,crash{size=3}", "builtin.module(crash{size=3})", "marked"),
        ("func.func(mark,crash)", "builtin.module(crash)", "marked"),
        ("func.func(crash)", "builtin.module(crash)", "addi"),
    ],
)
def test_a_crash_writes_a_reproducer(run: Run, passes: str, reproduced: str, mark: str) -> None:
    result = run("-p", passes)
    assert (result.code, result.out) == (1, "")
    assert "Traceback" not in result.err
    lines = result.err.splitlines()
    assert lines[0] == "f.mlir: error: pass 'crash' crashed with KeyError: 'what'"
    assert lines[1].startswith("note: raised in apply, ")
    (file,) = Path.cwd().glob("uop-opt-reproducer-*.mlir")
    assert lines[2] == f"note: to run it again: uop-opt {file.name} --run-reproducer"
    text = file.read_text()
    assert f"// configuration: '--pass-pipeline={reproduced}'\n" in text
    assert "KeyError" in text
    assert mark in text
    assert "half" not in text, "the IR is the one before the pass"
    assert '"func.func"()' in text, "the form is generic"
    assert 'loc("model.py":7:0)' in text, "locations are kept"

    again = run("--run-reproducer", text=text)
    assert again.err.splitlines()[0] == lines[0]


def test_a_reproducer_has_the_same_name_each_time(run: Run) -> None:
    assert run("-p", "crash").err == run("-p", "crash").err
    assert len([*Path.cwd().glob("uop-opt-reproducer-*")]) == 1


def test_where_a_reproducer_goes(run: Run, tmp_path: Path) -> None:
    (tmp_path / "crashes").mkdir()
    run("-p", "crash", "--crash-reproducer-dir", "crashes")
    assert len([*(tmp_path / "crashes").iterdir()]) == 1
    run("-p", "crash", "--mlir-pass-pipeline-crash-reproducer=mine.mlir")
    assert "'--pass-pipeline=builtin.module(crash)'" in (tmp_path / "mine.mlir").read_text()
    err = run("-p", "crash", "--crash-reproducer-dir", "missing").err
    assert "note: no reproducer: " in err
    assert "KeyError" in err


def test_a_refusal_is_reproduced_only_on_demand(run: Run) -> None:
    run("-p", "mark,refuse", "--pass-pipeline-crash-reproducer=mine.mlir")
    text = Path("mine.mlir").read_text()
    assert "--pass-pipeline=builtin.module(refuse)" in text
    assert "marked" in text


def test_debug_shows_the_traceback(run: Run) -> None:
    assert "Traceback (most recent call last)" in run("-p", "crash", "--debug").err


def test_a_crash_in_one_piece_leaves_the_others(run: Run) -> None:
    text = f"{TEXT}// -----\nfunc.func @other() {{ func.return }}\n"
    result = run("-p", "crash", "--split-input-file", text=text)
    assert result.code == 1
    assert "func.func @other" in result.out
    assert "func.func @f" not in result.out


def test_verify_each_names_the_pass_that_broke_the_ir(run: Run) -> None:
    err = run("-p", "mark,break,mark").err
    assert err.startswith("f.mlir:3:8: error: operand #0 does not dominate this use\n")
    assert "f.mlir:2:8: note: operand defined here\n" in err
    assert "note: in pass 'break'\n" in err


@pytest.mark.parametrize("flag", ["--verify-each=false", "--no-verify-each", "-verify-each=0"])
def test_without_verify_each_the_next_pass_gets_the_ir_as_it_is(run: Run, flag: str) -> None:
    result = run("-p", "mark,break,mark", flag)
    assert (result.code, result.err) == (0, "")
    assert result.out.index("arith.addi") < result.out.index("arith.constant")


def test_print_ir_after_failure(run: Run) -> None:
    for name in ("break", "crash", "refuse"):
        err = run("-p", f"mark,{name}", "--print-ir-after-failure").err
        assert err.startswith(f"// -----// IR Dump After Failure of {name} ({name}) //----- //\nbuiltin.module {{")
        assert "marked" in err


def test_remarks_are_printed_when_asked_for(run: Run) -> None:
    quiet = run("-p", "remark")
    assert (quiet.code, quiet.err) == (0, "")
    told = run("-p", "remark", "--remarks")
    assert told.code == 0
    assert told.out == quiet.out
    assert told.err == (
        "f.mlir:3:8: remark: 'arith.addi' is slow\n"
        '  %c = arith.addi %b, %a : i32 loc("model.py":7:0)\n'
        "       ^\n"
        "note: see operation: %c = arith.addi %b, %a : i32\n"
        "note: from model.py:7\n"
    )


def test_remarks_before_a_failure_are_printed(run: Run) -> None:
    err = run("-p", "remark,refuse", "--remarks").err
    assert err.index("is slow") < err.index("cannot add")


def test_nobody_collects_remarks() -> None:
    op = ModuleOp([])
    emit_remark(op, "lost")
    with collect_remarks() as remarks:
        emit_remark(op, "kept")
    emit_remark(op, "lost")
    assert [(remark.op, remark.message) for remark in remarks] == [(op, "kept")]


@pytest.mark.parametrize(
    ("passes", "expectation"),
    [
        ("refuse", "expected-error@-3 {{cannot add (multiply instead)}}"),
        ("remark", "expected-remark@-3 {{is slow}}"),
        ("fail", "expected-error@unknown {{not today}}"),
        ("crash", "expected-error@unknown {{crashed with KeyError}}"),
    ],
)
def test_diagnostics_of_passes_can_be_expected(run: Run, passes: str, expectation: str) -> None:
    met = run("-p", passes, "--verify-diagnostics", text=f"{TEXT}// {expectation}\n")
    assert (met.code, met.err) == (0, "")
    unmet = run("-p", "mark", "--verify-diagnostics", text=f"{TEXT}// {expectation}\n")
    assert unmet.code == 1
    assert "f.mlir:6:4: error: expected " in unmet.err
    unexpected = run("-p", passes, "--verify-diagnostics")
    assert unexpected.code == 1
    assert "error: unexpected " in unexpected.err


def test_a_crash_of_the_target_is_reproduced(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from uop.tools.printing import TextTarget

    def emit(self: TextTarget, *_: object) -> None:
        raise IndexError("out of ink")

    monkeypatch.setattr(TextTarget, "emit", emit)
    err = run("-p", "mark").err
    assert err.startswith("f.mlir: error: target 'mlir' crashed with IndexError: out of ink\n")
    (file,) = Path.cwd().glob("uop-opt-reproducer-*.mlir")
    assert "// configuration: '--pass-pipeline=builtin.module()' --target=mlir" in file.read_text()
    assert "marked" in file.read_text()


def test_the_command_reproduces_a_crash_of_a_real_process(tmp_path: Path) -> None:
    """The reproducer's own line works in a shell; `cse` does not crash, so the run succeeds."""
    file = tmp_path / "r.mlir"
    file.write_text(f"// configuration: '--pass-pipeline=builtin.module(cse)'\n{TEXT}")
    command = [sys.executable, "-m", "uop.tools.uop_opt", str(file), "--run-reproducer"]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "func.func @f" in result.stdout
