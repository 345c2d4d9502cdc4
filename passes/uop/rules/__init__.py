"""The rules of `uop-simplify`, by family. test/unit/test_proofs.py proves each, as `uop rules --prove` does."""

from ....rewriting.rules import Rules
from .casts import CASTS
from .compares import COMPARES
from .conditions import CONDITIONS
from .dividends import DIVIDENDS
from .divisions import DIVISIONS
from .folding import FOLDING
from .identities import IDENTITIES
from .indices import INDICES
from .logic import LOGIC
from .masks import MASKS
from .movement import MOVEMENT
from .positions import POSITIONS
from .reals import REALS
from .reductions import REDUCTIONS
from .scans import SCANS
from .selects import SELECTS

FAMILIES = {
    "folding": FOLDING,
    "identities": IDENTITIES,
    "logic": LOGIC,
    "selects": SELECTS,
    "compares": COMPARES,
    "conditions": CONDITIONS,
    "casts": CASTS,
    "reals": REALS,
    "movement": MOVEMENT,
    "indices": INDICES,
    "divisions": DIVISIONS,
    "dividends": DIVIDENDS,
    "masks": MASKS,
    "reductions": REDUCTIONS,
    "scans": SCANS,
    "positions": POSITIONS,
}
"""Family → its rules, in the order in which they are tried. Constants first: what folds needs no other rule."""

SIMPLIFY = Rules(*FAMILIES.values())
"""All families."""

__all__ = [
    "CASTS",
    "COMPARES",
    "CONDITIONS",
    "DIVIDENDS",
    "DIVISIONS",
    "FAMILIES",
    "FOLDING",
    "IDENTITIES",
    "INDICES",
    "LOGIC",
    "MASKS",
    "MOVEMENT",
    "POSITIONS",
    "REALS",
    "REDUCTIONS",
    "SCANS",
    "SELECTS",
    "SIMPLIFY",
]
