"""The sizes of a function that are known when it is called: what its attributes and types say of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DictionaryAttr, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute
from xdsl.utils.exceptions import VerifyException

from .symbols import Bounds, Extent, ExtentsAttr, Symbol, SymbolAttr
from .types import is_tensor

SYMBOL = "uop.symbol"
EXTENTS = "uop.extents"


class SizeError(ValueError):
    """What a program is called with does not have sizes that it takes; its text is meant for the user."""


@dataclass(frozen=True)
class FunctionSizes:
    """The symbols of a function, and what is made of them.

    symbols: by name, the place of the argument that is its value, and the symbol
    arguments, results: the extents of those that have symbols in them, by their places
    """

    symbols: Mapping[str, tuple[int, Symbol]]
    arguments: Mapping[int, tuple[Extent, ...]]
    results: Mapping[int, tuple[Extent, ...]]

    @property
    def bounds(self) -> dict[str, tuple[int, int]]:
        """Symbol → its least and its greatest value."""
        return {name: (symbol.low, symbol.high) for name, (_, symbol) in self.symbols.items()}

    def bounded(self, type: Attribute) -> Attribute:
        """A type of the torch dialect with the greatest extents in the place of `?`; any other as it is."""
        if not is_tensor(type) or not isinstance(type.encoding, ExtentsAttr):
            return type
        return TensorType(type.element_type, [extent.range(self.bounds)[1] for extent in type.encoding.data])

    def values(self, shapes: Mapping[int, Sequence[int]], names: Sequence[str]) -> dict[str, int]:
        """The values of the symbols, given the shapes of those arguments that are in `arguments`.

        names: of all arguments, for messages. Raises `SizeError` for shapes that contradict each other or the bounds.
        """
        values: dict[str, int] = {}
        for place, extents in self.arguments.items():
            if len(shapes[place]) != len(extents):
                raise SizeError(f"{names[place]} has {len(shapes[place])} dimensions, not {len(extents)}")
            for axis, (size, extent) in enumerate(zip(shapes[place], extents, strict=True)):
                name = extent.symbols[0] if len(extent.symbols) == 1 else None
                if name is None or name in values or (value := extent.solved(size)) is None:
                    continue
                symbol = self.symbols[name][1]
                if not symbol.low <= value <= symbol.high:
                    limit = f"below its bound {symbol.low}" if value < symbol.low else f"above its bound {symbol.high}"
                    raise SizeError(f"{_told(size, axis, names[place])}: {name} = {value} is {limit}")
                values[name] = value
        for name in self.symbols:
            if name not in values:
                raise SizeError(f"no dimension of an argument tells the size {name}")
        for place, extents in self.arguments.items():
            for axis, (size, extent) in enumerate(zip(shapes[place], extents, strict=True)):
                if size != extent.evaluate(values):
                    given = ", ".join(f"{name} = {values[name]}" for name in extent.symbols)
                    is_known = f"{extent} is {extent.evaluate(values)} with {given}" if given else f"it is {extent}"
                    raise SizeError(f"{_told(size, axis, names[place])}: {is_known}")
        return values

    @staticmethod
    def of(function: FuncOp) -> FunctionSizes:
        """Read the attributes of a function; in the torch dialect the encodings of its types.

        Raises `VerifyException` for attributes that contradict its types.
        """
        symbols: dict[str, tuple[int, Symbol]] = {}
        inputs, outputs = function.function_type.inputs.data, function.function_type.outputs.data
        for place, attributes in enumerate(_dictionaries(function.arg_attrs)):
            attribute = attributes.get(SYMBOL)
            if attribute is None:
                continue
            if not isinstance(attribute, SymbolAttr):
                raise VerifyException(f"argument {place}: {SYMBOL} is {attribute}, not #uop.symbol<…>")
            if inputs[place] != TensorType(i64, ()):
                raise VerifyException(f"argument {place}: a symbol is a tensor<i64>, not {inputs[place]}")
            if attribute.data.name in symbols:
                raise VerifyException(f"argument {place}: there is a symbol {attribute.data.name} already")
            symbols[attribute.data.name] = place, attribute.data
        bounds = {name: (symbol.low, symbol.high) for name, (_, symbol) in symbols.items()}
        return FunctionSizes(
            symbols,
            _extents("argument", inputs, function.arg_attrs, bounds),
            _extents("result", outputs, function.res_attrs, bounds),
        )


def _told(size: int, axis: int, name: str) -> str:
    return f"length {size} of {name} in dimension {axis}"


def _dictionaries(attributes: ArrayAttr[DictionaryAttr] | None) -> Sequence[Mapping[str, Attribute]]:
    return () if attributes is None else [each.data for each in attributes.data]


def _extents(
    what: str, types: Sequence[Attribute], attributes: ArrayAttr[DictionaryAttr] | None, bounds: Bounds
) -> dict[int, tuple[Extent, ...]]:
    """The extents of arguments or results by place, of those that have any."""
    found: dict[int, tuple[Extent, ...]] = {}
    given = _dictionaries(attributes)
    for place, type in enumerate(types):
        attribute = given[place].get(EXTENTS) if given else None
        if attribute is None and is_tensor(type):
            attribute = type.encoding if isinstance(type.encoding, ExtentsAttr) else None
        if attribute is None:
            continue
        try:
            found[place] = _checked(attribute, type, bounds)
        except VerifyException as error:
            raise VerifyException(f"{what} {place}: {error}") from error
    return found


def _checked(attribute: Attribute, type: Attribute, bounds: Bounds) -> tuple[Extent, ...]:
    """The extents that `attribute` holds, where they are those of the type: its `?`, or its greatest extents."""
    if not isinstance(attribute, ExtentsAttr):
        raise VerifyException(f"{EXTENTS} is {attribute}, not #uop.extents<…>")
    if not is_tensor(type) or type.get_num_dims() != len(attribute.data):
        raise VerifyException(f"{attribute} are not the extents of {type}")
    for extent in attribute.data:
        for name in extent.symbols:
            if name not in bounds:
                raise VerifyException(f"no argument is the symbol {name} of {attribute}")
    for written, extent in zip(type.get_shape(), attribute.data, strict=True):
        greatest = extent.range(bounds)[1]
        if written != greatest and (written != DYNAMIC_INDEX or extent.constant is not None):
            raise VerifyException(f"{extent} is at most {greatest}, which {type} does not have")
    return attribute.data
