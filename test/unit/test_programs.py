"""Whole programs: through every pass, compiled for every architecture, run in the simulator with the race check on.

Each result is compared with eager PyTorch and with float64; each kernel compiles for every architecture without spills.
"""

from pathlib import Path

import pytest
from programs import PROGRAMS, SEED

from uop.dialects.gpu_kernel import ARCHITECTURES, DEFAULT_ARCHITECTURE
from uop.frontends.capture import capture_expression, capture_file
from uop.frontends.captured import Captured
from uop.runtime.nvrtc import compile_cuda
from uop.tools.compilation import compile_stages, stage_text
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

ROOT = Path(__file__).parents[2]


def check(captured: Captured, kernels: int | None) -> None:
    result = run_captured(captured, CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    for run in result.run.kernels:
        for arch in ARCHITECTURES:
            if arch == DEFAULT_ARCHITECTURE:
                resources = run.compiled.resources
            else:
                resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
            assert resources.spill_store_bytes == 0, (run.compiled.name, arch)
            assert resources.spill_load_bytes == 0, (run.compiled.name, arch)
    if kernels is not None:
        assert len(result.run.kernels) == kernels


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code, kernels = PROGRAMS[name]
    check(capture_expression(code), kernels)


def test_llama_block() -> None:
    check(capture_file(str(ROOT / "examples" / "llama_block.py") + ":make"), None)


def test_seed_is_one_staged_kernel() -> None:
    captured = capture_expression(SEED)
    texts = {name: stage_text(name, module) for name, module in compile_stages(captured.imported(), CompileOptions())}
    assert texts["tile"].count("uop.kernel") == 1
    for name in ("x", "bias", "w"):
        assert f"%{name}_s = tile.stage %{name}[" in texts["tile"]
    assert texts["tile"].count("buffers 2 async : memref") == 3
    assert 'memref<16x32xf32, strided<[36, 1]>, "shared">' in texts["tile"]
    assert "carry (%acc = add : vector<2x2xf32>)" in texts["tile"]
    assert texts["gpu-kernel"].count("-> memref<256xf32>") == 1  # the output is stored once, and nothing else

    result = run_captured(capture_expression(SEED), CompileOptions())
    (run,) = result.run.kernels
    assert run.counters.bank_conflicts == 0
    assert run.counters.global_store_sectors == run.counters.unique_store_sectors == 16 * 16 * 4 // 32
    assert result.comparisons[0].error < 1e-5
