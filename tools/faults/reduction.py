"""Makes a program smaller as long as it stays interesting: delta debugging over its ops, values, sizes and types."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeVar

from xdsl.dialects.builtin import ModuleOp

from ..verifier import verify_ir
from . import shrinking

T = TypeVar("T")

Interesting = Callable[[ModuleOp], bool]
"""Whether a program still shows what is looked for."""


@dataclass(frozen=True)
class Limits:
    """When to stop: after so many tries, or seconds."""

    tries: int
    seconds: float


class OutOfTries(Exception):
    """A limit is reached."""


class Reducer:
    """The smallest interesting program so far, and how to try smaller ones. The same input gives the same result."""

    def __init__(
        self,
        module: ModuleOp,
        interesting: Interesting,
        *,
        limits: Limits,
        text: Callable[[ModuleOp], str],
        parse: Callable[[str], ModuleOp | None],
        on_try: Callable[[Reducer], None],
    ) -> None:
        """text, parse: the program as text and back, None where it does not parse. on_try: told before each try"""
        self.best = module
        self.tries = 0
        self.stopped = False
        """Whether a limit was reached."""
        self._interesting = interesting
        self._limits = limits
        self._deadline = time.monotonic() + limits.seconds
        self._text = text
        self._parse = parse
        self._on_try = on_try
        self._tried = {text(module)}

    def reduce(self) -> ModuleOp:
        """Try until nothing makes the program smaller, a limit is reached, or the user interrupts."""
        try:
            before = ""
            while (now := self._text(self.best)) != before:
                before = now
                for step in (self._shrink_symbols, self._shrink_results, self._shrink_statements, self._shrink_values):
                    step()
                    self._accept(shrinking.without_dead(self.best))
                    self._shrink(shrinking.arguments_of, shrinking.without_arguments)
        except (OutOfTries, KeyboardInterrupt):
            self.stopped = True
        return self.best

    def _accept(self, candidate: ModuleOp | None) -> bool:
        """Take a candidate that is valid, new and interesting. Raises `OutOfTries`."""
        if candidate is None:
            return False
        try:
            verify_ir(candidate)
        except Exception:
            return False
        text = self._text(candidate)
        if text in self._tried:
            return False
        self._tried.add(text)
        if self.tries >= self._limits.tries or time.monotonic() > self._deadline:
            raise OutOfTries
        self.tries += 1
        self._on_try(self)
        if not self._interesting(candidate):
            return False
        self.best = candidate
        return True

    def _shrink(
        self,
        parts: Callable[[ModuleOp], Sequence[T]],
        without: Callable[[ModuleOp, Collection[T]], ModuleOp | None],
    ) -> None:
        """Leave out parts: all, then halves, quarters, …, single ones, from the last to the first."""
        size = len(parts(self.best))
        while size > 0:
            end = len(parts(self.best))
            while end > 0:
                left = parts(self.best)
                end = min(end, len(left))
                chosen = left[max(0, end - size) : end]
                self._accept(without(self.best, chosen))
                end -= size
            size //= 2

    def _shrink_symbols(self) -> None:
        self._shrink(shrinking.symbols, shrinking.without_symbols)

    def _shrink_results(self) -> None:
        self._shrink(shrinking.results_of, shrinking.without_results)

    def _shrink_statements(self) -> None:
        def cut(module: ModuleOp, chosen: Collection[int]) -> ModuleOp | None:
            candidate = shrinking.without_statements(module, chosen, cut=True)
            return None if candidate is None else shrinking.without_dead(candidate)

        def without(module: ModuleOp, chosen: Collection[int]) -> ModuleOp | None:
            candidate = shrinking.without_statements(module, chosen)
            return None if candidate is None else shrinking.without_dead(candidate)

        self._shrink(shrinking.statements, without)
        self._shrink(shrinking.statements, cut)
        # What is of interest may itself be unused.
        self._shrink(shrinking.statements, shrinking.without_statements)

    def _shrink_values(self) -> None:
        """Smaller sizes, simpler element types and constants."""
        while any(
            self._accept(self._parse(shrinking.with_extents(self._text(self.best), extents)))
            for extents in shrinking.smaller_extents(shrinking.extents_of(self.best))
        ):
            pass
        for old, new in shrinking.SIMPLER_TYPES:
            self._accept(self._parse(shrinking.with_type(self._text(self.best), old, new)))
        while any(
            self._accept(shrinking.with_constant(self.best, place, number))
            for place, number in shrinking.constants_of(self.best)
        ):
            pass
