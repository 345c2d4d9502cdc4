"""Operands of products that the threads of a block compute together (tile-prepare), in f32 and without matrix
instructions.

Each result is compared with eager PyTorch and with float64, in the simulator with the race check on; each kernel
compiles for every architecture without spills.
"""

import math

import pytest
import torch
import torch.nn.functional as F
from test_programs import check
from xdsl.dialects.builtin import ModuleOp

from uop.dialects.tile import StageOp, WriteOp
from uop.frontends.capture import capture_expression
from uop.frontends.captured import Captured
from uop.frontends.exporting import quiet_export
from uop.frontends.importer import import_exported
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.execution import from_array, run_captured, to_array
from uop.tools.pipelines import CompileOptions

PREPARED = {
    "primes": "F.linear(F.layer_norm(torch.randn(37, 53), (53,), torch.rand(53), torch.randn(53)),"
    " torch.randn(41, 53))",
    "one past a tile": "F.linear(F.layer_norm(torch.randn(65, 129), (129,)), torch.randn(65, 129), torch.randn(65))",
    "gain on the other side": "F.linear(F.layer_norm(torch.randn(33, 50), (50,), torch.rand(50)), torch.randn(40, 50))",
    "large tiles": "F.linear(F.layer_norm(torch.randn(520, 65), (65,), torch.rand(65), torch.randn(65)),"
    " torch.randn(520, 65))",
    "slices": "F.linear(F.layer_norm(torch.randn(40, 250), (250,), torch.rand(250), torch.randn(250)),"
    " torch.randn(33, 250))",
    "columns": "F.linear(torch.randn(40, 64), F.normalize(torch.randn(33, 64), dim=-1))",
    "softmax": "torch.softmax(torch.randn(33, 50), -1) @ torch.randn(50, 24)",
    "no statistics": "torch.relu(torch.randn(70, 100) + torch.randn(100)) @ torch.randn(100, 41)",
    "both operands": "torch.relu(torch.randn(33, 50)) @ torch.abs(torch.randn(50, 40))",
    "a batch": "torch.relu(torch.randn(3, 33, 50) + torch.randn(50)) @ torch.randn(3, 50, 40)",
    "not 0 behind the end": "(torch.randn(33, 50) + 1.0) @ torch.randn(50, 40)",
}


def _written_slabs(module: ModuleOp) -> int:
    return sum(isinstance(op, WriteOp) and isinstance(op.buffer.owner, StageOp) for op in module.walk())


def _count(captured: Captured) -> int:
    """Slabs that threads write to, in tile form."""
    stages = compile_stages(captured.imported(), CompileOptions())
    return next(_written_slabs(module) for stage, module in stages if stage == "tile")


@pytest.mark.parametrize("name", PREPARED)
def test_one_kernel(name: str) -> None:
    captured = capture_expression(PREPARED[name])
    assert _count(captured) == (2 if name in ("both operands", "gain on the other side") else 1)
    check(captured, 1)


UNPREPARED = {
    "matrix instructions": "F.linear(F.layer_norm(torch.randn(64, 64, dtype=torch.float16), (64,)),"
    " torch.randn(64, 64, dtype=torch.float16))",
    "operands as they are": "torch.randn(64, 64) @ torch.randn(64, 64)",
    "one step": "torch.relu(torch.randn(33, 4)) @ torch.randn(4, 40)",
}


@pytest.mark.parametrize("name", UNPREPARED)
def test_what_stays(name: str) -> None:
    assert _count(capture_expression(UNPREPARED[name])) == 0


class _Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor, gain: torch.Tensor, bias: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return F.linear(F.layer_norm(x, x.shape[-1:], gain, bias), w)


def test_rows_of_nan_and_infinity_stay_in_their_rows() -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = (35, 50), (50,), (50,), (24, 50)
    x, *others = (torch.randn(shape, generator=generator) for shape in shapes)
    x[3, 5], x[20, 47], x[34, 0] = math.nan, math.inf, -math.inf
    with quiet_export():
        imported = import_exported(_Layer(), (x, *others))
    for _ in compile_stages(imported, CompileOptions()):
        pass
    run = Program(imported.module).run([to_array(value) for value in (x, *others)])
    (result,) = (from_array(array, type) for array, type in zip(run.outputs, imported.result_types, strict=True))
    assert len(run.kernels) == 1
    expected = _Layer()(x.double(), *(value.double() for value in others))
    assert [row for row in range(len(result)) if result[row].isnan().all()] == [3, 20, 34]
    torch.testing.assert_close(result.double(), expected, rtol=1e-4, atol=1e-4, equal_nan=True)


def test_what_it_costs() -> None:
    """A barrier and a part of the operand more for each step of the product of stored rows, and the statistics."""
    product, layer = "torch.randn(64, 128) @ torch.randn(128, 64)", "F.layer_norm(torch.randn(64, 128), (128,))"
    (stored,) = run_captured(capture_expression(product), CompileOptions()).run.kernels
    joined = product.replace("torch.randn(64, 128)", f"({layer} + torch.randn(128))")
    (computed,) = run_captured(capture_expression(joined), CompileOptions()).run.kernels
    assert computed.counters.instructions < 1.7 * stored.counters.instructions
