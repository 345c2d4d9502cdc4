"""How far measured times are from the bounds of the simulator, pipe by pipe: what rates would make them meet.

Model: a kernel takes as long as its slowest pipe, and a pipe a factor longer than at its peak rate. The factors and
which pipe is each kernel's slowest are found in turns: least squares over the kernels of a pipe, then each kernel goes
to the pipe that is slowest by the new factors, until none moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

MOST_ROUNDS = 50


@dataclass(frozen=True)
class Sample:
    """A kernel. pipes: microseconds that each pipe takes at its peak rate. measured: without what a launch takes"""

    name: str
    pipes: Mapping[str, float]
    measured: float


@dataclass(frozen=True)
class Factor:
    """How much longer a pipe takes than at its peak rate. kernels: that it is the slowest pipe of

    error: root of the mean square of (model - measured) / measured, over those
    """

    factor: float
    kernels: tuple[str, ...]
    error: float


def fit(samples: Sequence[Sample]) -> dict[str, Factor]:
    """The factor of each pipe that is the slowest of a kernel; nothing is known of the others."""
    factors = {pipe: 1.0 for sample in samples for pipe in sample.pipes}
    slowest: dict[str, str] = {}
    for _ in range(MOST_ROUNDS):
        before = slowest
        slowest = {sample.name: _slowest(sample, factors) for sample in samples}
        if slowest == before:
            break
        for pipe in set(slowest.values()):
            of_pipe = [sample for sample in samples if slowest[sample.name] == pipe]
            square = sum(sample.pipes[pipe] ** 2 for sample in of_pipe)
            factors[pipe] = sum(sample.pipes[pipe] * sample.measured for sample in of_pipe) / square if square else 1.0
    found: dict[str, Factor] = {}
    for pipe in factors:
        of_pipe = [sample for sample in samples if slowest[sample.name] == pipe]
        if of_pipe:
            errors = [factors[pipe] * sample.pipes[pipe] / sample.measured - 1 for sample in of_pipe if sample.measured]
            error = sqrt(sum(error**2 for error in errors) / len(errors)) if errors else 0.0
            found[pipe] = Factor(factors[pipe], tuple(sample.name for sample in of_pipe), error)
    return found


def _slowest(sample: Sample, factors: Mapping[str, float]) -> str:
    return max(sample.pipes, key=lambda pipe: factors[pipe] * sample.pipes[pipe])
