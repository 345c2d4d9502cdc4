"""Every rule of `uop-simplify` fires in a lit test."""

from collections.abc import Iterator
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from uop.dialects import get_all_dialects
from uop.passes.uop.rules import SIMPLIFY
from uop.passes.uop.rules.fast_math import FAST_MATH
from uop.passes.uop.uop_simplify import simplify
from uop.rewriting.patterns import Assumption, Rule

FOLDER = Path(__file__).parents[1] / "passes" / "uop"


def modules(path: Path) -> Iterator[ModuleOp]:
    """The modules of a lit file."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    for text in path.read_text().split("// -----"):
        yield Parser(context, text, path.name).parse_module()


def test_every_rule_fires_in_a_lit_test() -> None:
    fired: set[Rule] = set()
    for path in sorted(FOLDER.glob("uop-simplify*.mlir")):
        for module in modules(path):
            fired |= simplify(module, Assumption if "fast-math" in path.stem else ()).fired.keys()
    missing = [f"{rule} ({rule.place})" for rule in (*SIMPLIFY, *FAST_MATH) if rule not in fired]
    assert not missing, "\n".join(
        ["run test/unit/update_rule_tests.py, or write a lit test in which they fire:", *missing]
    )
