"""Graphs of AOTAutograd, which are what `torch.compile` hands a backend in the end, to the torch dialect and back.

Such a graph is functional: flat tensors in, flat tensors out. What of it mutates or shares memory PyTorch has taken
out, and puts back around what a backend compiles.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import torch
from torch import fx
from torch._ops import OpOverload
from xdsl.dialects.func import FuncOp

from ..dialects.symbols import Extent
from ..passes.torch.convert_torch_to_uop import CannotLower, Refusal, convert_block
from ..rewriting.locations import source_lines
from .argument_names import identifier, unique_identifiers
from .element_types import SIZE, tensor_type
from .errors import Problem, UnsupportedError, UnsupportedProgramError
from .graph_importer import GraphImporter
from .graph_segments import extract
from .imported import ImportedFunction
from .symbols import graph_symbols
from .torch_internals import is_view, node_modules, node_outputs, operator_overload

Tensors = Sequence[torch.Tensor]

FORWARD, BACKWARD = "forward", "backward"
"""Names of the functions that are made of the two graphs of a derivative; a graph without derivative is a forward."""


@dataclass(frozen=True)
class _Constant:
    """An output that is no tensor: None, for a gradient that is not asked for, or a number."""

    value: object


@dataclass(frozen=True)
class _Size:
    """An output that is a number made of sizes."""

    extent: Extent


@dataclass(frozen=True)
class _Given:
    """An output that is an input. place: which"""

    place: int


@dataclass(frozen=True)
class _Viewed:
    """An output that shares memory with an input. index: its place among what `ImportedGraph.views` gives"""

    index: int


@dataclass(frozen=True)
class _Computed:
    """An output that the imported function computes.

    index: which of its results. size, stride: as PyTorch expects it to lie in memory
    """

    index: int
    size: tuple[int | Extent, ...]
    stride: tuple[int | Extent, ...]

    def lay_out(self, tensor: torch.Tensor, sizes: Mapping[str, int]) -> torch.Tensor:
        """The tensor, which is dense and row-major, in the memory format that PyTorch expects, given the symbols."""
        if tensor.stride() == self.stride:
            return tensor
        size, strides = (
            tuple([n if isinstance(n, int) else n.evaluate(sizes) for n in each]) for each in (self.size, self.stride)
        )
        if tensor.stride() == strides:
            return tensor
        repeated = [stride == 0 and n > 1 for n, stride in zip(size, strides, strict=True)]
        kept = tensor[tuple(slice(0, 1) if each else slice(None) for each in repeated)]
        result = torch.empty_strided(kept.shape, strides, dtype=tensor.dtype, device=tensor.device)
        return result.copy_(kept).expand(size)


@dataclass(frozen=True)
class _Origin:
    """Where the value of a symbol is found: an input that is the number, or a dimension of one."""

    place: int
    axis: int | None

    def value(self, inputs: Sequence[Any]) -> int:
        given = inputs[self.place]
        return int(given if self.axis is None else given.shape[self.axis])


@dataclass(frozen=True)
class ImportedGraph(ImportedFunction):
    """A graph in the torch dialect, and how what it gives is made of what the function gives.

    symbols:   where the values of the function's symbols are found, by name; they are its first arguments
    inputs:    places of the graph's inputs that are the function's next arguments; its constants come behind them
    constants: tensors that the graph holds
    views:     what makes those outputs that share memory with an input, from all inputs: PyTorch itself
    outputs:   what each output of the graph is
    """

    symbols: Mapping[str, _Origin]
    inputs: Sequence[int]
    constants: Tensors
    views: Callable[..., Sequence[torch.Tensor]]
    outputs: Sequence[_Constant | _Size | _Given | _Viewed | _Computed]

    @cached_property
    def computes(self) -> bool:
        """Whether anything is left for the function to do."""
        return bool(self.result_types)

    @cached_property
    def _has_views(self) -> bool:
        return any(isinstance(output, _Viewed) for output in self.outputs)

    def call(self, execute: Callable[[Tensors], Tensors], inputs: Sequence[Any]) -> list[object]:
        """The outputs of the graph. execute: carries out the function."""
        viewed = self.views(*inputs) if self._has_views else ()
        sizes = {name: origin.value(inputs) for name, origin in self.symbols.items()}
        numbers = [torch.tensor(size) for size in sizes.values()]
        given = [*numbers, *(inputs[place] for place in self.inputs), *self.constants]
        computed = execute(given) if self.computes else ()
        results: list[object] = []
        for output in self.outputs:
            match output:
                case _Constant():
                    results.append(output.value)
                case _Size():
                    results.append(output.extent.evaluate(sizes))
                case _Given():
                    results.append(inputs[output.place])
                case _Viewed():
                    results.append(viewed[output.index])
                case _Computed():
                    results.append(output.lay_out(computed[output.index], sizes))
        return results


def import_graph(module: fx.GraphModule, name: str) -> ImportedGraph:
    """Write a graph as function `name`. Raises `UnsupportedProgramError`, which lists what uop has no form for."""
    importer = _Importer(module)
    importer.operations()
    if importer.problems:
        raise UnsupportedProgramError(importer.problems)
    return importer.imported(name)


def find_refused(module: fx.GraphModule) -> dict[fx.Node, Problem | None]:
    """The nodes of a graph that uop cannot compile, each taken by itself, and why; None where that follows from
    another."""
    prober = _Prober(module)
    prober.operations()
    function = prober.finish("probed", []).body.block.first_op
    assert isinstance(function, FuncOp)
    refused = dict(prober.refused)
    try:
        convert_block(function.body.block, function.sym_name)
    except CannotLower as error:
        refused |= {prober.nodes[refusal.op]: problem_of(refusal) for refusal in error.refusals}
    return {node: None if problem is None else _placed(node, problem) for node, problem in refused.items()}


def _placed(node: fx.Node, problem: Problem) -> Problem:
    """The problem with its module for a place, where PyTorch does not say the line: it hides those of `torch.nn`."""
    modules = list(node_modules(node).items())
    if problem.location or not modules:
        return problem
    name, kind = modules[-1]
    path = name.replace("L['fn']", "model").replace("L['self']", "self")  # as TorchDynamo names what is compiled
    return replace(problem, location=f"{path} ({kind})")


def problem_of(refusal: Refusal) -> Problem:
    """A call that has no lowering, as a problem."""
    types = ", ".join(str(value.type) for value in (refusal.op.operands or refusal.op.results))
    advice = "" if refusal.advice is None else f"; {refusal.advice}"
    lines = ", ".join(source_lines(refusal.op.location))
    return Problem(lines, f"{refusal.op.called} on {types}", f"{refusal.reason}{advice}")


class _Importer(GraphImporter):
    """The import of a graph of AOTAutograd."""

    def __init__(self, module: fx.GraphModule) -> None:
        super().__init__(module.graph, graph_symbols(module.graph))
        self.symbols.check()
        self.owner = module
        self.placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
        self.inputs: list[int] = []
        self.constants: list[torch.Tensor] = []
        for symbol in self.symbols.named.values():
            self.block.insert_arg(SIZE, len(self.block.args)).name_hint = symbol.name
        for place, node in enumerate(self.placeholders):
            if isinstance(node.meta.get("val"), torch.SymInt):
                self.sizes.add(node)
            elif node.users and self.argument(node, f"argument {node.name}", node.meta.get("val")):
                self.inputs.append(place)
        for node in module.graph.nodes:
            if node.op != "get_attr":
                continue
            value = operator.attrgetter(str(node.target))(module)
            if isinstance(value, torch.Tensor) and self.argument(node, f"constant {node.target}", value):
                self.constants.append(value)
        hints = unique_identifiers([str(argument.name_hint) for argument in self.block.args])
        for argument, hint in zip(self.block.args, hints, strict=True):
            argument.name_hint = hint

    def argument(self, node: fx.Node, subject: str, value: object) -> bool:
        """Whether `node` has become an argument of the function, which takes the value's like."""
        try:
            type = tensor_type(value, self.symbols)
        except UnsupportedError as error:
            self.problem(node, subject, str(error))
            return False
        argument = self.block.insert_arg(type, len(self.block.args))
        argument.name_hint = identifier(node.name)
        self.values[node] = [argument]
        return True

    def ordered(self, node: fx.Node, overload: OpOverload[..., Any]) -> None:
        """PyTorch makes the call: it raises what eager PyTorch does, and its token is an output of the graph."""
        self.problem(node, str(overload), "a call for its effect: PyTorch makes it, between programs")

    def imported(self, name: str) -> ImportedGraph:
        """The function and what makes the graph's outputs."""
        (end,) = self.graph.find_nodes(op="output")
        shared = _views(self.graph)
        viewed: list[fx.Node] = []
        outputs: list[_Constant | _Size | _Given | _Viewed | _Computed] = []
        places = {node: place for place, node in enumerate(self.placeholders)}
        computed: dict[fx.Node, int] = {}
        for output in cast("Sequence[object]", end.args[0]):
            if not isinstance(output, fx.Node):
                outputs.append(_Constant(output))
            elif isinstance(size := output.meta.get("val"), torch.SymInt):
                outputs.append(_Size(self.symbols.extent(size)))
            elif output in places:
                outputs.append(_Given(places[output]))
            elif output in shared:
                outputs.append(_Viewed(len(viewed)))
                viewed.append(output)
            else:
                fake = output.meta["val"]
                place = computed.setdefault(output, len(computed))
                outputs.append(_Computed(place, self._extents(fake.shape), self._extents(fake.stride())))
        module = self.finish(name, [self.values[node][0] for node in computed])
        views = _extracted(self.owner, self.placeholders, viewed)
        return ImportedGraph(module, self._origins(), self.inputs, self.constants, views, outputs)

    def _extents(self, sizes: Sequence[Any]) -> tuple[int | Extent, ...]:
        extents = [size if isinstance(size, int) else self.symbols.extent(size) for size in sizes]
        return tuple(each if isinstance(each, int) or each.constant is None else each.constant for each in extents)

    def _origins(self) -> dict[str, _Origin]:
        """Where the values of the symbols are found. Raises `UnsupportedProgramError` for one that no input has."""
        found: dict[Extent, _Origin] = {}
        for place, node in enumerate(self.placeholders):
            for value in node_outputs(node):
                sizes = list(value.shape) if isinstance(value, torch.Tensor) else [value]
                for axis, size in enumerate(sizes):
                    if isinstance(size, torch.SymInt):
                        origin = _Origin(place, axis if isinstance(value, torch.Tensor) else None)
                        found.setdefault(self.symbols.extent(size), origin)
        names = [symbol.name for symbol in self.symbols.named.values()]
        if missing := [name for name in names if Extent.of(name) not in found]:
            reason = "no input has that size as it is"
            raise UnsupportedProgramError([Problem("", f"size {name}", reason) for name in missing])
        return {name: found[Extent.of(name)] for name in names}


