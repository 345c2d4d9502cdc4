"""What importing a program gives: the module, and what its arguments and results are for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, cast

import torch
from torch.utils._pytree import TreeSpec, tree_unflatten
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ..dialects.function_sizes import FunctionSizes


class ArgumentKind(Enum):
    """Where the value of an argument of the imported function comes from."""

    USER_INPUT = "user input"
    PARAMETER = "parameter"
    BUFFER = "buffer"
    CONSTANT = "constant"
    SYMBOL = "size"


@dataclass(frozen=True)
class Argument:
    """An argument of the imported function.

    name:   its hint in the text, unique in the function
    source: qualified name of the parameter, buffer or constant (`layers.0.weight`); of a user input, PyTorch's name;
      of a size, `size s`
    leaf:   place of a user input among the leaves of (args, kwargs); None for the others
    value:  tensor of a parameter, buffer or constant, as the exported program holds it; None for user inputs, and for
      sizes, which the shapes of the user inputs tell
    placeholders: inputs of the exported graph that it stands for; several when modules share a parameter
    """

    name: str
    kind: ArgumentKind
    source: str
    type: TensorType
    leaf: int | None
    value: torch.Tensor | None
    placeholders: tuple[str, ...]


class ResultKind(Enum):
    """What an output of the exported program is for."""

    USER_OUTPUT = "user output"
    BUFFER_MUTATION = "new value of a buffer"
    PARAMETER_MUTATION = "new value of a parameter"
    USER_INPUT_MUTATION = "new value of a user input"


@dataclass(frozen=True)
class Result:
    """An output of the exported program.

    index:    which result of the function it is; None when it is no tensor
    constant: its value when it is no tensor: None, a number or a string
    target:   for a mutation, `source` of the argument whose new value it is
    """

    kind: ResultKind
    index: int | None
    constant: object = None
    target: str | None = None


@dataclass(frozen=True)
class ImportedFunction:
    """A function in the torch dialect.

    module: holds one `func.func` of `torch.aten` operations
    """

    module: ModuleOp

    @property
    def function(self) -> FuncOp:
        """The imported function, also after passes have put kernels in front of it."""
        return next(op for op in self.module.body.block.ops if isinstance(op, FuncOp))

    @property
    def name(self) -> str:
        return self.function.sym_name.data

    @property
    def result_types(self) -> Sequence[Attribute]:
        """The types of the function's results, which no pass changes."""
        return self.function.function_type.outputs.data


@dataclass(frozen=True)
class Imported(ImportedFunction):
    """An exported program in the torch dialect, and how it is called.

    arguments:  one for each argument of the function, in order
    results:    the exported program's outputs in order: mutations, then the leaves of what the user gets
    input_spec: pytree of (args, kwargs); output_spec: pytree of the user's outputs
    sizes: what of the function's sizes is known only when it is called
    """

    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    input_spec: TreeSpec
    output_spec: TreeSpec
    sizes: FunctionSizes

    def with_sizes(self, values: Sequence[torch.Tensor | None]) -> list[torch.Tensor]:
        """Values for the arguments, given all but those that are sizes, which the shapes of the others tell.

        Raises `SizeError` for shapes that the program does not take.
        """
        shapes = {place: value.shape for place in self.sizes.arguments if (value := values[place]) is not None}
        told = self.sizes.values(shapes, [argument.source for argument in self.arguments])
        sizes = {place: torch.tensor(told[name]) for name, (place, _) in self.sizes.symbols.items()}
        found = [sizes.get(place, value) for place, value in enumerate(values)]
        assert all(value is not None for value in found)
        return cast("list[torch.Tensor]", found)

    def user_outputs(self, values: Sequence[Any]) -> Any:
        """What the user's program gives, in its own structure, from the results of the function."""
        leaves = [
            result.constant if result.index is None else values[result.index]
            for result in self.results
            if result.kind is ResultKind.USER_OUTPUT
        ]
        return tree_unflatten(leaves, self.output_spec)
