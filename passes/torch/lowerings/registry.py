"""The lowerings by overload, and how the arguments of a call reach them.

A lowering is a function whose parameters are the schema's: same names, same order, same defaults, after the
`Lowering`. Its annotations say what is accepted. An argument that no parameter takes refuses the call, so nothing is
lost in silence.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar, cast, get_type_hints

from xdsl.dialects.builtin import (
    ArrayAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from ....dialects.monoids import Number
from ....dialects.symbols import Extent, ExtentAttr
from ....dialects.torch import AtenOp
from ....dialects.types import ui8
from ....rewriting.builder import Builder
from .errors import Unsupported
from .lowering import Lowering
from .sizes import STATIC, Scope
from .tensor import Tensor

Results = Tensor | Sequence[Tensor | None]
LoweringFunction = Callable[..., Results]
FunctionT = TypeVar("FunctionT", bound=LoweringFunction)

IGNORED = {"layout", "device", "pin_memory", "non_blocking", "memory_format", "copy", "sparse_grad", "implicit"}
"""Arguments that say where and how a tensor lies in memory, which uop decides."""

DTYPES: dict[str, Attribute] = {
    "float64": f64,
    "float32": f32,
    "float16": f16,
    "bfloat16": bf16,
    "bool": i1,
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "uint8": ui8,
}
"""PyTorch's names of the element types."""


@dataclass(frozen=True)
class Symbolic:
    """What is known of a function with symbols while it is lowered.

    tensors: what stands in the place of those values that have sizes which are known when the program runs
    """

    scope: Scope
    tensors: dict[SSAValue, Tensor]


@dataclass(frozen=True)
class Rule:
    """A lowering function and the parameters that its call is bound to."""

    function: LoweringFunction

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Its parameters after the `Lowering`, with their types."""
        hints = get_type_hints(self.function)
        signature = inspect.signature(self.function)
        return tuple(p.replace(annotation=hints[name]) for name, p in signature.parameters.items())[1:]

    def apply(self, builder: Builder, op: AtenOp, symbolic: Symbolic | None = None) -> Sequence[Tensor | None]:
        """Build what computes the op's results. symbolic: of a function with symbols. Raises `Unsupported`."""
        arguments = _bind(self.parameters, builder, op, symbolic)
        scope = None if symbolic is None else symbolic.scope
        results = self.function(Lowering(builder, op, scope), **arguments)
        return (results,) if isinstance(results, Tensor) else results


LOWERINGS: dict[str, Rule] = {}
"""Overload → its lowering."""


def lowering(*overloads: str) -> Callable[[FunctionT], FunctionT]:
    """Register a function as the lowering of overloads, named as in `torch.aten`: without `aten.` and `.default`."""

    def register(function: FunctionT) -> FunctionT:
        rule = Rule(function)
        for overload in overloads:
            assert overload not in LOWERINGS, f"two lowerings of {overload}"
            LOWERINGS[overload] = rule
        return function

    return register


def _bind(
    parameters: Sequence[inspect.Parameter], builder: Builder, op: AtenOp, symbolic: Symbolic | None
) -> dict[str, object]:
    """The values of the parameters in the call `op`."""
    call = _Call(builder, list(op.operands), dict(op.arguments.data), symbolic)
    values = {parameter.name: call.take(parameter) for parameter in parameters}
    for name in call.arguments:
        if name not in IGNORED:
            raise Unsupported(f"its argument `{name}` is not supported")
    if call.operands:
        raise Unsupported(f"it has {len(call.operands)} tensors more than its schema")
    return values


