"""Diagnostics as text: `file:line:column: error: message`, the line, a caret, and notes."""

import re
import traceback
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Operation

Severity = Literal["error", "warning", "remark", "note"]

# An operation's text is shown up to this many characters.
_SHOWN_OPERATION = 160
_RESULTS = r"(?:%[^\s=:,]+(?:\s*:\s*\d+)?\s*,?\s*)+=\s*"


class Source(NamedTuple):
    """A piece of text to parse: `text` starts at line `first_line` of the file `name`."""

    name: str
    text: str
    first_line: int = 1

    def locate(self, position: int) -> tuple[int, int, str]:
        """The line, the column (both from 1) and the text of that line, of an offset into `text`."""
        start = self.text.rfind("\n", 0, position) + 1
        end = self.text.find("\n", position)
        line = self.first_line + self.text.count("\n", 0, start)
        return line, position - start + 1, self.text[start : end if end >= 0 else len(self.text)].rstrip("\r")

    def line_text(self, line: int) -> str:
        return self.text.split("\n")[line - self.first_line].rstrip("\r")


class Diagnostic(NamedTuple):
    """Something to tell the user.

    line, column: from 1; None when no place is known
    help:         what to do about it
    notes:        diagnostics of severity `note` that belong to this one
    details:      whole lines printed below: the operation, its location in the user's program
    """

    severity: Severity
    message: str
    file: str
    line: int | None = None
    column: int | None = None
    source_line: str | None = None
    help: str | None = None
    notes: tuple["Diagnostic", ...] = ()
    details: tuple[str, ...] = ()

    def __str__(self) -> str:
        place = self.file
        if self.line is not None:
            place += f":{self.line}:{self.column}" if self.column is not None else f":{self.line}"
        lines = [f"{place}: {self.severity}: {self.message}"]
        if self.source_line is not None and self.column is not None:
            indent = re.sub(r"[^\t]", " ", self.source_line[: self.column - 1])
            lines += [self.source_line, f"{indent}^"]
        lines += [*map(str, self.notes), *self.details]
        if self.help is not None:
            lines.append(f"help: {self.help}")
        return _printable("\n".join(lines))

    @property
    def full_message(self) -> str:
        """The message with the help in brackets, as the text of a `PassError`."""
        return self.message if self.help is None else f"{self.message} ({self.help})"

    def replaced(self, **changes: Any) -> "Diagnostic":
        """A copy with these fields changed."""
        return self._replace(**changes)


class DiagnosticError(Exception):
    """Carries a diagnostic to whoever prints it."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def at_position(source: Source, position: int, severity: Severity, message: str) -> Diagnostic:
    """A diagnostic at an offset into `source`."""
    line, column, text = source.locate(position)
    return Diagnostic(severity, message, source.name, line, column, text)


class Positions(NamedTuple):
    """Where in `source` each parsed operation starts.

    xDSL's parser does not record it, and an operation's `location` is the user's (it is printed, fused and
    carried to the CUDA text), so it is kept beside the IR. Operations that passes made are not in the table.
    """

    source: Source
    of: dict[Operation, int]

    def find(self, op: Operation) -> int | None:
        """The position of `op`'s name, or of the nearest operation around it that was parsed."""
        ancestor: Operation | None = op
        while ancestor is not None:
            if (position := self.of.get(ancestor)) is not None:
                results = re.compile(_RESULTS).match(self.source.text, position)
                return position if results is None else results.end()
            ancestor = ancestor.parent_op()
        return None

    def report(self, severity: Severity, message: str, op: Operation | None) -> Diagnostic:
        """A diagnostic about `op`, at its place as far as it is known."""
        position = None if op is None else self.find(op)
        if position is None:
            return Diagnostic(severity, message, self.source.name)
        return at_position(self.source, position, severity, message)


def from_exception(error: Exception, positions: Positions, details: Sequence[str] = ()) -> Diagnostic:
    """The diagnostic for what a verifier or a pass raised.

    Uses the attributes `op`, `message`, `help` and `related` (pairs of an operation and a message) where the
    exception has them: `PassError`, `InvalidOperation` and `DominanceError` do, xDSL's do not; and what was added to it
    with `add_note`.
    """
    op: Operation | None = getattr(error, "op", None)
    related: Sequence[tuple[Operation, str]] = getattr(error, "related", ())
    message = str(getattr(error, "message", error)) or type(error).__name__
    return positions.report("error", message, op).replaced(
        help=getattr(error, "help", None),
        notes=tuple(positions.report("note", note, other) for other, note in related),
        details=(*details, *([] if op is None else describe(op)), *getattr(error, "__notes__", ())),
    )


def crash(what: str, source: Source, error: Exception, details: Sequence[str] = ()) -> Diagnostic:
    """The diagnostic for an exception that nobody meant to raise, where `what` failed."""
    message = f"{what} crashed with {type(error).__name__}: {error}".rstrip(": ")
    frames = traceback.extract_tb(error.__traceback__)
    where = f"note: raised in {frames[-1].name}, {frames[-1].filename}:{frames[-1].lineno}"
    return Diagnostic("error", message, source.name, details=(where, *details))


def describe(op: Operation) -> list[str]:
    """Notes that show an operation and the places in the user's program that it comes from."""
    return [
        f"note: see operation: {one_line(op)}",
        *(f"note: from {place}" for place in source_places(op.location)),
    ]


def one_line(op: Operation) -> str:
    """The operation's text up to its first region, shortened."""
    try:
        text = str(op).split("\n", 1)[0]
    except Exception:  # invalid IR may not print
        return f"'{op.name}'"
    return text if len(text) <= _SHOWN_OPERATION else f"{text[:_SHOWN_OPERATION]}…"


def _printable(text: str) -> str:
    """`text` with control characters, which may come from binary input, shown as escapes."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in "\t\n" else f"\\x{ord(character):02x}"
        for character in text
    )


def source_places(location: Attribute) -> list[str]:
    """The places `file:line` in the user's program that a location names, each once, in order."""
    places: list[str] = []

    def visit(location: Attribute) -> None:
        match location:
            case FileLineColLoc():
                place = f"{location.filename.data}:{location.line.data}"
                if place not in places:
                    places.append(place)
            case FusedLoc():
                for part in location.locations:  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]  # an ArrayAttr, declared as Attribute
                    visit(part)  # pyright: ignore[reportUnknownArgumentType]
            case NameLoc():
                visit(location.location)
            case CallSiteLoc():
                visit(location.callee)
                visit(location.caller)
            case _:
                pass

    visit(location)
    return places
