"""From a graph of ATen operations to the torch dialect, one operation to one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch._ops import HigherOrderOperator, OpOverload
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue

from ..dialects.argument_attributes import set_argument_attributes
from ..dialects.function_sizes import SYMBOL
from ..dialects.symbols import ExtentAttr, SymbolAttr
from ..dialects.torch import AtenOp
from ..dialects.types import element_of
from ..rewriting.locations import fuse_locations, source_lines
from .element_types import tensor_type
from .errors import Problem, UnsupportedError
from .source_locations import node_location
from .symbols import NO_SYMBOLS, Symbols
from .torch_internals import (
    PRODUCTS,
    SchemaArgument,
    allows_tf32,
    node_outputs,
    operator_overload,
    ordered_overload,
    overload_name,
    schema_arguments,
    uniform_number,
)
from .user_errors import static_shape_advice

ASSERTIONS = (
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten._assert_async.default,
    torch.ops.aten._assert_async.msg,
    torch.ops.aten._linalg_check_errors.default,
    torch.ops.aten._assert_scalar.default,
    torch.ops.aten.sym_constrain_range.default,
    torch.ops.aten.sym_constrain_range_for_size.default,
)
"""Checks that the program makes of itself, left out: of dtypes, which hold for those it was exported for, of sizes,
whose bounds are checked when it is called, and of data (`one_hot` of an index out of range, `inv` of a singular
matrix), which a compiled kernel has no way to report."""

_BY_PLACE = (
    torch.ops.aten.as_strided.default,
    torch.ops.aten.as_strided_copy.default,
    torch.ops.aten.as_strided_scatter.default,
)
"""Operations that name elements by their places in memory. uop's tensors lie row by row, from the first place on."""


_SIZES = (torch.ops.aten.sym_size.int, torch.ops.aten.sym_numel.default, torch.ops.aten.sym_stride.int)
"""Operations that give a size, from which Python's operators compute others."""


class GraphImporter:
    """The import of one graph: the values of its nodes so far, and what was found that uop has no form for.

    Who uses it makes the arguments, those for `symbols` first, runs `operations`, and says with `finish` what the
    function returns.
    """

    def __init__(self, graph: torch.fx.Graph, symbols: Symbols = NO_SYMBOLS) -> None:
        self.graph = graph
        self.symbols = symbols
        self.block = Block()
        self.values: dict[torch.fx.Node, list[SSAValue]] = {}
        self.sizes: set[torch.fx.Node] = set()
        """Nodes that give numbers, which depend on sizes alone."""
        self.numbers: dict[torch.fx.Node, AtenOp] = {}
        """Constants whose elements are all one number: what makes each of them."""
        self.nodes: dict[AtenOp, torch.fx.Node] = {}
        """The node that each call was written for."""
        self.problems: list[Problem] = []

    def problem(self, node: torch.fx.Node, subject: str, reason: str) -> None:
        """Note that uop has no form for `node`."""
        location = ", ".join(source_lines(node_location(node.meta)))
        self.problems.append(Problem(location, subject, reason))

    def follows(self, node: torch.fx.Node) -> None:
        """Note that `node` takes what uop has no form for, which has been reported."""

    def constant(self, node: torch.fx.Node, value: torch.Tensor, type: Attribute) -> bool:
        """Whether the constant tensor that `node` stands for is one number throughout, and so needs no argument."""
        number = uniform_number(value)
        if number is not None:
            self.numbers[node] = _full(value, type, number)
        return number is not None

    def finish(self, name: str, returned: Sequence[SSAValue]) -> ModuleOp:
        """A module that holds the function `name` of what was imported."""
        end = ReturnOp(*returned)
        end.location = fuse_locations(value.owner.location for value in returned if isinstance(value, OpResult))
        self.block.add_op(end)
        type = FunctionType.from_lists([x.type for x in self.block.args], [x.type for x in returned])
        function = FuncOp(name, type, Region(self.block))
        set_argument_attributes(function, SYMBOL, dict(enumerate(map(SymbolAttr, self.symbols.named.values()))))
        return ModuleOp([function])

    def operations(self) -> None:
        """Write the calls of the graph, in its order; `problems` gets those that uop has no form for."""
        for node, op in self.numbers.items():
            op.location = fuse_locations(node_location(user.meta) for user in node.users)
            self.block.add_op(op)
            self.values[node] = list(op.results)
        for node in self.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target is operator.getitem:
                self._get_item(node)
            elif (ordered := ordered_overload(node)) is not None:
                self.ordered(node, ordered)
            elif isinstance(node.target, HigherOrderOperator):
                self.problem(node, str(node.target), "control flow that depends on data is not supported")
            elif any(source not in self.values and source not in self.sizes for source in node.all_input_nodes):
                self.follows(node)
            elif is_size(node):
                self.sizes.add(node)
            elif (overload := operator_overload(node.target)) is not None:
                self._operation(node, overload)
            else:
                self.problem(node, str(node.target), "is no operator of PyTorch")

    def ordered(self, node: torch.fx.Node, overload: OpOverload[..., Any]) -> None:
        """A call of `overload` for its effect: checks have none."""
        if overload not in ASSERTIONS:
            self.problem(node, str(overload), "an operation with an effect other than its results is not supported")

    def _get_item(self, node: torch.fx.Node) -> None:
        source, index = node.args
        assert isinstance(source, torch.fx.Node)
        assert isinstance(index, int)
        present = [place for place, output in enumerate(node_outputs(source)) if output is not None]
        if source in self.values and index in present:
            self.values[node] = [self.values[source][present.index(index)]]

    def _operation(self, node: torch.fx.Node, overload: OpOverload[..., Any]) -> None:
        if overload in ASSERTIONS:
            return
        try:
            types = [tensor_type(output, self.symbols) for output in node_outputs(node) if output is not None]
            operands, arguments = self._split_arguments(node, overload)
            if overload in _BY_PLACE:
                _check_place(node.all_input_nodes[0], "storage_offset" in arguments)
        except UnsupportedError as error:
            self.problem(node, str(overload), f"{error}{static_shape_advice(overload)}")
            return
        op = AtenOp.create(
            operands=operands,
            result_types=types,
            properties={
                "overload": StringAttr(overload_name(overload)),
                "arguments": DictionaryAttr(arguments),
            },
        )
        if types and element_of(types[0]) == f32 and overload in PRODUCTS and allows_tf32():
            op.allow_tf32 = UnitAttr()
        op.location = node_location(node.meta)
        self.block.add_op(op)
        self.nodes[op] = node
        self.values[node] = list(op.results)

    def _split_arguments(
        self, node: torch.fx.Node, overload: OpOverload[..., Any]
    ) -> tuple[list[SSAValue], dict[str, Attribute]]:
        """The tensors that `node` gives, in the order of the schema, and its other arguments by name.

        Left out are arguments that have their default value; but None in front of a tensor is written, or it could
        not be told which of two optional tensors is given.
        """
        operands: list[SSAValue] = []
        arguments: dict[str, Attribute] = {}
        absent: list[str] = []
        for position, argument in enumerate(schema_arguments(overload)):
            if position < len(node.args):
                value = node.args[position]
            else:
                value = node.kwargs.get(argument.name, argument.default)
            if argument.has_default and value == argument.default:
                if value is None:
                    absent.append(argument.name)
                continue
            tensors = self._tensors(value)
            if tensors:
                arguments.update(dict.fromkeys(absent, UnitAttr()))
                absent.clear()
            operands += [self.values[tensor][0] for tensor in tensors]
            if tensors and isinstance(value, torch.fx.Node):
                continue
            arguments[argument.name] = _in_place_of_tensors(argument, value) if tensors else self._plain(value)
        return operands, arguments

    def _tensors(self, value: Any) -> list[torch.fx.Node]:
        elements = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else (value,)
        return [element for element in elements if isinstance(element, torch.fx.Node) and element not in self.sizes]

    def _plain(self, value: Any) -> Attribute:
        """An argument that is no tensor as an attribute."""
        match value:
            case torch.fx.Node():
                return self._number(value.meta["val"])
            case torch.SymInt() | torch.SymFloat() | torch.SymBool():
                return self._number(value)
            case list() | tuple():
                return ArrayAttr([self._plain(element) for element in cast("Sequence[Any]", value)])
            case _:
                return plain_attribute(value)

    def _number(self, value: Any) -> Attribute:
        """A number that is computed from sizes."""
        if not isinstance(value, torch.SymInt):
            if isinstance(value, torch.SymFloat | torch.SymBool):
                raise UnsupportedError(
                    f"the number {self.symbols.told(value)} is not supported: only whole numbers of sizes "
                    "are; compute with a tensor, `torch.full((), n)`"
                )
            return plain_attribute(value)
        extent = self.symbols.extent(value)
        return ExtentAttr(extent) if extent.constant is None else plain_attribute(extent.constant)


