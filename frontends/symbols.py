"""Symbolic sizes of PyTorch, which are expressions of sympy, as extents."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# sympy has no types.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import sympy
import torch
from torch import fx
from torch.utils._sympy.functions import FloorDiv, Max, Min, Mod, PythonMod
from torch.utils._sympy.numbers import int_oo

from ..dialects.symbols import Extent, Symbol
from .argument_names import unique_identifiers
from .errors import Problem, UnsupportedError, UnsupportedProgramError
from .torch_internals import input_sizes


@dataclass(frozen=True)
class Symbols:
    """The symbols of a graph.

    named:  PyTorch's name of a symbol → the symbol, by the name that the user gives it, where there is one
    places: the dimension that each stands for, by PyTorch's name, as the user sees it: `dimension 1 of ids`
    endless: those without an upper bound, by PyTorch's name, with the user's name of the dimension
    fixed:  those that stand for one number, by PyTorch's name
    """

    named: Mapping[str, Symbol]
    places: Mapping[str, str]
    endless: Mapping[str, str]
    fixed: Mapping[str, int] = field(default_factory=dict[str, int])

    def extent(self, size: object) -> Extent:
        """A size. Raises `UnsupportedError` for one that no extent is, or that is not bounded."""
        if isinstance(size, int):
            return Extent.of(size)
        if not isinstance(size, torch.SymInt):
            raise UnsupportedError(f"{size} is no size")
        return self._extent(size.node.expr)

    def _extent(self, expression: Any) -> Extent:
        arguments: tuple[Any, ...] = expression.args
        match expression:
            case sympy.Integer():
                return Extent.of(int(expression.p))
            case sympy.Symbol() if expression.name in self.fixed:
                return Extent.of(self.fixed[expression.name])
            case sympy.Symbol():
                return Extent.of(self.symbol(expression.name).name)
            case sympy.Add():
                return sum(map(self._extent, arguments), Extent())
            case sympy.Mul():
                product = Extent.of(1)
                for factor in arguments:
                    product = product * self._extent(factor)
                return product
            case sympy.Pow() if arguments[1].is_Integer and arguments[1] > 0:
                base, power = self._extent(arguments[0]), Extent.of(1)
                for _ in range(int(arguments[1])):
                    power = power * base
                return power
            case FloorDiv() if arguments[1].is_Integer and arguments[1] > 0:
                return self._extent(arguments[0]) // int(arguments[1])
            case Mod() | PythonMod() if arguments[1].is_Integer and arguments[1] > 0:
                dividend, divisor = self._extent(arguments[0]), int(arguments[1])
                return dividend - dividend // divisor * divisor
            case Max() | Min():
                return self._extremum(expression)
            case _:
                raise UnsupportedError(
                    f"the size {self.told(expression)} is not supported; sums, products, and quotients by numbers are"
                )

    def _extremum(self, expression: Any) -> Extent:
        """The greatest or least of several, where their bounds tell which it is."""
        sign = 1 if isinstance(expression, Max) else -1
        bounds = {symbol.name: (symbol.low, symbol.high) for symbol in self.named.values()}
        candidates = [self._extent(each) for each in expression.args]
        for one in candidates:
            if all(((one - other) * sign).range(bounds)[0] >= 0 for other in candidates):
                return one
        raise UnsupportedError(
            f"{self.told(expression)} is not supported: their bounds do not tell which of them it is; give "
            "torch.export.Dim a `min` or a `max` that does"
        )

    def check(self) -> None:
        """Raise `UnsupportedProgramError` where there are symbols without upper bounds."""
        if self.endless:
            raise UnsupportedProgramError([Problem("", "dynamic shapes", self.no_bound(name)) for name in self.endless])

    def at(self, sizes: Mapping[str, int]) -> Symbols:
        """The same where some symbols, by the names that the user gives them, are numbers.

        Raises `UnsupportedProgramError` for a number out of bounds, and for a name that no symbol has.
        """
        found = {symbol.name: (name, symbol) for name, symbol in self.named.items()}
        problems = [
            Problem("", f"size {name}", f"{size} is none of {found[name][1] if name in found else 'the program'}")
            for name, size in sizes.items()
            if name not in found or not found[name][1].low <= size <= found[name][1].high
        ]
        if problems:
            raise UnsupportedProgramError(problems)
        fixed = {found[name][0]: size for name, size in sizes.items()}
        named = {name: symbol for name, symbol in self.named.items() if name not in fixed}
        return replace(self, named=named, fixed={**self.fixed, **fixed})

    def symbol(self, name: str) -> Symbol:
        """By PyTorch's name. Raises `UnsupportedError` for one without bounds."""
        if name in self.named:
            return self.named[name]
        raise UnsupportedError(f"its shape is not static ({name}): sizes that depend on data are not supported")

    def no_bound(self, name: str) -> str:
        """What to say of a symbol without upper bound."""
        place = f" ({self.places[name]})" if name in self.places else ""
        dim = self.endless[name]
        return (
            f"{dim}{place} has no upper bound, and memory is allocated for the greatest size: "
            f'torch.export.Dim("{dim}", max=4096)'
        )

    def told(self, number: Any) -> str:
        """A number that is computed from sizes, or its expression, with the user's names."""
        expression = getattr(number, "node", number)
        expression = getattr(expression, "expr", expression)
        return str(expression.subs({name: sympy.Symbol(symbol.name) for name, symbol in self.named.items()}))


