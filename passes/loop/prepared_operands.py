"""Operands of products that are computed: of what is staged, once for the block (tile-prepare)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ...dialects.loop import ReduceOp
from ...dialects.types import element_of
from ...dialects.uop import CastOp, LoadOp, MulOp
from ...rewriting.backward_slices import backward_slice
from .kernel_shape import Access, KernelShape


def prepared_loads(shape: KernelShape, sums: Sequence[ReduceOp]) -> list[Access]:
    """The loads from whose elements the operands of a product are computed, each of one's; none where an operand is
    neither loaded nor computed so, and for several products.

    sums: the product, and statistics of its rows that are computed beside it.
    """
    products = [op for op in sums if len(shape.varies(op.results[0])) == len(shape.parallel)]
    if len(products) != 1 or len(products[0].yielded) != 1 or len(shape.reduced) != 1:
        return []
    (reduction,) = products
    element = reduction.yielded[0].owner
    if not isinstance(element, MulOp):
        return []
    computed = [value for value in element.operands if not _is_loaded(value)]
    loads = [load for value in computed if (load := _load_of(shape, reduction, value)) is not None]
    return loads if len(loads) == len(computed) else []


def _load_of(shape: KernelShape, reduction: ReduceOp, operand: SSAValue) -> Access | None:
    """The load from whose elements an operand is computed, and from nothing else that varies with its place but what
    varies along the reduced axis alone, or not along it; None if there is none, or of another type."""
    inside = [op for op in backward_slice([operand]) if isinstance(op, LoadOp) and op.parent is reduction.body.block]
    loads = [access for access in shape.loads if access.op in inside and not access.axes <= {*shape.reduced}]
    if len(loads) != 1 or not loads[0].is_linear or operand.type != element_of(loads[0].op.buffer.type):
        return None
    return loads[0] if shape.varies(operand) == loads[0].axes else None


def _is_loaded(value: SSAValue) -> bool:
    """Whether a value is loaded, and made wider at most."""
    while isinstance(value.owner, CastOp):
        value = value.owner.operands[0]
    return isinstance(value.owner, LoadOp)
