"""What the front end says when it cannot take a program: every problem at once, each with its source line."""

from collections.abc import Sequence
from dataclasses import dataclass


class FrontendError(Exception):
    """A program that the front end cannot take; its text is complete and meant for the user."""


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
