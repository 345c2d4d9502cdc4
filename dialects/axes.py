"""Axes: what a loop, a factor of a schedule or a register dimension goes over, and how it is carried out."""

import re

from xdsl.dialects.builtin import IntAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum


class AxisKind(StrEnum):
    """How the steps of an axis are carried out."""

    PARALLEL = "parallel"
    """Undecided: in any order (loop level, before a schedule)."""
    LOOP = "loop"
    """One after the other."""
    BLOCK = "block"
    """One thread block each; a task of the pool on a CPU."""
    WARP = "warp"
    """One warp of the block each."""
    THREAD = "thread"
    """One thread of the block each."""
    LANE = "lane"
    """One lane of the warp each."""
    REGISTER = "register"
    """Held at once by one thread: a dimension of its register tile; SIMD lanes on a CPU."""
    UNROLL = "unroll"
    """One after the other, written out."""
    MMA = "mma"
    """Spread over a warp as a matrix instruction wants it."""


WARP = 32
"""Lanes of a warp, on every architecture."""

THREAD_KINDS = (AxisKind.WARP, AxisKind.THREAD, AxisKind.LANE)
"""Kinds whose steps are threads of one block."""

SERIAL_KINDS = (AxisKind.LOOP, AxisKind.UNROLL)
"""Kinds whose steps one thread takes in order."""

_KEYWORDS = tuple(kind.value for kind in AxisKind)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$.]*")


def verify_axis_name(name: str) -> None:
    """An axis's name stands bare in the text."""
    if _NAME.fullmatch(name) is None:
        raise VerifyException(
            f"{name!r} is no name of an axis: it is letters, digits, `_`, `$` and `.`, no digit first"
        )


def parse_axis_kind(parser: AttrParser) -> AxisKind:
    # Only the known words: a free identifier would swallow a `loc` that follows.
    kind = parser.parse_optional_keyword_in(_KEYWORDS)
    if kind is None:
        parser.raise_error(f"expected an axis kind: {', '.join(_KEYWORDS)}")
    return AxisKind(kind)


@irdl_attr_definition
class AxisAttr(ParametrizedAttribute):
    """`i = 64 parallel`: an axis's name, its extent, and its kind where one is chosen.

    Several loops may carry one name: they walk the same logical axis and get the same binding from a schedule.
    """

    name = "uop.axis"

    axis: StringAttr
    extent: IntAttr
    kind: StringAttr | NoneAttr

    def __init__(self, axis: str, extent: int, kind: AxisKind | None = None):
        super().__init__(StringAttr(axis), IntAttr(extent), NoneAttr() if kind is None else StringAttr(kind.value))

    @property
    def axis_kind(self) -> AxisKind | None:
        return AxisKind(self.kind.data) if isinstance(self.kind, StringAttr) else None

    def verify(self) -> None:
        verify_axis_name(self.axis.data)
        if self.extent.data < 0:
            raise VerifyException(f"axis {self.axis.data} has a negative extent, {self.extent.data}")
        if isinstance(self.kind, StringAttr) and self.kind.data not in _KEYWORDS:
            raise VerifyException(f"{self.kind.data} is no axis kind: {', '.join(_KEYWORDS)}")

    @classmethod
    def parse_body(cls, parser: AttrParser) -> "AxisAttr":
        """`name = extent [kind]`, without brackets: the form in which ops show an axis."""
        axis = parser.parse_identifier()
        parser.parse_punctuation("=")
        extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
        kind = parser.parse_optional_keyword_in(_KEYWORDS)
        return AxisAttr(axis, extent, None if kind is None else AxisKind(kind))

    def print_body(self, printer: Printer) -> None:
        printer.print_string(f"{self.axis.data} = {self.extent.data}")
        if isinstance(self.kind, StringAttr):
            printer.print_string(f" {self.kind.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            axis = cls.parse_body(parser)
        return [axis.axis, axis.extent, axis.kind]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            self.print_body(printer)
