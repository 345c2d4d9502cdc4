"""Kernels that read the same input and reduce it become one, which reads it once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import ReduceAxisOp
from ...rewriting.diagnostics import emit_remark
from .accesses import matched_dimensions
from .cones import Cone, byte_count
from .fusion_judge import Judge


def join_siblings(cones: Sequence[Cone], position: Mapping[Operation, int], judge: Judge) -> list[Cone]:
    """The kernels, those joined that have reductions, read the same input, write results of as many elements, and need
    nothing of each other, where the joined kernel breaks no criterion and costs less: queries, keys and values.

    What they share is read once, and there is one launch less.

    cones: each behind those that it reads. position: of the ops. judge: of kernels.
    """
    program = _Program.of(cones)
    for readers in _readers(cones).values():
        joined: list[int] = []
        for number in readers:
            if any(program.kernels[number] is program.kernels[other] for other in joined):
                continue
            for other in joined:
                both = None
                if program.are_apart(number, other):
                    both = _join(program.kernels[other], program.kernels[number], position)
                if both is None or judge.find_repeated(both) is not None:
                    continue
                together, apart = judge.cost([both]), judge.cost([program.kernels[other], program.kernels[number]])
                if together < apart:
                    results = " and ".join(str(root.type) for root in both.roots)
                    emit_remark(both.ops[-1], f"{results} are computed in one kernel: joined {together}; apart {apart}")
                    program.join(number, other, both)
                    break
            else:
                joined.append(number)
    return in_order(list({id(cone): cone for cone in program.kernels}.values()))


@dataclass
class _Program:
    """Kernels by number; several numbers of one that was joined. needs: bits of the numbers that each needs."""

    kernels: list[Cone]
    needs: list[int]

    @staticmethod
    def of(cones: Sequence[Cone]) -> _Program:
        makers = {root: number for number, cone in enumerate(cones) for root in cone.roots}
        needs: list[int] = []
        for cone in cones:
            bits = 0
            for leaf in cone.leaves:
                if (maker := makers.get(leaf)) is not None:
                    bits |= needs[maker] | 1 << maker
            needs.append(bits)
        return _Program(list(cones), needs)

    def are_apart(self, one: int, other: int) -> bool:
        """Whether neither needs the other."""
        return not (self.needs[one] >> other & 1 or self.needs[other] >> one & 1)

    def join(self, one: int, other: int, both: Cone) -> None:
        old = self.kernels[one], self.kernels[other]
        members = [number for number, cone in enumerate(self.kernels) if any(cone is each for each in old)]
        bits = sum(1 << number for number in members)
        needed = self.needs[one] | self.needs[other]
        for number in members:
            self.kernels[number] = both
        for number, own in enumerate(self.needs):
            if own & bits or number in members:
                self.needs[number] = own | needed | (bits if own & bits else 0)


def _readers(cones: Sequence[Cone]) -> dict[SSAValue, list[int]]:
    """The kernels with reductions that read each value, where there are several; the largest values first."""
    readers: dict[SSAValue, list[int]] = {}
    for number, cone in enumerate(cones):
        if any(isinstance(op, ReduceAxisOp) for op in cone.ops):
            for leaf in cone.leaves:
                readers.setdefault(leaf, []).append(number)
    several = [(value, found) for value, found in readers.items() if len(found) > 1]
    return dict(sorted(several, key=lambda item: -byte_count(item[0])))


def _join(one: Cone, other: Cone, position: Mapping[Operation, int]) -> Cone | None:
    """The kernel that computes the results of both, if they can be written in the same loops."""
    if other.parts and not one.parts:
        one, other = other, one
    first = shape_of(one.roots[0].type)
    if any(matched_dimensions(first, shape_of(root.type)) is None for root in (*one.roots, *other.roots)):
        return None
    if other.parts and (one.parts != other.parts or first != shape_of(other.roots[0].type)):
        return None
    ops = sorted({*one.ops, *other.ops}, key=position.__getitem__)
    return Cone(ops, [*one.roots, *other.roots], one.leaves | other.leaves, one.parts)


def in_order(cones: Sequence[Cone]) -> list[Cone]:
    """The kernels, each behind those that it reads."""
    makers = {root: cone for cone in cones for root in cone.roots}
    done: set[int] = set()
    ordered: list[Cone] = []
    for cone in cones:
        stack = [cone]
        while stack:
            top = stack[-1]
            missing = [maker for leaf in top.leaves if (maker := makers.get(leaf)) and id(maker) not in done]
            if missing:
                stack.extend(reversed(missing))
                continue
            stack.pop()
            if id(top) not in done:
                done.add(id(top))
                ordered.append(top)
    return ordered
