"""Kernels of several reductions that become one pass over their longest axis: attention.

A softmax between two products has four reductions: scores, their maximum, the sum of their exponentials, and that of
the values. `uop-fuse-reductions` derives one walk over the keys from them, by rules. Whether it will is not guessed
here from the form of the tensor ops: the kernel's range form is made on trial, and the rules are applied.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, Region, SSAValue

from ...dialects.types import bit_width, element_count, element_of, is_integer, shape_of
from ...dialects.uop import AluOp, CastOp, KernelOp, MovementOp, MulOp, ReduceAxisOp, ReduceOp, YieldOp
from ...rewriting.builder import Builder
from .cones import Combination, Cone, Forms
from .machines import GPU, Machine
from .rules.exponentials import varies
from .uop_fuse_reductions import fuse_reductions
from .uop_rangeify import rangeify
from .uop_simplify import simplify

MOST_REDUCTIONS = 6
"""Of a kernel that is tried: four, and those that attention may have beside them."""


class OnePassTrials:
    """Which kernels of a function become one pass.

    Each set of reductions is tried once, and again where the kernel ends in a cast to a narrower type: what it rounds
    need not be rounded before.
    """

    def __init__(self, ops: Iterable[Operation], forms: Forms, machine: Machine = GPU):
        """ops: those of the function, operands first. forms: of kernels."""
        self._forms = forms
        self._machine = machine
        self.maxima = {softmax.scores: softmax.maximum for softmax in _softmaxes(ops)}
        """Of sums of which a maximum is taken, where attention may begin, that maximum."""
        self._tried: dict[frozenset[Operation], bool] = {}
        self._known: dict[Hashable, bool] = {}

    def reductions(self, cone: Cone) -> frozenset[Operation]:
        """The reductions of the kernel if it becomes one pass over an axis, else none."""
        reductions = frozenset(op for op in cone.ops if isinstance(op, Combination))
        return reductions if self._tried.get(reductions) else frozenset()

    def becomes_one_pass(self, cone: Cone) -> bool:
        """Whether the kernel becomes one pass; tried if that is not known.

        Where fewer queries share keys than the machine wants only if it compares positions with data, such as keys with
        the length of a cache so far: uop-limit-ranges ends the pass early then, perhaps much, which it cannot of
        products that stand alone. Or if it has less to do side by side than the machine, and uop-split-attention makes
        parts of its keys: products that stand alone leave their sums of values to few threads. Of more than half as
        many queries they are so much faster (measured: a fifth) that it takes threads to make up for it.
        """
        scores = [op for op in cone.ops if op in self.maxima]
        if any(self._is_shared_by_few(op) for op in scores) and not _compares_with_data(cone):
            return False
        reductions = frozenset(op for op in cone.ops if isinstance(op, Combination))
        known = self._tried.get(reductions)
        if known is None or (not known and _narrows(cone.ops[-1])):
            known = self._tried[reductions] = _may_become(reductions) and self._becomes(cone)
        return known

    def _is_shared_by_few(self, scores: Operation) -> bool:
        """Whether few queries share keys, which are not split."""
        sharing = _sharing(scores)
        if sharing >= self._machine.sharing:
            return False
        maximum = self.maxima[scores]
        count = element_count(shape_of(maximum.operands[0].type))
        keys = count // max(1, element_count(shape_of(maximum.results[0].type)))
        groups = count // max(1, keys * sharing)
        is_split = keys >= 2 * self._machine.part and 2 * groups <= self._machine.blocks
        return not is_split or 2 * sharing > self._machine.sharing

    def _becomes(self, cone: Cone) -> bool:
        """`_becomes`, once for kernels that are equal: layers of a model."""
        form = self._forms.of(cone)
        if form not in self._known:
            self._known[form] = _becomes(cone)
        return self._known[form]


def softmaxes_between_products(ops: Iterable[Operation]) -> frozenset[Operation]:
    """The reductions of softmaxes of sums, whose exponentials several sums are computed from: what may become one pass.

    ops: those of a function, operands first.
    """
    found: set[Operation] = set()
    for softmax in _softmaxes(ops):
        if len(softmax.sums) > 1:
            found |= {softmax.scores, softmax.maximum, *softmax.sums}
    return frozenset(found)


@dataclass(frozen=True)
class _Softmax:
    """A maximum of scores, each of which one sum gives, and the sums of what is computed from it."""

    scores: Operation
    maximum: Operation
    sums: list[Operation] = field(default_factory=list[Operation])


def _softmaxes(ops: Iterable[Operation]) -> list[_Softmax]:
    """Between the reductions there are ALU ops, casts and movement."""
    found: dict[Operation, _Softmax] = {}
    sources: dict[Operation, frozenset[Operation]] = {}
    """The reductions, and scans, that an op's operands are computed from without others in between."""
    for op in ops:
        owners = (value.owner for value in op.operands)
        before = frozenset[Operation]().union(*(sources.get(o, ()) for o in owners if isinstance(o, Operation)))
        if isinstance(op, Combination):
            sources[op] = frozenset((op,))
            monoid = op.monoid.data if isinstance(op, ReduceAxisOp) else ""
            if monoid == "max" and len(before) == 1:
                (scores,) = before
                if isinstance(scores, ReduceAxisOp) and scores.monoid.data == "add":
                    found[op] = _Softmax(scores, op)
            elif monoid == "add":
                for maximum in before & found.keys():
                    found[maximum].sums.append(op)
        elif len(before) < MOST_REDUCTIONS and isinstance(op, AluOp | CastOp | MovementOp):
            sources[op] = before
    return list(found.values())


