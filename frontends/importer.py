"""From an exported PyTorch program to the torch dialect, one operation to one."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.export
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
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
from .element_types import UnsupportedTensorError, tensor_type
from .errors import Problem, UnsupportedProgramError
from .exporting import decompose, export_module
from .imported import Argument, ArgumentKind, Imported, Result, ResultKind
from .source_locations import node_location


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
)
"""Checks that the program makes of itself, left out: of dtypes, which hold for those it was exported for, and of
data (`one_hot` of an index out of range), which a compiled kernel has no way to report."""


class _Importer:
    """One import: the values of FX nodes so far, and what was found that uop has no form for."""

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self.exported = exported
        self.block = Block()
        self.values: dict[torch.fx.Node, SSAValue | list[SSAValue]] = {}
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
        """Make the block's arguments; constants among the user's inputs (None, numbers) are none."""
        placeholders = {node.name: node for node in self.exported.graph.nodes if node.op == "placeholder"}
        found: list[tuple[torch.fx.Node, ArgumentKind, str, TensorType, int | None]] = []
        leaf = -1
        for spec in self.exported.graph_signature.input_specs:
            kind = _ARGUMENT_KINDS.get(spec.kind)
            leaf += kind is ArgumentKind.USER_INPUT
            if isinstance(spec.arg, ConstantArgument):
                continue
            node = placeholders[spec.arg.name]
            source = spec.target or node.name
            if kind is None or not isinstance(spec.arg, TensorArgument):
                what = spec.kind.name.lower().replace("_", " ")
                self.problem(node, f"argument {source}", f"a {what} is not supported, only tensors are")
                continue
            try:
                type = tensor_type(node.meta["val"])
            except UnsupportedTensorError as error:
                self.problem(node, f"argument {source}", str(error))
                continue
            place = leaf if kind is ArgumentKind.USER_INPUT else None
            found.append((node, kind, source, type, place))
        classes = self.module_classes()
        names = unique_identifiers([readable_name(source, classes) for _, _, source, _, _ in found])
        arguments: list[Argument] = []
        for name, (node, kind, source, type, place) in zip(names, found, strict=True):
            value = self.block.insert_arg(type, len(self.block.args))
            value.name_hint = name
            self.values[node] = value
            arguments.append(Argument(name, kind, source, type, place, self.held_tensor(kind, source)))
        return tuple(arguments)

    def module_classes(self) -> dict[str, str]:
        """The class of each module that calls an operation, by the module's qualified name."""
        stacks = [node.meta.get("nn_module_stack") or {} for node in self.exported.graph.nodes]
        return {name: kind.rpartition(".")[2] for stack in stacks for name, kind in stack.values()}

    def held_tensor(self, kind: ArgumentKind, source: str) -> torch.Tensor | None:
        """The tensor that the exported program holds for a parameter, buffer or constant."""
        if kind is ArgumentKind.USER_INPUT:
            return None
        if source in self.exported.state_dict:
            return self.exported.state_dict[source]
        return self.exported.constants[source]

    def results(self) -> tuple[tuple[Result, ...], list[SSAValue]]:
        """What the outputs are for, and the values that the function returns."""
        nodes = {node.name: node for node in self.exported.graph.nodes}
        results: list[Result] = []
        returned: list[SSAValue] = []
        for spec in self.exported.graph_signature.output_specs:
            kind = _RESULT_KINDS[spec.kind]
            if isinstance(spec.arg, ConstantArgument):
                results.append(Result(kind, None, constant=spec.arg.value))
                continue
            value = self.values[nodes[spec.arg.name]]
            assert isinstance(value, SSAValue)
            results.append(Result(kind, len(returned), target=spec.target))
            returned.append(value)
        return tuple(results), returned

    # ---- operations

    def operations(self) -> None:
        for node in self.exported.graph.nodes:
            if node.op != "call_function":
                continue
            if node.target is operator.getitem:
                self.get_item(node)
            elif isinstance(node.target, torch._ops.OpOverload):
                self.operation(node, node.target)
            else:
                self.problem(node, str(node.target), "is no ATen operation")

    def get_item(self, node: torch.fx.Node) -> None:
        source, index = node.args
        assert isinstance(source, torch.fx.Node)
        assert isinstance(index, int)
        if source in self.values:
            self.values[node] = self.values[source][index]

    def operation(self, node: torch.fx.Node, overload: torch._ops.OpOverload) -> None:
        name = str(overload)
        if overload in _ASSERTIONS:
            return
        if overload.namespace != "aten":
            self.problem(node, name, "is no ATen operation")
            return
        if any(tensor not in self.values for value in node.args for tensor in _tensors(value)):
            return  # it uses what has been reported already
        values = node.meta.get("val")
        outputs = list(values) if isinstance(values, tuple | list) else [values]
        if not all(isinstance(output, torch.Tensor) for output in outputs):
            self.problem(node, name, "its result is no tensor: data-dependent control and sizes are not supported")
            return
        try:
            types = [tensor_type(output) for output in outputs]
        except UnsupportedTensorError as error:
            self.problem(node, name, str(error))
            return
        operands: list[SSAValue] = []
        arguments: dict[str, Attribute] = {}
        for argument, value in _bound(overload, node):
            if argument.has_default_value() and value == argument.default_value:
                continue
            operands += [self.values[tensor] for tensor in _tensors(value)]
            if not isinstance(value, torch.fx.Node):
                try:
                    arguments[argument.name] = _attribute(argument, value)
                except TypeError as error:
                    self.problem(node, name, f"its argument {argument.name} is {error}")
                    return
        op = AtenOp.create(
            operands=operands,
            result_types=types,
            properties={
                "overload": StringAttr(name.removeprefix("aten.").removesuffix(".default")),
                "arguments": DictionaryAttr(arguments),
            },
        )
        op.location = node_location(node.meta)
        self.block.add_op(op)
        self.values[node] = list(op.results) if isinstance(values, tuple | list) else op.results[0]


def _bound(overload: torch._ops.OpOverload, node: torch.fx.Node) -> Iterator[tuple[torch.Argument, Any]]:
    """The arguments that `node` gives, in the order of the schema."""
    for position, argument in enumerate(overload._schema.arguments):
        if position < len(node.args):
            yield argument, node.args[position]
        elif argument.name in node.kwargs:
            yield argument, node.kwargs[argument.name]


def _tensors(value: Any) -> list[torch.fx.Node]:
    if isinstance(value, torch.fx.Node):
        return [value]
    if isinstance(value, list | tuple):
        return [element for element in value if isinstance(element, torch.fx.Node)]
    return []


def _attribute(argument: torch.Argument, value: Any) -> Attribute:
    """An argument that is no tensor; of a list of tensors what stands in its place."""
    if isinstance(value, list | tuple) and _tensors(value):
        if isinstance(argument.type.getElementType(), torch.OptionalType):
            return ArrayAttr([IntegerAttr(int(element is not None), i1) for element in value])
        return IntegerAttr(len(value), i64)
    return _plain(value)


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
            return ArrayAttr([_plain(element) for element in value])
        case _:
            raise TypeError(f"a {type(value).__name__}")
