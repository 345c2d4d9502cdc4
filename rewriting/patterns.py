"""The language of rewrite rules: `add[x, 0] >> x` is a rule, and a rule is data.

Here is what makes terms: ops, applied to patterns (variables, constants, numbers, terms). All that rules are written
with can be imported from here. Rules are compiled (`matcher.py`), printed, counted and proved; nothing here looks at an
operation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import EllipsisType

from xdsl.ir import Operation
from xdsl.traits import Commutative

from .definitions import operand_fields, property_fields
from .expressions import (
    RESULT,
    Arithmetic,
    Bound,
    CommonDivisor,
    Comparison,
    Condition,
    Constant,
    Divisible,
    Fact,
    Leaf,
    NumberExpression,
    Pattern,
    Remainder,
    UseCondition,
    Uses,
    gcd,
)
from .terms import (
    AnyOf,
    Assumption,
    Guard,
    Guarded,
    Head,
    Operand,
    PropertyPattern,
    Replacement,
    Rule,
    RuleGroup,
    Term,
    parameters_of,
    variables_of,
)
from .type_classes import ANY, BITS, BOOL, FLOAT, INDEX, INTEGER, SIGNED, TypeClass, exactly
from .variables import (
    Anything,
    AttributeVariable,
    Capture,
    Operands,
    Variable,
    attributes,
    constants,
    operands,
    variables,
)

__all__ = [
    "ANY",
    "BITS",
    "BOOL",
    "FLOAT",
    "INDEX",
    "INTEGER",
    "RESULT",
    "SIGNED",
    "AnyOf",
    "Anything",
    "Arithmetic",
    "Assumption",
    "AttributeVariable",
    "Bound",
    "Capture",
    "CommonDivisor",
    "Comparison",
    "Condition",
    "Constant",
    "Divisible",
    "Fact",
    "Guard",
    "Guarded",
    "Head",
    "Leaf",
    "NumberExpression",
    "OneOf",
    "OpPattern",
    "Operand",
    "Operands",
    "Pattern",
    "PropertyPattern",
    "Remainder",
    "Replacement",
    "Rule",
    "RuleGroup",
    "Term",
    "TypeClass",
    "UseCondition",
    "Uses",
    "Variable",
    "any_of",
    "attributes",
    "constants",
    "exactly",
    "gcd",
    "op",
    "operands",
    "parameters_of",
    "variables",
    "variables_of",
]


def any_of(*options: Operand) -> AnyOf:
    """One of these patterns: `mul[x, any_of(2, add[1, 1])]`. All must bind what the rule speaks of."""
    return AnyOf(options)


@dataclass(frozen=True)
class OpPattern(Head):
    """An op of which terms are made: `add[x, y]`; `add[...]` takes any operands, `add[x, ...]` any second one.

    Of a commutative op, `add.ordered[x, y]` matches in this order of operands only.
    """

    @property
    def ordered(self) -> OpPattern:
        return replace(self, name=f"{self.name}.ordered", commutative=False)

    def __or__(self, other: OpPattern | OneOf) -> OneOf:
        return OneOf((self, *(other.heads if isinstance(other, OneOf) else (other,))))

    def __getitem__(self, operands: Operand | EllipsisType | tuple[Operand | EllipsisType, ...]) -> Term:
        if isinstance(operands, EllipsisType):
            return Term(self, None)
        patterns = operands if isinstance(operands, tuple) else (operands,)
        return Term(self, tuple(Anything() if isinstance(o, EllipsisType) else o for o in patterns))

    def __call__(self, **fields: Operand | PropertyPattern) -> Term:
        """A term by the names of operands and properties in the op's definition: `load(buffer=x, mask=None)`.

        Those left out do not matter. None: an optional one that is absent.
        """
        names, properties = operand_fields(self.op), property_fields(self.op)
        if not names and not properties:
            raise TypeError(f"{self.name} has no definition whose fields could be named")
        term = Term(self, None)
        named: dict[str, Operand | None] = {}
        for name, pattern in fields.items():
            if name in names:
                assert pattern is None or isinstance(pattern, Operand)
                named[name] = pattern
            elif name in properties:
                assert not isinstance(pattern, Pattern | NumberExpression)
                term = term.having(**{name: pattern})
            else:
                raise TypeError(f"{self.op.name} has no {name}: its fields are {', '.join((*names, *properties))}")
        if named and all(names.values()):  # one operand in each field: by position, as if written so
            operands = (named.get(name) for name in names)
            return replace(term, operands=tuple(Anything() if o is None else o for o in operands))
        return replace(term, named=tuple(named.items())) if named else term


@dataclass(frozen=True, eq=False)
class OneOf:
    """`add | sub`: an op that is one of these, and in one rule everywhere the same one."""

    heads: tuple[OpPattern, ...]

    def __or__(self, other: OpPattern | OneOf) -> OneOf:
        return OneOf((*self.heads, *(other.heads if isinstance(other, OneOf) else (other,))))

    def __getitem__(self, operands: Operand | EllipsisType | tuple[Operand | EllipsisType, ...]) -> AnyOf:
        return AnyOf(tuple(head[operands] for head in self.heads), key=self)


def op(
    cls: type[Operation],
    name: str | None = None,
    commutative: bool | None = None,
    constant: type[Operation] | None = None,
) -> OpPattern:
    """The pattern of any op class of any dialect: `addi = op(arith.AddiOp, constant=arith.ConstantOp)`.

    name: what rules are printed with; the op's own name where none is given
    commutative: as the op's trait says where nothing is given
    constant: see `Head`
    """
    if commutative is None:
        commutative = any(isinstance(trait, Commutative) for trait in cls.traits)
    return OpPattern(name or cls.name.removeprefix("uop."), cls, commutative, constant)
