"""Bounds by z3: whether there is a thread and a step whose access leaves its buffer.

z3 is optional, and loaded when the first question is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from importlib import import_module
from typing import Any

from xdsl.ir import Block, Operation, SSAValue

from ..dialects import gpu_kernel, loop, tile
from ..dialects.semantics import ALU
from ..dialects.types import bit_width, element_of, i1, index, integer_bounds, is_bool, is_float
from ..dialects.uop import ALU_OPS, AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, LoadOp, RangeOp
from .accesses import Access
from .diagnostics import PassError
from .interval_arithmetic import Interval
from .intervals import LAUNCH_IDS
from .linear import name_of
from .ranges import RangeAnalysis
from .values import constant_of

EFFORT = 4_000_000
"""z3's count of steps for one question: unlike a time, it gives the same answer on any machine."""


class MissingSolverError(PassError):
    """z3 is not installed."""


def _load() -> Any:
    try:
        return import_module("z3")
    except ImportError as error:
        raise MissingSolverError(
            "ranges do not prove every access, and z3, which could, is not installed", None, "pip install uop[prove]"
        ) from error


class BoundsSolver:
    """Questions about one kernel. Integers are whole numbers; what may wrap around is taken modulo its width.

    loose: of pinned values only the range is known, not what they are made of. A proof is one, a witness is none; the
      exclusive or with which swizzled slabs are read, which solvers find hard, is out of the way.
    """

    def __init__(self, ranges: RangeAnalysis, loose: bool = False) -> None:
        self.z3 = _load()
        self.ranges = ranges
        self._loose = loose
        self._terms: dict[SSAValue, Any] = {}
        self._facts: dict[SSAValue, list[Any]] = {}
        """Value → what is known of its term."""
        self._names: dict[SSAValue, str] = {}

    def find_outside(self, access: Access, place: SSAValue, allowed: Interval) -> dict[str, int] | None:
        """Values by name for which the access happens with an index that is not allowed.

        None where there are none, which is a proof; empty where the solver gives up.
        """
        z3 = self.z3
        solver = z3.Solver()
        solver.set("rlimit", EFFORT)
        values = [place]
        for condition, holds in access.conditions:
            term = self.term(condition)
            solver.add(term if holds else z3.Not(term))
            values.append(condition)
        parent = access.op.parent_op()
        while parent is not None:  # loops with no steps count, though nothing depends on their index
            if isinstance(parent, loop.ForOp | loop.ReduceOp | gpu_kernel.ForOp):
                values.append(parent.index)
            parent = parent.parent_op()
        term = self.term(place)
        solver.add(z3.Or(term < allowed.low, term > allowed.high))
        variables: dict[SSAValue, None] = {}
        for value in self._reached(values):
            solver.add(*self._facts.get(value, ()))
            if value in self._names:
                variables[value] = None
        answer = solver.check()
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            return {}
        model = solver.model()
        witness: dict[str, int] = {}
        for value in sorted(variables, key=lambda value: list(self._names).index(value)):
            number = model.eval(self._terms[value], model_completion=True)
            witness[self._names[value]] = int(z3.is_true(number)) if z3.is_bool(number) else number.as_long()
        witness["index"] = model.eval(term, model_completion=True).as_long()
        return witness

    def _reached(self, values: list[SSAValue]) -> list[SSAValue]:
        """The values that some depend on, themselves included."""
        reached: dict[SSAValue, None] = {}
        stack = list(values)
        while stack:
            value = stack.pop()
            if value not in reached:
                self.term(value)
                reached[value] = None
                stack += self._operands(value)
        return list(reached)

    def term(self, value: SSAValue) -> Any:
        """The value as a term: of sort Int, or Bool for bools."""
        terms = self._terms
        stack = [value]
        while stack:
            top = stack[-1]
            if top in terms:
                stack.pop()
                continue
            missing = [operand for operand in self._operands(top) if operand not in terms]
            if missing:
                stack += reversed(missing)
                continue
            terms[top] = self._build(top)
            stack.pop()
        return terms[value]

    def _operands(self, value: SSAValue) -> list[SSAValue]:
        """The values that the term of one is made of."""
        return [] if self._loose and isinstance(value.owner, gpu_kernel.PinOp) else _dependencies(value)

    def _build(self, value: SSAValue) -> Any:
        z3, owner = self.z3, value.owner
        if isinstance(owner, ConstOp) and isinstance(owner.number, int):
            return z3.BoolVal(owner.number) if is_bool(element_of(value.type)) else z3.IntVal(int(owner.number))
        if isinstance(owner, Operation) and self._operands(value):
            return self._computed(value, owner, [self._terms[operand] for operand in owner.operands])
        return self._variable(value)

    def _computed(self, value: SSAValue, op: Operation, operands: list[Any]) -> Any:
        z3, element = self.z3, element_of(value.type)
        if isinstance(op, ExpandOp | gpu_kernel.PinOp):
            return operands[0]
        if isinstance(op, AluOp):
            row = ALU[op.name.removeprefix("uop.")]
            domain = i1 if is_bool(element_of(op.operands[-1].type)) else index
            assert row.smt is not None
            exponent = _exponent(op)
            term = row.smt(z3, domain, *operands) if exponent is None else _power(z3, operands[0], exponent)
            if row.compares:
                return term
        else:
            (term,) = operands
            if z3.is_bool(term):
                return term if is_bool(element) else z3.If(term, 1, 0)
            if is_bool(element):
                return term != 0
        if is_bool(element) or self.ranges.is_exact(op):
            return term
        low, _ = integer_bounds(element)
        return (term - low) % (1 << bit_width(element)) + low

    def _variable(self, value: SSAValue) -> Any:
        """A number that the kernel does not compute: an id, a range, the index of a loop, or data."""
        z3 = self.z3
        name = self._unique_name(value)
        if is_bool(element_of(value.type)):
            return z3.Bool(name)
        variable = z3.Int(name)
        owner = value.owner
        facts: list[Any] = []
        parent = owner.parent_op() if isinstance(owner, Block) else None
        if isinstance(parent, gpu_kernel.ForOp):
            start, step = self._terms[parent.start], parent.step.value.data
            end = parent.until if isinstance(parent.until, int) else self._terms[parent.until]
            facts += [variable >= start, variable < end, (variable - start) % step == 0]
        elif isinstance(parent, loop.ForOp | loop.ReduceOp) and value is parent.index:
            facts += [variable >= 0, variable < parent.axis.extent.data]
        elif isinstance(owner, RangeOp | tile.AxisOp):
            facts += [variable >= 0, variable < owner.extent]
        else:
            known = self.ranges.of(value)
            if known is not None:
                facts += [variable >= known.min, variable <= known.max]
                if known.modulus > 1:
                    facts.append(variable % known.modulus == known.residue)
        self._facts[value] = facts
        return variable

    def _unique_name(self, value: SSAValue) -> str:
        name, number = name_of(value), 0
        taken = set(self._names.values())
        while name in taken:
            number += 1
            name = f"{name_of(value)}_{number}"
        self._names[value] = name
        return name


