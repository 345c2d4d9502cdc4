"""C text of programs: functions that launch kernels."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue

from ..dialects.types import element_count, element_of, shape_of
from ..dialects.uop import LaunchOp, ReshapeOp, buffer_of
from ..rewriting.diagnostics import PassError
from .c_declarations import CNames, buffer_type, function_head, program_name
from .c_kernels import KernelPrinter
from .writer import CodeLine, Names


class ProgramPrinter:
    """Prints a function that launches kernels."""

    def __init__(self, function: FuncOp, names: Names):
        symbol = function.sym_name.data
        self.function = function
        self.name = names.fresh(program_name(symbol))
        self.run = names.fresh(f"{self.name}_run")
        if self.run != f"{program_name(symbol)}_run":
            raise PassError(f"two functions are called {program_name(symbol)} in C", function, "rename one of them")
        self.kernels: Mapping[str, KernelPrinter] = {}
        self.names: Names = CNames()

    def print(self, kernels: Mapping[str, KernelPrinter]) -> list[CodeLine]:
        self.kernels = kernels
        self.names = CNames(printer.name for printer in kernels.values())
        block = self.function.body.block
        arguments, results = [*block.args], _owned_results(self.function)
        for value in (*arguments, *results):
            self.names.define(value)
        written = {buffer_of(result) for op in block.ops if isinstance(op, LaunchOp) for result in op.results}
        parameters = [
            f"{'' if value in written else 'const '}{buffer_type(value.type)} *{self.names[value]}"
            for value in arguments
        ]
        parameters += [f"{buffer_type(value.type)} *{self.names[value]}" for value in results]
        passed = [f"buffers[{place}]" for place in range(len(parameters) + 1)]
        body = [f"  {line}" for op in block.ops for line in self.lines(op)]
        return [
            *function_head(f"void {self.name}", [*parameters, "char *arena", "int threads"]),
            *map(CodeLine, body),
            CodeLine("}"),
            CodeLine(""),
            CodeLine(f"void {self.run}(void *const *buffers, int threads) {{"),
            CodeLine(f"  {self.name}({', '.join([*passed, 'threads'])});"),
            CodeLine("}"),
        ]

    def lines(self, op: Operation) -> list[str]:
        if isinstance(op, LaunchOp):
            return self.launch(op)
        if isinstance(op, ReshapeOp):
            self.names.set(op.result, self.names[op.input])
            return []
        if isinstance(op, ReturnOp):
            return []
        raise PassError(f"{op.name} does not stand in a program", op, "uop-partition moves it into a kernel")

    def launch(self, op: LaunchOp) -> list[str]:
        printer = self.kernels.get(op.kernel.root_reference.data)
        if printer is None:
            raise PassError(f"there is no kernel @{op.kernel.root_reference.data}", op)
        values = [*op.results, *op.operands]
        buffers = [argument.type for argument in printer.kernel.body.block.args]
        if printer.kernel.outputs.value.data != len(op.results) or [*map(_contents, values)] != [
            (element_of(type), element_count(shape_of(type))) for type in buffers
        ]:
            raise PassError(f"kernel @{printer.kernel.sym_name.data} takes other buffers than it is launched on", op)
        lines: list[str] = []
        for result, taken, offset in zip(op.results, op.reused(), op.offsets(), strict=True):
            if taken is not None:
                self.names.set(result, self.names[op.operands[taken]])
            elif offset is not None:
                type = buffer_type(result.type)
                lines.append(f"{type} *const {self.names.define(result)} = ({type} *)(arena + {offset});")
        passed = ", ".join([*(self.names[value] for value in values), "threads"])
        return [*lines, f"{printer.name}({passed});"]


def _owned_results(function: FuncOp) -> list[SSAValue]:
    """The results of launches that have memory of their own, which the program's function takes behind its arguments:
    they are what the program gives, and what nobody has planned a place in the arena for."""
    launches = [op for op in function.body.block.ops if isinstance(op, LaunchOp)]
    return [
        result
        for launch in launches
        for result, taken, offset in zip(launch.results, launch.reused(), launch.offsets(), strict=True)
        if taken is None and offset is None
    ]


def _contents(value: SSAValue) -> tuple[Attribute, int]:
    return element_of(value.type), element_count(shape_of(value.type))
