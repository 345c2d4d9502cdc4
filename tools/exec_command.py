"""`uop exec`: run an artifact. Nothing of the compiler is imported, nor PyTorch where the device needs none."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ..runtime.artifact.arrays import Array
from ..runtime.artifact.conversions import InputError, to_array
from ..runtime.artifact.devices import DeviceError
from ..runtime.artifact.elements import STORAGE_DTYPES
from ..runtime.artifact.folder import ArtifactError
from ..runtime.artifact.loaded import LoadedProgram, load
from ..runtime.artifact.plan import PlanError, Value
from ..runtime.artifact.safetensors import Tensor, read_tensors, write_tensors
from ..runtime.artifact.signature import flatten
from .device_errors import DEVICE_ERRORS

ERRORS = (
    ArtifactError,
    DeviceError,
    InputError,
    PlanError,
    *DEVICE_ERRORS,
    OSError,
)


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0, or 1 for an error."""
    try:
        program = load(options.directory, device=options.device, weights=options.weights)
        random = np.random.default_rng(options.seed)
        for source, value in program.missing.items():
            program.hold(source, _random(random, value))
        inputs: Mapping[str, Array] = read_inputs(Path(options.inputs), program) if options.inputs else {}
        arguments = [inputs[value.name] if value.name in inputs else _random(random, value) for value in program.given]
        results = flatten(program(*arguments))
        _print(program, results)
        if options.save:
            save_results(Path(options.save), program, results)
    except BrokenPipeError:
        raise
    except ERRORS as error:
        print(f"uop: error: {error}", file=sys.stderr)
        return 1
    return 0


def read_inputs(path: Path, program: LoadedProgram) -> Mapping[str, Array]:
    """Arrays by the names of inputs; those that an .npz file has without names, `arr_0` …, are in order.

    Raises `InputError` for names that the program has not, and `OSError`.
    """
    names = [value.name for value in program.given]
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as file:
                found = {name: file[name] for name in file.files}
        else:
            found = {name: tensor.array for name, tensor in read_tensors(path).items()}
    except ValueError as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    positional = {f"arr_{place}": name for place, name in enumerate(names)}
    inputs = {name if name in names else positional.get(name, name): array for name, array in found.items()}
    unknown = [name for name in inputs if name not in names]
    if unknown:
        raise InputError(f"{path} has {unknown[0]}, and the inputs of the program are {', '.join(names)}")
    return inputs


def save_results(path: Path, program: LoadedProgram, results: list[Any]) -> None:
    """Write the tensors among the results, as `output_0` …, to an .npz or .safetensors file."""
    outputs = [output for output in program.signature.results if output.index is not None]
    kept = [result for result, each in zip(results, program.signature.results, strict=True) if each.index is not None]
    values = [program.plan.values[program.plan.outputs[output.index or 0]] for output in outputs]
    arrays = {f"output_{place}": array for place, array in enumerate(kept)}
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    else:
        named = zip(arrays.items(), values, strict=True)
        write_tensors(path, {name: Tensor(value.dtype, to_array(value, array)) for (name, array), value in named})


def _random(random: np.random.Generator, value: Value) -> Array:
    """Normal numbers of about the size that weights and activations have; 0 or 1 for integers, which may be places."""
    if value.dtype in ("f64", "f32", "f16", "bf16"):
        scale = max(1, value.shape[-1] if len(value.shape) > 1 else 1) ** -0.5
        numbers = random.standard_normal(value.shape, np.float32) * np.float32(scale)
        if value.dtype == "bf16":
            return np.asarray(numbers.view(np.uint32) >> 16, np.uint16)
        return numbers.astype(STORAGE_DTYPES[value.dtype])
    return random.integers(0, 2, value.shape).astype(STORAGE_DTYPES[value.dtype])


def _print(program: LoadedProgram, results: list[Any]) -> None:
    plan = program.plan
    print(f"@{plan.function} for {plan.target} {plan.arch}, {len(plan.launches)} launches, on {program.device.name}")
    for place, (result, output) in enumerate(zip(results, program.signature.results, strict=True)):
        if output.index is None:
            print(f"  output {place}: {result!r}")
            continue
        value = plan.values[plan.outputs[output.index]]
        print(f"  output {place}: {value.dtype}[{', '.join(map(str, result.shape))}]{_summary(value, result)}")


def _summary(value: Value, array: Array) -> str:
    """Least, greatest and mean, of numbers in double."""
    if array.size == 0:
        return ""
    if value.dtype == "bf16":
        array = (array.astype(np.uint32) << 16).view(np.float32)
    numbers = array.astype(np.float64)
    with np.errstate(all="ignore"):
        return f" from {numbers.min():.6g} to {numbers.max():.6g}, mean {numbers.mean():.6g}"
