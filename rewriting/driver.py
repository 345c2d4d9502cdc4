"""The one driver of rewrite rules: a worklist over all regions, to a fixpoint or in one sweep."""

# pyright: reportPrivateUsage=false
# The views of operands and uses that xDSL offers cost twice as much as what they show.

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import cast

from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import IsolatedFromAbove

from ..dialects.monoids import Number, number_attribute
from ..dialects.types import element_of, index, integer_bounds, is_integer
from .builder import Builder
from .diagnostics import PassError
from .effects import has_no_effect, has_recursive_effects, is_pure, is_removable
from .interval_arithmetic import Interval
from .listeners import current_listeners, report_count
from .locations import fuse_locations
from .matcher import Matcher
from .patterns import Assumption, Rule
from .ranges import Range, RangeAnalysis
from .rules import Rules
from .uses import replace_uses

MAX_CHAIN = 256
"""How many times the result of a rewrite may be rewritten. Rules that need more undo each other or grow
without end."""

_REWRITES_PER_OP = 100
_FREE_REWRITES = 10_000

_VALUES = (OpResult, BlockArgument)


class RewriteLimitError(PassError):
    """Rules that do not come to an end."""


@dataclass
class RewriteStatistics:
    """What a run did."""

    fired: dict[Rule, int] = field(default_factory=dict[Rule, int])
    removed: int = 0
    """Dead ops."""

    @property
    def rewrites(self) -> int:
        return sum(self.fired.values())

    def __iadd__(self, other: RewriteStatistics) -> RewriteStatistics:
        for rule, count in other.fired.items():
            self.fired[rule] = self.fired.get(rule, 0) + count
        self.removed += other.removed
        return self


class RewriteBuilder(Builder):
    """The builder of replacements: inserts before the matched op, and knows what was built before in front of
    it."""

    def __init__(self, rewriter: Rewriter, block: Block, parent: Builder | None):
        super().__init__(block, parent=parent)
        self._rewriter = rewriter

    def insert(self, op: Operation) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride]  # gives `op`
        super().insert(op)
        self._rewriter.built.append(op)
        return op

    def _find(self, key: Hashable, operands: Sequence[SSAValue]) -> Operation | None:
        known = super()._find(key, operands)
        # What has been rewritten since is no longer there.
        return None if known is None or known.parent is None else known

    def number(
        self, number: Number, type: Attribute, constant: builtins.type[Operation] | None = None
    ) -> SSAValue | None:
        """The number as a value of a type; integers wrap. None where an index would leave its 64 bits.

        constant: an op that makes scalar constants, `uop.const` where none is given.
        """
        element = element_of(type)
        if is_integer(element):
            low, high = integer_bounds(element)
            number = int(number)
            if not low <= number <= high:
                if element == index:
                    return None
                number = (number - low) % (high - low + 1) + low
        if constant is None:
            return self.expand(self.const(number, element), type)
        if type is not element:
            return None
        return self.pure(constant, (), (type,), {"value": number_attribute(number, type)}).results[0]

    def any_op(
        self,
        cls: builtins.type[Operation],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute],
    ) -> Operation:
        """An op of any dialect; the one that is there if it is pure."""
        if is_pure(cls):
            return self.pure(cls, operands, result_types, properties)
        return self.insert(cls.create(operands=operands, result_types=result_types, properties=properties))

    def interval(self, value: SSAValue) -> Interval | None:
        """The least and greatest value; None for floats."""
        return self._rewriter.interval(value)

    def range(self, value: SSAValue) -> Range | None:
        """The interval with what the value is modulo some number; None for floats."""
        return self._rewriter.range(value)


class Order(Enum):
    """In which order ops are visited, and whether again."""

    BOTTOM_UP = auto()
    """Operands before the ops that use them, the ops of a region before the op that has it; again until no rule
    applies. A rule sees operands that are rewritten already."""
    TOP_DOWN = auto()
    """The other way round: a rule sees what its op is computed from as it was, so that the largest term is rewritten
    first."""
    ONE_SWEEP = auto()
    """Bottom-up, each op once: what rules build is not visited. For conversions, whose results may look like what
    they are made from."""


class _Visit(Enum):
    """How an op came to be on the worklist, which says what the builder may reuse in front of it."""

    IN_ORDER = auto()
    """In the order of the text: all that was built so far stands before it."""
    NEW = auto()
    """Built in front of an op that was visited in order: all that was built in blocks around stands before
    it."""
    AGAIN = auto()
    """One of its operands was replaced after its visit, or the order is top-down: nothing is known of what stands
    before it."""


