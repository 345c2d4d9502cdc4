"""The meaning of the torch dialect: PyTorch itself executes each call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import torch
from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr, i1
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.hints import isa

from ...dialects.function_sizes import FunctionSizes
from ...dialects.symbols import ExtentAttr
from ...dialects.torch import AtenOp
from ...frontends.torch_internals import PRODUCTS, in_tf32
from .arrays import ExecutionError, NotExecutableError

_NAMED_VALUES = ("ScalarType", "Layout", "MemoryFormat")
"""Types of the schema whose values stand as the names of attributes of `torch`."""


def interpret_torch_function(function: FuncOp, arguments: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """What a function of `torch.aten` calls returns. Raises `ExecutionError` for an overload that PyTorch lacks."""
    block = function.body.block
    values: dict[SSAValue, torch.Tensor] = dict(zip(block.args, arguments, strict=True))
    places = {name: place for name, (place, _) in FunctionSizes.of(function).symbols.items()}
    sizes = {name: int(arguments[place].item()) for name, place in places.items()}
    with torch.no_grad():
        for op in block.ops:
            if isinstance(op, ReturnOp):
                return [values[operand] for operand in op.operands]
            if not isinstance(op, AtenOp):
                raise NotExecutableError(f"{op.name} is not of the torch dialect", op)
            results = call(op, [values[operand] for operand in op.operands], sizes)
            values.update(zip(op.results, results, strict=True))
    raise ExecutionError("the function returns nothing", function)


def call(
    op: AtenOp, operands: Sequence[torch.Tensor], sizes: Mapping[str, int] = MappingProxyType({})
) -> list[torch.Tensor]:
    """The results of one call. sizes: the values of symbols.

    Raises `ExecutionError` where PyTorch does, as for an index out of bounds.
    """
    try:
        function = overload_named(op.overload.data)
    except AttributeError:
        library = op.overload.data.rpartition("::")[0]
        advice = f"; import what registers the operators of {library}" if library else ""
        raise NotExecutableError(f"PyTorch has no overload {op.called}{advice}", op) from None
    tensors = iter(operands)
    keywords: dict[str, Any] = {}
    for argument in function._schema.arguments:
        given = op.arguments.data.get(argument.name)
        kind = str(argument.type)
        if kind.startswith(("Tensor[]", "List[Tensor]", "List[Optional[Tensor]]")):
            keywords[argument.name] = _tensor_list(given, tensors)
        elif given is not None:
            keywords[argument.name] = _value(given, str(argument.real_type), sizes)
        elif "Tensor" in kind and (tensor := next(tensors, None)) is not None:
            keywords[argument.name] = tensor
    if op.allow_tf32 is not None:
        for place in PRODUCTS.get(function, ()):
            name = function._schema.arguments[place].name
            if keywords[name].dtype == torch.float32:
                keywords[name] = in_tf32(keywords[name])
    try:
        results = function(**keywords)
    except (RuntimeError, IndexError, ValueError, TypeError) as error:
        reason = str(error).split("\n", 1)[0]
        raise ExecutionError(f"PyTorch refuses {op.called}: {reason}", op) from error
    return [results] if isinstance(results, torch.Tensor) else list(results)


def overload_named(name: str) -> Any:
    """The overload that the torch dialect calls `name`. Raises `AttributeError` when PyTorch has none."""
    library, _, qualified = name.rpartition("::")
    operator, _, overload = qualified.partition(".")
    return getattr(getattr(getattr(torch.ops, library or "aten"), operator), overload or "default")


def _tensor_list(given: Attribute | None, tensors: Iterator[torch.Tensor]) -> list[torch.Tensor | None]:
    """A list of tensors: the attribute gives their number, or which of them there are."""
    if isa(given, ArrayAttr[IntegerAttr]):
        return [next(tensors) if present.value.data else None for present in given]
    assert isinstance(given, IntegerAttr)
    return [next(tensors) for _ in range(given.value.data)]


def _value(attribute: Attribute, kind: str, sizes: Mapping[str, int]) -> Any:
    if isinstance(attribute, ExtentAttr):
        return attribute.data.evaluate(sizes)
    if isinstance(attribute, UnitAttr):
        return None
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, IntegerAttr):
        number = cast("IntegerAttr", attribute)
        return bool(number.value.data) if number.type == i1 else number.value.data
    if isinstance(attribute, StringAttr):
        named = any(name in kind for name in _NAMED_VALUES)
        return getattr(torch, attribute.data) if named else attribute.data
    assert isa(attribute, ArrayAttr[Attribute])
    return [_value(element, kind, sizes) for element in attribute]
