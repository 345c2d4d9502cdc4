"""Walks over the ops inside regions."""

from xdsl.dialects import test
from xdsl.ir import Block, Region

from uop.dialects.traversal import ops_inside


def test_text_order() -> None:
    def leaf() -> test.TestOp:
        return test.TestOp()

    inner = test.TestOp(regions=[Region([Block([leaf(), leaf()]), Block([leaf()])]), Region(), Region(Block([leaf()]))])
    region = Region([Block(), Block([leaf(), inner, leaf()]), Block([leaf()])])
    assert ops_inside(region) == list(region.walk())
    assert len(ops_inside(region)) == 8


def test_ops_may_be_erased_on_the_way() -> None:
    region = Region(Block([test.TestOp() for _ in range(4)]))
    for op in ops_inside(region):
        op.detach()
    assert ops_inside(region) == []


def test_depth() -> None:
    region = Region(Block())
    for _ in range(10_000):
        region = Region(Block([test.TestOp(regions=[region])]))
    assert len(ops_inside(region)) == 10_000
