"""From an exported PyTorch program to the torch dialect, one operation to one."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import torch
import torch.export
from torch._ops import HigherOrderOperator, OpOverload
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue

from ..dialects.torch import AtenOp
from ..rewriting.locations import fuse_locations, source_lines
from .argument_names import readable_name, unique_identifiers
from .element_types import tensor_type
from .errors import Problem, UnsupportedError, UnsupportedProgramError
from .exporting import decompose, export_module
from .imported import Argument, ArgumentKind, Imported, Result, ResultKind
from .source_locations import node_location
from .torch_internals import (
    SchemaArgument,
    node_modules,
    node_outputs,
    operator_overload,
    ordered_overload,
    overload_name,
    schema_arguments,
    uniform_number,
)
from .user_errors import static_shape_advice


def import_exported(
    module: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    name: str = "forward",
) -> Imported:
    """Export `module`, called with `args` and `kwargs` (real or fake tensors), and import it.

    Raises what `torch.export.export` raises, and `UnsupportedProgramError`.
    """
    return import_program(export_module(module, args, kwargs), name)


def import_program(exported: torch.export.ExportedProgram, name: str = "forward") -> Imported:
    """Decompose `exported` and write it in the torch dialect as function `name`.

    Raises `UnsupportedProgramError`, which lists every operation and tensor that uop has no form for.
    """
    return import_decomposed(decompose(exported), name)


def import_decomposed(core: torch.export.ExportedProgram, name: str = "forward") -> Imported:
    """Write a program in core ATen, as `decompose` gives it, in the torch dialect as function `name`.

    Raises `UnsupportedProgramError`.
    """
    return _Importer(core).run(name)


_ARGUMENT_KINDS = {
    InputKind.USER_INPUT: ArgumentKind.USER_INPUT,
    InputKind.PARAMETER: ArgumentKind.PARAMETER,
    InputKind.BUFFER: ArgumentKind.BUFFER,
    InputKind.CONSTANT_TENSOR: ArgumentKind.CONSTANT,
}

_RESULT_KINDS = {
    OutputKind.USER_OUTPUT: ResultKind.USER_OUTPUT,
    OutputKind.BUFFER_MUTATION: ResultKind.BUFFER_MUTATION,
    OutputKind.PARAMETER_MUTATION: ResultKind.PARAMETER_MUTATION,
    OutputKind.USER_INPUT_MUTATION: ResultKind.USER_INPUT_MUTATION,
}

_ASSERTIONS = (
    torch.ops.aten._assert_tensor_metadata.default,
    torch.ops.aten._assert_async.default,
    torch.ops.aten._assert_async.msg,
    torch.ops.aten._linalg_check_errors.default,
)
"""Checks that the program makes of itself, left out: of dtypes, which hold for those it was exported for, and of
data (`one_hot` of an index out of range, `inv` of a singular matrix), which a compiled kernel has no way to report."""

_BY_PLACE = (
    torch.ops.aten.as_strided.default,
    torch.ops.aten.as_strided_copy.default,
    torch.ops.aten.as_strided_scatter.default,
)
"""Operations that name elements by their places in memory. uop's tensors lie row by row, from the first place on."""


