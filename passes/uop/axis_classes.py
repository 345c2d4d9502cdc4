"""Which dimensions of which tensors walk the same logical axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    ScanAxisOp,
    ShrinkOp,
    WindowOp,
)
from .reshape_groups import reshape_groups


class AxisPairs:
    """Which dimensions each op makes one logical axis of; kept per op, for the many kernels that a search looks at.

    Dimensions go together when an element of one is computed from the element of the other at the same index:
    through ALU ops, casts, scans, `expand` (kept dimensions), `permute`, `reduce_axis` (kept dimensions), the axes that
    `reshape` neither merges nor splits, and those that pad, shrink and flip leave as they are.
    Dimensions of extent 1 have no axis. A dimension is a number here: of its value, plus its place.
    """

    def __init__(self) -> None:
        self._first: dict[SSAValue, int] = {}
        self._count = 0
        self._pairs: dict[Operation, list[tuple[int, int]]] = {}

    def dimension(self, value: SSAValue, place: int) -> int:
        """The number of a dimension."""
        first = self._first.get(value)
        if first is None:
            first = self._first[value] = self._count
            self._count += len(shape_of(value.type))
        return first + place

    def of(self, op: Operation) -> list[tuple[int, int]]:
        """The pairs of dimensions that `op` makes one axis."""
        if op not in self._pairs:
            self._pairs[op] = list(self._find(op))
        return self._pairs[op]

    def _equal(self, x: SSAValue, y: SSAValue, skip: Iterable[int] = ()) -> Iterator[tuple[int, int]]:
        """Dimensions at one place, of one extent."""
        for d, (n, m) in enumerate(zip(shape_of(x.type), shape_of(y.type), strict=False)):
            if n == m != 1 and d not in skip:
                yield self.dimension(x, d), self.dimension(y, d)

    def _find(self, op: Operation) -> Iterator[tuple[int, int]]:
        if isinstance(op, AluOp | CastOp | BitcastOp | ExpandOp | PadOp | ShrinkOp):
            for operand in op.operands:
                yield from self._equal(operand, op.results[0])
        elif isinstance(op, PermuteOp):
            for d, source in enumerate(op.integers("order")):
                if shape_of(op.result.type)[d] != 1:
                    yield self.dimension(op.input, source), self.dimension(op.result, d)
        elif isinstance(op, ReshapeOp):
            source, target = shape_of(op.input.type), shape_of(op.result.type)
            for merged, split in reshape_groups(source, target) if 0 not in source else ():
                if len(merged) == len(split) == 1:
                    yield self.dimension(op.input, merged[0]), self.dimension(op.result, split[0])
        elif isinstance(op, ReduceAxisOp | ScanAxisOp):
            first = op.operands[0]
            for operand in op.operands[1:]:
                yield from self._equal(operand, first)
            reduced = op.axis_list() if isinstance(op, ReduceAxisOp) else ()
            for result in op.results:
                yield from self._equal(first, result, skip=reduced)
        elif isinstance(op, WindowOp):
            for d, n in enumerate(shape_of(op.input.type)):
                if d != op.place and n != 1:
                    yield self.dimension(op.input, d), self.dimension(op.result, d + (op.added if d > op.place else 0))
        elif isinstance(op, FlipOp):
            yield from self._equal(op.input, op.result, skip=op.integers("axes"))
        elif isinstance(op, GatherOp):
            yield from self._equal(op.indices, op.result)
            yield from self._equal(op.input, op.result, skip=(op.axis.value.data,))


class AxisClasses:
    """The logical axes of some ops: union-find of the dimensions of their values."""

    def __init__(self, ops: Iterable[Operation], pairs: AxisPairs):
        self._pairs = pairs
        self._parents: dict[int, int] = {}
        for op in ops:
            for x, y in pairs.of(op):
                x, y = self._root(x), self._root(y)
                if x != y:
                    self._parents[x] = y

    def find(self, value: SSAValue, dimension: int) -> int:
        """The number of the axis that the dimension walks."""
        return self._root(self._pairs.dimension(value, dimension))

    def _root(self, node: int) -> int:
        parents = self._parents
        root = node
        while (parent := parents.get(root)) is not None:
            root = parent
        while node != root:
            parents[node], node = root, parents[node]
        return root
