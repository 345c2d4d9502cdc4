"""Which reductions of loop form matrix instructions compute."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, bf16, f16, f32
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.atoms import atom_for
from ...dialects.loop import ForOp, ReduceOp
from ...dialects.traversal import ops_inside
from ...dialects.types import element_of, type_name
from ...dialects.uop import (
    AddOp,
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    KernelOp,
    LoadOp,
    MulOp,
    NegOp,
    SubOp,
    WhereOp,
    constant_value,
)
from ...rewriting.backward_slices import backward_slice


def why_no_matrix(kernel: KernelOp, row: str, column: str, reduced: str) -> str | None:
    """Why a kernel in loop form has no products over these axes that matrix instructions compute; None if it has.

    Each is a sum in f32, along `reduced` and whatever is reduced inside of it with nothing else in between, of a · b:
    two f16 or two bf16, cast to f32, or two f32 cut to TF32, of which one varies with the row but not with the column,
    and the other the other way round; or of a · b where a condition holds that varies with neither, and 0 elsewhere.
    All multiply one type. Beside them there may be sums of what does not vary with the column (the statistics of rows);
    and what varies with the row may be made of what is reduced in front of them, along an axis of its own.
    """
    loops: dict[str, list[ForOp | ReduceOp]] = {}
    for op in ops_inside(kernel.body):
        if op.regions and isinstance(op, ForOp | ReduceOp):
            loops.setdefault(op.axis.axis.data, []).append(op)
    for axis in (row, column):
        if any(not isinstance(loop, ForOp) for loop in loops.get(axis, [])):
            return f"axis {axis} is reduced, too"
    products = products_along(kernel, reduced)
    if not loops.get(reduced):
        return f"nothing is summed along {reduced}"
    for reduction in loops[reduced]:
        if not isinstance(reduction, ReduceOp):
            return f"nothing is summed along {reduced}"
        if reduction.monoid.data != "add" or [x.type for x in reduction.results] != [f32]:
            return f"along {reduced} there is no sum of f32"
        innermost = perfect_nest(reduction)[-1]
        if _product(innermost.yielded[0])[0] not in products and _is_of_rows(innermost, row, column):
            continue
        if (reason := why_no_product(innermost, row, column)) is not None:
            return reason
    types = {type_name(_taken(product).type) for product in products}
    return None if len(types) == 1 else f"the products are of {' and '.join(sorted(types)) or 'no type'}"


def _is_of_rows(reduction: ReduceOp, row: str, column: str) -> bool:
    """Whether the elements of a sum vary with rows and not with columns, and can be computed in the view of A."""
    axes = _axes(reduction.yielded[0], {row, column, reduction.axis.axis.data})
    return not isinstance(axes, str) and row in axes and column not in axes


def multiplied(factor: Operation | Block) -> SSAValue | None:
    """What an instruction takes where `factor` makes a factor in f32: the f16 or bf16 that is cast to it, or the f32
    that is cut to TF32, which the instruction does by itself; None where no instruction multiplies the factor."""
    if isinstance(factor, CastOp) and element_of(factor.input.type) in (f16, bf16):
        return factor.input
    return factor.operands[0] if isinstance(factor, AluOp) and factor.row().name == "to_tf32" else None


def matrix_atom(kernel: KernelOp, reduced: str) -> str:
    """The instruction for the product along this axis, where there is one (`why_no_matrix`)."""
    return atom_for(type_name(_taken(products_along(kernel, reduced)[0]).type))


def products_along(kernel: KernelOp, reduced: str) -> list[MulOp]:
    """The products that are summed along this axis for the results of the kernel: several share the loops of the axis.
    Sums in fewer loops are of rows."""
    loops = [op for op in ops_inside(kernel.body) if isinstance(op, ReduceOp) and op.axis.axis.data == reduced]
    depths = [_depth(loop) for loop in loops]
    elements = [
        _product(perfect_nest(loop)[-1].yielded[0])[0]
        for loop, d in zip(loops, depths, strict=True)
        if d == max(depths)
    ]
    return [element for element in elements if isinstance(element, MulOp)]


def _product(element: SSAValue) -> tuple[Operation | Block, SSAValue | None]:
    """What makes an element of a sum, and the condition where it does if the element is 0 elsewhere."""
    choice = element.owner
    if isinstance(choice, WhereOp) and constant_value(choice.operands[2]) == 0:
        return choice.operands[1].owner, choice.operands[0]
    return choice, None


def _depth(op: Operation) -> int:
    """In how many loops an op stands."""
    depth = 0
    while isinstance(outer := op.parent_op(), ForOp | ReduceOp):
        op, depth = outer, depth + 1
    return depth


def _taken(product: MulOp) -> SSAValue:
    taken = multiplied(product.operands[0].owner)
    assert taken is not None
    return taken


def perfect_nest(op: ReduceOp) -> list[ReduceOp]:
    """The reduction and those inside that it does nothing but reduce further, with the same monoid."""
    nest = [op]
    while True:
        yielded = nest[-1].yielded
        inner = yielded[0].owner
        if (
            not isinstance(inner, ReduceOp)
            or inner.parent_op() is not nest[-1]
            or inner.monoid != op.monoid
            or tuple(yielded) != tuple(inner.results)
            or any(len(list(result.uses)) != 1 for result in inner.results)
        ):
            return nest
        nest.append(inner)


def why_no_product(reduction: ReduceOp, row: str, column: str) -> str | None:
    """Why the elements of a sum are no products that a matrix instruction computes, of rows and columns; None if they
    are."""
    product, condition = _product(reduction.yielded[0])
    if not isinstance(product, MulOp) or product.parent_op() is not reduction:
        return "the elements of the sum are no products"
    types: list[str] = []
    for factor in product.operands:
        taken = multiplied(factor.owner)
        if taken is None:
            return "a factor is neither a 16-bit float that was cast to f32 nor f32 cut to TF32"
        types.append(type_name(taken.type))
    if types[0] != types[1]:
        return f"the factors are {types[0]} and {types[1]}"
    depends: list[set[str]] = []
    for value in (*product.operands, *(() if condition is None else (condition,))):
        axes = _axes(value, {row, column, reduction.axis.axis.data})
        if isinstance(axes, str):
            return axes
        depends.append(axes)
    if condition is not None and not depends.pop().isdisjoint((row, column)):
        return f"which of its elements are summed varies with {row} or {column}"
    if {row, column} <= depends[0] or {row, column} <= depends[1]:
        return f"a factor varies with both {row} and {column}"
    if [row in axes for axes in depends].count(True) != 1 or [column in axes for axes in depends].count(True) != 1:
        return f"both factors, or none, vary with {row} or {column}"
    of_columns = product.operands[0 if column in depends[0] else 1]
    if is_made_of_reductions(of_columns):
        return f"the factor that varies with {column} is made of the result of a reduction"
    return None


def is_made_of_reductions(value: SSAValue) -> bool:
    """Whether the value is made of what is reduced in front of it."""
    return any(isinstance(op, ReduceOp) for op in backward_slice([value]))


_LINEAR = (AddOp, SubOp, MulOp, NegOp, ConstOp)


def _axes(value: SSAValue, tiled: set[str]) -> set[str] | str:
    """The axes that a value depends on; why it cannot be computed for other elements than those of the loops around.

    It must be made of loads and elementwise ops, and what it takes of indices must be linear in the tiled axes. It may
    be made of what is reduced in front of the product, along other axes.
    """
    axes: set[str] = set()
    stack, seen, reduced = [(value, False)], {value}, set[str]()
    while stack:
        top, is_reduced = stack.pop()
        owner = top.owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            if isinstance(loop, ForOp | ReduceOp):
                axes.add(loop.axis.axis.data)
            continue
        operands: Sequence[SSAValue] = owner.operands
        if isinstance(owner, ReduceOp) and (is_reduced or not isinstance(owner.parent_op(), ReduceOp)):
            if (axis := owner.axis.axis.data) in tiled:
                return f"a factor is made of the result of a reduction along {axis}, too"
            reduced.add(axis)
            operands, is_reduced = [*operands, *owner.yielded], True
        elif not isinstance(owner, AluOp | BitcastOp | CastOp | ConstOp | LoadOp):
            return "a factor is made of the result of a reduction"
        if isinstance(top.type, IndexType) and not is_reduced and not _is_linear(owner):
            under = _axes_under(top)
            if under is None or under & tiled:
                return "a factor takes an index that is not linear"
            axes |= under
            continue
        for operand in operands:
            if operand not in seen:
                seen.add(operand)
                stack.append((operand, is_reduced))
    return axes - reduced


def _axes_under(value: SSAValue) -> set[str] | None:
    """The axes that an index of any form is made of; None where it is made of data, or of what is reduced."""
    axes: set[str] = set()
    stack, seen = [value], {value}
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            if not isinstance(loop, ForOp):
                return None
            axes.add(loop.axis.axis.data)
        elif isinstance(owner, AluOp | ConstOp):
            stack += [operand for operand in owner.operands if operand not in seen]
            seen.update(owner.operands)
        else:
            return None
    return axes


def _is_linear(op: Operation) -> bool:
    if isinstance(op, MulOp):
        return any(constant_value(operand) is not None for operand in op.operands)
    return isinstance(op, _LINEAR)
