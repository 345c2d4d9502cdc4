"""convert-uop-to-loop: ranges become loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from ...dialects import loop
from ...dialects.axes import AxisAttr, AxisKind
from ...dialects.limits import Limits
from ...dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, KernelOp, LoadOp, RangeOp, ReduceOp, ScanOp, StoreOp
from ...rewriting.diagnostics import PassError
from .free_ranges import FreeRanges


class ConvertUOpToLoopPass(ModulePass):
    """Range form → loop form: the nest that the uses of the ranges imply.

    - Each store stands in a nest of `loop.for … parallel` over the ranges that it depends on, in the order of
      its indices; but ranges that a reduction or scan of the kernel goes over go innermost. (For a softmax over
      rows out[i, j] that is j outside, i inside: the reductions over i are done once for each j.) Stores with the
      same outer loops share them.
    - `uop.reduce` becomes one `loop.reduce` for each of its ranges, nested in their order.
    - Limits of ranges become limits of their loops, inside of the loops that they depend on.
    - `uop.scan` becomes a `loop.scan` in the loop that it goes over.
    - Every op and every reduction stands in the innermost loop that it depends on, and no deeper. What several
      phases use that walk one range (softmax: x − maximum in the sum and in the store) is computed in each
      phase, its loads too.

    A kernel computes one thing where its uses need it, once in each loop; nothing that no store needs is kept.
    Leaves alone: kernels that are not in range form. Refused: ops that do not belong in it, such as a loop
    beside ranges; a scan that some other loop stands inside of, as that of a scan over another range.
    """

    name = "convert-uop-to-loop"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in op.ops:
            if isinstance(kernel, KernelOp) and _is_range_form(kernel):
                _Conversion(kernel).run()


_RANGE_FORM = (AluOp, CastOp, BitcastOp, ConstOp, RangeOp, LoadOp, ReduceOp, ScanOp, StoreOp)


def _is_range_form(kernel: KernelOp) -> bool:
    """Whether the kernel has ranges, or needs none; raises `PassError` for what does not go with ranges."""
    ops = list(kernel.body.block.ops)
    other = next((op for op in ops if not isinstance(op, _RANGE_FORM)), None)
    if other is None:
        return True
    if any(isinstance(op, RangeOp) for op in ops):
        raise PassError(f"{other.name} does not stand in a kernel with ranges", other, "uop-rangeify makes range form")
    return False


@dataclass
class _Scope:
    """A block that grows: the kernel's, or an open loop's.

    range: what the loop walks. values: the values of the range form that are computed here. before: the loop
    that is open inside, in front of which new ops go.
    """

    block: Block
    range: SSAValue | None = None
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    before: Operation | None = None

    def add(self, op: Operation) -> None:
        if self.before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.before)


class _Conversion:
    """Scopes are given as the stack of the open ones, outermost first; the kernel's is always open."""

    def __init__(self, kernel: KernelOp):
        self.kernel = kernel
        self.old = kernel.body.block
        self.order = {op: number for number, op in enumerate(self.old.ops)}
        self.ranges = FreeRanges()
        self.walked: set[str] = set()
        """The axes that reductions and scans go over."""
        for op in self.old.ops:
            if isinstance(op, ReduceOp | ScanOp):
                self.walked.update(_axis(range).axis.data for range in op.over)

    def run(self) -> None:
        """Build the kernel's new body and put it in place."""
        block = Block(arg_types=[argument.type for argument in self.old.args])
        for old, new in zip(self.old.args, block.args, strict=True):
            new.name_hint, new.location = old.name_hint, old.location
        stack = [_Scope(block, values=dict(zip(self.old.args, block.args, strict=True)))]
        for op in self.old.ops:
            if isinstance(op, StoreOp):
                ranges = self.loop_order(op)
                shared = 1
                for scope, range in zip(stack[1:], ranges, strict=False):
                    if scope.range is not range:
                        break
                    shared += 1
                self.close(stack, shared)
                for range in ranges[shared - 1 :]:
                    self.open(stack, range, op)
                self.compute(op.operands, stack)
                self.place(op, stack[-1], stack)
        self.close(stack, 1)
        self.kernel.detach_region(self.kernel.body)
        self.kernel.add_region(Region(block))

    def loop_order(self, store: StoreOp) -> list[SSAValue]:
        """The loops around a store, outermost first: in the order of its indices, what is walked innermost."""
        by_index = dict.fromkeys(
            range
            for index in store.indices
            for range in sorted(self.ranges[index], key=lambda range: self.order[range.owner])  # pyright: ignore[reportArgumentType]
        )
        others = sorted(self.ranges.of(store.operands), key=lambda range: self.order[range.owner])  # pyright: ignore[reportArgumentType]
        order = sorted(dict.fromkeys((*by_index, *others)), key=lambda range: _axis(range).axis.data in self.walked)
        return self.with_limits_inside(order)

    def with_limits_inside(self, ranges: Sequence[SSAValue]) -> list[SSAValue]:
        """The ranges in this order, but each behind those that its limits depend on."""
        placed: dict[SSAValue, None] = {}
        for range in ranges:
            own = self.ranges[range]
            if len(own) > 1:
                around = [other for other in ranges if other in own and other is not range]
                placed.update(dict.fromkeys(sorted(around, key=lambda other: len(self.ranges[other]))))
            placed[range] = None
        return list(placed)

    def open(self, stack: list[_Scope], range: SSAValue, store: StoreOp) -> None:
        """Open a parallel loop inside the innermost scope."""
        axis, limits = _axis(range), self.limits(range, stack)
        op = loop.ForOp.of(AxisAttr(axis.axis.data, axis.extent.data, AxisKind.PARALLEL), limits=limits)
        op.location = store.location
        op.index.name_hint = range.name_hint
        stack[-1].add(op)
        stack[-1].before = op
        stack.append(_Scope(op.body.block, range, {range: op.index}))

    def limits(self, range: SSAValue, stack: Sequence[_Scope]) -> Limits:
        """The limits of a range, computed in front of its loop."""
        assert isinstance(range.owner, RangeOp)
        limits = range.owner.limits
        self.compute(limits.values, stack)
        return Limits(*(None if value is None else self.value(value, stack) for value in limits))

    def close(self, stack: list[_Scope], depth: int) -> None:
        """Close loops until `depth` scopes are open."""
        del stack[depth:]
        stack[-1].before = None

    def scope_of(self, value: SSAValue, stack: Sequence[_Scope]) -> int:
        """Where a value is computed: in the innermost open loop that it depends on."""
        ranges = self.ranges[value]
        depth = len(stack) - 1
        while depth and stack[depth].range not in ranges:
            depth -= 1
        return depth

    def compute(self, values: Iterable[SSAValue], stack: Sequence[_Scope]) -> None:
        """Place all that the values need and that is not there: reductions first, each in the order of the range form.

        What only follows a reduction (a residual, a bias) so stands behind it, and takes no registers during it.
        Calls itself for a reduction's elements only: as deep as reductions are nested.
        """
        needed: dict[Operation, int] = {}
        pending = list(values)
        while pending:
            value = pending.pop()
            depth = self.scope_of(value, stack)
            op = value.owner
            if value in stack[depth].values or op in needed:
                continue
            assert isinstance(op, Operation)
            needed[op] = depth
            if not isinstance(op, ReduceOp):
                pending.extend(op.operands)
        for op in sorted(needed, key=lambda op: (not isinstance(op, ReduceOp), self.order[op])):
            depth = needed[op]
            if isinstance(op, ReduceOp):
                if op.results[0] not in stack[depth].values:  # the elements of another reduction may have needed it
                    self.reduce(op, stack[: depth + 1])
            elif op.results[0] not in stack[depth].values:
                self.place(op, stack[depth], stack)

    def place(self, op: Operation, scope: _Scope, stack: Sequence[_Scope]) -> None:
        """Copy an op whose operands are there into a scope; a scan becomes one over the scope's loop."""
        if isinstance(op, ScanOp) and scope.range is not op.over[0]:
            assert scope.range is not None
            raise PassError(
                f"uop.scan over {_axis(op.over[0]).axis.data} depends on {_axis(scope.range).axis.data}, whose loop is"
                " inside",
                op,
                "a scan goes over the innermost loop that it depends on: give this one its own kernel",
            )
        cls = loop.ScanOp if isinstance(op, ScanOp) else type(op)
        copy = cls.create(  # pyright: ignore[reportUnknownMemberType]
            operands=[self.value(operand, stack) for operand in op.operands],
            result_types=[result.type for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        for old, new in zip(op.results, copy.results, strict=True):
            new.name_hint = old.name_hint
        scope.add(copy)
        scope.values.update(zip(op.results, copy.results, strict=True))

    def value(self, value: SSAValue, stack: Sequence[_Scope]) -> SSAValue:
        return stack[self.scope_of(value, stack)].values[value]

    def reduce(self, op: ReduceOp, stack: Sequence[_Scope]) -> None:
        """Place a reduction in the innermost scope of the stack, its elements in loops inside."""
        inner = list(stack)
        scope, outside = stack[-1], stack[-1].before
        loops: list[loop.ReduceOp] = []
        types = [result.type for result in op.results]
        for range in self.with_limits_inside(op.over):
            axis, limits = _axis(range), self.limits(range, inner)
            nested = loop.ReduceOp.of(AxisAttr(axis.axis.data, axis.extent.data), op.monoid.data, types, limits)
            nested.location = op.location
            nested.index.name_hint = range.name_hint
            inner[-1].add(nested)
            inner[-1].before = nested
            loops.append(nested)
            inner.append(_Scope(nested.body.block, range, {range: nested.index}))
        self.compute(op.inputs, inner)
        scope.before = outside
        yielded = [self.value(value, inner) for value in op.inputs]
        for nested in reversed(loops):
            yield_op = loop.YieldOp.create(operands=yielded, location=op.location)
            nested.body.block.add_op(yield_op)
            yielded = list(nested.results)
        for old, new in zip(op.results, loops[0].results, strict=True):
            new.name_hint = old.name_hint
        scope.values.update(zip(op.results, loops[0].results, strict=True))


def _axis(range: SSAValue) -> AxisAttr:
    op = range.owner
    assert isinstance(op, RangeOp)
    return op.axis
