# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Dialects, rules and passes from outside the project."""

import re
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Dialect
from xdsl.parser import Parser

from uop.dialects.semantics import ALU, Semantics
from uop.dialects.uop import ALU_OPS, KernelOp, alu_op
from uop.passes.uop.rules import SIMPLIFY
from uop.passes.uop.rules import plugins as rule_plugins
from uop.runtime.interpret.tensors import interpret_kernel
from uop.targets.cuda import cuda_text
from uop.tools import driver, plugins
from uop.tools.diagnostics import DiagnosticError
from uop.tools.pipeline import default_passes, run_pipeline

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]  # pytest calls it
    """Rules, ops and dialects that a test adds are gone after it."""
    monkeypatch.setattr(rule_plugins, "_rules", rule_plugins.simplify_rules())
    with patch.dict(ALU), patch.dict(ALU_OPS), patch.dict(plugins._dialects):  # pyright: ignore[reportPrivateUsage]
        yield


def install(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Let packages be installed whose entry points name these modules."""
    entries = [EntryPoint(name.replace("_", "-"), name, plugins.GROUP) for name in modules]

    def entry_points(group: str) -> Iterator[EntryPoint]:
        assert group == plugins.GROUP
        return iter(entries)

    monkeypatch.setattr(plugins, "entry_points", entry_points)
    monkeypatch.setattr(plugins, "installed_plugins", plugins.installed_plugins.__wrapped__)
    monkeypatch.setattr(driver, "installed_plugins", plugins.installed_plugins)


def test_example_is_short() -> None:
    lines = (EXAMPLES / "my_rules.py").read_text().splitlines()
    assert len([line for line in lines if line.strip()]) < 20


def test_rules_are_added_once() -> None:
    plugin = plugins.load_plugin(str(EXAMPLES / "my_rules.py"))
    assert plugin.rules is not None
    before = len(rule_plugins.simplify_rules())
    for _ in range(2):
        rule_plugins.add_simplify_rules(plugin.rules)
    assert len(rule_plugins.simplify_rules()) == before + len(plugin.rules)
    assert set(SIMPLIFY) < set(rule_plugins.simplify_rules())


def test_entry_points(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)  # pyright: ignore[reportUnknownMemberType]
    install(monkeypatch, "my_rules")
    program = tmp_path / "program.mlir"
    program.write_text('func.func @f(%n: i32) -> i32 { %0 = "mine.double"(%n) : (i32) -> i32 func.return %0 : i32 }')
    assert driver.drive([str(program), "-p", "mine-to-uop"]) == 0
    assert "uop.add %n, %n" in capsys.readouterr().out
    assert "mine-to-uop" in default_passes()


def test_broken_entry_point_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "no_such_module_anywhere")
    with pytest.raises(DiagnosticError) as error:
        plugins.installed_plugins()
    text = str(error.value.diagnostic)
    assert text.startswith(
        "no_such_module_anywhere (entry point no-such-module-anywhere of uop.plugins): error: cannot be"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RULES = 3", "RULES is a int, not a uop.rewriting.rules.Rules"),
        ("PASSES = [int]", "PASSES holds <class 'int'>, which is no subclass of xdsl.passes.ModulePass"),
        ("DIALECTS = ['mine']", "DIALECTS holds 'mine', which is no xdsl.ir.Dialect"),
    ],
)
def test_what_is_of_the_wrong_kind_is_refused(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(DiagnosticError) as error:
        plugins.load_plugin(str(path))
    assert str(error.value.diagnostic) == f"{path}: error: {message}"


def test_dialects_are_known_to_all_commands() -> None:
    assert "mine" not in plugins.make_context().registered_dialect_names
    plugins.register_plugin(plugins.load_plugin(str(EXAMPLES / "my_rules.py")), {}, {})
    op = plugins.make_context().get_op("mine.double")
    assert op.name == "mine.double"


def test_op_is_interpreted_and_printed_by_its_row() -> None:
    """Through the whole pipeline: an elementwise op of a plugin is nothing special."""
    row = Semantics("mine.cube", 1, "float", "x³", lambda np, x: x * x * x, {"f32": "{0} * {0} * {0}"})
    plugins.register_plugin(plugins.Plugin("here", [Dialect("mine", [alu_op(row)])]), {}, {})
    text = """
uop.kernel @cube(%x: tensor<64xf32>) -> (tensor<64xf32>) {
  %0 = mine.cube %x : tensor<64xf32>
  uop.yield %0 : tensor<64xf32>
}"""
    context = plugins.make_context()
    context.load_dialect(Builtin)
    module = Parser(context, text).parse_module()
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    (result,) = interpret_kernel(kernel, [np.arange(64, dtype=np.float32)])
    assert result[3] == 27
    run_pipeline(module, context, "uop-to-cuda")
    assert re.search(r"(v\d+|x\w*) \* \1 \* \1", cuda_text(module)), cuda_text(module)


def test_name_of_an_op_has_its_dialect() -> None:
    with pytest.raises(ValueError, match=r"double needs the name of your dialect in front: mine\.double"):
        alu_op(Semantics("double", 1, "number", "x + x", lambda np, x: x + x, {}))
