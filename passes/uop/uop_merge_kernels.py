"""uop-merge-kernels: kernels that compute the same are one, launched several times."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import KernelOp, LaunchOp
from ...rewriting.diagnostics import emit_remark
from ...rewriting.listeners import report_count
from ...rewriting.locations import fuse_locations


@dataclass(frozen=True)
class UOpMergeKernelsPass(ModulePass):
    """Of kernels that are equal but for names, the first stays and is launched in the place of all: the equal layers of
    a model are compiled once.

    Equal means the same operations in the same order on the same types, in whatever form the kernels are, schedules
    included. Each operation of the one that stays gets the locations of those that go. Leaves alone: the launches'
    order, operands and results.
    """

    name = "uop-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kept: dict[Hashable, KernelOp] = {}
        instead: dict[str, KernelOp] = {}
        merged: dict[KernelOp, int] = {}
        for kernel in [each for each in op.ops if isinstance(each, KernelOp)]:
            first = kept.setdefault(structure_of(kernel), kernel)
            if first is not kernel:
                instead[kernel.sym_name.data] = first
                merged[first] = merged.get(first, 1) + 1
                _fuse_locations(first, kernel)
                kernel.detach()
                kernel.erase()
        report_count("equal kernels merged", len(instead))
        if not instead:
            return
        for launch in op.walk():
            if isinstance(launch, LaunchOp) and (first := instead.get(launch.kernel.root_reference.data)) is not None:
                launch.properties["kernel"] = SymbolRefAttr(first.sym_name.data)
        for first, count in merged.items():
            emit_remark(first, f"@{first.sym_name.data} stands for {count} kernels that are equal")


def structure_of(kernel: KernelOp) -> Hashable:
    """All that a kernel is but for its name, the names of its values, and locations."""
    parts: list[Hashable] = [kernel.schedule, kernel.declared_results, *_named(kernel.attributes)]
    _add_block(kernel.body.block, {}, parts)
    return tuple(parts)


def _add_block(block: Block, numbers: dict[SSAValue, int], parts: list[Hashable]) -> None:
    """Values are numbered in the order in which they are made."""
    parts.append(len(block.args))
    for argument in block.args:
        numbers[argument] = len(numbers)
        parts.append(argument.type)
    for op in block.ops:
        parts.append(type(op))
        parts += [numbers[operand] for operand in op.operands]
        for result in op.results:
            numbers[result] = len(numbers)
            parts.append(result.type)
        parts += _named(op.properties)
        parts += _named(op.attributes)
        for region in op.regions:
            parts.append(len(region.blocks))
            for inner in region.blocks:
                _add_block(inner, numbers, parts)
    parts.append(None)  # the end of the block


def _named(attributes: Mapping[str, Attribute]) -> list[Hashable]:
    return [item for name in sorted(attributes) for item in (name, attributes[name])]


def _fuse_locations(kept: Operation, gone: Operation) -> None:
    for first, other in zip(kept.walk(), gone.walk(), strict=True):
        if first.location != other.location:
            first.location = fuse_locations((first.location, other.location))
