"""The meaning of a kernel in tile form: all blocks and threads at once, as dimensions of numpy arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from ...dialects.atoms import COLUMN_LANES, MATRIX_ROW_BYTES, ROW_LANES
from ...dialects.axes import THREAD_KINDS, WARP, AxisKind
from ...dialects.layouts import SwizzleAttr, row_dimension, strides_of
from ...dialects.loop import ForOp, YieldOp
from ...dialects.semantics import ALU
from ...dialects.tile import (
    AxisOp,
    LeaveUnlessOp,
    MmaOp,
    ReadOp,
    ReduceAcrossOp,
    ScanAcrossOp,
    StageOp,
    TakeAcrossOp,
    WriteOp,
)
from ...dialects.types import byte_width, element_of, f32, shape_of
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, KernelOp, ReduceAxisOp, ReshapeOp
from .arrays import (
    Array,
    ExecutionError,
    NotExecutableError,
    alu,
    bitcast_array,
    cast_array,
    combine,
    constant,
    evaluate_alu,
    fold,
    same_bits,
    scan,
)
from .buffers import NONE, check_buffers, check_written
from .limits import honours_limits, inside


def interpret_tile_kernel(kernel: KernelOp, buffers: Sequence[Array], kept: Mapping[int, int] = NONE) -> None:
    """Run a kernel in tile form on its buffers, in the order of its arguments; it writes its outputs in place.

    kept: outputs that hold elements which need not be written, each with the input that is not read in its stead
    Raises `ExecutionError`, which names the op, when an access that its mask allows leaves its buffer or slab, when
    two different values are written to one element, when an element of an output is left out that lies inside the
    limits of loops and blocks, when elements that are moved as a vector do not lie side by side, and when the origin of
    a stage differs between threads.
    """
    check_buffers(kernel, buffers)
    interpreter = _Interpreter(kernel)
    block = kernel.body.block
    memories: dict[SSAValue, _Memory] = {}
    for argument, buffer in zip(block.args, buffers, strict=True):
        memories[argument] = _Memory(buffer)
    interpreter.memories.update(memories)
    interpreter.run(block.ops)
    outputs = {op.buffer for op in kernel.body.walk() if isinstance(op, WriteOp)}
    check_written(
        kernel,
        {buffer: memory.written | memory.excused for buffer, memory in memories.items() if buffer in outputs},
        kept,
    )


class _Memory:
    """A buffer, and which of its elements the kernel has written."""

    def __init__(self, buffer: Array):
        self.buffer = buffer
        self.written = np.zeros(buffer.shape, dtype=bool)
        self.excused = np.zeros(buffer.shape, dtype=bool)
        """Where nobody asks for elements."""


@dataclass
class _Slab:
    """A staged box of a buffer; elements outside the buffer are 0.

    origin, ends: one array for each dimension: where the box begins, and where the buffer ends.
    """

    source: _Memory
    origin: list[Array]
    shape: tuple[int, ...]
    ends: list[Array]

    def elements(self, indices: Sequence[Array]) -> tuple[Array, Array]:
        """What is at these places of the slab, and whether it is inside of the buffer."""
        buffer = self.source.buffer
        places = [origin + i for origin, i in zip(self.origin, indices, strict=True)]
        inside = np.asarray(True)
        for i, end in zip(places, self.ends, strict=True):
            inside = inside & (i >= 0) & (i < end)
        if buffer.size == 0:
            return np.zeros(inside.shape, buffer.dtype), inside
        return buffer[tuple(np.clip(i, 0, n - 1) for i, n in zip(places, buffer.shape, strict=True))], inside


class _WrittenSlab(_Memory):
    """The slabs of all blocks once threads have written to them. blocks: the indices of its first dimensions, those of
    the blocks."""

    def __init__(self, buffer: Array, blocks: list[Array]):
        super().__init__(buffer)
        self.blocks = blocks


class _Interpreter:
    """Values are arrays with a dimension for each block and thread axis, then one for each register dimension.

    A dimension of extent 1 is one along which the value does not vary; register dimensions have their extents. Vectors
    of lower rank than others of the kernel have extents of 1 in front.
    """

    def __init__(self, kernel: KernelOp):
        self.values: dict[SSAValue, Array] = {}
        self.memories: dict[SSAValue, _Memory | _Slab] = {}
        self.inside: list[Array] = []
        """Conditions of blocks that have not left, and of the steps of open loops with limits."""
        ops = list(kernel.body.walk())
        self.axes = [op for op in ops if isinstance(op, AxisOp) and op.axis.axis_kind is not AxisKind.REGISTER]
        shapes = [shape_of(result.type) for op in ops for result in op.results if not isinstance(op, StageOp)]
        self.rank = max(map(len, shapes), default=0)
        self.threads = [d for d, op in enumerate(self.axes) if op.axis.axis_kind in THREAD_KINDS]
        self.lane_dimensions = [d for d in self.threads if self.axes[d].axis.axis_kind is not AxisKind.WARP]

    def uniform(self, array: Array) -> Array:
        """A number as a value that does not vary."""
        return array.reshape((1,) * (len(self.axes) + self.rank))

    def registers(self, array: Array, shape: tuple[int, ...]) -> Array:
        """`array` with these extents of the register dimensions (all 1 for a scalar)."""
        extents = (1,) * (self.rank - len(shape)) + shape
        return np.broadcast_to(array, (*array.shape[: len(self.axes)], *extents))

    def run(self, ops: Iterable[Operation]) -> None:
        for op in ops:
            if isinstance(op, ForOp):
                self.loop(op)
            elif isinstance(op, StageOp):
                self.stage(op)
            elif isinstance(op, WriteOp):
                self.write(op)
            elif isinstance(op, LeaveUnlessOp):
                self.leave(op)
            elif not isinstance(op, YieldOp):
                self.values.update(zip(op.results, self.evaluate(op), strict=True))

    def reshape(self, op: ReshapeOp, value: Array) -> Array:
        """The tile with its dimensions of extent 1 elsewhere."""
        first, before, after = len(self.axes), shape_of(op.input.type), shape_of(op.result.type)
        held = iter(n for n, extent in zip(value.shape[value.ndim - len(before) :], before, strict=True) if extent != 1)
        extents = [1 if extent == 1 else next(held) for extent in after]
        return value.reshape(*value.shape[:first], *(1,) * (self.rank - len(after)), *extents)

    def evaluate(self, op: Operation) -> list[Array]:
        operands = [self.values[x] for x in op.operands if x in self.values]
        if isinstance(op, AluOp):
            return [alu(op, operands)]
        if isinstance(op, ConstOp):
            return [self.uniform(constant(op.number, op.result.type))]
        if isinstance(op, CastOp):
            return [cast_array(operands[0], element_of(op.result.type))]
        if isinstance(op, BitcastOp):
            return [bitcast_array(operands[0], element_of(op.input.type), element_of(op.result.type))]
        if isinstance(op, ExpandOp):
            return [self.registers(operands[0], shape_of(op.result.type))]
        if isinstance(op, ReshapeOp):
            return [self.reshape(op, operands[0])]
        if isinstance(op, AxisOp):
            return [self.axis(op)]
        if isinstance(op, ReadOp):
            return [self.read(op)]
        if isinstance(op, ReduceAxisOp):
            first = len(self.axes) + self.rank - len(shape_of(op.operands[0].type))
            dimensions = [first + axis for axis in op.axis_list()]
            return self.fold(op, operands, dimensions)
        if isinstance(op, ReduceAcrossOp):
            dimensions = [self.axes.index(axis.owner) for axis in op.over if isinstance(axis.owner, AxisOp)]
            inputs = [self.values[x] for x in op.inputs]
            return self.fold(op, [self.full(x, dimensions) for x in inputs], dimensions)
        if isinstance(op, ScanAcrossOp):
            return self.scan(op)
        if isinstance(op, TakeAcrossOp):
            return [self.take(op)]
        if isinstance(op, MmaOp):
            return [self.mma(op)]
        raise NotExecutableError(f"{op.name} is not defined in tile form", op)

    def mma(self, op: MmaOp) -> Array:
        """The fragments of all lanes put together, multiplied and taken apart again.

        Products are added in f32, one after the other: the hardware's order is not specified.
        """
        lanes, atom = self.lanes(op), op.instruction
        c_rank, *_ = op.fragment_ranks
        c_count, a_count, b_count = (atom.registers[place] for place in (2, 0, 1))
        lane = np.arange(WARP)[:, None]
        c_place = atom.place_in_c(lane, np.arange(c_count))
        c_lead, a_lead, b_lead = op.leads
        state, a, b = (
            self.matrix(self.full(self.values[value], lanes), lanes, shape, place, lead).astype(np.float32)
            for value, shape, place, lead in (
                (op.accumulator, (atom.m, atom.n), c_place, c_lead),
                (op.a, (atom.m, atom.k), atom.place_in_a(lane, np.arange(a_count)), a_lead),
                (op.b, (atom.k, atom.n), atom.place_in_b(lane, np.arange(b_count)), b_lead),
            )
        )
        if element_of(op.a.type) == f32:
            a, b = (evaluate_alu(ALU["to_tf32"], f32, [x]) for x in (a, b))
        others = len(self.axes) - len(lanes)
        for step in np.ndindex(*(a_lead[d] for d in op.steps)):
            at = dict(zip(op.steps, step, strict=True))
            here = (slice(None),) * others + tuple(
                slice(at[d], at[d] + 1) if d in at else slice(None) for d in range(len(c_lead))
            )
            for k in range(atom.k):
                product = evaluate_alu(ALU["mul"], f32, [a[here][..., :, k, None], b[here][..., None, k, :]])
                state = evaluate_alu(ALU["add"], f32, [state, product])
        result = state[..., c_place[0], c_place[1]]
        shape = shape_of(op.result.type)
        lead = (1,) * (self.rank - len(shape)) + shape[:-c_rank]
        extents = [self.axes[d].extent for d in lanes]
        result = result.reshape(*result.shape[:others], *lead, *extents, *shape[-c_rank:])
        first = others + len(lead)
        return np.moveaxis(result, range(first, first + len(lanes)), lanes)

    def matrix(
        self, array: Array, lanes: Sequence[int], shape: tuple[int, int], place: tuple[Any, Any], lead: Sequence[int]
    ) -> Array:
        """Matrices of this shape, of which lane `l` holds in register `r` the element at `place[l, r]`.

        Block and thread axes but the lanes stand in front, then the dimensions of instructions.
        """
        others = len(self.axes) - len(lanes)
        moved = np.moveaxis(array, lanes, range(others, len(self.axes)))
        moved = moved.reshape(*moved.shape[:others], WARP, *lead, -1)
        moved = np.moveaxis(moved, others, -2)
        matrix = np.zeros((*moved.shape[:-2], *shape), array.dtype)
        matrix[..., place[0], place[1]] = moved
        return matrix

    def take(self, op: TakeAcrossOp) -> Array:
        """The factors of the axis become one dimension in front, of which one place is taken."""
        first = len(self.axes) + self.rank - len(shape_of(op.input.type))
        dimensions = [self.axes.index(f) if f.dimension is None else first + f.dimension for f in op.factors]
        array = self.full(self.values[op.input], [d for d in dimensions if d < len(self.axes)])
        front = range(len(dimensions))
        moved = np.moveaxis(array, dimensions, front)
        rows = moved.reshape(-1, *moved.shape[len(dimensions) :])
        place = np.moveaxis(self.values[op.place], dimensions, front)
        place = place.reshape(-1, *place.shape[len(dimensions) :])
        if len(place) != 1:
            raise ExecutionError("the place that threads take differs between them", op)
        if (place < 0).any() or (place >= len(rows)).any():
            raise ExecutionError(f"{op.name} takes from place {place.max()} of {len(rows)}", op)
        place = np.broadcast_to(place, (1, *rows.shape[1:]))
        return np.moveaxis(
            np.take_along_axis(rows, place, 0).reshape(*(1,) * len(dimensions), *rows.shape[1:]), front, dimensions
        )

    def lanes(self, op: MmaOp | ReadOp) -> list[int]:
        """The dimensions of the lanes of a warp, in the order in which they are numbered."""
        lanes = [d for d, axis in enumerate(self.axes) if axis.axis.axis_kind is AxisKind.LANE]
        lanes.sort(key=lambda d: -self.axes[d].extent)
        if [self.axes[d].extent for d in lanes] != [ROW_LANES, COLUMN_LANES]:
            raise ExecutionError(f"{op.name} needs lane axes of 8 (rows) and of 4 (columns)", op)
        return lanes

    def axis(self, op: AxisOp) -> Array:
        dimensions = len(self.axes) + self.rank
        if op.axis.axis_kind is AxisKind.REGISTER:
            shape = shape_of(op.result.type)
            dimension = len(self.axes) + self.rank - len(shape) + max(range(len(shape)), key=lambda d: shape[d])
        else:
            dimension = self.axes.index(op)
        shape = [op.extent if d == dimension else 1 for d in range(dimensions)]
        return np.arange(op.extent, dtype=np.int64).reshape(shape)

    def full(self, array: Array, dimensions: Sequence[int]) -> Array:
        """`array` with its real extent along these axes."""
        shape = list(array.shape)
        for d in dimensions:
            shape[d] = self.axes[d].extent
        return np.broadcast_to(array, shape)

    def fold(
        self, op: ReduceAxisOp | ReduceAcrossOp, arrays: Sequence[Array], dimensions: Sequence[int]
    ) -> list[Array]:
        elements = [element_of(result.type) for result in op.results]
        folded = list(np.broadcast_arrays(*arrays))
        for dimension in dimensions:
            folded = fold(op.monoid.monoid, elements, folded, dimension)
        return folded

    def scan(self, op: ScanAcrossOp) -> list[Array]:
        """The factors of the axis become one dimension in front, which is scanned, and factors again."""
        elements = [element_of(value.type) for value in op.inputs]
        first = len(self.axes) + self.rank - len(shape_of(op.inputs[0].type))
        dimensions = [self.axes.index(f) if f.dimension is None else first + f.dimension for f in op.factors]
        threads = [d for d in dimensions if d < len(self.axes)]
        inputs = np.broadcast_arrays(*(self.full(self.values[x], threads) for x in op.inputs))
        front = range(len(dimensions))
        moved = [np.moveaxis(x, dimensions, front) for x in inputs]
        extents = moved[0].shape[: len(dimensions)]
        rows = [x.reshape(-1, *x.shape[len(dimensions) :]) for x in moved]
        before = [np.moveaxis(self.values[x], dimensions, front) for x in op.before]
        before = [x.reshape(1, *x.shape[len(dimensions) :]) for x in before]
        scanned = combine(op.monoid.monoid, elements, before, scan(op.monoid.monoid, elements, rows, 0))

        def back(x: Array, extents: tuple[int, ...]) -> Array:
            return np.moveaxis(x.reshape(*extents, *x.shape[1:]), front, dimensions)

        ones = (1,) * len(dimensions)
        return [*(back(x, extents) for x in scanned), *(back(x[-1:], ones) for x in scanned)]

    def loop(self, op: ForOp) -> None:
        state = [self.values[init] for init in op.inits]
        if not state:
            place = 0
            for monoid in op.monoids.data:
                group = op.results[place : place + monoid.monoid.width]
                elements = [element_of(result.type) for result in group]
                for value, element, result in zip(monoid.monoid.identity(elements), elements, group, strict=True):
                    state.append(self.registers(self.uniform(constant(value, element)), shape_of(result.type)))
                place += len(group)
        for step in range(op.axis.extent.data):
            self.values[op.index] = number = self.uniform(np.asarray(step, dtype=np.int64))
            self.values.update(zip(op.carried, state, strict=True))
            executed = inside(op.limits, number, self.values)
            around = len(self.inside)
            if executed is not None:
                self.check_uniform(op, executed)
                self.inside.append(executed)
            self.run(op.body.block.ops)
            new = [self.values[value] for value in op.yielded]
            for executed in self.inside[around:]:
                new = [np.where(executed, value, before) for value, before in zip(new, state, strict=True)]
            del self.inside[around:]
            state = new
        self.values.update(zip(op.results, state, strict=True))

    def leave(self, op: LeaveUnlessOp) -> None:
        if honours_limits():
            self.check_uniform(op, self.values[op.needed])
            self.inside.append(self.values[op.needed])

    def check_uniform(self, op: ForOp | LeaveUnlessOp, executed: Array) -> None:
        """Raise `ExecutionError` where threads of one block differ in what they execute, or those of one warp in a step
        of a loop."""
        of_warps = isinstance(op, LeaveUnlessOp) and isinstance(op.parent_op(), ForOp)
        if any(executed.shape[d] != 1 for d in (self.lane_dimensions if of_warps else self.threads)):
            group = "warp" if of_warps else "block"
            raise ExecutionError(f"{op.name} is executed by some threads of a {group} and not by others", op)

    def stage(self, op: StageOp) -> None:
        origin = [self.values[x] for x in op.origin]
        extents = shape_of(op.buffer.type)
        limits = [op.limit_along(dimension) for dimension in range(len(extents))]
        ends = [np.asarray(n) if x is None else self.values[x] for n, x in zip(extents, limits, strict=True)]
        given = [end for end, limit in zip(ends, limits, strict=True) if limit is not None]
        for what, values in (("origin", origin), ("limit", given)):
            if any(x.shape[d] != 1 for x in values for d in self.threads):
                raise ExecutionError(f"the {what} of a stage differs between the threads of a block", op)
        if any((end < 0).any() or (end > n).any() for end, n in zip(ends, extents, strict=True)):
            raise ExecutionError("the limit of a stage lies outside of its buffer", op)
        source = self.memories[op.buffer]
        assert isinstance(source, _Memory)
        self.memories[op.result] = _Slab(source, origin, shape_of(op.result.type), ends)

    def access(self, op: ReadOp | WriteOp, shape: tuple[int, ...]) -> tuple[_Memory | _Slab, list[Array], Array | None]:
        """The memory, an index for each of its dimensions, and the mask; raises where an active index is outside."""
        memory = self.memories[op.buffer]
        indices = [self.values[i] for i in op.indices]
        mask = None if op.mask is None else self.values[op.mask]
        for dimension, (index, extent) in enumerate(zip(indices, shape, strict=True)):
            outside = (index < 0) | (index >= extent)
            if mask is not None:
                outside = outside & mask
            if outside.any():
                value = np.broadcast_to(index, outside.shape)[outside].flat[0]
                raise ExecutionError(f"{op.name} uses index {value} in dimension {dimension} of {op.buffer.type}", op)
        if op.vector is not None:
            self.check_vector(op, op.vector.value.data, indices, mask)
        if isinstance(op, ReadOp) and op.ldmatrix is not None:
            self.check_matrices(op, indices)
        clipped = [np.clip(i, 0, max(n - 1, 0)) for i, n in zip(indices, shape, strict=True)]
        if isinstance(memory, _WrittenSlab):
            clipped = [*memory.blocks, *clipped]
        return memory, clipped, mask

    def check_vector(self, op: ReadOp | WriteOp, width: int, indices: Sequence[Array], mask: Array | None) -> None:
        """What `vector` promises: aligned groups of `width` elements side by side, of which all are moved or none."""
        type = cast("MemRefType[Attribute]", op.buffer.type)
        value = op.result if isinstance(op, ReadOp) else op.value
        if isinstance(type.layout, SwizzleAttr):
            raise ExecutionError("a swizzled slab is not moved in vectors", op)
        address = sum(
            (i * stride for i, stride in zip(indices, strides_of(type), strict=True)), self.uniform(np.zeros(()))
        )
        address = self.registers(address, shape_of(value.type)).astype(np.int64)
        active = self.registers(self.uniform(np.asarray(True)) if mask is None else mask, shape_of(value.type))
        address, active = np.broadcast_arrays(address, active)
        dimension = op.vector_dimension - len(shape_of(value.type))
        address, active = (np.moveaxis(x, dimension, -1) for x in (address, active))
        address, active = (x.reshape(*x.shape[:-1], -1, width) for x in (address, active))
        first = address[..., :1]
        if ((address != first + np.arange(width)) & active).any() or ((first % width != 0) & active).any():
            raise ExecutionError(f"{op.name} moves elements that are no aligned vector of {width}", op)
        if (active != active[..., :1]).any():
            raise ExecutionError(f"{op.name} moves a vector of {width} whose elements differ in the mask", op)

    def check_matrices(self, op: ReadOp, indices: Sequence[Array]) -> None:
        """What `ldmatrix` promises: rows of 16 bytes side by side, from a multiple of 16 bytes on, each at its own
        lanes."""
        type = cast("MemRefType[Attribute]", op.buffer.type)
        layout = type.layout
        row = MATRIX_ROW_BYTES // byte_width(type.element_type)
        runs = (
            layout.unit.data % row == 0
            if isinstance(layout, SwizzleAttr)
            else not any(stride % row for place, stride in enumerate(strides_of(type)) if place != row_dimension(type))
        )
        lanes = self.lanes(op)
        full = [self.full(self.registers(index, shape_of(op.result.type)), lanes) for index in indices]
        # (…, row lane, column lane, neighbours): a matrix of 8 rows and 4 words.
        matrices = [np.moveaxis(index, lanes, (-3, -2)) for index in full]
        matrices = [index.reshape(*index.shape[:-3], ROW_LANES, row) for index in matrices]
        if op.transposed is not None:
            matrices = [np.swapaxes(index, -1, -2) for index in matrices]
        last = matrices.pop(row_dimension(type))
        starts = last[..., :1]
        in_rows = (last == starts + np.arange(row)).all() and (starts % row == 0).all()
        if not runs or not in_rows or any((index != index[..., :1]).any() for index in matrices):
            raise ExecutionError(f"{op.name} reads no matrices of rows of {row} elements side by side", op)

    def read(self, op: ReadOp) -> Array:
        memory, indices, mask = self.access(op, shape_of(op.buffer.type))
        if isinstance(memory, _Slab):
            values, inside = memory.elements(indices)
            values = values if indices else self.uniform(values)
            values = cast_array(values, element_of(op.result.type))  # the copy converts its elements
            mask = inside if mask is None else inside & mask
        elif memory.buffer.size == 0:
            shape = np.broadcast_shapes((1,) * (len(self.axes) + self.rank), *(i.shape for i in indices))
            values = np.zeros(shape, memory.buffer.dtype)
        else:
            values = memory.buffer[tuple(indices)] if indices else self.uniform(memory.buffer)
        if mask is not None:
            values = np.where(mask, values, values.dtype.type(0))
        return self.registers(values, shape_of(op.result.type))

    def written(self, slab: _Slab, element: Attribute) -> _WrittenSlab:
        """The slab with elements of its own, which can be written."""
        first, rank = len(self.axes) + self.rank, len(slab.shape)
        places = [
            np.arange(extent).reshape([extent if d == first + dimension else 1 for d in range(first + rank)])
            for dimension, extent in enumerate(slab.shape)
        ]
        origin, ends = ([x.reshape(*x.shape, *(1,) * rank) for x in each] for each in (slab.origin, slab.ends))
        source = _Slab(slab.source, origin, slab.shape, ends)
        values, inside = source.elements(places)
        held = cast_array(np.where(inside, values, values.dtype.type(0)), element)
        blocks = [axis.extent if axis.axis.axis_kind is AxisKind.BLOCK else 1 for axis in self.axes]
        extents = (*blocks, *(1,) * self.rank)
        numbers = [
            np.arange(extent).reshape([extent if d == dimension else 1 for d in range(first)])
            for dimension, extent in enumerate(extents)
        ]
        return _WrittenSlab(np.broadcast_to(held, (*extents, *slab.shape)).copy(), numbers)

    def write(self, op: WriteOp) -> None:
        slab = self.memories[op.buffer]
        if isinstance(slab, _Slab):
            self.memories[op.buffer] = self.written(slab, element_of(op.buffer.type))
        memory, indices, mask = self.access(op, shape_of(op.buffer.type))
        assert isinstance(memory, _Memory)
        value = self.values[op.value]
        everything = [value, *indices, *([] if mask is None else [mask])]
        shape = np.broadcast_shapes(*(x.shape for x in everything))
        active = np.broadcast_to(True if mask is None else mask, shape)
        if self.inside:
            shape = np.broadcast_shapes(shape, *(condition.shape for condition in self.inside))
            executed = np.broadcast_to(np.logical_and.reduce(np.broadcast_arrays(*self.inside)), shape)
            left_out = np.broadcast_to(active, shape) & ~executed
            if left_out.any():
                memory.excused[tuple(np.broadcast_to(i, shape)[left_out] for i in indices)] = True
            active = np.broadcast_to(active, shape) & executed
        values = np.broadcast_to(value, shape)[active]
        if not values.size:
            return
        places = [np.broadcast_to(i, shape)[active] for i in indices]
        if places:
            order = np.lexsort(places)
            places, values = [p[order] for p in places], values[order]
        # Elements that are written twice are neighbours now.
        same = np.all([p[1:] == p[:-1] for p in places], axis=0) if places else np.ones(len(values) - 1, dtype=bool)
        differs = np.append(same & ~same_bits(values[1:], values[:-1]), False)
        differs |= memory.written[*places] & ~same_bits(np.broadcast_to(memory.buffer[*places], values.shape), values)
        if differs.any():
            element = [int(p[differs][0]) for p in places]
            raise ExecutionError(
                f"{op.name} writes different values to element {element} of %{op.buffer.name_hint}", op
            )
        memory.buffer[*places] = values if places else values[0]
        memory.written[*places] = True
