"""Schedules from the command line: `k = 4 loop * 16 loop` and `@forward_1: i = 8 block * 256 thread`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from ...dialects.schedule import (
    Alignment,
    BlockGroup,
    Factor,
    Schedule,
    ScheduleAttr,
    Slots,
    Staging,
    parse_entries,
    schedule_text,
)

_KERNEL = re.compile(r"\s*@([A-Za-z0-9_$.-]+)\s*:")


@dataclass(frozen=True)
class Pin:
    """What a user decides of a schedule.

    kernel: the one that it is for; None for every kernel.
    axes: factors of the axes that it binds, in the order in which their threads are numbered.
    stage, min_blocks, group, align, slots: what else it decides; None where that is left to the policy.
    """

    kernel: str | None
    axes: Mapping[str, tuple[Factor, ...]]
    stage: tuple[Staging, ...] | None = None
    min_blocks: int | None = None
    group: BlockGroup | None = None
    align: Alignment | None = None
    slots: Slots | None = None

    def __str__(self) -> str:
        return schedule_text(self.axes.items(), self.stage, self.min_blocks, self.group, self.align, self.slots)

    def over(self, chosen: Schedule) -> Schedule:
        """The chosen schedule with what is pinned in the place of what was chosen.

        Pinned axes stand where these axes stood, in the order of the pin; those that were not chosen come last.
        """
        pinned = iter(self.axes.items())
        axes = [next(pinned) if axis in self.axes else (axis, factors) for axis, factors in chosen.axes]
        stage = chosen.stage if self.stage is None else self.stage
        min_blocks = chosen.min_blocks if self.min_blocks is None else self.min_blocks
        group = chosen.group if self.group is None else self.group
        align = chosen.align if self.align is None else self.align
        slots = chosen.slots if self.slots is None else self.slots
        return Schedule((*axes, *pinned), stage, min_blocks, group, align, slots)


def parse_pins(texts: Sequence[str]) -> tuple[Pin, ...]:
    """The pins that texts spell. Raises `ValueError` where one cannot be read or two bind the same axis."""
    pins = tuple(map(parse_pin, texts))
    seen: dict[tuple[str | None, str], str] = {}
    for pin, text in zip(pins, texts, strict=True):
        others = {
            "stage": pin.stage,
            "min_blocks": pin.min_blocks,
            "group": pin.group,
            "align": pin.align,
            "slots": pin.slots,
        }
        for part in (*pin.axes, *(name for name, value in others.items() if value is not None)):
            other = seen.setdefault((pin.kernel, part), text)
            if other != text:
                raise ValueError(f"{part} is in two schedules, '{other}' and '{text}': leave one out")
    return pins


def parse_pin(text: str) -> Pin:
    """The pin that `text` spells: what stands in `#tile.schedule<…>`, behind `@kernel:` where it is for one kernel.

    Raises `ValueError` that says what is wrong, and in which column.
    """
    named = _KERNEL.match(text)
    start = 0 if named is None else named.end()
    # Blanks keep the columns.
    parser = Parser(Context(), " " * start + text[start:])
    try:
        entries = parse_entries(parser, parser.Delimiter.NONE)
        if parser._current_token.kind is not MLIRTokenKind.EOF:  # pyright: ignore[reportPrivateUsage]
            parser.raise_error("expected `*`, `,` or the end")
        ScheduleAttr(entries.schedule)
    except ParseError as error:
        column = error.span.start + 1
        found = text[error.span.start : error.span.end]
        what = f", found '{found}'" if found.strip() else ", found the end" if column > len(text.rstrip()) else ""
        message = error.msg.split(".\n")[0].rstrip(".")
        raise ValueError(f"schedule '{text}', column {column}: {message[:1].lower()}{message[1:]}{what}") from None
    except VerifyException as error:
        raise ValueError(f"schedule '{text}': {error}") from None
    kernel = None if named is None else named.group(1)
    return Pin(
        kernel, dict(entries.axes), entries.stage, entries.min_blocks, entries.group, entries.align, entries.slots
    )
