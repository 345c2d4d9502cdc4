"""Questions to z3."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import z3

EFFORT = 2_000_000
"""Steps of the solver for one question, of which it makes some 3 million a second. Unlike a time, they are the same on
every machine."""


@dataclass
class Answer:
    """Whether there is a solution, and one; None where the solver does not know in time."""

    solvable: bool | None
    model: Any = None


def solve(constraints: Sequence[Any], effort: int = EFFORT, seed: int = 0) -> Answer:
    """Whether there are numbers that satisfy all constraints."""
    solver = z3.Solver()
    solver.set("rlimit", effort)
    solver.set("random_seed", seed)
    solver.add(*constraints)
    verdict = solver.check()
    if verdict == z3.unknown:
        return Answer(None)
    return Answer(True, solver.model()) if verdict == z3.sat else Answer(False)
