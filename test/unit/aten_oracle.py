"""The differential oracle of the lowerings: one call of an ATen overload, lowered and interpreted, against PyTorch."""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (what overloads take and give is known at run time only)

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from uop.dialects.torch import AtenOp
from uop.frontends.element_types import tensor_type
from uop.frontends.torch_internals import overload_name
from uop.passes.torch.convert_torch_to_uop import ConvertTorchToUopPass
from uop.runtime.interpret.tensors import interpret_function

LOCATION = FileLineColLoc(StringAttr("model.py"), IntAttr(7), IntAttr(0))


STEP = {torch.float64: 2.0**-52, torch.float32: 2.0**-23, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}
"""Distance of neighbouring numbers at 1."""


FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int64, torch.int32, torch.int8, torch.uint8]
NUMBERS = [*FLOATS, *INTEGERS]
ALL = [*NUMBERS, torch.bool]
SHAPES = [(3, 4), (1, 4), (), (0, 3), (2, 1, 3)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 3.7, -3.7, math.inf, -math.inf, math.nan, 100.0, -100.0, 1e-3]


def sample(dtype: torch.dtype, shape: Sequence[int], seed: int = 0) -> torch.Tensor:
    """Ordinary values: floats between −2 and 2, integers between −9 and 9 (uint8: 0 and 17)."""
    generator = torch.Generator().manual_seed(seed)
    if dtype.is_floating_point:
        return (torch.rand(tuple(shape), generator=generator, dtype=torch.float64) * 4 - 2).to(dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, tuple(shape), generator=generator).bool()
    return (torch.randint(-9, 9, tuple(shape), generator=generator) + (9 if dtype == torch.uint8 else 0)).to(dtype)


def special(dtype: torch.dtype) -> torch.Tensor:
    """Values at which functions turn."""
    if dtype.is_floating_point:
        return torch.tensor(SPECIAL, dtype=dtype)
    if dtype == torch.bool:
        return torch.tensor([False, True])
    info = torch.iinfo(dtype)
    return torch.tensor([0, 1, 2, 3, 7, info.max, info.min, info.max - 1], dtype=dtype)


def pairs(dtype: torch.dtype) -> tuple[torch.Tensor, torch.Tensor]:
    """Each special value with each."""
    values = special(dtype)
    return values.reshape(-1, 1), values.reshape(1, -1)


def check(overload: Any, *args: Any, ulps: float = 0.0, signed_zeros: bool = True, **kwargs: Any) -> None:
    """The lowered call gives what PyTorch gives; floats within `ulps` steps of their type."""
    for actual, expected in zip(*run(overload, *args, **kwargs), strict=True):
        compare(actual, expected, ulps, signed_zeros)


def check_composite(overload: Any, *args: Any, **kwargs: Any) -> None:
    """The lowered call gives what PyTorch gives in float64, within two steps of its type and a few of float32."""

    def wide(value: Any) -> Any:
        if isinstance(value, list):
            return [wide(x) for x in value]
        return value.double() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    actual, expected = run(overload, *args, **kwargs)
    exact = overload(*map(wide, args), **{name: wide(value) for name, value in kwargs.items()})
    exact = tensors_of(exact)
    for got, like, reference in zip(actual, expected, exact, strict=True):
        wanted = reference.to(like.dtype)
        assert got.shape == tuple(like.shape)
        if like.dtype.is_floating_point:
            computed = max(STEP[torch.float32] if like.dtype != torch.float64 else 0, STEP[torch.float64])
            np.testing.assert_allclose(
                got, to_numpy(wanted), rtol=2 * STEP[like.dtype] + 16 * computed, atol=16 * computed
            )
        else:
            np.testing.assert_array_equal(got, to_numpy(wanted))


def tensors_of(results: Any) -> list[torch.Tensor]:
    """The tensors among what an overload gives: None is no result."""
    results = list(results) if isinstance(results, tuple | list) else [results]
    return [result for result in results if result is not None]


def compare(actual: np.ndarray[Any, Any], expected: torch.Tensor, ulps: float = 0.0, signed_zeros: bool = True) -> None:
    wanted = to_numpy(expected)
    assert actual.shape == wanted.shape
    assert actual.dtype == wanted.dtype
    if not expected.dtype.is_floating_point or not ulps:
        np.testing.assert_array_equal(actual, wanted)
        if expected.dtype.is_floating_point and signed_zeros:
            np.testing.assert_array_equal(
                np.signbit(actual) & ~np.isnan(actual), np.signbit(wanted) & ~np.isnan(wanted)
            )
        return
    step = STEP[expected.dtype]
    np.testing.assert_allclose(actual, wanted, rtol=ulps * step, atol=ulps * step * 1e-3)


def run(
    overload: Any, *args: Any, results: int | None = None, **kwargs: Any
) -> tuple[list[np.ndarray[Any, Any]], list[torch.Tensor]]:
    """What the lowered call computes, and what PyTorch does; the first `results` where not all are wanted."""
    expected = overload(*args, **kwargs)
    expected = tensors_of(expected)
    module = program(overload, args, kwargs, expected, results)
    module.verify()
    ConvertTorchToUopPass().apply(Context(), module)
    module.verify()
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    for op in function.body.block.ops:
        assert op.name.startswith(("uop.", "func.")), op.name
        assert op.location == LOCATION or op.name == "func.return"
    leaves = [x for value in (*args, *kwargs.values()) for x in (value if isinstance(value, list) else [value])]
    inputs = [to_numpy(x) for x in leaves if isinstance(x, torch.Tensor)]
    return interpret_function(function, inputs), expected[:results]


def program(
    overload: Any, args: Sequence[Any], kwargs: dict[str, Any], results: Sequence[torch.Tensor], used: int | None = None
) -> ModuleOp:
    """A function of one call, which returns its first `used` results, or all."""
    block = Block()
    operands: list[SSAValue] = []
    arguments: dict[str, Attribute] = {}
    given = dict(zip((x.name for x in overload._schema.arguments), args)) | kwargs

    def operand(tensor: torch.Tensor) -> None:
        operands.append(block.insert_arg(tensor_type(tensor), len(block.args)))

    for name in (x.name for x in overload._schema.arguments):
        if name not in given:
            continue
        value = given[name]
        if isinstance(value, torch.Tensor):
            operand(value)
        elif isinstance(value, list) and any(isinstance(x, torch.Tensor) for x in value):
            for x in value:
                if x is not None:
                    operand(x)
            arguments[name] = attribute([x is not None for x in value] if name == "indices" else len(value))
        else:
            arguments[name] = attribute(value)
    call = AtenOp.create(
        operands=operands,
        result_types=[tensor_type(x) for x in results],
        properties={
            "overload": StringAttr(overload_name(overload)),
            "arguments": DictionaryAttr(arguments),
        },
    )
    call.location = LOCATION
    block.add_op(call)
    returned = call.results[:used]
    block.add_op(ReturnOp(*returned))
    types = [x.type for x in operands]
    return ModuleOp([FuncOp("forward", (types, [x.type for x in returned]), Region(block))])


def attribute(value: Any) -> Attribute:
    """An argument that is no tensor, as the importer writes it."""
    match value:
        case None:
            return UnitAttr()
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case list() | tuple():
            return ArrayAttr([attribute(element) for element in value])
        case _:
            return StringAttr(str(value).removeprefix("torch."))


def to_numpy(tensor: torch.Tensor) -> np.ndarray[Any, Any]:
    tensor = tensor.detach().contiguous()
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()
