"""uop-split-attention: few queries with many keys keep a machine busy when several blocks have parts of the keys."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, f32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.limits import Limits
from ...dialects.types import index
from ...dialects.uop import (
    ALU_OPS,
    CastOp,
    ConstOp,
    KernelOp,
    LaunchOp,
    LoadOp,
    RangeOp,
    ReduceOp,
    StoreOp,
    constant_value,
)
from ...rewriting.backward_slices import backward_slice
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import emit_remark
from .free_ranges import FreeRanges
from .machines import Machine, machine_named
from .names import distinct_names
from .split_range import split_range

UNIT = 64
"""Parts are multiples of so many keys, which blocks take together: only the last has fewer."""


@dataclass(frozen=True)
class UOpSplitAttentionPass(ModulePass):
    """In kernels in range form that reduce with `online_attention`:

    - Heads of queries that share keys, which are read at `i ÷ 4`, become two ranges: what shares keys is then an axis.
    - Where few queries share many keys, and there are few blocks of them, the keys are split into parts, side by side.
      One kernel reduces each part to (maximum, sum, sum of vectors), which a second combines; it does all that stood
      behind the reduction. Limits of the keys become those of each part.

    Sums are rounded in another order for it. Leaves alone: other kernels, those whose results take the place of
    operands.

    machine: what the kernels are for, `gpu` or `cpu`; machines.py says how many blocks are enough there, and how many
      keys a part has at the least.
    """

    name = "uop-split-attention"

    machine: str = "gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        machine = machine_named(self.machine)
        kernels = [each for each in op.ops if isinstance(each, KernelOp)]
        for kernel in kernels:
            reduction = _attention(kernel)
            if reduction is None:
                continue
            _split_heads(kernel)
            parts = _Parts.of(kernel, reduction, machine)
            users = [] if parts is None else _launches(op, kernel)
            if parts is not None and not any("reuse" in launch.properties for launch in users):
                parts.run(op, users)


def _launches(module: ModuleOp, kernel: KernelOp) -> list[LaunchOp]:
    blocks = [block for function in module.ops if isinstance(function, FuncOp) for block in function.body.blocks]
    launches = [op for block in blocks for op in block.ops if isinstance(op, LaunchOp)]
    return [launch for launch in launches if launch.kernel.root_reference.data == kernel.sym_name.data]


def _attention(kernel: KernelOp) -> ReduceOp | None:
    """The one reduction with `online_attention` of a kernel in range form."""
    found = [op for op in kernel.body.block.ops if isinstance(op, ReduceOp) and op.monoid.data == "online_attention"]
    return found[0] if len(found) == 1 and len(found[0].over) == 1 else None


# Heads that share keys.

_FLOORDIV, _FLOORMOD = ALU_OPS["floordiv"], ALU_OPS["floormod"]


def _split_heads(kernel: KernelOp) -> None:
    """Make two of each parallel range that is divided by one number, of which its extent is a multiple."""
    block = kernel.body.block
    bound = {range for op in block.ops if isinstance(op, ReduceOp) for range in op.over}
    for op in [each for each in block.ops if isinstance(each, RangeOp)]:
        divided = [
            use.operation
            for use in op.result.uses
            if isinstance(use.operation, _FLOORDIV | _FLOORMOD) and use.index == 0
        ]
        divisors = {constant_value(user.operands[1]) for user in divided}
        if len(divisors) != 1 or op.limits.values or op.result in bound:
            continue
        (divisor,) = divisors
        if not isinstance(divisor, int) or not 1 < divisor < op.extent or op.extent % divisor:
            continue
        split_range(op, divisor)
    erase_unused(block, (RangeOp,))


# Parts of the keys.


@dataclass(frozen=True)
class _Parts:
    """A kernel whose reduction over `keys` is split into `count` parts of `size`.

    rows: the ranges that scores depend on beside the keys. channels: those that only the values depend on.
    is_dealt: whether neighbouring blocks have parts that are far from each other.
    """

    kernel: KernelOp
    reduction: ReduceOp
    keys: RangeOp
    count: int
    size: int
    rows: Sequence[RangeOp]
    channels: Sequence[RangeOp]
    is_dealt: bool

    @staticmethod
    def of(kernel: KernelOp, reduction: ReduceOp, machine: Machine) -> _Parts | None:
        """None where it does not pay; a remark says why it does, or not."""
        free = FreeRanges()
        score, weight, value = reduction.inputs
        keys = reduction.over[0].owner
        assert isinstance(keys, RangeOp)
        own = free.of((score, weight)) - {keys.result}
        ranges = [op for op in kernel.body.block.ops if isinstance(op, RangeOp)]
        rows = [op for op in ranges if op.result in own]
        channels = [op for op in ranges if op.result in free[value] - own - {keys.result}]
        # Queries differ in the ranges that neither keys nor values depend on.
        products = [x for op in _needed((score,)) if isinstance(op, ReduceOp) for x in op.inputs]
        read = [op.result for op in _needed((*products, value)) if isinstance(op, LoadOp)]
        shared = free.of(value for value in read if keys.result in free[value])
        queries = prod(op.extent for op in rows if op.result not in shared)
        groups = prod(op.extent for op in rows) // max(1, queries) * -(-queries // machine.together)
        name = kernel.sym_name.data
        if not 0 < queries <= machine.few_queries or not groups or any(op.limits.values for op in (*rows, *channels)):
            return None
        most = min(machine.blocks // groups, keys.extent // machine.part)
        if most < 2:
            if keys.extent >= 2 * machine.part:
                emit_remark(kernel, f"@{name}: its {keys.extent} keys stay together: {groups} blocks are enough")
            return None
        size = -(-keys.extent // (most * UNIT)) * UNIT
        count = -(-keys.extent // size)
        emit_remark(
            kernel,
            f"@{name}: its {keys.extent} keys are split into {count} parts of {size}: they have {groups} blocks of "
            f"queries, of {machine.blocks} that are enough",
        )
        # Where keys end early, a thread of neighbouring parts may have none to do: each gets some of the first.
        is_dealt = machine.takes_neighbours and bool(keys.limits.values)
        return _Parts(kernel, reduction, keys, count, size, rows, channels, is_dealt)

    def run(self, module: ModuleOp, launches: Iterable[LaunchOp]) -> None:
        """Put a kernel that reduces parts in front of the kernel, and let that combine them."""
        parts, inputs = self.partial()
        body, others = self.combination()
        outputs = len(self.kernel.body.block.args) - len(_inputs(self.kernel))
        module.body.block.insert_op_before(parts, self.kernel)
        self.kernel.detach_region(self.kernel.body)
        self.kernel.add_region(Region(body))
        types = [TensorType(f32, type.get_shape()) for type in self.types()]
        for launch in launches:
            first = LaunchOp.of(parts.sym_name.data, [launch.operands[place - outputs] for place in inputs], types)
            first.location = launch.location
            block = launch.parent
            assert block is not None
            block.insert_op_before(first, launch)
            launch.operands = [*first.results, *(launch.operands[place - outputs] for place in others)]

    def types(self) -> tuple[MemRefType, MemRefType, MemRefType]:
        """The buffers of the maxima, of the sums and of the sums of vectors of all parts."""
        shape = [*(op.extent for op in self.rows), self.count]
        own = MemRefType(f32, shape)
        return own, own, MemRefType(f32, [*shape, *(op.extent for op in self.channels)])

    def partial(self) -> tuple[KernelOp, list[int]]:
        """The kernel that reduces each part, and the places of the arguments that it takes."""
        reduction, keys = self.reduction, self.keys
        ops = _needed(reduction.inputs)
        inputs = _read(ops)
        copies = _Copies(self.kernel, [*self.types()], ["max", "sum", "acc"], inputs)
        builder = copies.builder
        copies.add(op for op in ops if op in (*self.rows, *self.channels))
        with builder.at(keys.location):
            part = self._part(builder)
            first = builder.alu("mul", part, builder.const(self.size, index))
            copies.add(op for op in _needed(keys.limits.values) if op.results[0] not in copies.values)
            limits = [None if x is None else builder.alu("sub", copies.values[x], first) for x in keys.limits]
            own = builder.insert(RangeOp.of(keys.axis.axis.data, self.size, Limits(*limits))).result
            own.name_hint = keys.result.name_hint
            key = copies.values[keys.result] = builder.alu("add", first, own)
            inside = None
            if self.count * self.size > keys.extent:
                inside = builder.alu("lt", key, builder.const(keys.extent, index))
        copies.add((op for op in ops if op.results[0] not in copies.values), inside, self.keys.result)
        with builder.at(reduction.location):
            elements = [copies.values[value] for value in reduction.inputs]
            if inside is not None:
                numbers = reduction.monoid.monoid.identity([value.type for value in elements])
                elements = [
                    builder.alu("where", inside, value, builder.const(number, value.type))
                    if number or not _is_finite(value)
                    else value
                    for value, number in zip(elements, numbers, strict=True)
                ]
            results = builder.insert(ReduceOp.of(reduction.monoid.data, elements, (own,))).results
            rows = [*(copies.values[op.result] for op in self.rows), part]
            channels = [copies.values[op.result] for op in self.channels]
            for result, buffer, at in zip(results, copies.block.args, ([], [], channels), strict=False):
                builder.insert(StoreOp.of(result, buffer, [*rows, *at]))
        kernel = KernelOp.of(f"{self.kernel.sym_name.data}_parts", (), Region(copies.block))
        kernel.location = self.kernel.location
        return kernel, inputs

    def _part(self, builder: Builder) -> SSAValue:
        """The number of a part: a range, or where parts are dealt one for each of its digits, the least outermost."""
        digits = _prime_factors(self.count) if self.is_dealt else [self.count]
        taken = [op.axis.axis.data for op in self.kernel.body.block.ops if isinstance(op, RangeOp)]
        names = distinct_names(taken, ["p"] * len(digits))[len(taken) :]
        ranges: list[SSAValue] = []
        for name, digit in zip(names, digits, strict=True):
            ranges.append(builder.insert(RangeOp.of(name, digit)).result)
            ranges[-1].name_hint = name
        part, step = ranges[0], digits[0]
        for range, digit in zip(ranges[1:], digits[1:], strict=True):
            part = builder.alu("add", part, builder.alu("mul", range, builder.const(step, index)))
            step *= digit
        return part

    def combination(self) -> tuple[Block, list[int]]:
        """The body of the kernel that combines what the parts give, and the places of the arguments that it takes
        beside them."""
        reduction = self.reduction
        stores = [op for op in self.kernel.body.block.ops if isinstance(op, StoreOp)]
        ops = _needed([operand for op in stores for operand in op.operands], reduction)
        written = len(self.kernel.body.block.args) - len(_inputs(self.kernel))
        others = [place for place in _read(ops) if place >= written]
        outputs = self.kernel.body.block.args[:written]
        names = [argument.name_hint or "out" for argument in outputs]
        copies = _Copies(
            self.kernel, [*(x.type for x in outputs), *self.types()], [*names, "max", "sum", "acc"], others
        )
        copies.values.update(zip(outputs, copies.block.args, strict=False))
        builder = copies.builder
        copies.add(op for op in ops if op in (*self.rows, *self.channels))
        with builder.at(reduction.location):
            part = builder.insert(RangeOp.of(self.keys.axis.axis.data, self.count)).result
            part.name_hint = self.keys.result.name_hint
            rows = [*(copies.values[op.result] for op in self.rows), part]
            channels = [copies.values[op.result] for op in self.channels]
            partial = [
                builder.insert(LoadOp.of(buffer, [*rows, *at])).result
                for buffer, at in zip(copies.block.args[written:], ([], [], channels), strict=False)
            ]
            results = builder.insert(ReduceOp.of(reduction.monoid.data, partial, (part,))).results
            copies.values.update(zip(reduction.results, results, strict=True))
        copies.add(op for op in ops if op.results[0] not in copies.values)
        copies.add(stores)
        return copies.block, others


class _Copies:
    """A body of a kernel that is built of ops of another.

    values: value of the old kernel → value of this one. The arguments are buffers of these types and names, then the
    old kernel's at `places`.
    """

    def __init__(self, kernel: KernelOp, types: Sequence[Attribute], names: Sequence[str], places: Sequence[int]):
        old = [kernel.body.block.args[place] for place in places]
        self.block = Block(arg_types=[*types, *(argument.type for argument in old)])
        hints = distinct_names(names, [argument.name_hint or "in" for argument in old])
        for argument, hint in zip(self.block.args, hints, strict=True):
            argument.name_hint = hint
        self.builder = Builder(self.block)
        self.values: dict[SSAValue, SSAValue] = {}
        for argument, new in zip(old, self.block.args[len(types) :], strict=True):
            self.values[argument] = new
            new.location = argument.location
        self._free = FreeRanges()

    def add(self, ops: Iterable[Operation], inside: SSAValue | None = None, range: SSAValue | None = None) -> None:
        """Build these again; inside: what is loaded where `range` goes is loaded only where this holds."""
        for op in list(ops):
            operands = [self.values[operand] for operand in op.operands]
            with self.builder.at(op.location):
                if isinstance(op, LoadOp) and inside is not None and range in self._free[op.result]:
                    mask = inside if op.mask is None else self.builder.alu("and", operands[-1], inside)
                    copy = self.builder.insert(LoadOp.of(operands[0], operands[1 : 1 + len(op.indices)], mask))
                elif not isinstance(op, RangeOp | StoreOp):
                    copy = self.builder.pure_like(op, operands)
                else:
                    copy = self.builder.insert(
                        type(op).create(  # pyright: ignore[reportUnknownMemberType]
                            operands=operands,
                            result_types=[result.type for result in op.results],
                            properties=op.properties,
                            attributes=op.attributes,
                        )
                    )
            for old, new in zip(op.results, copy.results, strict=True):
                self.values[old] = new
                new.name_hint = old.name_hint


def _prime_factors(number: int) -> list[int]:
    """Of a number greater than 1, ascending."""
    factors: list[int] = []
    factor = 2
    while number > 1:
        while number % factor == 0:
            factors.append(factor)
            number //= factor
        factor += 1
    return factors


def _needed(values: Iterable[SSAValue], beside: Operation | None = None) -> list[Operation]:
    """The ops that values are made of, in the order of their block; none behind `beside`, nor itself."""
    found = set(backward_slice(values, beside))
    block = next((op.parent for op in found), None)
    return [] if block is None else [op for op in block.ops if op in found]


def _is_finite(value: SSAValue) -> bool:
    """Whether a value is a number whatever the loads behind the last key give, which is 0: then its product with
    exp(−∞ − maximum) is 0."""
    while isinstance(value.owner, CastOp):
        value = value.owner.input
    return isinstance(value.owner, LoadOp | ConstOp)


def _read(ops: Iterable[Operation]) -> list[int]:
    """The places of the arguments that are loaded from."""
    buffers = [op.buffer for op in ops if isinstance(op, LoadOp)]
    return sorted({buffer.index for buffer in buffers if isinstance(buffer, BlockArgument)})


def _inputs(kernel: KernelOp) -> list[SSAValue]:
    """The arguments that are no outputs."""
    written = {op.buffer for op in kernel.body.block.ops if isinstance(op, StoreOp)}
    return [argument for argument in kernel.body.block.args if argument not in written]
