"""C text of `cpu_kernel`: a one-to-one walk that decides nothing. It is for GCC and Clang and includes no headers.

A file has the kernels of a module, each a function that runs a range of its tasks and one that spreads them over
threads, and its programs: `forward` takes the program's arguments, its results, memory for what lies between, and the
most threads to use. `forward_run` takes the same pointers in an array.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.target import Target

from ..dialects import cpu_kernel
from .c_declarations import CNames
from .c_kernels import KernelPrinter, Text
from .c_programs import ProgramPrinter
from .writer import CodeLine, commented, lowered_kernels

UNIT_LINES = 400
"""Lines of kernels that are worth a compiler of their own: it takes 0.03 s to start, and as long for 150 lines."""


@dataclass(frozen=True)
class CTarget(Target):
    """C text of a module whose kernels are in `cpu_kernel` form."""

    name = "c"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(c_text(module))


def c_text(module: ModuleOp) -> str:
    """C text of a module. Raises `PassError` for a kernel that is not in `cpu_kernel` form."""
    return "".join(f"{line}\n" for line in commented(translate(module).lines))


@dataclass(frozen=True)
class Translation:
    """C text of a module.

    lines: without the comments that name the user's lines. kernels: by symbol, what each is called in C and where its
    functions stand among the lines. declarations: of the kernels, for texts in which they do not stand
    """

    lines: Sequence[CodeLine]
    kernels: Mapping[str, tuple[str, range]]
    declarations: Sequence[str]

    @property
    def text(self) -> str:
        """The lines. They do not change when the user's lines move."""
        return _joined(self.lines)

    def units(self, most: int) -> list[str]:
        """The text in parts, so many at most, which can be compiled at the same time and be linked to what it is."""
        places = sorted((place for _, place in self.kernels.values()), key=len, reverse=True)
        groups = _shared(places, max(1, min(most, _line_count(places) // UNIT_LINES)))
        while len(groups) > 1 and _line_count(groups[-1]) < UNIT_LINES:
            groups = _shared(places, len(groups) - 1)
        if len(groups) < 2:
            return [self.text]
        first, end = min(place.start for place in places), max(place.stop for place in places)
        before, behind = self.lines[:first], self.lines[end:]
        declarations = [*map(CodeLine, self.declarations), CodeLine("")]
        units = [
            _joined([*before, *(self.lines[n] for place in sorted(group, key=min) for n in place)]) for group in groups
        ]
        return [*units[:-1], units[-1] + _joined([*declarations, *behind])]


def _line_count(places: Sequence[range]) -> int:
    return sum(map(len, places))


def _shared(places: Sequence[range], count: int) -> list[list[range]]:
    """Places, the longest first, in groups of about as many lines each, that of the fewest the last."""
    groups: list[list[range]] = [[] for _ in range(count)]
    for place in places:
        min(groups, key=_line_count).append(place)
    return sorted(groups, key=_line_count, reverse=True)


def _joined(lines: Iterable[CodeLine]) -> str:
    return "".join(f"{line.code}\n" for line in lines)


def translate(module: ModuleOp) -> Translation:
    """C text of a module, as data. Raises `PassError` for a kernel that is not in `cpu_kernel` form."""
    return _translate(list(cpu_kernels(module)), [op for op in module.ops if isinstance(op, FuncOp)])


def kernel_text(kernel: cpu_kernel.KernelOp) -> str:
    """C text of one kernel, complete with what it calls."""
    return _translate([kernel], []).text


def _translate(kernel_ops: Sequence[cpu_kernel.KernelOp], functions: Sequence[FuncOp]) -> Translation:
    names = CNames()
    text = Text()
    programs = [ProgramPrinter(function, names) for function in functions]
    kernels = {kernel.sym_name.data: KernelPrinter(kernel, names, text) for kernel in kernel_ops}
    bodies = {symbol: printer.print() for symbol, printer in kernels.items()}
    lines = [CodeLine(line) for part in text.prelude() for line in (*part.splitlines(), "")]
    places: dict[str, tuple[str, range]] = {}
    for symbol, body in bodies.items():
        places[symbol] = kernels[symbol].name, range(len(lines), len(lines) + len(body))
        lines += [*body, CodeLine("")]
    for program in programs:
        lines += [*program.print(kernels), CodeLine("")]
    return Translation(lines[:-1], places, [printer.declaration() for printer in kernels.values()])


def cpu_kernels(module: ModuleOp) -> Iterable[cpu_kernel.KernelOp]:
    """The kernels of a module; raises `PassError` for one at another level."""
    return lowered_kernels(module, cpu_kernel.KernelOp, "convert-tile-to-cpu-kernel")
