"""`F.linear_cross_entropy`, which PyTorch computes in chunks of the batch: the loss of a linear layer's outputs."""

from __future__ import annotations

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute

from .errors import Unsupported
from .lowering import Lowering
from .products import product_of_rows
from .registry import lowering
from .tensor import Tensor, full

NAME = "torch_nn::_linear_cross_entropy_batch_chunked"


def losses(
    b: Lowering,
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    label_smoothing: float,
) -> tuple[Tensor, Tensor]:
    """The loss of each row of `input`, N × features, and its weight; 0 where the target is `ignore_index`.

    linear_weight: classes × features
    """
    logits = product_of_rows(input.cast(b.compute), linear_weight.cast(b.compute))
    if linear_bias is not None:
        logits = logits + linear_bias.cast(b.compute)
    shifted = logits - logits.max([1])
    likelihoods = shifted - shifted.exp().sum([1]).log()
    rows, classes = logits.shape
    kept = ~target.equal(ignore_index)
    place = kept.where(target.cast(i64), 0)
    weights = full(b.builder, (classes,), 1.0, b.compute) if weight is None else weight.cast(b.compute)
    of_target = kept.where(weights.take(0, place), 0.0)
    loss = -likelihoods.gather(1, place.unsqueeze(1)).reshape((rows,)) * of_target
    if label_smoothing:
        smooth = kept.where(-(likelihoods * weights).sum([1]).reshape((rows,)), 0.0)
        loss = loss * (1 - label_smoothing) + smooth * (label_smoothing / classes)
    return loss, of_target


@lowering(NAME)
def linear_cross_entropy(
    b: Lowering,
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    label_smoothing: float,
    batch_chunk_size: int,
    acc_policy: str,
    acc_dtype: Attribute | None,
    allow_retain_graph: bool,
    compute_input_grad: bool,
    compute_linear_weight_grad: bool,
    compute_linear_bias_grad: bool,
) -> list[Tensor]:
    """The mean or the sum, and the gradients without elements that PyTorch gives where none is asked for."""
    if compute_input_grad or compute_linear_weight_grad or compute_linear_bias_grad:
        raise Unsupported("it computes gradients", "export under torch.no_grad()")
    loss, weights = losses(b, input, linear_weight, target, linear_bias, weight, ignore_index, label_smoothing)
    total = loss.sum([0])
    result = (total / weights.sum([0]) if reduction == "mean" else total).reshape(())
    nothing = [full(b.builder, (0,) * rank, 0.0, b.element) for rank in (2, 2, 1)]
    return [result, *nothing]


@lowering(f"{NAME}_no_reduction")
def linear_cross_entropy_of_rows(
    b: Lowering,
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    linear_bias: Tensor | None,
    weight: Tensor | None,
    ignore_index: int,
    batch_chunk_size: int,
    acc_policy: str,
    acc_dtype: Attribute | None,
) -> Tensor:
    return losses(b, input, linear_weight, target, linear_bias, weight, ignore_index, 0.0)[0]
