"""How a program is called: what its inputs are for, and what the user gets of its outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from .plan import Plan

GIVEN = "input"
"""The kind of inputs that the caller gives; the others the program holds."""

KINDS = (GIVEN, "parameter", "buffer", "constant")


@dataclass(frozen=True)
class Input:
    """An input of the plan. source: the qualified name of a parameter or buffer; of what is given, its name"""

    kind: str
    source: str


@dataclass(frozen=True)
class Output:
    """What the program gives: an output of the plan, or a constant.

    index:  which output of the plan; None for a constant
    target: the source of the input whose new value it is; None for what the caller gets
    """

    index: int | None
    constant: object = None
    target: str | None = None


@dataclass(frozen=True)
class Signature:
    """How a program is called.

    inputs:    one for each argument of the plan
    outputs:   in order
    structure: of what the caller gets, as JSON has it: `"*"` for a leaf, {"tuple": […]}, {"list": […]}, {"dict": {…}}
    """

    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    structure: Any

    def check(self, plan: Plan) -> None:
        """Raise `ValueError` where it is not how that plan is called."""
        if len(self.inputs) != len(plan.arguments):
            raise ValueError(f"{len(self.inputs)} inputs are described, and the plan takes {len(plan.arguments)}")
        sources = {each.source for each in self.inputs}
        for each in self.inputs:
            if each.kind not in KINDS:
                raise ValueError(f"{each.source} is of the unknown kind {each.kind!r}")
        for each in self.outputs:
            if each.index is not None and each.index not in range(len(plan.outputs)):
                raise ValueError(f"there is no output {each.index!r}")
            if each.target is not None and (each.target not in sources or each.index is None):
                raise ValueError(f"{each.target!r} is no input that can get a new value")
        if len(self.results) != len(leaves_of(self.structure)):
            raise ValueError(f"the structure of the outputs has another number of them than {len(self.results)}")

    @property
    def results(self) -> Sequence[Output]:
        """What the caller gets."""
        return [output for output in self.outputs if output.target is None]

    @staticmethod
    def of_plan(plan: Plan) -> Signature:
        """All inputs are given, and all outputs are a tuple, or one alone."""
        inputs = tuple(Input(GIVEN, plan.values[place].name) for place in plan.arguments)
        outputs = tuple(Output(index) for index in range(len(plan.outputs)))
        return Signature(inputs, outputs, LEAF if len(outputs) == 1 else {"tuple": [LEAF] * len(outputs)})

    def as_json(self) -> dict[str, Any]:
        return {
            "inputs": [{"kind": each.kind, "source": each.source} for each in self.inputs],
            "outputs": [
                {"index": each.index, "constant": each.constant, "target": each.target} for each in self.outputs
            ],
            "structure": self.structure,
        }

    @staticmethod
    def of_json(data: Mapping[str, Any]) -> Signature:
        """Raises `KeyError`, `TypeError` or `ValueError` for what `as_json` cannot have given."""
        return Signature(
            tuple(Input(str(each["kind"]), str(each["source"])) for each in data["inputs"]),
            tuple(Output(each["index"], each["constant"], each["target"]) for each in data["outputs"]),
            data["structure"],
        )


LEAF = "*"


def structure_of(value: Any) -> Any:
    """The structure of nested tuples, lists and dicts with names. Raises `TypeError` for other containers' keys."""
    if type(value) in (tuple, list):
        return {type(value).__name__: [structure_of(item) for item in value]}
    if type(value) is dict:
        items = cast("dict[Any, Any]", value)
        if not all(isinstance(key, str) for key in items):
            raise TypeError("a dict whose keys are not texts")
        return {"dict": {key: structure_of(item) for key, item in items.items()}}
    return LEAF


def leaves_of(structure: Any) -> list[Any]:
    """The leaves of a structure. Raises `ValueError` for what is none."""
    return [LEAF] if structure == LEAF else [leaf for part in _parts(structure)[1] for leaf in leaves_of(part)]


def fill(structure: Any, leaves: list[Any]) -> Any:
    """The structure with leaves, which are taken from the list."""
    if structure == LEAF:
        return leaves.pop(0)
    kind, parts, keys = _parts(structure)
    filled = [fill(part, leaves) for part in parts]
    return dict(zip(keys, filled, strict=True)) if kind == "dict" else tuple(filled) if kind == "tuple" else filled


def _parts(structure: Any) -> tuple[str, list[Any], list[str]]:
    if isinstance(structure, dict) and len(cast("dict[str, Any]", structure)) == 1:
        ((kind, parts),) = cast("dict[str, Any]", structure).items()
        if kind in ("tuple", "list") and isinstance(parts, list):
            return kind, cast("list[Any]", parts), []
        if kind == "dict" and isinstance(parts, dict):
            named = cast("dict[str, Any]", parts)
            return kind, list(named.values()), list(named)
    raise ValueError(f"{structure!r} is no structure of outputs")


def flatten(value: Any) -> list[Any]:
    """The leaves of nested tuples, lists and dicts."""
    if isinstance(value, tuple | list):
        return [leaf for item in cast("Sequence[Any]", value) for leaf in flatten(item)]
    if isinstance(value, dict):
        return [leaf for item in cast("dict[Any, Any]", value).values() for leaf in flatten(item)]
    return [value]
