"""Softmax and the normalisations, each computed in f32 or f64 and rounded once."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute

from ....dialects.types import element_of, shape_of, type_name
from .errors import Unsupported
from .lowering import Lowering
from .promotion import compute_type
from .reductions import mean_and_variance
from .registry import lowering
from .sizes import is_size
from .tensor import Tensor

EPSILON = {"f64": 2.0**-52, "f32": 2.0**-23, "f16": 2.0**-10, "bf16": 2.0**-7}
"""`torch.finfo(dtype).eps`."""


def softmax_along(x: Tensor, axis: int) -> Tensor:
    """exp(x − max x) ÷ its sum, along one axis."""
    size = x.shape[axis]
    if is_size(size):
        x = x.filled(axis, float("-inf"))
    powers = (x - x.max([axis])).exp()
    return (powers / powers.sum([axis])).cut(axis, size)


@lowering("_softmax")
def softmax(b: Lowering, self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    x, axis = _input(b, self, dim)
    return softmax_along(x, axis).reshape(b.shape)


@lowering("_safe_softmax")
def safe_softmax(b: Lowering, self: Tensor, dim: int, dtype: Attribute | None = None) -> Tensor:
    """Zeros where all is −∞."""
    x, axis = _input(b, self.cast(b.element), dim)
    hidden = x.max([axis]).equal(float("-inf"))
    return hidden.where(0.0, softmax_along(x, axis)).reshape(b.shape)


@lowering("_log_softmax")
def log_softmax(b: Lowering, self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    x, axis = _input(b, self, dim)
    size = x.shape[axis]
    if is_size(size):
        x = x.filled(axis, float("-inf"))
    shifted = x - x.max([axis])
    return (shifted - shifted.exp().sum([axis]).log()).cut(axis, size).reshape(b.shape)


@lowering("softmax.int")
def softmax_int(b: Lowering, self: Tensor, dim: int, dtype: Attribute | None = None) -> Tensor:
    return softmax(b, self.cast(b.element), dim, False)


@lowering("log_softmax.int")
def log_softmax_int(b: Lowering, self: Tensor, dim: int, dtype: Attribute | None = None) -> Tensor:
    return log_softmax(b, self.cast(b.element), dim, False)


def _input(b: Lowering, x: Tensor, dim: int) -> tuple[Tensor, int]:
    """A tensor in the type to compute in, of at least one axis; the axis."""
    x = x.cast(compute_type(b.element))
    return (x.reshape((1,)), 0) if x.rank == 0 else (x, x.axis(dim))


@lowering("native_layer_norm")
def native_layer_norm(
    b: Lowering,
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
) -> list[Tensor]:
    """The second and third result are the mean and 1 ÷ the deviation."""
    x = input.cast(b.compute)
    axes = range(x.rank - len(normalized_shape), x.rank)
    average, variance = mean_and_variance(x, axes)
    scale = (variance + eps).alu("rsqrt")
    return [_affine((x - average) * scale, weight, bias), average, scale]


@lowering("layer_norm")
def layer_norm(
    b: Lowering,
    input: Tensor,
    normalized_shape: list[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enable: bool = True,
) -> Tensor:
    return native_layer_norm(b, input, normalized_shape, weight, bias, eps)[0]


@lowering("rms_norm")
def rms_norm(
    b: Lowering, input: Tensor, normalized_shape: list[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    return _rms_norm(b, input, normalized_shape, weight, eps)[0]


@lowering("_fused_rms_norm")
def fused_rms_norm(
    b: Lowering, input: Tensor, normalized_shape: list[int], weight: Tensor | None, eps: float | None
) -> list[Tensor]:
    return _rms_norm(b, input, normalized_shape, weight, eps)


def _rms_norm(
    b: Lowering, input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None, eps: float | None
) -> list[Tensor]:
    """x ÷ √(mean of x² + eps), and 1 ÷ that root. Without an eps it is that of the input's type."""
    x = input.cast(compute_type(input.element))
    axes = range(x.rank - len(normalized_shape), x.rank)
    scale = ((x * x).mean(axes) + (EPSILON[type_name(input.element)] if eps is None else eps)).alu("rsqrt")
    return [_affine(x * scale, weight, None), scale]


