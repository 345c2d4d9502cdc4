"""Proofs of rewrite rules: each in all its element types, by the methods that suit them.

- z3, for integers and bools, and for ops on floats that round nothing: for all values, and where guard and replacement
  are data for all constants; otherwise for chosen constants and ranges, on what the driver makes of them.
- running both sides, for floats: on all numbers of 16 bits for one variable, on all pairs of them for two, unless z3
  has proved the rule or it has constants: then on all numbers opposite 64 others; on special and random numbers of the
  wider types and for three variables.
- running both sides on numbered elements, for rules that move elements.
- running kernels, for rules about memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from xdsl.ir import Attribute

from ...dialects.types import bf16, element_of, f16, is_float, type_name
from ...rewriting.patterns import Rule
from .encoding import NotSymbolicError
from .execution import PARTNERS, run_instance
from .graphs import GraphQuestion
from .instances import holds_of_types, instances
from .kernels import check_on_kernels
from .pairs import has_all_pairs
from .symbolic import is_data
from .symbolic_proof import Verdict, answer, plan_for, prove_symbolically, questions_in
from .typings import Typing, can_be_typed, ops_without_meaning, typings

INSTANCES, LEAST_INSTANCES, MOST_INSTANCES = 440, 10, 200
"""Choices of constants and ranges that are tried for a rule in all its typings, and for one of them."""


NOTHING_SATISFIES = "nothing satisfies its guard"
NO_METHOD = "it fires on no kernel of runtime/proofs/kernel_texts.py"
NO_MEANING = (
    "no meaning is registered for {ops}: define the op with alu_op, whose row says what it gives (docs/rewriting.md, "
    "Rules of one's own)"
)


class Outcome(StrEnum):
    """What became of a rule."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    """The solver gave up, or there is no method for the rule."""
    NEVER_FIRES = "never fires"
    """Nothing satisfies its guard."""
    NO_MEANING = "no meaning"
    """Nobody has said what an op of another dialect means."""


@dataclass
class Proof:
    """A row of the report.

    types: element types of the term's value in which it was proved
    methods: what was done
    instances: choices of types, constants and ranges for which the rule fired; inputs: on which both sides ran
    for_all: whether some of it was proved for all values and constants
    seconds: of the processor
    """

    rule: Rule
    outcome: Outcome = Outcome.PROVED
    types: dict[str, None] = field(default_factory=dict[str, None])
    methods: dict[str, None] = field(default_factory=dict[str, None])
    instances: int = 0
    inputs: int = 0
    for_all: bool = False
    detail: str | None = None
    seconds: float = 0.0

    @property
    def is_right(self) -> bool:
        return self.outcome is Outcome.PROVED

    @property
    def satisfied(self) -> str:
        """How many inputs satisfied the guard."""
        parts = ["∀"] if self.for_all else []
        parts += [f"{self.instances:,} instances"] if self.instances else []
        parts += [f"{self.inputs:,} inputs"] if self.inputs else []
        return ", ".join(parts) or "none"


def prove(rule: Rule) -> Proof:
    """Prove one rule."""
    proof = Proof(rule)
    start = time.process_time()
    if unknown := ops_without_meaning(rule):
        proof.outcome, proof.detail = Outcome.NO_MEANING, NO_MEANING.format(ops=", ".join(unknown))
        return proof
    if can_be_typed(rule):
        choices = typings(rule)
        limit = max(LEAST_INSTANCES, min(MOST_INSTANCES, INSTANCES // max(len(choices), 1)))
        for typing in choices:
            _prove_typing(proof, typing, limit)
            if not proof.is_right:
                break
        if proof.is_right and proof.for_all and not proof.instances:
            _run_once(proof, choices, limit)
    if proof.is_right and not (proof.for_all or proof.instances):
        _run_kernels(proof)
    if proof.is_right and not (proof.for_all or proof.instances):
        if can_be_typed(rule):
            proof.outcome, proof.detail = Outcome.NEVER_FIRES, NOTHING_SATISFIES
        else:
            proof.outcome, proof.detail = Outcome.UNKNOWN, NO_METHOD
    proof.seconds = time.process_time() - start
    return proof


def _prove_typing(proof: Proof, typing: Typing, limit: int) -> None:
    """Prove a rule with these types by the first method that can; where it has floats, run it in any case."""
    solved = False
    if not (typing.moves or (_floats(typing) and proof.rule.assumes)):
        with suppress(NotSymbolicError):
            if is_data(proof.rule) and holds_of_types(proof.rule, typing):
                _prove_for_all(proof, typing)
            else:
                _prove_instances(proof, typing, limit)
            solved = True
    if proof.is_right and (_floats(typing) or not solved):
        _run_instances(proof, typing, limit, all_pairs=not solved)


def _prove_for_all(proof: Proof, typing: Typing) -> None:
    """By z3 for all values of the variables and constants."""
    verdict = prove_symbolically(proof.rule, typing)
    if not verdict.fires:
        return
    _judge(proof, typing, verdict)
    proof.for_all = True
    floats = _floats(typing)
    _note(proof, typing, f"z3 ∀ {'/'.join(floats)}" if floats else "z3")


def _prove_instances(proof: Proof, typing: Typing, limit: int) -> None:
    """By z3 for all values of the variables, for chosen constants and ranges."""
    if not typing.variables:  # constants alone are numbers: to compute is quicker than to ask
        raise NotSymbolicError
    for instance in instances(proof.rule, typing, limit):
        functions = instance.fired(None)
        if functions is None:
            continue
        before, after = functions
        plan = plan_for(typing, proof.rule.replacement)
        questions = questions_in(plan.forms, partial(GraphQuestion, instance, before, after))
        verdict = answer(questions, plan.either)
        proof.instances += 1
        _judge(proof, typing, verdict)
        _note(proof, typing, "z3 on instances")
        if not proof.is_right:
            return


def _run_instances(proof: Proof, typing: Typing, limit: int, all_pairs: bool) -> None:
    """By running both sides, for chosen constants and ranges.

    all_pairs: of two variables, where there are no constants for each of which that would take as long
    """
    types = list(typing.variables.values())
    all_pairs = all_pairs and has_all_pairs(types) and not typing.constants
    for instance in instances(proof.rule, typing, limit):
        run = run_instance(instance, all_pairs)
        if run is None:
            continue
        proof.instances += 1
        proof.inputs += run.inputs
        if run.counterexample is not None:
            proof.outcome, proof.detail = Outcome.REFUTED, run.counterexample
            return
        _note(proof, typing, _running(typing, all_pairs))


def _run_once(proof: Proof, choices: Sequence[Typing], limit: int) -> None:
    """Run one instance of a rule that the solver proved, as the driver applies it: what is proved is then what is
    run."""
    for typing in choices:
        for instance in instances(proof.rule, typing, limit):
            run = run_instance(instance, all_pairs=False)
            if run is not None:
                proof.instances, proof.inputs = 1, run.inputs
                if run.counterexample is not None:
                    proof.outcome, proof.detail = Outcome.REFUTED, run.counterexample
                return


def _run_kernels(proof: Proof) -> None:
    """By running kernels on which the rule fires."""
    for name, inputs, wrong in check_on_kernels(proof.rule):
        proof.instances += 1
        proof.inputs += inputs
        proof.methods["kernels"] = None
        proof.types[name.rpartition(" ")[2]] = None
        if wrong is not None:
            proof.outcome, proof.detail = Outcome.REFUTED, wrong
            return


def _running(typing: Typing, all_pairs: bool) -> str:
    """What running both sides covers."""
    types = list(typing.variables.values())
    narrow = [type for type in types if type in (f16, bf16)]
    if typing.moves:
        return "run on shapes"
    if not types:
        return "run on constants"
    if all_pairs or (narrow and len(types) == 1):
        return " × ".join(f"all {type_name(type)}" for type in types)
    if narrow and len(types) == 2:
        return f"all {'/'.join(dict.fromkeys(map(type_name, narrow)))} × {PARTNERS}"
    return "special and random"


def _floats(typing: Typing) -> list[str]:
    """The float types in a typing, by name."""
    return list(dict.fromkeys(type_name(element) for element in map(element_of, _types(typing)) if is_float(element)))


def _judge(proof: Proof, typing: Typing, verdict: Verdict) -> None:
    if verdict.proved is None:
        proof.outcome, proof.detail = Outcome.UNKNOWN, f"{typing}: z3 does not know"
    elif not verdict.proved:
        proof.outcome, proof.detail = Outcome.REFUTED, f"{typing}: {verdict.counterexample}"


def _note(proof: Proof, typing: Typing, method: str) -> None:
    proof.methods[method] = None
    proof.types |= dict.fromkeys(type_name(element_of(type)) for type in _types(typing))


def _types(typing: Typing) -> list[Attribute]:
    return [*typing.variables.values(), *typing.constants.values(), typing.root.type]
