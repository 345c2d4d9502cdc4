"""Captured programs as artifacts: what `uop compile … -o DIR` writes beside the stages."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_unflatten

from ..dialects.types import element_of, type_name
from ..frontends.captured import Captured
from ..frontends.imported import ArgumentKind, Imported, ResultKind
from ..runtime.artifact.artifact import Artifact
from ..runtime.artifact.folder import Folder, write_folder
from ..runtime.artifact.safetensors import Tensor
from ..runtime.artifact.signature import GIVEN, LEAF, Input, Output, Signature, leaves_of, structure_of
from ..runtime.cache.versions import package_version, uop_version
from ..runtime.tensors import to_array

_KINDS = {
    ArgumentKind.USER_INPUT: GIVEN,
    ArgumentKind.PARAMETER: "parameter",
    ArgumentKind.BUFFER: "buffer",
    ArgumentKind.CONSTANT: "constant",
}


def signature_of(imported: Imported) -> Signature:
    """How the program is called. What it gives in containers that JSON has no form for, such as named tuples, it gives
    as a tuple of tensors."""
    inputs = tuple(
        Input(_KINDS[argument.kind], argument.source)
        for argument in imported.arguments
        if argument.kind is not ArgumentKind.SYMBOL  # which the shapes of the others tell
    )
    outputs = tuple(
        Output(result.index, result.constant, None if result.kind is ResultKind.USER_OUTPUT else result.target)
        for result in imported.results
    )
    count = sum(output.target is None for output in outputs)
    structure = structure_of(tree_unflatten(range(count), imported.output_spec))
    if len(leaves_of(structure)) != count:
        structure = {"tuple": [LEAF] * count}
    return Signature(inputs, outputs, structure)


def weights_of(captured: Captured, *, parameters: bool) -> Mapping[str, Tensor]:
    """The values of literals in the program, by their sources; with `parameters` also those of parameters and buffers,
    as the user's program makes them with seed 0."""
    imported = captured.imported()
    values: dict[str, torch.Tensor] = {}
    if parameters:
        made = zip(imported.arguments, captured.make_inputs(0), strict=True)
        others = (ArgumentKind.USER_INPUT, ArgumentKind.SYMBOL)
        values = {each.source: value for each, value in made if each.kind not in others}
    for each in imported.arguments:
        if each.kind is ArgumentKind.CONSTANT and each.value is not None and not isinstance(each.value, FakeTensor):
            values.setdefault(each.source, each.value)
    types = {each.source: type_name(element_of(each.type)) for each in imported.arguments}
    return {source: Tensor(types[source], to_array(value)) for source, value in values.items()}


def write_artifact(path: Path, captured: Captured, artifact: Artifact, weights: Mapping[str, Tensor]) -> list[Path]:
    """Write what `uop exec` and `uop.runtime.artifact.load` run; the files. weights: by their sources"""
    made_by = {
        "uop": uop_version(),
        **{package: package_version(package) for package in ("xdsl", "torch", "nvidia-cuda-nvrtc")},
    }
    return write_folder(path, Folder(artifact, signature_of(captured.imported()), weights, made_by))
