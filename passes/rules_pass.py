"""A pass that is no more than a set of rules."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..rewriting.driver import Order, rewrite
from ..rewriting.rules import Rules


def rules_pass(name: str, rules: Rules, order: Order = Order.BOTTOM_UP) -> type[ModulePass]:
    """The pass of this name that applies `rules` to the whole module; `order` as for `rewrite`."""

    def apply(self: ModulePass, ctx: Context, op: ModuleOp) -> None:
        rewrite(op, rules, order=order)

    documentation = f"Apply {len(rules)} rules, the first of which is {rules.rules[0]}" if rules.rules else "No rules"
    return type(name, (ModulePass,), {"name": name, "apply": apply, "__doc__": documentation})
