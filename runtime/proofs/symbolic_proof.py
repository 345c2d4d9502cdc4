"""A rule's proof by z3 in one typing: the question in several forms, until one is answered."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from ...dialects.types import index, is_integer
from ...dialects.uop import AluOp
from ...rewriting.patterns import Capture, Rule, Term
from .encoding import BITWISE, DIVISIONS, Form, NotSymbolicError
from .solving import EFFORT, solve
from .symbolic import Symbolic
from .typings import Typing

BITS = Form()
WHOLE = Form(whole=True)
WHOLE_BY_DEFINITION = Form(whole=True, by_definition=True)
EXACT = Form(whole=True, exact=True)
EXACT_BY_DEFINITION = Form(whole=True, by_definition=True, exact=True)

SEEDS = (0, 1, 3)
"""Of the solver's choices. Questions about products and quotients have no method that always ends."""

PATIENCE = 100
"""How many times the usual effort the last try may take."""


@dataclass(frozen=True)
class Plan:
    """The forms of a question, the most promising first.

    either: whether a proof with whole numbers and one with bit-vectors say different things, of which one is enough:
      of an index, that it holds while nothing leaves 64 bits, and that it holds even then
    """

    forms: Sequence[Form]
    either: bool = False


class Question(Protocol):
    """What is asked, as terms of the solver."""

    form: Form

    def satisfying(self) -> list[Any]: ...
    def wrong(self) -> list[Any]: ...
    def leaving(self) -> list[list[Any]]: ...
    def describe(self, model: Any) -> str: ...


@dataclass
class Verdict:
    """What a method says of a rule in a typing.

    fires: whether anything satisfies the guard
    proved: None where the method does not know
    """

    fires: bool
    proved: bool | None
    counterexample: str | None = None


def prove_symbolically(rule: Rule, typing: Typing) -> Verdict:
    """Ask z3 of all values and constants. Raises `NotSymbolicError` where it does not know what an op means."""
    plan = plan_for(typing, rule.replacement)
    questions = questions_in(plan.forms, lambda form: Symbolic(rule, typing, form))
    first = questions[0]
    if solve(first.satisfying()).solvable is False:
        return Verdict(False, True)
    for divisor in first.divisors:
        division = solve([divisor])
        if division.solvable:
            return Verdict(True, False, f"{first.describe_values(division.model)}: the rule divides by zero")
    return answer(questions, plan.either)


QuestionT = TypeVar("QuestionT", bound=Question)


def questions_in(forms: Sequence[Form], put: Callable[[Form], QuestionT]) -> list[QuestionT]:
    """The question in all forms in which it can be put. Raises `NotSymbolicError` if that is none."""
    questions: list[QuestionT] = []
    for form in forms:
        with suppress(NotSymbolicError):
            questions.append(put(form))
    if not questions:
        raise NotSymbolicError
    return questions


def answer(questions: Sequence[Question], either: bool = False) -> Verdict:
    """The first answer to one question in several forms (see `Plan`)."""
    tries = [(question, seed, EFFORT) for seed in SEEDS for question in questions]
    tries += [(question, 0, PATIENCE * EFFORT) for question in questions]
    refuted: Verdict | None = None
    refuted_in: set[bool] = set()
    for question, seed, effort in tries:
        if question.form.whole in refuted_in:
            continue
        if any(solve(leaving, effort, seed).solvable is not False for leaving in question.leaving()):
            continue
        found = solve(question.wrong(), effort, seed)
        if found.solvable is False:
            return Verdict(True, True)
        if found.solvable:
            refuted = refuted or Verdict(True, False, question.describe(found.model))
            refuted_in.add(question.form.whole)
            if not either:
                break
    return refuted or Verdict(True, None)


def plan_for(typing: Typing, replacement: object) -> Plan:
    """The forms that suit a typing."""
    types = [*typing.variables.values(), *typing.constants.values(), typing.root.type]
    names = {*_op_names(typing.root.pattern), *_op_names(replacement)}
    divides = bool(names & set(DIVISIONS))
    if index in types:
        # Bits have a meaning only in numbers that have a width.
        whole = (EXACT_BY_DEFINITION, EXACT, WHOLE_BY_DEFINITION, WHOLE)
        if isinstance(replacement, Callable) or names & set(BITWISE):
            return Plan((*whole, BITS) if divides else (BITS, *whole), either=True)
        return Plan(whole)
    if not any(map(is_integer, types)):
        return Plan((BITS,))
    return Plan((EXACT_BY_DEFINITION, BITS, EXACT, WHOLE_BY_DEFINITION, WHOLE) if divides else (BITS, WHOLE, EXACT))


def _op_names(pattern: object) -> Iterator[str]:
    if isinstance(pattern, Capture):
        yield from _op_names(pattern.term)
    if isinstance(pattern, Term):
        if issubclass(pattern.head.op, AluOp):
            yield pattern.head.op.row().name
        for operand in pattern.operands or ():
            yield from _op_names(operand)
