"""`--verify-diagnostics`: diagnostics against what comments of the input expect, as in MLIR.

    // expected-error@+1 {{part of the message}}      kinds: error, warning, remark, note
    // expected-error-re@below {{with {{[a-z]+}} in it}}
    // places: @+N, @-N, @above, @below (the nearest line without such a comment), @unknown; none: this line

Every expectation must be met, and every error, warning and remark expected; notes may go unmentioned.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from .diagnostics import Diagnostic, Source

_START = re.compile(r"//\s*expected-(?:error|warning|remark|note)")
_EXPECTATION = re.compile(
    r"expected-(?P<severity>error|warning|remark|note)(?P<regex>-re)? *"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))? *\{\{(?P<text>.*)\}\}\s*$"
)
_PLACEHOLDER = re.compile(r"\{\{(.*?)\}\}")


@dataclass(frozen=True)
class Expectation:
    """A comment; `line` is the line of the diagnostic it expects, None where no place is known."""

    severity: str
    pattern: re.Pattern[str]
    text: str
    line: int | None
    comment_line: int
    column: int

    def is_met_by(self, diagnostic: Diagnostic) -> bool:
        return (
            diagnostic.severity == self.severity
            and diagnostic.line == self.line
            and self.pattern.search(diagnostic.full_message) is not None
        )


def check_diagnostics(source: Source, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
    """What is wrong between the comments of `source` and the `diagnostics` that processing it gave."""
    expectations, problems = read_expectations(source)
    produced = [*diagnostics, *(note for diagnostic in diagnostics for note in diagnostic.notes)]
    for expectation in expectations:
        met = next((diagnostic for diagnostic in produced if expectation.is_met_by(diagnostic)), None)
        if met is not None:
            produced.remove(met)
            continue
        message = f'expected {expectation.severity} "{expectation.text}" was not produced'
        problems.append(_at(source, expectation.comment_line, expectation.column, message))
    for diagnostic in produced:
        if diagnostic.severity != "note":
            message = f"unexpected {diagnostic.severity}: {diagnostic.full_message}"
            problems.append(diagnostic.replaced(severity="error", message=message, help=None, notes=()))
    return problems


def read_expectations(source: Source) -> tuple[list[Expectation], list[Diagnostic]]:
    """The expectations in `source`, and an error for each comment that looks like one but cannot be read."""
    lines = source.text.split("\n")
    marked = [_START.search(line) is not None for line in lines]
    expectations: list[Expectation] = []
    problems: list[Diagnostic] = []
    for index, line in enumerate(lines):
        if not marked[index]:
            continue
        number = source.first_line + index
        column = line.index("expected-") + 1
        match = _EXPECTATION.search(line)
        if match is None:
            message = "malformed expectation: write `// expected-error@+1 {{text}}`, alone at the end of the line"
            problems.append(_at(source, number, column, message))
            continue
        text = match["text"]
        try:
            pattern = re.compile(_regex(text) if match["regex"] else re.escape(text))
        except re.error as error:
            problems.append(_at(source, number, column, f"malformed regular expression: {error}"))
            continue
        place = _place(match["place"], index, marked)
        expected_line = None if place is None else source.first_line + place
        expectations.append(Expectation(match["severity"], pattern, text, expected_line, number, column))
    return expectations, problems


def _place(place: str | None, index: int, marked: Sequence[bool]) -> int | None:
    """The index of the line that `place`, on line `index`, means."""
    match place:
        case None:
            return index
        case "unknown":
            return None
        case "above" | "below":
            step = -1 if place == "above" else 1
            index += step
            while 0 <= index < len(marked) and marked[index]:
                index += step
            return index
        case _:
            return index + int(place)


def _regex(text: str) -> str:
    """Literal text with regular expressions in double braces."""
    pieces = _PLACEHOLDER.split(text)
    return "".join(piece if odd % 2 else re.escape(piece) for odd, piece in enumerate(pieces))


def _at(source: Source, line: int, column: int, message: str) -> Diagnostic:
    return Diagnostic("error", message, source.name, line, column, source.line_text(line))
