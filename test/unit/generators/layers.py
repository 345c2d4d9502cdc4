# Functions of any number of tensors have no types that lambdas could take their own from.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""PyTorch programs made of the layers that models have, on tokens of any number and width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from hypothesis import strategies as st

from uop.frontends.captured import Call, Captured

Tensor = torch.Tensor


@dataclass(frozen=True)
class Layer:
    """A function of tokens (batch × tokens × width) and its parameters, whose result is of the same shape.

    parameters: their shapes. added: whether its result is added to what it takes
    """

    name: str
    apply: Callable[..., Tensor] = field(repr=False)
    parameters: Sequence[tuple[int, ...]] = field(default=(), repr=False)
    added: bool = False


@dataclass(frozen=True)
class Network:
    """Layers one after the other. seed: of the tokens and parameters"""

    layers: Sequence[Layer]
    shape: tuple[int, int, int]
    dtype: torch.dtype
    seed: int

    def captured(self) -> Captured:
        return Captured(self._call(), self._call, "network")

    def _call(self) -> Call:
        generator = torch.Generator().manual_seed(self.seed)

        def random(shape: tuple[int, ...], scale: float) -> Tensor:
            return (torch.randn(shape, generator=generator) * scale).to(self.dtype)

        parameters = [[random(shape, shape[-1] ** -0.5) for shape in layer.parameters] for layer in self.layers]
        return Call(_Module(self.layers, parameters), (random(self.shape, 1.0),))


class _Module(torch.nn.Module):
    def __init__(self, layers: Sequence[Layer], parameters: Sequence[Sequence[Tensor]]) -> None:
        super().__init__()
        self.layers = layers
        self.weights = torch.nn.ModuleList(
            [torch.nn.ParameterList([torch.nn.Parameter(value, False) for value in values]) for values in parameters]
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer, weights in zip(self.layers, self.weights, strict=True):
            assert isinstance(weights, torch.nn.ParameterList)
            y = layer.apply(x, *weights)
            x = x + y if layer.added else y
        return x.clone()


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": F.gelu,
    "silu": F.silu,
    "tanh": torch.tanh,
    "none": lambda x: x,
}


def _attention(heads: int, kind: str) -> Callable[..., Tensor]:
    def apply(x: Tensor, w: Tensor) -> Tensor:
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(1, 2) for part in F.linear(x, w).chunk(3, -1))
        if kind == "slopes":
            scores = q @ k.transpose(-1, -2) * 0.3 - torch.arange(x.shape[1], dtype=x.dtype) * 0.1
            y = scores.softmax(-1) @ v
        else:
            y = F.scaled_dot_product_attention(q, k, v, is_causal=kind == "causal")
        return y.transpose(1, 2).flatten(2)

    return apply


def _rotated(x: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    a, b = x[..., :half], x[..., half : 2 * half]
    return torch.cat([a * 0.6 - b * 0.8, b * 0.6 + a * 0.8, x[..., 2 * half :]], -1)


def _looked_up(x: Tensor, table: Tensor) -> Tensor:
    return table[(x.sum(-1) > 0).long() + 2]


@st.composite
def networks(
    draw: st.DrawFn, dtypes: Sequence[torch.dtype] = (torch.float32, torch.float16, torch.bfloat16)
) -> Network:
    """Ragged and round sizes, one to five layers."""
    heads = draw(st.integers(1, 3))
    width = heads * draw(st.sampled_from([3, 8, 16, 20, 32]))
    batch, tokens = draw(st.integers(1, 2)), draw(st.sampled_from([1, 5, 7, 16, 17, 33]))
    inner = draw(st.sampled_from([width, 2 * width, width + 3]))
    activation = draw(st.sampled_from(sorted(ACTIVATIONS)))
    act = ACTIVATIONS[activation]
    vector, square, up, down = (width,), (width, width), (inner, width), (width, inner)
    layers = [
        Layer(f"linear {activation}", lambda x, w, b: act(F.linear(x, w, b)), [square, vector]),
        Layer(f"mlp {activation}", lambda x, a, b, c: F.linear(act(F.linear(x, a, b)), c), [up, (inner,), down]),
        Layer(
            f"gated mlp {activation}",
            lambda x, a, b, c: F.linear(act(F.linear(x, a)) * F.linear(x, b), c),
            [up, up, down],
        ),
        Layer("layer norm", lambda x, g, b: F.layer_norm(x, (width,), 1 + g, b), [vector, vector]),
        Layer("rms norm", lambda x, g: F.rms_norm(x, (width,), 1 + g, 1e-5), [vector]),
        *(
            Layer(f"attention {kind}", _attention(heads, kind), [(3 * width, width)])
            for kind in ("causal", "all", "slopes")
        ),
        Layer(
            "convolution along tokens",
            lambda x, w, b: F.conv1d(x.transpose(1, 2), w, b, padding=1).transpose(1, 2),
            [(width, width, 3), vector],
        ),
        Layer("tokens mixed", lambda x, w: F.linear(x.transpose(1, 2), w).transpose(1, 2), [(tokens, tokens)]),
        Layer("gate of means", lambda x: x * torch.sigmoid(x.mean(1, keepdim=True))),
        Layer("less than the greatest", lambda x: x - x.amax(-1, keepdim=True) * 0.5),
        Layer("of length one", lambda x: x / (x.norm(dim=-1, keepdim=True) + 0.01)),
        Layer("sums so far", lambda x: x.cumsum(1) / tokens),
        Layer("turned tokens", lambda x: x.roll(1, 1)),
        Layer("rotary", _rotated),
        Layer("looked up", _looked_up, [(7, width)]),
    ]
    chosen = draw(st.lists(st.tuples(st.sampled_from(layers), st.booleans()), min_size=1, max_size=5))
    return Network(
        [Layer(layer.name, layer.apply, layer.parameters, added) for layer, added in chosen],
        (batch, tokens, width),
        draw(st.sampled_from(dtypes)),
        draw(st.integers(0, 99)),
    )
