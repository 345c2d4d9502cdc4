"""The printer of IR text: xDSL's, except where what that prints does not read back as what it was."""

import io
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, NoneAttr, UnknownLoc
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.printer import Printer
from xdsl.targets.mlir import MLIRTarget

from ..dialects.types import is_tensor

_NUMBERS = re.compile(r"(_\d+)+$")
_ESCAPED = re.compile(r'[\x00-\x1f"\\\x7f]')


class TextPrinter(Printer):
    """Prints IR so that parsing the text and printing it again gives the same text.

    - Names: xDSL drops one number from the end of a name when it parses it (`%x_1_2` becomes the hint `x_1`), so a
      hint may look like a name that it makes up, and two values get one name. Here all numbers are dropped.
    - Strings: xDSL escapes letters that are not ASCII and reads the result as bytes. Here they stand as they are.
      (Beside a quote, a backslash or a control character, which need an escape, xDSL still reads bytes.)
    - Locations, with `print_debuginfo`: where `unknown_locations` is false, `loc(unknown)` is left out, since an op
      without a location has just that.
    """

    def __init__(
        self,
        stream: IO[str] | None = None,
        *,
        print_generic_format: bool = False,
        print_properties_as_attributes: bool = False,
        print_debuginfo: bool = False,
        unknown_locations: bool = True,
    ) -> None:
        super().__init__(stream, print_generic_format, print_properties_as_attributes, print_debuginfo)
        self.only_known = print_debuginfo and not unknown_locations

    def print_ssa_value(self, value: SSAValue) -> str:
        if value not in self._ssa_values and value.name_hint:
            self._ssa_values[value] = self._new_name(_NUMBERS.sub("", value.name_hint))
        return super().print_ssa_value(value)

    def _new_name(self, hint: str) -> str:
        if not hint or not hint.isascii():  # the parser takes ASCII names alone
            return self._get_new_valid_name_id()
        count = self.ssa_names.get(hint, 0)
        self.ssa_names[hint] = count + 1
        return f"{hint}_{count}" if count else hint

    def print_attribute(self, attribute: Attribute) -> None:
        # A program has few types of tensors, which stand in every line of it. (Those with an encoding may hold numbers
        # that are equal and have different texts.)
        if is_tensor(attribute) and isinstance(attribute.encoding, NoneAttr):
            self.print_string(_tensor_text(attribute))
        else:
            super().print_attribute(attribute)

    def print_string_literal(self, string: str) -> None:
        self.print_string(f'"{_ESCAPED.sub(_escape, string)}"')

    # xDSL looks at `print_debuginfo` where it prints a location, so that is where it is switched off.

    def print_op(self, op: Operation) -> None:
        if not self.only_known:
            super().print_op(op)
            return
        outer, self.print_debuginfo = self.print_debuginfo, _has_location(op)
        super().print_op(op)
        self.print_debuginfo = outer

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        if not self.only_known:
            super().print_block_argument(arg, print_type)
            return
        outer, self.print_debuginfo = self.print_debuginfo, not isinstance(arg.location, UnknownLoc)
        super().print_block_argument(arg, print_type)
        self.print_debuginfo = outer


def _has_location(op: Operation) -> bool:
    """Whether an op, or an argument that its header shows, has a location."""
    arguments = (argument for region in op.regions for block in region.blocks for argument in block.args)
    return any(not isinstance(x.location, UnknownLoc) for x in (op, *arguments))


@lru_cache(maxsize=4096)
def _tensor_text(type: Attribute) -> str:
    stream = io.StringIO()
    Printer(stream).print_attribute(type)
    return stream.getvalue()


def _escape(character: re.Match[str]) -> str:
    return "\\\\" if character[0] == "\\" else f"\\{ord(character[0]):02X}"


@dataclass(frozen=True)
class TextTarget(MLIRTarget):
    """xDSL's target `mlir`, the text of the IR, with this printer."""

    name = "mlir"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        printer = (_highlighting_printer() if self.syntax_highlight else TextPrinter)(
            output,
            print_generic_format=self.print_generic_format,
            print_properties_as_attributes=self.print_properties_as_attributes,
            print_debuginfo=self.print_debuginfo,
        )
        printer.print_op(module)
        printer.print_metadata(ctx.loaded_dialects)
        output.write("\n")


def _highlighting_printer() -> type[TextPrinter]:
    from xdsl.syntax_printer import SyntaxPrinter

    class HighlightingPrinter(TextPrinter, SyntaxPrinter):
        """With colours."""

    return HighlightingPrinter
