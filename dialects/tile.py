"""tile: the first stage that knows the machine. Register tiles are vectors; slabs of buffers are staged in shared
memory."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Self

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, StringAttr, UnitAttr, VectorType, i1
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from .atoms import ATOMS, Atom, fragment_rank
from .axes import THREAD_KINDS, AxisAttr, AxisKind
from .layouts import SwizzleAttr, memory_space
from .monoids import MonoidAttr
from .schedule import ScheduleAttr
from .syntax import (
    number,
    parse_access,
    parse_attributes,
    parse_mask,
    parse_operands,
    parse_paren_types,
    parse_types,
    print_access,
    print_attributes,
    print_mask,
    print_operands,
    print_paren_types,
    print_types,
    segment_sizes,
)
from .types import byte_width, element_count, element_of, index, is_float, is_memref, shape_of, with_element, with_shape
from .uop.ranges import CombineOver, verify_access
from .uop.reduction import verify_monoid_operands


@irdl_op_definition
class AxisOp(IRDLOperation):
    """The position of this thread along one factor of an axis: `%ti = tile.axis i = 8 thread : index`.

    A block, warp, thread or lane factor gives one index; a register factor gives the indices that the thread holds,
    0, 1, …, along
    one dimension of a vector (`vector<2x1xindex>`), every other dimension of which has extent 1.
    """

    name = "tile.axis"

    axis = prop_def(AxisAttr)
    result = result_def()

    traits = traits_def(Pure())

    @staticmethod
    def of(axis: str, extent: int, kind: AxisKind, type: Attribute = index) -> AxisOp:
        return AxisOp.create(properties={"axis": AxisAttr(axis, extent, kind)}, result_types=(type,))

    @property
    def extent(self) -> int:
        return self.axis.extent.data

    @property
    def dimension(self) -> int | None:
        """The dimension of vectors that a register factor is; None of another one."""
        shape = shape_of(self.result.type)
        return max(range(len(shape)), key=lambda d: shape[d]) if shape else None

    def verify_(self) -> None:
        kind, type = self.axis.axis_kind, self.result.type
        if kind is AxisKind.REGISTER:
            shape = shape_of(type)
            if element_of(type) != index or sorted(shape) != [1] * (len(shape) - 1) + [self.extent]:
                raise VerifyException(
                    f"a register axis of {self.extent} is a vector of index with that one extent, not {type}"
                )
        elif kind is not AxisKind.BLOCK and kind not in THREAD_KINDS:
            raise VerifyException(
                "tile.axis is a block, warp, thread, lane or register factor; serial factors are loops"
            )
        elif type != index:
            raise VerifyException(f"only a register axis gives a vector, not this one: {type}")

    @classmethod
    def parse(cls, parser: Parser) -> AxisOp:
        axis = AxisAttr.parse_body(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        return cls.create(properties={"axis": axis}, result_types=(parser.parse_type(),), attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self.axis.print_body(printer)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class LeaveUnlessOp(IRDLOperation):
    """`tile.leave_unless %needed`: the blocks for which the condition is false do nothing from here on, for nobody asks
    for what they compute. All threads of a block have the same condition.

    In a loop, the warps for which it is false do nothing in the rest of the step, for which the state stays as it is.
    All lanes of a warp have the same condition, and threads of different warps do not meet behind it.
    """

    name = "tile.leave_unless"
    assembly_format = "$needed attr-dict"

    needed = operand_def(i1)

    @staticmethod
    def of(needed: SSAValue) -> LeaveUnlessOp:
        return LeaveUnlessOp.create(operands=(needed,))


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that scalars and vectors of one rank have together; None when they do not fit."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        if not shape:
            continue
        if not result:
            result = shape
        elif len(shape) != len(result) or any(1 not in (a, b) and a != b for a, b in zip(shape, result, strict=True)):
            return None
        else:
            result = tuple(max(a, b) for a, b in zip(shape, result, strict=True))
    return result


def verify_tile_access(
    op: ReadOp | WriteOp, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None, value: Attribute
) -> None:
    """Indices are `index` or vectors of it whose shapes broadcast to that of the value; so is the mask of bool."""
    verify_access(op, buffer, indices)
    if any(element_of(i.type) != index for i in indices):
        raise VerifyException("an index is `index` or a vector of it")
    assert is_memref(buffer.type)
    if element_of(value) != buffer.type.element_type:
        raise VerifyException(f"a buffer of {buffer.type.element_type} does not hold {element_of(value)}")
    if broadcast_shape([shape_of(i.type) for i in indices]) is None:
        raise VerifyException("the shapes of the indices do not fit")
    if mask is not None and mask.type != with_element(value, i1):
        raise VerifyException(f"the mask has type {with_element(value, i1)}, not {mask.type}")
    if op.vector is not None:
        width, shape = op.vector.value.data, shape_of(value)
        if not shape or not 0 <= op.vector_dimension < len(shape):
            raise VerifyException(f"{value} has no dimension {op.vector_dimension} to be moved in vectors along")
        if width < 2 or shape[op.vector_dimension] % width:
            dimension = "its last dimension" if op.along is None else f"dimension {op.vector_dimension}"
            raise VerifyException(f"{value} is not moved in vectors of {width} along {dimension}")
    elif op.along is not None:
        raise VerifyException("`along` says which dimension vectors go along: it stands behind `vector N`")


def _parse_vector(parser: Parser) -> tuple[int | None, int | None]:
    """`vector 4 along 0`: the width and the dimension; None where they are not given."""
    if not parser.parse_optional_keyword("vector"):
        return None, None
    width = parser.parse_integer()
    return width, parser.parse_integer() if parser.parse_optional_keyword("along") else None


def _print_vector(printer: Printer, op: ReadOp | WriteOp) -> None:
    if op.vector is not None:
        printer.print_string(f" vector {op.vector.value.data}")
    if op.along is not None:
        printer.print_string(f" along {op.along.value.data}")


def _vector_properties(vector: int | None, along: int | None) -> dict[str, Attribute]:
    given = {"vector": vector, "along": along}
    return {name: number(value) for name, value in given.items() if value is not None}


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Read a register tile: `tile.read %x[%i, %k] mask %ok vector 4 : memref<…>(vector<2x1xindex>, index) ->
    vector<2x1xf32>`.

    indices: `index` or vectors of it; their shapes broadcast together to that of the result.
    mask: bools of the result's shape; 0 (or false) where false.
    vector: that many elements along the dimension `along`, by itself the last, lie side by side and are moved at once:
      `vector 4 along 0`.
    ldmatrix: what the lanes of a warp read are matrices of 8 rows that lie in shared memory as runs of 16 bytes, and
      the warp loads them at once. A lane reads, along the last dimension, 4 bytes of a row, 2 elements of 16 bits or 1
      of 32: those of matrix row `lane ÷ 4`, from byte `4 · (lane mod 4)` on; with `trans`, of the transposed matrix of
      elements of 16 bits. A matrix for each place of the other dimensions.
    """

    name = "tile.read"

    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def()
    mask = opt_operand_def()
    vector = opt_prop_def(IntegerAttr)
    along = opt_prop_def(IntegerAttr)
    ldmatrix = opt_prop_def(UnitAttr)
    transposed = opt_prop_def(UnitAttr, prop_name="trans")
    result = result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def of(
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        type: Attribute,
        mask: SSAValue | None = None,
        vector: int | None = None,
        ldmatrix: bool = False,
        transposed: bool = False,
        along: int | None = None,
    ) -> ReadOp:
        masks = () if mask is None else (mask,)
        properties: dict[str, Attribute] = {"operandSegmentSizes": segment_sizes(1, len(indices), len(masks))}
        properties |= _vector_properties(vector, along)
        if ldmatrix:
            properties["ldmatrix"] = UnitAttr()
        if transposed:
            properties["trans"] = UnitAttr()
        return ReadOp.create(operands=(buffer, *indices, *masks), result_types=(type,), properties=properties)

    @property
    def vector_dimension(self) -> int:
        """The dimension that vectors go along."""
        return len(shape_of(self.result.type)) - 1 if self.along is None else self.along.value.data

    def verify_(self) -> None:
        verify_tile_access(self, self.buffer, self.indices, self.mask, self.result.type)
        if broadcast_shape([shape_of(i.type) for i in self.indices]) != shape_of(self.result.type):
            raise VerifyException(f"the shapes of the indices do not broadcast to that of {self.result.type}")
        if self.transposed is not None and self.ldmatrix is None:
            raise VerifyException("only matrices are read transposed: `ldmatrix trans`")
        if self.ldmatrix is not None:
            self._verify_matrices()

    def _verify_matrices(self) -> None:
        type = self.result.type
        width = byte_width(element_of(type))
        if memory_space(self.buffer.type) != "shared" or width not in (2, 4):
            raise VerifyException('ldmatrix reads elements of 16 or 32 bits of a buffer in "shared"')
        if self.transposed is not None and width != 2:
            raise VerifyException("ldmatrix transposes elements of 16 bits")
        if self.mask is not None or self.vector is not None:
            raise VerifyException("ldmatrix reads all elements of a matrix, by itself: it has no mask and no width")
        if shape_of(type)[-1:] != (4 // width,):
            raise VerifyException(f"a lane reads 4 bytes of each matrix along the last dimension, not {type}")

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        position = parser.pos
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        vector, along = _parse_vector(parser)
        ldmatrix = parser.parse_optional_keyword("ldmatrix") is not None
        transposed = parser.parse_optional_keyword("trans") is not None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        index_types = parse_paren_types(parser)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        op = cls.of(
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(indices, index_types, position),
            result,
            None if mask is None else parser.resolve_operand(mask, with_element(result, i1)),
            vector,
            ldmatrix,
            transposed,
            along,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        _print_vector(printer, self)
        if self.ldmatrix is not None:
            printer.print_string(" ldmatrix")
        if self.transposed is not None:
            printer.print_string(" trans")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        print_paren_types(printer, [i.type for i in self.indices])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class WriteOp(IRDLOperation):
    """Write a register tile: `tile.write %v, %out[%i, %j] mask %ok : vector<2x2xf32> -> memref<…>(vector<2x1xindex>,
    …)`.

    As `tile.read`; nothing is written where the mask is false. The indices' shapes broadcast to that of the value.
    """

    name = "tile.write"

    value = operand_def()
    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def()
    mask = opt_operand_def()
    vector = opt_prop_def(IntegerAttr)
    along = opt_prop_def(IntegerAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def of(
        value: SSAValue,
        buffer: SSAValue,
        indices: Sequence[SSAValue],
        mask: SSAValue | None = None,
        vector: int | None = None,
        along: int | None = None,
    ) -> WriteOp:
        masks = () if mask is None else (mask,)
        properties: dict[str, Attribute] = {"operandSegmentSizes": segment_sizes(1, 1, len(indices), len(masks))}
        properties |= _vector_properties(vector, along)
        return WriteOp.create(operands=(value, buffer, *indices, *masks), properties=properties)

    @property
    def vector_dimension(self) -> int:
        """The dimension that vectors go along."""
        return len(shape_of(self.value.type)) - 1 if self.along is None else self.along.value.data

    def verify_(self) -> None:
        verify_tile_access(self, self.buffer, self.indices, self.mask, self.value.type)
        shape = shape_of(self.value.type)
        if broadcast_shape([shape, *(shape_of(i.type) for i in self.indices)]) != shape:
            raise VerifyException(f"the shapes of the indices do not broadcast to that of {self.value.type}")

    @classmethod
    def parse(cls, parser: Parser) -> WriteOp:
        position = parser.pos
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        buffer, indices = parse_access(parser)
        mask = parse_mask(parser)
        vector, along = _parse_vector(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        value_type = parser.parse_type()
        parser.parse_punctuation("->")
        type = parser.parse_type()
        index_types = parse_paren_types(parser)
        op = cls.of(
            parser.resolve_operand(value, value_type),
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(indices, index_types, position),
            None if mask is None else parser.resolve_operand(mask, with_element(value_type, i1)),
            vector,
            along,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        print_access(printer, self.buffer, self.indices)
        print_mask(printer, self.mask)
        _print_vector(printer, self)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.value.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.buffer.type)
        print_paren_types(printer, [i.type for i in self.indices])


def _is_wider(element: Attribute, than: Attribute) -> bool:
    """Whether both are floats and `element` holds all numbers of the other."""
    return is_float(element) and is_float(than) and byte_width(element) > byte_width(than)


@irdl_op_definition
class StageOp(IRDLOperation):
    """The block copies the box of a buffer at an origin into shared memory; elements outside the buffer are 0.

    `%s = tile.stage %x[%i, %k] buffers 2 async : memref<16x64xf32> -> memref<16x32xf32, strided<[36, 1]>,
    "shared">`. The result's
    shape is the box, its layout where the elements lie (padding, swizzle), its elements those of the buffer, or floats
    of more bits, to which the copy converts them.
    buffers: slabs that exist at once; with 2, the loop around copies the next slab while this one is used.
    async: the copy is asynchronous (cp.async).
    """

    name = "tile.stage"

    buffer = operand_def(MemRefType.constr())
    origin = var_operand_def(IndexType)
    buffers = prop_def(IntegerAttr)
    asynchronous = opt_prop_def(UnitAttr, prop_name="async")
    result = result_def(MemRefType.constr())

    @staticmethod
    def of(
        buffer: SSAValue, origin: Sequence[SSAValue], type: MemRefType, buffers: int = 1, asynchronous: bool = False
    ) -> StageOp:
        properties: dict[str, Attribute] = {"buffers": number(buffers)}
        if asynchronous:
            properties["async"] = UnitAttr()
        return StageOp.create(operands=(buffer, *origin), result_types=(type,), properties=properties)

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.origin)
        source, slab = self.buffer.type, self.result.type
        assert is_memref(source)
        assert is_memref(slab)
        if memory_space(source) != "global" or memory_space(slab) != "shared":
            raise VerifyException('a stage copies from a plain memref to one in "shared"')
        if len(source.get_shape()) != len(slab.get_shape()):
            raise VerifyException("a slab has the rank of its buffer")
        if source.element_type != slab.element_type and not _is_wider(slab.element_type, source.element_type):
            raise VerifyException("a slab has the element type of its buffer, or a wider float")
        if self.buffers.value.data < 1:
            raise VerifyException("a stage has at least one buffer")

    @classmethod
    def parse(cls, parser: Parser) -> StageOp:
        position = parser.pos
        buffer, origin = parse_access(parser)
        parser.parse_keyword("buffers")
        buffers = parser.parse_integer()
        asynchronous = parser.parse_optional_keyword("async") is not None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation("->")
        slab = parser.parse_type()
        if not is_memref(slab):
            parser.raise_error("expected the type of the slab: a memref")
        op = cls.of(
            parser.resolve_operand(buffer, type),
            parser.resolve_operands(origin, [index] * len(origin), position),
            slab,
            buffers,
            asynchronous,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.origin)
        printer.print_string(f" buffers {self.buffers.value.data}")
        if self.asynchronous is not None:
            printer.print_string(" async")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class ReduceAcrossOp(CombineOver):
    """Combine over threads: `tile.reduce_across max %v over %tj : vector<1xf32>`.

    The threads that differ only in the thread axes `over` combine their values, element by element; all of them get
    the result.
    """

    name = "tile.reduce_across"

    def verify_(self) -> None:
        self.verify_over("warp, thread and lane axes", _is_thread_axis)


def _is_thread_axis(value: SSAValue) -> bool:
    return isinstance(value.owner, AxisOp) and value.owner.axis.axis_kind in THREAD_KINDS


def verify_shared_axis(op: IRDLOperation, over: Sequence[SSAValue], type: Attribute) -> list[int]:
    """The factors of an axis that the registers and threads which hold `type` share; the shape of `type` without its
    registers."""
    factors = [value.owner for value in over if isinstance(value.owner, AxisOp)]
    kinds = (AxisKind.REGISTER, *THREAD_KINDS)
    if not factors or len(factors) < len(over) or any(f.axis.axis_kind not in kinds for f in factors):
        raise VerifyException(f"{op.name} goes over register, warp, thread and lane axes, at least one")
    shape = shape_of(type)
    dimensions = [f.dimension for f in factors if f.dimension is not None]
    for factor, dimension in ((f, f.dimension) for f in factors):
        if dimension is not None and (len(shape) <= dimension or shape[dimension] != factor.extent):
            raise VerifyException(f"a register axis of {factor.extent} is no dimension of {type}")
    if sorted(set(dimensions)) != dimensions:
        raise VerifyException("register axes stand in the order of their dimensions")
    return [1 if dimension in dimensions else extent for dimension, extent in enumerate(shape)]


@irdl_op_definition
class ScanAcrossOp(IRDLOperation):
    """Running combination along an axis that registers and threads share: `%s, %last = tile.scan_across add %v from
    %acc over %rj, %lj, %rj_1 : vector<8x4xf32> from vector<1x1xf32>(vector<8x1xindex>, index, vector<1x4xindex>)`.

    over: the factors of the axis, the outermost first: register axes, which are dimensions of the vectors, and thread
      axes. An element's position is the mixed-radix number over them.
    inputs: one value for each of the monoid's, of one shape. before: what stands before the first position, of the
      types of the inputs with extent 1 along the register axes.
    scanned: each element combined with `before` and all elements before it, in order. last: those at the last position,
      of the types of `before`; all threads get them.
    """

    name = "tile.scan_across"

    monoid = prop_def(MonoidAttr)
    inputs = var_operand_def()
    before = var_operand_def()
    over = var_operand_def()
    scanned = var_result_def()
    last = var_result_def()

    irdl_options = (AttrSizedOperandSegments(as_property=True), AttrSizedResultSegments(as_property=True))
    traits = traits_def(Pure())

    @staticmethod
    def of(
        monoid: str, inputs: Sequence[SSAValue], before: Sequence[SSAValue], over: Sequence[SSAValue]
    ) -> ScanAcrossOp:
        return ScanAcrossOp.create(
            operands=(*inputs, *before, *over),
            result_types=[value.type for value in (*inputs, *before)],
            properties={
                "monoid": MonoidAttr(monoid),
                "operandSegmentSizes": segment_sizes(len(inputs), len(before), len(over)),
                "resultSegmentSizes": segment_sizes(len(inputs), len(before)),
            },
        )

    @property
    def factors(self) -> list[AxisOp]:
        """The factors of the axis, outermost first."""
        return [value.owner for value in self.over if isinstance(value.owner, AxisOp)]

    def verify_(self) -> None:
        verify_monoid_operands(self, self.monoid, self.inputs)
        kept = verify_shared_axis(self, self.over, self.inputs[0].type)
        begun = [with_shape(value.type, kept) for value in self.inputs]
        if [value.type for value in self.before] != begun:
            raise VerifyException(f"{self.name} begins with values of {', '.join(map(str, begun))}")
        if [result.type for result in self.results] != [value.type for value in (*self.inputs, *self.before)]:
            raise VerifyException(f"{self.name} keeps the types of its inputs, and of what it begins with")

    @classmethod
    def parse(cls, parser: Parser) -> ScanAcrossOp:
        monoid = MonoidAttr.parse_keyword(parser)
        position = parser.pos
        inputs = parse_operands(parser)
        parser.parse_keyword("from")
        before = parse_operands(parser)
        parser.parse_keyword("over")
        over = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_types(parser)
        parser.parse_keyword("from")
        begun = parse_types(parser)
        over_types = parse_paren_types(parser)
        op = cls.of(
            monoid.data,
            parser.resolve_operands(inputs, types, position),
            parser.resolve_operands(before, begun, position),
            parser.resolve_operands(over, over_types, position),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data} ")
        print_operands(printer, self.inputs)
        printer.print_string(" from ")
        print_operands(printer, self.before)
        printer.print_string(" over ")
        print_operands(printer, self.over)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.inputs])
        printer.print_string(" from ")
        print_types(printer, [value.type for value in self.before])
        print_paren_types(printer, [value.type for value in self.over])


@irdl_op_definition
class TakeAcrossOp(IRDLOperation):
    """What stands at one position along an axis that registers and threads share, for all of them: `tile.take_across %p
    at %k over %rk, %lk, %rk_1 : vector<8x1x2xf32>(index, vector<8x1x1xindex>, index, vector<1x1x2xindex>)`.

    over: as of `tile.scan_across`. place: an index, the mixed-radix number over these factors; alike for the threads
      that differ in them.
    result: the type of the input with extent 1 along the register axes.
    """

    name = "tile.take_across"

    input = operand_def(VectorType.constr())
    place = operand_def(IndexType)
    over = var_operand_def()
    result = result_def(VectorType.constr())

    traits = traits_def(Pure())

    @staticmethod
    def of(input: SSAValue, place: SSAValue, over: Sequence[SSAValue]) -> TakeAcrossOp:
        dimensions = [axis.owner.dimension for axis in over if isinstance(axis.owner, AxisOp)]
        kept = [1 if dimension in dimensions else n for dimension, n in enumerate(shape_of(input.type))]
        return TakeAcrossOp.create(operands=(input, place, *over), result_types=[with_shape(input.type, kept)])

    @property
    def factors(self) -> list[AxisOp]:
        """The factors of the axis, outermost first."""
        return [value.owner for value in self.over if isinstance(value.owner, AxisOp)]

    def verify_(self) -> None:
        kept = verify_shared_axis(self, self.over, self.input.type)
        if self.result.type != with_shape(self.input.type, kept):
            raise VerifyException(f"{self.name} gives {with_shape(self.input.type, kept)}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> TakeAcrossOp:
        position = parser.pos
        input = parser.parse_unresolved_operand()
        parser.parse_keyword("at")
        place = parser.parse_unresolved_operand()
        parser.parse_keyword("over")
        over = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        over_types = parse_paren_types(parser)
        op = cls.of(
            parser.resolve_operand(input, type),
            parser.resolve_operand(place, index),
            parser.resolve_operands(over, over_types, position),
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        printer.print_string(" at ")
        printer.print_ssa_value(self.place)
        printer.print_string(" over ")
        print_operands(printer, self.over)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.input.type)
        print_paren_types(printer, [value.type for value in self.over])


class MatrixOp(IRDLOperation):
    """Not an op: what matrix products of register tiles and of single instructions share."""

    atom = prop_def(StringAttr)
    accumulator = operand_def(VectorType.constr())
    a = operand_def(VectorType.constr())
    b = operand_def(VectorType.constr())
    result = result_def(VectorType.constr())

    @classmethod
    def of(cls, atom: str, accumulator: SSAValue, a: SSAValue, b: SSAValue) -> Self:
        return cls.create(
            operands=(accumulator, a, b), result_types=(accumulator.type,), properties={"atom": StringAttr(atom)}
        )

    def verify_(self) -> None:
        """Each operand holds a whole number of fragments of the instruction, of element types that it takes."""
        atom = self.atom.data
        if atom not in ATOMS:
            raise VerifyException(f"{atom} is no matrix instruction: {', '.join(ATOMS)}")
        types = self.a.type, self.b.type, self.accumulator.type
        a, b, c = (str(element_of(type)) for type in types)
        if a != b or a not in ATOMS[atom].elements or c != "f32":
            raise VerifyException(f"{atom} does not multiply {a} by {b} into {c}")
        for type, registers in zip(types, ATOMS[atom].registers, strict=True):
            count = element_count(shape_of(type))
            if count == 0 or count % registers:
                raise VerifyException(f"{type} is no whole number of fragments of {registers} elements")
        if self.result.type != self.accumulator.type:
            raise VerifyException(f"mma gives {self.accumulator.type}, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        atom = parser.parse_optional_keyword_in(tuple(ATOMS))
        if atom is None:
            parser.raise_error(f"expected a matrix instruction: {', '.join(ATOMS)}")
        position = parser.pos
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        types = parse_types(parser)
        values = parser.resolve_operands(operands, types, position)
        if len(values) != 3:
            parser.raise_error("mma takes the accumulator, A and B", position)
        op = cls.of(atom, *values)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.atom.data} ")
        print_operands(printer, self.operands)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.operands])


