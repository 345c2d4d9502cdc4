"""Proofs of rewrite rules: each in all its element types, by the methods that suit them.

- z3, for integers and bools (and where floats only move): for all values, and where guard and replacement are data for
  all constants; otherwise for chosen constants and ranges, on what the driver makes of them.
- running both sides, for floats: on all numbers of 16 bits for one variable and, opposite 64 others, for two; on
  special and random numbers of the wider types and for three variables.
- running both sides on numbered elements, for rules that move elements.
- running kernels, for rules about memory.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial

from ...dialects.types import bf16, element_of, f16, type_name
from ...rewriting.patterns import Rule
from .encoding import NotSymbolicError
from .execution import PARTNERS, run_instance
from .graphs import GraphQuestion
from .instances import holds_of_types, instances
from .kernels import check_on_kernels
from .symbolic import is_data
from .symbolic_proof import Verdict, answer, plan_for, prove_symbolically, questions_in
from .typings import Typing, can_be_typed, typings

INSTANCES, LEAST_INSTANCES, MOST_INSTANCES = 440, 10, 200
"""Choices of constants and ranges that are tried for a rule in all its typings, and for one of them."""


NOTHING_SATISFIES = "nothing satisfies its guard"
NO_METHOD = (
    "its term is about ops whose meaning is not known here, and it fires on no kernel of runtime/proofs/kernels.py"
)


class Outcome(StrEnum):
    """What became of a rule."""

    PROVED = "proved"
    REFUTED = "refuted"
    UNKNOWN = "unknown"
    """The solver gave up, or there is no method for the rule."""
    NEVER_FIRES = "never fires"
    """Nothing satisfies its guard."""


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


def prove(rule: Rule, exhaustive: bool = False) -> Proof:
    """Prove one rule.

    exhaustive: all pairs of 16-bit floats for rules of two variables, which takes minutes a rule
    """
    proof = Proof(rule)
    start = time.process_time()
    if can_be_typed(rule):
        choices = typings(rule)
        limit = max(LEAST_INSTANCES, min(MOST_INSTANCES, INSTANCES // max(len(choices), 1)))
        for typing in choices:
            _prove_typing(proof, typing, exhaustive, limit)
            if not proof.is_right:
                break
        if proof.is_right and proof.for_all and not proof.instances:
            _run_once(proof, choices, limit)
    if proof.is_right and not (proof.for_all or proof.instances):
        _run_kernels(proof)
    if proof.is_right and not (proof.for_all or proof.instances):
        typed = can_be_typed(rule)
        proof.outcome = Outcome.NEVER_FIRES if typed else Outcome.UNKNOWN
        proof.detail = NOTHING_SATISFIES if typed else NO_METHOD
    proof.seconds = time.process_time() - start
    return proof


def _prove_typing(proof: Proof, typing: Typing, exhaustive: bool, limit: int) -> None:
    """Prove a rule with these types by the first method that can."""
    rule = proof.rule
    if not typing.moves:
        try:
            if is_data(rule) and holds_of_types(rule, typing):
                _note_symbolic(proof, typing, prove_symbolically(rule, typing))
            else:
                _prove_instances(proof, typing, limit)
            return
        except NotSymbolicError:
            pass
    _run_instances(proof, typing, exhaustive, limit)


def _note_symbolic(proof: Proof, typing: Typing, verdict: Verdict) -> None:
    if not verdict.fires:
        return
    _judge(proof, typing, verdict)
    proof.for_all = True
    _note(proof, typing, "z3")


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


def _run_instances(proof: Proof, typing: Typing, exhaustive: bool, limit: int) -> None:
    """By running both sides, for chosen constants and ranges."""
    for instance in instances(proof.rule, typing, limit):
        run = run_instance(instance, exhaustive)
        if run is None:
            continue
        proof.instances += 1
        proof.inputs += run.inputs
        if run.counterexample is not None:
            proof.outcome, proof.detail = Outcome.REFUTED, run.counterexample
            return
        _note(proof, typing, _running(typing, exhaustive))


def _run_once(proof: Proof, choices: Sequence[Typing], limit: int) -> None:
    """Run one instance of a rule that the solver proved, as the driver applies it: what is proved is then what is
    run."""
    for typing in choices:
        for instance in instances(proof.rule, typing, limit):
            run = run_instance(instance, exhaustive=False)
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


def _running(typing: Typing, exhaustive: bool) -> str:
    """What running both sides covers."""
    types = list(typing.variables.values())
    small = [type for type in types if type in (f16, bf16)]
    if typing.moves:
        return "run on shapes"
    if not types:
        return "run on constants"
    if small and len(types) == 1:
        return f"all {'/'.join(map(type_name, small))}"
    if small and len(types) == 2:
        return "all pairs" if exhaustive and len(small) == 2 else f"all × {PARTNERS}"
    return "special and random"


def _judge(proof: Proof, typing: Typing, verdict: Verdict) -> None:
    if verdict.proved is None:
        proof.outcome, proof.detail = Outcome.UNKNOWN, f"{typing}: z3 does not know"
    elif not verdict.proved:
        proof.outcome, proof.detail = Outcome.REFUTED, f"{typing}: {verdict.counterexample}"


def _note(proof: Proof, typing: Typing, method: str) -> None:
    proof.methods[method] = None
    types = [*typing.variables.values(), *typing.constants.values(), typing.root.type]
    proof.types |= dict.fromkeys(type_name(element_of(type)) for type in types)
