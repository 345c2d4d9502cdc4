"""How the blocks and threads of a schedule are numbered, and where a thread stands along each axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.ir import Block, SSAValue

from ....dialects.axes import AxisKind
from ....dialects.gpu_kernel import Architecture, BlockIdOp, ThreadIdOp
from ....dialects.loop import ForOp
from ....dialects.schedule import BlockGroup
from ....dialects.tile import AxisOp
from ....dialects.types import index
from ....dialects.uop import KernelOp
from ....rewriting.diagnostics import PassError
from ....rewriting.interval_arithmetic import Interval
from ....rewriting.linear import LinearForm
from .indices import ZERO, Indices
from .scopes import Scope


@dataclass(frozen=True, eq=False)
class Digit:
    """One factor in the mixed-radix number of a thread: `number ÷ stride mod extent`."""

    axis: str
    extent: int
    kind: AxisKind
    stride: int
    position: LinearForm


class Grid:
    """The launch of a kernel: `blocks` along x, y, z, and `threads` of a block, of which a multiprocessor holds
    `min_blocks` at least.

    Threads are numbered over all warp, thread and lane factors in the schedule's order, the last the fastest, the lanes
    of matrix instructions behind them; blocks over block factors, of a group over the last ones of its axis last. Up to
    three block factors become the dimensions of the grid, the last x, and with it the blocks of a group; more become
    one number. Blocks start in the order of their numbers: those with more steps inside limits come first, so that the
    last ones, which run beside idle multiprocessors, are short.
    """

    def __init__(self, kernel: KernelOp, arch: Architecture, scope: Scope, indices: Indices):
        assert kernel.schedule is not None
        schedule = kernel.schedule.data
        if schedule.matrix is None and (factors := schedule.of_kinds((AxisKind.MMA,))):
            raise PassError(
                f"the mma factors {', '.join(f'{axis} = {factor}' for axis, _, factor in factors)} are those of no "
                "matrix instructions",
                kernel,
                "tile form and its schedule belong together: convert the kernel's loop form again",
            )
        threads = [(axis, factor.extent, factor.kind) for axis, factor in schedule.threads() if factor.extent > 1]
        self.threads: int = prod(extent for _, extent, _ in threads)
        if self.threads > arch.threads:
            raise PassError(
                f"the schedule asks for {self.threads} threads in a block, {arch.name} has at most {arch.threads}",
                kernel,
                "make thread, warp or lane factors smaller",
            )
        if not schedule.has_whole_groups:
            raise PassError(
                f"the schedule groups the blocks of `{schedule.group}`, which are no whole groups",
                kernel,
                "tile form and its schedule belong together: convert the kernel's loop form again",
            )
        self.min_blocks = schedule.min_blocks
        most = arch.resident_blocks(self.threads)
        if self.min_blocks is not None and self.min_blocks > most:
            raise PassError(
                f"the schedule asks for {self.min_blocks} blocks of {self.threads} threads on a multiprocessor, "
                f"{arch.name} has room for {most}",
                kernel,
                f"let min_blocks be at most {most}, or leave it out",
            )
        self.thread = ZERO
        if self.threads > 1:
            thread_id = scope.pure(ThreadIdOp, (), (index,)).result
            thread_id.name_hint = "tid"
            self.thread = indices.leaf(thread_id, Interval.of_extent(self.threads))
        self.digits = _digits(scope, indices, threads, self.thread)
        blocks = [(axis, f.extent, f.kind) for axis, _, f in schedule.of_kinds((AxisKind.BLOCK,)) if f.extent > 1]
        self.blocks, self._block_digits = _grid(kernel, arch, scope, indices, blocks, schedule.group)
        longer = _longer_along(kernel)
        self._block_digits = [
            replace(digit, position=LinearForm({}, digit.extent - 1) - digit.position)
            if digit.axis in longer
            else digit
            for digit in self._block_digits
        ]
        self._unbound = [*self.digits, *self._block_digits]
        self._bound: dict[AxisOp, Digit] = {}

    def bind(self, op: AxisOp) -> Digit:
        """The factor that a `tile.axis` stands for: of several alike, they stand in the schedule's order."""
        if op not in self._bound:
            wanted = (op.axis.axis.data, op.extent, op.axis.axis_kind)
            for digit in self._unbound:
                if (digit.axis, digit.extent, digit.kind) == wanted:
                    self._unbound.remove(digit)
                    self._bound[op] = digit
                    break
            else:
                raise PassError(
                    f"the kernel's schedule has no factor for axis {wanted[0]} = {wanted[1]} {wanted[2]}",
                    op,
                    "tile form and its schedule belong together: convert the kernel's loop form again",
                )
        return self._bound[op]


