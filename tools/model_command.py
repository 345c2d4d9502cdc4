"""`uop compile hf:DIR` and `uop compile --config NAME`: the programs of a language model."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..frontends.captured import Captured
from ..frontends.element_types import dtype_name
from ..frontends.language_models.language_model import LanguageModel, load_language_model
from ..runtime.devices import DEVICES
from ..runtime.native.compiler import CompilerNotFoundError
from ..runtime.nvrtc import NvrtcNotFoundError
from .artifacts import write_artifact
from .compilation import FILE_NAMES, FORMS
from .console import console
from .model_compilation import CompiledStep, compile_step
from .model_report import model_table
from .model_weights import LoadedWeights, load_weights, program_weights
from .pipelines import CompileOptions

DECODE, PREFILL = "decode", "prefill"
PROGRAMS = (PREFILL, DECODE)
"""What a model is compiled as: a step of several tokens, and of one."""


def compile_model(options: argparse.Namespace, compile_options: CompileOptions, device: str) -> int:
    """Compile the programs, print what came of them or a stage, and write what `-o` asks for; 0.

    device: what the artifact is for. Raises what the front end, a pass and a compiler raise.
    """
    model = load_language_model(
        options.config or options.source, options.dtype, options.max_length, layers=options.layers
    )
    weights = load_weights(model) if options.weights else None
    if weights is not None and weights.note:
        print(f"uop: note: {weights.note}", file=sys.stderr)
    directory = Path(options.directory) if options.directory else None
    forms = FORMS[options.target] if directory is not None else [options.ir] if options.ir else []
    steps: list[CompiledStep] = []
    for name in [options.program] if options.program else PROGRAMS:
        captured = model.decode_program() if name == DECODE else model.prefill_program(options.prefill)
        locations = not options.no_locations
        steps.append(compile_step(name, captured, compile_options, options.target, forms, locations=locations))
        if directory is not None:
            _write(directory / name, captured, steps[-1], device, weights)
    if options.ir:
        sys.stdout.write("\n".join(step.texts[options.ir] for step in steps))
    else:
        print(_title(model, options.prefill))
        console().print(model_table(steps))
    return 0


def _title(model: LanguageModel, prefill: int | None) -> str:
    tokens = f"1 to {model.max_length}" if prefill is None else str(prefill)
    shape = f"{model.layers} layers in {dtype_name(model.dtype)}"
    return f"{model.source}: {shape}, prefill of {tokens} tokens, cache of {model.max_length} tokens"


def _write(directory: Path, captured: Captured, step: CompiledStep, device: str, weights: LoadedWeights | None) -> None:
    """The stages of a program, and its artifact."""
    directory.mkdir(parents=True, exist_ok=True)
    for stage, text in step.texts.items():
        (directory / FILE_NAMES[stage]).write_text(text)
    ahead = DEVICES[device].ahead
    assert ahead is not None
    try:
        artifact = ahead.build(step.imported)
        write_artifact(directory, captured, artifact, program_weights(step.imported, weights))
    except (NvrtcNotFoundError, CompilerNotFoundError) as error:
        print(f"uop: note: {directory} has the stages only, which `uop exec` does not run: {error}", file=sys.stderr)
        return
    print(f"uop: {directory} has the stages, and what `uop exec` runs", file=sys.stderr)
