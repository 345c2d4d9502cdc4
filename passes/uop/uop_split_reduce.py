"""uop-split-reduce: reductions to few results become reductions of parts side by side, then of what the parts give."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.monoids import Number
from ...dialects.types import byte_width, element_count, element_of, shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    IotaOp,
    MovementOp,
    MulOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
)
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from ...rewriting.uses import replace_uses
from ..loop.product_cost import Product
from .one_pass import softmaxes_between_products
from .uop_fuse_reductions import LONG_ROW

COLUMNS = 128
"""Results of a block where they lie side by side in memory: 32 lanes of 16 bytes of f32."""

SECTOR = 8
"""Elements that parts of ragged rows have multiples of: 32 bytes of f32, so that each begins where a sector does."""

TILE = 64
"""Rows and columns of a product that a block computes where there are few of them."""

TILE_SHARE = 8
"""A product is split where its tiles are at most one in so many of the blocks that are enough: with more, the sums of
the parts, which are written and read, cost what they gain (an estimate from bytes and operations, not measured)."""

PART_DEPTH = 512
"""What a part of a product sums at the least: so much more is multiplied than is written and read of its sums."""

PARTS_SHARE = 0.75
"""Of the clocks of one kernel, what two take at the most to be chosen: both are estimates, and parts take memory."""

DEPTH = 32
"""Parts of a product are multiples of what its blocks copy at once, so that nothing in them is masked."""

FEW_ROWS = 16
"""Rows, a block each, below which it can pay to read again what is needed with the result: more than seven eighths of a
large GPU would be idle."""


@dataclass(frozen=True)
class UOpSplitReducePass(ModulePass):
    """Split `uop.reduce_axis` where its results are too few for a block each to keep a GPU busy, in two steps:

    1. a reduction of each of several parts, all parts at once;
    2. a reduction of what the parts give.

    uop-partition puts the two into two kernels: what comes before the reduction is fused with the first, what comes
    behind it with the second. Sums of floats are rounded in another order for it. Where the parts are not of one size,
    the last is padded by the monoid's identity, in index space only.
    Products of matrices are split into parts of one size, where their tiles are far fewer than a GPU's multiprocessors,
    and where the two kernels take clearly less than one of small tiles, whose blocks sum in slices (product_cost.py);
    each part is a product, too, and the parts of the whole result lie one behind the other. Products of the same data
    are computed side by side: their tiles count together.
    Leaves alone: other contractions, of which several results share an operand; norms and softmaxes, whose rows are
    needed again with the result, unless there are few and none fits in registers.

    blocks: how many blocks are enough. They should be twice the multiprocessors, of which large GPUs have 108 to 148.
    part: how many elements a part has at the least, that is, what a block reads in about the time of a launch.
    products: whether products are split, too. A CPU has few cores, which small tiles fill.
    one_pass: whether the reductions of a softmax between two products stay whole, for uop-partition to put them into
      one kernel. Its keys are split where that pays, once its four reductions are one.
    """

    name = "uop-split-reduce"

    blocks: int = 256
    part: int = 4096
    products: bool = True
    one_pass: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    self._split_in(block)

    def _split_in(self, block: Block) -> None:
        whole = softmaxes_between_products(block.ops) if self.one_pass else frozenset[Operation]()
        reductions = [op for op in block.ops if isinstance(op, ReduceAxisOp) and op not in whole]
        beside = _side_by_side(reductions)
        builder = Builder(block)
        changed = False
        for op in reductions:
            first, end = _longest_run(op)
            product = _product(op)
            if product is not None and not self.products:
                continue
            if product is None:
                count = self._count(op, first, end)
            else:
                others = [found for other in beside[op] if (found := _product(other))]
                count = self._count_of_product(op, product, others)
            if count == 1:
                continue
            builder.before = op
            with builder.at(op.location):
                results = _split(builder, op, first, end, count, parts_first=product is not None)
            for old, new in zip(op.results, results, strict=True):
                replace_uses(old, new)
            changed = True
        if changed:
            erase_unused(block)

    def _count(self, op: ReduceAxisOp, first: int, end: int) -> int:
        """Into how many parts the axes from `first` to before `end` are split, 1 for none; a remark says why."""
        shape = shape_of(op.operands[0].type)
        results = element_count(shape_of(op.results[0].type))
        if not element_count(shape):
            return 1
        side_by_side = 1 if max(op.axis_list(), default=0) >= end else prod(shape[end:])
        groups = results // side_by_side * -(-side_by_side // COLUMNS)
        most = min(self.blocks // groups, element_count(shape) // groups // self.part, prod(shape[first:end]))
        if most < 2:
            return 1
        if _shares_operands(op):
            emit_remark(op, f"is not split over blocks: its {results} results share operands")
            return 1
        fits = element_count(shape) // groups <= LONG_ROW
        if (groups > FEW_ROWS or fits) and _is_read_again(op):
            emit_remark(op, f"is not split over blocks: its {results} rows are needed again with the result")
            return 1
        count = 1 << (most.bit_length() - 1)
        emit_remark(
            op, f"is split into up to {count} parts: its results are {groups} blocks, of {self.blocks} that are enough"
        )
        return count

    def _count_of_product(self, op: ReduceAxisOp, product: Product, beside: Sequence[Product]) -> int:
        """As `_count`, for a product, and others that are computed beside it."""
        depth = product.depth
        tiles = sum(each.tiles(TILE) for each in (product, *beside))
        if TILE_SHARE * tiles > self.blocks or depth < 2 * PART_DEPTH:
            return 1
        most = min(self.blocks // 2 // tiles, depth // PART_DEPTH)
        count = 1
        while 2 * count <= most and depth % (2 * count * DEPTH) == 0:
            count *= 2
        if count == 1:
            emit_remark(op, f"is not split over blocks: {depth} products are no parts of multiples of {DEPTH}")
            return 1
        what = f"its results are {tiles} tiles of {TILE} x {TILE}"
        if not beside:
            one, parts = product.clocks(product.fastest()), product.clocks_in_parts(count)
            if PARTS_SHARE * one <= parts:
                best = product.fastest()
                emit_remark(
                    op,
                    f"is not split over blocks: {what}, but one kernel of tiles of {best.tile} x {best.tile} in "
                    f"{best.slices} slices is estimated at {one:,} clocks, two of {count} parts at {parts:,}",
                )
                return 1
            what += f", and two kernels are estimated at {parts:,} clocks, one at {one:,}"
        emit_remark(op, f"is split into {count} parts: {what}")
        return count


def _product(op: ReduceAxisOp) -> Product | None:
    """The product of matrices that a reduction is; None of another.

    It is a sum, along one axis, of products of two tensors, each repeated along axes (rows, columns) of the result of
    which the other is not. Products with fewer rows or columns than a tile are computed by other means.
    """
    product = op.operands[0].owner
    if op.monoid.data != "add" or len(op.axis_list()) != 1 or not isinstance(product, MulOp):
        return None
    shape = shape_of(product.result.type)
    sizes = [1, 1]
    others = 1
    for axis in range(len(shape)):
        if axis in op.axis_list():
            continue
        repeated = [_is_repeated(factor, axis) for factor in product.operands]
        if repeated.count(True) == 1:
            sizes[repeated.index(True)] *= shape[axis]
        elif not any(repeated):
            others *= shape[axis]
        else:
            return None
    if min(sizes) < TILE:
        return None
    element_bytes = max(map(_multiplied_bytes, product.operands))
    is_cut = all(_is_cut(factor) for factor in product.operands)
    by_matrices = element_bytes == 2 or is_cut
    return Product.of(sizes[1], sizes[0], shape[op.axis_list()[0]], others, element_bytes, by_matrices=by_matrices)


def _multiplied_bytes(value: SSAValue) -> int:
    """The width of what a matrix instruction would take for a factor: that of 16-bit floats that were cast."""
    value = _unmoved(value)
    return byte_width(element_of(value.owner.input.type if isinstance(value.owner, CastOp) else value.type))


def _is_cut(value: SSAValue) -> bool:
    """Whether a factor is f32 cut to TF32."""
    owner = _unmoved(value).owner
    return isinstance(owner, AluOp) and owner.row().name == "to_tf32"


def _unmoved(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ExpandOp | ReshapeOp | PermuteOp):
        value = value.owner.operands[0]
    return value


def _side_by_side(reductions: Sequence[ReduceAxisOp]) -> dict[ReduceAxisOp, list[ReduceAxisOp]]:
    """Of each reduction, the others that multiply some of the same data, so that they can be computed side by side."""
    factors = {op: _factors(op) for op in reductions}
    users: dict[SSAValue, list[ReduceAxisOp]] = {}
    for op, found in factors.items():
        for factor in found:
            users.setdefault(factor, []).append(op)
    return {
        op: [other for other in dict.fromkeys(user for factor in found for user in users[factor]) if other is not op]
        for op, found in factors.items()
    }


def _factors(op: ReduceAxisOp) -> list[SSAValue]:
    """What a product multiplies, before it is moved and widened."""
    found: dict[SSAValue, None] = {}
    for value in op.operands[0].owner.operands if isinstance(op.operands[0].owner, MulOp) else ():
        while isinstance(value.owner, ExpandOp | ReshapeOp | PermuteOp | CastOp):
            value = value.owner.operands[0]
        found[value] = None
    return list(found)


def _is_repeated(value: SSAValue, axis: int) -> bool:
    """Whether the value is expanded along an axis."""
    if not isinstance(value.owner, ExpandOp):
        return False
    source, wide = shape_of(value.owner.input.type), shape_of(value.type)
    return len(source) != len(wide) or source[axis] != wide[axis]


def _longest_run(op: ReduceAxisOp) -> tuple[int, int]:
    """The neighbouring reduced axes of the most elements: the first, and the one behind the last."""
    shape, axes = shape_of(op.operands[0].type), op.axis_list()
    runs: list[tuple[int, int]] = []
    for axis in sorted(axes):
        if runs and runs[-1][1] == axis:
            runs[-1] = (runs[-1][0], axis + 1)
        else:
            runs.append((axis, axis + 1))
    return max(runs, key=lambda run: prod(shape[run[0] : run[1]]), default=(0, 0))


def _split(
    builder: Builder, op: ReduceAxisOp, first: int, end: int, count: int, *, parts_first: bool
) -> list[SSAValue]:
    """The reduction with the axes from `first` to before `end` as one, in `count` parts.

    parts_first: whether the results of one part lie together, not those of one element.
    """
    monoid = op.monoid.monoid
    shape = shape_of(op.operands[0].type)
    extent = prod(shape[first:end])
    size = -(-extent // count)
    if size * count != extent and prod(shape[end:]) == 1:
        size += -size % SECTOR
        count = -(-extent // size)
    merged = [builder.reshape(value, (*shape[:first], extent, *shape[end:])) for value in op.operands]
    missing = count * size - extent
    if missing:
        identity = monoid.identity([element_of(value.type) for value in op.operands])
        merged = [_padded(builder, v, first, missing, number) for v, number in zip(merged, identity, strict=True)]
    parts = [builder.reshape(value, (*shape[:first], count, size, *shape[end:])) for value in merged]
    others = [axis for axis in op.axis_list() if not first <= axis < end]
    axes = sorted([first + 1, *(axis if axis < first else axis - end + first + 2 for axis in others)])
    partial = builder.reduce_axis(monoid.name, parts, axes)
    if parts_first:
        kept = [axis for axis in range(len(shape_of(partial[0].type))) if axis not in axes]
        order = [kept.index(first), *(place for place, axis in enumerate(kept) if axis != first)]
        shapes = [[shape_of(value.type)[axis] for axis in kept] for value in partial]
        partial = [builder.permute(builder.reshape(v, shape), order) for v, shape in zip(partial, shapes, strict=True)]
        first = 0
    totals = builder.reduce_axis(monoid.name, partial, [first])
    return [builder.reshape(total, shape_of(result.type)) for total, result in zip(totals, op.results, strict=True)]


def _padded(builder: Builder, value: SSAValue, axis: int, missing: int, identity: Number) -> SSAValue:
    """`value` with `missing` identities behind the axis."""
    shape = shape_of(value.type)
    padded = builder.pad(value, [0] * len(shape), [missing if d == axis else 0 for d in range(len(shape))])
    if identity == 0:
        return padded
    wide = shape_of(padded.type)
    places = builder.reshape(builder.iota(wide[axis], i64), [n if d == axis else 1 for d, n in enumerate(wide)])
    places = builder.expand(places, TensorType(i64, wide))
    is_value = builder.alu("lt", places, builder.constant_like(shape[axis], places))
    return builder.alu("where", is_value, padded, builder.constant_like(identity, padded))


def _shares_operands(op: ReduceAxisOp) -> bool:
    """Whether results combine data that is repeated for several of them: a contraction, or the like of it."""
    rank = len(shape_of(op.operands[0].type))
    kept = [d for d in range(rank) if d not in op.axis_list()]
    pending = [(value, False) for value in op.operands]
    seen: set[tuple[SSAValue, bool]] = set()
    while pending:
        value, shared = pending.pop()
        if (value, shared) in seen:
            continue
        seen.add((value, shared))
        owner = value.owner
        if isinstance(owner, ExpandOp):
            source, wide = shape_of(owner.input.type), shape_of(owner.result.type)
            # Behind a reshape the axes may be others: what is repeated there counts as shared.
            repeated = element_count(source) > 1 and (
                len(source) != rank or len(wide) != rank or any(source[d] != wide[d] for d in kept)
            )
            pending.append((owner.input, shared or repeated))
        elif isinstance(owner, AluOp | CastOp | BitcastOp | MovementOp):
            pending.extend((operand, shared) for operand in owner.operands)
        elif shared and not isinstance(owner, ConstOp | IotaOp):
            return True
    return False


def _is_read_again(op: ReduceAxisOp) -> bool:
    """Whether the result meets as many elements as were reduced: a norm, a softmax."""
    size = element_count(shape_of(op.operands[0].type))
    pending = list(op.results)
    seen: set[Operation] = set()
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user in seen or isinstance(user, ReduceAxisOp):
                continue
            seen.add(user)
            if isinstance(user, ExpandOp) and element_count(shape_of(user.result.type)) >= size:
                return True
            if isinstance(user, AluOp | CastOp | BitcastOp | MovementOp):
                pending.extend(user.results)
    return False
