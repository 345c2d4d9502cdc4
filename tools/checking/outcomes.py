"""What comes of checking a program at a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Generic, Protocol, TypeVar, cast, runtime_checkable


class Verdict(StrEnum):
    """What comes of a check, from best to worst."""

    RIGHT = "right"
    UNSPECIFIED = "unspecified"
    """PyTorch does not say what the result is: random numbers, memory that nobody wrote."""
    NOT_EXPORTED = "not exported"
    """`torch.export` cannot take the program."""
    REFUSED = "refused"
    """uop says by name what it does not support."""
    TOO_SLOW = "too slow"
    """More work than the level is given, or it ran past the time limit."""
    WRONG = "wrong"
    CRASH = "crash"
    """A failure that nobody meant, of the compiler, of an interpreter or of the whole process."""

    @property
    def is_failure(self) -> bool:
        return self in (Verdict.WRONG, Verdict.CRASH)


@dataclass(frozen=True)
class Outcome:
    """What came of one case at one level.

    reasons: each in a line that does not depend on the case, so that cases with the same one can be counted together
    detail: the whole message
    """

    case: str
    level: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()
    detail: str = ""
    seconds: float = 0.0


CaseT = TypeVar("CaseT")


@dataclass(frozen=True)
class Batch(Generic[CaseT]):
    """Cases that are checked together, at least one."""

    cases: tuple[CaseT, ...]

    def __str__(self) -> str:
        return f"{self.cases[0]} to {self.cases[-1]}"


def cases_of(case: CaseT | Batch[CaseT]) -> Sequence[CaseT]:
    """Those of a batch, or the one case."""
    return cast("Batch[CaseT]", case).cases if isinstance(case, Batch) else (case,)


class Suite(Protocol[CaseT]):
    """Programs to check. A suite and its cases go to worker processes: they can be pickled."""

    @property
    def title(self) -> str: ...

    @property
    def levels(self) -> Sequence[str]:
        """At each of these a case has one outcome."""
        ...

    def cases(self) -> Sequence[CaseT]:
        """The cases, each of whose text is its name."""
        ...

    def check(self, case: CaseT) -> Iterator[Outcome]:
        """Check one case; its outcomes in the order of `levels`. What it raises counts as a crash."""
        ...


@runtime_checkable
class BatchedSuite(Suite[Any], Protocol):
    """A `Suite` whose `check` takes a `Batch`, too, and gives an outcome for each of its cases and levels."""

    def batches(self, size: int) -> Sequence[Batch[Any]]:
        """All cases, at most so many of a kind together."""
        ...
