"""The kernel, its ids, its control flow and its barriers."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    i64,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, Pure, RecursiveMemoryEffect, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..branch import Branch
from ..layouts import memory_space
from ..syntax import (
    integer_values,
    integers,
    number,
    parse_arguments,
    parse_attributes,
    parse_integers,
    parse_untyped_argument,
    print_arguments,
    print_attributes,
    print_integers,
    print_untyped_argument,
)
from ..traversal import ops_inside
from ..types import element_count, index, is_memref, shape_of
from .memory import AllocOp, AsyncCopyOp
from .target import ARCHITECTURES, DEFAULT_ARCHITECTURE
from .warp import MmaOp


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel in hardware primitives; everything is decided.

    `gpu_kernel.kernel @f(%out : memref<256xf32>, %x : memref<1024xf32>) outputs 1 grid [4, 1, 1] block 64 arch
    "sm_90" { … }`

    arguments: flat buffers, the `outputs` first.
    grid: blocks along x, y, z. block: threads. Both are the kernel's only launch.
    arch: what its instructions and sizes are checked against.
    index_bits: the width of `index` in this kernel, 32 or 64.
    min_blocks: blocks that a multiprocessor should hold, where the schedule asks for it.
    """

    name = "gpu_kernel.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    outputs = prop_def(IntegerAttr)
    grid = prop_def(DenseArrayBase.constr(i64))
    block = prop_def(IntegerAttr)
    arch = prop_def(StringAttr)
    index_bits = prop_def(IntegerAttr)
    min_blocks = opt_prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    @staticmethod
    def of(
        name: str,
        body: Region,
        *,
        outputs: int,
        grid: Sequence[int],
        block: int,
        arch: str = DEFAULT_ARCHITECTURE,
        index_bits: int = 32,
    ) -> KernelOp:
        return KernelOp.create(
            properties={
                "sym_name": StringAttr(name),
                "outputs": number(outputs),
                "grid": integers(grid),
                "block": number(block),
                "arch": StringAttr(arch),
                "index_bits": number(index_bits),
            },
            regions=[body],
        )

    @property
    def grid_shape(self) -> tuple[int, int, int]:
        return integer_values(self.grid)  # pyright: ignore[reportReturnType]

    @property
    def threads(self) -> int:
        return self.block.value.data

    @property
    def shared_arrays(self) -> list[AllocOp]:
        return [
            op
            for op in ops_inside(self.body)
            if op.__class__ is AllocOp and isinstance(op, AllocOp) and memory_space(op.result.type) == "shared"
        ]

    @property
    def shared_bytes(self) -> int:
        """Bytes of its shared arrays, each from a multiple of 16."""
        return sum(op.bytes for op in self.shared_arrays)

    @property
    def dynamic_shared_bytes(self) -> int:
        """Those of the array that is as large as the launch says."""
        return sum(op.bytes for op in self.shared_arrays if op.dynamic is not None)

    def verify_(self) -> None:
        arch = ARCHITECTURES.get(self.arch.data)
        if arch is None:
            raise VerifyException(f"{self.arch.data} is no known architecture: {', '.join(ARCHITECTURES)}")
        for argument in self.body.block.args:
            if not is_memref(argument.type) or len(argument.type.get_shape()) != 1:
                raise VerifyException(f"a kernel takes flat buffers, not {argument.type}")
        if not 0 <= self.outputs.value.data <= len(self.body.block.args):
            raise VerifyException("a kernel has no more outputs than arguments")
        if self.index_bits.value.data not in (32, 64):
            raise VerifyException("index_bits is 32 or 64")
        largest = max((element_count(shape_of(argument.type)) for argument in self.body.block.args), default=0)
        if self.index_bits.value.data == 32 and largest >= 2**31:
            raise VerifyException(f"a buffer of {largest} elements needs index_bits 64")
        if len(self.grid_shape) != 3 or any(n < 0 or n > m for n, m in zip(self.grid_shape, arch.grid, strict=True)):
            raise VerifyException(f"a grid of {list(self.grid_shape)} blocks is no launch of {arch.name}")
        if not 1 <= self.threads <= arch.threads:
            raise VerifyException(f"a block of {self.threads} threads: {arch.name} has at most {arch.threads}")
        most = arch.resident_blocks(self.threads)
        if self.min_blocks is not None and not 1 <= self.min_blocks.value.data <= most:
            raise VerifyException(
                f"min_blocks {self.min_blocks.value.data}: a multiprocessor of {arch.name} holds at most {most} blocks "
                f"of {self.threads} threads"
            )
        if sum(op.dynamic is not None for op in self.shared_arrays) > 1:
            raise VerifyException("a kernel has one dynamic array")
        static = self.shared_bytes - self.dynamic_shared_bytes
        if static > arch.static_shared_bytes:
            raise VerifyException(
                f"{static} bytes of shared arrays: a kernel declares at most {arch.static_shared_bytes}"
            )
        if self.shared_bytes > arch.shared_bytes:
            raise VerifyException(
                f"{self.shared_bytes} bytes of shared arrays: a block of {arch.name} has at most {arch.shared_bytes}"
            )
        for op in self.body.walk():
            if isinstance(op, MmaOp) and op.atom.data not in arch.atoms:
                raise VerifyException(f"{arch.name} has no {op.atom.data}")
            if isinstance(op, AsyncCopyOp) and op.bytes not in arch.async_copy_bytes:
                raise VerifyException(f"{arch.name} copies {arch.async_copy_bytes} bytes at a time, not {op.bytes}")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        def keyword_number(keyword: str) -> IntegerAttr:
            parser.parse_keyword(keyword)
            return IntegerAttr(parser.parse_integer(allow_boolean=False), i64)

        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        arguments = parse_arguments(parser)
        properties["outputs"] = keyword_number("outputs")
        parser.parse_keyword("grid")
        properties["grid"] = parse_integers(parser)
        properties["block"] = keyword_number("block")
        parser.parse_keyword("arch")
        properties["arch"] = StringAttr(parser.parse_str_literal())
        properties["index_bits"] = keyword_number("index_bits")
        if parser.parse_optional_keyword("min_blocks"):
            properties["min_blocks"] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        attributes = parse_attributes(parser, keyword=True)
        return cls.create(properties=properties, attributes=attributes, regions=[parser.parse_region(arguments)])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body)
        printer.print_string(f" outputs {self.outputs.value.data} grid ")
        print_integers(printer, self.grid_shape)
        printer.print_string(f" block {self.threads} arch ")
        printer.print_attribute(self.arch)
        printer.print_string(f" index_bits {self.index_bits.value.data}")
        if self.min_blocks is not None:
            printer.print_string(f" min_blocks {self.min_blocks.value.data}")
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class BlockIdOp(IRDLOperation):
    """This block's place in the grid along `x`, `y` or `z`."""

    name = "gpu_kernel.block_id"

    dimension = prop_def(StringAttr)
    result = result_def(IndexType)

    traits = traits_def(Pure())

    @staticmethod
    def of(dimension: str) -> BlockIdOp:
        return BlockIdOp.create(properties={"dimension": StringAttr(dimension)}, result_types=(index,))

    def verify_(self) -> None:
        if self.dimension.data not in ("x", "y", "z"):
            raise VerifyException("a grid has the dimensions x, y and z")

    @classmethod
    def parse(cls, parser: Parser) -> BlockIdOp:
        dimension = parser.parse_identifier()
        return cls.create(
            properties={"dimension": StringAttr(dimension)},
            result_types=(index,),
            attributes=parse_attributes(parser),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.dimension.data}")
        print_attributes(printer, self)


