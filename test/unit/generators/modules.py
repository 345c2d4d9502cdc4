"""Modules: what one file of any form holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .attributes import attributes, locations, names
from .cpu_kernels import cpu_kernels
from .gpu_kernels import gpu_kernels
from .loops import loop_kernels, range_kernels
from .tensors import functions, kernels
from .tiles import tile_kernels

FORMS: dict[str, Callable[[str], st.SearchStrategy[Operation]]] = {
    "function": functions,
    "tensor": kernels,
    "range": range_kernels,
    "loop": loop_kernels,
    "tile": tile_kernels,
    "gpu_kernel": gpu_kernels,
    "cpu_kernel": cpu_kernels,
}
"""Form → the strategy of its kernels or functions, by symbol name."""


@dataclass(frozen=True)
class Sample:
    """A module, shown as its text when a test fails."""

    module: ModuleOp

    def __repr__(self) -> str:
        return str(self.module)


@st.composite
def modules(draw: st.DrawFn, form: str) -> Sample:
    """A module with a kernel or function of a form, or two."""
    symbols = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    module = ModuleOp([draw(FORMS[form](symbol)) for symbol in symbols])
    module.location = draw(locations)
    module.attributes.update(draw(st.dictionaries(names, attributes, max_size=1)))
    return Sample(module)
