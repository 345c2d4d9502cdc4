"""The programs whose compile time is measured, in PyTorch."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import nn

from uop.frontends.torch_internals import random_state
from uop.tools.checking.models import make_model

Case = tuple[nn.Module, tuple[torch.Tensor, ...]]


class Function(nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function: Callable[..., torch.Tensor]):
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.function(*inputs)


def _seed(x: torch.Tensor, bias: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.relu(torch.matmul(x + bias, w))


def _softmax(x: torch.Tensor) -> torch.Tensor:
    return torch.softmax(x, -1)


def _llama_block() -> Case:
    path = Path(__file__).parents[1] / "examples" / "llama_block.py"
    spec = importlib.util.spec_from_file_location("llama_block", path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    return example.make()


def _model(name: str) -> Case:
    """A model of `uop check models`."""
    with random_state(0):
        call = make_model(name)
    return call.module, call.args


CASES: dict[str, Callable[[], Case]] = {
    "seed": lambda: (
        Function(_seed),
        (torch.empty(16, 64), torch.empty(64), torch.empty(64, 16)),
    ),
    "softmax": lambda: (Function(_softmax), (torch.empty(64, 1000),)),
    "rms_norm": lambda: (nn.RMSNorm(2048), (torch.empty(1, 32, 2048),)),
    "layer_norm": lambda: (nn.LayerNorm(2048), (torch.empty(64, 2048),)),
    "matmul": lambda: (Function(torch.matmul), (torch.empty(128, 128), torch.empty(128, 128))),
    "mlp": lambda: (
        nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512)),
        (torch.empty(128, 512),),
    ),
    "llama_block": _llama_block,
}
"""Name → the module and its example inputs."""

MODELS: dict[str, Callable[[], Case]] = {
    name: partial(_model, name) for name in ("llama", "bert", "resnet", "mixtral", "mobilenetv2")
}
"""The same of small models of `transformers`, two layers deep: programs of many kernels."""
