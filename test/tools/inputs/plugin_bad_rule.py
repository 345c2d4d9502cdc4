"""A rule whose replacement speaks of a variable that its term does not bind."""

from uop.rewriting.patterns import variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import add, neg

x, y = variables("x y")
RULES = Rules(neg[x] >> add[x, y])