class _IdOp(IRDLOperation):
    result = result_def(IndexType)

    @classmethod
    def parse(cls, parser: Parser) -> _IdOp:
        return cls.create(result_types=(index,), attributes=parse_attributes(parser))

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)


@irdl_op_definition
class ThreadIdOp(_IdOp):
    """This thread's number in its block."""

    name = "gpu_kernel.thread_id"
    traits = traits_def(Pure())

    @staticmethod
    def of() -> ThreadIdOp:
        return ThreadIdOp.create(result_types=(index,))


@irdl_op_definition
class LaneIdOp(_IdOp):
    """This thread's number in its warp, 0 … 31."""

    name = "gpu_kernel.lane_id"
    traits = traits_def(Pure())

    @staticmethod
    def of() -> LaneIdOp:
        return LaneIdOp.create(result_types=(index,))


@irdl_op_definition
class ForOp(IRDLOperation):
    """`gpu_kernel.for %i = %start to 512 step 64 unroll { … }`: nothing is carried; state lives in register arrays.

    end: a number, or an index, `to %end`. step: a number.
    unroll: `unroll` writes all steps out, `unroll 4` four at a time, `unroll 1` none; the compiler's choice where it is
      absent.
    """

    name = "gpu_kernel.for"

    start = operand_def(IndexType)
    end_value = opt_operand_def(IndexType)
    end = opt_prop_def(IntegerAttr)
    step = prop_def(IntegerAttr)
    unroll = opt_prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def of(start: SSAValue, end: int | SSAValue, step: int = 1, unroll: int | None = None) -> ForOp:
        """The loop with an empty body; `unroll` 0 is all of it."""
        operands = (start,) if isinstance(end, int) else (start, end)
        properties: dict[str, Attribute] = {"step": number(step)}
        if isinstance(end, int):
            properties["end"] = number(end)
        if unroll is not None:
            properties["unroll"] = number(unroll)
        return ForOp.create(operands=operands, properties=properties, regions=[Region(Block(arg_types=(index,)))])

    @property
    def until(self) -> int | SSAValue:
        """What the index does not reach: a number, or an index."""
        if self.end_value is not None:
            return self.end_value
        assert self.end is not None
        return self.end.value.data

    @property
    def index(self) -> BlockArgument:
        return self.body.block.args[0]

    def verify_(self) -> None:
        if tuple(argument.type for argument in self.body.block.args) != (index,):
            raise VerifyException("the body of a loop takes its index")
        if self.step.value.data < 1:
            raise VerifyException("a loop's step is positive")
        if (self.end is None) is (self.end_value is None):
            raise VerifyException("a loop ends at a number or at an index")
        if self.unroll is not None and self.unroll.value.data < 0:
            raise VerifyException("unroll is not negative")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        iv = parse_untyped_argument(parser)
        parser.parse_punctuation("=")
        start = parser.resolve_operand(parser.parse_unresolved_operand(), index)
        parser.parse_keyword("to")
        operands = [start]
        properties: dict[str, Attribute] = {}
        if (end := parser.parse_optional_unresolved_operand()) is not None:
            operands.append(parser.resolve_operand(end, index))
        else:
            properties["end"] = IntegerAttr(parser.parse_integer(), i64)
        parser.parse_keyword("step")
        properties["step"] = IntegerAttr(parser.parse_integer(), i64)
        if parser.parse_optional_keyword("unroll"):
            properties["unroll"] = IntegerAttr(parser.parse_optional_integer() or 0, i64)
        attributes = parse_attributes(parser, keyword=True)
        region = parser.parse_region([iv(index)])
        return cls.create(operands=operands, properties=properties, attributes=attributes, regions=[region])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_untyped_argument(printer, self.index)
        printer.print_string(" = ")
        printer.print_ssa_value(self.start)
        printer.print_string(" to ")
        if isinstance(self.until, int):
            printer.print_int(self.until)
        else:
            printer.print_ssa_value(self.until)
        printer.print_string(f" step {self.step.value.data}")
        if self.unroll is not None:
            printer.print_string(f" unroll {self.unroll.value.data}" if self.unroll.value.data else " unroll")
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class IfOp(Branch):
    """`gpu_kernel.if %c { … } else { … }`; the second part may be absent."""

    name = "gpu_kernel.if"

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())


@irdl_op_definition
class BarrierOp(IRDLOperation):
    """Every thread of the block arrives before any goes on; writes to memory before it are seen after it."""

    name = "gpu_kernel.barrier"
    assembly_format = "attr-dict"


@irdl_op_definition
class WarpBarrierOp(IRDLOperation):
    """Every lane of the warp arrives before any goes on; writes to memory before it are seen by the warp after it."""

    name = "gpu_kernel.warp_barrier"
    assembly_format = "attr-dict"
