"""What a program has to do at least: bytes, and operations on floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from ...dialects.loop import ForOp, ReduceOp, ScanOp
from ...dialects.types import byte_count, is_float
from ...dialects.uop import AluOp, KernelOp, LaunchOp


@dataclass(frozen=True)
class Work:
    """flops: operations on floats, of which exp is one and a multiply-add two, as the kernels have them in loop form

    bytes: of the program's inputs and results, each once. moved: of what its kernels take and give, each once
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
    kernels = {op.sym_name.data: _flops(op) for op in module.ops if isinstance(op, KernelOp)}
    launches = [op for op in function.body.walk() if isinstance(op, LaunchOp)]
    type_ = function.function_type
    return Work(
        sum(kernels[launch.kernel.string_value()] for launch in launches),
        _bytes((*type_.inputs.data, *type_.outputs.data)),
        sum(_bytes([value.type for value in (*launch.operands, *launch.results)]) for launch in launches),
        len(launches),
    )


def _bytes(types: Sequence[Attribute]) -> int:
    return sum(byte_count(type_) for type_ in types)


def _flops(kernel: KernelOp) -> int:
    """Operations on floats in a kernel: those of each loop as often as the loops around it go round."""
    total = 0
    waiting: list[tuple[Operation, int]] = [(kernel, 1)]
    while waiting:
        op, times = waiting.pop()
        if isinstance(op, ForOp | ReduceOp):
            times *= op.axis.extent.data
        if isinstance(op, AluOp | ReduceOp | ScanOp):
            total += times * sum(is_float(result.type) for result in op.results)
        waiting += [(inner, times) for region in op.regions for block in region.blocks for inner in block.ops]
    return total