@dataclass
class _Call:
    """What is left of a call's operands and arguments while parameters are bound."""

    builder: Builder
    operands: list[SSAValue]
    arguments: dict[str, Attribute]
    symbolic: Symbolic | None

    def take(self, parameter: inspect.Parameter) -> object:
        name, kind = parameter.name, parameter.annotation
        attribute = self.arguments.pop(name, None)
        if kind in _TENSOR_KINDS and attribute is None and self.operands:
            return self.tensor()
        if attribute is None:
            if parameter.default is inspect.Parameter.empty:
                if kind == Tensor | None:
                    return None
                raise Unsupported(f"its argument `{name}` is missing")
            return parameter.default
        try:
            if kind == list[Tensor]:
                return [self.tensor() for _ in range(_integer(attribute))]
            if kind == list[Tensor | None]:
                return self.optional_tensors(attribute)
            value = _READERS[kind](attribute)
            return value if self.symbolic is None else _with_sizes(value, self.symbolic.scope)
        except (_NotThis, IndexError):
            raise Unsupported(f"its argument `{name}` is {attribute}") from None

    def tensor(self) -> Tensor:
        operand = self.operands.pop(0)
        if self.symbolic is not None and operand in self.symbolic.tensors:
            return self.symbolic.tensors[operand]
        return Tensor(self.builder, operand)

    def optional_tensors(self, attribute: Attribute) -> list[Tensor | None]:
        """A list in which `true` stands for the next operand, and `false` for no tensor."""
        if isinstance(attribute, IntegerAttr):
            return [self.tensor() for _ in range(_integer(cast("Attribute", attribute)))]
        return [self.tensor() if present else None for present in _list(attribute, _boolean)]


class _NotThis(Exception):
    """An attribute does not hold what the parameter asks for."""


ReadT = TypeVar("ReadT")


def _with_sizes(value: object, scope: Scope) -> object:
    """What has been read, with sizes in the place of extents."""
    if isinstance(value, list):
        return [_with_sizes(element, scope) for element in cast("list[object]", value)]
    return scope.size(value) if isinstance(value, Extent) else value


def _number(attribute: Attribute) -> Number:
    match attribute:
        case ExtentAttr():
            return cast("int", attribute.data)  # until there is a scope to make a size of it
        case FloatAttr():
            return attribute.value.data
        case IntegerAttr():
            number: int = attribute.value.data
            return bool(number) if attribute.type == i1 else number
        case _:
            raise _NotThis


def _integer(attribute: Attribute) -> int:
    number = _number(attribute)
    if isinstance(number, float):
        raise _NotThis
    return number if isinstance(number, Extent) else int(number)


def _float(attribute: Attribute) -> float:
    number = _number(attribute)
    if isinstance(number, Extent):
        raise Unsupported(f"it takes a number, and {number} is not known before the program runs", STATIC)
    return float(number)


def _boolean(attribute: Attribute) -> bool:
    return bool(_integer(attribute))


def _string(attribute: Attribute) -> str:
    if not isinstance(attribute, StringAttr):
        raise _NotThis
    return attribute.data


def _element_type(attribute: Attribute) -> Attribute:
    name = _string(attribute)
    if name not in DTYPES:
        raise Unsupported(f"dtype {name} is not supported", f"uop computes in {', '.join(DTYPES)}")
    return DTYPES[name]


def _list(attribute: Attribute, read: Callable[[Attribute], ReadT]) -> list[ReadT]:
    if not isinstance(attribute, ArrayAttr):
        return [read(attribute)]  # schemas with `int[1]` take a single number
    return [read(element) for element in cast("ArrayAttr[Attribute]", attribute).data]


def _optional(read: Callable[[Attribute], ReadT]) -> Callable[[Attribute], ReadT | None]:
    return lambda attribute: None if isinstance(attribute, UnitAttr) else read(attribute)


def _integers(attribute: Attribute) -> list[int]:
    return _list(attribute, _integer)


def _booleans(attribute: Attribute) -> list[bool]:
    return _list(attribute, _boolean)


def _floats(attribute: Attribute) -> list[float]:
    return _list(attribute, _float)


def _no_tensor(attribute: Attribute) -> None:
    if not isinstance(attribute, UnitAttr):
        raise _NotThis


_TENSOR_KINDS: tuple[object, ...] = (Tensor, Tensor | None, Tensor | Number)

_READERS: dict[object, Callable[[Attribute], object]] = {
    Tensor | None: _no_tensor,
    Tensor | Number: _number,
    Number: _number,
    Number | None: _optional(_number),
    int: _integer,
    int | None: _optional(_integer),
    float: _float,
    float | None: _optional(_float),
    bool: _boolean,
    bool | None: _optional(_boolean),
    str: _string,
    str | None: _optional(_string),
    list[int]: _integers,
    list[int] | None: _optional(_integers),
    list[float] | None: _optional(_floats),
    list[bool]: _booleans,
    Attribute | None: _optional(_element_type),
}
"""Annotation of a parameter → what reads it from an attribute."""
