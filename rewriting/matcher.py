"""Compiles rules to Python: for each op class one function that tries all rules whose root it is.

The function takes the op and the `Rewriter` and returns (rule, replacement) for the first rule that applies, else
None. What several rules look at (operands, the ops that define them, constants) is fetched once, and tests come
before anything is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import copysign, gcd, inf, nan
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.monoids import Number
from ..dialects.types import element_of
from .definitions import fixed_arity, operand_fields, property_fields, result_count
from .patterns import (
    ANY,
    AttributeVariable,
    Capture,
    Condition,
    Constant,
    Operand,
    Operands,
    PropertyPattern,
    Rule,
    Term,
    Variable,
)
from .replacement import write_replacement
from .rule_code import RuleCode, SharedCode
from .uses import use_count
from .values import READERS, kind_of_type, number_of, plain_value, same_number

Found = tuple[Rule, SSAValue | Sequence[SSAValue]]
Matcher = Callable[[Operation, Any], Found | None]

Candidate = tuple[Rule, Term]
"""A rule, and its term with the operands in one of the orders that its op allows."""


def candidates(rules: Iterable[Rule]) -> list[Candidate]:
    """Rules in each order of their operands. Ops further in try theirs when they are met."""
    return [(rule, term) for rule in rules for term in _orders(rule.term)]


def compile_matcher(
    op: type[Operation], candidates: Iterable[Candidate], counting: bool = False
) -> tuple[Matcher, str]:
    """The matcher of rules whose root is `op`, tried in order, and its source.

    counting: the matcher counts in `rewriter.tried` the ops on which each rule is tried
    """
    body: list[str] = []
    scope: dict[str, Any] = {
        "Readers": READERS,
        "number_of": number_of,
        "same_number": same_number,
        "kind_of": kind_of_type,
        "element_of": element_of,
        "plain_value": plain_value,
        "copysign": copysign,
        "gcd": gcd,
        "use_count": use_count,
        "inf": inf,
        "nan": nan,
    }
    shared = SharedCode(op, scope)
    before: list[str] = []
    last: Rule | None = None
    for rule, term in candidates:
        if counting and rule is not last:
            body.append(f"rewriter.tried[{shared.name_of(rule, 'Rule')}] += 1")
            before = []
        lines = _TermCompiler(rule, term, shared).lines()
        body += lines[_common(before, lines) :]
        before, last = lines, rule
    lines = ["def match(op, rewriter):", *(f"    {line}" for line in (*shared.lines(), *body, "return None"))]
    source = "\n".join(lines)
    exec(compile(source, f"<rules of {op.name}>", "exec"), scope)
    return scope["match"], source


def _common(before: list[str], lines: list[str]) -> int:
    """How many lines of a rule need not be written again after those of the rule before it.

    The code of a rule is one nest of tests, which it leaves by returning only: what comes after it at some depth stands
    under the tests that lead there. Loops are not shared, so that rules are tried in order.
    """
    common = 0
    for old, new in zip(before, lines, strict=False):
        if old != new or new.lstrip().startswith("for "):
            break
        common += 1
    return common


def _orders(term: Term) -> Iterator[Term]:
    yield term
    if term.head.commutative and term.operands is not None and len(term.operands) == 2:
        swapped = replace(term, operands=term.operands[::-1])
        if str(swapped) != str(term):
            yield swapped


class _TermCompiler:
    """One rule in one order of operands."""

    def __init__(self, rule: Rule, term: Term, shared: SharedCode):
        self.rule = rule
        self.term = term
        self.code = RuleCode(rule, shared)
        self.late: list[str] = []  # tests of types and properties, dearer than those of structure

    def lines(self) -> list[str]:
        code = self.code
        self._match_op(self.term, "")
        for test in dict.fromkeys(self.late):
            code.test(test)
        for guard in self.rule.guards:
            code.test(code.render(guard) if isinstance(guard, Condition) else code.call(guard))
        code.line(f"# {self.term} at {self.rule.place}")
        write_replacement(code)
        return code.lines

    def _match_op(self, term: Term, path: str) -> None:
        """Test the operands and properties of a term whose op is matched; near ops before those further in."""
        inner: list[tuple[Term, str]] = []
        for name, pattern in term.properties:
            self._match_property(term, path, name, pattern)
        if term.named:
            self._match_fields(term, path, inner)
        elif term.operands is not None:
            self._match_operands(term, term.operands, path, inner)
        for operand, place in inner:
            self._match_op(operand, place)

    def _match_operands(
        self, term: Term, operands: tuple[Operand, ...], path: str, inner: list[tuple[Term, str]]
    ) -> None:
        code, op = self.code, f"o{path}" if path else "op"
        arity = fixed_arity(term.head.op)
        places = [f"{path}_{i}" if path else str(i) for i in range(len(operands))]
        several = [i for i, operand in enumerate(operands) if isinstance(operand, Operands)]
        if len(several) > 1:
            raise code.error(f"{term} has two patterns for any number of operands")
        if several:
            self._take_apart(op, operands, several[0], places, is_root=not path)
        else:
            if arity is not None and arity != len(operands):
                raise code.error(f"{term.head.name} takes {arity} operands")
            if arity is None:
                code.test(f"len({op}._operands) == {len(operands)}")
            if path and term.head.commutative and len(operands) == 2:
                # Not the names that the operands have in one order: rules that follow may share this line.
                code.line(f"a{path}, b{path} = {op}._operands")
                code.loop(", ".join(f"v{p}" for p in places), f"(a{path}, b{path}), (b{path}, a{path})")
            elif (path or not code.shared.arity) and places:
                code.line(f"{''.join(f'v{p}, ' for p in places)}= {op}._operands")
        for operand, place in zip(operands, places, strict=True):
            self._match(operand, place, inner)

    def _take_apart(
        self, op: str, operands: tuple[Operand, ...], position: int, places: list[str], is_root: bool
    ) -> None:
        """Fetch operands of which those at one position are any number."""
        code, after = self.code, len(operands) - position - 1
        if is_root and code.shared.arity:
            raise code.error(f"{self.term.head.name} always takes {code.shared.arity} operands")
        code.test(f"len({op}._operands) >= {position + after}")
        names = (f"*v{p}" if i == position else f"v{p}" for i, p in enumerate(places))
        code.line(f"{''.join(f'{name}, ' for name in names)}= {op}._operands")

    def _match_fields(self, term: Term, path: str, inner: list[tuple[Term, str]]) -> None:
        code, op = self.code, f"o{path}" if path else "op"
        fields = operand_fields(term.head.op)
        for field, pattern in term.named:
            place = f"{path}_{field}"
            code.line(f"v{place} = {op}.{field}")
            if pattern is None:
                code.test(f"not v{place}" if fields[field] is None else f"v{place} is None")
                continue
            if isinstance(pattern, Operands) != (fields[field] is None):
                count = "any number of operands" if fields[field] is None else "one operand"
                raise code.error(f"{field} of {term.head.name} is {count}")
            if fields[field] is False:
                code.test(f"v{place} is not None")
            self._match(pattern, place, inner)

    def _match_property(self, term: Term, path: str, field: str, pattern: PropertyPattern) -> None:
        code, op = self.code, f"o{path}" if path else "op"
        names = property_fields(term.head.op)
        place = f"p{path}_{field}"
        kind, name = ("properties", names[field][0]) if field in names else ("attributes", field)
        code.line(f"{place} = {op}.{kind}.get({name!r})")
        if pattern is None:
            code.test(f"{place} is None")
        elif isinstance(pattern, AttributeVariable):
            known = code.bound.setdefault(pattern.name, place)
            code.test(f"{place} is not None" if known == place else f"{place} == {known}")
        elif isinstance(pattern, Attribute):
            code.test(f"{place} == {code.name_of(pattern, 'Attribute')}")
        elif callable(pattern):
            code.test(f"{place} is not None and {code.name_of(pattern, 'Function')}({place})")
        else:
            value = pattern if isinstance(pattern, str | int | float) else tuple(pattern)
            code.test(f"{place} is not None and plain_value({place}) == {value!r}")

    def _match(self, operand: Operand, path: str, inner: list[tuple[Term, str]]) -> None:
        code, value = self.code, f"v{path}"
        if isinstance(operand, Capture):
            self._bind(operand.variable, path)
            operand = operand.term
        if isinstance(operand, Variable):
            self._match_variable(operand, path)
        elif isinstance(operand, Operands):
            known = code.bound.setdefault(operand.name, value)
            if known != value:
                code.test(f"tuple({value}) == tuple({known})")
        elif isinstance(operand, Constant):
            number = code.number(path)
            code.test(f"{number} is not None")
            if (known := code.bound.get(operand.name)) is None:
                code.bound[operand.name] = number
            else:
                code.test(f"same_number({known}, {number})")
        elif isinstance(operand, Term):
            results = result_count(operand.head.op)
            if results not in (1, None):
                raise code.error(f"{operand.head.name} has not one result")
            code.owner(path)
            code.test(f"t{path} is {code.name_of(operand.head.op, 'Op')}")
            if results is None:
                code.test(f"len(o{path}.results) == 1")
            code.matched.append(f"o{path}")
            inner.append((operand, path))
        elif isinstance(operand, int | float):
            code.test(_is_number(code.number(path), operand))
        else:
            raise code.error(f"{operand} is no pattern, it stands in replacements only")

    def _match_variable(self, variable: Variable, path: str) -> None:
        code, value = self.code, f"v{path}"
        known = code.bound.get(variable.name)
        if known is None:
            self._bind(variable, path)
            return
        number = code.number(path)
        code.test(
            f"{value} is {known} or {number} is not None and {value}.type == {known}.type"
            f" and (k := number_of({known}.owner)) is not None and same_number(k, {number})"
        )

    def _bind(self, variable: Variable, path: str) -> None:
        """Let a variable be the value at a path, which must have elements of its types."""
        code = self.code
        code.bound[variable.name] = f"v{path}"
        if variable.types.elements is not None:
            elements = code.name_of(variable.types.elements, "Elements")
            self.late.append(f"element_of(v{path}.type) in {elements}")
        elif variable.types is not ANY:
            kinds = code.name_of(variable.types.kinds, "Kinds")
            self.late.append(f"{code.shared.kind_of(path)} in {kinds}")


def _is_number(name: str, number: Number) -> str:
    """The test that a constant's number is exactly this one."""
    if isinstance(number, bool):
        return f"{name} is {number}"
    test = f"{name} == {number!r} and type({name}) is float"
    if number == 0:
        test += f" and copysign(1.0, {name}) == {copysign(1.0, number)}"
    return test if isinstance(number, float) else f"({name} == {number} and type({name}) is int or {test})"
