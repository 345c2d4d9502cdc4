# tinygrad's functions are largely untyped.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateImportUsage=false
"""PyTorch programs as tinygrad would have them: each of PyTorch's operations by tinygrad's own of the same meaning.

Products, attention, normalisations and activations are left whole for it, as a program that is written in it has them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from tinygrad import Tensor, dtypes
from torch.export.graph_signature import InputKind
from torch.fx import Node
from torch.utils._pytree import tree_leaves, tree_map_only

from uop.frontends.captured import Call
from uop.frontends.exporting import export_module

_DTYPES = {
    torch.bool: dtypes.bool,
    torch.int64: dtypes.int64,
    torch.float16: dtypes.float16,
    torch.float32: dtypes.float32,
}


def tinygrad_program(call: Call) -> tuple[Callable[..., list[Tensor]], list[Tensor]]:
    """The call's program, of its inputs alone, and these inputs. A call of it raises `NotImplementedError` where an
    operation is not in the table below."""
    exported = export_module(call.module, call.args, call.kwargs).run_decompositions({})
    kept: dict[Any, Any] = {**exported.state_dict, **exported.constants}
    of_model = {
        spec.arg.name: _realized(kept[spec.target])
        for spec in exported.graph_signature.input_specs
        if spec.kind is not InputKind.USER_INPUT
    }

    def run(*inputs: Tensor) -> list[Tensor]:
        given = iter(inputs)
        known: dict[Node, Any] = {}
        for node in exported.graph.nodes:
            if node.op == "placeholder":
                known[node] = of_model[node.name] if node.name in of_model else next(given)
            elif node.op == "call_function":
                args, kwargs = tree_map_only(Node, known.__getitem__, (node.args, node.kwargs))
                known[node] = _function(node.target)(*args, **kwargs)
        results = tree_leaves(tree_map_only(Node, known.__getitem__, exported.graph.output_node().args))
        Tensor.realize(*results)
        return results

    return run, [_realized(value) for value in tree_leaves((call.args, dict(call.kwargs)))]


def _realized(value: torch.Tensor) -> Tensor:
    return Tensor(value.detach().numpy()).realize()


def _function(target: Any) -> Callable[..., Any]:
    name = target.__name__ if target is operator.getitem else target.overloadpacket.__name__
    if name not in OPERATIONS:
        raise NotImplementedError(f"no function of tinygrad's stands for {target}")
    return OPERATIONS[name]


def _attention(q: Any, k: Any, v: Any, mask: Any = None, dropout: float = 0.0, causal: bool = False, **options: Any):
    if scale := options.pop("scale", None):
        q = q * (scale * q.shape[-1] ** 0.5)
    return q.scaled_dot_product_attention(k, v, mask, dropout, causal, **options)


def _normalised_batch(x: Any, gain: Any, bias: Any, mean: Any, variance: Any, _momentum: float, eps: float):
    return (x.batchnorm(gain, bias, mean, (variance + eps).rsqrt()),)


def _slice(x: Any, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Any:
    index: list[slice] = [slice(None)] * x.ndim
    index[dim] = slice(start, None if end is None else min(end, x.shape[dim]), step)
    return x[tuple(index)]


def _select(x: Any, dim: int, place: int) -> Any:
    return _slice(x, dim, place, place + 1).squeeze(dim)


def _differences(x: Any, _order: int, dim: int, before: Any) -> Any:
    x = before.cat(x, dim=dim)
    return _slice(x, dim, 1) - _slice(x, dim, 0, x.shape[dim] - 1)


def _convolution(
    x: Any, w: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1
):
    return x.conv2d(w, bias, groups, tuple(stride), dilation, _sides(padding))


def _sides(padding: Any) -> Any:
    return padding if isinstance(padding, int) else tuple(padding)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "getitem": operator.getitem,
    # Elementwise.
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "pow": operator.pow,
    "__and__": operator.and_,
    "eq": operator.eq,
    "ne": operator.ne,
    "le": operator.le,
    "ge": operator.ge,
    "cos": Tensor.cos,
    "sin": Tensor.sin,
    "tanh": Tensor.tanh,
    "rsqrt": Tensor.rsqrt,
    "relu": Tensor.relu,
    "silu": Tensor.silu,
    "gelu": lambda x, approximate="none": x.gelu(approximate),
    # Copies, which it makes where it needs them.
    "alias": lambda x: x,
    "clone": lambda x, memory_format=None: x,
    "_to_copy": lambda x, dtype: x.cast(_DTYPES[dtype]),
    "_assert_tensor_metadata": lambda *args, **kwargs: None,
    # Tensors of numbers.
    "arange": lambda end, **kwargs: Tensor.arange(end, dtype=dtypes.int64),
    "new_ones": lambda x, shape, dtype, **kwargs: Tensor.ones(*shape, dtype=_DTYPES[dtype]),
    # Shapes.
    "view": lambda x, shape: x.reshape(tuple(shape)),
    "_unsafe_view": lambda x, shape: x.reshape(tuple(shape)),
    "expand": lambda x, shape: x.expand(tuple(shape)),
    "unsqueeze": Tensor.unsqueeze,
    "transpose": Tensor.transpose,
    "cat": lambda parts, dim=0: parts[0].cat(*parts[1:], dim=dim),
    "split": Tensor.split,
    "slice": _slice,
    "select": _select,
    # Elements by their places.
    "embedding": lambda table, rows, padding=-1: table[rows],
    "index": lambda x, places: x[tuple(places)],
    "gather": Tensor.gather,
    # Reductions, normalisations, products.
    "mean": lambda x, dims, keep=False: x.mean(dims, keepdim=keep),
    "cumsum": Tensor.cumsum,
    "diff": _differences,
    "softmax": Tensor.softmax,
    "layer_norm": lambda x, shape, gain, bias, eps, fast: x.layernorm(eps=eps) * gain + bias,
    "rms_norm": lambda x, shape, gain, eps: x * (x.square().mean(-1, keepdim=True) + eps).rsqrt() * gain,
    "_native_batch_norm_legit_no_training": _normalised_batch,
    "matmul": operator.matmul,
    "addmm": lambda bias, x, w: x @ w + bias,
    "linear": lambda x, w, bias=None: x.linear(w.transpose(), bias),
    "scaled_dot_product_attention": _attention,
    "conv2d": _convolution,
    "max_pool2d": lambda x, size, stride, padding=0: x.max_pool2d(tuple(size), tuple(stride), padding=_sides(padding)),
    "adaptive_avg_pool2d": lambda x, size: x.mean((-2, -1), keepdim=True),
}
"""ATen's operation → the same of tinygrad's tensors, for the arguments that the programs of bench/cpu.py have."""
