"""C text of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, SSAValue

from ..dialects import cpu_kernel
from ..dialects.layouts import span_of
from ..dialects.syntax import integer_values
from ..dialects.types import element_count, element_of, shape_of, type_name
from ..dialects.uop import AluOp, BitcastOp, CastOp, ConstOp
from . import c_math, c_memory, c_threads, c_types
from .c_declarations import CNames, buffer_type, function_head
from .c_literals import literal
from .writer import BodyPrinter, CodeLine, Names, identifier

_MACROS = {
    "PRAGMA": "#define PRAGMA(text) _Pragma(#text)",
    "UNROLL": """\
#ifdef __clang__
#define UNROLL(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLL(n) PRAGMA(GCC unroll n)
#endif""",
    "LANES": c_memory.LANES,
    "SHUFFLE": """\
#if defined __has_builtin && __has_builtin(__builtin_shufflevector)
#define SHUFFLE(integers, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(integers, a, b, ...) __builtin_shuffle(a, b, (integers){__VA_ARGS__})
#endif""",
}
"""What GCC and Clang spell differently."""


class Text:
    """What the functions of a file need in front of them."""

    def __init__(self) -> None:
        self.uses: set[c_math.Use] = set()
        self.vectors: set[c_memory.Vector] = set()
        self.memory: set[c_memory.Vector] = set()
        self.functions: dict[str, str] = {}
        self.macros: set[str] = set()

    def prelude(self) -> list[str]:
        """The parts in front of the kernels: macros, types, functions."""
        macros = [text for name, text in _MACROS.items() if name in self.macros]
        types = c_types.memory_typedefs(self.memory)
        arithmetic = c_math.definitions(self.uses, self.vectors)
        functions = [self.functions[name] for name in sorted(self.functions)]
        return [part for part in (*macros, types, arithmetic, *functions, c_threads.THREADS) if part]


class _Access(Protocol):
    """`c_memory.load` or `c_memory.store`."""

    def __call__(
        self, element: str, lanes: int, *, count: int | None, index: str | None, masked: bool
    ) -> c_memory.Function: ...