@dataclass(frozen=True, slots=True)
class _Chain:
    """The rewrites that led to an op."""

    rule: Rule
    before: _Chain | None
    length: int


class Rewriter:
    """One run of rules over the ops inside `root`; what generated matchers talk to."""

    def __init__(self, root: Operation, rules: Rules, order: Order = Order.BOTTOM_UP):
        self.root = root
        self.rules = rules
        self.order = order
        self.tried: Counter[Rule] = Counter()
        """On how many ops each rule was tried, where a listener wants to know."""
        self.statistics = RewriteStatistics()
        self.built: list[Operation] = []
        """Ops that the current rule has built."""
        self._ranges = RangeAnalysis()
        self._builders: dict[Block, RewriteBuilder] = {}
        self._visit = _Visit.IN_ORDER
        self._work: list[Operation] = []
        # By id, which hashes faster: an op is on the worklist as long as it is pending.
        self._pending: dict[int, _Visit] = {}
        self._chains: dict[Operation, _Chain] = {}
        self._listeners = current_listeners()

    # For matchers.

    def interval(self, value: SSAValue) -> Interval | None:
        return self._ranges.interval(value)

    def range(self, value: SSAValue) -> Range | None:
        return self._ranges.of(value)

    def remainder(self, value: SSAValue, divisor: int) -> Interval | None:
        return self._ranges.remainder(value, divisor)

    def builder(self, op: Operation, *matched: Operation) -> RewriteBuilder:
        """The builder in front of `op`, whose ops come from where it and the `matched` ops came from."""
        block = op.parent
        assert block is not None
        if self._visit is _Visit.IN_ORDER:
            builder = self._builder_of(block)
        else:
            around = self._builder_around(block) if self._visit is _Visit.NEW else None
            builder = RewriteBuilder(self, block, around)
        builder.before = op
        builder.location = fuse_locations([op.location, *(inner.location for inner in matched)])
        return builder

    def _builder_of(self, block: Block) -> RewriteBuilder:
        builder = self._builders.get(block)
        if builder is None:
            builder = self._builders[block] = RewriteBuilder(self, block, self._builder_around(block))
        return builder

    def _builder_around(self, block: Block) -> RewriteBuilder | None:
        parent = block.parent_op()
        if parent is None or parent is self.root or parent.parent is None or parent.has_trait(IsolatedFromAbove):
            return None
        return self._builder_of(parent.parent)

    # The driver.

    def run(self) -> RewriteStatistics:
        work, pending = self._work, self._pending
        work += _reverse_post_order(self.root)
        top_down = self.order is Order.TOP_DOWN
        if top_down:
            work.reverse()
        pending.update(dict.fromkeys(map(id, work), _Visit.AGAIN if top_down else _Visit.IN_ORDER))
        limit = _FREE_REWRITES + _REWRITES_PER_OP * len(work)
        counting = any(listener.counts_tries for listener in self._listeners)
        known: dict[type[Operation], tuple[bool, Matcher | None]] = {}
        rewrites = 0
        while work:
            op = work.pop()
            visit = pending.pop(id(op), None)
            if visit is None:
                continue  # erased
            cls = type(op)
            if (row := known.get(cls)) is None:
                maybe_dead = is_removable(cls) or has_recursive_effects(cls)
                row = known[cls] = (maybe_dead, self.rules.matcher(cls, counting))
            maybe_dead, match = row
            if maybe_dead and _is_unused(op) and has_no_effect(op):
                self.statistics.removed += self._erase(op)
                continue
            if match is None:
                continue
            self._visit = visit
            found = match(op, self)
            if found is None:
                if self.built:
                    self._take_back()
                continue
            rule, new = found
            if self._replace(op, rule, new):
                rewrites += 1
                if rewrites > limit:
                    raise self._limit_error(op, self._chains.get(op))
        for listener in self._listeners:
            listener.tried(self.tried)
        report_count("dead ops removed", self.statistics.removed)
        return self.statistics

    def _take_back(self) -> None:
        """Erase what was built by a rule that did not apply in the end."""
        for op in reversed(self.built):
            if is_removable(type(op)) and _is_unused(op):
                self._erase(op)
        self.built.clear()

    def _replace(self, op: Operation, rule: Rule, new: SSAValue | Sequence[SSAValue]) -> bool:
        """Put `new` in the place of the results of `op`; whether that changed anything."""
        # Classes are compared here and below: isinstance takes five times as long on xDSL's abstract classes.
        is_value = type(new) in _VALUES or isinstance(new, SSAValue)
        values = cast(Sequence[SSAValue], (new,) if is_value else new)
        results = op.results
        if len(values) != len(results):
            raise PassError(f"the rule `{rule}` ({rule.place}) gives {len(values)} values for {len(results)}", op)
        for result, value in zip(results, values, strict=True):
            if value is result:
                self._take_back()
                return False
            if value.type is not result.type and value.type != result.type:
                raise PassError(f"the rule `{rule}` ({rule.place}) gives a {value.type} for a {result.type}", op)
        if not all(listener.allows(rule, op) for listener in self._listeners):
            self._take_back()
            return False
        for listener in self._listeners:
            listener.rewriting(rule, op, self.built, values)
        visits_again = self.order is not Order.ONE_SWEEP
        if not visits_again:
            self.built.clear()
        elif self.built:
            before = self._chains.get(op)
            chain = _Chain(rule, before, 1 if before is None else before.length + 1)
            if chain.length > MAX_CHAIN:
                raise self._limit_error(op, chain)
            self._schedule_built(op, chain)
        for result, value in zip(results, values, strict=True):
            if visits_again:
                self._schedule_users(result)
            replace_uses(result, value)
        self.statistics.removed += self._erase(op) - 1
        fired = self.statistics.fired
        fired[rule] = fired.get(rule, 0) + 1
        return True

    def _schedule_built(self, op: Operation, chain: _Chain) -> None:
        """Visit what a rule has built for `op`: bottom-up first built first, top-down last."""
        visit = _Visit.AGAIN if self._visit is _Visit.AGAIN else _Visit.NEW
        for new in self.built if self.order is Order.TOP_DOWN else reversed(self.built):
            self._work.append(new)
            self._pending[id(new)] = visit
            self._chains[new] = chain
        self.built.clear()

    def _schedule_users(self, value: SSAValue) -> None:
        pending = self._pending
        use = value.first_use
        while use is not None:
            user = use._operation
            # Most users come later in the text, and are pending.
            if id(user) not in pending:
                pending[id(user)] = _Visit.AGAIN
                self._work.append(user)
            use = use._next_use

    def _erase(self, op: Operation) -> int:
        """Erase an unused op, and what only it used; how many ops that are."""
        dead = [op]
        erased = 0
        while dead:
            op = dead.pop()
            block = op.parent
            if block is None:
                continue  # erased already
            inside = tuple(op.walk()) if op.regions else (op,)
            block.detach_op(op)
            op.drop_all_references()
            erased += len(inside)
            for inner in inside:
                self._pending.pop(id(inner), None)
                for operand in inner._operands:
                    if operand.first_use is None and type(operand) is OpResult:
                        owner = operand.op
                        if is_removable(type(owner)) and _is_unused(owner):
                            dead.append(owner)
        return erased

    def _limit_error(self, op: Operation, chain: _Chain | None) -> RewriteLimitError:
        rules: dict[Rule, None] = {}
        while chain is not None and len(rules) < 8:
            rules[chain.rule] = None
            chain = chain.before
        if not rules:
            rules = dict.fromkeys(sorted(self.statistics.fired, key=lambda rule: -self.statistics.fired[rule])[:8])
        names = " and ".join(f"`{rule}` ({rule.place})" for rule in rules)
        return RewriteLimitError(
            f"rewriting does not come to an end: {names} keep rewriting what they make",
            op,
            "remove one of the rules, or give it a guard that its own result does not meet",
        )


