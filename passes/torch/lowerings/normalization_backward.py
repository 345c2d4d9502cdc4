"""Gradients of the normalisations, from the means and 1 ÷ deviations that the forward pass saved.

With y = x̂ · weight + bias and g = dy · weight, where x̂ = (x − mean) · scale is the normalised input and averages are
over what is normalised together:

    dx = scale · (g − average g − x̂ · average (g · x̂)),  dweight = Σ dy · x̂,  dbias = Σ dy

(Ba, Kiros and Hinton, Layer Normalization, 2016; the same for groups.)
"""

from __future__ import annotations

from collections.abc import Sequence

from .lowering import Lowering
from .promotion import compute_type
from .registry import lowering
from .tensor import Tensor


@lowering("native_layer_norm_backward")
def native_layer_norm_backward(
    b: Lowering,
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: list[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    output_mask: list[bool],
) -> list[Tensor | None]:
    compute = compute_type(input.element)
    dy, x, mean, scale = (value.cast(compute) for value in (grad_out, input, mean, rstd))
    leading = x.rank - len(normalized_shape)
    normal = (x - mean) * scale
    g = dy if weight is None else dy * weight.cast(compute)
    batch = range(leading)
    return [
        _input_gradient(g, normal, scale, range(leading, x.rank)) if output_mask[0] else None,
        (dy * normal).sum(batch).reshape(normalized_shape) if output_mask[1] else None,
        dy.sum(batch).reshape(normalized_shape) if output_mask[2] else None,
    ]


@lowering("native_group_norm_backward")
def native_group_norm_backward(
    b: Lowering,
    grad_out: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: list[bool],
) -> list[Tensor | None]:
    """Means and 1 ÷ deviations are of N × group."""
    compute = compute_type(input.element)
    groups, channels = (N, group, C // group, HxW), (1, group, C // group, 1)
    dy, x = (value.cast(compute).reshape(groups) for value in (grad_out, input))
    mean, scale = (value.cast(compute).reshape((N, group, 1, 1)) for value in (mean, rstd))
    normal = (x - mean) * scale
    g = dy if weight is None else dy * weight.cast(compute).reshape(channels)
    return [
        _input_gradient(g, normal, scale, (2, 3)).reshape(input.shape) if output_mask[0] else None,
        (dy * normal).sum([0, 3]).reshape((C,)) if output_mask[1] else None,
        dy.sum([0, 3]).reshape((C,)) if output_mask[2] else None,
    ]


def _input_gradient(g: Tensor, normal: Tensor, scale: Tensor, axes: Sequence[int]) -> Tensor:
    return (g - g.mean(axes) - normal * (g * normal).mean(axes)) * scale
