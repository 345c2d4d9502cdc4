"""Linear forms of integer values: Σ coefficient · leaf + constant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ..dialects import gpu_kernel
from ..dialects.uop import AddOp, CastOp, ConstOp, ExpandOp, MulOp, NegOp, SubOp


@dataclass(frozen=True)
class LinearForm:
    """Σ coefficient · leaf + constant; no coefficient is 0."""

    terms: Mapping[SSAValue, int]
    constant: int = 0

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant))

    def __add__(self, other: LinearForm) -> LinearForm:
        terms = dict(self.terms)
        for leaf, coefficient in other.terms.items():
            terms[leaf] = terms.get(leaf, 0) + coefficient
        return LinearForm({leaf: c for leaf, c in terms.items() if c}, self.constant + other.constant)

    def __mul__(self, factor: int) -> LinearForm:
        if factor == 0:
            return LinearForm({})
        return LinearForm({leaf: c * factor for leaf, c in self.terms.items()}, self.constant * factor)

    def __sub__(self, other: LinearForm) -> LinearForm:
        return self + other * -1

    def __str__(self) -> str:
        """`32 * block + tid - 3`"""
        parts: list[tuple[int, str]] = []
        for leaf, coefficient in self.terms.items():
            factor = abs(coefficient)
            parts.append((coefficient, name_of(leaf) if factor == 1 else f"{factor} * {name_of(leaf)}"))
        if self.constant or not parts:
            parts.append((self.constant, str(abs(self.constant))))
        text = "".join(f" {'-' if factor < 0 else '+'} {part}" for factor, part in parts)
        return f"-{text[3:]}" if text.startswith(" -") else text[3:]


_NAMED_DEPTH = 3
"""Ops within ops that a name spells out."""


def name_of(value: SSAValue, depth: int = _NAMED_DEPTH) -> str:
    """A name for a value in a message: its hint, or how it is computed."""
    owner = value.owner
    if isinstance(owner, ConstOp):
        return str(owner.number)
    if value.name_hint is not None:
        return value.name_hint
    if not isinstance(owner, Operation):
        return "i"
    name = owner.name.partition(".")[2]
    if isinstance(owner, gpu_kernel.BlockIdOp):
        return f"{name}_{owner.dimension.data}"
    if not owner.operands or not depth:
        return name
    return f"{name}({', '.join(name_of(operand, depth - 1) for operand in owner.operands)})"


# Classes are compared: isinstance asks abstract classes.
_OPS = frozenset[type[Operation]]((AddOp, SubOp, MulOp, NegOp, ExpandOp, CastOp))


def linear_form(
    value: SSAValue, is_exact: Callable[[Operation], bool], known: dict[SSAValue, LinearForm] | None = None
) -> LinearForm:
    """`value` as a linear form, seen through `uop.expand` and casts; what is neither a sum nor a multiple is a leaf.

    is_exact: whether an op gives the number that arithmetic without wrap-around gives; one that may not is a leaf.
    known: forms found before; new ones are added.
    """
    forms = {} if known is None else known
    stack = [value]
    while stack:
        top = stack[-1]
        if top in forms:
            stack.pop()
            continue
        owner = top.owner
        cls = type(owner)
        if cls is ConstOp:
            assert isinstance(owner, ConstOp)
            forms[top] = LinearForm({}, int(owner.number)) if isinstance(owner.number, int) else LinearForm({top: 1})
        elif cls in _OPS and isinstance(owner, Operation) and is_exact(owner):
            missing = [operand for operand in owner.operands if operand not in forms]
            if missing:
                stack += missing
                continue
            forms[top] = _combined(top, owner, [forms[operand] for operand in owner.operands])
        else:
            forms[top] = LinearForm({top: 1})
        stack.pop()
    return forms[value]


def _combined(value: SSAValue, op: Operation, forms: list[LinearForm]) -> LinearForm:
    first, last, cls = forms[0], forms[-1], type(op)
    if cls is AddOp:
        return first + last
    if cls is SubOp:
        return first - last
    if cls is NegOp:
        return first * -1
    if cls is not MulOp:  # repeats or converts
        return first
    if not last.terms:
        return first * last.constant
    return last * first.constant if not first.terms else LinearForm({value: 1})
