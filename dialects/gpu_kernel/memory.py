"""Memory of a kernel: arrays, loads and stores, asynchronous copies, atomics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, UnitAttr, VectorType, i1, i64
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
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from ..accesses import AccessTypes, MaskedLoad, MaskedWrite, parse_two_types, print_two_types, verify_access
from ..atoms import MATRIX_ROW_BYTES
from ..layouts import memory_space, span_of
from ..monoids import MonoidAttr
from ..syntax import (
    number,
    parse_access,
    parse_attributes,
    parse_mask,
    print_access,
    print_attributes,
    print_mask,
    segment_sizes,
)
from ..types import (
    byte_width,
    element_count,
    element_of,
    index,
    is_memref,
    is_value_type,
    is_vector,
    shape_of,
    type_name,
)
from ..uop.reduction import verify_monoid_operands
from .target import VECTOR_BYTES

GREATEST_OFFSET = 2**31 - 1
"""Bytes; what an instruction adds to an address is a signed number of 32 bits."""


@irdl_op_definition
class AllocOp(IRDLOperation):
    """An array of this thread's registers, or of the block's shared memory: `gpu_kernel.alloc : memref<2x2xf32,
    "register">`.

    dynamic: the launch says how large it is, as it must where a block has more shared memory than kernels declare.
    """

    name = "gpu_kernel.alloc"

    dynamic = opt_prop_def(UnitAttr)
    result = result_def(MemRefType.constr())

    assembly_format = "(`dynamic` $dynamic^)? attr-dict `:` type($result)"

    @staticmethod
    def of(type: MemRefType) -> AllocOp:
        return AllocOp.create(result_types=(type,))

    @property
    def bytes(self) -> int:
        """What it takes of shared memory: arrays begin at multiples of 16 bytes."""
        type = self.result.type
        assert is_memref(type)
        return -(-span_of(type) * byte_width(type.element_type) // 16) * 16

    def verify_(self) -> None:
        if self.dynamic is not None and memory_space(self.result.type) != "shared":
            raise VerifyException("only an array in shared memory is dynamic")
        if memory_space(self.result.type) not in ("register", "shared"):
            raise VerifyException('an array is in "register" or "shared"')
        if not is_value_type(self.result.type):
            raise VerifyException(f"{self.result.type} is no array of elements of uop")


def _verify_moved(buffer: Attribute, type: Attribute) -> None:
    """A scalar, or a vector of one dimension that one instruction moves, of the buffer's element type."""
    if element_of(type) != element_of(buffer):
        raise VerifyException(f"a buffer of {element_of(buffer)} does not hold {type}")
    shape = shape_of(type)
    if not shape:
        return
    size = byte_width(element_of(type)) * shape[0]
    if len(shape) != 1 or (memory_space(buffer) != "register" and size not in VECTOR_BYTES):
        raise VerifyException(f"{type} is not moved by one instruction: it takes 2, 4, 8 or 16 bytes")


@irdl_op_definition
class LoadOp(MaskedLoad):
    """Load a scalar or a vector: `gpu_kernel.load %x[%i] mask %ok : memref<1024xf32> -> vector<4xf32>`; 0 where the
    mask is false.

    indices: one for each dimension of the buffer. A vector begins there and goes along the last dimension.
    """

    name = "gpu_kernel.load"

    traits = traits_def(MemoryReadEffect())

    def verify_moved(self, type: Attribute) -> None:
        _verify_moved(self.buffer.type, type)

    @classmethod
    def parse_types(cls, parser: Parser) -> AccessTypes:
        return AccessTypes(*parse_two_types(parser))

    def print_types(self, printer: Printer) -> None:
        print_two_types(printer, self.buffer.type, self.result.type)


class _Write(MaskedWrite):
    """Not an op: the text `gpu_kernel.store %v, %out[%i] mask %ok : vector<4xf32> -> memref<1024xf32>`."""

    @classmethod
    def parse_types(cls, parser: Parser) -> AccessTypes:
        value, buffer = parse_two_types(parser)
        return AccessTypes(buffer, value)

    def print_types(self, printer: Printer) -> None:
        print_two_types(printer, self.value.type, self.buffer.type)


@irdl_op_definition
class StoreOp(_Write):
    """Store a scalar or a vector: `gpu_kernel.store %v, %out[%i] mask %ok : vector<4xf32> -> memref<1024xf32>`."""

    name = "gpu_kernel.store"

    traits = traits_def(MemoryWriteEffect())

    @staticmethod
    def of(value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None) -> StoreOp:
        return StoreOp.write(value, buffer, indices, mask)

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        _verify_moved(self.buffer.type, self.value.type)


