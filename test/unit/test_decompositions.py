# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
"""Core ATen operations as PyTorch's own `run_decompositions` gives them, in less time."""

from typing import Any

import pytest
import torch
from torch import nn
from torch._ops import OpOverload

from uop.frontends.exporting import KEPT, export_module
from uop.frontends.torch_internals import run_decompositions


def twice(x: torch.Tensor) -> torch.Tensor:
    return nn.functional.glu(torch.cat([x, x, x, x]))


LIBRARY = torch.library.Library("uop_test_decompositions", "DEF")
LIBRARY.define("twice(Tensor x) -> Tensor")
LIBRARY.impl("twice", twice, "CompositeImplicitAutograd")


class Program(nn.Module):
    """What PyTorch's dispatcher takes apart, what functions of Python do, what is kept, and a library's operation."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(6, 6)
        self.norm = nn.LayerNorm(6)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.calls += 1
        y = self.norm(torch.linalg.norm(self.linear(x), dim=-1, keepdim=True) + x)
        y = nn.functional.scaled_dot_product_attention(y, y, y) + nn.functional.interpolate(y[None], (5, 6))[0]
        y[0].clamp_(0, 1)
        values, indices = torch.linalg.svd(torch.einsum("bij,bkj->ik", y, y))[1].sort()
        return nn.functional.huber_loss(y, x), values, indices, torch.ops.uop_test_decompositions.twice(y)


def nodes(exported: torch.export.ExportedProgram) -> list[str]:
    return [
        f"{node.format_node()} {node.meta.get('val')} {node.meta.get('stack_trace')} {node.meta.get('nn_module_stack')}"
        for node in exported.graph.nodes
        if node.op != "output"
    ]


@pytest.mark.parametrize("kept", [KEPT, ()])
def test_the_same_as_pytorch_gives(kept: tuple[OpOverload[..., Any], ...]) -> None:
    exported = export_module(Program(), (torch.randn(2, 5, 6),))
    table = torch.export.default_decompositions()
    for overload in kept:
        table.pop(overload, None)
    expected = exported.run_decompositions(table)
    found = run_decompositions(exported, kept)
    assert nodes(found) == nodes(expected)
    assert found.graph_signature == expected.graph_signature
    is_whole = any(node.target is torch.ops.aten.scaled_dot_product_attention.default for node in found.graph.nodes)
    assert is_whole == (kept == KEPT)
    library = torch.ops.uop_test_decompositions.twice.default
    assert all(node.target is not library for node in found.graph.nodes)
