# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
"""AOTAutograd as the `torch.compile` backend needs it: typed, and in one place to look at when PyTorch changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import cache
from typing import Any, cast

import torch
import torch._dynamo.config
import torch._functorch.config
import torch.export
from torch import fx
from torch._dynamo.backends.common import aot_autograd
from torch.nn.attention import SDPBackend, sdpa_kernel

from .exporting import KEPT
from .graph_segments import Run
from .symbols import endless_sizes

Compile = Callable[[fx.GraphModule], Run]
"""Makes a functional graph of ATen operations ready to run."""

Signature = tuple[Hashable, ...]


def trace(module: fx.GraphModule, inputs: Sequence[Any], forward: Compile, backward: Compile) -> Callable[..., Any]:
    """What computes `module`, a graph of TorchDynamo, with its derivatives: functional graphs made ready by `forward`
    and `backward`, and around them what PyTorch does about mutation, shared memory and gradients.

    The graphs are in core ATen operations and those of `KEPT`. Attention is written out, since the derivative of
    PyTorch's kernels is a kernel as well.
    """
    compiler = aot_autograd(
        fw_compiler=_boxed(forward),
        bw_compiler=_boxed(backward),
        inference_compiler=_boxed(forward),
        decompositions=_decompositions(),
    )
    # What the forward saved is read, not overwritten: a second backward may come.
    with sdpa_kernel(SDPBackend.MATH), torch._functorch.config.patch(donated_buffer=False):
        return compiler(module, inputs)


def _boxed(compile: Compile) -> Callable[[fx.GraphModule, Sequence[Any]], Callable[[list[Any]], Sequence[Any]]]:
    """As AOTAutograd calls a compiler. What that gives empties the list that it is called with."""

    def compiler(module: fx.GraphModule, inputs: Sequence[Any]) -> Callable[[list[Any]], Sequence[Any]]:
        run = compile(module)

        def call(arguments: list[Any]) -> Sequence[Any]:
            given = list(arguments)
            arguments.clear()
            if not torch.is_grad_enabled():
                return run(given)
            with torch.no_grad():
                return run(given)

        cast("Any", call)._boxed_call = True
        return call

    return compiler


@cache
def _decompositions() -> dict[Any, Callable[..., Any]]:
    table = torch.export.default_decompositions()
    for overload in KEPT:
        table.pop(overload, None)
    return dict(table.items())


def recompile_limit() -> int:
    """How many graphs TorchDynamo compiles of one function at most."""
    return torch._dynamo.config.recompile_limit


def is_symbolic(value: object) -> bool:
    """Whether an input of a graph is a size that is not known, or has one."""
    if isinstance(value, torch.Tensor):
        extents: list[object] = [*value.shape, *value.stride()]
        return any(not isinstance(extent, int) for extent in extents)
    return isinstance(value, torch.SymInt | torch.SymFloat | torch.SymBool)


def unbounded_sizes(inputs: Sequence[Any]) -> list[str]:
    """The symbolic sizes of a graph's inputs that have no upper bound, as `dimension 0 of x`."""
    sizes = [size for x in inputs for size in (x.shape if isinstance(x, torch.Tensor) else (x,))]
    return endless_sizes([size for size in sizes if isinstance(size, torch.SymInt)])


def signature(inputs: Sequence[Any]) -> Signature:
    """All that a graph made for these inputs depends on."""
    return torch.is_grad_enabled(), *map(_signature, inputs)


def _signature(value: Any) -> Hashable:
    if isinstance(value, torch.Tensor):
        return value.shape, value.stride(), value.dtype, value.device, value.requires_grad
    return value
