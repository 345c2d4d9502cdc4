# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Somebody's own dialect, rules and pass: uop-opt --load examples/my_rules.py FILE -p uop-simplify,mine-to-uop

`uop rules --prove --load examples/my_rules.py my_rules` proves the rules: the row of the op says what it means.
"""

from xdsl.ir import Dialect

from uop.dialects.semantics import Semantics
from uop.dialects.uop import alu_op
from uop.passes.rules_pass import rules_pass
from uop.rewriting.patterns import SIGNED, op, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import abs, add, max, neg

row = Semantics("mine.double", 1, "number", "x + x", lambda np, x: x + x, {}, smt=lambda z3, element, x: x + x)
DoubleOp = alu_op(row)

double, (n,) = op(DoubleOp), variables("n", SIGNED)
RULES = Rules(max[n, neg[n]] >> abs[n], neg[double[n]] >> double[neg[n]])
DIALECTS = [Dialect("mine", [DoubleOp])]
PASSES = [rules_pass("mine-to-uop", Rules(double[n] >> add[n, n]))]
