"""Compiles rules to Python: for each op class one function that tries all rules whose root it is.

The function takes the op and the `Rewriter` and returns (rule, replacement) for the first rule that applies, else
None. What several rules look at (operands, the ops that define them, constants) is fetched once, and tests come
before anything is built.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import copysign, inf, nan
from typing import Any

from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, OptOperandDef, OptResultDef, VarOperandDef, VarResultDef

from ..dialects.monoids import Number
from ..dialects.uop import AluOp, ConstOp, ExpandOp
from .patterns import (
    ANY,
    Bound,
    Capture,
    Condition,
    Constant,
    NumberExpression,
    Operand,
    Rule,
    Term,
    Variable,
)
from .values import kind_of, number_of, same_number

Found = tuple[Rule, SSAValue | Sequence[SSAValue]]
Matcher = Callable[[Operation, Any], Found | None]


def compile_matcher(op: type[Operation], rules: Iterable[Rule]) -> tuple[Matcher, str]:
    """The matcher of the rules whose root is `op`, tried in order, and its source."""
    body: list[str] = []
    scope: dict[str, Any] = {
        "Const": ConstOp,
        "Expand": ExpandOp,
        "number_of": number_of,
        "same_number": same_number,
        "kind_of": kind_of,
        "copysign": copysign,
        "inf": inf,
        "nan": nan,
    }
    shared = _Shared(op, scope)
    for rule in rules:
        for term in _orders(rule.term):
            body += _Compiler(rule, term, shared).lines()
    lines = ["def match(op, rewriter):", *(f"    {line}" for line in (*shared.lines(), *body, "return None"))]
    source = "\n".join(lines)
    exec(compile(source, f"<rules of {op.name}>", "exec"), scope)
    return scope["match"], source


def _arity(op: type[Operation]) -> int | None:
    """How many operands every op of this class has; None where that differs."""
    if issubclass(op, AluOp):
        return op.row().arity
    if issubclass(op, IRDLOperation):
        operands = [definition for _, definition in op.get_irdl_definition().operands]
        if not any(isinstance(definition, VarOperandDef | OptOperandDef) for definition in operands):
            return len(operands)
    return None


def _has_one_result(op: type[Operation]) -> bool:
    if not issubclass(op, IRDLOperation):
        return False
    results = [definition for _, definition in op.get_irdl_definition().results]
    return len(results) == 1 and not isinstance(results[0], VarResultDef | OptResultDef)


def _orders(term: Term) -> Iterator[Term]:
    """The term with the operands of its commutative ops in every order, each order once."""
    if term.operands is None:
        yield term
        return
    choices: list[list[Operand]] = []
    for operand in term.operands:
        if isinstance(operand, Capture):
            choices.append([Capture(operand.variable, inner) for inner in _orders(operand.term)])
        else:
            choices.append(list(_orders(operand)) if isinstance(operand, Term) else [operand])
    seen: set[str] = set()
    for operands in product(*choices):
        for order in (operands, operands[::-1]) if term.head.commutative else (operands,):
            candidate = Term(term.head, order)
            if (text := str(candidate)) not in seen:
                seen.add(text)
                yield candidate


class _Shared:
    """What the rules of one op class share: objects that the code names, and what it fetches of the root's
    operands.

    Only that is fetched which a rule uses.
    """

    def __init__(self, op: type[Operation], scope: dict[str, Any]):
        self.arity = _arity(op)
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
            lines += _fetch_owner(str(i))
        lines += [_fetch_number(str(i)) for i in sorted(self.numbers)]
        # The operands of an ALU op have one element type, but for where's condition, which comes first.
        return [*lines, f"kind = kind_of(v{self.arity - 1})"] if self.kind else lines

    def kind_of(self, path: str) -> str:
        """The expression for the kind of the value at a path."""
        if self.is_alu and self.arity and "_" not in path and (path != "0" or self.arity < 3):
            self.kind = True
            return "kind"
        return f"kind_of(v{path})"


def _fetch_owner(path: str) -> list[str]:
    return [f"o{path} = v{path}.owner; t{path} = type(o{path})"]


def _fetch_number(path: str) -> str:
    return f"k{path} = number_of(o{path}) if t{path} is Const or t{path} is Expand else None"


class _Compiler:
    """One rule in one order of operands.

    Names in the code: `v0_1` is operand 1 of the op that gives operand 0 of the root, `o0_1` the op that
    gives it, `t0_1` that op's class, `k0_1` its number.
    """

    def __init__(self, rule: Rule, term: Term, shared: _Shared):
        self.rule = rule
        self.term = term
        self.shared = shared
        self.code: list[str] = []
        self.indent = 0
        self.bound: dict[str, str] = {}  # variable or constant → expression
        self.intervals: dict[str, str] = {}  # variable → name of its interval
        self.matched: list[str] = []  # ops below the root that the term matches
        self.late: list[str] = []  # tests of element types, dearer than those of structure
        self.built = 0

    def lines(self) -> list[str]:
        self._line(f"# {self.term} at {self.rule.place}")
        self._match_operands(self.term, "")
        for test in dict.fromkeys(self.late):
            self._test(test)
        for guard in self.rule.guards:
            self._test(self._condition(guard) if isinstance(guard, Condition) else self._call(guard))
        self._replace()
        return self.code

    # Writing code.

    def _line(self, text: str) -> None:
        self.code.append("    " * self.indent + text)

    def _test(self, condition: str) -> None:
        self._line(f"if {condition}:")
        self.indent += 1

    # The term.

    def _match_operands(self, term: Term, path: str) -> None:
        """Test the operands of a term whose op is matched; near ones before those further in."""
        if term.operands is None:
            return
        op = f"o{path}" if path else "op"
        arity = _arity(term.head.op)
        if arity is not None and arity != len(term.operands):
            raise TypeError(f"{self.rule.place}: {term.head.name} takes {arity} operands: {self.rule}")
        if arity is None:
            self._test(f"len({op}._operands) == {len(term.operands)}")
        paths = [f"{path}_{i}" if path else str(i) for i in range(len(term.operands))]
        if (path or not self.shared.arity) and paths:
            self._line(f"{''.join(f'v{p}, ' for p in paths)}= {op}._operands")
        inner: list[tuple[Term, str]] = []
        for operand, place in zip(term.operands, paths, strict=True):
            self._match(operand, place, inner)
        for operand, place in inner:
            self._match_operands(operand, place)

    def _match(self, operand: Operand, path: str, inner: list[tuple[Term, str]]) -> None:
        value = f"v{path}"
        if isinstance(operand, Capture):
            self.bound[operand.variable.name] = value
            operand = operand.term
        if isinstance(operand, Variable):
            self._match_variable(operand, path)
        elif isinstance(operand, Constant):
            number = self._number(path)
            self._test(f"{number} is not None")
            if (known := self.bound.get(operand.name)) is None:
                self.bound[operand.name] = number
            else:
                self._test(f"same_number({known}, {number})")
        elif isinstance(operand, Term):
            if not _has_one_result(operand.head.op):
                raise TypeError(f"{self.rule.place}: {operand.head.name} has not one result: {self.rule}")
            self._owner(path)
            self._test(f"t{path} is {self.shared.name_of(operand.head.op, 'Op')}")
            self.matched.append(f"o{path}")
            inner.append((operand, path))
        elif isinstance(operand, int | float):
            self._test(_is_number(self._number(path), operand))
        else:
            raise TypeError(f"{self.rule.place}: {operand} is no pattern, it stands in replacements only: {self.rule}")

    def _match_variable(self, variable: Variable, path: str) -> None:
        value = f"v{path}"
        known = self.bound.get(variable.name)
        if known is None:
            self.bound[variable.name] = value
            if variable.types is not ANY:
                kinds = self.shared.name_of(variable.types.kinds, "Kinds")
                self.late.append(f"{self.shared.kind_of(path)} in {kinds}")
            return
        number = self._number(path)
        self._test(
            f"{value} is {known} or {number} is not None and {value}.type == {known}.type"
            f" and (k := number_of({known}.owner)) is not None and same_number(k, {number})"
        )

    def _owner(self, path: str) -> None:
        if "_" not in path and self.shared.arity:
            self.shared.owners.add(int(path))
        else:
            self._line(_fetch_owner(path)[0])

    def _number(self, path: str) -> str:
        if "_" not in path and self.shared.arity:
            self.shared.numbers.add(int(path))
        else:
            self._owner(path)
            self._line(_fetch_number(path))
        return f"k{path}"

    # Guards.

    def _leaf(self, leaf: Constant | Bound) -> str:
        if isinstance(leaf, Constant):
            return self.bound[leaf.name]
        return f"{self.intervals[leaf.variable.name]}.{'low' if leaf.end == 'min' else 'high'}"

    def _condition(self, condition: Condition) -> str:
        for leaf in condition.leaves():
            if isinstance(leaf, Bound):
                self._interval(leaf.variable)
        return condition.render(self._leaf)

    def _interval(self, variable: Variable) -> None:
        if variable.name in self.intervals:
            return
        if "float" in variable.types.kinds:
            raise TypeError(f"{self.rule.place}: floats have no {variable}.min: {self.rule}")
        name = self.intervals[variable.name] = f"i{len(self.intervals)}"
        self._line(f"{name} = rewriter.interval({self.bound[variable.name]})")

    def _call(self, function: Callable[..., Any], *arguments: str) -> str:
        """A call of a function that names what it wants to know."""
        code = function.__code__
        names = code.co_varnames[len(arguments) : code.co_argcount]
        known = {"op": "op", "result": "op.results[0]", **self.bound}
        if missing := [name for name in names if name not in known]:
            raise TypeError(f"{self.rule.place}: the term binds no {', '.join(missing)}: {self.rule}")
        return (
            f"{self.shared.name_of(function, 'Function')}({', '.join((*arguments, *(known[name] for name in names)))})"
        )

    # The replacement.

    def _replace(self) -> None:
        rule = self.shared.name_of(self.rule, "Rule")
        replacement = self.rule.replacement
        if isinstance(replacement, Variable):
            self._line(f"return {rule}, {self.bound[replacement.name]}")
            return
        self._line(f"builder = rewriter.builder({', '.join(('op', *self.matched))})")
        if isinstance(replacement, Term):
            value = self._build(replacement, "op.results[0].type")
        elif isinstance(replacement, NumberExpression | int | float):
            value = self._build_number(replacement, "op.results[0].type")
        else:
            value = self._name()
            self._line(f"{value} = {self._call(replacement, 'builder')}")
            self._test(f"{value} is not None")
        self._line(f"return {rule}, {value}")

    def _name(self) -> str:
        self.built += 1
        return f"n{self.built}"

    def _build(self, operand: Operand, type_: str) -> str:
        """Build a pattern as a value of type `type_`; the expression that holds it."""
        if isinstance(operand, Variable):
            return self.bound[operand.name]
        if isinstance(operand, NumberExpression | int | float):
            return self._build_number(operand, type_)
        assert isinstance(operand, Term)
        assert operand.operands is not None
        op = operand.head.op
        name = self._name()
        if issubclass(op, AluOp):
            operands = self._build_operands(op, operand.operands, type_)
            self._line(f"{name} = builder.alu({op.row().name!r}, {', '.join(operands)})")
        else:
            if len(operand.operands) != 1 or _arity(op) != 1 or not isinstance(operand.operands[0], Variable):
                raise TypeError(f"{self.rule.place}: use a function to build {operand}: {self.rule}")
            value = self.bound[operand.operands[0].name]
            kind = self.shared.name_of(op, "Op")
            self._line(f"{name} = builder.pure({kind}, ({value},), ({type_},)).results[0]")
        return name

    def _build_operands(self, op: type[AluOp], operands: tuple[Operand, ...], type_: str) -> list[str]:
        """Numbers take the type of a sibling: all operands of an ALU op have one type, but for where's
        condition."""
        numbers = [i for i, operand in enumerate(operands) if isinstance(operand, NumberExpression | int | float)]
        built = {i: self._build(operand, type_) for i, operand in enumerate(operands) if i not in numbers}
        siblings = [i for i in built if i > 0 or op.row().name != "where"]
        if siblings:
            type_ = f"{built[siblings[-1]]}.type"
        elif op.row().compares:
            raise TypeError(f"{self.rule.place}: of what type are the numbers of {op.name}? {self.rule}")
        for i in numbers:
            operand = operands[i]
            assert isinstance(operand, NumberExpression | int | float)
            built[i] = self._build_number(operand, type_)
        return [built[i] for i in range(len(operands))]

    def _build_number(self, number: NumberExpression | Number, type_: str) -> str:
        text = number.render(self._leaf) if isinstance(number, NumberExpression) else repr(number)
        name = self._name()
        self._line(f"{name} = builder.number({text}, {type_})")
        self._test(f"{name} is not None")
        return name


def _is_number(name: str, number: Number) -> str:
    """The test that a constant's number is exactly this one."""
    if isinstance(number, bool):
        return f"{name} is {number}"
    test = f"{name} == {number!r} and type({name}) is float"
    if number == 0:
        test += f" and copysign(1.0, {name}) == {copysign(1.0, number)}"
    return test if isinstance(number, float) else f"({name} == {number} and type({name}) is int or {test})"
