"""uop-factor-rows: what scales whole rows of a matrix is taken out of the products with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.types import bit_width, element_of, is_float, shape_of
from ...dialects.uop import CastOp, ExpandOp, MulOp, PermuteOp, ReduceAxisOp, ReshapeOp
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from ...rewriting.uses import replace_uses
from .row_statistics import MOST_OPERATIONS, STATISTIC_OPERATIONS, TILE_COLUMNS

TILE_ROWS = 128
"""Rows of a product for which a tile multiplies the other operand by gains once."""

GAIN_OPERATIONS = 10
"""What an element of the other operand costs with a gain: casts and a multiplication in two warps (counted)."""

_Move = ExpandOp | ReshapeOp | PermuteOp


@dataclass(frozen=True)
class UOpFactorRowsPass(ModulePass):
    """Take the factor of each row out of products of matrices: Σₖ (xᵢₖ · rᵢ · gₖ) · wⱼₖ → rᵢ · Σₖ xᵢₖ · (gₖ · wⱼₖ).

    Multiplication distributes over sums and is associative, so the two are equal in real numbers
    (test_factor_rows.py compares them where all arithmetic is exact); floats are rounded elsewhere. Where the program
    rounds xᵢₖ · rᵢ · gₖ to 16 bits, what is rounded is gₖ · wⱼₖ instead: x is multiplied as it lies in memory, it
    cannot overflow, and sums stay in f32.

    Then the statistic of a row, of which rᵢ is made (the root of the mean of squares of an RMSNorm), can be computed
    beside the product, and the normalised row is never stored: uop-partition joins them.

    Done where rᵢ is made of a sum of what xᵢₖ is made of, all uses of the scaled row are products, and the statistics
    that their tiles compute again cost less than a launch. Leaves alone: everything else.

    narrow: also where the scaled row is rounded to 16 bits.
    """

    name = "uop-factor-rows"

    narrow: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.body.block.ops:
            if isinstance(function, FuncOp):
                for block in function.body.blocks:
                    _factor_in(block, self.narrow)


@dataclass(frozen=True)
class _Factor:
    """A factor of an operand of a product: `moves` show it as that, outermost last."""

    value: SSAValue
    moves: tuple[Operation, ...]

    def varies_along(self, shape: Sequence[int]) -> set[int] | None:
        """The dimensions of the operand along which the value varies; None where that is not seen."""
        here: list[set[int]] = [{d} for d in range(len(shape))]
        for move in reversed(self.moves):
            source, target = shape_of(move.operands[0].type), shape_of(move.results[0].type)
            if isinstance(move, ExpandOp):
                if len(source) != len(target):
                    return set()  # a scalar
                here = [set[int]() if n == 1 != m else dims for n, m, dims in zip(source, target, here, strict=True)]
            elif isinstance(move, PermuteOp):
                order = move.integers("order")
                here = [here[order.index(d)] for d in range(len(order))]
            else:
                kept = [dims for n, dims in zip(target, here, strict=True) if n != 1]
                if [n for n in source if n != 1] != [n for n in target if n != 1]:
                    return None
                held = iter(kept)
                here = [set[int]() if n == 1 else next(held) for n in source]
        return set[int]().union(*(dims for n, dims in zip(shape_of(self.value.type), here, strict=True) if n != 1))


@dataclass(frozen=True)
class _Rows:
    """An operand of a product that is made of x, factors of rows, and factors along k.

    rounded: the type that the scaled elements are rounded to, if they are.
    """

    x: _Factor
    scales: list[_Factor]
    gains: list[_Factor]
    rounded: Attribute | None


def _factor_in(block: Block, narrow: bool) -> None:
    builder = Builder(block)
    changed = False
    # The scaled row → its products.
    groups: dict[SSAValue, list[tuple[ReduceAxisOp, int, _Rows]]] = {}
    for op in block.ops:
        if isinstance(op, ReduceAxisOp):
            found = _rows_of(op)
            if found is not None and (narrow or found[1].rounded is None):
                side, rows, scaled = found
                groups.setdefault(scaled, []).append((op, side, rows))
    for scaled, products in groups.items():
        ops = {op for op, _, _ in products}
        if not _is_used_by(scaled, ops) or not _is_cheap(products):
            continue
        for op, side, rows in products:
            builder.before = op
            with builder.at(op.location):
                replace_uses(op.results[0], _factored(builder, op, side, rows))
        changed = True
    if changed:
        erase_unused(block)


def _rows_of(op: ReduceAxisOp) -> tuple[int, _Rows, SSAValue] | None:
    """(which operand of the product is a scaled matrix, what it is made of, and the scaled matrix)"""
    product = op.operands[0].owner
    if op.monoid.data != "add" or element_of(op.results[0].type) != f32 or len(op.axis_list()) != 1:
        return None
    if not isinstance(product, MulOp):
        return None
    shape = shape_of(product.result.type)
    (k,) = op.axis_list()
    for side in range(2):
        scaled, moves, rounded = _scaled(product.operands[side])
        if not isinstance(scaled.owner, MulOp):
            continue
        own = _Factor(scaled, moves).varies_along(shape)
        scales: list[_Factor] = []
        gains: list[_Factor] = []
        others: list[_Factor] = []
        for factor in _factors(scaled, moves):
            varies = factor.varies_along(shape)
            if varies is None or own is None:
                return None
            (gains if varies <= {k} else scales if k not in varies else others).append(factor)
        if len(others) == 1 and scales and any(_is_statistic(scale.value) for scale in scales):
            if rounded is None or element_of(_narrow(others[0].value).type) == rounded:
                return side, _Rows(others[0], scales, gains, rounded), scaled
    return None


def _scaled(value: SSAValue) -> tuple[SSAValue, tuple[Operation, ...], Attribute | None]:
    """What an operand shows, before it is moved, and rounded, if it is."""
    moves: list[Operation] = []
    rounded: Attribute | None = None
    while True:
        owner = value.owner
        if isinstance(owner, _Move):
            moves.insert(0, owner)
            value = owner.operands[0]
        elif rounded is None and isinstance(owner, CastOp) and (inner := _rounding(owner)) is not None:
            rounded = element_of(owner.input.type)
            moves = [*inner[1], *moves]
            value = inner[0]
        else:
            return value, tuple(moves), rounded


def _rounding(cast: CastOp) -> tuple[SSAValue, list[Operation]] | None:
    """What is rounded to the operand of a cast back to f32, and the moves in between."""
    moves: list[Operation] = []
    value = cast.input
    while isinstance(value.owner, _Move):
        moves.insert(0, value.owner)
        value = value.owner.operands[0]
    inner = value.owner
    if not isinstance(inner, CastOp) or element_of(inner.input.type) != f32 or element_of(cast.result.type) != f32:
        return None
    narrow = element_of(inner.result.type)
    return (inner.input, moves) if is_float(narrow) and bit_width(narrow) == 16 else None


def _factors(value: SSAValue, moves: tuple[Operation, ...]) -> Iterable[_Factor]:
    """The factors of a product of products, each with the moves that show it."""
    stack = [_Factor(value, moves)]
    while stack:
        factor = stack.pop()
        owner = factor.value.owner
        if isinstance(owner, MulOp):
            stack += [_Factor(operand, factor.moves) for operand in reversed(owner.operands)]
        elif isinstance(owner, _Move):
            stack.append(_Factor(owner.operands[0], (owner, *factor.moves)))
        elif isinstance(owner, CastOp) and (inner := _rounding(owner)) is not None and _is_product(inner[0]):
            stack.append(_Factor(inner[0], (*inner[1], *factor.moves)))
        else:
            yield factor


def _is_product(value: SSAValue) -> bool:
    while isinstance(value.owner, _Move):
        value = value.owner.operands[0]
    return isinstance(value.owner, MulOp)


def _narrow(value: SSAValue) -> SSAValue:
    """What is widened to the value, if it is."""
    return value.owner.input if isinstance(value.owner, CastOp) else value


def _is_statistic(value: SSAValue) -> bool:
    """Whether a sum is among what the value is made of, with nothing but few ops in between."""
    pending, seen = [value], {value}
    while pending and len(seen) < 32:
        owner = pending.pop().owner
        if isinstance(owner, ReduceAxisOp):
            return owner.monoid.data == "add"
        if isinstance(owner, Operation):
            new = [operand for operand in owner.operands if operand not in seen]
            seen.update(new)
            pending += new
    return False


def _is_used_by(scaled: SSAValue, products: set[ReduceAxisOp]) -> bool:
    """Whether nothing but these products needs the scaled matrix."""
    pending = [scaled]
    seen: set[Operation] = set()
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if user in seen or user in products:
                continue
            seen.add(user)
            if not isinstance(user, ExpandOp | ReshapeOp | PermuteOp | CastOp | MulOp):
                return False
            pending += user.results
    return True


def _is_cheap(products: Sequence[tuple[ReduceAxisOp, int, _Rows]]) -> bool:
    """Whether what the tiles of the products compute again costs less than a launch."""
    count = 0
    for op, _, rows in products:
        shape = shape_of(op.operands[0].type)
        (k,) = op.axis_list()
        along = rows.x.varies_along(shape)
        assert along is not None
        columns = prod(extent for d, extent in enumerate(shape) if d not in along)
        count += STATISTIC_OPERATIONS * -(-columns // TILE_COLUMNS) * prod(shape[d] for d in along)
        if rows.gains:
            tiles = -(-prod(shape[d] for d in along if d != k) // TILE_ROWS)
            count += GAIN_OPERATIONS * tiles * columns * shape[k]
    if count > MOST_OPERATIONS:
        emit_remark(
            products[0][0],
            f"its rows are scaled before: to scale them behind it would take its tiles {count:,} operations more, a"
            f" kernel of its own about as long as {MOST_OPERATIONS:,}",
        )
        return False
    return True


def _factored(builder: Builder, op: ReduceAxisOp, side: int, rows: _Rows) -> SSAValue:
    """The product with the scale of rows behind it."""
    product = op.operands[0].owner
    assert isinstance(product, MulOp)
    (k,) = op.axis_list()
    other = product.operands[1 - side]
    for gain in rows.gains:
        other = builder.alu("mul", other, _shown(builder, gain))
    if rows.gains and rows.rounded is not None:
        other = builder.cast(builder.cast(other, rows.rounded), f32)
    x = _shown(builder, rows.x)
    factors = (x, other) if side == 0 else (other, x)
    (total,) = builder.reduce_axis("add", [builder.alu("mul", *factors)], [k])
    shape = shape_of(total.type)
    for scale in rows.scales:
        total = builder.alu("mul", total, builder.shrink(_shown(builder, scale), [0] * len(shape), shape))
    return total


def _shown(builder: Builder, factor: _Factor) -> SSAValue:
    """The factor moved to where the operand is."""
    value = factor.value
    for move in factor.moves:
        if isinstance(move, ExpandOp):
            value = builder.expand(value, move.result.type)
        elif isinstance(move, ReshapeOp):
            value = builder.reshape(value, shape_of(move.result.type))
        elif isinstance(move, PermuteOp):
            value = builder.permute(value, move.integers("order"))
    return value
