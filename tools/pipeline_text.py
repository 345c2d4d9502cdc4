"""The text of a pass pipeline: syntax tree, parser and printer.

    pipeline ::= element (`,` element)*
    element  ::= anchor `(` pipeline? `)` | pass-name (`{` option* `}`)?
    option   ::= key (`=` (value (`,` value)* | `[` values? `]` | `{` values? `}`))?
    value    ::= "double quoted, with escapes" | 'single quoted, as it is' | bare text

White space, newlines included, may stand between any two tokens; options are separated by it. Names are
resolved later (`pipeline.py`): this file knows no pass.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
BARE_VALUE = re.compile(r"[^\s{}()\[\]=,\"']+")
_SPACE = re.compile(r"\s*")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", '"': '"', "\\": "\\"}
_ESCAPED = {character: f"\\{escape}" for escape, character in _ESCAPES.items()}


@dataclass
class PipelineError(Exception):
    """A pipeline that cannot be read or resolved; `position` is an offset into `text`."""

    message: str
    text: str
    position: int

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Value:
    """One value of an option. Quoted text is a string; bare text may be a number, a keyword or a string."""

    text: str
    quoted: bool = False

    def __str__(self) -> str:
        if self.quoted:
            return '"' + "".join(_ESCAPED.get(character, character) for character in self.text) + '"'
        return self.text


@dataclass(frozen=True)
class Option:
    """`name=values`; no value means a flag that is set, or an empty list."""

    name: str
    values: tuple[Value, ...] = ()
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.name}={','.join(map(str, self.values))}" if self.values else self.name


@dataclass(frozen=True)
class PassSpec:
    """A pass, or a named pipeline, with its options."""

    name: str
    options: tuple[Option, ...] = ()
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.name}{{{' '.join(map(str, self.options))}}}" if self.options else self.name


@dataclass(frozen=True)
class Nest:
    """A pipeline for each operation called `anchor` directly inside what the outer one runs on."""

    anchor: str
    elements: tuple["Element", ...] = ()
    position: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return f"{self.anchor}({print_pipeline(self.elements)})"


Element = PassSpec | Nest


def print_pipeline(elements: Sequence[Element]) -> str:
    """The text of a pipeline; parsing it gives the same elements back."""
    return ",".join(map(str, elements))


def parse_pipeline(text: str) -> tuple[Element, ...]:
    """Parse a whole pipeline; empty text is the empty pipeline. Raises `PipelineError`."""
    parser = _Parser(text)
    elements = parser.elements(until="")
    parser.end()
    return elements


def parse_options(text: str) -> tuple[Option, ...]:
    """Parse what stands between the braces of a pass: `arch=sm_90 fast`. Raises `PipelineError`."""
    parser = _Parser(text)
    options = parser.options(until="")
    parser.end()
    return options


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def error(self, message: str, position: int | None = None) -> PipelineError:
        return PipelineError(message, self.text, self.position if position is None else position)

    def peek(self) -> str:
        """The next character that is not white space; '' at the end."""
        space = _SPACE.match(self.text, self.position)
        assert space is not None, "matches the empty text"
        self.position = space.end()
        return self.text[self.position : self.position + 1]

    def take(self, punctuation: str) -> bool:
        if self.peek() != punctuation:
            return False
        self.position += 1
        return True

    def take_pattern(self, pattern: re.Pattern[str]) -> str | None:
        self.peek()
        if (match := pattern.match(self.text, self.position)) is None:
            return None
        self.position = match.end()
        return match.group()

    def close(self, opener: str, closer: str, opened_at: int) -> None:
        if self.take(closer):
            return
        if self.peek() == "":
            raise self.error(f"'{opener}' is never closed", opened_at)
        raise self.error(f"expected ',' or '{closer}', found {self.found()}")

    def end(self) -> None:
        if self.peek() != "":
            raise self.error(f"expected ',' or the end of the pipeline, found {self.found()}")

    def found(self) -> str:
        character = self.peek()
        return f"'{character}'" if character else "the end"

    def elements(self, until: str) -> tuple[Element, ...]:
        elements: list[Element] = []
        if self.peek() != until:
            elements.append(self.element())
            while self.take(","):
                elements.append(self.element())
        return tuple(elements)

    def element(self) -> Element:
        self.peek()
        start = self.position
        if (name := self.take_pattern(NAME)) is None:
            raise self.error(f"expected the name of a pass, found {self.found()}")
        next_at = self.position
        if self.take("("):
            opened_at = self.position - 1
            elements = self.elements(until=")")
            self.close("(", ")", opened_at)
            return Nest(name, elements, start)
        if self.take("{"):
            opened_at = self.position - 1
            options = self.options(until="}")
            if not self.take("}"):
                raise self.error("'{' is never closed", opened_at)
            return PassSpec(name, options, start)
        self.position = next_at
        return PassSpec(name, (), start)

    def options(self, until: str) -> tuple[Option, ...]:
        options: list[Option] = []
        while self.peek() not in ("", until):
            start = self.position
            if (name := self.take_pattern(NAME)) is None:
                raise self.error(f"expected the name of an option, found {self.found()}")
            options.append(Option(name, self.values() if self.take("=") else (), start))
        return tuple(options)

    def values(self) -> tuple[Value, ...]:
        opened_at = self.position
        for opener, closer in ("[]", "{}"):
            if self.take(opener):
                values = () if self.peek() == closer else self.value_list()
                self.close(opener, closer, opened_at)
                return values
        return self.value_list()

    def value_list(self) -> tuple[Value, ...]:
        values = [self.value()]
        while self.take(","):
            values.append(self.value())
        return tuple(values)

    def value(self) -> Value:
        match self.peek():
            case '"':
                return Value(self.double_quoted(), quoted=True)
            case "'":
                return Value(self.single_quoted(), quoted=True)
            case _:
                if (text := self.take_pattern(BARE_VALUE)) is None:
                    raise self.error(f"expected the value of an option, found {self.found()}")
                return Value(text)

    def single_quoted(self) -> str:
        start = self.position + 1
        if (end := self.text.find("'", start)) < 0:
            raise self.error("quoted text is never closed")
        self.position = end + 1
        return self.text[start:end]

    def double_quoted(self) -> str:
        opened_at = self.position
        characters: list[str] = []
        position = opened_at + 1
        while position < len(self.text):
            character = self.text[position]
            position += 1
            if character == '"':
                self.position = position
                return "".join(characters)
            if character == "\\":
                escape = self.text[position : position + 1]
                if escape not in _ESCAPES:
                    raise self.error(f"unknown escape '\\{escape}' in quoted text", position - 1)
                character = _ESCAPES[escape]
                position += 1
            characters.append(character)
        raise self.error("quoted text is never closed", opened_at)
