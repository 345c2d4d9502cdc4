"""Code on the command line: parsed, and evaluated with something of ours in the place of its calls."""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

import torch
from torch import nn

from .errors import CaptureError
from .source_locations import COMMAND

_FRAME_DEPENDENT = frozenset("dir eval exec globals locals super vars".split())
"""Builtins that look at their caller's frame, so that nothing may stand between."""

_CALL = "__uop_call__"


@dataclass
class Code:
    """Parsed code: statements, and the expression at its end that gives the result.

    names: by the number of a call in the text, the variable or keyword that its result goes to
    """

    statements: CodeType
    imports: CodeType
    result: CodeType
    names: Mapping[int, str]

    @staticmethod
    def parse(text: str) -> Code:
        """Raises `CaptureError` for a syntax error, and for code that does not end in an expression."""
        linecache.cache[COMMAND] = (len(text), None, text.splitlines(keepends=True), COMMAND)
        try:
            tree = ast.parse(text, COMMAND)
        except SyntaxError as error:
            raise CaptureError(
                f"SyntaxError: {error.msg}", COMMAND, error.lineno, error.offset, error.end_offset
            ) from None
        if not tree.body:
            raise CaptureError("there is no code: give an expression such as torch.relu(torch.randn(4))")
        last = tree.body.pop()
        if not isinstance(last, ast.Expr):
            message = "the last line gives no value: end with an expression, whose value is the result"
            raise CaptureError(message, COMMAND, last.lineno, last.col_offset + 1)
        imports: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        calls = _CallWrapper()
        body = ast.Module([calls.visit(statement) for statement in tree.body], [])
        result = ast.Expression(calls.visit(last).value)
        return Code(
            compile(ast.fix_missing_locations(body), COMMAND, "exec"),
            compile(ast.Module(imports, []), COMMAND, "exec"),
            compile(ast.fix_missing_locations(result), COMMAND, "eval"),
            calls.names,
        )

    def run_imports(self) -> None:
        """Import the modules that the code imports at its top level."""
        exec(self.imports, {})

    def evaluate(self, call: Callable[..., Any]) -> Any:
        """The value of the code with `call(site, function, *args, **kwargs)` in the place of its calls."""
        scope = {"torch": torch, "nn": nn, "F": nn.functional, "math": math, "__name__": COMMAND, _CALL: call}
        exec(self.statements, scope)
        return eval(self.result, scope)


class _CallWrapper(ast.NodeTransformer):
    """Replace `f(x)` by `__uop_call__(site, f, x)`, outside class bodies; sites are numbered from 0."""

    def __init__(self) -> None:
        self.sites = 0
        self.names: dict[int, str] = {}
        self._name_of: dict[ast.expr, str] = {}

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            self._name(target, node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            self._name(node.target, node.value)
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self._name(node.target, node.value)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg is not None:
            self._name_of[node.value] = node.arg
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_DEPENDENT:
            return self.generic_visit(node)
        site = self.sites
        self.sites += 1
        if (name := self._name_of.get(node)) is not None:
            self.names[site] = name
            if isinstance(node.func, ast.Attribute):  # x = torch.empty(3).uniform_(): the name is for both calls
                self._name_of[node.func.value] = name
        self.generic_visit(node)
        wrapper = ast.copy_location(ast.Name(_CALL, ast.Load()), node.func)
        number = ast.copy_location(ast.Constant(site), node.func)
        return ast.copy_location(ast.Call(wrapper, [number, node.func, *node.args], node.keywords), node)

    def _name(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), ast.expr():
                self._name_of[value] = name
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
                for inner_target, inner_value in zip(targets, values, strict=False):
                    self._name(inner_target, inner_value)
            case _:
                pass