class KernelPrinter(BodyPrinter):
    """Prints one kernel; collects the types and functions that it needs."""

    language, level = "C", "cpu_kernel"

    def __init__(self, kernel: cpu_kernel.KernelOp, names: Names, text: Text):
        super().__init__(CNames())
        self.kernel = kernel
        self.name = names.fresh(identifier(kernel.sym_name.data))
        self.range, self.part = (names.fresh(f"{self.name}_{what}") for what in ("tasks", "part"))
        self.index = f"i{kernel.index_bits.value.data}"
        self.text = text
        self.streams = False

    def print(self) -> list[CodeLine]:
        kernel = self.kernel
        buffers = kernel.body.block.args
        tasks, grain = kernel.tasks.value.data, kernel.grain.value.data
        parameters = [self.parameter(argument, self.names.define(argument)) for argument in buffers]
        passed = [f"buffers[{place}]" for place in range(len(buffers))]
        self.depth = 1
        self.block(kernel.body.block)
        body = self.lines
        pointers = ", ".join(f"(void *){self.names[argument]}" for argument in buffers)
        fence = [CodeLine("  stream_fence();")] if self.streams else []
        return [
            CodeLine(f"// {self.name}: {tasks} task{'' if tasks == 1 else 's'}, {grain} or more a thread"),
            *function_head(f"static void {self.range}", [*parameters, "long long first", "long long end"]),
            CodeLine("  for (long long task = first; task < end; ++task) {"),
            *body,
            CodeLine("  }"),
            *fence,
            CodeLine("}"),
            CodeLine(""),
            CodeLine(f"static void {self.part}(void *const *buffers, long long first, long long end) {{"),
            CodeLine(f"  {self.range}({', '.join([*passed, 'first', 'end'])});"),
            CodeLine("}"),
            CodeLine(""),
            *function_head(f"void {self.name}", self.passed(parameters)),
            CodeLine(f"  void *const buffers[] = {{{pointers or '0'}}};"),
            CodeLine(f"  uop_parallel({self.part}, buffers, {tasks}, {grain}, threads);"),
            CodeLine("}"),
        ]

    def declaration(self) -> str:
        """What a text declares in which the kernel does not stand, and is called."""
        parameters = [self.parameter(argument, self.names[argument]) for argument in self.kernel.body.block.args]
        return f"void {self.name}({', '.join(self.passed(parameters))});"

    def passed(self, parameters: Sequence[str]) -> list[str]:
        """Parameters of the function that a program calls."""
        return [*(parameter.replace("*restrict ", "*") for parameter in parameters), "int threads"]

    def parameter(self, argument: SSAValue, name: str) -> str:
        outputs = [*self.kernel.body.block.args[: self.kernel.outputs.value.data]]
        const = "" if argument in outputs else "const "
        return f"{const}{buffer_type(argument.type)} *restrict {name}"

    # Text.

    def element(self, type: Attribute) -> str:
        """The name of an element type: that of an integer for an `index` in a vector."""
        name = type_name(element_of(type))
        return self.index if name == "index" and self.lanes(type) > 1 else name

    def lanes(self, type: Attribute) -> int:
        """The lanes of a vector; a scalar is a vector of one lane."""
        (lanes,) = shape_of(type) or (1,)
        return lanes

    def type(self, type: Attribute) -> str:
        """C type of a scalar or a vector, among those that the text defines."""
        return self.vector(self.element(type), self.lanes(type))

    def vector(self, element: str, lanes: int) -> str:
        self.text.vectors.add((element, lanes))
        return c_types.vector_type(element, lanes)

    def function(self, function: c_memory.Function) -> str:
        self.text.functions[function.name] = function.text
        self.text.vectors.update(function.vectors)
        self.text.memory.update(function.memory)
        self.text.macros |= {"PRAGMA", "LANES"}
        return function.name

    def spell(self, spelling: c_math.Spelling) -> str:
        self.text.uses.update(spelling.uses)
        self.text.vectors.update(spelling.vectors)
        return spelling.text

    # Arithmetic.

    def const(self, op: ConstOp) -> None:
        self.names.set(op.result, literal(op))

    def alu(self, op: AluOp) -> None:
        type = op.operands[-1].type
        operands = [self.operand(value) for value in op.operands]
        element, lanes = self.element(type), self.lanes(type)
        name = op.name.removeprefix("uop.")
        self.define(op, self.spell(c_math.expression(name, element, lanes, operands)))

    def cast(self, op: CastOp) -> None:
        source, target = self.element(op.input.type), self.element(op.result.type)
        self.define(op, self.spell(c_math.cast(source, target, self.lanes(op.input.type), self.operand(op.input))))

    def bitcast(self, op: BitcastOp) -> None:
        source, target = self.element(op.input.type), self.element(op.result.type)
        self.define(op, self.spell(c_math.bitcast(source, target, self.lanes(op.input.type), self.operand(op.input))))

    # Vectors.

    def splat(self, op: cpu_kernel.SplatOp) -> None:
        lanes, value = self.lanes(op.result.type), self.names[op.input]
        if lanes == 1:
            self.names.set(op.result, value)
            return
        use = ("splat", self.element(op.result.type), lanes)
        self.define(op, f"{self.spell(c_math.Spelling(c_math.call(*use), (use,)))}({value})")

    def lane_numbers(self, op: cpu_kernel.LanesOp) -> None:
        lanes = self.lanes(op.result.type)
        numbers = ", ".join(map(str, range(lanes)))
        self.define(op, numbers if lanes == 1 else f"{{{numbers}}}")

    def shuffle(self, op: cpu_kernel.ShuffleOp) -> None:
        lanes = integer_values(op.lanes)
        first, second = self.names[op.first], self.names[op.second]
        if len(lanes) == 1:
            self.define(op, second if lanes[0] else first)
            return
        self.text.macros.add("SHUFFLE")
        integers = self.vector(c_types.integer_type(self.element(op.first.type), len(lanes)), len(lanes))
        self.define(op, f"SHUFFLE({integers}, {first}, {second}, {', '.join(map(str, lanes))})")

    def extract(self, op: cpu_kernel.ExtractOp) -> None:
        text = self.names[op.input]
        if self.lanes(op.input.type) > 1:
            text += f"[{op.lane.value.data}]"
            text += " != 0" if self.element(op.input.type) == "i1" else ""
        self.define(op, text)

    # Memory.

    def alloc(self, op: cpu_kernel.AllocOp) -> None:
        size, name = max(1, span_of(op.result.type)), self.names.define(op.result)
        aligned = f"__attribute__((aligned({self.kernel.vector_bytes.value.data})))"
        self.line(f"{buffer_type(op.result.type)} {name}[{size}] {aligned};", op)

    def load(self, op: cpu_kernel.LoadOp) -> None:
        type, mask = op.result.type, self.lanewise_mask(op)
        lanes, element, moved = self.lanes(type), self.element(type), self.moved(type)
        text = self.by_lanes(op, c_memory.load, moved, lanes)
        if text is None:
            text = self.whole(op.buffer, op.place, moved, lanes, const=True)
        elif mask is not None and self.lanes(op.place.type) == 1:
            text = self.selected(op, moved, lanes, self.mask(mask, op.count), text)
        if element == "i1":
            text = self.spell(c_math.cast("ui8", "i1", lanes, text))
        if op.mask is not None and mask is None:
            # What is loaded may be of a type that lies anywhere in memory: C wants one type on both sides.
            loaded, zero = (text, "0") if lanes == 1 else (f"({self.type(type)}){text}", f"({self.type(type)}){{0}}")
            text = f"{self.operand(op.mask)} ? {loaded} : {zero}"
        self.define(op, text)

    def store(self, op: cpu_kernel.StoreOp) -> None:
        type, value = op.value.type, self.names[op.value]
        lanes, moved = self.lanes(type), self.moved(type)
        if self.element(type) == "i1":
            value = self.spell(c_math.cast("i1", "ui8", lanes, self.operand(op.value)))
        text = self.by_lanes(op, c_memory.store, moved, lanes, value)
        if text is None and op.stream is not None and lanes > 1:
            self.streams = True
            self.text.functions["stream_fence"] = c_memory.STREAM_FENCE
            function = self.function(c_memory.stream(moved, lanes))
            text = f"{function}({self.address(op.buffer, op.place)}, {value})"
        elif text is None:
            text = f"{self.whole(op.buffer, op.place, moved, lanes, const=False)} = {value}"
        if op.mask is not None and self.lanewise_mask(op) is None:
            text = f"if ({self.names[op.mask]}) {text}"
        self.line(f"{text};", op)

    def transpose(self, op: cpu_kernel.TransposeOp) -> None:
        moved, lanes = self.moved(op.source.type), op.lanes.value.data
        self.text.macros.add("SHUFFLE")
        name = self.function(c_memory.transpose(moved, lanes))
        source = f"{self.address(op.source, op.source_place)}, {op.source_stride.value.data}"
        target = f"{self.address(op.target, op.target_place)}, {op.target_stride.value.data}"
        self.line(f"{name}({source}, {target});", op)

    def moved(self, type: Attribute) -> str:
        """The element type as memory has it, where a bool is a byte."""
        name = type_name(element_of(type))
        return "ui8" if name == "i1" else name

    def lanewise_mask(self, op: cpu_kernel.LoadOp | cpu_kernel.StoreOp) -> SSAValue | None:
        return op.mask if op.mask is not None and self.lanes(op.mask.type) > 1 else None

    def by_lanes(
        self, op: cpu_kernel.LoadOp | cpu_kernel.StoreOp, function: _Access, moved: str, lanes: int, *values: str
    ) -> str | None:
        """The call that moves some lanes, or lanes that lie apart; None where it is all of them, side by side."""
        each, mask = self.lanes(op.place.type) > 1, self.lanewise_mask(op)
        if not each and mask is None and op.count is None:
            return None
        count = op.count.value.data if op.count is not None and mask is None else None
        index = self.element(op.place.type) if each else None
        name = self.function(function(moved, lanes, count=count, index=index, masked=mask is not None))
        arguments = [self.names[op.buffer] if each else self.address(op.buffer, op.place), *values]
        arguments += [self.names[op.place]] if each else []
        arguments += [self.mask(mask, op.count)] if mask is not None else []
        return f"{name}({', '.join(arguments)})"

    def address(self, buffer: SSAValue, place: SSAValue) -> str:
        return f"&{self.names[buffer]}[{self.names[place]}]"

    def whole(self, buffer: SSAValue, place: SSAValue, moved: str, lanes: int, *, const: bool) -> str:
        """A scalar or a whole vector in memory."""
        if lanes == 1:
            return f"{self.names[buffer]}[{self.names[place]}]"
        self.text.memory.add((moved, lanes))
        at = c_types.memory_type(moved, lanes)
        return f"*({'const ' if const else ''}{at} *){self.address(buffer, place)}"

    def selected(self, op: cpu_kernel.LoadOp, moved: str, lanes: int, mask: str, otherwise: str) -> str:
        """A vector that lies in the buffer as a whole may be read as a whole: one instruction, and one that selects."""
        last = element_count(shape_of(op.buffer.type)) - lanes
        if last < 0:
            return otherwise
        place = self.names[op.place]
        whole = f"({c_types.vector_type(moved, lanes)}){self.whole(op.buffer, op.place, moved, lanes, const=True)}"
        zeros = f"({c_types.vector_type(moved, lanes)}){{0}}"
        text = self.spell(c_math.expression("where", moved, lanes, [mask, whole, zeros]))
        return f"({place} >= 0 && {place} <= {last} ? {text} : {otherwise})"

    def mask(self, mask: SSAValue, count: IntegerAttr | None) -> str:
        """A mask, of the first lanes where there is a `count`."""
        type = self.type(mask.type)
        if count is None:
            return self.names[mask]
        first = ["-1"] * count.value.data
        first += ["0"] * (self.lanes(mask.type) - len(first))
        return f"{self.names[mask]} & ({type}){{{', '.join(first)}}}"

    # Control flow.

    def task_id(self, op: cpu_kernel.TaskIdOp) -> None:
        self.define(op, "task")

    def loop(self, op: cpu_kernel.ForOp) -> None:
        for init, argument, output in zip(op.inits, op.carried, op.outputs, strict=True):
            argument.name_hint = argument.name_hint or output.name_hint
            name = self.names.define(argument)
            self.names.set(output, name)
            self.line(f"{self.type(argument.type)} {name} = {self.names[init]};", op)
        if op.unroll is not None:
            self.text.macros |= {"PRAGMA", "UNROLL"}
            self.line(f"UNROLL({op.unroll.value.data})")
        iv, step = self.names.define(op.index), op.step.value.data
        start, end = self.names[op.start], self.names[op.end]
        advance = f"++{iv}" if step == 1 else f"{iv} += {step}"
        self.line(f"for (long long {iv} = {start}; {iv} < {end}; {advance}) {{", op)
        self.nested(op.body.block)
        self.line("}")

    def end_of_step(self, op: cpu_kernel.YieldOp) -> None:
        loop = op.parent_op()
        assert isinstance(loop, cpu_kernel.ForOp)
        pairs = [pair for pair in zip(loop.carried, op.values, strict=True) if pair[0] is not pair[1]]
        assigned = {target for target, _ in pairs}
        sources: dict[SSAValue, str] = {}
        for _, value in pairs:
            if value in assigned and value not in sources:  # it is about to be overwritten
                sources[value] = self.names.fresh(f"last_{self.names[value]}")
                self.line(f"const {self.type(value.type)} {sources[value]} = {self.names[value]};", op)
        for target, value in pairs:
            self.line(f"{self.names[target]} = {sources.get(value, self.names[value])};", op)


KernelPrinter.printers = {
    ConstOp: KernelPrinter.const,
    CastOp: KernelPrinter.cast,
    BitcastOp: KernelPrinter.bitcast,
    cpu_kernel.TaskIdOp: KernelPrinter.task_id,
    cpu_kernel.SplatOp: KernelPrinter.splat,
    cpu_kernel.LanesOp: KernelPrinter.lane_numbers,
    cpu_kernel.ShuffleOp: KernelPrinter.shuffle,
    cpu_kernel.ExtractOp: KernelPrinter.extract,
    cpu_kernel.AllocOp: KernelPrinter.alloc,
    cpu_kernel.LoadOp: KernelPrinter.load,
    cpu_kernel.StoreOp: KernelPrinter.store,
    cpu_kernel.TransposeOp: KernelPrinter.transpose,
    cpu_kernel.ForOp: KernelPrinter.loop,
    cpu_kernel.YieldOp: KernelPrinter.end_of_step,
    cpu_kernel.IfOp: KernelPrinter.branch,
}
