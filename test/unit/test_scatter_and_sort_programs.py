"""Programs that write at indices, sort and search: right at every stage, and in the simulator with the race check on.

Every access is proved to be in bounds, whatever the indices in the data are.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_every_stage
from memory_checks import check_memory

from uop.frontends.capture import capture_expression
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

X = "x, u = torch.randn(7, 70), torch.randn(7, 33)\ni = torch.randint(0, 70, (7, 33))\n"
NANS = "x = torch.randint(-3, 3, (2, 50)).float()\nx = torch.where(x == 2, math.nan, x * -0.0 + x)\n"

PROGRAMS = {
    "scatter": X + "x.scatter(1, i, u)",
    "scatter of one value, part of the rows": X + "x.scatter(1, i[:5], 2.5)",
    "scatter_add bf16": X + "x.bfloat16().scatter_add(1, i, u.bfloat16())",
    "scatter_reduce mean f16": "x, i = torch.randn(3, 9).half(), torch.randint(0, 9, (3, 33))\n"
    "x.scatter_reduce(1, i, torch.randn(3, 33).half(), 'mean', include_self=False)",
    "position of a KV cache": "c, k = torch.randn(2, 3, 16, 8), torch.randn(2, 3, 1, 8)\n"
    "c.index_copy(2, torch.tensor([5]), k * 2)",
    "first positions of a KV cache": "c, k = torch.randn(2, 3, 16, 8), torch.randn(2, 3, 6, 8)\n"
    "c.index_copy(2, torch.arange(6) + 2, k)",
    "sums of rows": "torch.zeros(50, 7).index_add(0, torch.randint(0, 50, (40,)), torch.randn(40, 7))",
    "rows put": "x = torch.randn(6, 5)\nx[torch.randint(-6, 6, (9,))] = torch.randn(9, 5)\nx",
    "mask": "x = torch.randn(8, 9)\nx[x > 0] = 0.0\nx",
    "elements in the order of a mask": "x = torch.randn(4, 9)\nx.masked_scatter(x > 0, torch.randn(40))",
    "gradient of an embedding": "g, i = torch.randn(12, 6), torch.randint(0, 10, (12,))\n"
    "torch.ops.aten.embedding_dense_backward(g, i, 10, 3, False)",
    "bags": "i = torch.tensor([1, 2, 3, 1, 0, 9, 2])\n"
    "F.embedding_bag(i, torch.randn(10, 6), torch.tensor([0, 2, 2]), mode='mean', padding_idx=3)",
    "sort with ties and NaN": NANS + "torch.sort(x, stable=True, dim=1, descending=True)",
    "sort of bytes": "torch.sort(torch.randint(0, 5, (7, 40), dtype=torch.int8), stable=True, dim=0)",
    "experts": "v, i = torch.topk(torch.softmax(torch.randn(6, 32), -1), 2)\nv / v.sum(-1, keepdim=True), i",
    "median f64": "torch.randn(5, 31).double().median(1)",
    "quantile": "torch.quantile(torch.randn(5, 31), torch.tensor([0.1, 0.5]), dim=1)",
    "bucketize": "torch.bucketize(torch.randn(40), torch.linspace(-2, 2, 37))",
    "histogram": "torch.histc(torch.randn(300), 11, -1, 1)",
}

INDEXED = ["scatter", "position of a KV cache", "rows put", "experts", "bucketize"]
ONE_KERNEL = {"scatter", "position of a KV cache", "first positions of a KV cache", "sums of rows", "mask", "histogram"}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code = PROGRAMS[name]
    test_every_stage.check(capture_expression(code))
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    assert name not in ONE_KERNEL or len(result.run.kernels) == 1


@pytest.mark.parametrize("name", INDEXED)
def test_accesses_are_in_bounds_whatever_the_data_is(name: str) -> None:
    """Below loops, indices are kept in registers, and nothing is known of them."""
    for stage, module in compile_stages(capture_expression(PROGRAMS[name]).imported(), CompileOptions(), verify=False):
        if stage in ("range", "loop", "tile", "gpu-kernel"):
            check_memory(module, gathers=stage in ("tile", "gpu-kernel"))


def test_indices_out_of_range_touch_nothing() -> None:
    """PyTorch raises; a program reads 0, and drops the update."""
    code = "x, i, u = torch.ones(5), torch.tensor([1, 3]), torch.ones(2)\nx.index_select(0, i), x.scatter_add(0, i, u)"
    captured = capture_expression(code)
    imported = captured.imported()
    for _ in compile_stages(imported, CompileOptions()):
        pass
    inputs = [value.numpy() for value in captured.make_inputs()]
    for outside in (5, -1, 2**32 + 1, -(2**63)):
        ours = [np.array([outside, 3]) if value.dtype == np.int64 else value for value in inputs]
        read, added = Program(imported.module).run(ours).outputs
        np.testing.assert_array_equal(read, [0, 1])
        np.testing.assert_array_equal(added, [1, 1, 1, 2, 1])
