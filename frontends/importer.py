"""From an exported PyTorch program to the torch dialect, one operation to one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import torch
import torch.export
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ..dialects.argument_attributes import set_mutated
from ..dialects.function_sizes import FunctionSizes
from .argument_names import readable_name, unique_identifiers
from .element_types import SIZE, tensor_type
from .errors import UnsupportedError, UnsupportedProgramError
from .exporting import DynamicShapes, decompose, export_module
from .graph_importer import GraphImporter
from .imported import Argument, ArgumentKind, Imported, Result, ResultKind
from .symbols import symbols_of
from .torch_internals import node_modules, size_ranges


def import_exported(
    module: torch.nn.Module,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: DynamicShapes | None = None,
    name: str = "forward",
) -> Imported:
    """Export `module`, called with `args` and `kwargs` (real or fake tensors), and import it.

    dynamic_shapes: which sizes may differ from call to call, as `torch.export.export` takes them. Raises what that
      raises, and `UnsupportedProgramError`.
    """
    return import_program(export_module(module, args, kwargs, dynamic_shapes), name)


def import_program(exported: torch.export.ExportedProgram, name: str = "forward") -> Imported:
    """Decompose `exported` and write it in the torch dialect as function `name`.

    Raises `UnsupportedProgramError`, which lists every operation and tensor that uop has no form for.
    """
    return import_decomposed(decompose(exported), name)


def import_decomposed(
    core: torch.export.ExportedProgram, name: str = "forward", sizes: Mapping[str, int] | None = None
) -> Imported:
    """Write a program, as `decompose` gives it, in the torch dialect as function `name`.

    sizes: numbers for some of its symbols, by name, for which alone it is written. Raises `UnsupportedProgramError`.
    """
    return _Importer(core, sizes or {}).run(name)


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


class _Importer(GraphImporter):
    """The import of an exported program."""

    def __init__(self, exported: torch.export.ExportedProgram, sizes: Mapping[str, int]) -> None:
        super().__init__(exported.graph, symbols_of(exported.graph, size_ranges(exported)).at(sizes))
        self.exported = exported

    def run(self, name: str) -> Imported:
        self.symbols.check()
        arguments = self.arguments()
        self.operations()
        if self.problems:
            raise UnsupportedProgramError(self.problems)
        results, returned = self.results()
        call = self.exported.call_spec
        assert call.in_spec is not None
        assert call.out_spec is not None
        module = self.finish(name, returned)
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        sizes = FunctionSizes.of(function)
        imported = Imported(module, arguments, results, call.in_spec, call.out_spec, sizes)
        places = {argument.source: place for place, argument in enumerate(arguments)}
        mutated = {
            places[each.target]: each.index for each in results if each.target in places and each.index is not None
        }
        set_mutated(imported.function, mutated)
        return imported

    def arguments(self) -> tuple[Argument, ...]:
        """Make the block's arguments; constants among the user's inputs (None, numbers) are none.

        Nor are constant tensors that hold one number throughout, such as `torch.tensor(2.0)` in the user's code. The
        sizes that are symbols come first.
        """
        nodes = {node.name: node for node in self.graph.nodes if node.op == "placeholder"}
        found = [
            Argument(symbol.name, ArgumentKind.SYMBOL, f"size {symbol.name}", SIZE, None, None, ())
            for symbol in self.symbols.named.values()
        ]
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
                type = tensor_type(node.meta["val"], self.symbols)
            except UnsupportedError as error:
                self.problem(node, f"argument {source}", str(error))
                continue
            value = None if kind is ArgumentKind.USER_INPUT else self.held_tensor(source)
            if kind is ArgumentKind.CONSTANT and value is not None and self.constant(node, value, type):
                continue
            if kind is ArgumentKind.PARAMETER and id(value) in shared:
                first = found[shared[id(value)]]
                found[shared[id(value)]] = replace(first, placeholders=(*first.placeholders, node.name))
                continue
            shared[id(value)] = len(found)
            place = leaf if kind is ArgumentKind.USER_INPUT else None
            found.append(Argument(source, kind, source, type, place, value, (node.name,)))
        classes = self.module_classes()
        names = unique_identifiers(
            [
                argument.name if argument.kind is ArgumentKind.SYMBOL else readable_name(argument.source, classes)
                for argument in found
            ]
        )
        for name, argument in zip(names, found, strict=True):
            value = self.block.insert_arg(argument.type, len(self.block.args))
            value.name_hint = name
            self.values |= {nodes[placeholder]: [value] for placeholder in argument.placeholders}
        return tuple(replace(argument, name=name) for name, argument in zip(names, found, strict=True))

    def module_classes(self) -> dict[str, str]:
        """The class of each module that calls an operation, by the module's qualified name."""
        return {name: kind for node in self.graph.nodes for name, kind in node_modules(node).items()}

    def held_tensor(self, source: str) -> torch.Tensor:
        """The tensor that the exported program holds for a parameter, buffer or constant."""
        tensor = self.exported.state_dict.get(source, self.exported.constants.get(source))
        assert isinstance(tensor, torch.Tensor)
        return tensor

    def results(self) -> tuple[tuple[Result, ...], list[SSAValue]]:
        """What the outputs are for, and the values that the function returns. Raises `UnsupportedProgramError`."""
        nodes = {node.name: node for node in self.graph.nodes}
        results: list[Result] = []
        returned: list[SSAValue] = []
        for spec in self.exported.graph_signature.output_specs:
            if spec.kind is OutputKind.TOKEN:
                continue
            kind = _RESULT_KINDS[spec.kind]
            if isinstance(spec.arg, ConstantArgument):
                results.append(Result(kind, None, constant=spec.arg.value))
                continue
            node = nodes[spec.arg.name]
            if node in self.sizes:
                self.problem(
                    node, f"result {len(results)}", "a result that is a size is not supported: return a tensor"
                )
                continue
            results.append(Result(kind, len(returned), target=spec.target))
            returned += self.values[node]
        if self.problems:
            raise UnsupportedProgramError(self.problems)
        return tuple(results), returned
