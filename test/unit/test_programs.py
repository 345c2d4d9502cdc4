"""Whole programs: through every pass, compiled for every architecture, run in the simulator with the race check on.

Each result is compared with eager PyTorch and with float64; each kernel compiles for every architecture without spills.
"""

from pathlib import Path

import pytest
from programs import PROGRAMS, SEED

from uop.dialects.gpu_kernel import ARCHITECTURES, DEFAULT_ARCHITECTURE
from uop.dialects.loop import ForOp
from uop.dialects.uop import KernelOp
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


CONVOLUTIONS = (
    "F.relu(nn.Conv2d(8, 16, 3, padding=1)(torch.randn(1, 8, 14, 14)))",
    "nn.Conv2d(3, 6, 3, stride=2, dilation=2)(torch.randn(1, 3, 15, 13))",
    "nn.Conv2d(6, 6, 3, padding=1, groups=6)(torch.randn(1, 6, 14, 14))",
    "nn.Conv2d(6, 8, 3, padding=1, groups=2)(torch.randn(1, 6, 9, 9))",
    "F.max_pool2d(torch.randn(3, 15, 14), 3, 2, 1)",
)


@pytest.mark.parametrize("code", CONVOLUTIONS)
def test_windows_are_index_arithmetic(code: str) -> None:
    """One kernel, no buffer of columns, and no division in the loops over channels and taps."""
    stages = compile_stages(capture_expression(code).imported(), CompileOptions())
    tile = next(module for name, module in stages if name == "tile")
    assert len([op for op in tile.body.block.ops if isinstance(op, KernelOp)]) == 1
    inside = {op.name for loop in tile.walk() if isinstance(loop, ForOp) for op in loop.body.walk()}
    assert "loop.yield" in inside
    assert not any(division in name for name in inside for division in ("floor", "trunc"))
