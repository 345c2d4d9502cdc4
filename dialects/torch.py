"""torch: the exported PyTorch graph, one to one, without mutation. Nothing is decided here.

Sizes that are known when the program runs stand as `?` in the types, whose encoding says what they are made of:
`tensor<1x?x64xf32, #uop.extents<1, s0, 64>>`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, opt_prop_def, prop_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .symbols import ExtentAttr
from .syntax import parse_attributes, print_attributes, print_operands


@irdl_op_definition
class AtenOp(IRDLOperation):
    """One call of an ATen overload: `torch.aten "sum.dim_IntList"(%x) {dim = [1]} : (…) -> …`.

    overload: name without `aten.` and without `.default`. An operator of another library, as `torch.library` registers
      them, stands with its namespace: `library::name`.
    operands: its tensors, in schema order; a list of tensors stands as one operand after the other.
    arguments: its other arguments by schema name. In the place of a tensor argument that is a Python scalar stands the
      scalar; in the place of a list of tensors, their number, or, where some may be absent, which of them are there;
      in the place of an absent tensor in front of another, a unit. A number that sizes tell stands as `#uop.extent`.
    allow_tf32: whether a product of f32 may be computed from operands in TF32: PyTorch's setting for GPUs when it was
      captured.
    results: its tensors; None, which a backward op gives for a gradient that is not asked for, is left out.
    """

    name = "torch.aten"

    overload = prop_def(StringAttr)
    arguments = prop_def(DictionaryAttr)
    allow_tf32 = opt_prop_def(UnitAttr)
    tensors = var_operand_def(TensorType.constr())
    outputs = var_result_def(TensorType.constr())

    @property
    def called(self) -> str:
        """The operator as PyTorch calls it: `aten.add.Tensor`, or `library::name`."""
        return self.overload.data if "::" in self.overload.data else f"aten.{self.overload.data}"

    def verify_(self) -> None:
        if not self.overload.data:
            raise VerifyException("an ATen call names its overload")
        for name, argument in self.arguments.data.items():
            if not _is_argument(argument):
                raise VerifyException(
                    f"argument {name} is a number, a string, nothing, or a list or dictionary of those, not {argument}"
                )

    @classmethod
    def parse(cls, parser: Parser) -> AtenOp:
        overload = StringAttr(parser.parse_str_literal())
        position = parser.pos
        operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        properties: dict[str, Attribute] = {
            "overload": overload,
            "arguments": DictionaryAttr(parser.parse_optional_attr_dict()),
        }
        if parser.parse_optional_keyword("allow_tf32"):
            properties["allow_tf32"] = UnitAttr()
        attributes = parse_attributes(parser, keyword=True)
        parser.parse_punctuation(":")
        type = parser.parse_type()
        if not isinstance(type, FunctionType):
            parser.raise_error("expected types of operands and results: `(…) -> …`")
        return cls.create(
            operands=parser.resolve_operands(operands, type.inputs.data, position),
            result_types=type.outputs.data,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.overload)
        printer.print_string("(")
        print_operands(printer, self.operands)
        printer.print_string(")")
        if self.arguments.data:
            printer.print_string(" ")
            printer.print_attribute(self.arguments)
        if self.allow_tf32 is not None:
            printer.print_string(" allow_tf32")
        print_attributes(printer, self, keyword=True)
        printer.print_string(" : ")
        printer.print_function_type([x.type for x in self.operands], [x.type for x in self.results])


def _is_argument(attribute: Attribute) -> bool:
    if isa(attribute, ArrayAttr):
        return all(map(_is_argument, attribute.data))
    if isinstance(attribute, DictionaryAttr):
        return all(map(_is_argument, attribute.data.values()))
    return isinstance(attribute, IntegerAttr | FloatAttr | StringAttr | UnitAttr | ExtentAttr)


Torch = Dialect("torch", [AtenOp], [])
