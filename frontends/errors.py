"""What the front end says when it cannot take a program: every problem at once, each with its source line."""

import linecache
from collections.abc import Sequence
from dataclasses import dataclass


class FrontendError(Exception):
    """A program that the front end cannot take; its text is complete and meant for the user."""


class UnsupportedError(Exception):
    """Something that uop has no form for, and why; who catches it knows where in the program it stands."""


@dataclass(frozen=True)
class Problem:
    """One thing in a program that uop has no form for.

    location: `model.py:7`, or "" when PyTorch does not say
    subject:  the operation or the argument, as PyTorch names it
    reason:   what about it is not supported, and what to do about it where something can be done
    """

    location: str
    subject: str
    reason: str

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location else ""
        return f"{place}{self.subject}: {self.reason}"


class UnsupportedProgramError(FrontendError):
    """The exported program holds what uop has no form for: `problems` lists all of it, in program order."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        super().__init__("\n".join(map(str, self.problems)))


class CaptureError(FrontendError):
    """The user's code could not be run, or does not give what can be exported.

    message: what and why, with what to do about it
    file, line, column: where in the user's code, counted from 1; None where there is no such place
    calls: the user's calls that led there, innermost first, as `model.py:7 in make`
    """

    def __init__(
        self,
        message: str,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        end_column: int | None = None,
        calls: Sequence[str] = (),
    ) -> None:
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (file, line, column) if part is not None)
        text = f"{place}: {message}" if place else message
        source = ""
        if file is not None and line is not None:
            linecache.checkcache(file)
            source = linecache.getline(file, line).rstrip()
        if source:
            text += f"\n    {source}"
            if column is not None:
                width = max(1, min(end_column or column + 1, len(source) + 1) - column)
                text += f"\n    {' ' * (column - 1)}{'^' * width}"
        super().__init__("\n".join([text, *(f"    called from {call}" for call in calls)]))
