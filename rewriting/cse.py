"""Common subexpressions: of equal ops, those that come later give way to the first that they can see."""

from __future__ import annotations

from collections.abc import Hashable
from functools import cache

from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import Commutative, IsolatedFromAbove

from ..dialects.types import element_of, is_float
from ..dialects.uop import AluOp, MaxOp, MinOp
from .effects import READS, is_only_read, is_pure
from .locations import fuse_locations
from .uses import replace_uses

Scope = dict[Hashable, Operation]


def eliminate_common_subexpressions(root: Operation) -> int:
    """Merge equal pure ops, and equal reads of buffers that nobody writes, in all regions inside `root`; how
    many went.

    An op sees what comes before it in its block and in the blocks around it. The one that stays gets the
    locations of those that go. Ranges and axes are never merged.
    """
    sweep = _Sweep()
    for region in root.regions:
        sweep.region(region, {})
    return sweep.merged


class _Sweep:
    def __init__(self) -> None:
        self.merged = 0
        self._only_read: dict[SSAValue, bool] = {}

    def region(self, region: Region, visible: Scope) -> None:
        """Merge in a region that sees the ops of `visible`, which is the same afterwards."""
        for block in region.blocks:
            added: list[Hashable] = []
            for op in block.ops:
                if op.regions:
                    scope: Scope = {} if op.has_trait(IsolatedFromAbove) else visible
                    for inner in op.regions:
                        self.region(inner, scope)
                elif (key := self._key(op)) is None:
                    continue
                elif (known := visible.get(key)) is not None:
                    self._merge(op, known)
                else:
                    visible[key] = op
                    added.append(key)
            for key in added:
                del visible[key]

    def _key(self, op: Operation) -> Hashable | None:
        """Equal for ops that give the same results; None for those that are left alone."""
        cls = type(op)
        operands = op._operands  # pyright: ignore[reportPrivateUsage]  # the view costs twice as much
        # Equal values are the same, and no new ones come into being here: ids say as much, and hash faster.
        if not is_pure(cls) and not (issubclass(cls, READS) and self._reads_constant_memory(operands[0])):
            return None
        if issubclass(cls, AluOp) and not op.attributes:  # the operands' types say the result's
            if len(operands) == 2:
                x, y = id(operands[0]), id(operands[1])
                return (cls, y, x) if y < x and _may_swap(cls, operands[0]) else (cls, x, y)
            return cls, *map(id, operands)
        properties = op.properties
        if len(properties) > 1:
            properties = dict(sorted(properties.items()))
        key = cls, *map(id, operands), *properties.items(), *(result.type for result in op.results)
        return (*key, *sorted(op.attributes.items(), key=_name)) if op.attributes else key

    def _reads_constant_memory(self, buffer: SSAValue) -> bool:
        known = self._only_read.get(buffer)
        if known is None:
            known = self._only_read[buffer] = is_only_read(buffer)
        return known

    def _merge(self, op: Operation, known: Operation) -> None:
        for old, new in zip(op.results, known.results, strict=True):
            replace_uses(old, new)
        if op.location != known.location:
            known.location = fuse_locations((known.location, op.location))
        block = op.parent
        assert block is not None
        block.erase_op(op)
        self.merged += 1


@cache
def _is_commutative(op: type[AluOp]) -> bool:
    return any(isinstance(trait, Commutative) for trait in op.traits)


def _may_swap(op: type[AluOp], operand: SSAValue) -> bool:
    """Whether the order of two operands is free to the last bit: min and max of +0 and −0 may give either."""
    return _is_commutative(op) and (op not in (MinOp, MaxOp) or not is_float(element_of(operand.type)))


def _name(item: tuple[str, object]) -> str:
    return item[0]
