"""Proofs by z3 of rules that are data: for all values of the variables and of the constants, under the guard.

Numbers in guards and replacements are Python's, without a width: they are signed bit-vectors as wide as the
arithmetic on them needs, or whole numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3
from xdsl.ir import Attribute, Operation

from ...dialects import smt
from ...dialects.types import bit_width, i1, index, is_bool, is_float, ui8
from ...dialects.uop import AluOp
from ...rewriting.patterns import (
    Arithmetic,
    Bound,
    Capture,
    CommonDivisor,
    Comparison,
    Condition,
    Constant,
    Divisible,
    NumberExpression,
    Operand,
    Pattern,
    Remainder,
    Rule,
    Term,
    UseCondition,
    Variable,
    parameters_of,
    variables_of,
)
from .encoding import Encoding, Form, Meant, NotSymbolicError, Value, shown
from .typings import Node, Typing


def is_data(rule: Rule) -> bool:
    """Whether replacement and guards are data, but for guards that are functions of values: those see types only."""
    captured = {node.name for node in variables_of(rule.term) if isinstance(node, Variable)}
    for guard in rule.guards:
        if not isinstance(guard, Condition) and not captured.union(("op", "result")).issuperset(parameters_of(guard)):
            return False
    return isinstance(rule.replacement, Pattern | NumberExpression | int | float)


@dataclass
class Exact:
    """A whole number: a signed bit-vector wide enough for it, or an integer of the solver (width 0)."""

    term: Any
    width: int


@dataclass
class Symbolic:
    """One rule in one typing as terms of the solver. Raises `NotSymbolicError` where it has none for an op.

    values: of variables, constants and captures, by name
    bounds: `x.min`, `(x % a).max`, `x.uses`, `gcd(a, b)`, by their text
    divisors: where a guard or the replacement divides by 0
    divided: quotients and remainders by definition, by what they are of
    """

    rule: Rule
    typing: Typing
    form: Form
    substitutions: list[tuple[Any, Any]] = field(default_factory=list[tuple[Any, Any]])
    values: dict[str, Value] = field(default_factory=dict[str, Value])
    bounds: dict[str, Value] = field(default_factory=dict[str, Value])
    guards: list[Any] = field(default_factory=list[Any])
    divisors: list[Any] = field(default_factory=list[Any])
    divided: dict[str, tuple[Any, Any]] = field(default_factory=dict[str, tuple[Any, Any]])

    def __post_init__(self) -> None:
        self.encoding = Encoding(self.form)
        root = self.typing.root
        self.left, self.left_meaning = self._term(root)
        for guard in self.rule.guards:
            if isinstance(guard, Condition):
                self.guards.append(self._condition(guard))
        replacement = self.rule.replacement
        assert isinstance(replacement, Pattern | NumberExpression | int | float)
        self.right, self.right_meaning = self._replacement(replacement, root.type)

    # The term.

    def _term(self, node: Node) -> Meant:
        """The value of a typed pattern, and where it has a meaning."""
        pattern = node.pattern
        if isinstance(pattern, Capture):
            value, meaning = self._term(node.operands[0])
            self.values[pattern.variable.name] = value
            return value, meaning
        if isinstance(pattern, Variable | Constant):
            if pattern.name not in self.values:
                self.values[pattern.name] = Value(self.encoding.unknown(pattern.name, node.type), node.type)
            return self.values[pattern.name], z3.BoolVal(True)
        if isinstance(pattern, Term):
            operands = [self._term(operand) for operand in node.operands]
            return self.encoding.apply(pattern.head.op, operands, node.type)
        assert isinstance(pattern, int | float)
        return Value(self.encoding.number(pattern, node.type), node.type), z3.BoolVal(True)

    # Guards.

    def _condition(self, condition: Condition) -> Any:
        if isinstance(condition, Divisible):
            value = self._of_value(self.values[condition.remainder.variable.name])
            return self._is_multiple(value, self._exact(condition.remainder.divisor))
        if isinstance(condition, UseCondition):
            return _compare(condition.sign, self._uses(condition), condition.number)
        assert isinstance(condition, Comparison)
        number = condition.left
        if condition.sign == "==" and isinstance(condition.right, int) and condition.right == 0:
            if isinstance(number, Arithmetic) and number.sign == "%":
                return self._is_multiple(self._exact(number.left), self._exact(number.right))
        left, right = _aligned(self._exact(condition.left), self._exact(condition.right))
        return _compare(condition.sign, left.term, right.term)

    def _is_multiple(self, number: Exact, divisor: Exact) -> Any:
        """Whether one number divides another: known by its quotient where it is divided by definition."""
        if not self.form.by_definition:
            return self._arithmetic("%", number, divisor).term == 0
        self._divisor(divisor.term != 0)
        return self._divided(number.term, divisor.term, exactly=True)[1] == 0

    def _uses(self, condition: UseCondition) -> Any:
        """An unknown number, for it says nothing of the value; what the term shows is used at least once."""
        name = str(condition.uses)
        if name not in self.bounds:
            count = z3.Int(name)
            self.bounds[name] = Value(count, index)
            self.encoding.assumptions.append(count >= (1 if condition.uses.variable.name in self.values else 0))
        return self.bounds[name].term

    def _exact(self, number: NumberExpression | float) -> Exact:
        """A number as Python has it."""
        if isinstance(number, Constant):
            return self._of_value(self.values[number.name])
        if isinstance(number, Bound):
            return self._bound(number)
        if isinstance(number, Arithmetic):
            return self._arithmetic(number.sign, self._exact(number.left), self._exact(number.right))
        if isinstance(number, CommonDivisor):
            return self._common_divisor(number)
        assert isinstance(number, int), f"{number} in {self.rule}"
        return self._literal(number)

    def _literal(self, number: int) -> Exact:
        if self.form.whole:
            return Exact(z3.IntVal(number), 0)
        width = number.bit_length() + 1
        return Exact(z3.BitVecVal(number, width), width)

    def _of_value(self, value: Value) -> Exact:
        term, type = value.term, value.type
        if is_float(type):
            raise NotSymbolicError("a guard that computes with floats")
        if self.form.whole:
            return Exact(smt.cast(z3, i1, index, term) if is_bool(type) else term, 0)
        if is_bool(type):
            return Exact(z3.If(term, z3.BitVecVal(1, 2), z3.BitVecVal(0, 2)), 2)
        if type == ui8:
            return Exact(z3.ZeroExt(1, term), 9)
        return Exact(term, bit_width(type))

    def _bound(self, bound: Bound) -> Exact:
        """An unknown number below or above all values of a variable, or all its remainders."""
        if isinstance(bound.of, Remainder):
            limited = self._remainder(bound.of)
            sort = z3.IntSort() if self.form.whole else z3.BitVecSort(limited.width)
            known = Value(z3.Const(str(bound), sort), index)
            limit = Exact(known.term, limited.width)
        else:
            value = self.values[bound.variable.name]
            limited = self._of_value(value)
            known = self.bounds.get(str(bound)) or Value(self.encoding.unknown(str(bound), value.type), value.type)
            limit = self._of_value(known)
        if str(bound) not in self.bounds:
            self.bounds[str(bound)] = known
            low, high = (limit, limited) if bound.end == "min" else (limited, limit)
            self.encoding.assumptions.append(low.term <= high.term)
        return limit

    def _remainder(self, remainder: Remainder) -> Exact:
        """What a variable leaves when divided."""
        value = self._of_value(self.values[remainder.variable.name])
        return self._arithmetic("%", value, self._exact(remainder.divisor))

    def _arithmetic(self, sign: str, left: Exact, right: Exact) -> Exact:
        """Arithmetic as Python has it."""
        if self.form.whole:
            x, y = left.term, right.term
            if sign in ("//", "%"):
                self._divisor(y != 0)
                if self.form.by_definition:
                    quotient, remainder = self._divided(x, y)
                    return Exact(quotient if sign == "//" else remainder, 0)
                operate = smt.floordiv if sign == "//" else smt.floormod
                return Exact(operate(z3, index, x, y), 0)
            return Exact({"+": x + y, "-": x - y, "*": x * y}[sign], 0)
        width = left.width + right.width if sign == "*" else max(left.width, right.width) + 1
        x, y = _extended(left, width), _extended(right, width)
        if sign in ("//", "%"):
            self._divisor(y != 0)
            if sign == "%":
                return Exact(x % y, width)
            remainder = z3.SRem(x, y)
            return Exact(z3.If(z3.And(remainder != 0, (remainder < 0) != (y < 0)), x / y - 1, x / y), width)
        return Exact({"+": x + y, "-": x - y, "*": x * y}[sign], width)

    def _common_divisor(self, number: CommonDivisor) -> Exact:
        """An unknown positive number that divides both, which are not both 0; that it is the greatest is not used."""
        left, right = _aligned(self._exact(number.left), self._exact(number.right))
        self._divisor(z3.Or(left.term != 0, right.term != 0))
        sort = z3.IntSort() if self.form.whole else z3.BitVecSort(left.width)
        divisor = z3.Const(str(number), sort)
        if str(number) not in self.bounds:
            self.bounds[str(number)] = Value(divisor, index)
            self.encoding.assumptions.append(divisor > 0)
            divisors = len(self.divisors)
            for part in (left, right):
                self.encoding.assumptions.append(self._is_multiple(part, Exact(divisor, left.width)))
            del self.divisors[divisors:]  # it is positive
        return Exact(divisor, left.width)

    def _divided(self, x: Any, y: Any, exactly: bool = False) -> tuple[Any, Any]:
        """x ÷ y as two numbers that are known by what defines them.

        exactly: y divides x. This is taken for granted.
        """
        name = f"{x} ÷ {y}"
        if name not in self.divided:
            quotient, remainder = z3.Int(f"quotient of {name}"), z3.Int(f"remainder of {name}")
            above, below = z3.And(0 <= remainder, remainder < y), z3.And(y < remainder, remainder <= 0)
            bounds = z3.If(y > 0, above, below)
            if exactly:
                remainder, bounds = z3.IntVal(0), y != 0
            definition = quotient * y + remainder
            self.divided[name] = quotient, remainder
            self.encoding.assumptions += [x == definition, bounds]
            if z3.is_const(x) and not z3.is_int_value(x):
                self.substitutions.append((x, definition))
        return self.divided[name]

    def _divisor(self, is_not_zero: Any) -> None:
        """Note that a guard, or the replacement, divides: what holds before it must rule out a division by 0."""
        self.divisors.append(z3.And(*self.satisfying(), z3.Not(is_not_zero)))

    # The replacement.

    def _replacement(self, pattern: Operand, type: Attribute) -> Meant:
        """What stands in the place of a value of type `type`."""
        if isinstance(pattern, Variable):
            return self.values[pattern.name], z3.BoolVal(True)
        if isinstance(pattern, Term):
            op = pattern.head.op
            operands = self._operands(op, pattern.operands or (), type)
            return self.encoding.apply(op, operands, i1 if issubclass(op, AluOp) and op.row().compares else type)
        if isinstance(pattern, NumberExpression):
            if isinstance(pattern, Constant) and self.values[pattern.name].type == type:
                return self.values[pattern.name], z3.BoolVal(True)
            return Value(self._wrapped(pattern, type), type), z3.BoolVal(True)
        assert isinstance(pattern, int | float)
        return Value(self.encoding.number(pattern, type), type), z3.BoolVal(True)

    def _operands(self, op: type[Operation], patterns: Sequence[Operand], type: Attribute) -> list[Meant]:
        """Numbers take the type of a sibling, as the matcher has it."""
        if not issubclass(op, AluOp):
            return [self._replacement(pattern, type) for pattern in patterns]
        built: dict[int, Meant] = {}
        for place, pattern in enumerate(patterns):
            if not isinstance(pattern, NumberExpression | int | float):
                condition = op.row().name == "where" and place == 0
                built[place] = self._replacement(pattern, i1 if condition else type)
        siblings = [place for place in built if place > 0 or op.row().name != "where"]
        element = built[siblings[-1]][0].type if siblings else type
        for place, pattern in enumerate(patterns):
            if place not in built:
                built[place] = self._replacement(pattern, element)
        return [built[place] for place in range(len(patterns))]

    def _wrapped(self, number: NumberExpression, type: Attribute) -> Any:
        """A number as one of type `type`: integers wrap."""
        if is_bool(type):
            exact = self._exact(number)
            return exact.term != 0
        if self.form.whole:
            return self.encoding.reduced(self._exact(number).term, type)
        return self._modulo(number, bit_width(type))

    def _modulo(self, number: NumberExpression | float, width: int) -> Any:
        """The last bits of a number; sums and products need no more of their parts."""
        if isinstance(number, Arithmetic) and number.sign in ("+", "-", "*"):
            x, y = self._modulo(number.left, width), self._modulo(number.right, width)
            return {"+": x + y, "-": x - y, "*": x * y}[number.sign]
        exact = self._exact(number)
        if exact.width < width:
            return z3.SignExt(width - exact.width, exact.term)
        return z3.Extract(width - 1, 0, exact.term) if exact.width > width else exact.term

    # Questions.

    def satisfying(self) -> list[Any]:
        """What holds where the rule fires."""
        return [*self.encoding.definitions, *self.encoding.assumptions, *self.guards]

    def wrong(self) -> list[Any]:
        """What holds where the rule fires and is wrong (in an exact form: or means nothing)."""
        same = z3.And(self.right_meaning, self.left.term == self.right.term)
        return self._put([*self.satisfying(), self.left_meaning, z3.Not(same)])

    def leaving(self) -> list[list[Any]]:
        """What holds where the rule fires and a number leaves its bounds, for each number: none may, in an exact
        form."""
        return [self._put([*self.satisfying(), self.left_meaning, z3.Not(kept)]) for kept in self.encoding.obligations]

    def _put(self, constraints: list[Any]) -> list[Any]:
        """Constraints with the substitutions made."""
        definitions = [number == definition for number, definition in self.substitutions]
        for substitution in self.substitutions:
            constraints = [z3.substitute(constraint, substitution) for constraint in constraints]
        return [*constraints, *definitions]

    def describe(self, model: Any) -> str:
        """A counterexample: the values of variables, constants and bounds, and both sides."""
        values = self.describe_values(model)
        left = shown(model, self.left.term, self.left.type)
        if not z3.is_true(model.eval(self.right_meaning, model_completion=True)):
            return f"{values}: {left} became a division by zero"
        return f"{values}: {left} became {shown(model, self.right.term, self.right.type)}"

    def describe_values(self, model: Any) -> str:
        """The values of variables, constants and bounds."""
        named = self.values | self.bounds
        return ", ".join(f"{name} = {shown(model, value.term, value.type)}" for name, value in named.items())


def _compare(sign: str, x: Any, y: Any) -> Any:
    return {"<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y, "==": x == y, "!=": x != y}[sign]


def _aligned(left: Exact, right: Exact) -> tuple[Exact, Exact]:
    width = max(left.width, right.width)
    return Exact(_extended(left, width), width), Exact(_extended(right, width), width)


def _extended(number: Exact, width: int) -> Any:
    return number.term if number.width == width else z3.SignExt(width - number.width, number.term)
