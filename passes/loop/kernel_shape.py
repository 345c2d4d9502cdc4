"""What a schedule is chosen from: the axes of a kernel in loop form, what it reduces, and how its buffers are
walked."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.loop import ForOp, ReduceOp, ScanOp, YieldOp
from ...dialects.traversal import ops_inside
from ...dialects.types import byte_width, element_of
from ...dialects.uop import AddOp, KernelOp, LoadOp, MulOp, StoreOp, SubOp, constant_value


@dataclass(frozen=True)
class Access:
    """One load or store.

    buffer: name hint of the kernel argument.
    indices: for each dimension of the buffer, axis → coefficient; None where the index is not linear in the axes.
    index_axes: for each dimension, the axes that the index depends on.
    axes: every axis that an index depends on.
    """

    op: LoadOp | StoreOp
    buffer: str
    indices: tuple[dict[str, int] | None, ...]
    index_axes: tuple[frozenset[str], ...]
    axes: frozenset[str]

    @property
    def contiguous_axis(self) -> str | None:
        """The axis along which it walks neighbouring elements."""
        last = self.indices[-1] if self.indices else None
        steps = [axis for axis, step in (last or {}).items() if step == 1]
        return steps[0] if len(steps) == 1 else None

    @property
    def is_linear(self) -> bool:
        return all(index is not None for index in self.indices)

    @property
    def element_bytes(self) -> int:
        return byte_width(element_of(self.op.buffer.type))


@dataclass
class KernelShape:
    """The axes and accesses of one kernel.

    kernel: in loop form.
    extents: axis → extent, in the order of the text, outermost first.
    parallel: axes of the outputs. reduced: axes that a reduction goes over; an axis may be both (softmax).
    scanned: axes that a scan goes over; they are parallel, too.
    depends: value → the axes that it varies with, if any.
    """

    kernel: KernelOp
    extents: dict[str, int] = field(default_factory=dict[str, int])
    parallel: list[str] = field(default_factory=list[str])
    reduced: list[str] = field(default_factory=list[str])
    scanned: list[str] = field(default_factory=list[str])
    loads: list[Access] = field(default_factory=list[Access])
    stores: list[Access] = field(default_factory=list[Access])
    depends: dict[SSAValue, frozenset[str]] = field(default_factory=dict[SSAValue, frozenset[str]], repr=False)

    def varies(self, value: SSAValue) -> frozenset[str]:
        """The axes that a value of the kernel varies with: the result of a reduction with none that it goes over."""
        return self.depends.get(value, frozenset())

    @property
    def rows(self) -> list[str]:
        """Parallel axes that nothing reduces or scans."""
        return [axis for axis in self.parallel if axis not in self.reduced and axis not in self.scanned]

    @property
    def taps(self) -> list[str]:
        """Reduced axes that go through a window: a load adds them to an axis of the outputs."""
        rows = frozenset(self.rows)
        shared = [axes for access in self.loads for axes in access.index_axes if axes & rows]
        return [axis for axis in self.reduced if axis not in self.parallel and any(axis in axes for axes in shared)]

    @property
    def widest_bytes(self) -> int:
        """Bytes of the widest element that is loaded or stored."""
        return max((access.element_bytes for access in (*self.loads, *self.stores)), default=4)


def shape_of_kernel(kernel: KernelOp) -> KernelShape:
    """Axes and accesses of a kernel in loop form."""
    shape = KernelShape(kernel)
    axis_of: dict[SSAValue, str] = {}
    forms: dict[SSAValue, dict[str, int] | None] = {}
    depends = shape.depends

    for op in kernel.body.walk():
        if isinstance(op, ForOp | ReduceOp):
            name = op.axis.axis.data
            shape.extents.setdefault(name, op.axis.extent.data)
            axes = shape.parallel if isinstance(op, ForOp) else shape.reduced
            if name not in axes:
                axes.append(name)
            axis_of[op.index] = name
            forms[op.index] = {name: 1}
            depends[op.index] = frozenset((name,))
        elif isinstance(op, LoadOp | StoreOp):
            indices = tuple(_form(index, forms) for index in op.indices)
            index_axes = tuple(_axes(index, depends) for index in op.indices)
            used = frozenset[str]().union(*index_axes)
            access = Access(op, op.buffer.name_hint or "", indices, index_axes, used)
            (shape.loads if isinstance(op, LoadOp) else shape.stores).append(access)
            if isinstance(op, LoadOp):
                depends[op.result] = used.union(*(_axes(operand, depends) for operand in op.operands))
        elif isinstance(op, YieldOp) and isinstance(reduction := op.parent_op(), ReduceOp):
            for result, element in zip(reduction.results, op.operands, strict=True):
                depends[result] = _axes(element, depends) - {reduction.axis.axis.data}
        elif op.results:
            if isinstance(op, ScanOp) and (name := op.loop.axis.axis.data) not in shape.scanned:
                shape.scanned.append(name)
            for result in op.results:
                depends[result] = frozenset[str]().union(*(_axes(operand, depends) for operand in op.operands))
            forms[op.results[0]] = _linear(op, forms)
    return shape


def product_axes(shape: KernelShape) -> tuple[str, str, str] | None:
    """(row, column, reduced) axes when the reduction is a product: loads that share the reduced axis but not the
    others.

    The column is the innermost parallel axis that not all of them use, the row the innermost that they use instead.
    Of several reduced axes it is the outermost, behind whose loop slabs are staged.
    """
    reduced = shape.reduced[0]
    factors = [access for access in shape.loads if reduced in access.axes]
    if reduced in shape.parallel or len(factors) < 2:
        return None
    users = {axis: {id(access) for access in factors if axis in access.axes} for axis in shape.parallel}
    free = [axis for axis in shape.parallel if users[axis] and len(users[axis]) < len(factors)]
    for column in reversed(free):
        for row in reversed(free):
            if not users[row] & users[column]:
                return row, column, reduced
    return None


def contiguous_axis(shape: KernelShape) -> str | None:
    """The axis along which most of the data is walked: that of the load over the most elements."""
    candidates = [access for access in shape.loads if access.contiguous_axis is not None]
    candidates.sort(key=lambda access: -prod(shape.extents[axis] for axis in access.axes))
    return candidates[0].contiguous_axis if candidates else None


def reduces_in_stages(shape: KernelShape) -> bool:
    """Whether a reduction combines many elements in two stages, with less work than one after the other."""
    reductions = [op for op in ops_inside(shape.kernel.body) if isinstance(op, ReduceOp)]
    return any(op.monoid.monoid.stages is not None for op in reductions)


def _axes(value: SSAValue, depends: dict[SSAValue, frozenset[str]]) -> frozenset[str]:
    return depends.get(value, frozenset())


def _form(value: SSAValue, forms: dict[SSAValue, dict[str, int] | None]) -> dict[str, int] | None:
    """Linear form of an index, its constant left out; None when it is not linear."""
    if constant_value(value) is not None:
        return {}
    return None if isinstance(value, BlockArgument) and value not in forms else forms.get(value)


def _linear(op: Operation, forms: dict[SSAValue, dict[str, int] | None]) -> dict[str, int] | None:
    if isinstance(op, AddOp | SubOp):
        left, right = (_form(operand, forms) for operand in op.operands)
        if left is None or right is None:
            return None
        sign = -1 if isinstance(op, SubOp) else 1
        return {axis: left.get(axis, 0) + sign * right.get(axis, 0) for axis in {**left, **right}}
    if isinstance(op, MulOp):
        for factor, other in (op.operands, reversed(op.operands)):
            number, form = constant_value(factor), _form(other, forms)
            if isinstance(number, int) and form is not None:
                return {axis: step * number for axis, step in form.items()}
    return None
