"""uop-rangeify: kernels of tensors become scalar kernels over ranges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import chain, count

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, LocationAttr, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects.monoids import MonoidAttr
from ...dialects.syntax import segment_sizes
from ...dialects.types import element_of, index, shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    IotaOp,
    KernelOp,
    LoadOp,
    PadOp,
    RangeOp,
    ReduceAxisOp,
    ReduceOp,
    ScanAxisOp,
    ScanOp,
    StoreOp,
    YieldOp,
)
from ...rewriting.builder import Builder
from .accesses import Access, Accesses, Condition
from .index_algebra import Index
from .names import distinct_names


class UOpRangeifyPass(ModulePass):
    """Tensor form → range form: movement becomes index arithmetic, every element of the results is one scalar
    expression.

    - The kernel takes buffers: its results' (`out`, or `out0`, `out1`, …), then its arguments'. Buffers keep
      their shapes, and each result is stored at one range for each of its dimensions, those of one shape at the same;
      where `uop.yield` cuts dimensions into parts, each part has a store.
    - A reduction binds the ranges that it goes over. One range serves all phases that walk the same logical
      axis (softmax: the maximum, the sum and the store), unless it is in use around the reduction. Dimensions
      of extent 1 have index 0.
    - A scan goes over the range at which its result is read.
    - A value that is used at two places (index tuples) is computed at both; a place is computed once.
    - Padding becomes a mask where it pads an input of the kernel, and `where(inside, value, 0)` where it pads a
      computed value, whose loads are then masked as far as they would leave their buffers.
    - A gather reads where its index lies inside the buffer, and gives 0 elsewhere.

    Ranges are named i, j, l, m, … in the order of the results' dimensions, those of reductions only k, k1, k2, ….
    Leaves alone: kernels that are not in tensor form. Refused: `uop.scatter`, and a scan that is read elsewhere than
    at the steps of a range.
    """

    name = "uop-rangeify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and kernel.is_tensor_form:
                rangeify(kernel)


def rangeify(kernel: KernelOp) -> None:
    """Give a kernel in tensor form its range form."""
    _Rangeify(kernel).run()


class _Rangeify:
    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        block = kernel.body.block
        *self.ops, result = block.ops
        assert isinstance(result, YieldOp)
        self.result = result
        self.plan = Accesses(self.ops, self.result.operands, frozenset(block.args), parts=self.result.part_counts)
        outputs = len(self.result.operands)
        names = distinct_names(
            ["out"] if outputs == 1 else [f"out{n}" for n in range(outputs)],
            [argument.name_hint or "in" for argument in block.args],
        )
        self.block = Block(arg_types=[_buffer_type(value.type) for value in (*self.result.operands, *block.args)])
        for argument, name in zip(self.block.args, names, strict=True):
            argument.name_hint = name
        for old, new in zip(block.args, self.block.args[outputs:], strict=True):
            new.location = old.location
        self.buffers = dict(zip(block.args, self.block.args[outputs:], strict=True))
        self.builder = Builder(self.block)
        self.values: dict[tuple[SSAValue, Access], SSAValue] = {}
        self.ranges: dict[int, SSAValue] = {}
        self.parallel_names = chain(_PARALLEL_NAMES, (f"i{n}" for n in count(1)))
        self.bound_names = chain(("k",), (f"k{n}" for n in count(1)))

    def run(self) -> None:
        """Build the kernel's new body and put it in place."""
        outputs = dict(zip(self.result.operands, self.block.args, strict=False))
        for root, access in self.plan.roots:
            with self.builder.at(_location(root, self.kernel)):
                for expression in access.indices:
                    for number in self.plan.algebra.ranges(expression):
                        self.range(number, self.parallel_names)
        for root, access in self.plan.roots:
            value = self.element(root, access)
            with self.builder.at(_location(root, self.kernel)):
                self.builder.insert(StoreOp.of(value, outputs[root], [self.index(i) for i in access.indices]))
        self.kernel.detach_region(self.kernel.body)
        self.kernel.add_region(Region(self.block))
        self.kernel.properties["result_types"] = ArrayAttr([])

    def element(self, value: SSAValue, access: Access) -> SSAValue:
        """The element of `value` at one place."""
        stack = [((value, access), _location(value, self.kernel))]
        while stack:
            place, user = stack[-1]
            if place not in self.values:
                location = place[0].owner.location if isinstance(place[0].owner, Operation) else user
                if missing := [(need, location) for need in self.needs(*place) if need not in self.values]:
                    stack.extend(reversed(missing))
                    continue
                with self.builder.at(location):
                    self.build(*place)
            stack.pop()
        return self.values[value, access]

    def needs(self, value: SSAValue, access: Access) -> Iterator[tuple[SSAValue, Access]]:
        """What must be computed before `value` at one place."""
        if isinstance(value, BlockArgument):
            conditions = self.plan.load_conditions(access, shape_of(value.type))
            expressions = [*access.indices, *(c.value for c in conditions)]
        else:
            op = value.owner
            assert isinstance(op, Operation)
            yield from self.plan.inputs(op, access)
            expressions = [c.value for c in self.plan.padding.get((op, access), ())]
            if isinstance(op, IotaOp):
                expressions.extend(access.indices)
        for expression in expressions:
            yield from self.plan.algebra.data_of(expression)  # pyright: ignore[reportReturnType]

    def build(self, value: SSAValue, access: Access) -> None:
        """Build `value`, and other results of its op, at one place; what it needs is there."""
        if isinstance(value, BlockArgument):
            self.values[value, access] = self.load(value, access)
            return
        op = value.owner
        assert isinstance(op, Operation)
        for result, element in zip(op.results, self.results(op, access), strict=True):
            self.values[result, access] = element

    def results(self, op: Operation, access: Access) -> Sequence[SSAValue]:
        if isinstance(op, ConstOp):
            return self.builder.pure_like(op, ()).results
        if isinstance(op, IotaOp):
            return (self.builder.cast(self.index(access.indices[0]), element_of(op.result.type)),)
        inputs = [self.values[place] for place in self.plan.inputs(op, access)]
        if isinstance(op, AluOp):
            return (self.builder.alu(op.row().name, *inputs),)
        if isinstance(op, CastOp):
            return (self.builder.cast(inputs[0], element_of(op.result.type)),)
        if isinstance(op, BitcastOp):
            return self.builder.pure(BitcastOp, inputs, (element_of(op.result.type),)).results
        if isinstance(op, ReduceAxisOp):
            return self.combine(ReduceOp, op.monoid, inputs, self.plan.bound[op, access])
        if isinstance(op, ScanAxisOp):
            return self.combine(ScanOp, op.monoid, inputs, self.plan.bound[op, access])
        if isinstance(op, PadOp):
            zero = None if inputs else self.builder.const(0, element_of(op.result.type))
            return (self.pad(op, access, inputs[0]) if zero is None else zero,)
        return inputs[:1]  # the other movement ops, and gather: the element is the input's at its place

    def load(self, argument: BlockArgument, access: Access) -> SSAValue:
        buffer = self.buffers[argument]
        indices = [self.index(i) for i in access.indices]
        mask = self.mask(self.plan.load_conditions(access, shape_of(argument.type)))
        masks = () if mask is None else (mask,)
        return self.builder.pure(
            LoadOp,
            (buffer, *indices, *masks),
            (element_of(argument.type),),
            {"operandSegmentSizes": segment_sizes(1, len(indices), len(masks))},
        ).result

    def combine(
        self, cls: type[ReduceOp | ScanOp], monoid: MonoidAttr, inputs: Sequence[SSAValue], bound: Sequence[int]
    ) -> Sequence[SSAValue]:
        if not bound:
            return inputs  # one element
        return self.builder.pure(
            cls,
            (*inputs, *(self.range(number, self.bound_names) for number in bound)),
            [value.type for value in inputs],
            {"monoid": monoid, "operandSegmentSizes": segment_sizes(len(inputs), len(bound))},
        ).results

    def pad(self, op: PadOp, access: Access, value: SSAValue) -> SSAValue:
        inside = self.mask(self.plan.padding[op, access])
        if inside is None or self.plan.is_moved_leaf(op.input):
            return value
        return self.builder.alu("where", inside, value, self.builder.const(0, value.type))

    def mask(self, conditions: Sequence[Condition]) -> SSAValue | None:
        """Whether all conditions hold; None when there is none."""
        result: SSAValue | None = None
        for condition in conditions:
            value = self.index(condition.value)
            for name, bound in (("ge", condition.low), ("lt", condition.high)):
                if bound is not None:
                    holds = self.builder.alu(name, value, self.builder.const(bound, index))
                    result = holds if result is None else self.builder.alu("and", result, holds)
        return result

    # Indices.

    def range(self, number: int, names: Iterator[str]) -> SSAValue:
        """The range as a value: the one that is there, or a new one under the next name."""
        if number not in self.ranges:
            op = self.builder.insert(RangeOp.of(next(names), self.plan.algebra.extents[number]))
            op.result.name_hint = op.axis.axis.data
            self.ranges[number] = op.result
        return self.ranges[number]

    def index(self, expression: Index) -> SSAValue:
        """The expression in uop ops: positive terms, minus the negative ones, plus the constant."""
        constant, terms = expression
        result: SSAValue | None = None
        for atom, coefficient in terms:
            if coefficient > 0:
                term = self.scaled(self.atom(atom), coefficient)
                result = term if result is None else self.builder.alu("add", result, term)
        if result is None:
            result, constant = self.builder.const(constant, index), 0
        for atom, coefficient in terms:
            if coefficient < 0:
                result = self.builder.alu("sub", result, self.scaled(self.atom(atom), -coefficient))
        if constant:
            result = self.builder.alu("add", result, self.builder.const(constant, index))
        return result

    def scaled(self, value: SSAValue, factor: int) -> SSAValue:
        return value if factor == 1 else self.builder.alu("mul", value, self.builder.const(factor, index))

    def atom(self, number: int) -> SSAValue:
        atom = self.plan.algebra.atoms[number]
        if atom.kind == "range":
            assert isinstance(atom.key, int)
            return self.range(atom.key, self.bound_names)
        if atom.kind == "data":
            return self.builder.cast(self.values[atom.key], index)  # pyright: ignore[reportArgumentType]
        dividend, divisor = atom.division
        return self.builder.alu(atom.kind, self.index(dividend), self.builder.const(divisor, index))


_PARALLEL_NAMES = "ijlmnopqrstuvw"


def _location(root: SSAValue, kernel: KernelOp) -> LocationAttr:
    return root.owner.location if isinstance(root.owner, Operation) else kernel.location


# As `with_shape` of `dialects.types`: looking a type up is cheaper than making it.
@cache
def _buffer_type(type: Attribute) -> MemRefType[Attribute]:
    return MemRefType(element_of(type), shape_of(type))
