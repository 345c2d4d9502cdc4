"""Calls of compiled programs that take nothing but tensors, one after the other, and change none: without flattening
what is given, and without a second look at what a program on the CPU looks at by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from operator import itemgetter
from typing import Any, cast

import torch
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from ...frontends.imported import Imported, ResultKind

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class DirectCall:
    """How a program is called directly.

    count:   positional arguments that it takes. names: of those by keyword, in order
    held:    tensors of the module: parameters, buffers and constants
    arrange: the tensors that the program takes, from those given and those held
    results: what the user gets, from the program's results
    """

    count: int
    names: tuple[str, ...]
    held: tuple[torch.Tensor, ...]
    arrange: Callable[[tuple[torch.Tensor, ...]], Tensors]
    results: Callable[[Tensors], Any]

    @staticmethod
    def of(imported: Imported, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> DirectCall | None:
        """How a program is called that was compiled for these arguments; None where that is not done directly."""
        given = (*args, *kwargs.values())
        _, spec = tree_flatten((args, dict(kwargs)))
        only_tensors = all(isinstance(each, torch.Tensor) for each in given) and spec == imported.input_spec
        indices = [result.index for result in imported.results if result.kind is ResultKind.USER_OUTPUT]
        results = _results(imported.output_spec, indices)
        if not only_tensors or results is None or len(indices) != len(imported.results) or imported.sizes.symbols:
            return None
        held = tuple(argument.value for argument in imported.arguments if argument.value is not None)
        place_held = count(len(given))
        taken = [next(place_held) if each.leaf is None else each.leaf for each in imported.arguments]
        return DirectCall(len(args), tuple(kwargs), held, _arrange(taken, len(given) + len(held)), results)

    def arguments(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Tensors | None:
        """What the program takes, of what it is called with; None where that has another form."""
        if len(args) != self.count or tuple(kwargs) != self.names:
            return None
        return self.arrange((*args, *kwargs.values(), *self.held))


def _arrange(places: list[int], number: int) -> Callable[[tuple[torch.Tensor, ...]], Tensors]:
    """What picks the values at these places out of so many."""
    if places == [*range(number)]:
        return lambda values: values
    if len(places) == 1:
        return lambda values: (values[places[0]],)
    return cast("Callable[[tuple[torch.Tensor, ...]], Tensors]", itemgetter(*places))


def _results(spec: TreeSpec, indices: Sequence[int | None]) -> Callable[[Tensors], Any] | None:
    """What makes a tensor, or a tuple or list of tensors, of the program's results; None for other structures."""
    numbers = [*range(len(indices))]
    if indices != numbers:
        return None
    structure: object = tree_unflatten(numbers, spec)
    if type(structure) is int:
        return itemgetter(0)
    return next((kind for kind in (tuple, list) if type(structure) is kind and structure == kind(numbers)), None)
