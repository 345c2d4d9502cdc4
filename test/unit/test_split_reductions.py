"""Reductions in two launches: whole programs, run in the simulator with the race check on, on ragged extents.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

PRIME = 9973
PAST_A_TILE = 8193

PROGRAMS = {
    "sum": (f"torch.randn({PRIME}).sum()", 2),
    "sum_f16": (f"torch.randn({PAST_A_TILE}, dtype=torch.float16).sum()", 2),
    "mean": (f"torch.randn({PAST_A_TILE}).mean()", 2),
    "amax": (f"torch.randn(3, {PRIME}).amax(1)", 2),
    "amin": (f"(torch.randn({PRIME}).abs() + 1).amin()", 2),
    "prod": (f"(torch.randn({PRIME}) * 1e-3 + 1).prod()", 2),
    "prod_int": (f"(torch.arange({PRIME}) | 1).prod()", 2),
    "norm": (f"torch.randn({PRIME}).norm()", 2),
    "argmax": (f"torch.randn({PRIME}).argmax()", 2),
    "argmin_rows": (f"torch.randn(2, {PAST_A_TILE}).argmin(1)", 2),
    "any": (f"(torch.randn({PRIME}) > 9).any()", 2),
    "all": (f"(torch.randn({PRIME}) < 9).all()", 2),
    "logsumexp": (f"torch.randn({PRIME}).logsumexp(0)", None),
    "prologue_and_epilogue": ("(torch.randn(67, 131) * torch.randn(131)).exp().sum().sqrt()", 2),
    "two_axes": ("torch.randn(61, 3, 137).sum((0, 2))", 2),
    "two_axes_first": ("torch.randn(1031, 3, 17).sum((0, 2))", 2),
    "two_axes_small": ("torch.randn(5, 5, 3).sum((0, 2))", 1),
    "columns": ("torch.randn(1031, 36).sum(0)", 2),
    "columns_prime": ("torch.randn(1031, 37).amax(0)", 2),
    "columns_f16": ("torch.randn(1031, 40, dtype=torch.float16).sum(0)", 2),
    "columns_whole": ("torch.randn(67, 44).exp().mean(0)", 1),
    "columns_narrow": ("torch.randn(64, 40).sum(0) * torch.randn(40)", 1),
    "dot": (f"torch.randn({PRIME}) @ torch.randn({PRIME})", 2),
    "product": ("torch.randn(65, 4096, dtype=torch.float16) @ torch.randn(4096, 67, dtype=torch.float16)", 2),
    "product_of_slices": ("torch.randn(65, 1024, dtype=torch.float16) @ torch.randn(1024, 67, dtype=torch.float16)", 1),
    "product_gelu": ("F.gelu(torch.addmm(torch.randn(72), torch.randn(4096, 64).T, torch.randn(4096, 72)))", 2),
    "product_ragged": ("torch.randn(64, 1031, dtype=torch.float16) @ torch.randn(1031, 64, dtype=torch.float16)", 1),
    "products": ("torch.bmm(torch.randn(2, 64, 2048), torch.randn(2, 2048, 64))", 2),
    "softmax": (f"torch.randn(2, {PRIME}).softmax(1)", 1),
    "softmax_long": ("torch.randn(1, 32771).softmax(1)", None),
    "layer_norm": (f"F.layer_norm(torch.randn(2, {PRIME}), ({PRIME},))", 1),
    "variance": (f"torch.randn({PRIME}).var()", None),
}
"""Name → expression, how many kernels it makes (None: that is up to uop-partition)."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code, kernels = PROGRAMS[name]
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    assert kernels is None or len(result.run.kernels) == kernels
    for run in result.run.kernels:
        for arch in ARCHITECTURES:
            resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
            assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (run.compiled.name, arch)


def test_parts_of_a_product_are_products() -> None:
    """Each launch has blocks enough, the first uses matrix instructions, and no part is masked."""
    code = "torch.randn(64, 4096, dtype=torch.float16) @ torch.randn(4096, 64, dtype=torch.float16)"
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right
    parts, whole = result.run.kernels
    assert parts.compiled.kernel.grid_shape == (2, 2, 8)
    assert parts.counters.mma == 64 * 64 * 4096 // (16 * 8 * 16)
    assert parts.counters.bank_conflicts == 0
    assert "async_copy_or_zero" not in parts.compiled.text
    assert parts.counters.global_store_sectors == parts.counters.unique_store_sectors == 8 * 64 * 64 * 4 // 32
    assert whole.counters.global_load_sectors == 8 * 64 * 64 * 4 // 32
