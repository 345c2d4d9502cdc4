"""An exported program made functional by rewriting its graph, where nothing of it needs PyTorch's decompositions.

`run_decompositions` traces the whole program again, twice, which takes longer than exporting it. What it is for are
operations without a lowering, and operations that write to their operands. Most programs have none of the first; and of
the second most write to whole tensors, as a cache is updated: there each takes the value before, and gives the value
after.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import torch
import torch.export
from torch import fx
from torch._ops import OpOverload
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind, OutputSpec, TensorArgument

from ..passes.torch.lowerings import LOWERINGS
from .graph_importer import ASSERTIONS, is_size
from .torch_internals import (
    call_arguments,
    call_on_fake_tensors,
    functional_overload,
    memory_of,
    operator_overload,
    overload_name,
    with_graph,
    writes_memory,
)

_CONDITIONS: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    "batch_norm": lambda given: not given["training"],
    "dropout": lambda given: not given["train"],
    "native_batch_norm": lambda given: False,
    "pad": lambda given: given["mode"] == "constant",
}
"""What is asked of the arguments of operations of which some calls are for PyTorch to write out: those that draw random
numbers, and those that write to operands without a word of it in the schema."""

_CONVERSIONS = (
    torch.ops.aten.to.dtype,
    torch.ops.aten.to.dtype_layout,
    torch.ops.aten.to.device,
    torch.ops.aten.to.other,
    torch.ops.aten.type_as.default,
)
"""Operations that give their first operand in another dtype, or as it is."""

_Call = tuple[OpOverload[..., Any], tuple[Any, ...]]
"""An operation and its arguments."""


def _product(self: fx.Node, other: fx.Node) -> _Call | None:
    x, y = self.meta["val"].shape, other.meta["val"].shape
    if len(x) == len(y) == 2:
        return torch.ops.aten.mm.default, (self, other)
    return (torch.ops.aten.bmm.default, (self, other)) if len(x) == len(y) == 3 and x[0] == y[0] else None


def _softmax(self: fx.Node, dim: int, dtype: torch.dtype | None) -> _Call | None:
    return (torch.ops.aten._softmax.default, (self, dim, False)) if dtype in (None, self.meta["val"].dtype) else None


def _log_softmax(self: fx.Node, dim: int, dtype: torch.dtype | None) -> _Call | None:
    return (
        (torch.ops.aten._log_softmax.default, (self, dim, False)) if dtype in (None, self.meta["val"].dtype) else None
    )


_EQUIVALENTS: Mapping[OpOverload[..., Any], Callable[..., _Call | None]] = {
    torch.ops.aten.matmul.default: _product,
    torch.ops.aten.softmax.int: _softmax,
    torch.ops.aten.log_softmax.int: _log_softmax,
}
"""Operations some of whose calls are calls of a simpler one: which, given the arguments; None where the call is not."""

_MUTATIONS = {
    InputKind.BUFFER: OutputKind.BUFFER_MUTATION,
    InputKind.PARAMETER: OutputKind.PARAMETER_MUTATION,
    InputKind.USER_INPUT: OutputKind.USER_INPUT_MUTATION,
}


def functional_program(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram | None:
    """The same program without writes to operands, in operations that have lowerings.

    None: it takes `run_decompositions`.
    """
    try:
        return _Rewriting(exported).run()
    except _NeedsDecompositions:
        return None


class _NeedsDecompositions(Exception):
    """The program has something that only `run_decompositions` does away with."""


@dataclass
class _Memory:
    """Memory that the graph writes to.

    whole:   the first node that has it
    value:   gives what is in it now; None before it is written to
    written: the place in the graph of the last write
    """

    whole: fx.Node
    value: fx.Node | None = None
    written: int = -1

    def is_whole(self, node: fx.Node) -> bool:
        """Whether `node`, which has this memory, is the same tensor as the first that has it."""
        one, other = (
            (x.dtype, x.shape, x.stride(), x.storage_offset()) for x in (node.meta["val"], self.whole.meta["val"])
        )
        return one == other


class _Rewriting:
    """The functional graph while it is made, node by node.

    values: node of the exported graph → what gives its value
    made:   node of the exported graph → the place in the graph where its value was computed
    memory: node of the exported graph → its memory, if the graph writes to that
    """

    def __init__(self, exported: torch.export.ExportedProgram) -> None:
        self.exported = exported
        self.graph = fx.Graph()
        self.values: dict[fx.Node, fx.Node] = {}
        self.made: dict[fx.Node, int] = {}
        self.memory = _find_memory(exported.graph)

    def run(self) -> torch.export.ExportedProgram:
        """Raises `_NeedsDecompositions`."""
        outputs: Sequence[object] = ()
        for place, node in enumerate(self.exported.graph.nodes):
            self.made[node] = place
            match node.op:
                case "placeholder":
                    self._copy(node).name = node.name  # which need not be one that a graph would give: `input`
                case "call_function":
                    self._call(node)
                case "output":
                    outputs = node.args[0]
                case _:
                    raise _NeedsDecompositions
        specs = self._outputs(outputs)
        for node in reversed(self.graph.nodes):
            if node.op == "call_function" and not node.users:
                self.graph.erase_node(node)
        signature = ExportGraphSignature(self.exported.graph_signature.input_specs, specs)
        return with_graph(self.exported, self.graph, signature)

    def _value(self, node: fx.Node) -> fx.Node:
        """What gives the value that a node of the exported graph has by now."""
        memory = self.memory.get(node)
        if memory is None or memory.value is None:
            return self.values[node]
        if memory.is_whole(node):
            return memory.value
        if memory.written > self.made[node]:
            raise _NeedsDecompositions  # a view of what has been written to
        return self.values[node]

    def _copy(self, node: fx.Node) -> fx.Node:
        self.values[node] = self.graph.node_copy(node, self._value)
        return self.values[node]

    def _call(self, node: fx.Node) -> None:
        overload = operator_overload(node.target)
        if overload in ASSERTIONS:
            return
        if node.target is operator.getitem:
            self.made[node] = self.made[cast("fx.Node", node.args[0])]
            self._copy(node)
        elif is_size(node):
            self._copy(node)
        elif overload is None:
            raise _NeedsDecompositions
        elif overload is torch.ops.aten.detach_.default:  # changes what autograd knows of a tensor
            self.values[node] = self._value(cast("fx.Node", node.args[0]))
        elif writes_memory(overload):
            self._write(node, overload)
        elif overload in _CONVERSIONS:
            self.values[node] = self._converted(node)
        else:
            _check_lowered(node, overload)
            equivalent = _EQUIVALENTS[overload](**call_arguments(node, overload)) if overload in _EQUIVALENTS else None
            if equivalent is None:
                self._copy(node)
            else:
                self.values[node] = self._made(*equivalent, {}, node)

    def _converted(self, node: fx.Node) -> fx.Node:
        """The operand of a conversion, in another dtype where it has not the one that is asked for."""
        source = cast("fx.Node", node.args[0])
        given, wanted = source.meta["val"], node.meta["val"]
        if given.device != wanted.device:
            raise _NeedsDecompositions
        if given.dtype == wanted.dtype:
            return self._value(source)
        return self._made(torch.ops.aten._to_copy.default, (source,), {"dtype": wanted.dtype}, node)

    def _made(
        self, overload: OpOverload[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], node: fx.Node
    ) -> fx.Node:
        """A call in the place of `node`, whose arguments are nodes of the exported graph as well."""
        given = tuple([self._value(each) if isinstance(each, fx.Node) else each for each in args])
        call = self.graph.call_function(overload, given, kwargs)
        call.meta = dict(node.meta)
        return call

    def _write(self, node: fx.Node, overload: OpOverload[..., Any]) -> None:
        """Compute what the operation writes to its first operand."""
        target = cast("fx.Node", node.args[0])
        memory = self.memory.get(target)
        if memory is None or not memory.is_whole(target):
            raise _NeedsDecompositions
        memory.value = self.values[node] = self._new_value(node, target, overload)
        memory.written = self.made[node]

    def _new_value(self, node: fx.Node, target: fx.Node, overload: OpOverload[..., Any]) -> fx.Node:
        before = target.meta["val"]
        if overload is torch.ops.aten.copy_.default:
            source = cast("fx.Node", node.args[1])
            given = source.meta["val"]
            if (given.dtype, given.shape) == (before.dtype, before.shape):
                return self._value(source)
        functional = functional_overload(overload)
        if functional is None:
            raise _NeedsDecompositions
        _check_lowered(node, functional)
        after = call_on_fake_tensors(functional, node)
        if (after.dtype, after.shape) != (before.dtype, before.shape):
            raise _NeedsDecompositions
        value = self._copy(node)
        value.target = functional
        return value

    def _outputs(self, outputs: Sequence[object]) -> list[OutputSpec]:
        """End the graph; what its outputs are: the new values of inputs, and `outputs`."""
        returned: list[object] = []
        specs: list[OutputSpec] = []
        placeholders = self.exported.graph.find_nodes(op="placeholder")
        for node, spec in zip(placeholders, self.exported.graph_signature.input_specs, strict=True):
            memory = self.memory.get(node)
            if memory is not None and memory.value not in (None, self.values[node]):
                if spec.kind not in _MUTATIONS:
                    raise _NeedsDecompositions
                returned.append(memory.value)
                specs.append(
                    OutputSpec(_MUTATIONS[spec.kind], TensorArgument(memory.value.name), spec.target or node.name)
                )
        for output, spec in zip(outputs, self.exported.graph_signature.output_specs, strict=True):
            if isinstance(output, fx.Node):
                value = self._value(output)
                returned.append(value)
                specs.append(replace(spec, arg=replace(cast("Any", spec.arg), name=value.name)))
            else:
                returned.append(output)
                specs.append(spec)
        self.graph.output(cast("Any", tuple(returned)))
        return specs


def _find_memory(graph: fx.Graph) -> dict[fx.Node, _Memory]:
    """The memory that the graph writes to, by the nodes that have it. Raises `_NeedsDecompositions`."""
    places: dict[fx.Node, int] = {}
    written: set[int] = set()
    for node in graph.nodes:
        overload = operator_overload(node.target)
        value = node.meta.get("val")
        if overload is not None and writes_memory(overload):
            target = node.args[0] if node.args else None
            if not isinstance(target, fx.Node) or target not in places:
                raise _NeedsDecompositions
            places[node] = places[target]  # its own value may be told to lie where that which is copied lies
            written.add(places[node])
        elif isinstance(value, torch.Tensor):
            places[node] = memory_of(value)
    found: dict[int, _Memory] = {}
    for node, place in places.items():
        if place in written and found.setdefault(place, _Memory(node)).whole is not node and node.op == "placeholder":
            raise _NeedsDecompositions  # inputs share memory
    return {node: found[place] for node, place in places.items() if place in found}


def _check_lowered(node: fx.Node, overload: OpOverload[..., Any]) -> None:
    """Raise `_NeedsDecompositions` unless there is a lowering for such a call."""
    name = overload_name(overload)
    if name not in LOWERINGS:
        raise _NeedsDecompositions
    if name in _CONDITIONS and not _CONDITIONS[name](call_arguments(node, overload)):
        raise _NeedsDecompositions
