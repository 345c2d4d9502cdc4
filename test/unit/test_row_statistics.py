"""Normalisations in the kernel of the product of their rows: the statistics of a row are reduced in front of it.

Each result is compared with eager PyTorch and with float64, in the simulator with the race check on; each kernel
compiles for every architecture without spills.
"""

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from test_programs import check

from uop.dialects.tile import MmaOp
from uop.dialects.uop import LaunchOp
from uop.frontends.capture import capture_expression
from uop.frontends.exporting import quiet_export
from uop.frontends.importer import import_exported
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.execution import from_array, run_captured, to_array
from uop.tools.pipelines import CompileOptions

HALF = "dtype=torch.float16"

JOINED = {
    "whole tiles": f"F.linear(F.layer_norm(torch.randn(64, 64, {HALF}), (64,), torch.rand(64, {HALF})),"
    f" torch.randn(64, 64, {HALF}))",
    "primes": f"F.linear(F.layer_norm(torch.randn(37, 53, {HALF}), (53,), torch.rand(53, {HALF}),"
    f" torch.randn(53, {HALF})), torch.randn(41, 53, {HALF}))",
    "one past a tile": "F.linear(F.layer_norm(torch.randn(65, 129, dtype=torch.bfloat16), (129,)),"
    " torch.randn(65, 129, dtype=torch.bfloat16), torch.randn(65, dtype=torch.bfloat16))",
    "f32": "F.linear(F.layer_norm(torch.randn(17, 67), (67,), torch.rand(67), torch.randn(67)), torch.randn(33, 67))",
    "great mean": "F.linear(F.layer_norm(torch.randn(19, 64) + 1e4, (64,)), torch.randn(24, 64))",
    "three rows": f"F.linear(F.layer_norm(torch.randn(3, 257, {HALF}), (257,)), torch.randn(300, 257, {HALF}))",
    "rows of a batch": f"F.linear(F.layer_norm(torch.randn(3, 9, 40, {HALF}), (40,)), torch.randn(24, 40, {HALF}))",
    "rows across": "F.layer_norm(torch.randn(40, 48), (48,)) @ torch.randn(48, 40)",
    "RMSNorm": "F.linear(F.rms_norm(torch.randn(40, 48), (48,), torch.rand(48)), torch.randn(40, 48))",
    "length 1": f"F.linear(F.normalize(torch.randn(33, 50, {HALF}), dim=-1), torch.randn(40, 50, {HALF}))",
    "softmax": f"torch.softmax(torch.randn(33, 50, {HALF}), -1) @ torch.randn(50, 24, {HALF})",
    "columns": f"F.linear(torch.randn(40, 64, {HALF}), F.normalize(torch.randn(33, 64, {HALF}), dim=-1))",
    "gate and up": "(lambda h, v, w: F.silu(F.linear(h, v)) * F.linear(h, w))("
    f"F.layer_norm(torch.randn(33, 48, {HALF}), (48,)), torch.randn(40, 48, {HALF}), torch.randn(40, 48, {HALF}))",
}


@pytest.mark.parametrize("name", JOINED)
def test_one_kernel(name: str) -> None:
    check(capture_expression(JOINED[name]), 1)


def _layer(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    rows = F.layer_norm(x, x.shape[-1:])
    return F.linear(rows, w)


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., torch.Tensor]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def _products(inputs: tuple[torch.Tensor, ...], options: CompileOptions) -> tuple[int, int]:
    """Launches of a compiled layer, and its products by matrix instructions."""
    with quiet_export():
        imported = import_exported(_Module(_layer), inputs)
    launches = products = 0
    for stage, module in compile_stages(imported, options):
        if stage == "tile":
            launches = sum(isinstance(op, LaunchOp) for op in module.walk())
            products = sum(isinstance(op, MmaOp) for op in module.walk())
            break
    return launches, products


def test_rows_of_nan_and_infinity_stay_in_their_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(shape, generator=generator).half() for shape in ((35, 48), (24, 48)))
    x[3, 5], x[20, 47], x[34, 0] = math.nan, math.inf, -math.inf
    with quiet_export():
        imported = import_exported(_Module(_layer), (x, w))
    for _ in compile_stages(imported, CompileOptions()):
        pass
    run = Program(imported.module).run([to_array(x), to_array(w)])
    (result,) = (from_array(array, type) for array, type in zip(run.outputs, imported.result_types, strict=True))
    assert len(run.kernels) == 1
    expected = _layer(x.double(), w.double())
    assert torch.equal(result.isnan(), expected.isnan())
    assert [row for row in range(len(result)) if result[row].isnan().all()] == [3, 20, 34]
    torch.testing.assert_close(result.double(), expected, rtol=2e-3, atol=2e-2, equal_nan=True)


def test_the_choice_is_by_cost_and_can_be_undone() -> None:
    """Many tiles would compute statistics again and again; where rows have few columns, bytes count for more."""

    def inputs(rows: int, columns: int, length: int) -> tuple[torch.Tensor, ...]:
        return torch.empty(rows, length).half(), torch.empty(columns, length).half()

    assert _products(inputs(128, 1536, 512), CompileOptions()) == (1, 1)
    assert _products(inputs(4096, 4096, 4096), CompileOptions()) == (2, 1)
    assert _products(inputs(16384, 64, 1024), CompileOptions()) == (1, 1)
    # Rows that are fewer than an instruction's are its columns, and in other lanes than their statistics.
    assert _products(inputs(8, 1024, 1024), CompileOptions()) == (2, 1)
    line = f"test_row_statistics.py:{_layer.__code__.co_firstlineno + 1}"
    assert _products(inputs(4096, 4096, 4096), CompileOptions(join=(line,)))[0] == 1


def test_what_it_costs() -> None:
    """Each tile reads its rows for their mean, for their variance, and for the product; no conflicts in slabs."""
    code = f"F.linear(F.layer_norm(torch.randn(64, 256, {HALF}), (256,)), torch.randn(64, 256, {HALF}))"
    (run,) = run_captured(capture_expression(code), CompileOptions()).run.kernels
    counters = run.counters
    slabs = [each for each in counters.by_instruction.values() if each.kind in ("ldmatrix", "cp.async")]
    assert slabs
    assert all(each.wavefronts == each.ideal_wavefronts for each in slabs)
    rows, side = 64 * 256 * 2 // 32, math.isqrt(counters.blocks)
    assert counters.global_load_sectors == side * (3 + 1) * rows
