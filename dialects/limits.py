"""Limits of ranges and loops: `from %lo to %hi`, the positions outside of which nothing has to be computed."""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, opt_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer

from .types import index


class Limits(NamedTuple):
    """The positions that count: those in [lower, upper), clipped to the extent; None where that side has no limit.

    What is outside contributes the identity of what combines it, or is read by nobody. So a limit may be dropped, and
    more positions may be visited than it says: no result changes.
    """

    lower: SSAValue | None = None
    upper: SSAValue | None = None

    @property
    def values(self) -> tuple[SSAValue, ...]:
        """Those that there are, as operands."""
        return tuple(value for value in self if value is not None)

    @property
    def sizes(self) -> tuple[int, int]:
        """Their part of `operandSegmentSizes`."""
        return int(self.lower is not None), int(self.upper is not None)


UNLIMITED = Limits()


class Limited(IRDLOperation):
    """Not an op: what ranges and loops share that may have limits."""

    lower = opt_operand_def(IndexType)
    upper = opt_operand_def(IndexType)

    @property
    def limits(self) -> Limits:
        return Limits(self.lower, self.upper) if self.operands else UNLIMITED


def parse_limits(parser: Parser) -> Limits:
    """` from %lo to %hi`, either of which may be absent."""

    def limit(keyword: str) -> SSAValue | None:
        if not parser.parse_optional_keyword(keyword):
            return None
        value: UnresolvedOperand = parser.parse_unresolved_operand()
        return parser.resolve_operand(value, index)

    return Limits(limit("from"), limit("to"))


def print_limits(printer: Printer, limits: Limits) -> None:
    for keyword, value in zip(("from", "to"), limits, strict=True):
        if value is not None:
            printer.print_string(f" {keyword} ")
            printer.print_ssa_value(value)
