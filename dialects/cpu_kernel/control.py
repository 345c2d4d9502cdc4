"""The kernel, its tasks and its control flow."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr, SymbolNameConstraint, i64
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsolatedFromAbove,
    IsTerminator,
    NoTerminator,
    Pure,
    RecursiveMemoryEffect,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from ..branch import Branch
from ..layouts import span_of
from ..syntax import (
    number,
    parse_arguments,
    parse_attributes,
    parse_operands,
    parse_types,
    parse_untyped_argument,
    print_arguments,
    print_attributes,
    print_operands,
    print_types,
    print_untyped_argument,
)
from ..traversal import ops_inside
from ..types import byte_width, element_count, element_of, index, is_memref, is_value_type, shape_of
from .memory import AllocOp

VECTOR_BYTES = (16, 32, 64)
"""Bytes of the vector registers that there are: SSE and NEON, AVX2, AVX-512."""

LOCAL_BYTES = 1 << 20
"""Bytes that the arrays of one task may take: they are on its thread's stack."""


@irdl_op_definition
class KernelOp(IRDLOperation):
    """A kernel in what a CPU's compiler knows; everything is decided.

    `cpu_kernel.kernel @f(%out : memref<256xf32>, %x : memref<1024xf32>) outputs 1 tasks 32 grain 4 vector_bytes 64
    index_bits 32 { … }`

    arguments: flat buffers, the `outputs` first. No two overlap.
    tasks: how often the body runs, in any order and on any thread.
    grain: tasks that are worth a thread of their own.
    vector_bytes: the machine's vectors; no vector is wider.
    index_bits: the width of an `index` in a vector, 32 or 64; a scalar index has 64.
    """

    name = "cpu_kernel.kernel"

    sym_name = prop_def(SymbolNameConstraint())
    outputs = prop_def(IntegerAttr)
    tasks = prop_def(IntegerAttr)
    grain = prop_def(IntegerAttr)
    vector_bytes = prop_def(IntegerAttr)
    index_bits = prop_def(IntegerAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface(), NoTerminator())

    @staticmethod
    def of(
        name: str,
        body: Region,
        *,
        outputs: int,
        tasks: int,
        grain: int = 1,
        vector_bytes: int = 16,
        index_bits: int = 32,
    ) -> KernelOp:
        numbers = {
            "outputs": outputs,
            "tasks": tasks,
            "grain": grain,
            "vector_bytes": vector_bytes,
            "index_bits": index_bits,
        }
        properties: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        properties |= {key: number(value) for key, value in numbers.items()}
        return KernelOp.create(properties=properties, regions=[body])

    @property
    def local_bytes(self) -> int:
        """Bytes of its arrays, each from a multiple of the vectors' size."""
        unit = self.vector_bytes.value.data
        types = [op.result.type for op in ops_inside(self.body) if isinstance(op, AllocOp)]
        return sum(-(-span_of(type) * byte_width(type.element_type) // unit) * unit for type in types)

    def verify_(self) -> None:
        for argument in self.body.block.args:
            if not is_memref(argument.type) or len(argument.type.get_shape()) != 1:
                raise VerifyException(f"a kernel takes flat buffers, not {argument.type}")
        if not 0 <= self.outputs.value.data <= len(self.body.block.args):
            raise VerifyException("a kernel has no more outputs than arguments")
        if self.tasks.value.data < 0 or self.grain.value.data < 1:
            raise VerifyException("tasks is not negative, and grain is at least 1")
        if self.vector_bytes.value.data not in VECTOR_BYTES:
            raise VerifyException(f"vector_bytes is one of {', '.join(map(str, VECTOR_BYTES))}")
        if self.index_bits.value.data not in (32, 64):
            raise VerifyException("index_bits is 32 or 64")
        largest = max((element_count(shape_of(argument.type)) for argument in self.body.block.args), default=0)
        if self.index_bits.value.data == 32 and largest >= 2**31:
            raise VerifyException(f"a buffer of {largest} elements needs index_bits 64")
        if self.local_bytes > LOCAL_BYTES:
            raise VerifyException(f"{self.local_bytes} bytes of arrays: a task has room for {LOCAL_BYTES}")
        for op in ops_inside(self.body):
            for result in op.results:
                self._verify_width(result.type)

    def _verify_width(self, type: Attribute) -> None:
        shape = shape_of(type)
        if is_memref(type) or not shape:
            return
        element = element_of(type)
        bits = self.index_bits.value.data if element == index else 8 * byte_width(element)
        if len(shape) != 1 or shape[0] * bits > 8 * self.vector_bytes.value.data:
            raise VerifyException(f"{type} is no vector of at most {self.vector_bytes.value.data} bytes")

    @classmethod
    def parse(cls, parser: Parser) -> KernelOp:
        properties: dict[str, Attribute] = {"sym_name": parser.parse_symbol_name()}
        arguments = parse_arguments(parser)
        for keyword in _NUMBERS:
            parser.parse_keyword(keyword)
            properties[keyword] = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        attributes = parse_attributes(parser, keyword=True)
        return cls.create(properties=properties, attributes=attributes, regions=[parser.parse_region(arguments)])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        print_arguments(printer, self.body)
        for keyword in _NUMBERS:
            value = self.properties[keyword]
            assert isinstance(value, IntegerAttr)
            printer.print_string(f" {keyword} {value.value.data}")
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


_NUMBERS = ("outputs", "tasks", "grain", "vector_bytes", "index_bits")


@irdl_op_definition
class TaskIdOp(IRDLOperation):
    """The number of this task, 0, 1, …"""

    name = "cpu_kernel.task_id"

    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict"

    @staticmethod
    def of() -> TaskIdOp:
        return TaskIdOp.create(result_types=(index,))


@irdl_op_definition
class ForOp(IRDLOperation):
    """`%s = cpu_kernel.for %i = %start to %end step 64 unroll 4 carry (%acc = %init : vector<16xf32>) { …
    cpu_kernel.yield %new : vector<16xf32> }`

    The carried values begin as `inits`; a step yields those of the next, the last those of the results.
    unroll: steps that are written out as one; the compiler's choice where it is absent.
    """

    name = "cpu_kernel.for"

    start = operand_def(IndexType)
    end = operand_def(IndexType)
    inits = var_operand_def()
    step = prop_def(IntegerAttr)
    unroll = opt_prop_def(IntegerAttr)
    body = region_def("single_block")
    outputs = var_result_def()

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())

    @staticmethod
    def of(
        start: SSAValue, end: SSAValue, inits: Sequence[SSAValue] = (), step: int = 1, unroll: int | None = None
    ) -> ForOp:
        """The loop with an empty body."""
        properties: dict[str, Attribute] = {"step": number(step)}
        if unroll is not None:
            properties["unroll"] = number(unroll)
        types = [init.type for init in inits]
        return ForOp.create(
            operands=(start, end, *inits),
            result_types=types,
            properties=properties,
            regions=[Region(Block(arg_types=(index, *types)))],
        )

    @property
    def index(self) -> BlockArgument:
        return self.body.block.args[0]

    @property
    def carried(self) -> Sequence[BlockArgument]:
        return self.body.block.args[1:]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What a step gives to the next."""
        last = self.body.block.last_op
        return last.operands if isinstance(last, YieldOp) else ()

    def verify_(self) -> None:
        types = [init.type for init in self.inits]
        if [argument.type for argument in self.body.block.args] != [index, *types]:
            raise VerifyException("the body of a loop takes its index and what is carried")
        if [result.type for result in self.outputs] != types or [value.type for value in self.yielded] != types:
            raise VerifyException("a loop begins with, yields and gives values of the same types")
        if any(is_memref(type) or not is_value_type(type) for type in types):
            raise VerifyException("a loop carries scalars and vectors")
        if self.step.value.data < 1:
            raise VerifyException("a loop's step is positive")
        if self.unroll is not None and self.unroll.value.data < 1:
            raise VerifyException("unroll is positive")

    @classmethod
    def parse(cls, parser: Parser) -> ForOp:
        iv = parse_untyped_argument(parser)
        parser.parse_punctuation("=")
        start = parser.resolve_operand(parser.parse_unresolved_operand(), index)
        parser.parse_keyword("to")
        end = parser.resolve_operand(parser.parse_unresolved_operand(), index)
        parser.parse_keyword("step")
        properties: dict[str, Attribute] = {"step": IntegerAttr(parser.parse_integer(), i64)}
        if parser.parse_optional_keyword("unroll"):
            properties["unroll"] = IntegerAttr(parser.parse_integer(), i64)
        arguments: list[Parser.Argument] = [iv(index)]
        inits: list[SSAValue] = []

        def carried() -> None:
            argument = parse_untyped_argument(parser)
            parser.parse_punctuation("=")
            init = parser.parse_unresolved_operand()
            parser.parse_punctuation(":")
            type = parser.parse_type()
            arguments.append(argument(type))
            inits.append(parser.resolve_operand(init, type))

        if parser.parse_optional_keyword("carry"):
            parser.parse_comma_separated_list(parser.Delimiter.PAREN, carried)
        attributes = parse_attributes(parser, keyword=True)
        region = parser.parse_region(arguments)
        return cls.create(
            operands=(start, end, *inits),
            result_types=[init.type for init in inits],
            properties=properties,
            attributes=attributes,
            regions=[region],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_untyped_argument(printer, self.index)
        printer.print_string(" = ")
        printer.print_ssa_value(self.start)
        printer.print_string(" to ")
        printer.print_ssa_value(self.end)
        printer.print_string(f" step {self.step.value.data}")
        if self.unroll is not None:
            printer.print_string(f" unroll {self.unroll.value.data}")
        if self.inits:
            printer.print_string(" carry (")
            for place, (argument, init) in enumerate(zip(self.carried, self.inits, strict=True)):
                printer.print_string(", " if place else "")
                print_untyped_argument(printer, argument)
                printer.print_string(" = ")
                printer.print_ssa_value(init)
                printer.print_string(" : ")
                printer.print_attribute(init.type)
            printer.print_string(")")
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False, print_empty_block=False)


@irdl_op_definition
class IfOp(Branch):
    """`cpu_kernel.if %c { … } else { … }`; the second part may be absent."""

    name = "cpu_kernel.if"

    traits = traits_def(NoTerminator(), RecursiveMemoryEffect())


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The end of a step of a loop that carries values: what the next begins with."""

    name = "cpu_kernel.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), HasParent(ForOp))

    @classmethod
    def parse(cls, parser: Parser) -> YieldOp:
        position = parser.pos
        operands = parse_operands(parser)
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        values = parser.resolve_operands(operands, parse_types(parser), position)
        return cls.create(operands=values, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_operands(printer, self.values)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_types(printer, [value.type for value in self.values])
