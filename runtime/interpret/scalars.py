"""The meaning of a kernel in range form or loop form: all steps at once, as dimensions of numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects import loop
from ...dialects.monoids import Monoid
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, KernelOp, LoadOp, RangeOp, ReduceOp, ScanOp, StoreOp
from .arrays import (
    Array,
    ExecutionError,
    NotExecutableError,
    alu,
    bitcast_array,
    cast_array,
    constant,
    fold,
    same_bits,
    scan,
)
from .buffers import NONE, check_buffers, check_written
from .limits import inside


def interpret_scalar_kernel(kernel: KernelOp, buffers: Sequence[Array], kept: Mapping[int, int] = NONE) -> None:
    """Run a kernel in range form or loop form on its buffers, in the order of its arguments; it writes its
    outputs in place.

    kept: outputs that hold elements which need not be written, each with the input that is not read in its stead
    Raises `ExecutionError`, which names the op, when an access that its mask allows leaves its buffer, when two
    different values are written to one element, and when an element of a buffer that is written to is left out, and
    lies inside the limits of the ranges and loops that write it.
    """
    check_buffers(kernel, buffers)
    interpreter = ScalarInterpreter(kernel, buffers)
    interpreter.run(kernel.body.block.ops)
    check_written(kernel, interpreter.accounted(), kept)


class ScalarInterpreter:
    """Values are arrays with one dimension for each range, or for each level of loops.

    A dimension of extent 1 is one along which the value does not vary. Loops side by side share the dimension
    of their level: only what is reduced leaves a loop.
    """

    def __init__(self, kernel: KernelOp, buffers: Sequence[Array]):
        self.values: dict[SSAValue, Array] = {}
        self.buffers: dict[SSAValue, Array] = dict(zip(kernel.body.block.args, buffers, strict=True))
        self.written: dict[SSAValue, Array] = {}
        self.excused: dict[SSAValue, Array] = {}
        """Where elements lie outside the limits of the ranges and loops that write them."""
        self.inside: dict[int, Array] = {}
        """Dimension of a range, or of an open loop, that has limits → whether its position is inside."""
        self.dimensions: dict[SSAValue, int] = {}
        ranges = [op.result for op in kernel.body.block.ops if isinstance(op, RangeOp)]
        self.rank = len(ranges) + _depth(kernel)
        for dimension, range in enumerate(ranges):
            self.dimensions[range] = dimension
        self.level = len(ranges)

    def uniform(self, array: Array) -> Array:
        """A number as a value that does not vary."""
        return array.reshape((1,) * self.rank)

    def walk(self, dimension: int, extent: int) -> Array:
        """0 … extent − 1 along one dimension."""
        shape = [1] * self.rank
        shape[dimension] = extent
        return np.arange(extent, dtype=np.int64).reshape(shape)

    def run(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if isinstance(op, StoreOp):
                self.store(op)
            elif isinstance(op, loop.ForOp):
                self.inside.pop(self.enter(op), None)
            elif not isinstance(op, loop.YieldOp):
                self.values.update(zip(op.results, self.evaluate(op), strict=True))

    def evaluate(self, op: Operation) -> list[Array]:
        if isinstance(op, AluOp):
            operands = [self.values[value] for value in op.operands]
            return [alu(op, operands)]
        if isinstance(op, ConstOp):
            return [self.uniform(constant(op.number, op.result.type))]
        if isinstance(op, CastOp):
            return [cast_array(self.values[op.input], op.result.type)]
        if isinstance(op, BitcastOp):
            return [bitcast_array(self.values[op.input], op.input.type, op.result.type)]
        if isinstance(op, RangeOp):
            return [self.walk_inside(op, self.dimensions[op.result])]
        if isinstance(op, LoadOp):
            return [self.load(op)]
        if isinstance(op, ReduceOp):
            inputs = [self.values[value] for value in op.inputs]
            for range in op.over:
                dimension = self.dimensions[range]
                inputs = self.combine(fold, op, self.elements(op, inputs, dimension), dimension, _extent(range))
            return inputs
        if isinstance(op, ScanOp | loop.ScanOp):
            (over,) = op.over
            inputs = [self.values[value] for value in op.inputs]
            return self.combine(scan, op, inputs, self.dimensions[over], _extent(over))
        if isinstance(op, loop.ReduceOp):
            dimension = self.enter(op)
            inputs = self.elements(op, [self.values[value] for value in op.yielded], dimension)
            self.inside.pop(dimension, None)
            return self.combine(fold, op, inputs, dimension, op.axis.extent.data)
        raise NotExecutableError(f"{op.name} is not defined in range form and loop form", op)

    def enter(self, op: loop.ForOp | loop.ReduceOp) -> int:
        """Run the body of a loop for all its steps; the loop's dimension."""
        if op.results and isinstance(op, loop.ForOp):
            raise NotExecutableError("a loop that carries state is not defined in loop form", op)
        dimension = self.level
        self.dimensions[op.index] = dimension
        self.values[op.index] = self.walk_inside(op, dimension)
        self.level += 1
        self.run(op.body.block.ops)
        self.level -= 1
        return dimension

    def walk_inside(self, op: RangeOp | loop.ForOp | loop.ReduceOp, dimension: int) -> Array:
        """The positions of a range or a loop, all of them; of what follows, those outside its limits are left out."""
        positions = self.walk(dimension, op.axis.extent.data)
        if (inside_limits := inside(op.limits, positions, self.values)) is not None:
            self.inside[dimension] = inside_limits
        return positions

    def elements(self, op: ReduceOp | loop.ReduceOp, inputs: Sequence[Array], dimension: int) -> Sequence[Array]:
        """What a reduction combines: identities outside the limits."""
        if dimension not in self.inside:
            return inputs
        identities = op.monoid.monoid.identity([result.type for result in op.results])
        return [
            np.where(self.inside[dimension], value, constant(identity, result.type))
            for value, identity, result in zip(inputs, identities, op.results, strict=True)
        ]

    def combine(
        self,
        how: Callable[[Monoid, Sequence[Attribute], Sequence[Array], int], list[Array]],
        op: ReduceOp | ScanOp | loop.ReduceOp | loop.ScanOp,
        inputs: Sequence[Array],
        dimension: int,
        extent: int,
    ) -> list[Array]:
        """`fold` or `scan` of inputs that need not vary along the dimension."""
        arrays = list(np.broadcast_arrays(*inputs))
        shape = list(arrays[0].shape)
        shape[dimension] = extent
        elements = [result.type for result in op.results]
        return how(op.monoid.monoid, elements, [np.broadcast_to(array, shape) for array in arrays], dimension)

    def access(self, op: LoadOp | StoreOp) -> tuple[Array, list[Array], Array | None]:
        """The buffer, an index for each of its dimensions, and the mask; raises where an allowed index is outside."""
        buffer = self.buffers[op.buffer]
        indices = [self.values[i] for i in op.indices]
        mask = None if op.mask is None else self.values[op.mask]
        for dimension, (index, extent) in enumerate(zip(indices, buffer.shape, strict=True)):
            outside = (index < 0) | (index >= extent)
            if mask is not None:
                outside = outside & mask
            if outside.any():
                value = np.broadcast_to(index, outside.shape)[outside].flat[0]
                raise ExecutionError(
                    f"{op.name} uses index {value} in dimension {dimension} of"
                    f" %{op.buffer.name_hint} : {op.buffer.type}",
                    op,
                )
        return buffer, [np.clip(i, 0, max(n - 1, 0)) for i, n in zip(indices, buffer.shape, strict=True)], mask

    def load(self, op: LoadOp) -> Array:
        buffer, indices, mask = self.access(op)
        if buffer.size == 0:
            shape = np.broadcast_shapes((1,) * self.rank, *(i.shape for i in indices))
            values = np.zeros(shape, buffer.dtype)
        else:
            values = buffer[tuple(indices)] if indices else self.uniform(buffer)
        return values if mask is None else np.where(mask, values, buffer.dtype.type(0))

    def store(self, op: StoreOp) -> None:
        buffer, indices, mask = self.access(op)
        written = self.written.setdefault(op.buffer, np.zeros(buffer.shape, dtype=bool))
        value = self.values[op.value]
        shape = np.broadcast_shapes(value.shape, *(i.shape for i in indices), () if mask is None else mask.shape)
        limits = [inside for dimension, inside in self.inside.items() if shape[dimension] != 1]
        shape = np.broadcast_shapes(shape, *(inside.shape for inside in limits))
        active = np.broadcast_to(True if mask is None else mask, shape)
        if limits:
            counts = np.logical_and.reduce(np.broadcast_arrays(*limits))
            active = active & counts
            self.excuse(op.buffer, indices, np.broadcast_to(~counts, shape))
        values = np.broadcast_to(value, shape)[active]
        places = tuple(np.broadcast_to(i, shape)[active] for i in indices)
        where = places if places else ...
        if (written[where] & ~same_bits(buffer[where], values)).any():
            raise ExecutionError("uop.store writes a different value to an element that is written already", op)
        buffer[where] = values if places else values.reshape(())
        written[where] = True
        if not same_bits(buffer[where], values if places else values.reshape(())).all():
            raise ExecutionError("uop.store writes different values to one element", op)

    def excuse(self, buffer: SSAValue, indices: Sequence[Array], outside: Array) -> None:
        """Note the elements that nobody asks for."""
        excused = self.excused.setdefault(buffer, np.zeros(self.buffers[buffer].shape, dtype=bool))
        if outside.any():
            excused[tuple(np.broadcast_to(i, outside.shape)[outside] for i in indices)] = True

    def accounted(self) -> dict[SSAValue, Array]:
        """By buffer that the kernel writes to: where it was written, or need not be."""
        return {buffer: places | self.excused.get(buffer, False) for buffer, places in self.written.items()}


def _extent(value: SSAValue) -> int:
    """The extent of a range, or of the loop whose index this is."""
    op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
    assert isinstance(op, RangeOp | loop.ForOp | loop.ReduceOp)
    return op.axis.extent.data


def _depth(kernel: KernelOp) -> int:
    """How deep loops are nested."""
    deepest = 0
    stack = [(op, 1) for op in kernel.body.block.ops]
    while stack:
        op, depth = stack.pop()
        if isinstance(op, loop.ForOp | loop.ReduceOp):
            deepest = max(deepest, depth)
            stack.extend((inner, depth + 1) for inner in op.body.block.ops)
    return deepest