NO_SYMBOLS = Symbols({}, {}, {})


def symbols_of(graph: fx.Graph, ranges: Mapping[Any, Any]) -> Symbols:
    """The symbols that the inputs of a graph have in their sizes, in the order of the inputs.

    ranges: symbol of sympy → its least and its greatest value
    """
    sizes = [size for size in input_sizes(graph) if isinstance(size, torch.SymInt)]
    return _symbols_in(sizes, ranges) if sizes else NO_SYMBOLS


def endless_sizes(sizes: Sequence[torch.SymInt]) -> list[str]:
    """The dimensions of inputs that have no upper bound."""
    if not sizes:
        return []
    symbols = _symbols_in(sizes, sizes[0].node.shape_env.var_to_range)
    return [symbols.places.get(name, dim) for name, dim in symbols.endless.items()]


def _symbols_in(sizes: Sequence[torch.SymInt], ranges: Mapping[Any, Any]) -> Symbols:
    environment: Any = sizes[0].node.shape_env
    symbols = dict.fromkeys(symbol for size in sizes for symbol in sorted(size.node.expr.free_symbols, key=str))
    sources = {symbol: environment.var_to_sources.get(symbol, ()) for symbol in symbols}
    dims = environment.source_name_to_debug_name
    given = [
        next((dims[source.name] for source in found if source.name in dims), str(symbol))
        for symbol, found in sources.items()
    ]
    named: dict[str, Symbol] = {}
    endless: dict[str, str] = {}
    for symbol, name in zip(symbols, unique_identifiers(given), strict=True):
        range = ranges.get(symbol)
        if range is None or range.upper in (int_oo, sympy.oo):
            endless[str(symbol)] = name
        else:
            named[str(symbol)] = Symbol(name, max(int(range.lower), 0), int(range.upper))
    places = {str(symbol): _place(found[0]) for symbol, found in sources.items() if found}
    return Symbols(named, places, endless)


def graph_symbols(graph: fx.Graph) -> Symbols:
    """The symbols of a graph of TorchDynamo or AOTAutograd, whose bounds are those of `torch._dynamo.mark_dynamic`."""
    size = next((size for size in input_sizes(graph) if isinstance(size, torch.SymInt)), None)
    return NO_SYMBOLS if size is None else symbols_of(graph, size.node.shape_env.var_to_range)


def _place(source: Any) -> str:
    """`dimension 1 of ids`, of TorchDynamo's `L['ids'].size()[1]`; `n` of a number's `L['n']`."""
    base = getattr(source, "base", source).name.replace("L['args']", "args").replace("L['kwargs']", "kwargs")
    if base.startswith("L['"):
        base = base[3:].replace("']", "", 1)
    return f"dimension {source.idx} of {base}" if hasattr(source, "idx") else base
