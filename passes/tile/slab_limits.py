"""Slabs that end where a number of the program says, as the length of a sequence: what lies behind it is 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import i64
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.axes import AxisKind
from ...dialects.loop import ForOp
from ...dialects.tile import AxisOp, ReadOp
from ...dialects.types import broadcast_shape, element_of, index, shape_of
from ...dialects.uop import AluOp, CastOp, ConstOp, ExpandOp, GeOp, GtOp, KernelOp, LeOp, LtOp, WhereOp
from ...rewriting.backward_slices import backward_slice
from .accesses import replace_access
from .linear import conjuncts, is_zero, linear_form, unexpanded
from .tile_builder import TileBuilder


@dataclass(frozen=True)
class SlabLimit:
    """Where the buffer ends along one dimension for a slab: at `bound` + `offset`.

    bound: an integer or an index that all threads of the block have in front of the loop whose steps have the slab.
    condition: what says so in the mask of the read.
    """

    dimension: int
    bound: SSAValue
    offset: int
    condition: SSAValue = field(compare=False)

    def build(self, builder: TileBuilder, buffer: SSAValue) -> SSAValue:
        """The limit as an index, from 0 to the buffer's extent."""
        if builder.parent is not None and isinstance(self.bound.owner, Operation):
            around = self.bound.owner.parent_op()
            builder = builder.parent if isinstance(around, KernelOp) else builder
        extent = shape_of(buffer.type)[self.dimension]
        # Clamped first: then the sum does not wrap around.
        least, most = (builder.const(number - self.offset, self.bound.type) for number in (0, extent))
        end = builder.cast(builder.alu("min", builder.alu("max", self.bound, least), most), index)
        return builder.alu("add", end, builder.const(self.offset, index)) if self.offset else end


def limit_of(read: ReadOp, loop: ForOp | None) -> SlabLimit | None:
    """The limit that the mask of a read gives the slab of each step of a loop, or of the whole block, if one of its
    conditions does."""
    if read.mask is None:
        return None
    limits = (_limit(condition, read, loop) for condition in conjuncts(read.mask))
    return next((limit for limit in limits if limit is not None), None)


def mask_by_choices(read: ReadOp, loops: Sequence[ForOp | None]) -> bool:
    """Mask a read by the conditions under which what is read is used at all, elsewhere 0 is: those that give its slab a
    limit. Whether there are any.

    loops: the loops of which one has a slab of what is read for each step; None stands for the whole block.
    """
    own = [] if read.mask is None else conjuncts(read.mask)
    *chain, last = _up_to_choice(read)
    new = [
        condition
        for choice in (*chain, last)
        if isinstance(choice, WhereOp)
        for condition in conjuncts(choice.operands[0])
        if condition not in own and all(_limit(condition, read, loop) is not None for loop in loops)
    ]
    if not new or not loops:
        return False
    assert last.parent is not None
    for op in chain:  # behind what the conditions are made of
        op.detach()
        last.parent.insert_op_before(op, last)
    replace_access(read, conditions=[*own, *new])
    return True


def _up_to_choice(read: ReadOp) -> list[Operation]:
    """A read and the ops in its block that are all that uses it, each the one before, up to the last that is a choice
    between that and 0; the read alone where none is."""
    chain: list[Operation] = [read]
    end = 1
    while len(uses := list(chain[-1].results[0].uses)) == 1:
        user = uses[0].operation
        if not isinstance(user, AluOp | CastOp | ExpandOp) or user.parent is not read.parent:
            break
        is_choice = isinstance(user, WhereOp)
        if is_choice and (uses[0].index != 1 or not is_zero(user.operands[2])):
            break
        chain.append(user)
        if is_choice:
            end = len(chain)
    return chain[:end]


def _limit(condition: SSAValue, read: ReadOp, loop: ForOp | None) -> SlabLimit | None:
    """The limit that a comparison of an index of the read, and maybe a constant, with a number says."""
    owner = condition.owner
    if not isinstance(owner, LtOp | LeOp | GtOp | GeOp):
        return None
    shape = shape_of(read.result.type)
    if broadcast_shape([shape, shape_of(condition.type)]) != shape:
        return None
    place, bound = (unexpanded(operand) for operand in owner.operands)
    if isinstance(owner, GtOp | GeOp):
        place, bound = bound, place
    form = linear_form(_as_index(place))
    if form is None or not form.terms or not _is_known_before(bound, loop or read.parent_op()):
        return None
    for dimension, value in enumerate(read.indices):
        own = linear_form(value)
        if own is not None and not (difference := own - form).terms:
            # place < bound where index < bound + (index − place)
            return SlabLimit(dimension, bound, difference.constant + isinstance(owner, LeOp | GeOp), condition)
    return None


def _as_index(value: SSAValue) -> SSAValue:
    """The index that an integer of 64 bits, which holds each, is cast from; else the value."""
    owner = value.owner
    if isinstance(owner, CastOp) and element_of(value.type) == i64 and element_of(owner.input.type) == index:
        return owner.input
    return value


def _is_known_before(bound: SSAValue, loop: Operation | None) -> bool:
    """Whether a number of 64 bits is read, or is made of indices, in front of a loop, and is the same for all threads
    of a block."""
    block: Block | None = bound.owner if isinstance(bound.owner, Block) else bound.owner.parent
    while isinstance(loop, ForOp) and loop.parent is not block:
        loop = loop.parent_op()
    return (
        isinstance(loop, ForOp)
        and bound.type in (index, i64)
        and not isinstance(bound.owner, ConstOp)
        and all(
            op.axis.axis_kind is AxisKind.BLOCK if isinstance(op, AxisOp) else isinstance(op, _ALIKE)
            for op in backward_slice([bound])
        )
    )


_ALIKE = (AluOp, CastOp, ConstOp, ReadOp)
"""What gives all threads of a block the same, if its operands do."""
