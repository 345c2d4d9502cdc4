"""Which values of a function are materialised: the cuts between its kernels."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...dialects.types import element_count, shape_of
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
from ...rewriting.diagnostics import PassError, are_remarks_wanted, emit_remark
from .accesses import Accesses
from .axis_classes import AxisPairs
from .cones import Combination, Cone, Forms, byte_count, cut_at, only_widens, reductions_of
from .fusion_cost import absorbed, cost_of, readers_of, why_not_absorbed
from .fusion_limits import PRODUCTS, Violation, find_violation
from .one_pass import MOST_REDUCTIONS, OnePassTrials
from .post_dominators import PostDominators
from .row_statistics import RowStatistics, row_statistics
from .siblings import join_siblings
from .value_names import last_of, named


class Fusion:
    """The choice of materialised ops: each ends one kernel, which holds all that it needs up to other such ops.

    It starts with the function's outputs and only grows:

    1. For each reduction and scan, in order, the kernel that ends furthest behind it and breaks no criterion
       (fusion_limits.py): epilogues join what they follow. It ends on a reduction, scan, ALU op or cast, but on none
       that only makes elements wider, which is for those who read them; then a permute or reshape that is the only
       use, so that the buffer has the layout that its reader wants.
    2. What breaks a criterion in the kernel of an output is cut.
    3. A reduction or scan that two kernels need is materialised. So is another value that they need, when its n kernels
       would read more bytes to compute it again than to write it once and read it n times; what a kernel reads
       anyway does not count.
    4. Statistics of rows that all who need them can compute beside products of these rows are not materialised.

    A reshape is a view: an op that only reshapes is never materialised, its input is.

    one_pass: whether reductions may be fused that `uop-fuse-reductions` makes one pass of (one_pass.py). The kernel of
      the first of them then ends at the last, even though one that ended in between would break a criterion.
    sharing: how many rows share keys, at least, where that is so; of fewer only where the pass may end early
    cut: names of values that are materialised, whatever it costs (value_names.py).
    join: names of values that are not, as far as whoever reads them can compute them.
    """

    def __init__(
        self,
        block: Block,
        *,
        products: int = PRODUCTS,
        one_pass: bool = True,
        sharing: int = 1,
        cut: Sequence[str] = (),
        join: Sequence[str] = (),
    ):
        returned = block.last_op
        assert isinstance(returned, ReturnOp)
        self.outputs = list(returned.operands)
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
        self._trials = OnePassTrials(self.ops if one_pass else (), self._forms, sharing=sharing)
        self._products = products
        self._violations: dict[Hashable, tuple[int, str] | None] = {}
        """The place of the op, and why, by the forms of kernels."""
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
        if products > 1:
            self._absorb_statistics(wanted)
        for name in join:
            self._join(name)

    def kernels(self) -> list[Cone]:
        """The kernels, siblings joined, each behind those that it reads."""
        cones = [self.cones[op] for op in sorted(self.cones, key=self.position.__getitem__)]
        if are_remarks_wanted():
            self._tell_costs(cones)
            self._tell_statistics(cones)
        return join_siblings(cones, self.position, self.find_violation) if self._products > 1 else cones

    def _absorb_statistics(self, wanted: Collection[Operation]) -> None:
        """Let the products of rows compute the statistics of these, where nobody else needs them, and nobody wants the
        rows to be stored."""
        returned = {source_of_view(value) for value in self.outputs}
        for cone in sorted(self.cones.values(), key=lambda cone: self.position[cone.ops[-1]]):
            reduces = any(isinstance(op, Combination) for op in cone.ops)
            if not reduces or cone.ops[-1] in wanted or _has_product(cone) or not returned.isdisjoint(cone.roots):
                continue
            # What a legal kernel reduces beside a product are statistics of its rows.
            joined = self._absorbed(cone)
            if joined and all(_has_product(reader) and self.find_violation(whole) is None for reader, whole in joined):
                self._replace(cone, joined)

    def _statistics(self, cone: Cone) -> RowStatistics:
        plan = Accesses(cone.ops, cone.roots, cone.leaves, None, self._pairs, cone.parts)
        return row_statistics(cone, plan, reductions_of(cone, plan))

    def _replace(self, cone: Cone, joined: Sequence[tuple[Cone, Cone]]) -> None:
        """Let each kernel that reads what this one writes compute it."""
        del self.cones[cone.ops[-1]]
        for reader, whole in joined:
            self.cones[reader.ops[-1]] = whole

    def _join(self, name: str) -> None:
        """Let those who read the values of this name compute them. Raises `PassError` where they cannot."""
        for op in named(self.ops, name):
            if op not in self.cones:
                continue
            cone = self.cones[op]
            if any(source_of_view(value).owner is op for value in self.outputs):
                raise PassError(f"join '{name}': the function returns it", op, "join what is only used inside of it")
            joined = self._absorbed(cone)
            for reader, whole in joined:
                reason = why_not_absorbed(reader, cone, whole, self._pairs)
                if reason is not None:
                    raise PassError(f"join '{name}': {reason}", op, "leave the join out")
            self._replace(cone, joined)
            emit_remark(op, f"{_place(op)} in no kernel of its own: '{name}' is joined")

    def _absorbed(self, cone: Cone) -> list[tuple[Cone, Cone]]:
        """Each kernel that reads what this one writes, and that which computes it instead."""
        readers = readers_of(cone, list(self.cones.values()))
        return [(reader, absorbed(reader, cone, self.position)) for reader in readers]

    def _tell_costs(self, cones: Sequence[Cone]) -> None:
        """Why each kernel ends where it does; what it costs with those that read what it writes, and what they would
        cost if they computed that."""
        for cone in cones:
            end = cone.ops[-1]
            if end not in self._cuts:
                continue
            op, reason = self._cuts[end]
            joined = self._absorbed(cone)
            cost = cost_of([cone, *(reader for reader, _ in joined)], self._pairs)
            if any(why_not_absorbed(reader, cone, whole, self._pairs) for reader, whole in joined):
                other = "it cannot be computed by those who read it"
            else:
                other = f"joined {cost_of((whole for _, whole in joined), self._pairs)}"
                for statistics in (self._statistics(whole) for _, whole in joined):
                    if not statistics.are_cheap:
                        other += f"; {statistics}"
            emit_remark(op, f"its kernel ends at {_place(end)}; {reason}; cut {cost}; {other}")

    def _tell_statistics(self, cones: Sequence[Cone]) -> None:
        """What products cost that compute statistics of their rows in front, and what they would cost without."""
        for cone in cones:
            statistics = self._statistics(cone)
            if statistics.operand is None:
                continue
            joined = cost_of([cone], self._pairs)
            cut = cost_of(cut_at(cone, statistics.operand), self._pairs)
            op = statistics.operand.owner
            assert isinstance(op, Operation)
            emit_remark(
                statistics.in_front[0].op,
                f"in the kernel of a product of its rows: {statistics}; joined {joined}; cut at {_place(op)}, {cut}",
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

    def find_violation(self, cone: Cone) -> Violation | None:
        """The first criterion that a kernel breaks; looked for once in kernels that are equal: layers of a model."""
        reductions = self._trials.reductions(cone)
        form = self._forms.of(cone), not reductions
        if form not in self._violations:
            found = find_violation(cone, self._pairs, reductions, self._products)
            self._violations[form] = None if found is None else (cone.ops.index(found.op), found.reason)
        known = self._violations[form]
        return None if known is None else Violation(cone.ops[known[0]], known[1])

    def _find_violation(self, root: Operation) -> Violation | None:
        """The first criterion that the kernel that ends in `root` breaks, whole or with its result in parts."""
        cone = self.cone(root)
        violation = self.find_violation(cone)
        if violation is None or cone.parts:
            return violation
        for parts in _possible_parts(cone):
            if self.find_violation(replace(cone, parts=parts)) is None:
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
        if op not in self._trials.scores:
            return 0
        for place, end in enumerate(ends):
            cone = self.cone(end)
            count = sum(isinstance(inner, Combination) for inner in cone.ops)
            if count > MOST_REDUCTIONS:
                break
            if self._trials.becomes_one_pass(cone):
                if self._is_legal(end) or self._cut_operands(end):
                    return place
                emit_remark(op, f"does not become one pass with what follows: {self._refused[end]}")
                break
        return 0

    def _cut_operands(self, root: Operation) -> bool:
        """Cut what the kernel of `root` would compute too often before it reduces anything: queries that are rotated
        first. Whether the kernel is legal then; else nothing is cut."""
        before, cuts = set(self.materialised), list[tuple[Operation, Violation]]()
        while (violation := self._find_violation(root)) is not None:
            cone = self.cone(root)
            if _reduces_before(violation.op, cone):
                self.materialised = before
                return False
            cuts.append((self._materialise(self._end_of_cut(violation.op, cone)), violation))
        for end, violation in cuts:
            emit_remark(violation.op, f"its kernel ends at {_place(end)}; further on, {violation}")
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
                end = self._materialise(self._end_of_cut(cut.op, cone))
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
        return (None if root in self._legal else self._find_violation(root)) or self._find_repeated(cone)

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


def _has_product(cone: Cone) -> bool:
    """Whether the kernel reduces more elements than it reads of anything."""
    most = max((element_count(shape_of(leaf.type)) for leaf in cone.leaves), default=0)
    combined = [op.operands[0] for op in cone.ops if isinstance(op, Combination)]
    return any(element_count(shape_of(value.type)) > most for value in combined)


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


def _place(op: Operation) -> str:
    return f"{op.name}, which writes {sum(map(byte_count, op.results))} bytes"


def source_of_view(value: SSAValue) -> SSAValue:
    """The value that this one reshapes; itself if it is no reshape."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    return value


def _live_ops(block: Block, outputs: Iterable[SSAValue]) -> list[Operation]:
    """The ops that the outputs need, in order."""
    needed = set(backward_slice(outputs))
    return [op for op in block.ops if op in needed]
