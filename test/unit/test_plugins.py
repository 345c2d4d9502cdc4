"""Dialects, rules and passes from outside the project."""

from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from uop.passes.uop.rules import SIMPLIFY
from uop.passes.uop.rules import plugins as rule_plugins
from uop.tools import driver, plugins
from uop.tools.diagnostics import DiagnosticError
from uop.tools.pipeline import default_passes

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _own_rules(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]  # pytest calls it
    """Rules that a test adds are gone after it."""
    monkeypatch.setattr(rule_plugins, "_rules", rule_plugins.simplify_rules())


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