def _check_place(node: torch.fx.Node, from_storage: bool) -> None:
    """Raise `UnsupportedError` unless the tensor that `node` gives lies in memory as uop's tensors do.

    from_storage: places count from where its memory begins, else from where it begins
    """
    tensor = node.meta["val"]
    offset = tensor.storage_offset() if from_storage else 0
    if not tensor.is_contiguous() or offset:
        raise UnsupportedError(
            f"its operand lies in memory with strides {tensor.stride()}{f' from {offset} on' if offset else ''}, which "
            "uop does not keep; use permute, slices, `unfold` or `expand`, or call it on `.contiguous()`"
        )


def is_size(node: torch.fx.Node) -> bool:
    """Whether a call gives a number that is computed from sizes: it stands as such in the calls that take it."""
    numbers = int | float | torch.SymInt | torch.SymFloat | torch.SymBool
    return isinstance(node.meta.get("val"), numbers) and operator_overload(node.target) in (None, *_SIZES)


def _full(tensor: torch.Tensor, type: Attribute, number: float) -> AtenOp:
    """The call that makes a tensor of one number."""
    arguments = {"size": list(tensor.shape), "fill_value": number, "dtype": tensor.dtype}
    return AtenOp.create(
        result_types=[type],
        properties={
            "overload": StringAttr("full"),
            "arguments": DictionaryAttr({name: plain_attribute(value) for name, value in arguments.items()}),
        },
    )


def _in_place_of_tensors(argument: SchemaArgument, value: Any) -> Attribute:
    """What stands for a list of tensors: their number, or which of them there are where some may be None."""
    if argument.has_absent:
        return ArrayAttr([IntegerAttr(int(element is not None), i1) for element in value])
    return IntegerAttr(len(value), i64)


def plain_attribute(value: Any) -> Attribute:
    """A number, a name or nothing, or a list of those, as an attribute. Raises `UnsupportedError` for what is none."""
    match value:
        case None:
            return UnitAttr()
        case bool():
            return IntegerAttr(int(value), i1)
        case int():
            return IntegerAttr(value, i64)
        case float():
            return FloatAttr(value, f64)
        case str():
            return StringAttr(value)
        case torch.dtype() | torch.layout() | torch.memory_format():
            return StringAttr(str(value).removeprefix("torch."))
        case torch.device():
            return StringAttr(str(value))
        case list() | tuple():
            return ArrayAttr([plain_attribute(element) for element in cast("Sequence[Any]", value)])
        case _:
            raise UnsupportedError(f"an argument of type {type(value).__name__} is not supported")
