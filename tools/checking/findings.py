"""What an exception says about the program that is checked."""

from __future__ import annotations

import re
import traceback
from dataclasses import dataclass

from ...frontends.errors import CaptureError, UnsupportedProgramError
from ...passes.torch.convert_torch_to_uop import CannotLower
from ...rewriting.diagnostics import PassError
from ...runtime.interpret.arrays import ExecutionError
from ...runtime.simulator import SimulationError
from .outcomes import Verdict

_UNBACKED = re.compile(r" \(u\d+\)")
"""The symbol of a size that depends on data: its number says how many such sizes there are before."""


class TooMuchWork(Exception):
    """The program goes over more elements than the level is given."""

    def __init__(self, work: float, limit: float) -> None:
        super().__init__(f"more than {limit:.0e} elements to go over")
        self.work = work


class WrongResult(Exception):
    """A result of the program is not right; the text says how."""


class Spilled(Exception):
    """Kernels need more registers than there are; the text names them."""


@dataclass(frozen=True)
class Finding:
    """A verdict, with what an `Outcome` says of it."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    detail: str = ""


def finding_of(error: Exception) -> Finding:
    """The verdict on a program that was left with `error`.

    What the front end or a pass refuses by name is refused, what only PyTorch refuses is not exported, and what
    an interpreter or the simulator finds (a read out of bounds, a race) is wrong. The rest is a crash.
    """
    match error:
        case CannotLower():
            reasons = [refusal.summary for refusal in error.refusals]
            return Finding(Verdict.REFUSED, _distinct(reasons), str(error))
        case UnsupportedProgramError():
            reasons = [f"{problem.subject}: {_UNBACKED.sub('', problem.reason)}" for problem in error.problems]
            return Finding(Verdict.REFUSED, _distinct(reasons), str(error))
        case PassError():
            return Finding(Verdict.REFUSED, (_first_line(error.message),), str(error))
        case CaptureError():
            return Finding(Verdict.NOT_EXPORTED, (_first_line(error.message),), str(error))
        case TooMuchWork():
            return Finding(Verdict.TOO_SLOW, (str(error),), f"{error.work:.1e} elements")
        case WrongResult():
            return Finding(Verdict.WRONG, (str(error),))
        case Spilled():
            return Finding(Verdict.WRONG, ("a kernel spills registers",), str(error))
        case ExecutionError() | SimulationError():
            return Finding(Verdict.WRONG, (_first_line(str(error)),), str(error))
        case _:
            kind = type(error).__name__
            details = "".join(traceback.format_exception(error))
            return Finding(Verdict.CRASH, (f"{kind}: {_first_line(str(error))}",), details)


def _distinct(reasons: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reasons))


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0]
