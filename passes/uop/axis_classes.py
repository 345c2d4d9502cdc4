"""Which dimensions of which tensors walk the same logical axis."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    PadOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
    ShrinkOp,
)


class AxisClasses:
    """Union-find of the dimensions of the values of some ops.

    Two dimensions are in one class when an element of one is computed from the element of the other at the same index: through
    ALU ops, casts, `expand` (kept dimensions), `permute`, `reduce_axis` (kept dimensions), `reshape` that only adds or drops
    axes of extent 1, and the axes that pad, shrink and flip leave as they are. Dimensions of extent 1 have no class.
    """

    def __init__(self, ops: Iterable[Operation]):
        self._parents: dict[tuple[SSAValue, int], tuple[SSAValue, int]] = {}
        for op in ops:
            self._visit(op)

    def find(self, value: SSAValue, dimension: int) -> tuple[SSAValue, int]:
        """The representative of the dimension's class."""
        node = root = (value, dimension)
        while (parent := self._parents.get(root)) is not None:
            root = parent
        while node != root:
            self._parents[node], node = root, self._parents[node]
        return root

    def _join(self, x: SSAValue, x_dimension: int, y: SSAValue, y_dimension: int) -> None:
        x_root, y_root = self.find(x, x_dimension), self.find(y, y_dimension)
        if x_root != y_root:
            self._parents[x_root] = y_root

    def _join_equal(self, x: SSAValue, y: SSAValue, skip: Iterable[int] = ()) -> None:
        """Dimensions at one place, of one extent."""
        for d, (n, m) in enumerate(zip(shape_of(x.type), shape_of(y.type), strict=False)):
            if n == m != 1 and d not in skip:
                self._join(x, d, y, d)

    def _visit(self, op: Operation) -> None:
        if isinstance(op, AluOp | CastOp | BitcastOp | ExpandOp):
            for operand in op.operands:
                self._join_equal(operand, op.results[0])
        elif isinstance(op, PermuteOp):
            for d, source in enumerate(op.integers("order")):
                if shape_of(op.result.type)[d] != 1:
                    self._join(op.input, source, op.result, d)
        elif isinstance(op, ReshapeOp):
            source, target = (
                [(d, n) for d, n in enumerate(shape_of(value.type)) if n != 1] for value in (op.input, op.result)
            )
            if [n for _, n in source] == [n for _, n in target]:
                for (d, _), (e, _) in zip(source, target, strict=True):
                    self._join(op.input, d, op.result, e)
        elif isinstance(op, ReduceAxisOp):
            first = op.operands[0]
            for operand in op.operands[1:]:
                self._join_equal(operand, first)
            for result in op.results:
                self._join_equal(first, result, skip=op.axis_list())
        elif isinstance(op, PadOp):
            self._join_equal(op.input, op.result)
        elif isinstance(op, ShrinkOp):
            self._join_equal(op.input, op.result)
        elif isinstance(op, FlipOp):
            self._join_equal(op.input, op.result, skip=op.integers("axes"))
        elif isinstance(op, GatherOp):
            self._join_equal(op.indices, op.result)
            self._join_equal(op.input, op.result, skip=(op.axis.value.data,))
