"""Kernels that load along another axis than they store: right on ragged shapes, whole vectors and sectors, no memory
shared."""

from __future__ import annotations

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.simulator import Counters
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions


def counters(code: str) -> Counters:
    """Those of the one kernel, which is right, and spills on no architecture."""
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    [run] = result.run.kernels
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == 0, arch
        assert resources.spill_load_bytes == 0, arch
    return run.counters


@pytest.mark.parametrize(
    "code",
    [
        "torch.randn(1, 67).t().contiguous()",
        "torch.randn(17, 16).t().contiguous()",
        "torch.randn(65, 129).t().contiguous()",
        "torch.randn(131, 97).half().t().contiguous()",
        "torch.randn(36, 52).double().t().contiguous()",
        "torch.randint(0, 9, (40, 72), dtype=torch.int8).t().contiguous()",
        "torch.randn(3, 20, 36).transpose(1, 2).contiguous()",
        "torch.randn(2, 24, 5, 7).permute(0, 2, 3, 1).contiguous()",
        "torch.randn(20, 3, 5, 24).permute(3, 1, 0, 2).contiguous()",
        "x, y = torch.randn(36, 44), torch.randn(44, 36)\nx + y.t()",
        "x, y, z = torch.randn(36, 44), torch.randn(44, 36).half(), torch.randn(36)\ntorch.exp(x.t()) * y + z",
        "torch.randn(64, 65)[:, 1:33].t().contiguous()",
    ],
)
def test_results(code: str) -> None:
    assert counters(code).barriers == 0


@pytest.mark.parametrize(("type", "size"), [("float64", 8), ("float32", 4), ("float16", 2), ("int8", 1)])
def test_both_sides_move_whole_sectors(type: str, size: int) -> None:
    counted = counters(f"x = torch.ones(64, 128, dtype=torch.{type})\nx.t().contiguous()")
    sectors = 64 * 128 * size // 32
    assert (counted.global_load_sectors, counted.global_store_sectors) == (sectors, sectors)
    requests = 64 * 128 * size // (32 * min(16, 8 * size))
    assert (counted.global_load_requests, counted.global_store_requests) == (requests, requests)
