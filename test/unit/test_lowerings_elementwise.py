"""Elementwise ATen overloads against eager PyTorch."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from aten_oracle import ALL, FLOATS, INTEGERS, NUMBERS, check, check_composite, compare, pairs, run, sample, special

aten: Any = torch.ops.aten


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(
    "name",
    "exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh acosh "
    "atanh erf erfc sigmoid deg2rad rad2deg".split(),
)
def test_float_functions(name: str, dtype: torch.dtype) -> None:
    overload = getattr(aten, name).default
    for value in (sample(dtype, (3, 4)), special(dtype), sample(dtype, ()), sample(dtype, (0, 3))):
        check(overload, value, ulps=16)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize(
    "name",
    "floor ceil round trunc neg abs sign sgn signbit square isnan isinf isfinite isposinf isneginf nan_to_num relu "
    "logical_not bitwise_not clone frac".split(),
)
def test_exact_functions(name: str, dtype: torch.dtype) -> None:
    overload = getattr(aten, name).default
    for value in (sample(dtype, (3, 4)), special(dtype), sample(dtype, ()), sample(dtype, (0, 3))):
        try:
            overload(value)
        except (RuntimeError, NotImplementedError):
            pytest.skip("PyTorch has no such function")
        check(overload, value, signed_zeros=name != "relu")


ACTIVATIONS: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
    (aten.gelu.default, (), {}),
    (aten.gelu.default, (), {"approximate": "tanh"}),
    (aten.silu.default, (), {}),
    (aten.softplus.default, (), {}),
    (aten.softplus.default, (2.0, 3.0), {}),
    (aten.elu.default, (), {}),
    (aten.elu.default, (1.5, 2.0, 0.5), {}),
    (aten.selu.default, (), {}),
    (aten.celu.default, (2.0,), {}),
    (aten.mish.default, (), {}),
    (aten.hardswish.default, (), {}),
    (aten.hardsigmoid.default, (), {}),
    (aten.hardtanh.default, (-0.7, 0.3), {}),
    (aten.relu6.default, (), {}),
    (aten.leaky_relu.default, (), {}),
    (aten.leaky_relu.default, (0.25,), {}),
    (aten.threshold.default, (0.1, 7), {}),
    (aten.hardshrink.default, (), {}),
    (aten.softshrink.default, (0.7,), {}),
    (aten.log_sigmoid.default, (), {}),
    (aten.logit.default, (), {}),
    (aten.logit.default, (0.1,), {}),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("overload", "args", "kwargs"), ACTIVATIONS, ids=lambda x: str(x))
def test_activations(overload: Any, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: torch.dtype) -> None:
    for value in (sample(dtype, (3, 4)), special(dtype), sample(dtype, ()), sample(dtype, (0, 3))):
        check_composite(overload, value, *args, **kwargs)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", "add sub mul div maximum minimum fmax fmin".split())
def test_arithmetic(name: str, dtype: torch.dtype) -> None:
    overload = getattr(aten, name)
    overload = overload.Tensor if "Tensor" in overload.overloads() else overload.default
    if name == "sub" and dtype == torch.bool:
        pytest.skip("PyTorch has no such function")
    check(overload, *pairs(dtype), signed_zeros="m" not in name or name == "mul")
    check(overload, sample(dtype, (3, 1)), sample(dtype, (2, 1, 4), 1))
    check(overload, sample(dtype, ()), sample(dtype, (), 1))
    check(overload, sample(dtype, (0, 3)), sample(dtype, (1, 3), 1))


def divisors(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Pairs without integer division by 0, and without that of the least integer by −1, which traps."""
    x, y = pairs(dtype)
    if dtype.is_floating_point:
        return x, y
    y = torch.tensor([1, 2, 3, 7, -3 if dtype != torch.uint8 else 5, torch.iinfo(dtype).max], dtype=dtype)
    return x, y.reshape(1, -1)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("mode", [None, "floor", "trunc"])
