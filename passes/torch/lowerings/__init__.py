"""How each ATen overload is built of uop ops: one function an overload, grouped by what they do.

`LOWERINGS` is the table; importing this package fills it.
"""

from . import (
    activations,
    arithmetic,
    attention,
    bags,
    columns,
    comparison,
    convolution,
    creation,
    distances,
    elementary,
    indexing,
    interpolation,
    joins,
    normalization,
    normalization_backward,
    padding,
    pooling,
    products,
    reductions,
    scans,
    scatters,
    searching,
    sorting,
    views,
)
from .errors import Unsupported
from .registry import LOWERINGS

__all__ = [
    "LOWERINGS",
    "Unsupported",
    "activations",
    "arithmetic",
    "attention",
    "bags",
    "columns",
    "comparison",
    "convolution",
    "creation",
    "distances",
    "elementary",
    "indexing",
    "interpolation",
    "joins",
    "normalization",
    "normalization_backward",
    "padding",
    "pooling",
    "products",
    "reductions",
    "scans",
    "scatters",
    "searching",
    "sorting",
    "views",
]