def _dependencies(value: SSAValue) -> list[SSAValue]:
    """The values that a term is made of: none for what is a variable."""
    owner = value.owner
    if isinstance(owner, Block):
        parent = owner.parent_op()
        return list(parent.operands) if isinstance(parent, gpu_kernel.ForOp) else []
    if isinstance(owner, AluOp):
        row = ALU[owner.name.removeprefix("uop.")]
        # Of other powers than products, solvers know nothing; ranges bound them.
        known = row.smt is not None and (row.name != "pow" or _exponent(owner) is not None)
    else:
        known = isinstance(owner, CastOp | BitcastOp | ExpandOp | gpu_kernel.PinOp)
    if not known or any(is_float(element_of(operand.type)) for operand in owner.operands):
        return []
    return list(owner.operands)


_GREATEST_EXPONENT = 4
"""Of a power that the solver sees as a product."""


def _exponent(op: Operation) -> int | None:
    """The exponent of a power that is a short product."""
    if not isinstance(op, ALU_OPS["pow"]):
        return None
    number = constant_of(op.operands[1])
    return int(number) if number is not None and 0 <= number <= _GREATEST_EXPONENT else None


def _power(z3: Any, base: Any, exponent: int) -> Any:
    product = z3.IntVal(1)
    for _ in range(exponent):
        product = product * base
    return product


class Origin(Enum):
    """Where a number comes from, other than constants, ids, ranges and loops."""

    MEMORY = auto()
    """A kernel has read it, or state that it has carried."""
    UNKNOWN = auto()
    """An op of which the solver knows nothing, or an argument."""


def origins_of(values: Sequence[SSAValue]) -> set[Origin]:
    """Where the numbers come from that values are made of."""
    origins: set[Origin] = set()
    stack, seen = list(values), set[SSAValue]()
    while stack:
        current = stack.pop()
        if current in seen:
            continue
        seen.add(current)
        owner = current.owner
        if isinstance(owner, Block):
            parent = owner.parent_op()
            if not isinstance(parent, loop.ForOp | loop.ReduceOp | gpu_kernel.ForOp):
                origins.add(Origin.UNKNOWN)
            elif current is not parent.index:
                origins.add(Origin.MEMORY)
        elif isinstance(owner, LoadOp | tile.ReadOp | gpu_kernel.LoadOp | loop.ForOp | loop.ReduceOp):
            origins.add(Origin.MEMORY)
        elif not isinstance(owner, (ConstOp, RangeOp, tile.AxisOp, *LAUNCH_IDS)):
            stack += owner.operands
            if not _dependencies(current):
                origins.add(Origin.UNKNOWN)
    return origins
