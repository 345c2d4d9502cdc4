"""The rules of `uop-simplify`, by family. test/unit/test_rules.py checks each, to the last bit and for all
element types."""

from ....rewriting.rules import Rules
from .casts import CASTS
from .compares import COMPARES
from .folding import FOLDING
from .identities import IDENTITIES
from .indices import INDICES
from .logic import LOGIC
from .masks import MASKS
from .movement import MOVEMENT
from .selects import SELECTS

SIMPLIFY = Rules(FOLDING, IDENTITIES, LOGIC, SELECTS, COMPARES, CASTS, MOVEMENT, INDICES, MASKS)
"""All families. Constants first: what folds needs no other rule."""

__all__ = [
    "CASTS",
    "COMPARES",
    "FOLDING",
    "IDENTITIES",
    "INDICES",
    "LOGIC",
    "MASKS",
    "MOVEMENT",
    "SELECTS",
    "SIMPLIFY",
]
