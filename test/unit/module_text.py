"""Modules from text, as tests of passes, printers and programs begin."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from uop.dialects import get_all_dialects


def make_context() -> Context:
    """A context with `builtin` and `func` loaded and uop's dialects to be loaded when they are met; no plugins."""
    context = Context()
    context.load_dialect(Builtin)
    context.load_dialect(Func)
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context


def parse(text: str, verify: bool = True) -> ModuleOp:
    """A module from text, which `verify` may leave unverified."""
    module = Parser(make_context(), text).parse_module()
    if verify:
        module.verify()
    return module
