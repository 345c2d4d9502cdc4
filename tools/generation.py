"""Generating text: tokens one after another, each chosen from the logits that a program gives after the last."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import torch

from ..frontends.errors import CaptureError
from ..frontends.language_models.configuration import folder_of
from ..frontends.language_models.language_model import LanguageModel
from .text_programs import TextProgram


@dataclass(frozen=True)
class Choice:
    """How the next token is chosen. temperature: 0 takes the most likely; else one is drawn, with `seed`"""

    temperature: float = 0.0
    seed: int = 0


@dataclass
class Times:
    """Seconds of each part, and what they were for."""

    prefill: float = 0.0
    decode: float = 0.0
    prompt: int = 0
    steps: int = 0
    """Of decoding, each of one token, without those of the prompt."""
    produced: list[int] = field(default_factory=list[int])

    @property
    def tokens_per_second(self) -> float:
        return self.steps / self.decode if self.decode else 0.0


def generate(
    prompt: Sequence[int],
    count: int,
    *,
    decode: TextProgram,
    prefill: TextProgram | None,
    choice: Choice,
    ends: frozenset[int],
    times: Times,
) -> Iterator[int]:
    """Up to `count` tokens after the prompt, as they are made; the last may be one of `ends`.

    prefill: takes the prompt at once; None: it takes as many decode steps as it has tokens. times: filled in
    """
    random = torch.Generator().manual_seed(choice.seed)
    times.prompt = len(prompt)
    start = time.perf_counter()
    if prefill is not None and len(prompt) > 1:
        logits = prefill(prompt, 0)
    else:
        for position, token in enumerate(prompt):
            logits = decode([token], position)
    token = _choose(logits, choice, random)  # pyright: ignore[reportPossiblyUnboundVariable]  # a prompt is not empty
    times.prefill = time.perf_counter() - start
    for position in range(len(prompt), len(prompt) + count):
        times.produced.append(token)
        yield token
        if token in ends or len(times.produced) == count:
            return
        start = time.perf_counter()
        token = _choose(decode([token], position), choice, random)
        times.decode += time.perf_counter() - start
        times.steps += 1


def _choose(logits: torch.Tensor, choice: Choice, random: torch.Generator) -> int:
    """A token by its logits, f32[vocabulary]."""
    if choice.temperature == 0:
        return int(logits.argmax())
    probabilities = torch.softmax(logits.double() / choice.temperature, -1)
    return int(torch.multinomial(probabilities, 1, generator=random))


def end_tokens(model: LanguageModel) -> frozenset[int]:
    """The tokens that end a text, as generation_config.json says, else config.json. Raises `CaptureError`."""
    folder = folder_of(model.source)
    path = None if folder is None else folder / "generation_config.json"
    found: Any = None
    if path is not None and path.exists():
        try:
            found = json.loads(path.read_text()).get("eos_token_id")
        except (OSError, ValueError, AttributeError) as error:
            raise CaptureError(f"{path} cannot be read: {error}") from None
    if found is None:
        found = getattr(model.config, "eos_token_id", None)
    ends = [] if found is None else cast("list[Any]", found) if isinstance(found, list) else [found]
    if not all(isinstance(token, int) for token in ends):
        raise CaptureError(f"the tokens that end a text should be numbers, not {found!r} (eos_token_id)")
    return frozenset(ends)


class Tokenizer:
    """A folder's tokenizer.json."""

    def __init__(self, folder: Path) -> None:
        """Raises `CaptureError` where there is none, or none that can be read."""
        path = folder / "tokenizer.json"
        if not path.exists():
            raise CaptureError(f"there is no {path}: give the prompt as numbers, --prompt-ids 1,2,3")
        import tokenizers

        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # it raises nothing more special
            raise CaptureError(f"{path} is no tokenizer: {error}") from None

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text).ids)

    def decode(self, tokens: Sequence[int]) -> str:
        return self._tokenizer.decode(list(tokens))


class Stream:
    """The text of tokens as they come: characters that need more than one token wait for the last of them."""

    def __init__(self, tokenizer: Tokenizer, prompt: Sequence[int]) -> None:
        self._tokenizer = tokenizer
        self._tokens = list(prompt)
        self._shown = len(tokenizer.decode(prompt))

    def add(self, token: int) -> str:
        """What the token adds to the text."""
        self._tokens.append(token)
        text = self._tokenizer.decode(self._tokens)
        if text.endswith("\N{REPLACEMENT CHARACTER}"):
            return ""
        new, self._shown = text[self._shown :], len(text)
        return new
