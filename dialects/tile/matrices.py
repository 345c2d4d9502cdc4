"""Matrix products of register tiles on tensor cores."""

from __future__ import annotations

from math import prod
from typing import Self

from xdsl.dialects.builtin import StringAttr, VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..atoms import ATOMS, Atom, fragment_rank
from ..syntax import (
    parse_attributes,
    parse_operands,
    parse_types,
    print_attributes,
    print_operands,
    print_types,
)
from ..types import (
    broadcast_shape,
    element_count,
    element_of,
    shape_of,
)


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
