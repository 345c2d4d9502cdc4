"""Constant folding: ALU ops on constants, by the semantics table."""

from collections.abc import Callable
from itertools import islice
from math import copysign

from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.monoids import Number
from ....dialects.semantics import ALU, Semantics, evaluate, numpy_dtype
from ....dialects.types import element_of, is_float
from ....dialects.uop import AluOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import Rule, constants
from ....rewriting.rules import Rules
from ....rewriting.values import number_of
from ....rewriting.vocabulary import ALU_PATTERNS

EXACT = (
    *("neg", "abs", "sign", "reciprocal", "sqrt", "floor", "ceil", "round", "trunc", "not", "isnan", "isinf"),
    *("add", "sub", "mul", "div", "floordiv", "floormod", "truncdiv", "truncmod", "min", "max"),
    *("pow", "and", "or", "xor", "shl", "shr", "eq", "ne", "lt", "le", "gt", "ge", "where"),
)
"""Ops whose result is the same to the last bit everywhere. exp and its like differ between machines and
libraries (so does pow of floats), and fma where it is computed in two roundings: they are left to the machine that
runs the kernel."""

DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")

INTEGER_FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "floordiv": lambda x, y: x // y,
    "floormod": lambda x, y: x % y,
    "min": min,
    "max": max,
    "lt": lambda x, y: x < y,
    "le": lambda x, y: x <= y,
    "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y,
    "eq": lambda x, y: x == y,
    "ne": lambda x, y: x != y,
}
"""What index arithmetic is made of, without numpy (whose import costs more than a kernel's compilation)."""


def is_no_constant(op: Operation) -> bool:
    """Whether the last operand is not one known number."""
    owner = op.operands[-1].owner
    return not isinstance(owner, Operation) or number_of(owner) is None


def evaluate_constant(row: Semantics, element: Attribute, numbers: list[Number]) -> Number | None:
    """The ALU op `row` on numbers of type `element`, unwrapped if an integer; None where it has no or no one
    meaning."""
    if is_float(element):
        if row.name in ("min", "max") and numbers[0] == numbers[1] == 0:
            x, y = numbers
            if copysign(1.0, x) != copysign(1.0, y):
                return None
        elif row.name == "pow":
            return None
    elif row.name in DIVISIONS and numbers[1] == 0:
        return None
    elif (function := INTEGER_FUNCTIONS.get(row.name)) is not None:
        return function(int(numbers[0]), int(numbers[1]))
    import numpy as np

    dtypes = [numpy_dtype(element)] * len(numbers)
    if row.name == "where":
        dtypes[0] = "bool"
    operands = [np.asarray(number, dtype) for number, dtype in zip(numbers, dtypes, strict=True)]
    result: Number = evaluate(np, row, element, operands).item()
    return float("nan") if result != result else result  # one NaN, whatever the machine gives


def fold(builder: RewriteBuilder, op: Operation) -> SSAValue | None:
    """The result of an ALU op on constants."""
    assert isinstance(op, AluOp)
    numbers: list[Number] = []
    for operand in op.operands:
        owner = operand.owner
        number = number_of(owner) if isinstance(owner, Operation) else None
        assert number is not None
        numbers.append(number)
    number = evaluate_constant(op.row(), element_of(op.operands[-1].type), numbers)
    return None if number is None else builder.number(number, op.results[0].type)


def _folding(row: Semantics) -> Rule:
    operands = tuple(islice(constants("a b c"), row.arity))
    return ALU_PATTERNS[row.name].ordered[operands] >> fold


FOLDING = Rules(*(_folding(ALU[name]) for name in EXACT))
