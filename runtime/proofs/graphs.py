"""Proofs by z3 of instances: that two functions of scalars, before and after a rule, are the same for all arguments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import z3
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...dialects.types import element_of
from ...dialects.uop import AluOp, CastOp, ConstOp, ExpandOp
from .encoding import Encoding, Form, Meant, NotSymbolicError, Value, shown
from .instances import Instance, returned


@dataclass
class GraphQuestion:
    """Two functions as terms of the solver. Raises `NotSymbolicError` where it has none for an op."""

    instance: Instance
    before: FuncOp
    after: FuncOp
    form: Form
    arguments: dict[str, Value] = field(default_factory=dict[str, Value])

    def __post_init__(self) -> None:
        self.encoding = Encoding(self.form)
        for name, type in self.instance.typing.variables.items():
            self.arguments[name] = Value(self.encoding.unknown(name, type), type)
        self.left, self.left_meaning = self._value(self.before)
        self.right, self.right_meaning = self._value(self.after)

    def _value(self, function: FuncOp) -> Meant:
        """What a function returns."""
        block = function.body.block
        known: dict[SSAValue, Meant] = {
            argument: (value, z3.BoolVal(True))
            for argument, value in zip(block.args, self.arguments.values(), strict=True)
        }
        for op in block.ops:
            if op is not block.last_op:
                known[op.results[0]] = self._result(op, [known[operand] for operand in op.operands])
        return known[returned(function)]

    def _result(self, op: Operation, operands: Sequence[Meant]) -> Meant:
        type = element_of(op.results[0].type)
        if isinstance(op, ConstOp):
            return Value(self.encoding.number(op.number, type), type), z3.BoolVal(True)
        if isinstance(op, ExpandOp):
            return operands[0]
        if not isinstance(op, AluOp | CastOp):
            raise NotSymbolicError(op.name)
        return self.encoding.apply(op.__class__, operands, type)

    def satisfying(self) -> list[Any]:
        """What holds of all arguments."""
        return [*self.encoding.definitions, *self.encoding.assumptions]

    def wrong(self) -> list[Any]:
        """What holds where the functions differ."""
        same = z3.And(self.right_meaning, self.left.term == self.right.term)
        return [*self.satisfying(), self.left_meaning, z3.Not(same)]

    def leaving(self) -> list[list[Any]]:
        """What holds where a number leaves its bounds, for each number: none may, in an exact form."""
        return [[*self.satisfying(), self.left_meaning, z3.Not(kept)] for kept in self.encoding.obligations]

    def describe(self, model: Any) -> str:
        """A counterexample."""
        values = [f"{name} = {shown(model, value.term, value.type)}" for name, value in self.arguments.items()]
        sides = [shown(model, side.term, side.type) for side in (self.left, self.right)]
        return f"{', '.join((str(self.instance), *values))}: {sides[0]} became {sides[1]}"