@irdl_op_definition
class AtomicOp(_Write):
    """Combine a scalar into memory in one step: `gpu_kernel.atomic add %v, %out[%i] mask %ok : f32 ->
    memref<16xf32>`."""

    name = "gpu_kernel.atomic"

    DEFINED: ClassVar = {
        "add": ("f64", "f32", "f16", "bf16", "i32", "i64"),
        "max": ("i32", "i64"),
        "min": ("i32", "i64"),
        "and": ("i32", "i64"),
        "or": ("i32", "i64"),
    }

    monoid = prop_def(MonoidAttr)

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @staticmethod
    def of(
        monoid: str, value: SSAValue, buffer: SSAValue, indices: Sequence[SSAValue], mask: SSAValue | None = None
    ) -> AtomicOp:
        return AtomicOp.write(value, buffer, indices, mask, {"monoid": MonoidAttr(monoid)})

    def verify_(self) -> None:
        verify_access(self, self.buffer, self.indices)
        verify_monoid_operands(self, self.monoid, [self.value])
        if type_name(element_of(self.value.type)) not in self.DEFINED.get(self.monoid.data, ()):
            raise VerifyException(f"the hardware has no atomic {self.monoid.data} of {self.value.type}")
        if memory_space(self.buffer.type) == "register":
            raise VerifyException("registers are private: nothing in them needs an atomic")
        if self.value.type != element_of(self.buffer.type):
            raise VerifyException(f"a buffer of {element_of(self.buffer.type)} does not hold {self.value.type}")

    @classmethod
    def parse_operator(cls, parser: Parser) -> Mapping[str, Attribute]:
        return {"monoid": MonoidAttr.parse_keyword(parser)}

    def print_operator(self, printer: Printer) -> None:
        printer.print_string(f" {self.monoid.data}")


def _verify_offset(offset: IntegerAttr, buffer: Attribute, width: int) -> None:
    """A number of elements of a buffer, in whole pieces of `width`, that an instruction can add to an address."""
    elements = offset.value.data
    if elements % width:
        raise VerifyException(f"an offset of {elements} elements is no multiple of the {width} that are moved")
    if abs(elements) * byte_width(element_of(buffer)) > GREATEST_OFFSET:
        raise VerifyException(f"an offset of {elements} elements does not fit the 32 bits that an instruction adds")


def _parse_offset(parser: Parser) -> int:
    return parser.parse_integer() if parser.parse_optional_keyword("offset") else 0


def _print_offset(printer: Printer, offset: IntegerAttr) -> None:
    if offset.value.data:
        printer.print_string(f" offset {offset.value.data}")


@irdl_op_definition
class AsyncCopyOp(IRDLOperation):
    """Copy to shared memory without waiting (cp.async), zeros where the mask is false:
    `gpu_kernel.async_copy %x[%i] offset 64 to %x_s[%j] offset 32 width 4 count %n mask %ok : memref<1024xf32> to
    memref<1152xf32, "shared">`.

    width: elements; 4, 8 or 16 bytes. Both places are multiples of that many bytes.
    count: how many of them, from 0 to `width` where the mask is true, are copied; the others are 0. By itself all.
    source_offset, target_offset: elements from the index to the place, by itself 0, that the instruction adds: several
    copies take their places from one register.
    """

    name = "gpu_kernel.async_copy"

    width = prop_def(IntegerAttr)
    source = operand_def(MemRefType.constr())
    source_index = operand_def(IndexType)
    source_offset = prop_def(IntegerAttr)
    target = operand_def(MemRefType.constr())
    target_index = operand_def(IndexType)
    target_offset = prop_def(IntegerAttr)
    count = opt_operand_def(IndexType)
    mask = opt_operand_def(i1)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def of(
        source: SSAValue,
        source_index: SSAValue,
        target: SSAValue,
        target_index: SSAValue,
        width: int = 1,
        mask: SSAValue | None = None,
        *,
        count: SSAValue | None = None,
        source_offset: int = 0,
        target_offset: int = 0,
    ) -> AsyncCopyOp:
        counts, masks = (() if value is None else (value,) for value in (count, mask))
        return AsyncCopyOp.create(
            operands=(source, source_index, target, target_index, *counts, *masks),
            properties={
                "width": number(width),
                "source_offset": number(source_offset),
                "target_offset": number(target_offset),
                "operandSegmentSizes": segment_sizes(1, 1, 1, 1, len(counts), len(masks)),
            },
        )

    @property
    def bytes(self) -> int:
        return self.width.value.data * byte_width(element_of(self.source.type))

    def verify_(self) -> None:
        source, target = self.source.type, self.target.type
        if memory_space(source) != "global" or memory_space(target) != "shared":
            raise VerifyException('an asynchronous copy goes from a plain memref to one in "shared"')
        if element_of(source) != element_of(target) or len(shape_of(source)) != 1 or len(shape_of(target)) != 1:
            raise VerifyException("an asynchronous copy goes between flat buffers of one element type")
        if self.bytes not in (4, 8, 16):
            raise VerifyException(f"an asynchronous copy moves 4, 8 or 16 bytes, not {self.bytes}")
        for offset, buffer in ((self.source_offset, source), (self.target_offset, target)):
            _verify_offset(offset, buffer, self.width.value.data)

    @classmethod
    def parse(cls, parser: Parser) -> AsyncCopyOp:
        source, (source_index,) = parse_access(parser)
        source_offset = _parse_offset(parser)
        parser.parse_keyword("to")
        target, (target_index,) = parse_access(parser)
        target_offset = _parse_offset(parser)
        parser.parse_keyword("width")
        width = parser.parse_integer()
        count = parser.parse_unresolved_operand() if parser.parse_optional_keyword("count") else None
        mask = parse_mask(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        source_type = parser.parse_type()
        parser.parse_keyword("to")
        target_type = parser.parse_type()
        op = cls.of(
            parser.resolve_operand(source, source_type),
            parser.resolve_operand(source_index, index),
            parser.resolve_operand(target, target_type),
            parser.resolve_operand(target_index, index),
            width,
            None if mask is None else parser.resolve_operand(mask, i1),
            count=None if count is None else parser.resolve_operand(count, index),
            source_offset=source_offset,
            target_offset=target_offset,
        )
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.source, [self.source_index])
        _print_offset(printer, self.source_offset)
        printer.print_string(" to ")
        print_access(printer, self.target, [self.target_index])
        _print_offset(printer, self.target_offset)
        printer.print_string(f" width {self.width.value.data}")
        if self.count is not None:
            printer.print_string(" count ")
            printer.print_ssa_value(self.count)
        print_mask(printer, self.mask)
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.source.type)
        printer.print_string(" to ")
        printer.print_attribute(self.target.type)