def test_division_modes(mode: str | None, dtype: torch.dtype) -> None:
    # On the CPU PyTorch rounds the quotient of two float16 before it takes the floor.
    check(aten.div.Tensor_mode, *divisors(dtype), rounding_mode=mode, ulps=dtype == torch.float16)
    check(aten.div.Tensor_mode, sample(dtype, (3, 4)), 2, rounding_mode=mode)
    check(aten.div.Scalar_mode, sample(dtype, (3, 4)), 2.5, rounding_mode=mode)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_what_is_rounded_before_the_result(dtype: torch.dtype) -> None:
    """Quotients that are truncated; numbers in powers and remainders. Many elements, so that some tell."""
    x, y = sample(dtype, (64, 64)), sample(dtype, (64, 64), 1)
    check(aten.div.Tensor_mode, x, y, rounding_mode="trunc")
    for overload in (aten.remainder, aten.fmod):
        check(overload.Scalar, x, 0.3)
    check(aten.remainder.Scalar_Tensor, 0.3, x)
    check(aten.pow.Tensor_Scalar, x.abs(), 0.3)
    check(aten.pow.Scalar, 0.3, x)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["remainder", "fmod", "floor_divide"])
def test_remainders(name: str, dtype: torch.dtype) -> None:
    overload = getattr(aten, name)
    check(
        overload.default if name == "floor_divide" else overload.Tensor, *divisors(dtype), ulps=dtype == torch.float16
    )
    check(overload.Scalar, sample(dtype, (3, 4)), 3)
    if dtype.is_floating_point:
        check(overload.Scalar, sample(dtype, (3, 4)), -0.75)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
@pytest.mark.parametrize("number", [2, -3, 0.1, True, 2.5])
def test_arithmetic_with_a_number(name: str, dtype: torch.dtype, number: float) -> None:
    overload = getattr(aten, name).Tensor
    for value in (sample(dtype, (3, 4)), special(dtype), sample(dtype, ())):
        try:
            overload(value, number)
        except RuntimeError:
            pytest.skip("PyTorch has no such function")
        if dtype == torch.float16 and name in ("add", "sub"):
            # On the CPU PyTorch rounds the number to float16 here, on the GPU it does not.
            actual, _ = run(overload, value, number)
            compare(actual[0], overload(value.float(), number).half(), 0)
        else:
            check(overload, value, number)


def test_a_number_may_stand_first() -> None:
    check(aten.sub.Tensor, 2, sample(torch.float32, (3,)))
    check(aten.rsub.Scalar, sample(torch.float32, (3,)), 2)
    check(aten.pow.Scalar, 2, sample(torch.float32, (3,)), ulps=4)
    check(aten.remainder.Scalar_Tensor, 7, sample(torch.float32, (3,)))


@pytest.mark.parametrize("dtype", NUMBERS)
def test_alpha(dtype: torch.dtype) -> None:
    x, y = sample(dtype, (3, 4)), sample(dtype, (4,), 1)
    check(aten.add.Tensor, x, y, alpha=2, ulps=2)
    check(aten.sub.Tensor, x, y, alpha=3, ulps=2)
    if dtype.is_floating_point:
        check(aten.addcmul.default, x, y, y, value=0.5, ulps=4)
        check(aten.addcdiv.default, x, y, y, value=0.5, ulps=4)
        check(aten.lerp.Scalar, x, y.expand(3, 4), 0.25, ulps=4)
        check(aten.lerp.Scalar, x, y.expand(3, 4), 0.75, ulps=4)


@pytest.mark.parametrize("types", list(itertools.product([*ALL, torch.int16], repeat=2)), ids=str)
def test_promotion(types: tuple[torch.dtype, torch.dtype]) -> None:
    """Common types of tensors with and without axes, in the result of `add` and inside `lt`."""
    first, second = types
    for shape, other in [((3, 4), (4,)), ((3,), ()), ((), ())]:
        x, y = sample(first, shape), sample(second, other, 1)
        check(aten.add.Tensor, x, y, ulps=1)
        check(aten.lt.Tensor, x, y)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.7, 4, 2.0])
