"""The tree of a kernel or a program: each result with what it is computed from below it, as Morok prints it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.utils.target import Target

from ..dialects.uop import KernelOp
from ..rewriting.diagnostics import PassError
from .printing import TextPrinter


@dataclass(frozen=True)
class UOpTreeTarget(Target):
    """Trees of numbered nodes; a node that several use is written once, then `→ (same as above)`."""

    name = "uop-tree"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write("\n".join(tree_text(op) for op in module.ops))


def tree_text(op: Operation) -> str:
    """The tree of a function, or of a kernel in tensor or range form. Raises `PassError` for any other op."""
    if not isinstance(op, FuncOp | KernelOp) or len(op.body.blocks) != 1:
        raise PassError(f"{op.name} has no tree", op, help="trees are of functions and of uop.kernel")
    for inner in op.body.block.ops:
        if inner.regions:
            raise PassError(
                f"{inner.name} holds ops of its own, which a tree does not show", inner, help="print the range form"
            )
    visits = list(_visits(op.body.block))
    numbers: dict[Operation, int] = {}
    for visit in visits:
        numbers.setdefault(visit.op, len(numbers))
    stream = StringIO()
    printer = _NodePrinter(stream, numbers)
    printer.print_string(f"{op.name} @{op.sym_name.data}(")
    printer.print_list(op.body.block.args, printer.print_block_argument)
    printer.print_string(")\n")
    for visit in visits:
        printer.print_string(f"{visit.head}[{numbers[visit.op]}] ")
        if visit.again:
            printer.print_string("→ (same as above)")
        else:
            printer.print_string(visit.op.name)
            visit.op.print(printer)
        printer.print_string("\n")
    return stream.getvalue()


@dataclass(frozen=True)
class _Visit:
    """A line of the tree. head: the branches in front of the node. again: the node stands further up."""

    op: Operation
    head: str
    again: bool


def _visits(block: Block) -> Iterator[_Visit]:
    """The lines of the trees below the ops whose results nothing in the block uses."""
    seen: set[Operation] = set()
    for root in block.ops:
        if any(result.uses for result in root.results):
            continue
        # Not by recursion: a graph may be deeper than Python's stack.
        stack = [(root, "", "")]
        while stack:
            op, head, indent = stack.pop()
            yield _Visit(op, head, op in seen)
            if op in seen:
                continue
            seen.add(op)
            below = _operands(op)
            for place, operand in reversed(list(enumerate(below, start=1))):
                last = place == len(below)
                stack.append((operand, indent + ("└── " if last else "├── "), indent + ("    " if last else "│   ")))


def _operands(op: Operation) -> Sequence[Operation]:
    """The ops that give an op's operands, each once; arguments of the kernel stand in the op's own line."""
    return list(dict.fromkeys(value.owner for value in op.operands if isinstance(value, OpResult)))


class _NodePrinter(TextPrinter):
    """Prints an op's own text, its operands as the numbers of their nodes."""

    def __init__(self, stream: IO[str], numbers: dict[Operation, int]) -> None:
        super().__init__(stream)
        self.numbers = numbers

    def print_ssa_value(self, value: SSAValue) -> str:
        if not isinstance(value, OpResult):
            return super().print_ssa_value(value)
        several = len(value.owner.results) > 1
        name = f"[{self.numbers[value.owner]}]" + (f"#{value.index}" if several else "")
        self.print_string(name)
        return name
