"""What a function says of its arguments: attributes of `func.func`, by the name of the fact."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument

MUTATED = "uop.mutated"
"""`%k: tensor<8xf32> {uop.mutated = 0 : i64}`: result 0 is the new value of what the caller gives for %k, who gives up
its memory for that: the program may write there, and where it does, result 0 lies there."""


def argument_attribute(argument: BlockArgument, name: str) -> Attribute | None:
    """What the function says of its argument under this name."""
    function = argument.block.parent_op()
    if not isinstance(function, FuncOp) or function.arg_attrs is None or argument.index >= len(function.arg_attrs):
        return None
    return function.arg_attrs.data[argument.index].data.get(name)


def set_argument_attributes(function: FuncOp, name: str, values: Mapping[int, Attribute]) -> None:
    """Say it of arguments, by their places; what else is said of them stays."""
    if not values:
        return
    known = () if function.arg_attrs is None else function.arg_attrs.data
    told = [dict(known[place].data) if place < len(known) else {} for place in range(len(function.body.block.args))]
    for place, value in values.items():
        told[place][name] = value
    function.arg_attrs = ArrayAttr(map(DictionaryAttr, told))


def mutated_result(argument: BlockArgument) -> int | None:
    """The place of the result that is the argument's new value; None for an argument that keeps its value."""
    attribute = argument_attribute(argument, MUTATED)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def set_mutated(function: FuncOp, results: Mapping[int, int]) -> None:
    """Say which arguments have new values: place of the argument → place of the result."""
    values = {argument: IntegerAttr(result, i64) for argument, result in results.items()}
    set_argument_attributes(function, MUTATED, values)