def rewrite(
    root: Operation,
    rules: Rules,
    *,
    order: Order = Order.BOTTOM_UP,
    assuming: Collection[Assumption] = (),
) -> RewriteStatistics:
    """Apply rules to the ops inside `root`, in all regions, until none applies (or in one sweep: see `Order`).

    Of the rules those are used that assume no more than `assuming`. What they build is visited next. Ops whose
    results are unused and that have no effect are removed. New ops get the fused location of the ops that the
    rule's term matched. Raises `RewriteLimitError` when rules undo each other.
    """
    return Rewriter(root, rules.under(assuming), order).run()


def _is_unused(op: Operation) -> bool:
    for result in op.results:  # in half the time of all()
        if result.first_use is not None:
            return False
    return True


def _reverse_post_order(root: Operation) -> list[Operation]:
    """The ops inside `root`, last first; an op comes before those inside it."""
    order: list[Operation] = []
    # Where to go on in each block that is open, innermost last.
    places = _last_ops(root)
    while places:
        op = places.pop()
        while op is not None:
            order.append(op)
            if op.regions:
                places.append(op.prev_op)
                places += _last_ops(op)
                break
            op = op.prev_op
    return order


def _last_ops(op: Operation) -> list[Operation | None]:
    return [block.last_op for region in op.regions for block in region.blocks]
