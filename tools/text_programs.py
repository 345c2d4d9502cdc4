"""The programs of a language model, compiled or from the cache, and run on one state: the weights and the keys and
values of past tokens."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import torch
from torch._subclasses.fake_tensor import FakeTensor

from ..frontends.captured import Captured
from ..frontends.element_types import dtype_name
from ..frontends.language_models.configuration import read_configuration
from ..frontends.language_models.language_model import LanguageModel
from ..runtime.artifact.artifact import Artifact
from ..runtime.artifact.conversions import torch_name
from ..runtime.artifact.plan import PlanError, Value
from ..runtime.artifact.signature import GIVEN, Signature
from ..runtime.cache import Key, default_cache
from ..runtime.cache.versions import package_version, uop_version
from ..runtime.devices import Device, Executable
from .artifacts import signature_of
from .compilation import compile_stages
from .pipelines import CompileOptions
from .plugins import changes_passes

SIGNATURE = "signature.json"
"""The file of an entry of the cache that says how the program is called."""


@dataclass(frozen=True)
class CompiledText:
    """A program of a language model as data. constants: values of what it closes over, by source"""

    artifact: Artifact
    signature: Signature
    constants: Mapping[str, torch.Tensor]
    from_cache: bool


def compile_text(model: LanguageModel, name: str, device: Device, options: CompileOptions) -> CompiledText:
    """A program of the model for a device, from the cache where that has it: then nothing is exported.

    name: `decode`, or `prefill`, which takes any number of tokens
    Raises what the front end, a pass and a compiler raise.
    """
    cache = None if changes_passes() else default_cache()
    key = _key(model, name, device, options)
    files = None if cache is None else cache.get(key)
    if files is not None:
        try:
            artifact = Artifact.of_files({file: data for file, data in files.items() if file != SIGNATURE})
            return CompiledText(artifact, Signature.of_json(json.loads(files[SIGNATURE])), {}, True)
        except (PlanError, KeyError, TypeError, ValueError):  # another version of uop of the same name has written it
            assert cache is not None
            cache.remove(key)
    captured = model.decode_program() if name == "decode" else model.prefill_program()
    compiled = _compile(captured, device, options)
    if cache is not None and not compiled.constants:
        signature = json.dumps(compiled.signature.as_json()).encode()
        cache.put(key, {**compiled.artifact.as_files(), SIGNATURE: signature})
    return compiled


def _compile(captured: Captured, device: Device, options: CompileOptions) -> CompiledText:
    imported = captured.imported()
    assert device.ahead is not None
    for stage, _ in compile_stages(imported, options, target=device.target, verify=False):
        if stage == device.stage:
            break
    constants = {
        argument.source: argument.value
        for argument in imported.arguments
        if argument.kind.value == "constant" and argument.value is not None
    }
    return CompiledText(device.ahead.build(imported), signature_of(imported), constants, False)


def _key(model: LanguageModel, name: str, device: Device, options: CompileOptions) -> Key:
    """All that a program of a model depends on: the model is made of its configuration."""
    assert device.ahead is not None
    return Key(
        {
            "kind": "language model",
            "name": name,
            "target": device.stage,
            "configuration": json.dumps(read_configuration(model.source), sort_keys=True),
            "dtype": dtype_name(model.dtype),
            "layers": str(model.layers),
            "max length": str(model.max_length),
            "toolchain": device.ahead.toolchain(),
            "uop": uop_version(),
            **{package: package_version(package) for package in ("xdsl", "torch", "transformers")},
            **{f"option {field.name}": repr(getattr(options, field.name)) for field in fields(options)},
        }
    )


class TextState:
    """What the programs of a model share on a device: weights, and the keys and values of past tokens."""

    def __init__(self, model: LanguageModel, weights: Mapping[str, torch.Tensor], device: Device) -> None:
        """weights: by the names of the programs' parameters."""
        self.device = device
        self.tensors: dict[str, torch.Tensor] = {}
        self._model = model
        self._weights = weights

    def fill(self, program: CompiledText) -> None:
        """Have a value for whatever the program holds; caches are empty."""
        plan = program.artifact.plan
        for each, place in zip(program.signature.inputs, plan.arguments, strict=True):
            if each.kind != GIVEN and each.source not in self.tensors:
                value = self._value(each.source, plan.values[place], program.constants)
                self.tensors[each.source] = value.to(self.device.memory)

    def _value(self, source: str, value: Value, constants: Mapping[str, torch.Tensor]) -> torch.Tensor:
        for known in (self._weights, constants):
            if source in known:
                return known[source]
        made = _attribute(self._model.module, source)  # what the configuration alone gives is there for real
        if made is None or isinstance(made, FakeTensor):
            return torch.zeros(value.shape, dtype=getattr(torch, torch_name(value.dtype)))
        return made


def _attribute(module: torch.nn.Module, source: str) -> torch.Tensor | None:
    found: object = module
    for name in source.split("."):
        found = getattr(found, name, None)
    return found if isinstance(found, torch.Tensor) else None


class TextProgram:
    """A program that takes tokens and where the first of them stands, and gives logits for the next."""

    def __init__(self, compiled: CompiledText, state: TextState, device: Device) -> None:
        """Load it on the device. Raises what the device has to say."""
        assert device.ahead is not None
        state.fill(compiled)
        self._signature = compiled.signature
        self._state = state
        program: Executable = device.ahead.open(compiled.artifact)
        self._execute = program if device.replay is None else device.replay(program)

    def __call__(self, tokens: Sequence[int], position: int) -> torch.Tensor:
        """Logits, f32[vocabulary], after the last of the tokens; their keys and values are in the state then."""
        given = iter((torch.tensor([list(tokens)]), torch.tensor(position)))
        tensors = self._state.tensors
        inputs = [
            next(given).to(self._state.device.memory) if each.kind == GIVEN else tensors[each.source]
            for each in self._signature.inputs
        ]
        results = self._execute(inputs)
        for output in self._signature.outputs:
            assert output.index is not None
            if output.target is not None:
                tensors[output.target] = results[output.index]
        (logits,) = self._signature.results
        assert logits.index is not None
        return results[logits.index].float().cpu()[0]
