"""Views: what reshapes and permutes of a buffer read, as another shape of the buffer and one permutation of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.ir import SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import PermuteOp, ReshapeOp
from ...rewriting.builder import Builder
from .cones import Cone
from .reshape_groups import reshape_groups, without_ones


@dataclass(frozen=True)
class View:
    """A value that lies in memory, under a shape."""

    source: SSAValue
    shape: tuple[int, ...]


@dataclass(frozen=True)
class PermutedView:
    """The axes of a view that are not of extent 1, reordered: axis `d` is axis `order[d]` of the view."""

    view: View
    order: tuple[int, ...]

    @property
    def extents(self) -> tuple[int, ...]:
        extents = without_ones(self.view.shape)
        return tuple(extents[axis] for axis in self.order)

    def build(self, builder: Builder, argument: SSAValue, shape: tuple[int, ...]) -> SSAValue:
        """The value of this shape that shows the view, which `argument` is."""
        if self.order != tuple(range(len(self.order))):
            argument = builder.permute(builder.reshape(argument, without_ones(self.view.shape)), self.order)
        return builder.reshape(argument, shape)


def find_views(cone: Cone, buffer_shapes: Mapping[SSAValue, tuple[int, ...]]) -> dict[SSAValue, PermutedView]:
    """The leaves of a kernel, and all that only reshapes and permutes them, each with what it shows.

    A reshape moves in front of a permute where what it merges lies together before it too (heads and batch are
    merged, rows and columns swapped: in either order). Where it does not, the value is no view.
    """
    views: dict[SSAValue, PermutedView] = {}
    for leaf in cone.leaves:
        shape = buffer_shapes[leaf]
        views[leaf] = PermutedView(View(leaf, shape), tuple(range(len(without_ones(shape)))))
    for op in cone.ops:
        if isinstance(op, PermuteOp) and op.input in views:
            known = views[op.input]
            kept = [axis for axis, extent in enumerate(shape_of(op.input.type)) if extent != 1]
            order = [known.order[kept.index(axis)] for axis in op.integers("order") if axis in kept]
            views[op.result] = PermutedView(known.view, tuple(order))
        elif isinstance(op, ReshapeOp) and op.input in views:
            known = views[op.input]
            view = _reshape(known, shape_of(op.result.type), buffer_shapes[known.view.source])
            if view is not None:
                views[op.result] = view
    return views


def _reshape(known: PermutedView, target: tuple[int, ...], buffer: tuple[int, ...]) -> PermutedView | None:
    extents, wanted = known.extents, without_ones(target)
    if extents == wanted:
        return known
    if 0 in target:
        return None
    groups: list[tuple[int, tuple[int, ...]]] = []  # (first axis of the view, target axes)
    for merged, split in reshape_groups(extents, wanted):
        axes = [known.order[axis] for axis in merged]
        if axes != list(range(axes[0], axes[0] + len(axes))):
            return None
        groups.append((axes[0], split))
    order = [0] * len(wanted)
    shape: list[int] = []
    for _, split in sorted(groups):
        for axis in split:
            order[axis] = len(shape)
            shape.append(wanted[axis])
    as_buffer = buffer if without_ones(buffer) == tuple(shape) else tuple(shape)
    return PermutedView(View(known.view.source, as_buffer), tuple(order))
