"""Calls of functions with sizes that are known when they are called: room for the greatest, and what is meant of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from ...dialects.function_sizes import FunctionSizes, SizeError
from .arrays import Array, ExecutionError
from .buffers import poisoned_buffer


@dataclass(frozen=True)
class BoundedCall:
    """A call with arrays of the sizes that are meant. values: of the function's symbols"""

    function: FuncOp
    sizes: FunctionSizes
    values: dict[str, int]

    @staticmethod
    def of(function: FuncOp, arguments: Sequence[Array]) -> BoundedCall:
        """Raises `ExecutionError` for arrays of other sizes than the arguments that are symbols say."""
        sizes = FunctionSizes.of(function)
        names = [argument.name_hint or str(place) for place, argument in enumerate(function.body.block.args)]
        try:
            values = sizes.values({place: arguments[place].shape for place in sizes.arguments}, names)
        except SizeError as error:
            raise ExecutionError(str(error), function) from error
        for name, (place, _) in sizes.symbols.items():
            if int(arguments[place]) != values[name]:
                raise ExecutionError(f"{name} is given as {arguments[place]}, and is {values[name]}", function)
        return BoundedCall(function, sizes, values)

    def with_room(self, arguments: Sequence[Array]) -> list[Array]:
        """The arguments as arrays of the function's types: what is not meant is poisoned."""
        result = list(arguments)
        for place in self.sizes.arguments:
            result[place] = poisoned_buffer(self.function.function_type.inputs.data[place])
            result[place][tuple(map(slice, arguments[place].shape))] = arguments[place]
        return result

    def meant(self, results: Sequence[Array]) -> list[Array]:
        """Of arrays of the types of the results, what is meant."""
        found = list(results)
        for place, extents in self.sizes.results.items():
            found[place] = results[place][tuple(slice(extent.evaluate(self.values)) for extent in extents)]
        return found
