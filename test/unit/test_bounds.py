"""Every access of every kernel is proved in bounds, at each level that has accesses, and vectors are aligned."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from memory_checks import check_memory
from test_programs import PROGRAMS, ROOT
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i64
from xdsl.ir import SSAValue

from uop.dialects import gpu_kernel
from uop.dialects.uop import ConstOp
from uop.frontends.capture import capture_expression, capture_file
from uop.frontends.captured import Captured
from uop.rewriting.bounds import Finding, Verdict, check_bounds
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions
from uop.tools.uop_opt import main as uop_opt

LEVELS = ("range", "loop", "tile", "gpu-kernel")


def check(captured: Captured) -> dict[str, list[Finding]]:
    """The findings at each level."""
    return {
        name: check_memory(module)
        for name, module in compile_stages(captured.imported(), CompileOptions(), verify=False)
        if name in LEVELS
    }


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_access_is_in_bounds(name: str) -> None:
    levels = check(capture_expression(PROGRAMS[name][0]))
    assert any(finding.access.verb == "writes" for finding in levels["gpu-kernel"])


def test_every_access_of_a_llama_block_is_in_bounds() -> None:
    check(capture_file(str(ROOT / "examples" / "llama_block.py") + ":make"))


def lowered(code: str) -> ModuleOp:
    *_, (_, module) = compile_stages(capture_expression(code).imported(), CompileOptions())
    return module


MASKED = (
    "torch.randn(5, 1000).exp()",
    "torch.softmax(torch.randn(7, 100), -1)",
    "torch.randn(17, 33) @ torch.randn(33, 65)",
)


@pytest.mark.parametrize("code", MASKED)
def test_a_kernel_without_its_masks_is_refuted(code: str) -> None:
    """What the masks of loads, stores and copies guard does leave the buffers."""
    module = lowered(code)
    assert not any(finding.is_failure() for finding in check_bounds(module))
    for op in list(module.walk()):
        mask: SSAValue | None = getattr(op, "mask", None)
        if mask is not None and op.parent is not None:
            true = ConstOp.of(True, i1)
            op.parent.insert_op_before(true, op)
            op.operands = [true.result if operand is mask else operand for operand in op.operands]
    module.verify()
    assert Verdict.OUTSIDE in {finding.verdict for finding in check_bounds(module)}


def test_a_larger_launch_is_refuted() -> None:
    module = lowered("torch.randn(64, 64) * 2")
    (kernel,) = (op for op in module.ops if isinstance(op, gpu_kernel.KernelOp))
    kernel.properties["block"] = IntegerAttr(kernel.threads * 2, i64)
    failures = [finding for finding in check_bounds(module) if finding.verdict is Verdict.OUTSIDE]
    assert failures
    for finding in failures:
        assert finding.witness["index"] + finding.access.width > 64 * 64
        assert "tid" in finding.witness


RECOMBINED = """
gpu_kernel.kernel @recombined(%out : memref<30xf32>) outputs 1 grid [1, 1, 1] block 30 arch "sm_90" index_bits 32 {
  %tid = gpu_kernel.thread_id
  %c8 = uop.const 8 : index
  %0 = uop.truncdiv %tid, %c8 : index
  %1 = uop.truncmod %tid, %c8 : index
  %2 = uop.mul %0, %c8 : index
  %3 = uop.add %2, %1 : index
  %v = uop.const 1.0 : f32
  gpu_kernel.store %v, %out[%3] : f32 -> memref<30xf32>
}
"""


def test_missing_solver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Only what ranges do not prove needs z3; without it, the error says what to install."""
    monkeypatch.setitem(sys.modules, "z3", None)
    file = tmp_path / "kernel.mlir"
    file.write_text(RECOMBINED)
    assert uop_opt([str(file), "--check-bounds", "-o", str(tmp_path / "out")]) == 1
    assert "pip install uop[prove]" in capsys.readouterr().err
    check_bounds(lowered("torch.randn(64, 64) * 2"))
