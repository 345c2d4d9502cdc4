"""Code on the command line as a program: the tensors that it makes become inputs, the modules that it makes parameters.

`torch.relu(torch.randn(16, 64) @ w)` says what to compute and on what in one breath. The code is evaluated three ways:

- *recorded* under fake tensors, to find out what it makes; nothing is allocated;
- *replayed* inside `torch.export` with what it makes handed in, so that only the computation is left;
- *made* for real with a seed, but for the computation, for the values of the inputs.

What counts as made are calls that are written in the code itself, outside `class` bodies, so what a module does in
its `forward` is always part of the program:

- an input: `rand`, `randn`, `randint`, `normal`, … (`RANDOM`), `empty` … (`EMPTY`), `zeros`, `ones`, `full` (`FILLED`);
- a parameter: `nn.Parameter(…)`, and all those of a module that is constructed;
- how they are initialised: `nn.init.…`, `x.uniform_()`, `m.half()`, `m.eval()`.

The last are so only while the tensor has not been used, since the program sees it initialised from the start.

All the rest is computed, and so are `arange`, `linspace`, `eye` and `zeros_like`, whose values mean something, and
`torch.tensor(…)`, which is a constant. Either way the result is that of plain PyTorch on the same values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from .argument_names import unique_identifiers
from .command_code import Code
from .recording import Kind, Made, Replayer, parts_of

_ANONYMOUS = "xyzw"


class Expression(nn.Module):
    """Code as a module: what it makes are its inputs, by name, and its submodules and parameters.

    values: what the calls of `made` gave, by number: as recorded, or made anew
    """

    def __init__(self, code: Code, made: Mapping[int, Made], values: Mapping[int, Any]) -> None:
        super().__init__()
        self._code = code
        self._values = dict(values)
        names = input_names(made)
        self.inputs = {name: values[number] for number, name in names.items()}
        """The tensors that the code makes, by name."""
        by_tensor = {id(values[number]): name for number, name in names.items()}
        self._inputs = {n: by_tensor[id(value)] for n, value in values.items() if id(value) in by_tensor}
        self._own_parameters: dict[int, str] = {}
        for name, number in _roots(made, values):
            value = values[number]
            if isinstance(value, nn.Module):
                self.add_module(name, value)
            else:
                self.register_parameter(name, value)
                self._own_parameters[number] = name

    def forward(self, **inputs: torch.Tensor) -> Any:
        values = (
            self._values
            | {number: inputs[name] for number, name in self._inputs.items()}
            # `torch.export` and `functional_call` put other tensors in the place of parameters.
            | {number: getattr(self, name) for number, name in self._own_parameters.items()}
        )
        return self._code.evaluate(Replayer(values).call)


def input_names(made: Mapping[int, Made]) -> dict[int, str]:
    """A name for each input by its call's number: its variable's, else the next of x, y, z, w, x4, x5, …"""
    inputs = {number: each.name for number, each in made.items() if each.kind is Kind.INPUT}
    taken = {each.name for each in made.values()}
    free = (
        name for name in (*_ANONYMOUS, *(f"x{n}" for n in range(4, 4 + len(inputs) + len(taken)))) if name not in taken
    )
    names = [name if name is not None else next(free) for name in inputs.values()]
    return dict(zip(inputs, unique_identifiers(names), strict=True))


def _roots(made: Mapping[int, Made], values: Mapping[int, Any]) -> list[tuple[str, int]]:
    """Numbers of the modules and parameters that are in no other module, by the name of their variable or class."""
    kept = [number for number, each in made.items() if each.kind in (Kind.MODULE, Kind.PARAMETER)]
    inner = {id(part) for number in kept for part in parts_of(values[number]) if part is not values[number]}
    roots = [number for number in kept if id(values[number]) not in inner]
    names = unique_identifiers([made[number].name or type(values[number]).__name__.lower() for number in roots])
    taken = [*dir(nn.Module()), "inputs"]  # a submodule may not have the name of an attribute
    names = [f"{name}_module" if name in taken else name for name in names]
    return list(zip(names, roots, strict=True))
