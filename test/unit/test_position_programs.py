"""What is computed from positions costs no loop and no buffer: masks, position ids, one-hot products, counts."""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import pytest
import torch
from torch import nn
from torch.nn import functional
from xdsl.context import Context

from uop.frontends.importer import import_exported
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import CompileOptions, uop_to_cuda

N, TOKENS = 20, 64

Function = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""From a table, TOKENS×33, and an argument."""

SQUARE, ROW = torch.empty(N, N), torch.empty(N)
IDS = torch.zeros(5, dtype=torch.int64)
COUNTS = torch.zeros(N, dtype=torch.int64)


def positions(n: int) -> torch.Tensor:
    return torch.arange(n)


PROGRAMS: dict[str, tuple[Function, torch.Tensor, int]] = {
    "position ids": (lambda table, x: functional.embedding(positions(x.shape[0]), table), ROW, 1),
    "tril of ones": (lambda table, x: x.masked_fill(~torch.tril(torch.ones(N, N)).bool(), -inf), SQUARE, 1),
    "triu of a number": (lambda table, x: x + torch.triu(torch.full((N, N), -inf), 1), SQUARE, 1),
    "compared": (lambda table, x: x.masked_fill(positions(N)[None, :] > positions(N)[:, None], -inf), SQUARE, 1),
    "eye": (lambda table, x: x + torch.eye(N), SQUARE, 1),
    "one of a table": (
        lambda table, x: torch.where((x[:, None] == positions(TOKENS))[:, :, None], table, 0.0).sum(1),
        *(IDS, 2),
    ),
    "one of the positions": (
        lambda table, x: (functional.one_hot(x, TOKENS) * positions(TOKENS)).sum(1),
        *(IDS, 1),
    ),
    "how many": (lambda table, x: (positions(N)[None, :] < positions(N)[:, None]).sum(1) + x, COUNTS, 1),
}
"""Name → program, argument, and how many loads it needs."""


class Program(nn.Module):
    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.table = nn.Parameter(torch.empty(TOKENS, 33))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.table, x)


def ops(function: Function, argument: torch.Tensor, *, fast_math: bool = False) -> list[str]:
    """The ops of the program in range form."""
    module = import_exported(Program(function).eval(), (argument,)).module
    pipeline = uop_to_cuda(CompileOptions(to="range"))
    if fast_math:
        pipeline = pipeline.replace("uop-simplify", "uop-simplify{fast-math=true}")
    run_pipeline(module, Context(), pipeline)
    return [op.name for op in module.walk()]


@pytest.mark.parametrize("name", PROGRAMS)
def test_positions_cost_no_loop_and_no_buffer(name: str) -> None:
    function, argument, loads = PROGRAMS[name]
    found = ops(function, argument)
    assert found.count("uop.kernel") == 1
    assert found.count("uop.load") == loads
    assert "uop.reduce" not in found


def test_a_one_hot_product_is_a_read_of_finite_numbers_only() -> None:
    """0 · ∞ is NaN in PyTorch: the product stays unless numbers are said to be finite."""

    def product(table: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return functional.one_hot(x, TOKENS).float() @ table

    assert "uop.reduce" in ops(product, IDS)
    assert "uop.reduce" not in ops(product, IDS, fast_math=True)
