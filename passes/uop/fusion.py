"""Which values of a function are materialised: the cuts between its kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.types import shape_of
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    GatherOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
)
from ...rewriting.backward_slices import backward_slice
from ...rewriting.diagnostics import are_remarks_wanted, emit_remark
from .axis_classes import AxisPairs
from .cones import Combination, Cone, Forms, byte_count, cut_at, only_widens
from .fusion_cost import Cost
from .fusion_judge import Judge
from .fusion_limits import Violation
from .kernel_joins import KernelJoins, place_of, source_of_view
from .machines import GPU, Machine
from .one_pass import MOST_REDUCTIONS, OnePassTrials
from .post_dominators import PostDominators
from .siblings import join_siblings
from .value_names import last_of, named


class Fusion:
    """The choice of materialised ops: each ends one kernel, which holds all that it needs up to other such ops.

    It starts with the function's outputs and only grows:

    1. For each reduction and scan, in order, the kernel that ends furthest behind it, is possible (fusion_limits.py)
       and repeats no reduction: epilogues join what they follow. It ends on a reduction, scan, ALU op or cast, but on
       none that only makes elements wider, which is for those who read them; then a permute or reshape that is the
       only use, so that the buffer has the layout that its reader wants.
    2. What is not possible in the kernel of an output is cut, and what a kernel computes again and again where another
       would cost less (fusion_judge.py).
    3. A reduction or scan that two kernels need is materialised. So is another value that they need, when its n kernels
       would read more bytes to compute it again than to write it once and read it n times; what a kernel reads
       anyway does not count.
    4. What all who read it can compute for themselves is not materialised where that costs less: kernel_joins.py.

    A reshape is a view: an op that only reshapes is never materialised, its input is.

    machine: what the kernels are for.
    one_pass: whether reductions may be fused that `uop-fuse-reductions` makes one pass of (one_pass.py). The kernel of
      the first of them then ends at the last, even though one that ended in between would break a criterion.
    cut: names of values that are materialised, whatever it costs (value_names.py).
    join: names of values that are not, as far as whoever reads them can compute them.
    """

    def __init__(
        self,
        block: Block,
        *,
        machine: Machine = GPU,
        one_pass: bool = True,
        cut: Sequence[str] = (),
        join: Sequence[str] = (),
    ):
        end = block.last_op
        assert isinstance(end, ReturnOp)
        self.outputs = list(end.operands)
        self.ops = _live_ops(block, self.outputs)
        self.position = {op: position for position, op in enumerate(self.ops)}
        owners = {value.owner for value in self.outputs}
        self.post_dominators = PostDominators(self.ops, owners)
        self.materialised: set[Operation] = set()
        self.cones: dict[Operation, Cone] = {}
        """The kernels that are settled, by their last op."""
        self._kernels_of: dict[Operation, set[Operation]] = {}
        self._legal: set[Operation] = set()
        self._refused: dict[Operation, str] = {}
        self._pairs = AxisPairs()
        self._forms = Forms()
        self._trials = OnePassTrials(self.ops if one_pass else (), self._forms, machine)
        self._judge = Judge(machine, self._forms, self._pairs, self._trials.reductions)
        self._parts: dict[Operation, tuple[int, ...]] = {}
        """Into what parts the result of a kernel is cut, by its last op."""
        self._cuts: dict[Operation, tuple[Operation, str]] = {}
        """Why a kernel ends where it does: what would be dear further on, and how."""
        for value in self.outputs:
            if isinstance(source := source_of_view(value).owner, Operation):
                self.materialised.add(source)
        wanted: set[Operation] = set()
        for name in cut:
            for op in last_of(named(self.ops, name)):
                wanted.add(end := self._materialise(op))
                self._cuts.setdefault(end, (op, f"'{name}' is cut"))
        for op in self.ops:
            if isinstance(op, Combination) and not self._kernels_of.get(op):
                self._fuse_forward(op)
        for op in sorted(self.materialised, key=self.position.__getitem__):
            self._settle(op)
        returned = frozenset(map(source_of_view, self.outputs))
        self._joins = KernelJoins(self.cones.values(), self.position, self._judge, returned)
        self._joins.cheaper(wanted)
        for name in join:
            self._joins.by_name(name, self.ops)

    def kernels(self) -> list[Cone]:
        """The kernels, siblings joined, each behind those that it reads."""
        cones = self._joins.in_order()
        if are_remarks_wanted():
            self._tell_costs(cones)
            self._tell_statistics(cones)
        return join_siblings(cones, self.position, self._judge) if self._judge.machine.products > 1 else cones

    def cost(self) -> Cost:
        """What the kernels cost, one after the other."""
        return self._judge.cost(self.kernels())

    def _tell_costs(self, cones: Sequence[Cone]) -> None:
        """Why each kernel ends where it does; what it costs with those that read what it writes, and what they would
        cost if they computed that."""
        for cone in cones:
            end = cone.ops[-1]
            if end not in self._cuts:
                continue
            op, reason = self._cuts[end]
            joined = self._joins.absorbed(cone)
            cost = self._judge.cost([cone, *(reader for reader, _ in joined)])
            if any(self._joins.why_not(reader, cone, whole) for reader, whole in joined):
                other = "it cannot be computed by those who read it"
            else:
                other = f"joined {self._judge.cost(whole for _, whole in joined)}"
            emit_remark(op, f"its kernel ends at {place_of(end)}; {reason}; cut {cost}; {other}")

    def _tell_statistics(self, cones: Sequence[Cone]) -> None:
        """What products cost that compute statistics of their rows in front, and what they would cost without."""
        for cone in cones:
            statistics = self._judge.work(cone).statistics
            if statistics.operand is None:
                continue
            joined, cut = self._judge.cost([cone]), self._judge.cost(cut_at(cone, statistics.operand))
            op = statistics.operand.owner
            assert isinstance(op, Operation)
            emit_remark(
                statistics.in_front[0].op,
                f"in the kernel of a product of its rows: {statistics}; joined {joined}; cut at {place_of(op)}, {cut}",
            )

    def cone(self, root: Operation) -> Cone:
        """The kernel that ends in `root`."""
        leaves: dict[SSAValue, None] = {}
        ops = {root}
        pending = [root]
        while pending:
            for value in pending.pop().operands:
                owner = value.owner
                if not isinstance(owner, Operation) or owner in self.materialised:
                    leaves[value] = None
                elif owner not in ops:
                    ops.add(owner)
                    pending.append(owner)
        outputs = set(self.outputs)
        roots: list[SSAValue] = [
            result
            for result in root.results
            if result in outputs or any(use.operation in self.position for use in result.uses)
        ]
        return Cone(sorted(ops, key=self.position.__getitem__), roots, leaves, self._parts.get(root, ()))

    def _find_violation(self, root: Operation) -> Violation | None:
        """The first criterion that the kernel that ends in `root` breaks, whole or with its result in parts."""
        cone = self.cone(root)
        violation = self._judge.find_repeated(cone)
        if violation is None or cone.parts:
            return violation
        for parts in _possible_parts(cone):
            if self._judge.find_repeated(replace(cone, parts=parts)) is None:
                self._parts[root] = parts
                return None
        return violation

    def _is_legal(self, root: Operation) -> bool:
        # Cuts only take ops away: what is legal stays so.
        if root not in self._legal:
            violation = self._find_violation(root)
            if violation is not None:
                self._refused[root] = str(violation)
                return False
            self._legal.add(root)
        return True

    def _furthest(self, op: Operation) -> tuple[Operation, str | None]:
        """Where the kernel that computes `op` ends: the last legal one of its post-dominators; why not later."""
        ends = [op]
        repeated = False
        for later in self.post_dominators.after(op):
            if later in self.materialised:
                ends.append(later)
                break
            if isinstance(later, ExpandOp):
                repeated = True
            elif only_widens(later):
                continue
            elif isinstance(later, AluOp | CastOp | BitcastOp | Combination):
                # What only changes repeated elements is no end: nothing yet says that they share an axis with others.
                repeated = repeated and sum(not _is_constant(value) for value in later.operands) == 1
                if not repeated:
                    ends.append(later)
        # What breaks a criterion at one end breaks it at all later ones: widen, then halve.
        best, refused, step = self._end_of_pass(op, ends), len(ends), 1
        while best + 1 < refused:
            probe = min(best + step, refused - 1)
            if self._is_legal(ends[probe]):
                best, step = probe, step * 2
            else:
                refused, step = probe, max(step // 2, 1)
        reason = self._refused[ends[refused]] if refused < len(ends) else None
        return self._with_layout(ends[best]), reason

    def _end_of_pass(self, op: Operation, ends: Sequence[Operation]) -> int:
        """The place of the first end at which the reductions of the kernel become one pass; 0 if none is legal."""
        if op not in self._trials.maxima:
            return 0
        for place, end in enumerate(ends):
            cone = self.cone(end)
            count = sum(isinstance(inner, Combination) for inner in cone.ops)
            if count > MOST_REDUCTIONS:
                break
            if self._trials.becomes_one_pass(cone):
                if self._cut_operands(end):
                    return place
                emit_remark(op, f"does not become one pass with what follows: {self._refused[end]}")
                break
        return 0

    def _cut_operands(self, root: Operation) -> bool:
        """Cut what the kernel of `root` would compute too often before it reduces anything: queries that are rotated
        first. Whether the kernel is legal then; else nothing is cut."""
        before, cuts = set(self.materialised), list[tuple[Operation, Violation]]()
        while (violation := self._find_violation(root) or self._judge.find_dear(self.cone(root))) is not None:
            cone = self.cone(root)
            if _reduces_before(violation.op, cone):
                self.materialised = before
                self._refused[root] = str(violation)
                return False
            cuts.append((self._materialise(self._end_of_cut(violation.op, cone)), violation))
        for end, violation in cuts:
            emit_remark(violation.op, f"its kernel ends at {place_of(end)}; further on, {violation}")
            for other in sorted(self._kernels_of.pop(end, ()), key=self.position.__getitem__):
                self._register(other, self.cone(other))
        return True

    def _with_layout(self, end: Operation) -> Operation:
        """The last of the permutes and reshapes behind the end of a kernel that are its only use."""
        for later in self.post_dominators.after(end):
            if end in self.materialised or not isinstance(later, PermuteOp | ReshapeOp) or not self._is_legal(later):
                break
            end = later
        return end

    def _fuse_forward(self, reduction: Operation) -> None:
        """Settle the kernel of a reduction or scan that is in none yet."""
        end, reason = self._furthest(reduction)
        if end not in self.materialised:
            end = self._materialise(end)
            why = "several kernels use it" if reason is None else f"further on, {reason}"
            self._cuts.setdefault(end, (reduction, why))
        self._settle(end)

    def _materialise(self, op: Operation) -> Operation:
        """Materialise the op, or what it reshapes."""
        while isinstance(op, ReshapeOp) and isinstance(op.input.owner, Operation):
            op = op.input.owner
        self.materialised.add(op)
        return op

    def _settle(self, root: Operation) -> None:
        """Cut until the kernel of `root` and those that the cuts make break no criterion and repeat nothing dear."""
        pending = [root]
        while pending:
            root = pending.pop()
            if root in self.cones:
                continue
            while (cut := self._find_cut(cone := self.cone(root))) is not None:
                before = len(self.materialised)
                end = self._materialise(self._end_of_cut(cut.op, cone))
                if len(self.materialised) == before:
                    break  # the kernel is what it is cut for, and no cut makes it less
                self._cuts.setdefault(end, (cut.op, f"further on, {cut}"))
                pending.append(end)
                for other in sorted(self._kernels_of.pop(end, ()), key=self.position.__getitem__):
                    self._register(other, self.cone(other))
            self._register(root, self.cone(root))

    def _register(self, root: Operation, cone: Cone) -> None:
        if root in self.cones:
            for op in self.cones[root].ops:
                self._kernels_of.get(op, set()).discard(root)
        self.cones[root] = cone
        self._legal.add(root)
        for op in cone.ops:
            self._kernels_of.setdefault(op, set()).add(root)

    def _find_cut(self, cone: Cone) -> Violation | None:
        root = cone.ops[-1]
        impossible = None if root in self._legal else self._find_violation(root)
        return impossible or self._judge.find_dear(self.cone(root)) or self._find_repeated(cone)

    def _end_of_cut(self, op: Operation, cone: Cone) -> Operation:
        """Where the new kernel that computes `op` ends, inside of the one that is cut."""
        while only_widens(op) and (narrow := source_of_view(op.operands[0]).owner) in cone.ops:
            assert isinstance(narrow, Operation)
            op = narrow
        end = self._furthest(op)[0] if isinstance(op, Combination) else self._with_layout(op)
        return end if end in cone.ops[:-1] else op

    def _find_repeated(self, cone: Cone) -> Violation | None:
        """Work that another kernel does too and that costs more than to materialise its result."""
        root = cone.ops[-1]
        leaves: dict[Operation, frozenset[SSAValue]] = {}
        found: Violation | None = None
        for op in cone.ops[:-1]:
            leaves[op] = _leaves_of(op, cone, leaves)
            kernels = self._kernels_of.get(op, frozenset[Operation]()) - {root}
            if not kernels:
                continue
            count = len(kernels) + 1
            if isinstance(op, Combination):
                return Violation(op, f"is needed by {count} kernels")
            if found is not None and found.op not in {value.owner for value in op.operands}:
                return found
            if isinstance(op, AluOp | CastOp):
                size = byte_count(op.results[0])
                if not _is_dearer(leaves[op], count, size):
                    continue
                own = leaves[op] - _leaves_without(op, cone)
                read = sum(map(byte_count, own))
                if _is_dearer(own, count, size):
                    reason = f"is needed by {count} kernels, each of which would read {read} bytes for it"
                    found = Violation(op, reason)
        return found


def _possible_parts(cone: Cone) -> Iterator[tuple[int, ...]]:
    """Halves of a dimension of the result, where the kernel takes halves of that dimension."""
    shape = shape_of(cone.roots[0].type)
    for d, extent in enumerate(shape):
        for op in cone.ops:
            if isinstance(op, ShrinkOp) and len(halves := shape_of(op.result.type)) == len(shape):
                if halves[d] * 2 == extent == shape_of(op.input.type)[d]:
                    yield tuple(2 if d == e else 1 for e in range(len(shape)))
                    break


def _reduces_before(op: Operation, cone: Cone) -> bool:
    """Whether the kernel reduces something for the op, or is one op."""
    seen, pending = {op}, [op]
    while pending:
        current = pending.pop()
        if isinstance(current, Combination) or current is cone.ops[-1]:
            return True
        for value in current.operands:
            if value not in cone.leaves and isinstance(value.owner, Operation) and value.owner not in seen:
                seen.add(value.owner)
                pending.append(value.owner)
    return False


def _is_dearer(leaves: Iterable[SSAValue], count: int, size: int) -> bool:
    """Whether `count` kernels that read the leaves move more than one that writes `size` bytes for them to read."""
    read = sum(map(byte_count, leaves))
    return count * read > read + (count + 1) * size


def _leaves_without(op: Operation, cone: Cone) -> set[SSAValue]:
    """What the kernel would still read if the op's result were read from memory."""
    found: set[SSAValue] = set()
    seen = {op}
    pending = [cone.ops[-1]]
    while pending:
        for value in pending.pop().operands:
            if value in cone.leaves:
                found.add(value)
            elif isinstance(value.owner, Operation) and value.owner not in seen:
                seen.add(value.owner)
                pending.append(value.owner)
    return found


def _leaves_of(op: Operation, cone: Cone, leaves: dict[Operation, frozenset[SSAValue]]) -> frozenset[SSAValue]:
    """What is read from memory for `op`; where it is part of a leaf only, that part."""
    found: set[SSAValue] = set()
    for value in op.operands:
        if value in cone.leaves:
            found.add(value)
        else:
            assert isinstance(value.owner, Operation)
            found |= leaves[value.owner]
    if isinstance(op, GatherOp | ShrinkOp) and byte_count(op.result) < sum(map(byte_count, found)):
        return frozenset((op.result,))
    return frozenset(found)


def _is_constant(value: SSAValue) -> bool:
    """Whether the value is a constant, repeated or not."""
    while isinstance(value.owner, ExpandOp):
        value = value.owner.input
    return isinstance(value.owner, ConstOp)


def _live_ops(block: Block, outputs: Iterable[SSAValue]) -> list[Operation]:
    """The ops that the outputs need, in order."""
    needed = set(backward_slice(outputs))
    return [op for op in block.ops if op in needed]