def test_powers(exponent: float, dtype: torch.dtype) -> None:
    check(aten.pow.Tensor_Scalar, sample(dtype, (3, 4)), exponent, ulps=8)
    if dtype == torch.float16 and abs(exponent) == 0.5:
        return  # On the CPU PyTorch has a square root here for all floats but float16: −0 ** 0.5 is 0.
    check(aten.pow.Tensor_Scalar, special(dtype), exponent, ulps=8)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_powers_of_tensors(dtype: torch.dtype) -> None:
    x = special(dtype).reshape(-1, 1)
    y = x.reshape(1, -1) if dtype.is_floating_point else torch.tensor([[0, 1, 2, 5]], dtype=dtype)
    check(aten.pow.Tensor_Tensor, x, y, ulps=8)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 0.5, 2.0])
def test_powers_of_integers(exponent: float, dtype: torch.dtype) -> None:
    check(aten.pow.Tensor_Scalar, special(dtype), exponent, ulps=8)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons(name: str, dtype: torch.dtype) -> None:
    overload = getattr(aten, name)
    check(overload.Tensor, *pairs(dtype))
    check(overload.Tensor, sample(dtype, (3, 1)), sample(dtype, (4,), 1))
    for number in (0, 2, 0.1, True, math.inf):
        check(overload.Scalar, special(dtype), number)


@pytest.mark.parametrize("dtype", ALL)
def test_logic(dtype: torch.dtype) -> None:
    for overload in (aten.logical_and.default, aten.logical_or.default, aten.logical_xor.default):
        check(overload, *pairs(dtype))
    if not dtype.is_floating_point:
        for overload in (aten.bitwise_and, aten.bitwise_or, aten.bitwise_xor):
            check(overload.Tensor, *pairs(dtype))
            check(overload.Scalar, special(dtype), 1)
    if dtype in INTEGERS:
        shifts = torch.tensor([[0, 1, 3, 7]], dtype=dtype)
        check(aten.bitwise_left_shift.Tensor, special(dtype).reshape(-1, 1), shifts)
        check(aten.bitwise_right_shift.Tensor, special(dtype).reshape(-1, 1), shifts)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_choices(dtype: torch.dtype) -> None:
    x, y = pairs(dtype)
    condition = sample(torch.bool, (len(x), len(x)))
    check(aten.where.self, condition, x, y)
    check(aten.where.self, condition, x, torch.tensor(2.0))
    check(aten.where.ScalarOther, condition, x, 1)
    check(aten.masked_fill.Scalar, x, condition[:, :1], 3)
    check(aten.masked_fill.Tensor, x, condition[:, :1], torch.tensor(3, dtype=dtype))
    check(aten.clamp.default, x, 1, 3)
    check(aten.clamp.default, x, 3, 1)
    check(aten.clamp.default, x, None, 1)
    check(aten.clamp.default, x, 1)
    check(aten.clamp_min.default, x, 1)
    check(aten.clamp.Tensor, x, y, None, signed_zeros=False)
    check(aten.clamp.Tensor, x, None, y, signed_zeros=False)
    check(aten.clamp.Tensor, condition, condition[:1])
    check(aten.clamp_max.Tensor, condition, condition[:, :1])
    if dtype.is_floating_point:
        check(aten.clamp.default, x, -0.3, 0.7)


@pytest.mark.parametrize("types", list(itertools.product(ALL, repeat=2)), ids=str)
def test_casts(types: tuple[torch.dtype, torch.dtype]) -> None:
    source, target = types
    values = [sample(source, (3, 4)), sample(source, ())]
    if target.is_floating_point or target == torch.bool or not source.is_floating_point:
        values.append(special(source))
    for value in values:
        check(aten._to_copy.default, value, dtype=target)


