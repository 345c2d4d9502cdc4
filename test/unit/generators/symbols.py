"""Extents, and the attributes that are made of them."""

from __future__ import annotations

from hypothesis import strategies as st
from xdsl.ir import Attribute

from uop.dialects.symbols import Extent, ExtentAttr, ExtentsAttr, Symbol, SymbolAttr

NAMES = ("s0", "s1", "batch")


def _combined(children: st.SearchStrategy[Extent]) -> st.SearchStrategy[Extent]:
    pairs = st.tuples(children, children)
    return st.one_of(
        pairs.map(lambda p: p[0] + p[1]),
        pairs.map(lambda p: p[0] - p[1]),
        pairs.map(lambda p: p[0] * p[1]),
        st.tuples(children, st.integers(1, 7)).map(lambda p: p[0] // p[1]),
    )


LEAVES = st.one_of(st.integers(-9, 9).map(Extent.of), st.sampled_from(NAMES).map(Extent.of))
EXTENTS = st.recursive(LEAVES, _combined, max_leaves=6)

_symbols = st.tuples(st.sampled_from(NAMES), st.integers(0, 9), st.integers(9, 2**40)).map(lambda parts: Symbol(*parts))

symbol_attributes: st.SearchStrategy[Attribute] = st.one_of(
    _symbols.map(SymbolAttr),
    EXTENTS.map(ExtentAttr),
    st.lists(EXTENTS, max_size=3).map(lambda extents: ExtentsAttr(tuple(extents))),
)
"""`#uop.symbol<…>`, `#uop.extent<…>` and `#uop.extents<…>`."""
