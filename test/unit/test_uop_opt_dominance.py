"""The dominator tree against the definition of dominance, and the sweep against both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.ir import Block, Operation, Region

from uop.tools.dominance import DominanceError, dominator_tree, verify_dominance
from uop.tools.verifier import InvalidOperation, verify_ir

# Block number → the blocks that it leads to.
Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 7))
    # Nothing leads to the entry block, as xDSL's region is entered from outside only.
    successors = st.lists(st.integers(min(1, size - 1), size - 1), max_size=3 if size > 1 else 0)
    return [draw(successors) for _ in range(size)]


def reachable(graph: Graph, without: int | None = None) -> set[int]:
    """The blocks that the entry leads to, on paths that avoid `without`."""
    seen: set[int] = set()
    stack = [0]
    while stack:
        block = stack.pop()
        if block != without and block not in seen:
            seen.add(block)
            stack += graph[block]
    return seen


def dominates(graph: Graph, a: int, b: int) -> bool:
    """Whether every path from the entry to `b` passes through `a`."""
    return a == b or b not in reachable(graph, without=a)


def build(graph: Graph) -> tuple[Region, list[Block]]:
    blocks = [Block() for _ in graph]
    for block, successors in zip(blocks, graph, strict=True):
        block.add_op(test.TestTermOp.create(successors=[blocks[index] for index in successors]))
    return Region(blocks), blocks


@given(graphs())
def test_the_tree_is_what_the_definition_says(graph: Graph) -> None:
    region, blocks = build(graph)
    parent = {
        blocks.index(child): blocks.index(block)
        for block, children in dominator_tree(region).items()
        for child in children
    }
    live = reachable(graph)
    assert parent.keys() == live - {0}
    for b in live:
        ancestors, step = {b}, b
        while step in parent:
            step = parent[step]
            ancestors.add(step)
        assert ancestors == {a for a in live if dominates(graph, a, b)}


@given(graphs(), st.data())
def test_the_sweep_refuses_what_the_definition_refuses(graph: Graph, data: st.DataObject) -> None:
    region, blocks = build(graph)
    definer = data.draw(st.integers(0, len(graph) - 1))
    user = data.draw(st.integers(0, len(graph) - 1))
    definition = test.TestOp(result_types=[i32])
    first = blocks[definer].first_op
    assert first is not None
    blocks[definer].insert_op_before(definition, first)
    last = blocks[user].last_op
    assert last is not None
    blocks[user].insert_op_before(test.TestOp(operands=[definition.results[0]]), last)
    root = test.TestOp(regions=[region])
    live = reachable(graph)
    # As in MLIR nothing is asked of blocks that are never reached, and what they define is never there.
    valid = user not in live or (definer in live and dominates(graph, definer, user))
    if valid:
        verify_dominance(root)
    else:
        with pytest.raises(DominanceError):
            verify_dominance(root)


def use(*operands: Operation, regions: tuple[Region, ...] = ()) -> test.TestOp:
    return test.TestOp(operands=[op.results[0] for op in operands], result_types=[i32], regions=list(regions))


def test_order_in_a_block() -> None:
    a = use()
    b = use(a)
    verify_dominance(ModuleOp([a, b]))
    a.detach()
    b.detach()
    with pytest.raises(DominanceError) as caught:
        verify_dominance(ModuleOp([b, a]))
    assert caught.value.op is b
    assert list(caught.value.related) == [(a, "operand defined here")]


def test_a_region_sees_what_is_before_its_operation_only() -> None:
    a = use()
    inner = use(a)
    verify_dominance(ModuleOp([a, use(regions=(Region(Block([inner])),))]))

    inner = test.TestOp()
    outer = use(regions=(Region(Block([inner])),))
    inner.operands = [outer.results[0]]
    with pytest.raises(DominanceError):
        verify_dominance(ModuleOp([outer]))


def test_values_of_a_region_end_with_it() -> None:
    inner = use()
    outer = use(regions=(Region(Block([inner])),))
    with pytest.raises(DominanceError):
        verify_dominance(ModuleOp([outer, use(inner)]))
    # Nor does a later region of the same operation see them.
    inner = use()
    with pytest.raises(DominanceError):
        verify_dominance(ModuleOp([use(regions=(Region(Block([inner])), Region(Block([use(inner)]))))]))


def test_an_isolated_region_sees_nothing_from_outside() -> None:
    a = use()
    with pytest.raises(DominanceError):
        verify_dominance(ModuleOp([a, ModuleOp([use(a)])]))


def test_the_verifier_names_the_operation_of_an_erased_operand() -> None:
    a = use()
    b = use(a)
    module = ModuleOp([a, b])
    a.detach()
    a.erase(safe_erase=False)
    with pytest.raises(InvalidOperation, match="Erased") as caught:
        verify_ir(module)
    assert caught.value.op is b


def test_many_blocks_do_not_exhaust_the_stack() -> None:
    size = 3000
    region, _ = build([[index + 1] for index in range(size - 1)] + [[]])
    verify_dominance(test.TestOp(regions=[region]))
