"""Somebody's own dialect, rules and pass: uop-opt --load examples/my_rules.py FILE -p uop-simplify,mine-to-uop"""

from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from uop.passes.rules_pass import rules_pass
from uop.rewriting.patterns import SIGNED, op, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import abs, add, max, neg


@irdl_op_definition
class DoubleOp(IRDLOperation):
    name, value, result, traits = "mine.double", operand_def(), result_def(), traits_def(Pure())


double, (n,) = op(DoubleOp), variables("n", SIGNED)
RULES = Rules(max[n, neg[n]] >> abs[n], neg[double[n]] >> double[neg[n]])
DIALECTS = [Dialect("mine", [DoubleOp])]
PASSES = [rules_pass("mine-to-uop", Rules(double[n] >> add[n, n]))]
