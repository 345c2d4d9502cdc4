"""CUDA text of `gpu_kernel`: a one-to-one walk that decides nothing. The text compiles with NVRTC and nvcc as it
stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import FloatAttr, MemRefType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.target import Target

from ..dialects import gpu_kernel
from ..dialects.layouts import memory_space, span_of
from ..dialects.semantics import ALU
from ..dialects.types import byte_width, element_of, shape_of, type_name
from ..dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, LaunchOp, constant_value
from . import cuda_prelude
from .cuda_expressions import C_TYPES, CUDA_HELPERS, cuda_bitcast, cuda_cast, cuda_expression
from .writer import BodyPrinter, CodeLine, Names, commented, finite_literal, float_bits, identifier, lowered_kernels

C_KEYWORDS = frozenset(
    (
        "alignas alignof and asm auto bool break case catch char class const constexpr continue default "
        "delete do double else enum explicit export extern false float for friend goto half if inline int "
        "long mutable namespace new not operator or private protected public register restrict return short "
        "signed sizeof static struct switch template this throw true try typedef typename union unsigned "
        "using virtual void volatile wchar_t while xor blockIdx threadIdx blockDim gridDim warpSize"
    ).split()
)

RESERVED = C_KEYWORDS | {
    function
    for text in (
        *(template for row in ALU.values() for template in row.cuda.values()),
        *CUDA_HELPERS.values(),
        *(text for name, text in vars(cuda_prelude).items() if name.isupper()),
        "make_float2(make_float4(make_uint2(make_uint4(__half2float(__float2half_rn(",
    )
    for function in re.findall(r"([A-Za-z_]\w*)(?=\(|<)", text)
}
"""Names that a kernel or a variable would hide from the text: keywords, and functions that the text calls."""


@dataclass(frozen=True)
class CUDATarget(Target):
    """CUDA text of a module whose kernels are in `gpu_kernel` form."""

    name = "cuda"

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        output.write(cuda_text(module))


def cuda_text(module: ModuleOp) -> str:
    """CUDA text of all kernels of a module, with its program as a comment.

    Raises `PassError` for a kernel that is not in `gpu_kernel` form.
    """
    kernels = list(gpu_kernels(module))
    program = [line for op in module.ops if isinstance(op, FuncOp) for line in _program(op)]
    return _translation_unit(kernels, program)


def kernel_text(kernel: gpu_kernel.KernelOp) -> str:
    """CUDA text of one kernel, complete with what it calls."""
    return _translation_unit([kernel], [])


def kernel_lines(kernel: gpu_kernel.KernelOp) -> list[CodeLine]:
    """The lines of `kernel_text`, each with where it comes from."""
    printer = _KernelPrinter(kernel)
    printer.text()
    head = "".join(f"{part}\n\n" for part in _prelude([printer]))
    body = [CodeLine(code, line.sources) for line in printer.lines for code in line.code.splitlines()]
    return [*map(CodeLine, head.splitlines()), *body]


def gpu_kernels(module: ModuleOp) -> Iterable[gpu_kernel.KernelOp]:
    """The kernels of a module; raises `PassError` for one at another level."""
    return lowered_kernels(module, gpu_kernel.KernelOp, "convert-tile-to-gpu-kernel")


def _translation_unit(kernels: Sequence[gpu_kernel.KernelOp], program: Sequence[str]) -> str:
    printers = [_KernelPrinter(kernel) for kernel in kernels]
    bodies = [printer.text() for printer in printers]
    comment = ["\n".join(f"// {line}" for line in program)] if program else []
    return "\n\n".join([*_prelude(printers), *bodies, *comment]) + "\n"


def _prelude(printers: Sequence[_KernelPrinter]) -> list[str]:
    """What stands before the kernels: headers and functions."""
    includes = sorted({include for printer in printers for include in printer.includes})
    helpers = {name: text for printer in printers for name, text in printer.helpers.items()}
    headers = ["\n".join(f"#include <{include}>" for include in includes)] if includes else []
    return headers + [helpers[name] for name in sorted(helpers)]


def _program(function: FuncOp) -> list[str]:
    """The lines of a program: which kernel is launched on what."""
    names: dict[SSAValue, str] = {arg: arg.name_hint or f"arg{arg.index}" for arg in function.args}

    def name(value: SSAValue) -> str:
        return names.setdefault(value, f"t{len(names) - len(function.args)}")

    lines = [f"program {function.sym_name.data}({', '.join(names.values())}):"]
    for op in function.body.block.ops:
        operands = ", ".join(name(value) for value in op.operands)
        results = ", ".join(name(value) for value in op.results)
        if isinstance(op, LaunchOp):
            lines.append(f"  {results} = {op.kernel.root_reference.data}({operands})")
        elif op.results:
            shape = "x".join(map(str, shape_of(op.results[0].type)))
            lines.append(f"  {results} = {op.name.split('.')[-1]}({operands}) to {shape or 'scalar'}")
        else:
            lines.append(f"  return {operands}")
    return lines


def literal(op: ConstOp, index_type: str) -> str:
    """C text of a constant, exact to the bit."""
    type = op.result.type
    name = type_name(type)
    if isinstance(op.value, FloatAttr):
        return float_literal(op.value.value.data, name)
    value = int(op.value.value.data)
    match name:
        case "i1":
            return "true" if value else "false"
        case "i64":
            return "(-9223372036854775807ll - 1)" if value == -(2**63) else f"{value}ll"
        case "i32":
            return "(-2147483647 - 1)" if value == -(2**31) else str(value)
        case "index":
            return f"{value}ll" if index_type == "long long" else str(value)
        case _:
            return f"({C_TYPES[name]}){value}"


def float_literal(value: float, name: str) -> str:
    """C text of a float of the type called `name`."""
    bits = float_bits(value, name)
    if name in ("f16", "bf16"):
        return f"{'__ushort_as_half' if name == 'f16' else '__ushort_as_bfloat16'}(0x{bits:04x})"
    if value == value and value not in (float("inf"), float("-inf")):
        return finite_literal(value, name)
    return f"__int_as_float(0x{bits:08x})" if name == "f32" else f"__longlong_as_double(0x{bits:016x}ll)"


def kernel_name(kernel: gpu_kernel.KernelOp) -> str:
    """What the kernel is called in the text: its symbol, with `_` behind it where C takes that for something else."""
    name = identifier(kernel.sym_name.data)
    return f"{name}_" if name in RESERVED else name


class _KernelPrinter(BodyPrinter):
    """Prints one kernel; collects the headers and functions that it needs."""

    language, level = "CUDA", "gpu_kernel"

    def __init__(self, kernel: gpu_kernel.KernelOp):
        super().__init__(Names(RESERVED))
        self.kernel = kernel
        self.index_type = "int" if kernel.index_bits.value.data == 32 else "long long"
        self.includes: set[str] = set()
        self.helpers: dict[str, str] = {}

    def text(self) -> str:
        kernel = self.kernel
        outputs = kernel.outputs.value.data
        parameters: list[str] = []
        for argument in kernel.body.block.args:
            const = "" if argument.index < outputs else "const "
            c_type = self.type(element_of(argument.type))
            parameters.append(f"{const}{c_type}* __restrict__ {self.names.define(argument)}")
        bounds = str(kernel.threads)
        if kernel.min_blocks is not None:
            bounds += f", {kernel.min_blocks.value.data}"
        grid = " x ".join(map(str, kernel.grid_shape))
        name = kernel_name(kernel)
        head = f'extern "C" __global__ void __launch_bounds__({bounds}) {name}('
        one_line = f"{head}{', '.join(parameters)}) {{"
        shared = f"{kernel.shared_bytes} bytes shared"
        self.lines.append(CodeLine(f"// {name}: grid {grid}, block {kernel.threads}, {shared}"))
        if len(one_line) <= 110:
            self.lines.append(CodeLine(one_line))
        else:
            separator = ",\n    "
            self.lines.append(CodeLine(f"{head}\n    {separator.join(parameters)}) {{"))
        self.block(kernel.body.block)
        self.lines.append(CodeLine("}"))
        return "\n".join(commented(self.lines))

    # Text.

    def type(self, type: Attribute) -> str:
        """C type of a scalar, or of a vector as it is moved: a machine word or a vector of words."""
        shape = shape_of(type)
        name = type_name(element_of(type))
        if name in ("f16", "bf16"):
            self.includes.add("cuda_fp16.h" if name == "f16" else "cuda_bf16.h")
        if not shape:
            return self.index_type if name == "index" else C_TYPES[name]
        if name in ("f32", "f64") and byte_width(element_of(type)) * shape[0] <= 16 and shape[0] > 1:
            return f"{C_TYPES[name]}{shape[0]}"
        words = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "uint2", 16: "uint4"}
        return words[byte_width(element_of(type)) * shape[0]]

    def zero(self, type: Attribute) -> str:
        c_type = self.type(type)
        if not shape_of(type):
            name = type_name(type)
            if name in ("f64", "f32", "f16", "bf16"):
                return float_literal(0.0, name)
            return "false" if name == "i1" else "0"
        if c_type[-1].isdigit():
            return f"make_{c_type}({', '.join(['0'] * int(c_type[-1]))})"
        return "0"

    def access(self, buffer: SSAValue, indices: Iterable[SSAValue]) -> str:
        return self.names[buffer] + "".join(f"[{self.names[i]}]" for i in indices)

    def place(self, buffer: SSAValue, indices: Iterable[SSAValue], moved: Attribute, *, const: bool) -> str:
        """The scalar or vector at a place of a buffer."""
        text = self.access(buffer, indices)
        if not shape_of(moved):
            return text
        return f"*({'const ' if const else ''}{self.type(moved)}*)&{text}"

    def helper(self, name: str, text: str) -> str:
        self.helpers[name] = text
        return name

    # Ops.

    def const(self, op: ConstOp) -> None:
        self.type(op.result.type)  # for its header
        self.names.set(op.result, literal(op, self.index_type))

    def alu(self, op: AluOp) -> None:
        spelling = cuda_expression(
            op.row(), op.operands[-1].type, [self.operand(value) for value in op.operands], self.index_type
        )
        self.type(op.operands[-1].type)
        if spelling.helper is not None:
            self.helper(spelling.helper, CUDA_HELPERS[spelling.helper])
        self.define(op, spelling.text)

    def cast(self, op: CastOp) -> None:
        source, target = op.input.type, op.result.type
        self.type(source)
        self.define(op, cuda_cast(source, target, self.operand(op.input), self.index_type))

    def bitcast(self, op: BitcastOp) -> None:
        source, target = op.input.type, op.result.type
        self.type(source)
        self.define(op, cuda_bitcast(source, target, self.operand(op.input)))

    def block_id(self, op: gpu_kernel.BlockIdOp) -> None:
        self.define(op, f"blockIdx.{op.dimension.data}")

    def thread_id(self, op: gpu_kernel.ThreadIdOp) -> None:
        """The thread's number, and its bound: NVRTC takes none from the launch bounds, and so tests whether a thread is
        inside where all are."""
        self.define(op, "threadIdx.x")
        self.line(f"__builtin_assume(threadIdx.x < {self.kernel.threads});", op)

    def lane_id(self, op: gpu_kernel.LaneIdOp) -> None:
        self.define(op, "threadIdx.x % 32")

    def pin(self, op: gpu_kernel.PinOp) -> None:
        name, register = self.names.define(op.result), "r" if self.index_type == "int" else "l"
        self.line(f'{self.index_type} {name} = {self.names[op.input]}; asm volatile("" : "+{register}"({name}));', op)

    def pack(self, op: gpu_kernel.PackOp) -> None:
        element = element_of(op.result.type)
        self.type(element)  # for its header
        function = self.helper(*cuda_prelude.pack(type_name(element)))
        self.define(op, f"{function}({self.names[op.first]}, {self.names[op.second]})")

    def alloc(self, op: gpu_kernel.AllocOp) -> None:
        type = op.result.type
        assert isinstance(type, MemRefType)
        c_type = self.type(type.element_type)
        if op.dynamic is not None:
            self.line(f"extern __shared__ __align__(16) {c_type} {self.names.define(op.result)}[];", op)
        elif memory_space(type) == "shared":
            self.line(f"__shared__ __align__(16) {c_type} {self.names.define(op.result)}[{span_of(type)}];", op)
        else:
            shape = "".join(f"[{extent}]" for extent in type.get_shape())
            self.line(f"__align__(16) {c_type} {self.names.define(op.result)}{shape};", op)

    def load(self, op: gpu_kernel.LoadOp) -> None:
        text = self.place(op.buffer, op.indices, op.result.type, const=True)
        if op.mask is not None:
            text = f"{self.operand(op.mask)} ? {text} : {self.zero(op.result.type)}"
        self.define(op, text)

    def store(self, op: gpu_kernel.StoreOp) -> None:
        place = self.place(op.buffer, op.indices, op.value.type, const=False)
        condition = f"if ({self.names[op.mask]}) " if op.mask is not None else ""
        self.line(f"{condition}{place} = {self.names[op.value]};", op)

    def atomic(self, op: gpu_kernel.AtomicOp) -> None:
        place, value = f"&{self.access(op.buffer, op.indices)}", self.names[op.value]
        function = f"atomic{op.monoid.data.capitalize()}"
        if type_name(op.value.type) == "i64" and op.monoid.data in ("add", "and", "or"):
            place, value = f"(unsigned long long*){place}", f"(unsigned long long){value}"
        condition = f"if ({self.names[op.mask]}) " if op.mask is not None else ""
        self.line(f"{condition}{function}({place}, {value});", op)

    def async_copy(self, op: gpu_kernel.AsyncCopyOp) -> None:
        target = self.access(op.target, [op.target_index])
        source = self.access(op.source, [op.source_index])
        size = byte_width(element_of(op.source.type))
        offsets = [op.target_offset.value.data * size, op.source_offset.value.data * size]
        template = f"<{', '.join(map(str, [op.bytes, *(offsets if any(offsets) else ())]))}>"
        if op.count is not None:
            function = self.helper("async_copy_first", cuda_prelude.ASYNC_COPY_FIRST)
            keep = "true" if op.mask is None else self.names[op.mask]
            first = f"{self.names[op.count]} * {size}"
            self.line(f"{function}{template}(&{target}, &{source}, {keep}, {first});", op)
        elif op.mask is None:
            function = self.helper("async_copy", cuda_prelude.ASYNC_COPY)
            self.line(f"{function}{template}(&{target}, &{source});", op)
        else:
            function = self.helper("async_copy_or_zero", cuda_prelude.ASYNC_COPY_OR_ZERO)
            self.line(f"{function}{template}(&{target}, &{source}, {self.names[op.mask]});", op)

    def async_commit(self, op: gpu_kernel.AsyncCommitOp) -> None:
        self.line(f"{self.helper('async_commit', cuda_prelude.ASYNC_COMMIT)}();", op)

    def async_wait(self, op: gpu_kernel.AsyncWaitOp) -> None:
        self.line(f"{self.helper('async_wait', cuda_prelude.ASYNC_WAIT)}<{op.pending.value.data}>();", op)

    def ldmatrix(self, op: gpu_kernel.LdmatrixOp) -> None:
        is_float = byte_width(element_of(op.result.type)) == 4
        function = self.helper(*cuda_prelude.ldmatrix(op.matrices, op.transposed is not None, is_float))
        offset = op.offset.value.data * byte_width(element_of(op.buffer.type))
        template = f"<{offset}>" if offset else ""
        self.define(op, f"{function}{template}(&{self.access(op.buffer, [op.start])})")

    def shuffle(self, op: gpu_kernel.ShuffleOp) -> None:
        mode, element = op.mode.data, type_name(op.value.type)
        value, lanes = self.names[op.value], self.names[op.lanes]
        if element in ("f32", "i32") and constant_value(op.lanes) is not None:
            function = self.helper(*cuda_prelude.shuffle(mode, element))
            self.define(op, f"{function}<{lanes}>({value})")
        else:
            suffix = "" if mode == "idx" else f"_{mode}"
            self.define(op, f"__shfl{suffix}_sync(0xffffffffu, {value}, {lanes})")

    def mma(self, op: gpu_kernel.MmaOp) -> None:
        function = self.helper(*cuda_prelude.mma(op.atom.data, type_name(element_of(op.a.type))))
        self.define(op, f"{function}({', '.join(self.names[value] for value in op.operands)})")

    def barrier(self, op: gpu_kernel.BarrierOp) -> None:
        self.line("__syncthreads();", op)

    def warp_barrier(self, op: gpu_kernel.WarpBarrierOp) -> None:
        self.line("__syncwarp();", op)

    def loop(self, op: gpu_kernel.ForOp) -> None:
        if op.unroll is not None:
            count = op.unroll.value.data
            self.line(f"#pragma unroll {count}" if count else "#pragma unroll")
        start = self.names[op.start]
        iv = self.names.define(op.index)
        step = op.step.value.data
        advance = f"++{iv}" if step == 1 else f"{iv} += {step}"
        end = op.until if isinstance(op.until, int) else self.names[op.until]
        self.line(f"for ({self.index_type} {iv} = {start}; {iv} < {end}; {advance}) {{", op)
        self.nested(op.body.block)
        self.line("}")


_KernelPrinter.printers = {
    ConstOp: _KernelPrinter.const,
    CastOp: _KernelPrinter.cast,
    BitcastOp: _KernelPrinter.bitcast,
    gpu_kernel.BlockIdOp: _KernelPrinter.block_id,
    gpu_kernel.ThreadIdOp: _KernelPrinter.thread_id,
    gpu_kernel.LaneIdOp: _KernelPrinter.lane_id,
    gpu_kernel.AllocOp: _KernelPrinter.alloc,
    gpu_kernel.LoadOp: _KernelPrinter.load,
    gpu_kernel.StoreOp: _KernelPrinter.store,
    gpu_kernel.AtomicOp: _KernelPrinter.atomic,
    gpu_kernel.AsyncCopyOp: _KernelPrinter.async_copy,
    gpu_kernel.AsyncCommitOp: _KernelPrinter.async_commit,
    gpu_kernel.AsyncWaitOp: _KernelPrinter.async_wait,
    gpu_kernel.LdmatrixOp: _KernelPrinter.ldmatrix,
    gpu_kernel.ShuffleOp: _KernelPrinter.shuffle,
    gpu_kernel.MmaOp: _KernelPrinter.mma,
    gpu_kernel.PinOp: _KernelPrinter.pin,
    gpu_kernel.PackOp: _KernelPrinter.pack,
    gpu_kernel.BarrierOp: _KernelPrinter.barrier,
    gpu_kernel.WarpBarrierOp: _KernelPrinter.warp_barrier,
    gpu_kernel.ForOp: _KernelPrinter.loop,
    gpu_kernel.IfOp: _KernelPrinter.branch,
}
