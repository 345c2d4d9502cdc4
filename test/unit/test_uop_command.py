"""The command `uop`: what it prints, what it writes, how it refuses, and its exit status."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from uop.dialects.gpu_kernel import target
from uop.dialects.uop import AddOp, SubOp
from uop.frontends.imported import Imported
from uop.tools import execution
from uop.tools.compilation import FORMS, compile_stages
from uop.tools.pass_run import PassInstrumentation
from uop.tools.pipelines import CompileOptions
from uop.tools.uop import ARCHITECTURES, STAGES, main
from uop.tools.uop_opt import main as uop_opt

SEED = "torch.relu(torch.matmul(torch.randn(16,64) + torch.randn(64), torch.randn(64,16)))"
ADD = "torch.randn(5, 7) + torch.randn(7)"

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, x, y):
        z = x * 2
        return z + y


def make():
    return Model(), (torch.randn(3, 33), torch.randn(33))
"""


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A file in the current folder, and the function in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(MODEL)
    return "model.py:make"


def test_stages_are_those_of_the_pipeline() -> None:
    assert STAGES == FORMS


def test_architectures_are_those_of_the_target_table() -> None:
    assert (*target.ARCHITECTURES,) == ARCHITECTURES


@pytest.mark.parametrize(
    ("stage", "text"),
    [
        ("torch", 'torch.aten "mm"'),
        ("uop", "uop.reduce_axis add"),
        ("partition", "uop.launch @forward_0"),
        ("range", "uop.reduce add"),
        ("loop", "loop.reduce %k (k = 64) add"),
        ("tile", "tile.stage %x"),
        ("gpu-kernel", "gpu_kernel.async_copy"),
        ("cuda", "__global__ void __launch_bounds__(64) forward_0("),
    ],
)
def test_compile_prints_each_stage(stage: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", SEED, "--ir", stage]) == 0
    output = capsys.readouterr()
    assert text in output.out
    assert output.err == ""
    assert "<command>" in output.out


def test_compile_writes_every_stage(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", model, "-o", "stages", "--arch", "sm_80"]) == 0
    names = ["torch.mlir", "uop.mlir", "partition.mlir", "range.mlir", "loop.mlir", "tile.mlir", "gpu_kernel.mlir"]
    artifact = ["manifest.json", "plan.json", *(f"kernels/forward_0.{kind}" for kind in ("cu", "ptx", "cubin"))]
    assert capsys.readouterr().out.split() == [f"stages/{name}" for name in (*names, "kernels.cu", *artifact)]
    assert 'arch "sm_80"' in (tmp_path / "stages" / "gpu_kernel.mlir").read_text()
    cuda = (tmp_path / "stages" / "kernels.cu").read_text()
    assert "// model.py:7" in cuda
    assert "// model.py:8" in cuda


def test_compile_to_c(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", model, "--target", "c"]) == 0
    text = capsys.readouterr().out
    assert "void forward(" in text
    assert "// model.py:7" in text
    assert main(["compile", model, "--ir", "c"]) == 0
    assert capsys.readouterr().out == text
    assert main(["compile", model, "--ir", "cpu-kernel"]) == 0
    assert "cpu_kernel.kernel @forward_0" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["compile", model, "--ir", "gpu-kernel", "--target", "c"])
    assert "there is no gpu-kernel on the way to c" in capsys.readouterr().err


def test_remarks_tell_what_was_decided(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compile", "-c", SEED, "--remarks", "--ir", "tile"]) == 0
    assert "remark: @forward_0: product: a tile of 16 x 16 a block, 32 deep, 2 steps" in capsys.readouterr().err


def test_run_prints_a_row_for_each_kernel(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--device", "sim", model]) == 0
    output = capsys.readouterr().out
    row = next(line for line in output.splitlines() if "forward_0" in line)
    assert "model.py:7" in row
    assert "1x1x1" in row or "x1x1" in row
    assert "0 B" in row
    assert "right" in output


def test_run_fails_when_the_result_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiler that subtracts where it should add."""

    def miscompile(
        imported: Imported, options: CompileOptions, *, instrumentations: Sequence[PassInstrumentation]
    ) -> Iterator[tuple[str, ModuleOp]]:
        for name, module in compile_stages(imported, options):
            if name == "loop":
                for op in list(module.walk()):
                    if isinstance(op, AddOp):
                        wrong = SubOp.build_on(*op.operands)
                        parent = op.parent_block()
                        assert parent is not None
                        parent.insert_op_before(wrong, op)
                        op.results[0].replace_all_uses_with(wrong.results[0])
                        op.detach()
                        op.erase()
            yield name, module

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(execution, "compile_stages", miscompile)
    assert main(["run", "--device", "sim", "-c", ADD]) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "-c", "nope"], "NameError: name 'nope' is not defined"),
        (["run", "-c", "torch.relu("], "SyntaxError: '(' was never closed"),
        (["run", "-c", "3"], "a tensor, or a tuple, list or dict of tensors is needed"),
        (
            ["compile", "-c", "torch.linalg.eigh(torch.randn(4, 4))[0]"],
            "<command>:1: `_linalg_eigh` on tensor<4x4xf32>: no lowering",
        ),
        (["compile", "nosuch.py:make"], "there is no file nosuch.py"),
    ],
)
def test_refusals_are_sentences(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    output = capsys.readouterr()
    assert message in output.err
    assert "Traceback" not in output.err
    assert output.out == ""


def test_all_unsupported_operations_are_named_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    code = "x = torch.randn(8, 8)\na = torch.linalg.eigh(x)[0]\nb = torch.linalg.svdvals(x)\na.sum() + b.sum()"
    assert main(["compile", "-c", code]) == 1
    error = capsys.readouterr().err
    assert "<command>:2: `_linalg_eigh`" in error
    assert "<command>:3: `_linalg_svd`" in error


@pytest.mark.parametrize(
    "arguments", [["compile"], ["compile", "-c", "1", "model.py"], ["compile", "-c", "1", "--ir", "x"]]
)
def test_bad_command_lines(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as failure:
        main(arguments)
    assert failure.value.code == 2


def test_crash_writes_a_reproducer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from uop.passes.loop import choose_schedule

    def fail(shape: object) -> None:
        raise ZeroDivisionError("planted")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(choose_schedule, "choose", fail)
    assert main(["compile", "-c", ADD]) == 1
    error = capsys.readouterr().err
    assert "pass 'choose-schedule' crashed with ZeroDivisionError: planted" in error
    (reproducer,) = tmp_path.glob("*.mlir")
    assert f"uop-opt {reproducer.name} --run-reproducer" in error
    assert "Traceback" not in error
    assert uop_opt([str(reproducer), "--run-reproducer"]) == 1  # it fails again, and in the same place
    assert "pass 'choose-schedule' crashed with ZeroDivisionError: planted" in capsys.readouterr().err
    monkeypatch.undo()
    assert uop_opt([str(reproducer), "--run-reproducer"]) == 0
