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
    """flops: operations on floats, of which exp is one and a multiply-add two, as the kernels have them in loop form

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
    count.block(kernel.body.block, 1)
    arguments = kernel.body.block.args
    return _KernelWork(count.flops, tuple(min(count.touched.get(each, 0), byte_count(each.type)) for each in arguments))


class _Count:
    """Counts a kernel's operations, those of each loop as often as the loops around it go round."""

    def __init__(self) -> None:
        self.flops = 0
        self.touched: dict[SSAValue, int] = {}
        self.trips: dict[Operation, int] = {}
        self.inside: dict[SSAValue, frozenset[Operation]] = {}
        """The loops that a value may be another in from round to round."""

    def block(self, block: Block, times: int) -> None:
        for op in block.ops:
            loops = frozenset[Operation]().union(*(self.loops(operand) for operand in op.operands))
            inner = times
            if isinstance(op, ForOp | ReduceOp):
                self.trips[op] = _trips(op)
                inner *= self.trips[op]
            for region in op.regions:
                for body in region.blocks:
                    self.inside.update(dict.fromkeys(body.args, loops | {op}))
                    self.block(body, inner)
                    last = body.last_op
                    loops = loops.union(*(self.loops(value) for value in last.operands)) if last else loops
            self.inside.update(dict.fromkeys(op.results, loops - {op}))
            if isinstance(op, AluOp | ReduceOp | ScanOp):
                self.flops += inner * sum(is_float(result.type) for result in op.results)
            if isinstance(op, LoadOp | StoreOp):
                # No more elements than the loops that the place depends on go round.
                places = frozenset[Operation]().union(*(self.loops(value) for value in op.indices))
                element = op.result if isinstance(op, LoadOp) else op.value
                size = byte_width(element_of(element.type)) * prod(self.trips[loop] for loop in places)
                self.touched[op.buffer] = self.touched.get(op.buffer, 0) + size

    def loops(self, value: SSAValue) -> frozenset[Operation]:
        return self.inside.get(value, frozenset())


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
