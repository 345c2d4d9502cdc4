"""Cuts a graph into segments that uop compiles and segments that PyTorch runs as they are."""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import fx

from .torch_internals import draws_random_numbers, operator_overload

Run = Callable[[Sequence[Any]], Sequence[Any]]
"""Gives the outputs of a graph or a segment, from its inputs."""


@dataclass(frozen=True)
class Segment:
    """A part of a graph that runs as one.

    module: takes the values of `inputs` and gives a tuple of those of `outputs`, which are nodes of the whole graph
    compiled: whether uop can compile it
    """

    module: fx.GraphModule
    inputs: Sequence[fx.Node]
    outputs: Sequence[fx.Node]
    compiled: bool


def split(module: fx.GraphModule, refused: Container[fx.Node]) -> list[Segment]:
    """The segments of a functional graph, in an order in which they can run. refused: the nodes left to PyTorch"""
    segments: dict[int, list[fx.Node]] = {}
    for node, level in _levels(module.graph, refused).items():
        segments.setdefault(level, []).append(node)
    inside = {node: level for level, nodes in segments.items() for node in nodes}
    return [_segment(module, segments[level], inside) for level in sorted(segments)]


def _levels(graph: fx.Graph, refused: Container[fx.Node]) -> dict[fx.Node, int]:
    """The segment of each call, even where it is compiled: the first that what it takes is there for.

    What draws random numbers stays in its order, so that the numbers are those of eager PyTorch.
    """
    levels: dict[fx.Node, int] = {}
    drawn = 0
    for node in graph.nodes:
        if node.op != "call_function":
            continue
        earlier = [levels[source] for source in node.all_input_nodes if source in levels]
        if node.target is operator.getitem:
            levels[node] = max(earlier, default=0)
            continue
        left = int(node in refused)
        overload = operator_overload(node.target)
        is_random = overload is not None and draws_random_numbers(overload)
        level = max(left, drawn if is_random else 0, *earlier)
        levels[node] = level if level % 2 == left else level + 1
        if is_random:
            drawn = levels[node]
    return levels


def _segment(module: fx.GraphModule, nodes: Sequence[fx.Node], levels: Mapping[fx.Node, int]) -> Segment:
    level = levels[nodes[0]]
    taken = dict.fromkeys(source for node in nodes for source in node.all_input_nodes)
    inputs = [source for source in taken if source.op != "get_attr" and levels.get(source) != level]
    constants = [source for source in taken if source.op == "get_attr"]
    outputs = [node for node in nodes if any(levels.get(user) != level for user in node.users)]
    part = extract(module, inputs, [*constants, *nodes], outputs)
    return Segment(part, inputs, outputs, level % 2 == 0)


def extract(
    module: fx.GraphModule, inputs: Sequence[fx.Node], nodes: Sequence[fx.Node], outputs: Sequence[fx.Node]
) -> fx.GraphModule:
    """A module of `nodes`, in the order of their graph, that takes `inputs` and gives a tuple of `outputs`."""
    graph = fx.Graph()
    copies: dict[fx.Node, fx.Node] = {}
    for node in inputs:
        copies[node] = graph.placeholder(node.name)
        copies[node].meta = dict(node.meta)
    for node in nodes:
        copies[node] = graph.node_copy(node, copies.__getitem__)
    graph.output(tuple(copies[node] for node in outputs))
    return fx.GraphModule(module, graph)


class SegmentedGraph:
    """A graph that runs segment by segment."""

    def __init__(self, module: fx.GraphModule, parts: Sequence[tuple[Segment, Run]]) -> None:
        """parts: the segments in their order, each with what runs it"""
        graph = module.graph
        (end,) = graph.find_nodes(op="output")
        self._placeholders = graph.find_nodes(op="placeholder")
        self._constants = {
            node: operator.attrgetter(str(node.target))(module) for node in graph.find_nodes(op="get_attr")
        }
        self._outputs: Sequence[object] = end.args[0]  # what is no node is a constant
        last = {node: place for place, (segment, _) in enumerate(parts) for node in segment.inputs}
        last |= dict.fromkeys((node for node in self._outputs if isinstance(node, fx.Node)), len(parts))
        self._parts = [
            (segment, run, [node for node in segment.inputs if last[node] == place])
            for place, (segment, run) in enumerate(parts)
        ]

    def __call__(self, inputs: Sequence[Any]) -> list[Any]:
        values = dict(zip(self._placeholders, inputs, strict=True)) | self._constants
        for segment, run, finished in self._parts:
            given = [values[node] for node in segment.inputs]
            for node in finished:
                del values[node]
            values.update(zip(segment.outputs, run(given), strict=True))
        return [values[node] if isinstance(node, fx.Node) else node for node in self._outputs]