@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_wrap_in_bytes(dtype: torch.dtype) -> None:
    check(aten._to_copy.default, torch.tensor([-1.0, 300.0, -200.5, 255.9, 3.7], dtype=dtype), dtype=torch.uint8)


def test_rounding_of_wide_numbers_is_pytorch_s() -> None:
    """float64 to 16 bits goes through float32, and so do integers."""
    value = torch.rand(4096, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 64
    for step in (2.0**-11, 2.0**-8):
        edges = (value / step).round() * step + step / 2 + torch.tensor([2.0**-40, -(2.0**-40)]).repeat(2048)
        for target in (torch.float16, torch.bfloat16):
            check(aten._to_copy.default, edges, dtype=target)
    whole = torch.arange(4096) * 4099 + 2**31
    for target in (torch.float16, torch.bfloat16, torch.float32):
        check(aten._to_copy.default, whole, dtype=target)


@pytest.mark.parametrize("dtype", FLOATS)
def test_other_elementwise_forms(dtype: torch.dtype) -> None:
    x, y = sample(dtype, (3, 4)), sample(dtype, (4,), 1)
    check(aten.add.Scalar, x, 2)
    check(aten.sub.Scalar, x, 2, 3, ulps=2)
    check(aten.mul.Scalar, x, 2)
    check(aten.div.Scalar, x, 2)
    check(aten.rsub.Tensor, x, y)
    check(aten.clamp_max.default, x, 0.5)
    check(aten.clamp_max.Tensor, x, y)
    check(aten.clamp_min.Tensor, x, y)
    check(aten.copysign.Tensor, *pairs(dtype))
    check(aten.atan2.default, *pairs(dtype), ulps=4)
    check_composite(aten.hypot.default, *pairs(dtype))
    check(aten.lerp.Tensor, x, x.flip(0), x.abs() / 2, ulps=8)
    check(aten.where.ScalarSelf, x > 0, 2.0, x)
    check(aten.where.Scalar, x > 0, 2.0, 3.0)
    check(aten.isin.Tensor_Scalar, x, float(x[0, 0]))
    check_composite(aten.glu.default, x, -1)
    check_composite(aten.prelu.default, x, y)
    check_composite(aten.prelu.default, x, y[:1])
    check_composite(aten._prelu_kernel.default, x, y.reshape(1, 4))
    check(aten.round.decimals, x * 10, decimals=1, ulps=2)
    check(aten.round.decimals, x * 10, decimals=-1)
    check(aten.nan_to_num.default, special(dtype), 1.0, 2.0, 3.0)


def test_other_integer_forms() -> None:
    x = sample(torch.int32, (3, 4))
    for overload in (aten.bitwise_and, aten.bitwise_or, aten.bitwise_xor):
        check(overload.Scalar_Tensor, 6, x)
    for overload in (aten.bitwise_left_shift, aten.bitwise_right_shift):
        check(overload.Scalar_Tensor, 6, x.abs())
        check(overload.Tensor_Scalar, x, 2)
    for overload in (aten.__lshift__, aten.__rshift__):
        check(overload.Scalar, x, 2)
        check(overload.Tensor, x, x.abs())


@pytest.mark.parametrize("dtype", ALL)
def test_angle(dtype: torch.dtype) -> None:
    for value in (sample(dtype, (3, 4)), special(dtype)):
        check(aten.angle.default, value)


@pytest.mark.parametrize("dtype", FLOATS)
def test_ldexp(dtype: torch.dtype) -> None:
    x = sample(dtype, (3, 4))
    check(aten.ldexp.Tensor, x, torch.tensor([0, 3, -3, 1]), ulps=4)
    check(aten.ldexp.Tensor, x, sample(dtype, (3, 1)), ulps=4)