class _Importer:
    """One import: the values of FX nodes so far, and what was found that uop has no form for."""

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self.exported = exported
        self.block = Block()
        self.values: dict[torch.fx.Node, list[SSAValue]] = {}
        self.numbers: dict[torch.fx.Node, AtenOp] = {}
        """Constants whose elements are all one number: what makes each of them."""
        self.problems: list[Problem] = []

    def run(self, name: str) -> Imported:
        arguments = self.arguments()
        self.operations()
        if self.problems:
            raise UnsupportedProgramError(self.problems)
        results, returned = self.results()
        end = ReturnOp(*returned)
        end.location = fuse_locations(value.owner.location for value in returned if isinstance(value, OpResult))
        self.block.add_op(end)
        call = self.exported.call_spec
        assert call.in_spec is not None
        assert call.out_spec is not None
        type = FunctionType.from_lists([x.type for x in self.block.args], [x.type for x in returned])
        module = ModuleOp([FuncOp(name, type, Region(self.block))])
        return Imported(module, arguments, results, call.in_spec, call.out_spec)

    def problem(self, node: torch.fx.Node, subject: str, reason: str) -> None:
        location = ", ".join(source_lines(node_location(node.meta)))
        self.problems.append(Problem(location, subject, reason))

    # ---- arguments and results

    def arguments(self) -> tuple[Argument, ...]:
        """Make the block's arguments; constants among the user's inputs (None, numbers) are none.

        Nor are constant tensors that hold one number throughout, such as `torch.tensor(2.0)` in the user's code.
        """
        nodes = {node.name: node for node in self.exported.graph.nodes if node.op == "placeholder"}
        found: list[Argument] = []
        shared: dict[int, int] = {}  # id of a parameter's tensor to its place in `found`
        leaf = -1
        for spec in self.exported.graph_signature.input_specs:
            kind = _ARGUMENT_KINDS.get(spec.kind)
            leaf += kind is ArgumentKind.USER_INPUT
            if isinstance(spec.arg, ConstantArgument) or spec.kind is InputKind.TOKEN:
                continue
            node = nodes[spec.arg.name]
            source = spec.target or node.name
            if kind is None or not isinstance(spec.arg, TensorArgument):
                what = spec.kind.name.lower().replace("_", " ")
                self.problem(node, f"argument {source}", f"a {what} is not supported, only tensors are")
                continue
            try:
                type = tensor_type(node.meta["val"])
            except UnsupportedError as error:
                self.problem(node, f"argument {source}", str(error))
                continue
            value = None if kind is ArgumentKind.USER_INPUT else self.held_tensor(source)
            if kind is ArgumentKind.CONSTANT and value is not None and (number := uniform_number(value)) is not None:
                self.numbers[node] = _full(value, type, number)
                continue
            if kind is ArgumentKind.PARAMETER and id(value) in shared:
                first = found[shared[id(value)]]
                found[shared[id(value)]] = replace(first, placeholders=(*first.placeholders, node.name))
                continue
            shared[id(value)] = len(found)
            place = leaf if kind is ArgumentKind.USER_INPUT else None
            found.append(Argument(source, kind, source, type, place, value, (node.name,)))
        classes = self.module_classes()
        names = unique_identifiers([readable_name(argument.source, classes) for argument in found])
        for name, argument in zip(names, found, strict=True):
            value = self.block.insert_arg(argument.type, len(self.block.args))
            value.name_hint = name
            self.values |= {nodes[placeholder]: [value] for placeholder in argument.placeholders}
        return tuple(replace(argument, name=name) for name, argument in zip(names, found, strict=True))

    def module_classes(self) -> dict[str, str]:
        """The class of each module that calls an operation, by the module's qualified name."""
        return {name: kind for node in self.exported.graph.nodes for name, kind in node_modules(node).items()}

    def held_tensor(self, source: str) -> torch.Tensor:
        """The tensor that the exported program holds for a parameter, buffer or constant."""
        tensor = self.exported.state_dict.get(source, self.exported.constants.get(source))
        assert isinstance(tensor, torch.Tensor)
        return tensor

    def results(self) -> tuple[tuple[Result, ...], list[SSAValue]]:
        """What the outputs are for, and the values that the function returns."""
        nodes = {node.name: node for node in self.exported.graph.nodes}
        results: list[Result] = []
        returned: list[SSAValue] = []
        for spec in self.exported.graph_signature.output_specs:
            if spec.kind is OutputKind.TOKEN:
                continue
            kind = _RESULT_KINDS[spec.kind]
            if isinstance(spec.arg, ConstantArgument):
                results.append(Result(kind, None, constant=spec.arg.value))
                continue
            results.append(Result(kind, len(returned), target=spec.target))
            returned += self.values[nodes[spec.arg.name]]
        return tuple(results), returned

    # ---- operations

    def operations(self) -> None:
        for node, op in self.numbers.items():
            op.location = fuse_locations(node_location(user.meta) for user in node.users)
            self.block.add_op(op)
            self.values[node] = list(op.results)
        for node in self.exported.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target is operator.getitem:
                self.get_item(node)
            elif (ordered := ordered_overload(node)) is not None:
                self.ordered(node, ordered)
            elif isinstance(node.target, HigherOrderOperator):
                self.problem(node, str(node.target), "control flow that depends on data is not supported")
            elif any(source not in self.values for source in node.all_input_nodes):
                pass  # what gives it has been reported
            elif (overload := operator_overload(node.target)) is not None:
                self.operation(node, overload)
            else:
                self.problem(node, str(node.target), "is no operator of PyTorch")

    def ordered(self, node: torch.fx.Node, overload: OpOverload[..., Any]) -> None:
        """A call of `overload` for its effect: checks have none."""
        if overload not in _ASSERTIONS:
            self.problem(node, str(overload), "an operation with an effect other than its results is not supported")

    def get_item(self, node: torch.fx.Node) -> None:
        source, index = node.args
        assert isinstance(source, torch.fx.Node)
        assert isinstance(index, int)
        present = [place for place, output in enumerate(node_outputs(source)) if output is not None]
        if source in self.values and index in present:
            self.values[node] = [self.values[source][present.index(index)]]

    def operation(self, node: torch.fx.Node, overload: OpOverload[..., Any]) -> None:
        if overload in _ASSERTIONS:
            return
        try:
            types = [tensor_type(output) for output in node_outputs(node) if output is not None]
            operands, arguments = self.split_arguments(node, overload)
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
        op.location = node_location(node.meta)
        self.block.add_op(op)
        self.values[node] = list(op.results)

    def split_arguments(
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
            tensors = _tensors(value)
            if tensors:
                arguments.update(dict.fromkeys(absent, UnitAttr()))
                absent.clear()
            operands += [self.values[tensor][0] for tensor in tensors]
            if isinstance(value, torch.fx.Node):
                continue
            arguments[argument.name] = _in_place_of_tensors(argument, value) if tensors else _plain(value)
        return operands, arguments


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


def _tensors(value: Any) -> list[torch.fx.Node]:
    if isinstance(value, torch.fx.Node):
        return [value]
    elements = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else ()
    return [element for element in elements if isinstance(element, torch.fx.Node)]


def _full(tensor: torch.Tensor, type: Attribute, number: float) -> AtenOp:
    """The call that makes a tensor of one number."""
    arguments = {"size": list(tensor.shape), "fill_value": number, "dtype": tensor.dtype}
    return AtenOp.create(
        result_types=[type],
        properties={
            "overload": StringAttr("full"),
            "arguments": DictionaryAttr({name: _plain(value) for name, value in arguments.items()}),
        },
    )


def _in_place_of_tensors(argument: SchemaArgument, value: Any) -> Attribute:
    """What stands for a list of tensors: their number, or which of them there are where some may be None."""
    if argument.has_absent:
        return ArrayAttr([IntegerAttr(int(element is not None), i1) for element in value])
    return IntegerAttr(len(value), i64)


def _plain(value: Any) -> Attribute:
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
            return ArrayAttr([_plain(element) for element in cast("Sequence[Any]", value)])
        case _:
            raise UnsupportedError(f"an argument of type {type(value).__name__} is not supported")
