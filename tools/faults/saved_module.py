"""Programs from files, for scripts."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func

from ..files import read_source
from ..parsing import parse_source
from ..plugins import make_context


def read_module(path: str | Path) -> tuple[Context, ModuleOp]:
    """The module in a file, in dialects of uop and of plugins. Raises `DiagnosticError` where anything is wrong."""
    context = make_context()
    for dialect in (Builtin, Func):
        context.load_dialect(dialect)
    return context, parse_source(context, read_source(str(path)))[0]