@irdl_op_definition
class AsyncCommitOp(IRDLOperation):
    """Close the group of this thread's asynchronous copies so far."""

    name = "gpu_kernel.async_commit"
    assembly_format = "attr-dict"


@irdl_op_definition
class AsyncWaitOp(IRDLOperation):
    """Wait until at most `pending` of this thread's groups are under way. Other threads see the data after a
    barrier."""

    name = "gpu_kernel.async_wait"

    pending = prop_def(IntegerAttr.constr(i64))
    assembly_format = "$pending attr-dict"

    @staticmethod
    def of(pending: int) -> AsyncWaitOp:
        return AsyncWaitOp.create(properties={"pending": number(pending)})

    def verify_(self) -> None:
        if self.pending.value.data < 0:
            raise VerifyException("pending is not negative")


@irdl_op_definition
class LdmatrixOp(IRDLOperation):
    """Load matrices of 8 rows of 16 bytes as matrix fragments: `gpu_kernel.ldmatrix %s[%i] offset 512 trans :
    memref<…xf16, "shared"> -> vector<8xf16>`.

    The place of lane `l` is the first element of row `l mod 8` of matrix `l ÷ 8`. A lane receives 4 bytes, two elements
    of 16 bits or one of 32, of each of 1, 2 or 4 matrices. trans: each matrix, of elements of 16 bits, is transposed.
    offset: elements from the index to the place, by itself 0, that the instruction adds: several instructions take
      their places from one register.
    """

    name = "gpu_kernel.ldmatrix"

    buffer = operand_def(MemRefType.constr())
    start = operand_def(IndexType)
    offset = prop_def(IntegerAttr)
    transposed = opt_prop_def(UnitAttr, prop_name="trans")
    result = result_def(VectorType.constr())

    traits = traits_def(MemoryReadEffect())

    @staticmethod
    def of(
        buffer: SSAValue, start: SSAValue, type: VectorType, transposed: bool = False, offset: int = 0
    ) -> LdmatrixOp:
        properties: dict[str, Attribute] = {"offset": number(offset)}
        if transposed:
            properties["trans"] = UnitAttr()
        return LdmatrixOp.create(operands=(buffer, start), result_types=(type,), properties=properties)

    @property
    def matrices(self) -> int:
        return element_count(shape_of(self.result.type)) * byte_width(element_of(self.result.type)) // 4

    @property
    def row(self) -> int:
        """Elements of a row of a matrix."""
        return MATRIX_ROW_BYTES // byte_width(element_of(self.buffer.type))

    def verify_(self) -> None:
        buffer, type = self.buffer.type, self.result.type
        if memory_space(buffer) != "shared" or len(shape_of(buffer)) != 1:
            raise VerifyException('ldmatrix reads a flat buffer in "shared"')
        width = byte_width(element_of(type))
        if element_of(type) != element_of(buffer) or width not in (2, 4):
            raise VerifyException("ldmatrix loads elements of 16 or 32 bits of its buffer")
        if self.transposed is not None and width != 2:
            raise VerifyException("ldmatrix transposes elements of 16 bits")
        if self.matrices not in (1, 2, 4) or 4 * self.matrices != width * element_count(shape_of(type)):
            raise VerifyException(f"a lane receives 4, 8 or 16 bytes, not {type}")
        _verify_offset(self.offset, buffer, self.row)

    @classmethod
    def parse(cls, parser: Parser) -> LdmatrixOp:
        buffer, (start,) = parse_access(parser)
        offset = _parse_offset(parser)
        transposed = parser.parse_optional_keyword("trans") is not None
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        parser.parse_punctuation("->")
        result = parser.parse_type()
        if not is_vector(result):
            parser.raise_error("expected a vector")
        operands = parser.resolve_operand(buffer, type), parser.resolve_operand(start, index)
        op = cls.of(*operands, result, transposed, offset)
        op.attributes.update(attributes)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.buffer, [self.start])
        _print_offset(printer, self.offset)
        if self.transposed is not None:
            printer.print_string(" trans")
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.buffer.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)