@irdl_op_definition
class MmaOp(MatrixOp):
    """D = C + A · B on tensor cores: `tile.mma m16n8k16 %acc, %a, %b : vector<2x2x2xf32>, vector<2x2x2xf16>,
    vector<2x2x2xf16>`.

    The last dimensions of each vector are the fragment that one lane holds, in the register order of the instruction
    (`atoms.py`); the dimensions in front repeat it over a larger tile: A has rows of instructions, B columns, the
    accumulator both. Dimensions in front that A and B have and the accumulator has not, or with extent 1, are steps
    along K, whose products are added in order. Lanes are numbered over the kernel's lane axes.
    """

    name = "tile.mma"

    traits = traits_def(Pure())

    @property
    def instruction(self) -> Atom:
        return ATOMS[self.atom.data]

    @property
    def fragment_ranks(self) -> tuple[int, int, int]:
        """How many dimensions of the accumulator, of A and of B are the fragment."""
        a, b, c = self.instruction.registers
        ranks = [fragment_rank(shape_of(x.type), n) for x, n in zip(self.operands, (c, a, b), strict=True)]
        if None in ranks:
            raise VerifyException("the last dimensions of an operand are not the fragment of a lane")
        return ranks[0] or 0, ranks[1] or 0, ranks[2] or 0

    @property
    def leads(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The dimensions of the accumulator, of A and of B in front of the fragments, as many of each.

        Extents of 1 right in front of a fragment of the accumulator are the fragment's, where A and B have none.
        """
        shapes = [shape_of(x.type)[:-rank] for x, rank in zip(self.operands, self.fragment_ranks, strict=True)]
        c, a, b = shapes
        rank = max(len(a), len(b))
        if set(c[rank:]) <= {1}:
            c = c[:rank]
        c += (1,) * (rank - len(c))
        return c, a or (1,) * rank, b or (1,) * rank

    @property
    def instructions(self) -> int:
        """How many instructions a warp executes."""
        _, a, b = self.leads
        return prod(max(n, m) for n, m in zip(a, b, strict=True))

    @property
    def steps(self) -> list[int]:
        """The dimensions of `leads` that are steps along K."""
        c, a, _ = self.leads
        return [dimension for dimension, (n, m) in enumerate(zip(c, a, strict=True)) if n == 1 < m]

    def verify_(self) -> None:
        super().verify_()
        c, a, b = self.leads
        joint = broadcast_shape([a, b])
        if joint is None or len(c) != len(joint) or any(n not in (m, 1) for n, m in zip(c, joint, strict=True)):
            raise VerifyException(
                f"instructions repeat over {list(a)} in A and {list(b)} in B, but over {list(c)} in the accumulator"
            )
        if any(n == 1 and a[d] != b[d] for d, n in enumerate(c)):
            raise VerifyException(f"A has {list(a)} and B {list(b)}: where the accumulator has 1, both have one extent")


Tile = Dialect(
    "tile",
    [AxisOp, LeaveUnlessOp, ReadOp, WriteOp, StageOp, ReduceAcrossOp, ScanAcrossOp, TakeAcrossOp, MmaOp],
    [ScheduleAttr, SwizzleAttr],
)
