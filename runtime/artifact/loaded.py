"""Programs from folders, ready to be called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import Array
from .conversions import InputError, from_array, from_tensor, is_tensor, to_array, to_tensor
from .devices import choose_device
from .folder import Folder, read_folder
from .plan import Value
from .safetensors import read_tensors
from .signature import GIVEN, Input, fill, flatten
from .sizes import SizeError

Location = str | PathLike[str]


def load(folder: Location, *, device: str | None = None, weights: Location | None = None) -> LoadedProgram:
    """The program that `uop compile … -o FOLDER` wrote: call it as the module or function that was compiled.

    device:  what it runs on; the best there is where not given
    weights: a .safetensors file with the values of parameters and buffers, in the place of those in the folder
    Raises `ArtifactError` for a folder that holds no artifact, `DeviceError`, and `InputError` for the weights.
    """
    given = {} if weights is None else {name: tensor.array for name, tensor in read_tensors(Path(weights)).items()}
    return LoadedProgram(read_folder(Path(folder)), device=device, weights=given)


class LoadedProgram:
    """A program that runs without the compiler.

    It takes arrays of numpy or tensors of PyTorch, and gives tensors where it is given one. Its parameters and buffers
    are its own: what the program changes of them is there in the next call.
    """

    def __init__(self, folder: Folder, *, device: str | None = None, weights: Mapping[str, Any] | None = None) -> None:
        """weights: values of parameters and buffers by their qualified names, in the place of those of the folder."""
        self.plan = folder.artifact.plan
        self.signature = folder.signature
        self.device = choose_device(folder.artifact, device)
        self._execute = self.device.load(folder.artifact)
        self._held: dict[str, Any] = {}
        known = {name: tensor.array for name, tensor in folder.weights.items()} | dict(weights or {})
        for each in self.signature.inputs:
            if each.kind != GIVEN and each.source in known:
                self.hold(each.source, known[each.source])

    @property
    def given(self) -> Sequence[Value]:
        """What it is called with, in order."""
        return [value for each, value in self._inputs() if each.kind == GIVEN]

    @property
    def missing(self) -> Mapping[str, Value]:
        """The parameters, buffers and constants that have no value yet."""
        return {
            each.source: value for each, value in self._inputs() if each.kind != GIVEN and each.source not in self._held
        }

    def hold(self, source: str, given: Any) -> None:
        """Give a parameter, buffer or constant its value, which is copied where the program updates it in place.

        Raises `InputError`.
        """
        places = {each.source: place for place, each in enumerate(self.signature.inputs) if each.kind != GIVEN}
        if source not in places:
            raise InputError(f"the program holds no {source!r} (it holds {', '.join(places) or 'nothing'})")
        place = self.plan.arguments[places[source]]
        value = self._take(self.plan.values[place], given)
        if place in self.plan.updated_inputs:
            value = value.clone() if self.device.tensors else value.copy()
        self._held[source] = self.device.keep(value)

    def held(self, source: str) -> Any:
        """The value of a parameter, buffer or constant now, as the device has it. Raises `KeyError`."""
        return self._held[source]

    def __call__(self, *args: Any, **named: Any) -> Any:
        """What the program gives. Raises `InputError`, and what the device has to say."""
        leaves = [*flatten(args), *self._named(len(flatten(args)), named)]
        if len(leaves) != len(self.given):
            told = ", ".join(map(str, self.given))
            raise InputError(f"{len(leaves)} inputs are given, and the program takes {len(self.given)}: {told}")
        if self.missing:
            name, value = next(iter(self.missing.items()))
            raise InputError(
                f"{len(self.missing)} parameters have no value, such as {name} ({value}): compile with --weights, or "
                "give load(…, weights=FILE) a .safetensors file"
            )
        places = iter(leaves)
        values = [
            self._take(value, next(places)) if each.kind == GIVEN else self._held[each.source]
            for each, value in self._inputs()
        ]
        try:
            results = self._execute(values)
        except SizeError as error:
            raise InputError(str(error)) from error
        outputs = [self.plan.values[place] for place in self.plan.outputs]
        given = dict(zip((each.source for each in self.signature.inputs if each.kind == GIVEN), leaves, strict=True))
        as_tensors = any(map(is_tensor, leaves))
        for output in self.signature.outputs:
            if output.target is not None and output.index is not None:
                self._mutate(output.target, outputs[output.index], results[output.index], given)
        give: Callable[..., Any] = from_tensor if self.device.tensors else from_array
        return fill(
            self.signature.structure,
            [
                output.constant
                if output.index is None
                else give(outputs[output.index], results[output.index], tensor=as_tensors)
                for output in self.signature.results
            ],
        )

    def _named(self, positional: int, named: Mapping[str, Any]) -> list[Any]:
        """The leaves given by name, in the order of the inputs behind the positional ones."""
        names = [value.name for value in self.given[positional:]]
        if set(names) == set(named):
            return flatten([named[name] for name in names])
        return flatten(dict(named))

    def _inputs(self) -> Sequence[tuple[Input, Value]]:
        values = [self.plan.values[place] for place in self.plan.arguments]
        return list(zip(self.signature.inputs, values, strict=True))

    def _take(self, value: Value, given: Any) -> Any:
        return to_tensor(value, given) if self.device.tensors else to_array(value, given)

    def _mutate(self, target: str, value: Value, result: Any, given: Mapping[str, Any]) -> None:
        """Let what the program holds, or what it is given, have its new value."""
        if target not in given:
            self._held[target] = result
        elif is_tensor(given[target]):
            new = (from_tensor if self.device.tensors else from_array)(value, result, tensor=True)
            if new.data_ptr() != given[target].data_ptr():  # else it has been updated in place
                given[target].copy_(new)
        else:
            array: Array = given[target]
            new = (from_tensor if self.device.tensors else from_array)(value, result, tensor=False)
            if not np.may_share_memory(new, array):
                array[...] = new
