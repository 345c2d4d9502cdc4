"""Reductions, products, normalisations and attention against eager PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from aten_oracle import ALL, FLOATS, check, check_composite, compare, program, sample, to_numpy
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from uop.passes.torch.convert_torch_to_uop import ConvertTorchToUopPass
from uop.runtime.interpret.tensors import interpret_function

aten: Any = torch.ops.aten


REDUCED: list[tuple[Sequence[int], Any]] = [
    ((3, 4), [1]),
    ((3, 4), [0]),
    ((3, 4), None),
    ((2, 3, 4), [0, -1]),
    ((), None),
    ((1, 5), [1]),
    ((4, 1), [1]),
]


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(("shape", "dims"), REDUCED, ids=str)
@pytest.mark.parametrize("keepdim", [False, True])
def test_sums(shape: Sequence[int], dims: list[int] | None, keepdim: bool, dtype: torch.dtype) -> None:
    x = sample(dtype, shape)
    check_composite(aten.sum.dim_IntList, x, dims, keepdim)
    check_composite(aten.any.dims, x, dims, keepdim)
    check_composite(aten.all.dims, x, dims, keepdim)
    check(aten.amax.default, x, dims or [], keepdim)
    check(aten.amin.default, x, dims or [], keepdim)
    if dtype.is_floating_point:
        check_composite(aten.mean.dim, x, dims, keepdim)
        check_composite(aten.logsumexp.default, x, dims or list(range(x.dim())), keepdim)
        check_composite(aten.linalg_vector_norm.default, x, 2, dims, keepdim)
        for correction in (0, 1, None, 0.5):
            check_composite(aten.var.correction, x, dims, correction=correction, keepdim=keepdim)
        check_composite(aten.std.correction, x, dims, keepdim=keepdim)
        check_composite(aten.var_mean.correction, x, dims, keepdim=keepdim)
        for order in (0, 1, 3, math.inf, -math.inf):
            check_composite(aten.linalg_vector_norm.default, x, order, dims, keepdim)
        check_composite(aten.sum.dim_IntList, x, dims, keepdim, dtype=torch.float64)


@pytest.mark.parametrize("dtype", ALL)
def test_reductions_along_one_axis(dtype: torch.dtype) -> None:
    x = sample(dtype, (3, 4))
    for dim, keepdim in [(0, False), (-1, True)]:
        check_composite(aten.prod.dim_int, x, dim, keepdim)
        check(aten.any.dim, x, dim, keepdim)
        check(aten.all.dim, x, dim, keepdim)
        check(aten.max.dim, x, dim, keepdim)
        check(aten.min.dim, x, dim, keepdim)
        if dtype != torch.bool:
            check(aten.argmax.default, x, dim, keepdim)
            check(aten.argmin.default, x, dim, keepdim)
    for overload in (aten.sum.default, aten.prod.default, aten.max.default, aten.min.default, aten.any.default):
        check_composite(overload, x)
        check_composite(overload, sample(dtype, ()))
    if dtype != torch.bool:
        check(aten.argmax.default, x)
        check(aten.argmax.default, sample(dtype, ()))
    check(aten.count_nonzero.default, x)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
def test_reductions_of_nothing(dtype: torch.dtype) -> None:
    x = sample(dtype, (0, 3))
    for dims in ([0], [1], None):
        check(aten.sum.dim_IntList, x, dims)
        check(aten.any.dims, x, dims)
        check(aten.all.dims, x, dims)
    check(aten.prod.dim_int, x, 0)
    if dtype.is_floating_point:
        check(aten.mean.dim, x, [0])
        check(aten.var.correction, x, [0])
        check(aten.logsumexp.default, x, [0])
        check(aten._softmax.default, x, 0, False)
        check(aten._softmax.default, x, 1, False)


@pytest.mark.parametrize("dtype", FLOATS)
def test_reductions_see_nan_and_infinity(dtype: torch.dtype) -> None:
    inf, nan = math.inf, math.nan
    x = torch.tensor([[1, nan, 3], [inf, 2, 1], [-inf, 2, -inf], [inf, -inf, 0], [nan, inf, nan]], dtype=dtype)
    for overload in (aten.amax.default, aten.amin.default, aten.sum.dim_IntList, aten.mean.dim, aten.any.dims):
        check(overload, x, [1])
    for overload in (aten.max.dim, aten.min.dim, aten.argmax.default, aten.prod.dim_int):
        check(overload, x, 1)
    check(aten.nansum.default, x, [1])
    check_composite(aten.logsumexp.default, x, [1])
    check_composite(aten._softmax.default, x, 1, False)
    check_composite(aten._log_softmax.default, x, 1, False)
    check_composite(aten.var.correction, x, [1])


def test_the_first_of_equals_is_the_place() -> None:
    x = torch.tensor([[1.0, 3.0, 3.0], [2.0, 2.0, 2.0], [0.0, -0.0, 0.0]])
    for overload in (aten.argmax.default, aten.argmin.default, aten.max.dim, aten.min.dim):
        check(overload, x, 1)


@pytest.mark.parametrize("dtype", [*FLOATS, torch.int64, torch.int32, torch.uint8])
def test_products(dtype: torch.dtype) -> None:
    x, y = sample(dtype, (3, 5)), sample(dtype, (5, 4), 1)
    check_composite(aten.mm.default, x, y)
    check_composite(aten.mm.default, sample(dtype, (3, 0)), sample(dtype, (0, 4)))
    check_composite(aten.mm.default, sample(dtype, (1, 5)), sample(dtype, (5, 1)))
    check_composite(aten.bmm.default, sample(dtype, (2, 3, 5)), sample(dtype, (2, 5, 4)))
    check_composite(aten.mv.default, x, y[:, 0].contiguous())
    check_composite(aten.dot.default, x[0], y[:, 0].contiguous())
    check_composite(aten.matmul.default, sample(dtype, (2, 3, 5)), y)
    check_composite(aten.matmul.default, sample(dtype, (2, 1, 3, 5)), sample(dtype, (4, 5, 2)))
    check_composite(aten.matmul.default, x[0], y)
    check_composite(aten.matmul.default, x, y[:, 0].contiguous())
    check_composite(aten.matmul.default, x[0], y[:, 0].contiguous())
    check_composite(aten.linear.default, sample(dtype, (2, 3, 5)), sample(dtype, (4, 5)), sample(dtype, (4,)))
    check_composite(aten.linear.default, x[0], sample(dtype, (4, 5)))
    check_composite(aten.outer.default, x[0], y[0])
    bias = sample(dtype, (4,), 2)
    check_composite(aten.addmm.default, bias, x, y)
    check_composite(aten.addmm.default, bias, x, y, beta=2, alpha=3)
    check_composite(aten.baddbmm.default, bias, sample(dtype, (2, 3, 5)), sample(dtype, (2, 5, 4)), beta=2)
    check_composite(aten.addbmm.default, bias, sample(dtype, (2, 3, 5)), sample(dtype, (2, 5, 4)), beta=2, alpha=3)
    check_composite(
        aten._trilinear.default, x, sample(dtype, (4, 5, 2)), sample(dtype, (3, 2)), [1, 3], [0], [1, 2], [2, 3]
    )
    if dtype.is_floating_point:
        check_composite(aten.addmm.default, torch.full_like(bias, math.nan), x, y, beta=0)


@pytest.mark.parametrize("ends", [[2, 2, 6], [0, 0, 7], [7, 7, 7], [0, 1, 3], [0, 0, 0]])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_products_of_groups(ends: list[int], dtype: torch.dtype) -> None:
    """Empty groups, and rows past the last group; as `transformers` registers the operator."""
    import transformers.integrations.moe as registers  # noqa: F401  # pyright: ignore

    grouped: Any = torch.ops.transformers.grouped_mm_fallback.default
    check_composite(
        grouped, sample(torch.float32, (7, 5)), sample(torch.float32, (3, 5, 6)), torch.tensor(ends, dtype=dtype)
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_normalizations(dtype: torch.dtype) -> None:
    x = sample(dtype, (2, 6, 5))
    weight, bias = sample(dtype, (5,), 1), sample(dtype, (5,), 2)
    check_composite(aten._softmax.default, x, -1, False)
    check_composite(aten._softmax.default, x, 1, False)
    check_composite(aten._softmax.default, sample(dtype, ()), 0, False)
    check_composite(aten._log_softmax.default, x, 1, False)
    check_composite(aten.native_layer_norm.default, x, [5], weight, bias, 1e-5)
    check_composite(aten.native_layer_norm.default, x, [5], None, bias, 1e-5)
    check_composite(aten.native_layer_norm.default, x, [6, 5], None, None, 1e-5)
    check_composite(aten.rms_norm.default, x, [5], weight, 1e-5)
    channels = sample(dtype, (6,), 3)
    check_composite(aten.native_group_norm.default, x, channels, channels, 2, 6, 5, 3, 1e-5)
    check_composite(aten.native_group_norm.default, x, None, channels, 2, 6, 5, 2, 1e-5)
    check_composite(aten.native_dropout.default, x, 0.5, False)
    if dtype in (torch.float32, torch.float64):
        statistics = (channels, channels.abs())
        check_composite(
            aten._native_batch_norm_legit_no_training.default, x, channels, channels, *statistics, 0.1, 1e-5
        )


@pytest.mark.parametrize("dtype", FLOATS)
def test_attention(dtype: torch.dtype) -> None:
    attention = aten.scaled_dot_product_attention.default
    query, key, value = (sample(dtype, (2, 4, n, 8), n) for n in (5, 7, 7))
    value = value * 1.5
    mask = sample(torch.bool, (5, 7))
    mask[2] = False
    check_composite(attention, query, key, value)
    check_composite(attention, query, key, value, scale=0.3)
    check_composite(attention, query, key, value, is_causal=True)
    check_composite(attention, query, query, query, is_causal=True)
    check_composite(attention, query, key, value, mask)
    check_composite(attention, query, key, value, sample(dtype, (4, 1, 7)))
    check_composite(attention, query, key[:, :2], value[:, :2], enable_gqa=True)
    check_composite(attention, query[0, 0], key[0, 0], value[0, 0])


@pytest.mark.parametrize("dtype", FLOATS)
def test_other_reductions(dtype: torch.dtype) -> None:
    x = sample(dtype, (3, 4))
    check(aten.all.default, x)
    check(aten.aminmax.default, x, dim=1)
    check(aten.aminmax.default, x)
    check(aten.count_nonzero.dim_IntList, x, [1])
    for overload in (aten.var, aten.std):
        check_composite(overload.default, x)
        check_composite(overload.dim, x, [1], False)
    check_composite(aten.std_mean.correction, x, [1])
    check_composite(aten.norm.Scalar, x)
    check_composite(aten.norm.ScalarOpt_dim, x, 1, [1], True)
    check_composite(aten.norm.ScalarOpt_dim, x, None, [1])
    check_composite(aten.addmv.default, sample(dtype, (3,)), x, sample(dtype, (4,), 1))
    check_composite(aten.vdot.default, x[0], x[1])
    check_composite(aten.softmax.int, x, 1)
    check_composite(aten.log_softmax.int, x, 1)
    check_composite(aten._safe_softmax.default, torch.full_like(x, -math.inf), 1)
    check_composite(aten.layer_norm.default, x, [4], x[0])
    check_composite(aten.group_norm.default, sample(dtype, (2, 4, 3)), 2)
    check_composite(aten.dropout.default, x, 0.5, False)
    check_composite(aten._native_batch_norm_legit.no_stats, x, None, None, True, 0.1, 1e-5)


def test_half_to_float() -> None:
    """A softmax that reads float16 and gives float32 is for the GPU alone."""
    x = sample(torch.float16, (3, 4))
    for overload in (aten._softmax.default, aten._log_softmax.default):
        module = program(overload, [x, 1, True], {}, [x.float()])
        ConvertTorchToUopPass().apply(Context(), module)
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        compare(interpret_function(function, [x.numpy()])[0], overload(x.float(), 1, False), ulps=8)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_forms_of_attention_on_the_cpu(dtype: torch.dtype) -> None:
    x = sample(dtype, (2, 4, 5, 8))
    expected = torch.nn.functional.scaled_dot_product_attention(x.double(), x.double(), x.double(), is_causal=True)
    for overload in (
        aten._scaled_dot_product_flash_attention_for_cpu.default,
        aten._scaled_dot_product_attention_math.default,
    ):
        results = overload(x, x, x, is_causal=True)
        module = program(overload, [x, x, x], {"is_causal": True}, results)
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        returned = function.body.block.last_op
        assert returned is not None
        returned.operands = returned.operands[:1]  # the others are for the backward pass
        ConvertTorchToUopPass().apply(Context(), module)
        actual = interpret_function(function, [to_numpy(x)] * 3)
        compare(actual[0], expected.to(dtype), ulps=64)


def test_sums_and_products_to_bools() -> None:
    x = torch.tensor([[True, True], [True, False], [False, False]])
    check(aten.sum.default, x, dtype=torch.bool)
    check(aten.prod.default, x, dtype=torch.bool)
    check(aten.sum.dim_IntList, x, [1], dtype=torch.bool)
    check(aten.prod.dim_int, x, 1, dtype=torch.bool)
    check(aten.prod.dim_int, x[:0], 0, dtype=torch.bool)