def _longer_along(kernel: KernelOp) -> set[str]:
    """The axes whose one block factor the ends of loops with limits depend on, and not their begins: causal masks."""
    longer, others = set[str](), set[str]()
    for op in kernel.body.walk():
        if type(op) is ForOp and op.limits.values:  # isinstance asks abstract classes
            longer |= _block_axes(op.upper)
            others |= _block_axes(op.lower)
    factors = [] if kernel.schedule is None else kernel.schedule.data.of_kinds((AxisKind.BLOCK,))
    axes = [axis for axis, _, factor in factors if factor.extent > 1]
    return {axis for axis in longer - others if axes.count(axis) == 1}


def _block_axes(value: SSAValue | None) -> set[str]:
    """The axes that blocks go along and that an index depends on."""
    axes: set[str] = set()
    stack, seen = [] if value is None else [value], set[SSAValue]()
    while stack:
        owner = stack.pop().owner
        if isinstance(owner, Block):
            continue
        if isinstance(owner, AxisOp) and owner.axis.axis_kind is AxisKind.BLOCK:
            axes.add(owner.axis.axis.data)
        new = [operand for operand in owner.operands if operand not in seen]
        seen.update(new)
        stack += new
    return axes


def _digits(
    scope: Scope, indices: Indices, factors: Sequence[tuple[str, int, AxisKind]], number: LinearForm
) -> list[Digit]:
    digits: list[Digit] = []
    stride = prod(extent for _, extent, _ in factors)
    for axis, extent, kind in factors:
        stride //= extent
        position = indices.remainder(scope, indices.quotient(scope, number, stride), extent)
        digits.append(Digit(axis, extent, kind, stride, position))
    return digits


def _grid(
    kernel: KernelOp,
    arch: Architecture,
    scope: Scope,
    indices: Indices,
    factors: Sequence[tuple[str, int, AxisKind]],
    group: BlockGroup | None,
) -> tuple[tuple[int, int, int], list[Digit]]:
    if group is not None and any(axis == group.axis for axis, _, _ in factors[:-1]):
        return _grouped_grid(kernel, arch, scope, indices, factors, group)

    def block_id(dimension: str, extent: int) -> LinearForm:
        op = BlockIdOp.of(dimension)
        value = scope.pure(BlockIdOp, (), (index,), op.properties).result
        value.name_hint = value.name_hint or "block"
        return indices.leaf(value, Interval.of_extent(extent))

    extents = [extent for _, extent, _ in factors]
    sizes = [*reversed(extents), 1, 1, 1][: max(3, len(extents))]
    if len(factors) <= 3 and all(size <= limit for size, limit in zip(sizes, arch.grid, strict=True)):
        digits = [
            Digit(axis, extent, kind, 1, block_id(dimension, extent))
            for (axis, extent, kind), dimension in zip(factors, "zyx"[3 - len(factors) :], strict=True)
        ]
        return (sizes[0], sizes[1], sizes[2]), digits
    blocks = prod(extents)
    if blocks > arch.grid[0]:
        raise PassError(
            f"the schedule asks for {blocks} blocks, {arch.name} launches at most {arch.grid[0]}",
            kernel,
            "let each block do more: larger thread, register or loop factors",
        )
    return (blocks, 1, 1), _digits(scope, indices, factors, block_id("x", blocks))


def _grouped_grid(
    kernel: KernelOp,
    arch: Architecture,
    scope: Scope,
    indices: Indices,
    factors: Sequence[tuple[str, int, AxisKind]],
    group: BlockGroup,
) -> tuple[tuple[int, int, int], list[Digit]]:
    """The grid in which the last factor has the blocks of a group in front of its own."""
    place = next(place for place, (axis, _, _) in enumerate(factors) if axis == group.axis)
    last_axis, last_extent, kind = factors[-1]
    outer = [(axis, n // group.blocks if d == place else n, k) for d, (axis, n, k) in enumerate(factors)]
    outer[-1] = (last_axis, last_extent * group.blocks, kind)
    kept = [factor for d, factor in enumerate(outer) if d != place or factor[1] > 1]
    sizes, digits = _grid(kernel, arch, scope, indices, kept, None)
    if len(kept) < len(outer):
        digits.insert(place, Digit(group.axis, 1, kind, 1, ZERO))
    both, groups = digits[-1].position, digits[place].position
    inner = indices.remainder(scope, both, group.blocks)
    position = indices.quotient(scope, both, group.blocks)
    digits[place] = Digit(group.axis, factors[place][1], kind, 1, groups * group.blocks + inner)
    digits[-1] = Digit(last_axis, last_extent, kind, 1, position)
    return sizes, digits