class _Prober(_Importer):
    """Asks of each node whether it can be compiled: what is refused has stand-ins for its results."""

    def __init__(self, module: fx.GraphModule) -> None:
        self.refused: dict[fx.Node, Problem | None] = {}
        super().__init__(module)

    def problem(self, node: fx.Node, subject: str, reason: str) -> None:
        super().problem(node, subject, reason)
        self.refuse(node, self.problems[-1])

    def follows(self, node: fx.Node) -> None:
        self.refuse(node, None)

    def refuse(self, node: fx.Node, problem: Problem | None) -> None:
        self.refused[node] = problem
        try:
            types = [tensor_type(output, self.symbols) for output in node_outputs(node) if output is not None]
        except UnsupportedError:
            return
        self.values[node] = [self.block.insert_arg(type, len(self.block.args)) for type in types]


def _views(graph: fx.Graph) -> set[fx.Node]:
    """The inputs of the graph, and what shares memory with them."""
    shared: set[fx.Node] = set()
    for node in graph.nodes:
        overload = operator_overload(node.target)
        views = node.target is operator.getitem or (overload is not None and is_view(overload))
        if node.op == "placeholder" or (views and shared.issuperset(node.all_input_nodes)):
            shared.add(node)
    return shared


def _extracted(module: fx.GraphModule, inputs: Sequence[fx.Node], outputs: Sequence[fx.Node]) -> fx.GraphModule:
    """The part of the graph that computes `outputs` from `inputs`."""
    needed = set(outputs)
    for node in reversed(module.graph.nodes):
        if node in needed:
            needed.update(node.all_input_nodes)
    between = [node for node in module.graph.nodes if node in needed and node.op == "call_function"]
    return extract(module, inputs, between, outputs)
