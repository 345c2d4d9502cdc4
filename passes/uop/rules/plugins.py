"""The rules of `uop-simplify` with those that come from outside the project (`uop-opt --load`)."""

from ....rewriting.rules import Rules
from . import SIMPLIFY
from .fast_math import FAST_MATH

_rules = SIMPLIFY + FAST_MATH


def simplify_rules() -> Rules:
    """The rules of `uop-simplify`, those of plugins last."""
    return _rules


def add_simplify_rules(rules: Rules) -> None:
    """Let `uop-simplify` use these rules too; those that it has already are not added again."""
    global _rules
    known = set(_rules)
    if new := [rule for rule in rules if rule not in known]:
        _rules = _rules + Rules(*new)
