"""A pass whose name is taken."""

from uop.passes.rules_pass import rules_pass
from uop.rewriting.rules import Rules

PASSES = [rules_pass("cse", Rules())]
