"""Parsing of IR text with a position for each operation and one clean diagnostic for whatever is wrong."""

import re
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.utils.exceptions import (
    DiagnosticException,
    MultipleSpansParseError,
    ParseError,
    UnregisteredConstructException,
)
from xdsl.utils.lexer import Span

from .diagnostics import Diagnostic, DiagnosticError, Positions, Source, at_position

# A line that is exactly this separates the pieces of an input, as in mlir-opt.
SPLIT_MARKER = "// -----"
_SPLIT_LINE = r"(?m)^// -----[ \t\r]*(?:\n|\Z)"
_BLANK = r"(?:\s|//[^\n]*)*"


class PositionParser(Parser):
    """xDSL's parser, recording where each operation starts."""

    positions: dict[Operation, int]

    def __init__(self, context: Context, source: Source) -> None:
        super().__init__(context, source.text, source.name)
        self.positions = {}

    def parse_operation(self) -> Operation:
        start = self.pos
        op = super().parse_operation()
        self.positions[op] = start
        return op

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            return super().parse_module(allow_implicit_module)
        except ParseError as error:
            # xDSL reports an undefined value at the end of the file: name the place of its first use.
            if not error.msg.startswith("values used but not defined"):
                raise
            start, name = min(self._undefined_uses())
            raise ParseError(
                Span(start, start + len(name), self.lexer.input), f"value {name} is used but not defined"
            ) from None

    def _undefined_uses(self) -> Sequence[tuple[int, str]]:
        text = self.lexer.input.content
        uses: list[tuple[int, str]] = []
        for name, references in self.forward_ssa_references.items():
            operand = re.compile(rf"%{re.escape(name)}(?![\w$.-])")
            for value in references.values():
                for use in value.uses:
                    start = self.positions.get(use.operation, 0)
                    found = operand.search(text, start)
                    uses.append((start if found is None else found.start(), f"%{name}"))
        return uses or [(self.pos, "")]


def split_source(source: Source) -> list[Source]:
    """The pieces of `source` between split markers, each of which knows its first line."""
    pieces: list[Source] = []
    start = 0
    for marker in re.finditer(_SPLIT_LINE, source.text):
        pieces.append(_piece(source, start, marker.start()))
        start = marker.end()
    pieces.append(_piece(source, start, len(source.text)))
    return pieces


def is_blank(source: Source) -> bool:
    """Whether there is nothing but white space and comments."""
    return re.fullmatch(_BLANK, source.text) is not None


def parse_source(context: Context, source: Source, allow_implicit_module: bool = True) -> tuple[ModuleOp, Positions]:
    """Parse a module. Raises `DiagnosticError` for anything that goes wrong."""
    parser: PositionParser | None = None
    try:
        parser = PositionParser(context, source)
        return parser.parse_module(allow_implicit_module), Positions(source, parser.positions)
    except MultipleSpansParseError as error:
        notes = [
            at_position(source, span.start, "note", message or error.ref_text or "see here")
            for span, message in error.refs
        ]
        raise DiagnosticError(_parse_diagnostic(source, error, notes)) from error
    except ParseError as error:
        raise DiagnosticError(_parse_diagnostic(source, error)) from error
    except RecursionError as error:
        message = "the input is nested too deeply"
        raise DiagnosticError(_here(source, parser, message)) from error
    except (DiagnosticException, UnregisteredConstructException) as error:
        # The verifier of an attribute or a type, which knows no position: it was just parsed.
        raise DiagnosticError(_here(source, parser, str(error))) from error
    except Exception as error:
        message = f"the parser failed with {type(error).__name__}: {error}"
        raise DiagnosticError(_here(source, parser, message)) from error


def _parse_diagnostic(source: Source, error: ParseError, notes: Sequence[Diagnostic] = ()) -> Diagnostic:
    position = min(error.span.start, len(source.text))
    # xDSL reports a name that it does not know at the token that follows, which may be lines away.
    if (unknown := re.search(r"([^\s'!#]+)'? is not registered$", error.msg)) is not None:
        found = source.text.rfind(unknown[1], 0, position)
        position = position if found < 0 else found
    return at_position(source, position, "error", error.msg.strip()).replaced(notes=tuple(notes))


def _here(source: Source, parser: PositionParser | None, message: str) -> Diagnostic:
    return at_position(source, 0 if parser is None else parser.pos, "error", message)


def _piece(source: Source, start: int, end: int) -> Source:
    return Source(source.name, source.text[start:end], source.first_line + source.text.count("\n", 0, start))
