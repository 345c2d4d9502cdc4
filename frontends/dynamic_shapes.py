"""Which sizes a user lets differ from call to call, and which of them the program fixes all the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import torch
import torch.export
from torch.utils._pytree import tree_leaves

from .torch_internals import fixed_size, is_dimension

DynamicShapes = Mapping[str, Any] | Sequence[Any]
"""Which sizes of a program's inputs may differ from call to call, as `torch.export.export` takes it."""


class SpecializationWarning(UserWarning):
    """A size may differ from call to call by the user's word, and the program has one of its values for good."""


def specialized_sizes(
    exported: torch.export.ExportedProgram,
    module: torch.nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    dynamic_shapes: DynamicShapes,
) -> list[str]:
    """What to say of each size that is named in `dynamic_shapes` and that the exported program has fixed.

    PyTorch refuses to fix a `Dim("s")`; it does so without a word with `Dim.AUTO`.
    """
    nodes = {node.name: node for node in exported.graph.find_nodes(op="placeholder")}
    names = exported.graph_signature.user_inputs
    leaves = tree_leaves((args, dict(kwargs)))
    places = {id(leaf): nodes.get(str(name)) for leaf, name in zip(leaves, names, strict=False)}
    arguments = inspect.signature(module.forward).bind(*args, **kwargs).arguments
    found: list[str] = []
    for name, tensor, axis in _declared(arguments, dynamic_shapes, ""):
        node = places.get(id(tensor))
        size = None if node is None else fixed_size(node.meta["val"].shape[axis])
        if size is not None:
            found.append(
                f"dimension {axis} of {name} was specialised to {size}, although it is marked as dynamic: the program "
                "takes no other size there; TORCH_LOGS=+dynamic tells what in it needs to know the size"
            )
    return found


def _declared(inputs: Any, shapes: Any, name: str) -> Iterator[tuple[str, torch.Tensor, int]]:
    """The dimensions that are marked as dynamic: the name of the input, the tensor, and which of its dimensions."""
    if shapes is None:
        return
    if isinstance(inputs, torch.Tensor):
        items = cast("Any", shapes.items() if isinstance(shapes, Mapping) else enumerate(shapes))
        yield from ((name, inputs, axis) for axis, dim in items if is_dimension(dim) and dim != torch.export.Dim.STATIC)
    elif isinstance(inputs, Mapping):
        parts = cast("Mapping[Any, Any]", inputs)
        told = dict(cast("Any", shapes)) if isinstance(shapes, Mapping) else dict(zip(parts, shapes, strict=False))
        for key, part in parts.items():
            yield from _declared(part, told.get(key), f"{name}[{key!r}]" if name else str(key))
    elif isinstance(inputs, tuple | list) and isinstance(shapes, tuple | list):
        both = zip(cast("Sequence[Any]", inputs), cast("Sequence[Any]", shapes), strict=False)
        for place, (part, shape) in enumerate(both):
            yield from _declared(part, shape, f"{name}[{place}]")
