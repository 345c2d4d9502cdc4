"""Which kernels of loop form are two products in a chain, that matrix instructions or vectors compute."""

from __future__ import annotations

from ...dialects.atoms import ATOMS
from ...dialects.axes import SERIAL_KINDS, AxisKind
from ...dialects.schedule import Schedule
from ...dialects.types import type_name
from ...dialects.uop import KernelOp, MulOp
from .attention_shape import AttentionShape, attention_shape
from .kernel_shape import shape_of_kernel
from .matrix_products import multiplied, why_no_product


def why_no_chain(attention: AttentionShape | None, row: str) -> str | None:
    """Why no instructions compute both products of an attention kernel, with these rows; None if they do.

    Queries, keys and values are f16 or bf16, cast to f32, and nothing else is done to them.
    """
    if attention is None:
        return "what is summed along one of them is no product of exponentials that another product makes"
    if row not in attention.rows:
        return f"keys or values vary with {row}, too"
    if reason := why_no_product(attention.scores, row, attention.keys):
        return reason
    product = attention.scores.yielded[0].owner
    assert isinstance(product, MulOp)
    taken = [multiplied(factor.owner) for factor in product.operands]
    value = multiplied(attention.reduction.yielded[-1].owner)
    types = {type_name(x.type) for x in (*taken, value) if x is not None}
    if value is None or len(types) != 1 or not types <= set(ATOMS["m16n8k16"].elements):
        return "queries, keys and values are not all f16, or all bf16, that are cast to f32"
    return None


def why_not_chained(kernel: KernelOp, schedule: Schedule) -> str | None:
    """Why a schedule that chains two products cannot be carried out; None if it can."""
    first, second = schedule.matrices
    attention = attention_shape(shape_of_kernel(kernel))
    if reason := why_no_chain(attention, second.row):
        return reason
    assert attention is not None
    roles = {first.column: attention.keys, first.reduced: attention.depth, second.column: attention.channels}
    for own, wanted in roles.items():
        if own != wanted:
            return f"axis {own} stands where {wanted} does in the kernel"
    *outer, _ = schedule.factors(first.column)
    kinds = [factor.kind for factor in outer if factor.extent > 1]
    if any(kind not in (*SERIAL_KINDS, AxisKind.REGISTER) for kind in kinds) or AxisKind.REGISTER in kinds[:-1]:
        return f"axis {first.column} has other factors than loops and, last, registers"
    return None


def why_no_vector_chain(kernel: KernelOp, schedule: Schedule) -> str | None:
    """Why vectors whose lanes go along the keys of attention, and then along the channels of its values, cannot carry
    out a schedule that says so; None if they can."""
    attention = attention_shape(shape_of_kernel(kernel))
    if attention is None:
        return "what is summed along one of them is no product of exponentials that another product makes"
    if schedule.chain != (attention.keys, attention.channels):
        return f"the keys of this kernel are {attention.keys}, and the channels {attention.channels}"
    columns = schedule.factors(attention.channels)
    *outer, lanes = schedule.factors(attention.keys)
    if lanes.of is None or schedule.shared(lanes) != (attention.channels, len(columns) - 1):
        return f"`{lanes}` and `{columns[-1]}` are not the innermost factors of both, and alike"
    kinds = [factor.kind for factor in outer if factor.extent > 1]
    if sorted(kinds, key=lambda kind: kind is AxisKind.REGISTER) != kinds or not set(kinds) <= _CHAINED_KINDS:
        return f"axis {attention.keys} has other factors than loops and, behind them, registers"
    return None


_CHAINED_KINDS = frozenset((*SERIAL_KINDS, AxisKind.REGISTER))
