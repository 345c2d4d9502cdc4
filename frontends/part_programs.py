"""A part of an exported program: what it computes from some of its inputs alone."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import count
from typing import Any, cast

import torch.export
from torch import fx
from torch.export.graph_signature import ExportGraphSignature, InputKind, OutputKind

from .torch_internals import with_graph


def part_of(
    exported: torch.export.ExportedProgram, inputs: Collection[int], outputs: Collection[int]
) -> torch.export.ExportedProgram:
    """The program with some of the user's inputs and of the user's outputs, counted from 0 each.

    It takes the parameters, buffers and constants that those outputs need, and gives the new values of what it takes.
    Raises `KeyError` where an output depends on an input that is left out.
    """
    signature = exported.graph_signature
    place = count()
    taken = [spec for spec in signature.input_specs if spec.kind is not InputKind.USER_INPUT or next(place) in inputs]
    sources = {spec.target or spec.arg.name for spec in taken}
    place = count()
    given = [
        (node, spec)
        for node, spec in zip(_outputs(exported.graph), signature.output_specs, strict=True)
        if (next(place) in outputs if spec.kind is OutputKind.USER_OUTPUT else spec.target in sources)
    ]
    needed = _needed(node for node, _ in given if isinstance(node, fx.Node))
    taken = [spec for spec in taken if spec.kind is InputKind.USER_INPUT or spec.arg.name in needed]
    placeholders = {spec.arg.name for spec in taken}
    graph = fx.Graph()
    values: dict[fx.Node, fx.Node] = {}
    for node in exported.graph.nodes:
        if node.op == "placeholder" and node.name in placeholders:
            values[node] = graph.node_copy(node)
            values[node].name = node.name  # which need not be one that a graph would give: `input`
        elif node.op != "placeholder" and node.name in needed:
            values[node] = graph.node_copy(node, values.__getitem__)
    graph.output(tuple(values[node] if isinstance(node, fx.Node) else node for node, _ in given))
    results = [
        replace(spec, arg=replace(cast("Any", spec.arg), name=values[node].name)) if isinstance(node, fx.Node) else spec
        for node, spec in given
    ]
    return with_graph(exported, graph, ExportGraphSignature(taken, results))


def _outputs(graph: fx.Graph) -> tuple[Any, ...]:
    """What the graph gives: nodes and constants."""
    (outputs,) = graph.output_node().args
    return cast("tuple[Any, ...]", outputs)


def _needed(nodes: Iterable[fx.Node]) -> set[str]:
    """The names of nodes, and of all that they are computed from."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        if node.name not in found:
            found.add(node.name)
            waiting += node.all_input_nodes
    return found
