"""Wrong on purpose: a rule, a pass that is made of rules, and one that is not."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from uop.dialects.types import index
from uop.dialects.uop import AddOp, ConstOp, KernelOp, LoadOp, SubOp
from uop.passes.rules_pass import rules_pass
from uop.rewriting.patterns import FLOAT, variables
from uop.rewriting.rules import Rules
from uop.rewriting.vocabulary import abs, mul, sqrt

(x,) = variables("x", FLOAT)
RULES = Rules(sqrt[mul[x, x]] >> x)  # of a negative number it is its opposite


class SubtractPass(ModulePass):
    """Make differences of the sums of the last kernel."""

    name = "wrong-pass"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        kernels = [kernel for kernel in op.ops if isinstance(kernel, KernelOp)]
        for add in [inner for inner in kernels[-1].walk() if isinstance(inner, AddOp)]:
            wrong = SubOp.build_on(*add.operands)
            block = add.parent_block()
            assert block is not None
            block.insert_op_before(wrong, add)
            add.results[0].replace_all_uses_with(wrong.results[0])
            block.erase_op(add)


class BoundsPass(ModulePass):
    """Load from one element further along the last dimension."""

    name = "wrong-bounds"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for load in [inner for inner in op.walk() if isinstance(inner, LoadOp)]:
            one = ConstOp.of(1, index)
            further = AddOp.build_on(load.indices[-1], one.result)
            block = load.parent_block()
            assert block is not None
            block.insert_ops_before([one, further], load)
            load.operands[len(load.indices)] = further.results[0]


PASSES = [SubtractPass, BoundsPass, rules_pass("wrong-abs", Rules(abs[x] >> x))]
