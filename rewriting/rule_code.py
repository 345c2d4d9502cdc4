"""The Python that is generated for one rule: what it has written so far, and what its names stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from ..dialects.uop import AluOp
from .definitions import fixed_arity
from .expressions import Bound, Condition, Constant, Leaf, NumberExpression, Remainder, UseCondition, Value
from .patterns import Rule, parameters_of


class SharedCode:
    """What the rules of one op class share: objects that the code names, and what it fetches of the root's
    operands.

    Only that is fetched which a rule uses.
    """

    def __init__(self, op: type[Operation], scope: dict[str, Any]):
        self.op = op
        self.arity = fixed_arity(op)
        self.scope = scope
        self.is_alu = issubclass(op, AluOp)
        self.owners: set[int] = set()
        self.numbers: set[int] = set()
        self.kind = False
        self._names: dict[int, str] = {}

    def name_of(self, value: object, prefix: str) -> str:
        """The name of an object in the generated code."""
        name = self._names.get(id(value))
        if name is None:
            name = self._names[id(value)] = f"{prefix}{len(self._names)}"
            self.scope[name] = value
        return name

    def lines(self) -> list[str]:
        if not self.arity:
            return []
        names = "".join(f"v{i}, " for i in range(self.arity))
        lines = [f"{names}= op._operands"]
        for i in sorted(self.owners | self.numbers):
            lines.append(fetch_owner(str(i)))
        lines += [fetch_number(str(i)) for i in sorted(self.numbers)]
        # The operands of an ALU op have one element type, but for where's condition, which comes first.
        return [*lines, f"kind = kind_of(v{self.arity - 1}.type)"] if self.kind else lines

    def kind_of(self, path: str) -> str:
        """The expression for the kind of the value at a path."""
        if self.is_alu and self.arity and path.isdecimal() and (path != "0" or self.arity < 3):
            self.kind = True
            return "kind"
        return f"kind_of(v{path}.type)"


def fetch_owner(path: str) -> str:
    return f"o{path} = v{path}.owner; t{path} = type(o{path})"


def fetch_number(path: str) -> str:
    return f"k{path} = read(o{path}) if (read := Readers[t{path}]) is not None else None"


class RuleCode:
    """The code of one rule in one order of operands.

    Names in the code: `v0_1` is operand 1 of the op that gives operand 0 of the root, `o0_1` the op that
    gives it, `t0_1` that op's class, `k0_1` its number, `p0_axes` that op's property; `a0` and `b0` are the two
    operands of a commutative op; `n1` is what has been built.
    """

    def __init__(self, rule: Rule, shared: SharedCode):
        self.rule = rule
        self.shared = shared
        self.lines: list[str] = []
        self.bound: dict[str, str] = {}  # name of what the term binds → expression
        self.matched: list[str] = []  # ops below the root that the term matches
        self._indent = 0
        self._intervals: dict[str, str] = {}  # variable, or remainder of one → name of its interval
        self._names = 0

    def line(self, text: str) -> None:
        self.lines.append("    " * self._indent + text)

    def test(self, condition: str) -> None:
        self.line(f"if {condition}:")
        self._indent += 1

    def loop(self, names: str, values: str) -> None:
        """Try what follows for each of several values."""
        self.line(f"for {names} in ({values}):")
        self._indent += 1

    def new_name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}{self._names}"

    def error(self, message: str) -> TypeError:
        return TypeError(f"{self.rule.place}: {message}: {self.rule}")

    def name_of(self, value: object, prefix: str) -> str:
        return self.shared.name_of(value, prefix)

    def known(self, name: str) -> str:
        """The expression for what the term binds under this name."""
        if name not in self.bound:
            raise self.error(f"the term binds no {name}")
        return self.bound[name]

    # Values.

    def owner(self, path: str) -> None:
        """See to it that the owner of a value is there, with its class."""
        if path.isdecimal() and self.shared.arity:
            self.shared.owners.add(int(path))
        else:
            self.line(fetch_owner(path))

    def number(self, path: str) -> str:
        """The number of a value, None if it is no constant."""
        if path.isdecimal() and self.shared.arity:
            self.shared.numbers.add(int(path))
        else:
            self.owner(path)
            self.line(fetch_number(path))
        return f"k{path}"

    # Guards.

    def render(self, expression: NumberExpression | Condition) -> str:
        """The Python of an expression or a condition; what it knows of variables is fetched before."""
        if isinstance(expression, UseCondition):
            value, number = self.known(expression.uses.variable.name), expression.number
            return f"use_count({value}, {number + 1}) {expression.sign} {number}"
        for leaf in expression.leaves():
            if isinstance(leaf, Bound):
                self._fetch_interval(leaf.of)
        return expression.render(self._leaf)

    def _leaf(self, leaf: Leaf) -> str:
        """The expression for a constant's number, or the end of an interval."""
        if isinstance(leaf, Constant):
            return self.known(leaf.name)
        assert isinstance(leaf, Bound)
        return f"{self._intervals[str(leaf.of)]}.{'low' if leaf.end == 'min' else 'high'}"

    def _fetch_interval(self, of: Value | Remainder) -> None:
        """See to it that the interval of a variable, or of its remainder, is there."""
        if str(of) in self._intervals:
            return
        variable = of.variable if isinstance(of, Remainder) else of
        if "float" in variable.types.kinds:
            raise self.error(f"floats have no {of}.min")
        value = self.known(variable.name)
        fetch = f"rewriter.interval({value})"
        if isinstance(of, Remainder):
            divisor = self.render(of.divisor) if isinstance(of.divisor, NumberExpression) else str(of.divisor)
            fetch = f"rewriter.remainder({value}, {divisor})"
        name = self._intervals[str(of)] = f"i{len(self._intervals)}"
        self.line(f"{name} = {fetch}")

    def call(self, function: Callable[..., Any], *arguments: str) -> str:
        """A call of a function that names what it wants to know."""
        own = {"op": "op", "result": "op.results[0]"}
        names = parameters_of(function, len(arguments))
        missing = [name for name in names if name not in self.bound and name not in own]
        if missing:
            raise self.error(f"the term binds no {', '.join(missing)}")
        values = (self.bound.get(name) or own[name] for name in names)
        return f"{self.name_of(function, 'Function')}({', '.join((*arguments, *values))})"
