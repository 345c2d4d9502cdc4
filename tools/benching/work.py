"""What a program has to do at least, and what its kernels do: bytes, and operations on floats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ...dialects.loop import ForOp, ReduceOp, ScanOp
from ...dialects.types import byte_count, byte_width, element_of, is_float, shape_of
from ...dialects.uop import AluOp, CastOp, KernelOp, LaunchOp, LoadOp, ReduceAxisOp, ScanAxisOp, StoreOp, buffer_of
from ...rewriting.linear import linear_form


@dataclass(frozen=True)
class Work:
    """flops: operations on floats, of which exp is one and a multiply-add two, as the kernels have them in loop form,
      each as often as what it is computed from changes

    bytes: of the program's inputs and results, each once. moved: of what its kernels take and give, each once; of
      both, what the kernels touch: of a table that is read at a few places, those
    kernels: that it launches
    """

    flops: int
    bytes: int
    moved: int
    kernels: int

    @property
    def intensity(self) -> float:
        """Flops for each byte."""
        return self.flops / self.bytes if self.bytes else 0.0


def work_of(module: ModuleOp, function: FuncOp) -> Work:
    """The work of a function whose kernels are in loop form."""
    kernels = {op.sym_name.data: _kernel_work(op) for op in module.ops if isinstance(op, KernelOp)}
    flops = moved = launched = 0
    touched: dict[SSAValue, int] = {}
    """Bytes of each buffer that the launch that touches most of it does."""
    for launch in function.body.walk():
        if not isinstance(launch, LaunchOp):
            continue
        work = kernels[launch.kernel.string_value()]
        launched += 1
        flops += work.flops
        moved += sum(work.touched)
        for value, count in zip((*launch.results, *launch.operands), work.touched, strict=True):
            buffer = buffer_of(value)
            touched[buffer] = max(touched.get(buffer, 0), count)
    given = dict.fromkeys((*function.body.block.args, *_returned(function.body.block)))
    least = sum(
        touched.get(buffer, 0 if isinstance(buffer, BlockArgument) else byte_count(buffer.type)) for buffer in given
    )
    return Work(flops, least, moved, launched)


def least_flops(function: FuncOp) -> int:
    """Operations on floats of a function of tensor ops, each done once for each element of its result."""
    total = 0
    for op in function.body.block.ops:
        if isinstance(op, AluOp):
            total += _floats(op.results[0])
        elif isinstance(op, ReduceAxisOp | ScanAxisOp):
            total += sum(map(_floats, op.operands))
    return total


def _floats(value: SSAValue) -> int:
    """Elements of a tensor of floats, 0 for others."""
    return prod(shape_of(value.type)) if is_float(element_of(value.type)) else 0


def _returned(block: Block) -> Iterable[SSAValue]:
    last = block.last_op
    return map(buffer_of, last.operands) if isinstance(last, ReturnOp) else ()


@dataclass(frozen=True)
class _KernelWork:
    """flops, and bytes of each argument that a launch reads or writes."""

    flops: int
    touched: tuple[int, ...]


def _kernel_work(kernel: KernelOp) -> _KernelWork:
    count = _Count()
    count.block(kernel.body.block)
    arguments = kernel.body.block.args
    return _KernelWork(count.flops, tuple(min(count.touched.get(each, 0), byte_count(each.type)) for each in arguments))


class _Count:
    """Counts a kernel's operations, each as often as what it depends on changes: whether it is done anew in other loops
    around it is up to the schedule, which computes once what an axis of registers does not change."""

    def __init__(self) -> None:
        self.flops = 0
        self.touched: dict[SSAValue, int] = {}
        self.trips: dict[Operation, int] = {}
        self.inside: dict[SSAValue, frozenset[Operation]] = {}
        """The loops that a value may be another in from round to round."""

    def block(self, block: Block) -> None:
        for op in block.ops:
            loops = self.loops(op.operands)
            if isinstance(op, ForOp | ReduceOp):
                self.trips[op] = _trips(op)
            for region in op.regions:
                for body in region.blocks:
                    self.inside.update(dict.fromkeys(body.args, loops | {op}))
                    self.block(body)
                    loops = loops | self.loops(body.last_op.operands) if body.last_op else loops
            self.inside.update(dict.fromkeys(op.results, loops - {op}))
            if isinstance(op, AluOp | ReduceOp | ScanOp):
                self.flops += self.times(loops) * sum(is_float(result.type) for result in op.results)
            if isinstance(op, LoadOp | StoreOp):
                element = op.result if isinstance(op, LoadOp) else op.value
                size = byte_width(element_of(element.type)) * self.times(self.loops(op.indices))
                self.touched[op.buffer] = self.touched.get(op.buffer, 0) + size

    def loops(self, values: Iterable[SSAValue]) -> frozenset[Operation]:
        return frozenset[Operation]().union(*(self.inside.get(value, ()) for value in values))

    def times(self, loops: Iterable[Operation]) -> int:
        """How often these loops go round together."""
        return prod(self.trips[loop] for loop in loops)


def _trips(op: ForOp | ReduceOp) -> int:
    """How often a loop goes round; its extent, unless the distance of its limits is a number."""
    extent: int = op.axis.extent.data
    lower, upper = op.limits
    if lower is None or upper is None:
        return extent
    distance = linear_form(upper, _is_exact) - linear_form(lower, _is_exact)
    return extent if distance.terms else max(0, min(extent, distance.constant))


def _is_exact(op: Operation) -> bool:
    """Of indices, which do not wrap around, all but casts."""
    return not isinstance(op, CastOp)
