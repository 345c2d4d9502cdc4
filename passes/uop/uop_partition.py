"""uop-partition: a function of tensor ops becomes a program of kernels."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.types import shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    GatherOp,
    IotaOp,
    KernelOp,
    LaunchOp,
    MovementOp,
    ReduceAxisOp,
    ReshapeOp,
    ScanOp,
    ScatterOp,
    YieldOp,
)
from ...rewriting.diagnostics import PassError
from ...rewriting.locations import fuse_locations
from .fusion import Fusion, source_of_view
from .fusion_limits import Cone
from .names import distinct_names


@dataclass(frozen=True)
class UOpPartitionPass(ModulePass):
    """A function of uop's tensor ops → kernels in tensor form, and the program that launches them.

    Fusion is a choice by cost: fusion.py says how the cuts are chosen, fusion_limits.py what a kernel must not do. Each cut is
    told as a remark. Reshapes of what kernels read and write become views in the program, unless they only add or drop axes of
    extent 1 of what a kernel reads.

    Kernels @f_0, @f_1, … stand before the function @f, in the order of their launches. A kernel's inputs are in the order of the
    function's arguments, then of the launches. Dead ops are dropped.
    Leaves alone: functions that hold nothing but launches, reshapes and a return. Refused: `uop.scan` and `uop.scatter`, ops of
    other dialects, functions that return scalars.
    """

    name = "uop-partition"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        names = (inner.properties.get("sym_name") for inner in op.ops)
        symbols = {name.data for name in names if isinstance(name, StringAttr)}
        for function in op.ops:
            if isinstance(function, FuncOp) and function.body.blocks and not _is_program(function):
                _check(function)
                _Partition(function, symbols).run()


def _is_program(function: FuncOp) -> bool:
    return all(isinstance(op, LaunchOp | ReshapeOp | ReturnOp) for op in function.body.block.ops) and any(
        isinstance(op, LaunchOp) for op in function.body.block.ops
    )


_SUPPORTED = (AluOp, CastOp, BitcastOp, ConstOp, MovementOp, IotaOp, ReduceAxisOp, GatherOp)


def _check(function: FuncOp) -> None:
    """Raise `PassError` for what cannot stand in a kernel."""
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            for value in op.operands:
                if not isinstance(value.type, TensorType):
                    raise PassError(
                        f"a program returns tensors, not {value.type}", op, "uop.expand makes a tensor of a scalar"
                    )
        elif isinstance(op, ScanOp | ScatterOp):
            raise PassError(f"{op.name} is not supported yet", op, "no kernel can compute it; compute it outside")
        elif not isinstance(op, _SUPPORTED):
            raise PassError(f"{op.name} is no tensor op of uop", op, "convert-torch-to-uop makes them")


View = tuple[SSAValue, tuple[int, ...]]
"""A buffer (a value of the function) under a shape."""


class _Partition:
    """Builds the kernels and the program of one function, once the cuts are chosen."""

    def __init__(self, function: FuncOp, symbols: set[str]):
        self.function = function
        self.symbols = symbols
        self.old = function.body.block
        self.block = Block(arg_types=[argument.type for argument in self.old.args])
        self.values: dict[SSAValue, SSAValue] = {}
        """Buffers: arguments and results of launches, by what they are in the function."""
        self.order: dict[SSAValue, int] = {}
        self.views: dict[View, SSAValue] = {}
        for old, new in zip(self.old.args, self.block.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            self.add_buffer(old, new)

    def add_buffer(self, old: SSAValue, new: SSAValue) -> None:
        self.order[old] = len(self.order)
        self.values[old] = new
        self.views[old, shape_of(old.type)] = new

    def run(self) -> None:
        """Put the program in place, the kernels in front of it."""
        kernels: list[KernelOp] = []
        for cone in Fusion(self.old).kernels():
            kernels.append(self.launch(cone, f"{self.function.sym_name.data}_{len(kernels)}"))
        returned = self.old.last_op
        assert isinstance(returned, ReturnOp)
        outputs = [self.view((source_of_view(v), shape_of(v.type)), v) for v in returned.operands]
        self.block.add_op(ReturnOp.create(operands=outputs, location=returned.location))
        self.function.detach_region(self.function.body)
        self.function.add_region(Region(self.block))
        module = self.function.parent
        assert module is not None
        for kernel in kernels:
            module.insert_op_before(kernel, self.function)

    def view(self, view: View, value: SSAValue) -> SSAValue:
        """The view in the program; `value` is what shows it in the function."""
        if view not in self.views:
            reshape = ReshapeOp.of(self.values[view[0]], view[1])
            if isinstance(value.owner, Operation):
                reshape.location = value.owner.location
            self.block.add_op(reshape)
            self.views[view] = reshape.result
        return self.views[view]

    def launch(self, cone: Cone, name: str) -> KernelOp:
        """Build the kernel and its launch."""
        while name in self.symbols:
            name += "_"
        self.symbols.add(name)
        views = _views_of_leaves(cone)
        ops = [op for op in cone.ops if op.results[0] not in views]
        read = dict.fromkeys(value for op in ops for value in op.operands if value in views)
        shown: dict[View, SSAValue] = {}
        for value in sorted(read, key=lambda value: self.order[views[value][0]]):
            shown.setdefault(views[value], value)
        arguments = [self.view(view, value) for view, value in shown.items()]
        block = Block(arg_types=[argument.type for argument in arguments])
        hints = [self.values[source].name_hint or "x" for source, _ in shown]
        for argument, hint in zip(block.args, distinct_names((), hints), strict=True):
            argument.name_hint = hint
        inputs = dict(zip(shown, block.args, strict=True))

        values: dict[SSAValue, SSAValue] = {}
        for op in cone.ops:
            result = op.results[0]
            operands: list[SSAValue] = []
            if result in views:
                if result not in read or shape_of(result.type) == views[result][1]:
                    continue
                operands.append(inputs[views[result]])
            else:
                operands.extend(values[v] if v in values else inputs[views[v]] for v in op.operands)
            copy = type(op).create(  # pyright: ignore[reportUnknownMemberType]
                operands=operands,
                result_types=[result.type for result in op.results],
                properties=op.properties,
                attributes=op.attributes,
                location=op.location,
            )
            block.add_op(copy)
            values.update(zip(op.results, copy.results, strict=True))

        location = fuse_locations(op.location for op in cone.ops)
        types = [root.type for root in cone.roots]
        block.add_op(YieldOp.create(operands=[values[root] for root in cone.roots], location=cone.ops[-1].location))
        kernel = KernelOp.of(name, types, Region(block))
        launch = LaunchOp.of(name, arguments, types)
        kernel.location = launch.location = location
        self.block.add_op(launch)
        for root, result in zip(cone.roots, launch.results, strict=True):
            result.name_hint = root.name_hint
            self.add_buffer(root, result)
        return kernel


def _views_of_leaves(cone: Cone) -> dict[SSAValue, View]:
    """The leaves and the reshapes of leaves, each with the view that the kernel takes for it.

    Reshapes that differ in axes of extent 1 only share a view.
    """
    views: dict[SSAValue, View] = {leaf: (leaf, shape_of(leaf.type)) for leaf in cone.leaves}
    for op in cone.ops:
        if isinstance(op, ReshapeOp) and op.input in views:
            source, shape = views[op.input]
            for known in (shape_of(source.type), shape):
                if _without_ones(known) == _without_ones(shape_of(op.result.type)):
                    views[op.result] = source, known
                    break
            else:
                views[op.result] = source, shape_of(op.result.type)
    return views


def _without_ones(shape: tuple[int, ...]) -> list[int]:
    return [extent for extent in shape if extent != 1]
