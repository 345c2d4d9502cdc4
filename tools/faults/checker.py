"""Follows a program through its passes, and finds the first after which it computes something else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from ...dialects.function_sizes import SizeError
from ...dialects.semantics import numpy_dtype
from ...dialects.types import element_of, is_value_type, shape_of
from ...rewriting.diagnostics import PassError
from ...runtime.interpret.arrays import NotExecutableError
from ...runtime.interpret.entries import Entry, entries
from ...runtime.interpret.random_inputs import KINDS, random_inputs
from ...runtime.interpret.stored import from_storage
from ...runtime.storage import storage_dtype
from .outcomes import EXACTLY, Array, Difference, Inputs, Outcome, Policy, compare, outcome_of, policy_of, signature


@dataclass
class Followed:
    """An entry of the program: its inputs, what it computed last, and the passes after which it could not be run."""

    inputs: list[Inputs]
    last: Outcome
    skipped: list[object] = field(default_factory=list[object])


@dataclass(frozen=True)
class Finding:
    """A difference in an entry between `before` and what the passes have made of it."""

    entry: str
    before: Outcome
    inputs: Sequence[Inputs]
    passes: Sequence[object]
    difference: Difference
    policy: Policy = EXACTLY

    def matches(self, module: ModuleOp) -> bool | None:
        """Whether another program that should compute the same as `before` differs too; None where it cannot be run."""
        found = next((entry for entry in entries(module) if entry.name == self.entry), None)
        if found is None or signature(found) != signature(self.before.entry):
            return True
        try:
            after = outcome_of(module, found, self.inputs, self.before)
        except NotExecutableError:
            return None
        return compare(self.before, after, self.inputs, policy_of(self.passes, self.before, after)) is not None


class Checker:
    """The entries of a program and what they compute."""

    def __init__(self, module: ModuleOp, seed: int, given: Sequence[Inputs] = ()) -> None:
        """Run the program. given: inputs besides the random ones, for those entries that take them.

        Raises `PassError` where nothing of it can be run, or it faults whatever it is given.
        """
        self.reasons: dict[str, str] = {}
        """Why an entry cannot be run now."""
        self.faulty: list[str] = []
        """Inputs on which the program has no meaning."""
        self._followed: dict[str, Followed] = {}
        found = entries(module)
        if not found:
            raise PassError("there is nothing to run: the input has no function with a body, and no kernel")
        for entry in found:
            try:
                self._follow(module, entry, seed, given)
            except NotExecutableError as error:
                self.reasons[entry.name] = str(error)
        if not self._followed:
            name, reason = next(iter(self.reasons.items()))
            raise PassError(f"the input cannot be executed: @{name}: {reason}")

    def _follow(self, module: ModuleOp, entry: Entry, seed: int, given: Sequence[Inputs]) -> None:
        fitting = [fit for each in given if (fit := _fitting(entry, each)) is not None]
        kinds = KINDS if entry.inputs else KINDS[:1]
        random = [Inputs(f"{kind} (seed {seed})", random_inputs(module, entry, kind, seed)) for kind in kinds]
        inputs = [*fitting, *random]
        outcome = outcome_of(module, entry, inputs)
        faults = [f"@{entry.name} on {x.name}: {run}" for x, run in zip(inputs, outcome.runs) if isinstance(run, str)]
        if len(faults) == len(inputs):
            raise PassError(f"the input fails whatever it is given: {faults[0]}")
        self.faulty += faults
        self._followed[entry.name] = Followed(inputs, outcome)

    @property
    def programs(self) -> int:
        return len(self._followed)

    @property
    def runs(self) -> int:
        """How many runs it takes to check one pass."""
        return sum(len(followed.inputs) for followed in self._followed.values())

    def check(self, module: ModuleOp, pass_: object) -> Finding | None:
        """Run the program that a pass has left, which nobody changes any more. What differs, if anything."""
        found = {entry.name: entry for entry in entries(module)}
        for name, followed in self._followed.items():
            passes = [*followed.skipped, pass_]
            if name not in found:
                difference = Difference("any", "it is gone")
                return Finding(name, followed.last, followed.inputs, passes, difference)
            try:
                after = outcome_of(module, found[name], followed.inputs, followed.last)
            except NotExecutableError as error:
                self.reasons[name] = str(error)
                followed.skipped.append(pass_)
                continue
            self.reasons.pop(name, None)
            policy = policy_of(passes, followed.last, after)
            difference = compare(followed.last, after, followed.inputs, policy)
            if difference is not None:
                return Finding(name, followed.last, followed.inputs, passes, difference, policy)
            followed.last, followed.skipped = after, []
        return None


def _fitting(entry: Entry, inputs: Inputs) -> Inputs | None:
    """The inputs as the interpreters hold them, where the entry takes them: from the forms of `storage_dtype` too."""
    if len(inputs.arrays) != len(entry.inputs):
        return None
    sized = () if entry.sizes is None else entry.sizes.arguments
    try:
        if entry.sizes is not None:
            entry.sizes.values({place: inputs.arrays[place].shape for place in sized}, entry.names)
    except SizeError:
        return None
    arrays: list[Array] = []
    for place, (array, type) in enumerate(zip(inputs.arrays, entry.inputs, strict=True)):
        if not is_value_type(type) or (array.shape != shape_of(type) and place not in sized):
            return None
        if array.dtype == numpy_dtype(element_of(type)):
            arrays.append(array)
        elif array.dtype == storage_dtype(type):
            arrays.append(from_storage(array, type))
        else:
            return None
    return Inputs(inputs.name, arrays)
