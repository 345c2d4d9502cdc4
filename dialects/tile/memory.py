"""Register tiles read from and written to buffers, and boxes of buffers staged in shared memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..accesses import AccessTypes, MaskedRead, MaskedWrite, parse_two_types, print_two_types, verify_access
from ..layouts import memory_space
from ..syntax import (
    number,
    parse_access,
    parse_attributes,
    parse_paren_types,
    print_access,
    print_attributes,
    print_paren_types,
    segment_sizes,
)
from ..types import (
    broadcast_shape,
    byte_width,
    element_of,
    index,
    is_float,
    is_memref,
    shape_of,
    with_element,
)


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


def _parse_vector(parser: Parser) -> dict[str, Attribute]:
    """`vector 4 along 0`, as properties."""
    if not parser.parse_optional_keyword("vector"):
        return {}
    width = parser.parse_integer()
    return _vector_properties(width, parser.parse_integer() if parser.parse_optional_keyword("along") else None)


def _print_vector(printer: Printer, op: ReadOp | WriteOp) -> None:
    if op.vector is not None:
        printer.print_string(f" vector {op.vector.value.data}")
    if op.along is not None:
        printer.print_string(f" along {op.along.value.data}")


def _vector_properties(vector: int | None, along: int | None) -> dict[str, Attribute]:
    given = {"vector": vector, "along": along}
    return {name: number(value) for name, value in given.items() if value is not None}


@irdl_op_definition
class ReadOp(MaskedRead):
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
        properties = _vector_properties(vector, along)
        if ldmatrix:
            properties["ldmatrix"] = UnitAttr()
        if transposed:
            properties["trans"] = UnitAttr()
        return ReadOp.read(buffer, indices, mask, type, properties)

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
    def parse_options(cls, parser: Parser) -> Mapping[str, Attribute]:
        properties = _parse_vector(parser)
        for name in ("ldmatrix", "trans"):
            if parser.parse_optional_keyword(name):
                properties[name] = UnitAttr()
        return properties

    def print_options(self, printer: Printer) -> None:
        _print_vector(printer, self)
        if self.ldmatrix is not None:
            printer.print_string(" ldmatrix")
        if self.transposed is not None:
            printer.print_string(" trans")

    @classmethod
    def parse_types(cls, parser: Parser) -> AccessTypes:
        buffer = parser.parse_type()
        indices = parse_paren_types(parser)
        parser.parse_punctuation("->")
        result = parser.parse_type()
        return AccessTypes(buffer, result, indices, with_element(result, i1))

    def print_types(self, printer: Printer) -> None:
        printer.print_attribute(self.buffer.type)
        print_paren_types(printer, [i.type for i in self.indices])
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class WriteOp(MaskedWrite):
    """Write a register tile: `tile.write %v, %out[%i, %j] mask %ok : vector<2x2xf32> -> memref<…>(vector<2x1xindex>,
    …)`.

    As `tile.read`; nothing is written where the mask is false. The indices' shapes broadcast to that of the value.
    In a slab, a thread writes where no other thread has read since it was staged, and reads behind the write see what
    all threads of the block have written.
    """

    name = "tile.write"

    value = operand_def()
    buffer = operand_def(MemRefType.constr())
    indices = var_operand_def()
    mask = opt_operand_def()
    vector = opt_prop_def(IntegerAttr)
    along = opt_prop_def(IntegerAttr)

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
        return WriteOp.write(value, buffer, indices, mask, _vector_properties(vector, along))

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
    def parse_options(cls, parser: Parser) -> Mapping[str, Attribute]:
        return _parse_vector(parser)

    def print_options(self, printer: Printer) -> None:
        _print_vector(printer, self)

    @classmethod
    def parse_types(cls, parser: Parser) -> AccessTypes:
        value, buffer = parse_two_types(parser)
        indices = parse_paren_types(parser)
        return AccessTypes(buffer, value, indices, with_element(value, i1))

    def print_types(self, printer: Printer) -> None:
        print_two_types(printer, self.value.type, self.buffer.type)
        print_paren_types(printer, [i.type for i in self.indices])


def _is_wider(element: Attribute, than: Attribute) -> bool:
    """Whether both are floats and `element` holds all numbers of the other."""
    return is_float(element) and is_float(than) and byte_width(element) > byte_width(than)


@irdl_op_definition
class StageOp(IRDLOperation):
    """The block copies the box of a buffer at an origin into shared memory; elements outside the buffer are 0.

    `%s = tile.stage %x[%i, %k] to %n along 1 buffers 2 async : memref<16x64xf32> -> memref<16x32xf32,
    strided<[36, 1]>, "shared">`. The result's shape is the box, its layout where the elements lie (padding, swizzle),
    its elements those of the buffer, or floats of more bits, to which the copy converts them.
    limit: where along the dimension `along` the buffer ends for this copy, from 0 to its extent: what lies at or behind
    it is 0, too, whatever the buffer has there.
    buffers: slabs that exist at once; with 2, the loop around copies the next slab while this one is used.
    async: the copy is asynchronous (cp.async).
    """

    name = "tile.stage"

    buffer = operand_def(MemRefType.constr())
    origin = var_operand_def(IndexType)
    limit = opt_operand_def(IndexType)
    along = opt_prop_def(IntegerAttr)
    buffers = prop_def(IntegerAttr)
    asynchronous = opt_prop_def(UnitAttr, prop_name="async")
    result = result_def(MemRefType.constr())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def of(
        buffer: SSAValue,
        origin: Sequence[SSAValue],
        type: MemRefType,
        buffers: int = 1,
        asynchronous: bool = False,
        limit: tuple[int, SSAValue] | None = None,
    ) -> StageOp:
        """limit: the dimension, and where the buffer ends along it."""
        limits = () if limit is None else limit[1:]
        properties: dict[str, Attribute] = {
            "buffers": number(buffers),
            "operandSegmentSizes": segment_sizes(1, len(origin), len(limits)),
        }
        if limit is not None:
            properties["along"] = number(limit[0])
        if asynchronous:
            properties["async"] = UnitAttr()
        return StageOp.create(operands=(buffer, *origin, *limits), result_types=(type,), properties=properties)

    def limit_along(self, dimension: int) -> SSAValue | None:
        """Where the buffer ends along a dimension, if that is not its extent."""
        return self.limit if self.along is not None and self.along.value.data == dimension else None

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
        if (self.limit is None) != (self.along is None):
            raise VerifyException("a limit is along a dimension: `to %n along 0`")
        if self.along is not None and not 0 <= self.along.value.data < len(slab.get_shape()):
            raise VerifyException(f"a slab of {len(slab.get_shape())} dimensions has none of {self.along.value.data}")

    @classmethod
    def parse(cls, parser: Parser) -> StageOp:
        position = parser.pos
        buffer, origin = parse_access(parser)
        limit = None
        if parser.parse_optional_keyword("to"):
            end = parser.resolve_operand(parser.parse_unresolved_operand(), index)
            parser.parse_keyword("along")
            limit = parser.parse_integer(), end
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
            limit,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, self.origin)
        if self.limit is not None and self.along is not None:
            printer.print_string(" to ")
            printer.print_ssa_value(self.limit)
            printer.print_string(f" along {self.along.value.data}")
        printer.print_string(f" buffers {self.buffers.value.data}")
        if self.asynchronous is not None:
            printer.print_string(" async")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
