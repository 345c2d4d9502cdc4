"""What a program computes on a few inputs, and whether that is what it computed before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from ...dialects.types import bf16, element_count, element_of, shape_of
from ...runtime.interpret.arrays import ExecutionError, NotExecutableError, same_bits
from ...runtime.interpret.entries import COMPILED, GPU_KERNEL, TORCH, Entry, Execution, execute, forms
from ...runtime.interpret.noise import Noise, noisy

Array = np.ndarray[Any, Any]

NOISE_RUNS = 4
NOISE_FACTOR = 8
"""Where rounding may differ, a result may be off by so many times what random rounding and a random order of sums moved
it by in `NOISE_RUNS` runs, each element by its own measure: what is exact must stay as it is."""

ROUNDING_ERROR, LIBRARY_ERROR = 4, 16
"""And by so many units in the last place, the second where PyTorch or the GPU computed it: they have other
implementations of exp and its like. (Noise may add up to nothing by chance.)"""


@dataclass(frozen=True)
class Inputs:
    """Arguments for an entry, and what to call them."""

    name: str
    arrays: Sequence[Array]


@dataclass(frozen=True)
class Policy:
    """How far results may differ.

    rounds: by rounding. finite_only: infinities and NaN may come out as anything. why: the reason for either
    """

    rounds: bool = False
    finite_only: bool = False
    why: str = ""


EXACTLY = Policy()
"""Not at all."""


@dataclass
class Outcome:
    """What an entry of a program computes on each of its inputs: an execution, or the message of a fault.

    module: the program, which nobody else changes. forms: by kernel. measured: the last program that computed the same
    and can be run with noise
    """

    entry: Entry
    module: ModuleOp
    forms: Mapping[str, str]
    runs: list[Execution | str]
    measured: ModuleOp | None
    _samples: dict[tuple[int, bool, bool], list[Execution] | None] = field(
        default_factory=dict[tuple[int, bool, bool], "list[Execution] | None"]
    )

    @property
    def can_be_measured(self) -> bool:
        return not {TORCH, *COMPILED} & {*self.forms.values()}

    def samples(self, place: int, inputs: Inputs, rounds: bool, exact: bool) -> list[Execution] | None:
        """Runs of `measured` on one of the inputs, with noise; the first is without. None where there are none.

        rounds, exact: as for `Noise`
        """
        key = place, rounds, exact
        if key not in self._samples:
            measured = self.measured
            samples = None if measured is None else _samples(measured, self.entry, inputs, rounds, exact)
            self._samples[key] = samples
        return self._samples[key]


@dataclass(frozen=True)
class Difference:
    """A result that is not what it was.

    inputs: the name of the inputs. what: which result, and how it differs. kernel: the first kernel that differs
    """

    inputs: str
    what: str
    kernel: str | None = None


def outcome_of(module: ModuleOp, entry: Entry, inputs: Sequence[Inputs], before: Outcome | None = None) -> Outcome:
    """Run an entry on its inputs. `before`: what computed the same, as one expects.

    Raises `NotExecutableError`.
    """
    runs: list[Execution | str] = []
    for each in inputs:
        try:
            runs.append(execute(module, entry, each.arrays))
        except NotExecutableError:
            raise
        except ExecutionError as error:
            runs.append(str(error))
    outcome = Outcome(entry, module, forms(module, entry), runs, None if before is None else before.measured)
    if outcome.can_be_measured:
        outcome.measured = module
    return outcome


def policy_of(passes: Sequence[object], before: Outcome, after: Outcome) -> Policy:
    """How far the results of two programs, with these passes between them, may differ."""
    if any(getattr(pass_, "fast_math", False) for pass_ in passes):
        return Policy(True, True, "fast_math allows it, and takes infinities and NaN for impossible")
    if GPU_KERNEL in after.forms.values():
        return Policy(True, why="NVIDIA's compiler fuses products with sums, and has its own exp and the like")
    if COMPILED & {*after.forms.values()}:
        return Policy(True, why="products are fused with sums, and exp and the like are the target's own")
    for pass_ in passes:
        if why := getattr(pass_, "rounding", ""):
            return Policy(True, why=why)
    was, now = {*before.forms.values()}, {*after.forms.values()}
    if was != now or any(before.forms.get(kernel, form) != form for kernel, form in after.forms.items()):
        return Policy(True, why="from one form to another, sums are taken in another order")
    return EXACTLY


def compare(before: Outcome, after: Outcome, inputs: Sequence[Inputs], policy: Policy) -> Difference | None:
    """The first difference between two programs that the policy does not allow."""
    if signature(before.entry) != signature(after.entry):
        return Difference("any", "it takes or gives values of other types")
    for place, each in enumerate(inputs):
        was, now = before.runs[place], after.runs[place]
        if isinstance(was, str):
            continue  # the program has no meaning there
        if isinstance(now, str):
            return Difference(each.name, f"it fails: {now}")
        comparison = _Comparison(before, after, place, each, policy)
        for number, (x, y) in enumerate(zip(was.results, now.results, strict=True)):
            type = before.entry.outputs[number]
            what = comparison.difference(x, y, type, _result(number))
            if what is not None:
                return Difference(each.name, f"result {number}{what}", comparison.kernel(was, now))
    return None


Find = Callable[[Execution], Array]
"""Gives one result of a run."""


def _result(number: int) -> Find:
    return lambda run: run.results[number]


def _launched(launch: int, output: int) -> Find:
    return lambda run: run.launches[launch][1][output]


@dataclass(frozen=True)
class _Comparison:
    """Of two programs on one of the inputs."""

    before: Outcome
    after: Outcome
    place: int
    inputs: Inputs
    policy: Policy

    def kernel(self, was: Execution, now: Execution) -> str | None:
        """The first kernel whose results differ, where both programs launch the same ones."""
        if [name for name, _ in was.launches] != [name for name, _ in now.launches]:
            return None
        for number, ((name, x), (_, y)) in enumerate(zip(was.launches, now.launches, strict=True)):
            for place, (a, b) in enumerate(zip(x, y, strict=True)):
                if self.difference(a, b, None, _launched(number, place)) is not None:
                    return name
        return None

    def difference(self, was: Array, now: Array, type: Attribute | None, find: Find) -> str | None:
        """How two results differ; None where they may. find: gives the same result of a run with noise."""
        if was.size != now.size:
            return f" has {now.size} elements, not {was.size}"
        shape, was, now = was.shape, was.reshape(-1), now.reshape(-1)
        if was.dtype != now.dtype:
            return f" is of {now.dtype}, not {was.dtype}"
        wrong = ~same_bits(was, now)
        if was.dtype.kind == "f":
            wrong &= ~(np.isnan(was) & np.isnan(now))
        if wrong.any():
            with np.errstate(all="ignore"):
                wrong &= ~self._allowed(was, now, type, find)
        if not wrong.any():
            return None
        first = int(np.flatnonzero(wrong)[0])
        element = [int(i) for i in np.unravel_index(first, shape)]
        text = (
            f", element {element}, is {now[first]!s}, not {was[first]!s}"
            if shape
            else f" is {now[0]!s}, not {was[0]!s}"
        )
        return text + (f"; {int(wrong.sum())} of {wrong.size} elements differ" if wrong.size > 1 else "")

    def _allowed(self, was: Array, now: Array, type: Attribute | None, find: Find) -> Array:
        """Where a difference does not count."""
        policy, is_real = self.policy, was.dtype.kind == "f"
        allowed = np.zeros(was.shape, bool)
        if policy.finite_only and is_real:
            allowed |= ~np.isfinite(was)
        others = {TORCH, *COMPILED} & {*self.before.forms.values(), *self.after.forms.values()}
        if policy.rounds and is_real:
            if self.inputs.name.startswith("extremes"):
                return np.ones(was.shape, bool)  # whether a sum overflows depends on its order
            allowed |= was == now  # 0 and −0
            if others:
                allowed |= np.abs(now - was) <= LIBRARY_ERROR * _spacing(was, type)
            if TORCH in others:  # its mean of an infinity is NaN, for it sums differences
                allowed |= ~np.isfinite(was) & ~np.isfinite(now)
        source = self.before if self.before.measured is not None else self.after
        samples = source.samples(self.place, self.inputs, policy.rounds, TORCH in others)
        if samples is None:
            return allowed
        try:
            reference, *others = (find(sample).reshape(-1) for sample in samples)
        except (IndexError, ValueError):  # it launches other kernels
            return allowed
        if reference.shape != was.shape:
            return allowed
        if not is_real:
            return allowed | np.any([other != reference for other in others], axis=0)
        moved = np.zeros(was.shape)
        for other in others:
            same = (other == reference) | (np.isnan(other) & np.isnan(reference))
            distance = np.where(same, 0.0, np.abs(other.astype(np.float64) - reference))
            moved = np.maximum(moved, np.where(np.isnan(distance), np.inf, distance))
        if not policy.rounds:
            return allowed | (moved > 0)
        limit = NOISE_FACTOR * moved + (ROUNDING_ERROR * _spacing(was, type) if moved.any() else 0)
        return allowed | (np.abs(now.astype(np.float64) - was) <= limit) | np.isinf(moved)


def _spacing(array: Array, type: Attribute | None) -> Array:
    """The distance of each number to the next of its type."""
    spacing = np.spacing(np.abs(array))
    return spacing * (1 << 16) if type is not None and element_of(type) == bf16 else spacing


def _samples(module: ModuleOp, entry: Entry, inputs: Inputs, rounds: bool, exact: bool) -> list[Execution] | None:
    try:
        runs = [execute(module, entry, inputs.arrays)]
        for seed in range(NOISE_RUNS):
            with noisy(Noise(seed, rounds=rounds, exact=exact)):
                runs.append(execute(module, entry, inputs.arrays))
    except ExecutionError:  # it depends on noise whether the program has a meaning
        return None
    return runs


def signature(entry: Entry) -> tuple[object, ...]:
    """What must stay the same of an entry: gpu_kernel form has its buffers flat."""

    def flat(types: Sequence[Attribute]) -> tuple[object, ...]:
        return tuple((element_count(shape_of(type)), element_of(type)) for type in types)

    return flat(entry.inputs), flat(entry.outputs)
