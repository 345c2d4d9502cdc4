"""Common subexpressions: of equal ops, those that come later give way to the first that they can see.

Sums of indices are equal where they are the same linear form, in whatever order their terms are added: no order is
imposed on the text.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.ir import Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..dialects.types import element_of, index
from ..dialects.uop import AddOp, CastOp, SubOp
from .effects import READS, is_only_read, is_pure
from .keys import op_key
from .linear import LinearForm, linear_form
from .listeners import report_count
from .locations import fuse_locations
from .uses import replace_uses

Scope = dict[Hashable, Operation]

_SUMS = frozenset[type[Operation]]((AddOp, SubOp))


def _is_not_cast(op: Operation) -> bool:
    """Whether an op of indices is exact in a linear form: an index does not wrap around."""
    return type(op) is not CastOp


def eliminate_common_subexpressions(root: Operation) -> int:
    """Merge equal pure ops, and equal reads of buffers that nobody writes, in all regions inside `root`; how
    many went.

    An op sees what comes before it in its block and in the blocks around it. The one that stays gets the
    locations of those that go. Ranges and axes are never merged.
    """
    sweep = _Sweep()
    for region in root.regions:
        sweep.region(region, {})
    report_count("equal ops merged", sweep.merged)
    return sweep.merged


class _Sweep:
    def __init__(self) -> None:
        self.merged = 0
        self._only_read: dict[SSAValue, bool] = {}
        self._forms: dict[SSAValue, LinearForm] = {}

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
                elif (known := visible.setdefault(key, op)) is not op:
                    self._merge(op, known)
                else:
                    added.append(key)
            for key in added:
                del visible[key]

    def _key(self, op: Operation) -> Hashable | None:
        """Equal for ops that give the same results; None for those that are left alone."""
        cls = type(op)
        operands = op._operands  # pyright: ignore[reportPrivateUsage]  # the view costs twice as much
        # Of two terms, `op_key` knows both orders.
        if cls in _SUMS and (type(operands[0].owner) in _SUMS or type(operands[1].owner) in _SUMS):
            (result,) = op.results
            if element_of(result.type) == index:
                form = linear_form(result, _is_not_cast, self._forms)
                terms = frozenset((id(leaf), coefficient) for leaf, coefficient in form.terms.items())
                return result.type, form.constant, terms
        if not is_pure(cls) and not (issubclass(cls, READS) and self._reads_constant_memory(operands[0])):
            return None
        # No new values come into being here: a key that is found is about the operands that it was made of.
        types = [result.type for result in op.results]
        return op_key(cls, operands, types, op.properties, op.attributes)

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
