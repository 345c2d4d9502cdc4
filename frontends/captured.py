"""A program with inputs to compile it for, real values for them, and what PyTorch computes from those."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.export
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor
from torch.export.graph_signature import InputKind
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

from .errors import CaptureError
from .exporting import DynamicShapes, decompose, export_module, quiet_export
from .imported import Argument, ArgumentKind, Imported, ResultKind
from .importer import import_decomposed
from .part_programs import part_of
from .reference import run_in_float64
from .torch_internals import allows_tf32, is_inside_derivative, random_state, shares_memory
from .user_errors import user_errors


@dataclass(frozen=True)
class Call:
    """A module and what it is called with.

    dynamic_shapes: which sizes of the arguments may differ from call to call, as `torch.export.export` takes it
    """

    module: nn.Module
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict[str, Any])
    dynamic_shapes: DynamicShapes | None = None


class Captured:
    """A program that a user wrote, as the front end took it.

    module, args, kwargs: what to export, of fake tensors unless the user's code made real ones
    source_name:          `<command>`, or `model.py:make`

    Real values are made anew by each `make_inputs`, from the user's own factories and initialisers.
    """

    def __init__(self, call: Call, make: Callable[[], Call], source_name: str) -> None:
        """make: builds the same module and inputs of real tensors, with PyTorch's current random state."""
        self.module = call.module
        self.args = call.args
        self.kwargs = call.kwargs
        self.dynamic_shapes = call.dynamic_shapes
        self.source_name = source_name
        self._make = make
        self._made: Call | None = None
        self._exported: torch.export.ExportedProgram | None = None
        self._core: torch.export.ExportedProgram | None = None
        self._imported: Imported | None = None
        self._tf32 = False
        self._sizes: Mapping[str, int] = {}

    @property
    def is_exported(self) -> bool:
        """Whether `exported` has been called, and need not export any more."""
        return self._exported is not None

    def at_sizes(self, sizes: Mapping[str, int], call: Call, make: Callable[[], Call]) -> Captured:
        """The program where some of its sizes are numbers, which is not exported again.

        sizes: by the names of the symbols. call, make: the program called with such sizes; of the same module
        """
        captured = Captured(call, make, self.source_name)
        captured._exported, captured._core, captured._sizes = self.exported(), self.decomposed(), sizes
        return captured

    def part(self, call: Call, inputs: Collection[int], outputs: Collection[int]) -> Captured:
        """What computes some of the outputs from some of the inputs, which is not exported again.

        call: a module that computes these outputs, and these inputs. inputs, outputs: as of `part_of`
        """
        captured = Captured(call, lambda: call, self.source_name)
        captured._exported = captured._core = part_of(self.decomposed(), inputs, outputs)
        return captured

    def exported(self) -> torch.export.ExportedProgram:
        """The program as `torch.export` gives it. Raises `CaptureError` when it cannot be exported."""
        if self._exported is None:
            self._exported = self._export()
            if any(isinstance(value, FakeTensor) for value in _unnamed_constants(self._exported, self.module)):
                self._keep_values()
                self._exported = self._export()
            _check_exported(self._exported, self.module)
        return self._exported

    def _export(self) -> torch.export.ExportedProgram:
        with user_errors("torch.export cannot take the program"):
            return export_module(self.module, self.args, self.kwargs, self.dynamic_shapes)

    def _keep_values(self) -> None:
        """Make the module and its inputs for real, once for all seeds.

        Tensors that a function closes over are constants of the program without a name to find them by, so those of
        a module made anew, which are other random numbers, could not take their place.
        """
        call = self.make_call(0)
        self.module, self.args, self.kwargs = call.module, call.args, call.kwargs
        self._make = lambda: call

    def imported(self) -> Imported:
        """The program in the torch dialect. Raises `CaptureError` and `UnsupportedProgramError`."""
        if self._imported is None:
            self._imported = import_decomposed(self.decomposed(), sizes=self._sizes)
            self._tf32 = allows_tf32()
        return self._imported

    def make_inputs(self, seed: int = 0) -> list[torch.Tensor]:
        """Real values for the arguments of the imported function, in order, parameters and constants included.

        The same seed gives the same values. Dense and row-major, and not shared with the user's program.
        """
        arguments = self.imported().arguments
        made = self.make_call(seed)
        leaves = tree_leaves((made.args, dict(made.kwargs)))
        values = [
            None if argument.kind is ArgumentKind.SYMBOL else _value(argument, made.module, leaves)
            for argument in arguments
        ]
        return self.imported().with_sizes(values)

    def reference(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """What PyTorch computes from `inputs`: one tensor for each result of the imported function.

        Raises `CaptureError` where the program gives something else than what was exported.
        """
        imported = self.imported()
        made = self._made or self.make_call(0)
        values = [value.clone() for value in inputs]
        by_source = {argument.source: value for argument, value in zip(imported.arguments, values, strict=True)}
        leaves, spec = tree_flatten((made.args, dict(made.kwargs)))
        for argument in imported.arguments:
            if argument.leaf is not None:
                value = by_source[argument.source]
                leaves[argument.leaf] = value.requires_grad_(leaves[argument.leaf].requires_grad)
        args, kwargs = tree_unflatten(leaves, spec)
        state = _state(imported, made.module, by_source)
        with user_errors():
            outputs = iter(tree_leaves(torch.func.functional_call(made.module, state, args, kwargs, tie_weights=False)))
        results: list[torch.Tensor] = []
        for result in imported.results:
            value = next(outputs) if result.kind is ResultKind.USER_OUTPUT else by_source[result.target or ""]
            if result.index is not None:
                results.append(value.detach())
            elif isinstance(value, torch.Tensor) or repr(value) != repr(result.constant):  # NaN is itself
                told = "a tensor" if isinstance(value, torch.Tensor) else repr(value)
                raise CaptureError(f"torch.export gives {result.constant!r} where the program gives {told}")
        return results

    def reference64(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """The same as `reference`, but computed in float64 throughout, from `inputs` as they are.

        What products multiply is cut to TF32 where that was allowed when the program was imported.
        """
        arguments = self.imported().arguments
        return run_in_float64(self.decomposed(), arguments, inputs, self._tf32)

    def decomposed(self) -> torch.export.ExportedProgram:
        """The exported program in the operations that the importer takes. Raises `CaptureError` and
        `UnsupportedProgramError`."""
        if self._core is None:
            exported = self.exported()
            with user_errors("torch.export cannot decompose the program"):
                try:
                    self._core = decompose(exported)
                except Exception:
                    _check_memory(exported, tree_leaves((self.args, dict(self.kwargs))))
                    raise
        return self._core

    def make_call(self, seed: int = 0) -> Call:
        """The user's module and inputs, of real tensors. Those of the same seed have the values of `make_inputs`."""
        with random_state(seed), quiet_export(), user_errors():
            self._made = self._make()
        return self._made


def _value(argument: Argument, module: nn.Module, leaves: Sequence[Any]) -> torch.Tensor:
    """The value of an argument out of the module and the inputs that were made for real."""
    if argument.leaf is not None:
        value = leaves[argument.leaf]
    elif argument.kind is ArgumentKind.CONSTANT and not isinstance(argument.value, FakeTensor):
        value = argument.value  # a literal, which is no attribute of the module
        assert value is not None
    else:
        value = _attribute(module, argument.source)
    return value.detach().clone(memory_format=torch.contiguous_format)


def _state(imported: Imported, module: nn.Module, values: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Values of the parameters and buffers of `module` by name; one that modules share has several names."""
    state: dict[int, torch.Tensor] = {}
    for argument in imported.arguments:
        if argument.kind in (ArgumentKind.PARAMETER, ArgumentKind.BUFFER):
            value = values[argument.source]
            own = _attribute(module, argument.source)
            # The code may assign one module's parameter to another, which takes none but a parameter.
            is_parameter = argument.kind is ArgumentKind.PARAMETER
            state[id(own)] = nn.Parameter(value, own.requires_grad) if is_parameter else value
    names = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    return {name: state[id(tensor)] for name, tensor in names if id(tensor) in state}


def _unnamed_constants(exported: torch.export.ExportedProgram, module: nn.Module) -> list[torch.Tensor]:
    """The constant tensors of the program that are no attributes of the module: literals, and what is closed over."""
    constants = [(name, value) for name, value in exported.constants.items() if isinstance(value, torch.Tensor)]
    return [value for name, value in constants if not _has_attribute(module, name)]


def _check_exported(exported: torch.export.ExportedProgram, module: nn.Module) -> None:
    """Raise `CaptureError` for a program in which `torch.export` took what is computed for constants."""
    if any(is_inside_derivative(value) for value in _unnamed_constants(exported, module)):
        raise CaptureError(
            "torch.export does not record all that torch.func.grad and the like compute with: write the derivative out"
        )


def _check_memory(exported: torch.export.ExportedProgram, leaves: Sequence[Any]) -> None:
    """Raise `CaptureError` where an input shares memory with another, or with a buffer, which is no problem as long
    as none is changed."""
    places = iter(leaves)
    tensors: list[tuple[str, torch.Tensor]] = []
    for spec in exported.graph_signature.input_specs:
        value = next(places) if spec.kind is InputKind.USER_INPUT else exported.state_dict.get(spec.target or "")
        if not isinstance(value, torch.Tensor):
            continue
        name = spec.target or spec.arg.name
        if shared := [other for other, tensor in tensors if shares_memory(tensor, value)]:
            raise CaptureError(
                f"inputs {shared[0]} and {name} share memory that the program changes: hand in a .clone() of one"
            )
        tensors.append((name, value))


def _has_attribute(module: nn.Module, path: str) -> bool:
    try:
        _attribute(module, path)
    except AttributeError:
        return False
    return True


def _attribute(module: nn.Module, path: str) -> torch.Tensor:
    value: Any = module
    for name in path.split("."):
        value = getattr(value, name)
    return value
