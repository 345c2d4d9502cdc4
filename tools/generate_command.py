"""`uop generate`: text from a language model, with a cache of keys and values: each token takes one decode step."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ..frontends.element_types import dtype_name
from ..frontends.errors import CaptureError, FrontendError
from ..frontends.language_models.configuration import folder_of
from ..frontends.language_models.language_model import MAX_LENGTH, PREFIX, LanguageModel, load_language_model
from ..frontends.torch_internals import random_state
from ..rewriting.diagnostics import PassError
from ..runtime.devices import DEVICES, Device
from .generation import Choice, Stream, Times, Tokenizer, end_tokens, generate
from .model_weights import load_weights
from .pipelines import CompileOptions
from .text_programs import CompiledText, TextProgram, TextState, compile_text


def generate_command(options: argparse.Namespace) -> int:
    """Generate, print what comes while it comes, and where the time went; 0.

    Raises what the front end, a pass, a compiler and the device raise.
    """
    told = Console(stderr=True, highlight=False)
    device = DEVICES[options.device]
    source = options.config or options.directory
    model = _load_model(source, options)
    tokenizer, prompt = _prompt(model, options)
    ends = frozenset[int]() if options.ignore_end else end_tokens(model)
    seconds: dict[str, float] = {}
    with told.status("weights"), _timed(seconds, "weights"):  # what is missing is said before anything is compiled
        weights = _weights(model, options, told)
    with told.status("compile"), _timed(seconds, "compile"):
        compile_options = CompileOptions(arch=device.arch(), vector_bytes=device.vector_bytes())
        decode = compile_text(model, "decode", device, compile_options)
        prefill, reason = _prefill(model, device, compile_options, len(prompt))
    with told.status("weights"), _timed(seconds, "weights"):
        state = TextState(model, weights, device)
        steps = [None if compiled is None else TextProgram(compiled, state, device) for compiled in (decode, prefill)]
    decode_step, prefill_step = steps
    assert decode_step is not None
    if reason:
        told.print(f"uop: note: the prompt takes {len(prompt)} decode steps: {reason}", soft_wrap=True)
    times = Times()
    tokens = generate(
        prompt,
        options.tokens,
        decode=decode_step,
        prefill=prefill_step,
        choice=Choice(options.temperature, options.seed),
        ends=ends,
        times=times,
    )
    _print_tokens(tokens, tokenizer, prompt, options.tokens, told)
    found = all(compiled is None or compiled.from_cache for compiled in (decode, prefill))
    title = f"{model.source}, {model.layers} layers in {dtype_name(model.dtype)}, on {device.name}"
    told.print(f"{title}: {times.tokens_per_second:.1f} tokens per second", soft_wrap=True)
    told.print(_table(model, seconds, times, found))
    return 0


def _load_model(source: str, options: argparse.Namespace) -> LanguageModel:
    model = load_language_model(source, options.dtype, options.max_length or MAX_LENGTH, layers=options.layers)
    longest = getattr(model.config, "max_position_embeddings", None) or MAX_LENGTH
    if options.max_length is None and longest < model.max_length:
        return load_language_model(source, options.dtype, longest, layers=options.layers)
    return model


def _prompt(model: LanguageModel, options: argparse.Namespace) -> tuple[Tokenizer | None, Sequence[int]]:
    """The tokenizer, where the prompt is a text, and the prompt in tokens. Raises `CaptureError`."""
    tokenizer: Tokenizer | None = None
    if options.prompt_ids is not None:
        prompt = options.prompt_ids
    else:
        folder = folder_of(model.source)
        if folder is None:
            raise CaptureError(
                f"{model.source} is a configuration without a tokenizer: give the prompt as numbers, --prompt-ids 1,2,3"
            )
        tokenizer = Tokenizer(folder)
        prompt = tokenizer.encode(options.prompt)
    size = model.config.vocab_size
    if not prompt:
        raise CaptureError("the prompt has no tokens: a model needs at least one")
    if wrong := [token for token in prompt if not 0 <= token < size]:
        raise CaptureError(f"the prompt has token {wrong[0]}, and the model has tokens 0 to {size - 1}")
    if len(prompt) + options.tokens - 1 > model.max_length:
        raise CaptureError(
            f"a prompt of {len(prompt)} tokens and {options.tokens} more do not fit in a cache of {model.max_length}: "
            f"ask for fewer --tokens, or for a longer cache, --max-length {len(prompt) + options.tokens}"
        )
    return tokenizer, prompt


def _prefill(
    model: LanguageModel, device: Device, options: CompileOptions, length: int
) -> tuple[CompiledText | None, str]:
    """The program that takes a prompt of any length at once, and why there is none."""
    if length == 1:
        return None, ""
    try:
        return compile_text(model, "prefill", device, options), ""
    except (FrontendError, PassError) as error:
        return None, f"there is no program that takes any number of tokens ({error})"


def _weights(model: LanguageModel, options: argparse.Namespace, told: Console) -> Mapping[str, torch.Tensor]:
    """The parameters by the names that programs have for them. Raises `CaptureError`."""
    if options.random_weights is not None:
        with random_state(options.random_weights):
            return dict(model.make_module().named_parameters())
    if folder_of(model.source) is None:
        raise CaptureError(
            f"{model.source} is a configuration without weights: give a folder that has some, or --random-weights"
        )
    weights = load_weights(model)
    if weights.note:
        told.print(f"uop: note: {weights.note}", soft_wrap=True)
    return {f"{PREFIX}{name}": tensor for name, tensor in weights.tensors.items()}


def _print_tokens(
    tokens: Iterator[int], tokenizer: Tokenizer | None, prompt: Sequence[int], count: int, told: Console
) -> None:
    """Print tokens while they come: their text, or their numbers; where that goes to a file, with a bar of progress."""
    stream = None if tokenizer is None else Stream(tokenizer, prompt)
    columns = (SpinnerColumn(), TextColumn("tokens"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    shows_bar = told.is_terminal and not sys.stdout.isatty()
    with Progress(*columns, console=told, disable=not shows_bar, transient=True) as progress:
        task = progress.add_task("tokens", total=count)
        for number, token in enumerate(tokens):
            text = f"{',' if number else ''}{token}" if stream is None else stream.add(token)
            sys.stdout.write(text)
            sys.stdout.flush()
            progress.advance(task)
    sys.stdout.write("\n")
    sys.stdout.flush()


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Generator[None]:
    start = time.perf_counter()
    yield
    seconds[name] = seconds.get(name, 0.0) + time.perf_counter() - start


def _table(model: LanguageModel, seconds: Mapping[str, float], times: Times, from_cache: bool) -> Table:
    """Where the time went."""
    table = Table()
    for name in ("part", "seconds", "what"):
        table.add_column(name, justify="right" if name == "seconds" else "left")
    parameters = sum(parameter.numel() for parameter in model.module.parameters())
    size = parameters * model.dtype.itemsize
    compiled = "from the cache" if from_cache else "export, passes, compiler"
    each = f", {1000 * times.decode / times.steps:.2f} ms each" if times.steps else ""
    table.add_row("compile", f"{seconds['compile']:.2f}", compiled)
    table.add_row("weights", f"{seconds['weights']:.2f}", f"{parameters:,} in {size:,} bytes")
    table.add_row("prefill", f"{times.prefill:.3f}", f"{times.prompt} tokens")
    table.add_row("decode", f"{times.decode:.3f}", f"{times.steps} steps{each}")
    return table
