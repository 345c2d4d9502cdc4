"""Functions with sizes that are known when they are called: from types with `?` to those of the greatest sizes."""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, SSAValue

from ...dialects.argument_attributes import set_argument_attributes
from ...dialects.function_sizes import EXTENTS, FunctionSizes
from ...dialects.symbols import ExtentsAttr
from ...dialects.torch import AtenOp
from ...dialects.types import element_of, is_tensor
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from .lowerings.lowering import shape_in
from .lowerings.registry import Symbolic
from .lowerings.sizes import Dim, Scope
from .lowerings.tensor import Tensor


def has_symbols(function: FuncOp) -> bool:
    """Whether a type of the function has extents that are not numbers."""
    return any(map(has_extents, (*function.function_type.inputs.data, *function.function_type.outputs.data)))


def has_extents(type: Attribute) -> bool:
    """Whether a type of the torch dialect says what its `?` are."""
    return is_tensor(type) and isinstance(type.encoding, ExtentsAttr)


def begin_bounded(function: FuncOp, builder: Builder) -> Symbolic:
    """Add an argument with the greatest sizes beside each that has others: what is lowered takes it."""
    sizes = FunctionSizes.of(function)
    block = function.body.block
    values: dict[str, SSAValue] = {name: block.args[place] for name, (place, _) in sizes.symbols.items()}
    scope = Scope(sizes.bounds, values)
    tensors: dict[SSAValue, Tensor] = {}
    for argument in list(block.args):
        shape = shape_in(scope, argument.type)
        dims = tuple(map(Dim.of, shape))
        if any(dim.is_cut for dim in dims):
            type = TensorType(element_of(argument.type), [dim.extent for dim in dims])
            new = block.insert_arg(type, argument.index)
            new.name_hint, new.location = argument.name_hint, argument.location
            tensors[argument] = Tensor(builder, new, dims)
    return Symbolic(scope, tensors)


def finish_bounded(function: FuncOp, builder: Builder, symbolic: Symbolic) -> None:
    """Return what has been lowered, its elements in front, drop what it was lowered from, and write the function's type
    and its extents."""
    block = function.body.block
    end = block.last_op
    assert isinstance(end, ReturnOp)
    builder.before = end
    results: dict[int, Attribute] = {}
    with builder.at(end.location):
        for place, operand in enumerate(end.operands):
            if operand not in symbolic.tensors:
                continue
            tensor = symbolic.tensors[operand]
            for axis in range(tensor.rank):
                tensor = tensor.straight(axis)
            end.operands[place] = tensor.bounded
            results[place] = _extents(operand.type)
    erase_unused(block, also=(AtenOp,))
    arguments: dict[int, Attribute] = {}
    for argument in [each for each in block.args if each in symbolic.tensors]:
        place = argument.index
        block.erase_arg(argument)
        arguments[place - 1] = _extents(argument.type)
    function.function_type = FunctionType.from_lists(
        [argument.type for argument in block.args], [operand.type for operand in end.operands]
    )
    set_argument_attributes(function, EXTENTS, arguments)
    function.res_attrs = ArrayAttr(
        DictionaryAttr({EXTENTS: results[place]} if place in results else {}) for place in range(len(end.operands))
    )


def _extents(type: Attribute) -> Attribute:
    assert is_tensor(type)
    return type.encoding
