"""What the printers of C-like text share: lines and where they come from, names, literals."""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..dialects.branch import Branch
from ..dialects.uop import AluOp, KernelOp
from ..rewriting.diagnostics import PassError
from ..rewriting.locations import source_lines

OpT = TypeVar("OpT", bound=Operation)

COMMENT_COLUMN = 64
"""Where the comments that name source lines begin, when the code leaves room."""


def lowered_kernels(module: ModuleOp, kernel: type[OpT], last: str) -> Iterator[OpT]:
    """The kernels of a module in the form that the pass `last` makes; raises `PassError` for one at another level."""
    for op in module.ops:
        if isinstance(op, KernelOp):
            form, _, _ = kernel.name.partition(".")
            advice = f"run the rest of the pipeline first, up to {last}"
            raise PassError(f"kernel @{op.sym_name.data} is not in {form} form", op, advice)
        if isinstance(op, kernel):
            yield op


@dataclass(frozen=True)
class CodeLine:
    """A line of text. code: without the comment. sources: the lines `model.py:7` that it computes, if any."""

    code: str
    sources: tuple[str, ...] = ()


def commented(lines: Iterable[CodeLine]) -> Iterator[str]:
    """The text of lines; the source stands behind one when it is another than the last."""
    last: tuple[str, ...] = ()
    for line in lines:
        if line.sources and line.sources != last:
            last = line.sources
            yield f"{line.code:<{COMMENT_COLUMN}}  // {', '.join(last)}"
        else:
            yield line.code


class Writer:
    """The lines of a function's body, indented by `depth`, each with the source of the operation that it is for."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.lines: list[CodeLine] = []
        self.depth = 0
        self._location: LocationAttr | None = None
        self._sources: tuple[str, ...] = ()

    def line(self, text: str, op: Operation | None = None) -> None:
        """One line of what `op` computes."""
        if op is not None and op.location is not self._location:
            self._location = op.location
            self._sources = tuple(source_lines(op.location))
        self.lines.append(CodeLine("  " * (self.depth + 1) + text, self._sources if op is not None else ()))

    def operand(self, value: SSAValue) -> str:
        """A name or literal as an operand of an expression."""
        text = self.names[value]
        return f"({text})" if text.startswith("-") else text


class BodyPrinter(Writer, ABC):
    """Prints the operations of a kernel, each by the method that `printers` has for its class.

    language: what the text is. level: the dialect that it is of.
    """

    language: ClassVar[str]
    level: ClassVar[str]
    printers: ClassVar[Mapping[type[Operation], Callable[[Any, Any], None]]]
    """Op class → method: each takes just its class, which the dictionary's type cannot say."""

    @abstractmethod
    def type(self, type: Attribute) -> str:
        """What a type is called."""

    @abstractmethod
    def alu(self, op: AluOp) -> None: ...

    def block(self, block: Block) -> None:
        """Print all of it. Raises `PassError` for an operation of another level."""
        for op in block.ops:
            print_op = self.printers.get(op.__class__)
            if print_op is not None:
                print_op(self, op)
            elif isinstance(op, AluOp):
                self.alu(op)
            else:
                raise PassError(
                    f"{op.name} has no {self.language} text", op, f"lower it to {self.level} or uop ALU ops first"
                )

    def nested(self, block: Block) -> None:
        self.depth += 1
        self.block(block)
        self.depth -= 1

    def define(self, op: Operation, text: str) -> None:
        """`const T name = text;` for the result of `op`."""
        result = op.results[0]
        self.line(f"const {self.type(result.type)} {self.names.define(result)} = {text};", op)

    def branch(self, op: Branch) -> None:
        self.line(f"if ({self.names[op.condition]}) {{", op)
        self.nested(op.then.block)
        if op.otherwise.blocks:
            self.line("} else {")
            self.nested(op.otherwise.block)
        self.line("}")


class Names:
    """C names of SSA values: their hints where they have one, each once in a function, none of those reserved."""

    def __init__(self, reserved: Set[str]) -> None:
        self._names: dict[SSAValue, str] = {}
        self._taken: dict[str, int] = dict.fromkeys(reserved, 0)
        self._unnamed = 0

    def __getitem__(self, value: SSAValue) -> str:
        return self._names[value]

    def set(self, value: SSAValue, text: str) -> None:
        """Let `text` (a literal, or another value's name) stand for the value."""
        self._names[value] = text

    def define(self, value: SSAValue) -> str:
        """A name for the value."""
        hint = value.name_hint
        if hint is None:
            base = f"v{self._unnamed}"
            self._unnamed += 1
        else:
            base = identifier(hint)
        self._names[value] = self.fresh(base)
        return self._names[value]

    def fresh(self, base: str) -> str:
        """`base`, with a number behind it where that is taken; taken from now on."""
        name = base
        while name in self._taken:
            self._taken[base] = self._taken.get(base, 0) + 1
            name = f"{base}_{self._taken[base]}"
        self._taken.setdefault(name, 0)
        return name


def identifier(name: str) -> str:
    """`name` as a C identifier."""
    text = re.sub(r"\W", "_", name, flags=re.ASCII)
    return text if re.match(r"[A-Za-z_]", text) else f"_{text}"


def finite_literal(value: float, name: str) -> str:
    """C text of a finite number of type `f32` or `f64`, the shortest that is exact to the bit."""
    if name == "f64":
        return repr(value)
    text = next(t for t in (f"{value:.{digits}g}" for digits in range(1, 18)) if _same_f32(float(t), value))
    return (text if re.search(r"[.e]", text) else text + ".0") + "f"


def float_bits(value: float, name: str) -> int:
    """The bits of a number as the type called `name` holds it."""
    match name:
        case "f64":
            return struct.unpack("<Q", struct.pack("<d", value))[0]
        case "f32":
            return struct.unpack("<I", struct.pack("<f", value))[0]
        case "f16":
            return struct.unpack("<H", struct.pack("<e", value))[0]
        case _:
            return struct.unpack("<I", struct.pack("<f", value))[0] >> 16


def _same_f32(x: float, y: float) -> bool:
    try:
        return struct.pack("<f", x) == struct.pack("<f", y)
    except OverflowError:  # rounded up past the greatest f32
        return False
