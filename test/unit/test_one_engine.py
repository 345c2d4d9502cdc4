"""DESIGN, law 3: there is one rewriting mechanism, and no pass keeps a worklist of its own."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

FOLDERS = ("dialects", "passes", "targets", "frontends", "runtime", "tools")
FILES = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]

STOCK_ENGINES = ("xdsl.pattern_rewriter", "xdsl.rewriter", "xdsl.builder", "xdsl.rewriting")
"""Modules of xDSL that rewrite: ours is rewriting/driver.py, whose rules have names and keep locations."""

TAKES = {"pop", "popleft", "popitem"}

CHANGES = {
    *("erase", "erase_op", "detach", "detach_op", "drop_all_references"),
    *("replace_uses", "replace_all_uses_with", "replace_uses_with_if", "replace"),
    *("insert_op_before", "insert_op_after", "insert_ops_before", "insert_ops_after", "add_op", "add_ops"),
}
"""Names of calls that change the IR."""

ALLOWED: dict[str, str] = {}
"""`folder/file.py:function` → why its loop, which looks like a worklist of rewrites, is none."""


def calls(tree: ast.AST) -> set[str]:
    """Names of the functions and methods that are called in a piece of code."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                found.add(node.func.attr)
            elif isinstance(node.func, ast.Name):
                found.add(node.func.id)
    return found


def worklists(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Function and line of each `while` that takes things from a container and changes the IR."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for loop in ast.walk(function):
            if isinstance(loop, ast.While):
                called = calls(loop)
                if called & TAKES and called & CHANGES:
                    yield function.name, loop.lineno


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module is not None and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_worklist_outside_the_engine(path: Path) -> None:
    tree = ast.parse(path.read_text())
    name = path.relative_to(ROOT).as_posix()
    found = [
        f"{name}:{line}, in {function}" for function, line in worklists(tree) if f"{name}:{function}" not in ALLOWED
    ]
    assert not found, "a worklist of its own: let rewriting/driver.py do it, or say in ALLOWED why it is none"
    stock = [module for module in imported(tree) if module.startswith(STOCK_ENGINES)]
    assert not stock, f"{name} uses xDSL's engine: rewriting/driver.py is ours"


def test_allowed_are_there() -> None:
    for place in ALLOWED:
        name, function = place.split(":")
        assert function in {where for where, _ in worklists(ast.parse((ROOT / name).read_text()))}, place


def test_worklist_is_recognised() -> None:
    """The driver's own."""
    found = [function for function, _ in worklists(ast.parse((ROOT / "rewriting" / "driver.py").read_text()))]
    assert "_erase" in found
    source = """
def run(root):
    work = list(root.walk())
    while work:
        op = work.pop()
        if is_dead(op):
            op.detach()
"""
    assert [*worklists(ast.parse(source))] == [("run", 4)]
