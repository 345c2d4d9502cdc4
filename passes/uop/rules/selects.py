"""Rules of `uop.where`."""

from ....rewriting.patterns import BOOL, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import and_, not_, or_, where

x, y, z = variables("x y z")
c, p, q = variables("c p q", BOOL)

SELECTS = Rules(
    where[True, x, y] >> x,
    where[False, x, y] >> y,
    where[c, x, x] >> x,
    where[c, True, False] >> c,
    where[c, False, True] >> not_[c],
    where[c, p, False] >> and_[c, p],
    where[c, True, p] >> or_[c, p],
    where[not_[c], x, y] >> where[c, y, x],
    where[c, where[c, x, y], z] >> where[c, x, z],
    where[c, x, where[c, y, z]] >> where[c, x, z],
    where[c, where[p, x, y], y] >> where[and_[c, p], x, y],
    where[c, x, where[p, x, y]] >> where[or_[c, p], x, y],
)