@lowering("native_group_norm")
def native_group_norm(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> list[Tensor]:
    """The channels of each group are normalised together; means and 1 ÷ deviations are of N × group."""
    x = input.cast(b.compute).reshape((N, group, C // group, HxW))
    average, variance = mean_and_variance(x, (2, 3))
    scale = (variance + eps).alu("rsqrt")
    normal = ((x - average) * scale).reshape(input.shape)
    result = _affine(normal, _per_channel(weight, input.rank), _per_channel(bias, input.rank))
    return [result, average.reshape((N, group)), scale.reshape((N, group))]


@lowering("group_norm")
def group_norm(
    b: Lowering,
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    cudnn_enabled: bool = True,
) -> Tensor:
    batch, channels = input.shape[:2]
    rest = input.count // (batch * channels) if batch * channels else 0
    return native_group_norm(b, input, weight, bias, batch, channels, rest, num_groups, eps)[0]


@lowering("_native_batch_norm_legit_no_training")
def batch_norm_no_training(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> list[Tensor | None]:
    """With the statistics that were collected in training; nothing is saved."""
    saved = [_empty(b, result) for result in (1, 2)]
    return [_batch_norm(input, weight, bias, running_mean, running_var, eps), *saved]


@lowering("batch_norm")
def batch_norm(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    if training or running_mean is None or running_var is None:
        raise Unsupported("batch_norm in training changes its statistics", "call .eval() before exporting")
    return _batch_norm(input, weight, bias, running_mean, running_var, eps)


@lowering("_native_batch_norm_legit.no_stats")
def batch_norm_no_stats(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Tensor | None]:
    """With the statistics of the batch itself (`instance_norm` is made of it)."""
    x = input.cast(compute_type(input.element))
    return list(_normalized_batch(x, weight, bias, eps)[:3])


@lowering("_native_batch_norm_legit_functional")
def batch_norm_functional(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Tensor | None]:
    """The last two results are the new running statistics: their old values moved towards the batch's by `momentum`.

    The variance that runs is that of a sample, divided by one less than the number of elements.
    """
    if not training:
        saved = [_empty(b, result) for result in (1, 2)]
        kept = [statistic.cast(compute_type(statistic.element)) for statistic in (running_mean, running_var)]
        return [_batch_norm(input, weight, bias, running_mean, running_var, eps), *saved, *kept]
    x = input.cast(compute_type(input.element))
    result, average, scale, variance = _normalized_batch(x, weight, bias, eps)
    count = x.count // x.shape[1]
    old = [statistic.cast(x.element) for statistic in (running_mean, running_var)]
    new = [average, variance * count / (count - 1)]
    moved = [x * (1 - momentum) + y * momentum for x, y in zip(old, new, strict=True)]
    return [result, average, scale, *(x.cast(compute_type(running_mean.element)) for x in moved)]


@lowering("_batch_norm_with_update_functional")
def batch_norm_with_update(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> list[Tensor | None]:
    """In training, with one result more: what other devices keep for the backward pass."""
    results = batch_norm_functional(b, input, weight, bias, running_mean, running_var, True, momentum, eps)
    return [*results[:3], _empty(b, 3), *results[3:]]


@lowering("_native_batch_norm_legit", "native_batch_norm")
def batch_norm_training(
    b: Lowering,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
) -> list[Tensor | None]:
    if training or running_mean is None or running_var is None:
        raise Unsupported("batch_norm in training changes its statistics", "call .eval() before exporting")
    return [_batch_norm(input, weight, bias, running_mean, running_var, eps), None, None]


def _normalized_batch(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """x normalised over all axes but its channels; the channels' means, 1 ÷ deviations and variances."""
    average, variance = mean_and_variance(x, [axis for axis in range(x.rank) if axis != 1])
    scale = (variance + eps).alu("rsqrt")
    result = _affine((x - average) * scale, _per_channel(weight, x.rank), _per_channel(bias, x.rank))
    channels = (x.shape[1],)
    return result, average.reshape(channels), scale.reshape(channels), variance.reshape(channels)


def _batch_norm(
    input: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, variance: Tensor, eps: float
) -> Tensor:
    compute = compute_type(input.element)
    x = input.cast(compute)
    scale = (variance.cast(compute) + eps).alu("rsqrt")
    centred = x - _channels(mean.cast(compute), x.rank)
    normal = centred * _channels(scale, x.rank)
    return _affine(normal, _per_channel(weight, x.rank), _per_channel(bias, x.rank))


def _empty(b: Lowering, result: int) -> Tensor | None:
    """A result without elements, as PyTorch gives it on the CPU."""
    type = b.op.results[result].type
    return b.full((0,), 0, element_of(type)) if shape_of(type) == (0,) else None


def _per_channel(vector: Tensor | None, rank: int) -> Tensor | None:
    return None if vector is None else _channels(vector, rank)


def _channels(vector: Tensor, rank: int) -> Tensor:
    """A vector along axis 1 of a tensor of this rank."""
    return vector.reshape((vector.count, *(1,) * (rank - 2)))


def _affine(x: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    if weight is not None:
        x = x * weight.cast(x.element)
    return x if bias is None else x + bias.cast(x.element)


@lowering("native_dropout")
def native_dropout(b: Lowering, input: Tensor, p: float, train: bool | None) -> list[Tensor]:
    if train is not False:
        raise Unsupported("dropout in training is random", "call .eval() before exporting")
    return [input, Tensor(b.builder, b.full(input.shape, True, element_of(b.op.results[1].type)).value)]


@lowering("dropout")
def dropout(b: Lowering, input: Tensor, p: float, train: bool) -> Tensor:
    if train and p != 0:
        raise Unsupported("dropout in training is random", "call .eval() before exporting")
    return input
