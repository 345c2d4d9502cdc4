"""The branch of the kernel dialects: two parts without results, the second of which may be absent."""

from typing import Self

from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, region_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .syntax import parse_attributes, print_attributes


class Branch(IRDLOperation):
    """Not an op: `…if %c { … } else { … }`."""

    condition = operand_def(i1)
    then = region_def("single_block")
    otherwise = region_def()

    @classmethod
    def of(cls, condition: SSAValue, otherwise: bool = False) -> Self:
        """The branch with empty parts."""
        second = Region(Block()) if otherwise else Region()
        return cls.create(operands=(condition,), regions=[Region(Block()), second])

    def verify_(self) -> None:
        if len(self.otherwise.blocks) > 1 or any(block.args for block in (*self.then.blocks, *self.otherwise.blocks)):
            raise VerifyException("a branch has one block without arguments in each part")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        condition = parser.resolve_operand(parser.parse_unresolved_operand(), i1)
        attributes = parse_attributes(parser, keyword=True)
        then = parser.parse_region()
        has_else = parser.parse_optional_keyword("else") is not None
        otherwise = parser.parse_region() if has_else else Region()
        for region in (then, otherwise) if has_else else (then,):
            if not region.blocks:  # how `{}` parses
                region.add_block(Block())
        return cls.create(operands=(condition,), attributes=attributes, regions=[then, otherwise])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.condition)
        print_attributes(printer, self, keyword=True)
        printer.print_string(" ")
        printer.print_region(self.then, print_empty_block=False)
        if self.otherwise.blocks:
            printer.print_string(" else ")
            printer.print_region(self.otherwise, print_empty_block=False)