def _sharing(scores: Operation) -> int:
    """With how many rows of one factor of a product each row of the other, which has more of them, is multiplied."""
    product = scores.operands[0]
    factors = product.owner.operands if isinstance(product.owner, MulOp) else ()
    return element_count(shape_of(product.type)) // max((_distinct_elements(factor) for factor in factors), default=1)


def _distinct_elements(value: SSAValue) -> int:
    """The elements of a value that are not repetitions of others."""
    count = element_count(shape_of(value.type))
    while isinstance(value.owner, MovementOp | CastOp):
        value = value.owner.operands[0]
        count = min(count, element_count(shape_of(value.type)))
    return max(1, count)


def _compares_with_data(cone: Cone) -> bool:
    """Whether integers are compared that are not all computed from constants and positions."""
    data = set(cone.leaves)
    for op in cone.ops:
        if any(operand in data for operand in op.operands):
            if isinstance(op, AluOp) and op.row().compares and is_integer(element_of(op.operands[0].type)):
                return True
            data.update(op.results)
    return False


def _narrows(op: Operation) -> bool:
    return isinstance(op, CastOp) and bit_width(element_of(op.result.type)) < bit_width(element_of(op.input.type))


def _may_become(reductions: Collection[Operation]) -> bool:
    """Whether there are a maximum, and sums for the scores, the exponentials and the values."""
    monoids = [op.monoid.data for op in reductions if isinstance(op, ReduceAxisOp)]
    return 4 <= len(reductions) == len(monoids) <= MOST_REDUCTIONS and "max" in monoids and monoids.count("add") >= 3


def _becomes(cone: Cone) -> bool:
    """Whether the rules leave one walk over the keys, in which one sum gives each score."""
    kernel = _kernel(cone)
    rangeify(kernel)
    simplify(kernel)
    fuse_reductions(kernel)
    reductions = [op for op in kernel.body.block.ops if isinstance(op, ReduceOp)]
    if sorted(op.monoid.data for op in reductions) != ["add", "online_attention"]:
        return False
    scores, attention = sorted(reductions, key=lambda op: op.monoid.data)
    return varies(scores.results[0], attention.over) and not any(
        _is_needed(scores, weight) for weight in attention.inputs[1:]
    )


def _is_needed(op: Operation, value: SSAValue) -> bool:
    """Whether a value is computed from the op."""
    pending, seen = [value.owner], set[Operation | Block]()
    while pending:
        owner = pending.pop()
        if owner is op:
            return True
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            pending += [operand.owner for operand in owner.operands]
    return False


def _kernel(cone: Cone) -> KernelOp:
    """The kernel in tensor form, which reads its leaves as they are."""
    block = Block(arg_types=[leaf.type for leaf in cone.leaves])
    values: dict[SSAValue, SSAValue] = dict(zip(cone.leaves, block.args, strict=True))
    builder = Builder(block)
    for op in cone.ops:
        copy = builder.pure_like(op, [values[operand] for operand in op.operands])
        values.update(zip(op.results, copy.results, strict=True))
    builder.insert(YieldOp.create(operands=[values[root] for root in cone.roots]))
    return KernelOp.of("trial", [root.type for root in cone.roots], Region(block))
