"""Machine instructions of loops (bench/sass.py)."""

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest

from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

BENCH = Path(__file__).parents[2] / "bench"
TEXT = """\
extern "C" __global__ void scale(float* x, int n) {
  #pragma unroll 1
  for (int i = 0; i < n; ++i) x[i] *= 2.0f;
}
"""


@pytest.fixture(name="sass")
def fixture_sass(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    return importlib.import_module("sass")


def test_a_loop_lies_between_its_label_and_its_branch(sass: Any) -> None:
    body = "  /*0000*/  @!P0 LDG.E R1, [R2] ;\n  NOP ;\n  UIADD3 UR4, UR4, 1 ;\n  @P0 BRA `(.L_1) ;\n"
    text = f".L_1:\n{body}.L_2:\n  BRA `(.L_2) ;\n"
    assert [dict(loop) for loop in sass.loops(text)] == [{"LDG": 1, "UIADD3": 1, "BRA": 1}]


def test_loop_of_a_compiled_kernel(sass: Any) -> None:
    if sass.nvdisasm() is None:
        pytest.skip("nvdisasm is not installed")
    (loop,) = sass.loops(sass.disassemble(compile_cuda(TEXT, "sm_80").cubin))
    assert (loop["LDG"], loop["FADD"] + loop["FMUL"], loop["STG"]) == (1, 1, 1)


@pytest.mark.parametrize(("extent", "products", "most"), [(512, 16, 58), (1024, 64, 150)])
def test_iterations_of_a_product(sass: Any, extent: int, products: int, most: int) -> None:
    """At most as many instructions for 32 steps along k as Triton 3.9's loop with two stages, of the same tile."""
    if sass.nvdisasm() is None:
        pytest.skip("nvdisasm is not installed")
    a = f"torch.randn({extent}, {extent}, dtype=torch.float16).float()"
    imported = capture_expression(f"{a} @ {a}").imported()
    for _ in compile_stages(imported, CompileOptions("sm_80")):
        pass
    (compiled,) = Program(imported.module).kernels.values()
    (loop,) = sass.loops(sass.disassemble(compile_cuda(compiled.text, "sm_80").cubin))
    assert loop["HMMA"] % products == 0
    assert loop.total() * products <= most * loop["HMMA"]
