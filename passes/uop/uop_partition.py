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
    ScanAxisOp,
    ScatterOp,
    YieldOp,
)
from ...rewriting.builder import Builder
from ...rewriting.diagnostics import PassError
from ...rewriting.locations import fuse_locations
from .cones import Cone
from .fusion import Fusion
from .kernel_joins import source_of_view
from .machines import machine_named
from .names import distinct_names
from .reshape_groups import without_ones
from .value_names import check_names
from .views import View, find_views


@dataclass(frozen=True)
class UOpPartitionPass(ModulePass):
    """A function of uop's tensor ops → kernels in tensor form, and the program that launches them.

    Fusion is a choice by cost: fusion.py says how the cuts are chosen, fusion_limits.py what a kernel cannot do,
    fusion_cost.py what it costs. Each cut and each join is told as a remark, with what the kernels cost and what they
    would cost otherwise. Reshapes of what kernels read and write become views in the program, unless they only add or
    drop axes of extent 1 of what a kernel reads.

    Kernels @f_0, @f_1, … stand before the function @f, in the order of their launches. A kernel's inputs are in
    the order of the function's arguments, then of the launches. Dead ops are dropped. Leaves alone: functions
    that hold nothing but launches, reshapes and a return. Refused: `uop.scatter`, ops of other dialects,
    functions that return scalars.

    one_pass: whether a softmax between two products is one kernel, for uop-fuse-reductions to make one pass of.
    machine: what the kernels are for, `gpu` or `cpu`; machines.py says what takes how long on it.
    cut, join: names of values that are stored, or not, whatever that costs: `model.py:7` for what others use of the
      values that a source line computes, `%x` for one that has a name. A wrong name is an error that lists the names.
    """

    name = "uop-partition"

    machine: str = "gpu"
    one_pass: bool = True
    cut: tuple[str, ...] = ()
    join: tuple[str, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_named(self.machine)
        names = (inner.properties.get("sym_name") for inner in op.ops)
        symbols = {name.data for name in names if isinstance(name, StringAttr)}
        functions = [inner for inner in op.ops if isinstance(inner, FuncOp) and inner.body.blocks]
        functions = [function for function in functions if not _is_program(function)]
        check_names(functions, "cut", self.cut)
        check_names(functions, "join", self.join)
        for function in functions:
            _check(function)
            fusion = Fusion(
                function.body.block,
                machine=machine,
                one_pass=self.one_pass,
                cut=self.cut,
                join=self.join,
            )
            _Partition(function, symbols).run(fusion)


def _is_program(function: FuncOp) -> bool:
    return all(isinstance(op, LaunchOp | ReshapeOp | ReturnOp) for op in function.body.block.ops) and any(
        isinstance(op, LaunchOp) for op in function.body.block.ops
    )


_SUPPORTED = (AluOp, CastOp, BitcastOp, ConstOp, MovementOp, IotaOp, ReduceAxisOp, ScanAxisOp, GatherOp)


def _check(function: FuncOp) -> None:
    """Raise `PassError` for what cannot stand in a kernel."""
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            for value in op.operands:
                if not isinstance(value.type, TensorType):
                    raise PassError(
                        f"a program returns tensors, not {value.type}", op, "uop.expand makes a tensor of a scalar"
                    )
        elif isinstance(op, ScatterOp):
            raise PassError("uop.scatter cannot stand in a kernel", op, "uop-expand-scatter makes reductions of it")
        elif not isinstance(op, _SUPPORTED):
            raise PassError(f"{op.name} is no tensor op of uop", op, "convert-torch-to-uop makes them")


class _Partition:
    """Builds the kernels and the program of one function, once the cuts are chosen."""

    def __init__(self, function: FuncOp, symbols: set[str]):
        self.function = function
        self.symbols = symbols
        self.old = function.body.block
        self.block = Block(arg_types=[argument.type for argument in self.old.args])
        self.buffers: dict[SSAValue, SSAValue] = {}
        """Arguments and results of launches, by what they are in the function."""
        self.order: dict[SSAValue, int] = {}
        self.views: dict[View, SSAValue] = {}
        for old, new in zip(self.old.args, self.block.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
            self.add_buffer(old, new)

    def add_buffer(self, old: SSAValue, new: SSAValue) -> None:
        self.order[old] = len(self.order)
        self.buffers[old] = new
        self.views[View(old, shape_of(new.type))] = new

    def run(self, fusion: Fusion) -> None:
        """Put the program in place, the kernels in front of it."""
        kernels: list[KernelOp] = []
        for cone in fusion.kernels():
            kernels.append(self.launch(cone, f"{self.function.sym_name.data}_{len(kernels)}"))
        returned = self.old.last_op
        assert isinstance(returned, ReturnOp)
        outputs = [self.view(View(source_of_view(v), shape_of(v.type)), v) for v in returned.operands]
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
            reshape = ReshapeOp.of(self.buffers[view.source], view.shape)
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
        views = find_views(cone, {leaf: shape_of(self.buffers[leaf].type) for leaf in cone.leaves})
        ops = [op for op in cone.ops if op.results[0] not in views or op is cone.ops[-1]]
        read = dict.fromkeys(value for op in ops for value in op.operands if value in views)
        shown: dict[View, SSAValue] = {}
        for value in sorted(read, key=lambda value: self.order[views[value].view.source]):
            shown.setdefault(views[value].view, value)
        arguments = [self.view(view, value) for view, value in shown.items()]
        block = Block(arg_types=[argument.type for argument in arguments])
        hints = [self.buffers[view.source].name_hint or "x" for view in shown]
        for argument, hint in zip(block.args, distinct_names((), hints), strict=True):
            argument.name_hint = hint
        inputs = dict(zip(shown, block.args, strict=True))

        builder = Builder(block)
        values: dict[SSAValue, SSAValue] = {}
        for op in ops:
            with builder.at(op.location):
                for value in op.operands:
                    if value not in values:
                        argument = inputs[views[value].view]
                        values[value] = views[value].build(builder, argument, shape_of(value.type))
                copy = builder.pure_like(op, [values[value] for value in op.operands])
            values.update(zip(op.results, copy.results, strict=True))
        with builder.at(cone.ops[-1].location):
            results = [builder.reshape(values[root], _buffer_shape(root)) for root in cone.roots]
            builder.insert(YieldOp.of(results, _buffer_parts(cone)))

        location = fuse_locations(op.location for op in cone.ops)
        types = [result.type for result in results]
        kernel = KernelOp.of(name, types, Region(block))
        launch = LaunchOp.of(name, arguments, types)
        kernel.location = launch.location = location
        self.block.add_op(launch)
        for root, result in zip(cone.roots, launch.results, strict=True):
            result.name_hint = root.name_hint
            self.add_buffer(root, result)
        return kernel


def _buffer_parts(cone: Cone) -> tuple[int, ...]:
    """The parts of the kernel's results, which have the shapes of buffers."""
    root = cone.roots[0]
    if len(_buffer_shape(root)) == len(cone.parts):
        return cone.parts
    return tuple(count for count, extent in zip(cone.parts, shape_of(root.type), strict=False) if extent != 1)


def _buffer_shape(root: SSAValue) -> tuple[int, ...]:
    """The shape of a kernel's result: without axes of extent 1 where it is only reshaped."""
    shape = shape_of(root.type)
    return without_ones(shape) if all(isinstance(use.operation, ReshapeOp) for use in root.uses) else shape
