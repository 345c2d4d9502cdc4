"""uop-merge-kernels: kernels that compute the same are one, launched several times."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.uop import KernelOp, LaunchOp
from ...rewriting.diagnostics import emit_remark
from ...rewriting.listeners import report_count
from ...rewriting.locations import fuse_locations


class UOpMergeKernelsPass(ModulePass):
    """Of kernels that are equal but for names, the first stays and is launched in the place of all: the equal layers of
    a model are compiled once.

    Equal means the same operations on the same types, in whatever form the kernels are, schedules included. In tensor
    form, what matters is which result is computed from which: the operations, and what the kernel takes, may be in
    another order, which the launches then follow. Each operation of the kernel that stays gets the locations of those
    that go. Leaves alone: the order of the launches, and their results.
    """

    name = "uop-merge-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kept: dict[Hashable, _Kernel] = {}
        instead: dict[str, tuple[_Kernel, _Kernel]] = {}
        """Name of a kernel that goes → the one that stays, and it."""
        merged: dict[KernelOp, int] = {}
        for kernel in [each for each in op.ops if isinstance(each, KernelOp)]:
            gone = _Kernel.of(kernel)
            first = kept.setdefault(gone.structure, gone)
            if first is not gone:
                instead[kernel.sym_name.data] = first, gone
                merged[first.op] = merged.get(first.op, 1) + 1
                first.fuse_locations(gone)
                kernel.detach()
                kernel.erase()
        report_count("equal kernels merged", len(instead))
        if not instead:
            return
        for launch in op.walk():
            if isinstance(launch, LaunchOp) and (pair := instead.get(launch.kernel.root_reference.data)) is not None:
                first, gone = pair
                launch.properties["kernel"] = SymbolRefAttr(first.op.sym_name.data)
                if first.order != gone.order:
                    operands = dict(zip(first.order, (launch.operands[place] for place in gone.order), strict=True))
                    launch.operands = [operands[place] for place in range(len(operands))]
        for kernel, count in merged.items():
            emit_remark(kernel, f"@{kernel.sym_name.data} stands for {count} kernels that are equal")


@dataclass(frozen=True, eq=False)
class _Kernel:
    """A kernel.

    structure: all that it is but for its name, the names of its values, and locations
    ops:       its operations in the order in which the structure names them
    order:     the places of its arguments in that order; in tensor form that of their first use
    """

    op: KernelOp
    structure: Hashable
    ops: Sequence[Operation]
    order: Sequence[int]

    @staticmethod
    def of(op: KernelOp) -> _Kernel:
        block = op.body.block
        structure = _Structure()
        structure.parts += [op.schedule, op.declared_results, *_named(op.attributes)]
        if op.is_tensor_form:
            for inner in _by_use(block):
                structure.operation(inner)
        else:
            for argument in block.args:  # the buffers of results are among them, and stay where they are
                structure.number(argument)
            structure.block(block)
        for argument in block.args:
            structure.number(argument)
        order = sorted(range(len(block.args)), key=lambda place: structure.numbers[block.args[place]])
        structure.parts += [block.args[place].type for place in order]
        return _Kernel(op, tuple(structure.parts), structure.ops, order)

    def fuse_locations(self, other: _Kernel) -> None:
        """Let each operation come from where its like in an equal kernel comes from, too."""
        pairs = zip((self.op, *self.ops), (other.op, *other.ops), strict=True)
        for mine, theirs in pairs:
            if mine.location != theirs.location:
                mine.location = fuse_locations((mine.location, theirs.location))


def _by_use(block: Block) -> list[Operation]:
    """The operations of a kernel in tensor form: what each operand comes from, in the order of operands, then itself;
    the last, which is what the kernel gives, at the end."""
    last = block.last_op
    assert last is not None
    found: dict[Operation, None] = {}
    stack = [(last, False)]
    while stack:
        op, complete = stack.pop()
        if complete:
            found[op] = None
        elif op not in found:
            stack.append((op, True))
            owners = [operand.owner for operand in reversed(op.operands)]
            stack += [(owner, False) for owner in owners if isinstance(owner, Operation)]
    return list(found)


class _Structure:
    """Values are numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.parts: list[Hashable] = []
        self.ops: list[Operation] = []
        self.numbers: dict[SSAValue, int] = {}

    def number(self, value: SSAValue) -> int:
        return self.numbers.setdefault(value, len(self.numbers))

    def operation(self, op: Operation) -> None:
        self.ops.append(op)
        self.parts.append(type(op))
        self.parts += map(self.number, op.operands)
        for result in op.results:
            self.number(result)
            self.parts.append(result.type)
        self.parts += _named(op.properties)
        self.parts += _named(op.attributes)
        for region in op.regions:
            for inner in region.blocks:
                self.block(inner)
            self.parts.append(None)  # the end of the region

    def block(self, block: Block) -> None:
        self.parts.append(len(block.args))
        for argument in block.args:
            self.number(argument)
            self.parts.append(argument.type)
        for op in block.ops:
            self.operation(op)


def _named(attributes: Mapping[str, Attribute]) -> list[Hashable]:
    return [item for name in sorted(attributes) for item in (name, attributes[name])]
