"""SSA dominance: every value is defined before it is used, on every path. xDSL's verifier does not check it.

One sweep over the operations with the set of values that are visible; a region with several blocks is swept
along its dominator tree (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001). Every region
is taken to be an SSA control-flow region: none of uop's dialects has graph regions, where operations have no
order. As in MLIR, a block that cannot be reached is not checked.
"""

from collections.abc import Sequence

from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove
from xdsl.utils.exceptions import VerifyException


class DominanceError(VerifyException):
    """Operand number `index` of `op` is not defined on every path that leads to `op`."""

    def __init__(self, op: Operation, index: int) -> None:
        super().__init__(f"operand #{index} does not dominate this use")
        self.op = op
        self.value = op.operands[index]

    @property
    def related(self) -> Sequence[tuple[Operation, str]]:
        """Other places to show, each with what to say there."""
        owner = self.value.owner
        if isinstance(owner, Operation):
            return ((owner, "operand defined here"),)
        parent = owner.parent_op()
        return () if parent is None else ((parent, "operand is a block argument of this operation"),)


def verify_dominance(root: Operation) -> None:
    """Check the operations inside `root`. Raises `DominanceError` for the first offender in sweep order."""
    for region in root.regions:
        _sweep_region(region, set())


def _sweep_region(region: Region, visible: set[SSAValue]) -> None:
    """Check the blocks of `region`; `visible` is the same afterwards."""
    entry = region.first_block
    if entry is None:
        return
    if entry.next_block is None:
        visible.difference_update(_sweep_block(entry, visible))
        return
    children = dominator_tree(region)
    # Depth first without recursion: a block's values are visible exactly while its subtree is swept.
    stack: list[tuple[Block, list[SSAValue] | None]] = [(entry, None)]
    while stack:
        block, defined = stack.pop()
        if defined is not None:
            visible.difference_update(defined)
            continue
        stack.append((block, _sweep_block(block, visible)))
        stack.extend((child, None) for child in reversed(children.get(block, ())))


def _sweep_block(block: Block, visible: set[SSAValue]) -> list[SSAValue]:
    """Check the operations of `block` in order; adds its values to `visible` and returns them."""
    defined: list[SSAValue] = list(block.args)
    visible.update(defined)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise DominanceError(op, index)
        if op.regions:
            isolated = op.has_trait(IsolatedFromAbove)
            for region in op.regions:
                _sweep_region(region, set() if isolated else visible)
        defined += op.results
        visible.update(op.results)
    return defined


def dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """Block → the blocks that it immediately dominates; blocks that cannot be reached appear nowhere."""
    entry = region.first_block
    if entry is None:
        return {}
    postorder = _postorder(entry)
    number = {block: index for index, block in enumerate(postorder)}
    predecessors: dict[Block, list[Block]] = {block: [] for block in postorder}
    for block in postorder:
        for successor in _successors(block):
            predecessors[successor].append(block)

    dominator: dict[Block, Block] = {entry: entry}

    def intersect(a: Block, b: Block) -> Block:
        while a is not b:
            while number[a] < number[b]:
                a = dominator[a]
            while number[b] < number[a]:
                b = dominator[b]
        return a

    changed = True
    while changed:
        changed = False
        for block in reversed(postorder):
            if block is entry:
                continue
            processed = [predecessor for predecessor in predecessors[block] if predecessor in dominator]
            new = processed[0]
            for predecessor in processed[1:]:
                new = intersect(new, predecessor)
            if dominator.get(block) is not new:
                dominator[block] = new
                changed = True

    children: dict[Block, list[Block]] = {}
    for block in reversed(postorder):
        if block is not entry:
            children.setdefault(dominator[block], []).append(block)
    return children


def _successors(block: Block) -> Sequence[Block]:
    return () if block.last_op is None else block.last_op.successors


def _postorder(entry: Block) -> list[Block]:
    """The blocks that `entry` reaches, each after those that it leads to."""
    order: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        for successor in successors:
            if successor not in seen:
                seen.add(successor)
                stack.append((successor, iter(_successors(successor))))
                break
        else:
            order.append(block)
            stack.pop()
    return order
