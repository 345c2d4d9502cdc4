"""tile-mma: loops over the mma factor of a product become matrix instructions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass

from ...dialects.atoms import ATOMS
from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp
from ...dialects.schedule import MatrixFactors
from ...dialects.tile import MmaOp, ReduceAcrossOp, StageOp
from ...dialects.types import element_of, shape_of
from ...dialects.uop import AddOp, KernelOp, MulOp, WhereOp
from ...rewriting.dead import erase_unused
from ..loop.matrix_products import multiplied
from .accesses import kernels_of
from .linear import is_zero, unexpanded
from .mma_accumulators import Accumulators, refused
from .mma_views import View, view_of_a, view_of_b
from .places import builder_before
from .tile_builder import TileBuilder


class TileMmaPass(ModulePass):
    """Compute sums of products over the mma factors of the schedule with matrix instructions.

    The loop over the mma factor of the reduced axis adds a · b to a register tile of accumulators, of which a lane
    holds what the instruction wants (convert-loop-to-tile). An instruction wants other elements of the operands in a
    lane than that loop reads: those lanes that hold rows of the accumulators hold columns of B. So each operand is
    computed again in its own view, in which the lanes and registers along rows, columns and the reduced axis stand for
    what the instruction's fragments hold (dialects/atoms.py), and `tile.mma` takes the place of the loop.

    Reads of matrices whose rows of 16 bytes lie side by side in shared memory are marked `ldmatrix`; of elements of 16
    bits transposed where it is the reduced axis that goes across rows. Reads stand in front of the loops in which they
    do not change, unless the schedule says `reread`.

    Of two products in a chain, lanes and registers hold C of the first as A of the second wants it: what
    `tile.take_across` takes of it place by place is that operand. The unrolled steps around an instruction are in the
    one `tile.mma`, too.

    Leaves alone: kernels without mma factors, or in which no loop over one is left. Refused: loops that do anything
    else than to add products of two 16-bit floats, or of two f32 cut to TF32, and operands that cannot be computed in
    another view: made of values that vary with rows and columns, of reductions, or of indices that are not linear.
    """

    name = "tile-mma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            matrices = () if kernel.schedule is None else kernel.schedule.data.matrices
            if not matrices:
                continue
            # Classes are compared: isinstance asks abstract classes.
            loops = [op for op in kernel.body.walk() if type(op) is ForOp and op.axis.axis_kind is AxisKind.MMA]
            for loop in loops:
                for matrix in matrices:
                    if matrix.reduced == loop.axis.axis.data:
                        _use_instruction(kernel, matrices, matrix, loop)
            if loops:
                erase_unused(kernel.body.block)


def _use_instruction(kernel: KernelOp, matrices: Sequence[MatrixFactors], matrix: MatrixFactors, loop: ForOp) -> None:
    """One of the products of a kernel."""
    # Of a chain, the steps of each are in one op: for A of the second they are a tile of registers, and A of the first
    # is read in front of the loop around, in which it is the same.
    whole = _whole(loop) if len(matrices) == 2 else loop
    accumulators = Accumulators.of(kernel, matrix, matrices[-1].column, loop, whole)
    if [monoid.data for monoid in loop.monoids.data] != ["add"] * len(loop.carried):
        raise refused(loop, "it carries something else than sums")
    builder = builder_before(whole)
    views = view_of_a(accumulators, loop), view_of_b(accumulators, loop)
    for number, old in enumerate(whole.results):
        is_of_rows = _is_of_rows(accumulators, loop, number)
        if is_of_rows:
            new = _sum_rows(builder, accumulators, loop, number, views[0])
        else:
            new = _multiply(builder, accumulators, loop, number, views)
        old.replace_all_uses_with(new)
        if is_of_rows:
            _combine_lanes(accumulators, whole, number, new)
    assert whole.parent is not None
    whole.parent.erase_op(whole)


def _whole(loop: ForOp) -> ForOp:
    """The loop that is written out around that over an instruction, if it does nothing else than to repeat it; else the
    loop itself."""
    outer = loop.parent_op()
    if not isinstance(outer, ForOp) or outer.axis.axis_kind is not AxisKind.UNROLL or outer.axis.axis != loop.axis.axis:
        return loop
    repeats = bool(loop.inits) and tuple(loop.inits) == tuple(outer.carried)
    repeats = repeats and tuple(outer.yielded) == tuple(loop.results)
    return outer if repeats and not any(isinstance(op, StageOp) for op in outer.body.block.ops) else loop


def _multiply(
    builder: TileBuilder, accumulators: Accumulators, loop: ForOp, number: int, views: tuple[View, View]
) -> SSAValue:
    """The sum of this number that the loop carries, by an instruction; products side by side share what they read."""
    matrix = accumulators.matrix
    conditions, factors = _product(loop, number, matrix.atom)
    if any(accumulators.axes_of(condition, loop) for condition in conditions):
        raise refused(loop, "which elements it adds depends on rows or columns")
    axes = [accumulators.axes_of(factor, loop) for factor in factors]
    if axes == [{matrix.column}, {matrix.row}]:
        factors = factors[::-1]
    elif axes != [{matrix.row}, {matrix.column}]:
        found = " and ".join(", ".join(sorted(names)) or "neither" for names in axes)
        raise refused(
            loop, f"one factor varies with {matrix.row} and the other with {matrix.column}, but they vary with {found}"
        )
    with builder.at(loop.location):
        a, b = (view.build(builder, factor, conditions) for view, factor in zip(views, factors, strict=True))
        whole = accumulators.whole
        state = whole.inits[number] if whole.inits else builder.constant_like(0.0, whole.results[number])
        result = builder.insert(MmaOp.of(matrix.atom, state, a, b)).result
    result.name_hint = whole.results[number].name_hint or whole.carried[number].name_hint
    return result


def _is_of_rows(accumulators: Accumulators, loop: ForOp, number: int) -> bool:
    """Whether the sum of this number varies with rows only: it stands beside products."""
    return loop is accumulators.whole and shape_of(loop.results[number].type)[-1:] == (1,)


def _sum_rows(builder: TileBuilder, accumulators: Accumulators, loop: ForOp, number: int, view: View) -> SSAValue:
    """The sum of this number, of the elements that a lane holds for operand A: a part of each row, the others of which
    the lanes along columns have."""
    state, new = loop.carried[number], loop.yielded[number]
    total = new.owner
    if not isinstance(total, AddOp) or state not in total.operands:
        raise refused(loop, "it does not add to what it carries")
    element = total.operands[1 if total.operands[0] is state else 0]
    with builder.at(loop.location):
        part = view.build(builder, element)
        rank = len(shape_of(part.type))
        along_k = [rank - 3, rank - 1] if ATOMS[accumulators.matrix.atom].pack > 1 else [rank - 3]
        (part,) = builder.reduce_axis("add", [part], along_k)
        # The halves of rows are the last dimension but one of accumulators, and of what is reduced here.
        shape = shape_of(part.type)
        part = builder.reshape(part, (*shape[: rank - 3], shape[rank - 2], 1))
        state = loop.inits[number] if loop.inits else builder.constant_like(0.0, loop.results[number])
        return builder.alu("add", state, builder.fit(part, shape_of(state.type)))


def _combine_lanes(accumulators: Accumulators, loop: ForOp, number: int, total: SSAValue) -> None:
    """Combine, behind the loops that carry the sum of this number on, what the lanes along columns have of it."""
    outer = loop
    while outer.inits and isinstance(around := outer.parent_op(), ForOp):
        continued = [place for place, state in enumerate(around.carried) if state is outer.inits[number]]
        if not continued:
            break
        outer, (number,) = around, continued
        total = outer.results[number]
    assert outer.next_op is not None
    builder = builder_before(outer.next_op)
    with builder.at(outer.location):
        across = builder.insert(ReduceAcrossOp.of("add", [total], [accumulators.column_lane]))
    total.replace_uses_with_if(across.outputs[0], lambda use: use.operation is not across)


def _product(loop: ForOp, number: int, atom: str) -> tuple[list[SSAValue], tuple[SSAValue, SSAValue]]:
    """What an instruction multiplies (`multiplied`) to add it to the sum of this number that the loop carries, and
    the conditions that hold together where it does."""
    state, new = loop.carried[number], loop.yielded[number]
    total = new.owner
    if not isinstance(total, AddOp) or state not in total.operands:
        raise refused(loop, "it does not add to what it carries")
    element = total.operands[1 if total.operands[0] is state else 0]
    product, conditions = unexpanded(element).owner, list[SSAValue]()
    while isinstance(product, WhereOp) and is_zero(product.operands[2]):
        conditions.append(product.operands[0])
        product = unexpanded(product.operands[1]).owner
    if not isinstance(product, MulOp):
        raise refused(loop, "what it adds is no product")
    factors: list[SSAValue] = []
    for factor in product.operands:
        taken = multiplied(unexpanded(factor).owner)
        if taken is None:
            raise refused(loop, "a factor is neither a 16-bit float that was cast to f32 nor f32 cut to TF32")
        factors.append(taken)
    if element_of(factors[0].type) != element_of(factors[1].type):
        raise refused(loop, "its factors differ in type")
    if (element := str(element_of(factors[0].type))) not in ATOMS[atom].elements:
        raise refused(loop, f"{atom} does not multiply {element}")
    return conditions, (factors[0], factors[1])
