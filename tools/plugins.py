"""What comes from outside the project: files given by `uop-opt --load`, and modules of installed packages under the
entry point group `uop.plugins`.

Such a module defines at least one of
  DIALECTS: a sequence of dialects
  RULES:    a `Rules`, which `uop-simplify` uses after its own
  PASSES:   a sequence of pass classes
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from inspect import isclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from xdsl.context import Context
from xdsl.ir import Dialect
from xdsl.passes import ModulePass

from .diagnostics import Diagnostic, DiagnosticError

if TYPE_CHECKING:
    from ..rewriting.rules import Rules

GROUP = "uop.plugins"

T = TypeVar("T")

DialectRegistry = dict[str, Callable[[], Dialect]]
PassRegistry = dict[str, Callable[[], type[ModulePass]]]


@dataclass(frozen=True)
class Plugin:
    """What a module brings."""

    source: str
    dialects: Sequence[Dialect] = ()
    rules: Rules | None = None
    passes: Sequence[type[ModulePass]] = ()


@cache
def installed_plugins() -> tuple[Plugin, ...]:
    """The plugins of installed packages, by name. Raises `DiagnosticError` for one that is broken."""
    plugins: list[Plugin] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        source = f"{entry.value} (entry point {entry.name} of {GROUP})"
        try:
            module = entry.load()
        except Exception as error:
            raise _error(source, f"cannot be loaded: {type(error).__name__}: {error}") from error
        plugins.append(_read(module, source))
    return tuple(plugins)


def load_plugin(path: str) -> Plugin:
    """Run a Python file, and read what it defines. Raises `DiagnosticError` where that fails."""
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise _error(path, f"cannot be read: {reason}") from error
    module = ModuleType(Path(path).stem)
    module.__file__ = path
    try:
        exec(compile(text, path, "exec"), module.__dict__)
    except SyntaxError as error:
        # As elsewhere, columns are from 1.
        raise DiagnosticError(
            Diagnostic("error", f"{error.msg}", path, error.lineno, error.offset, (error.text or "").rstrip("\n"))
        ) from error
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        message = f"cannot be loaded: {type(error).__name__}: {error}"
        raise DiagnosticError(Diagnostic("error", message, path, lines[-1] if lines else None)) from error
    return _read(module, path)


def register_plugin(plugin: Plugin, dialects: DialectRegistry, passes: PassRegistry) -> None:
    """Make what a plugin brings known. Raises `DiagnosticError` where a name is taken."""
    for kind, new, known in (
        ("dialect", [dialect.name for dialect in plugin.dialects], dialects),
        ("pass", [pass_.name for pass_ in plugin.passes], passes),
    ):
        for name in new:
            if name in known:
                raise _error(plugin.source, f"there is a {kind} '{name}' already: give it another name")
    brought: DialectRegistry = {dialect.name: partial(_same, dialect) for dialect in plugin.dialects}
    dialects.update(brought)
    _dialects.update(brought)
    passes.update({pass_.name: partial(_same, pass_) for pass_ in plugin.passes})
    _registered.append(plugin)
    if plugin.rules is not None:
        from ..passes.uop.rules.plugins import add_simplify_rules

        add_simplify_rules(plugin.rules)


_dialects: DialectRegistry = {}
"""Of the plugins that are registered."""

_registered: list[Plugin] = []


def changes_passes() -> bool:
    """Whether a plugin has brought rules or passes, so that programs become others than by uop alone."""
    return any(plugin.rules is not None or plugin.passes for plugin in (*installed_plugins(), *_registered))


def make_context() -> Context:
    """A context that knows the dialects of uop and of plugins; each is loaded when it is met."""
    from ..dialects import get_all_dialects

    context = Context()
    installed = {dialect.name: partial(_same, dialect) for plugin in installed_plugins() for dialect in plugin.dialects}
    for name, factory in (get_all_dialects() | installed | _dialects).items():
        context.register_dialect(name, factory)
    return context


def _same(value: T) -> T:
    return value


def _read(module: ModuleType, source: str) -> Plugin:
    """What a module defines, checked."""
    rules: Any = getattr(module, "RULES", None)
    dialects: Any = getattr(module, "DIALECTS", None)
    passes: Any = getattr(module, "PASSES", None)
    if rules is dialects is passes is None:
        raise _error(source, "defines neither RULES nor DIALECTS nor PASSES")
    if rules is not None:
        _check_rules(rules, source)
    for dialect in dialects or ():
        if not isinstance(dialect, Dialect):
            raise _error(source, f"DIALECTS holds {dialect!r}, which is no xdsl.ir.Dialect")
    for pass_ in passes or ():
        if not isclass(pass_) or not issubclass(pass_, ModulePass):
            raise _error(source, f"PASSES holds {pass_!r}, which is no subclass of xdsl.passes.ModulePass")
    return Plugin(source, tuple(dialects or ()), rules, tuple(passes or ()))


def _check_rules(rules: object, source: str) -> None:
    """See to it that all rules can be compiled: a bad one is told of now, and not when its op is met."""
    from ..rewriting.rules import Rules

    if not isinstance(rules, Rules):
        raise _error(source, f"RULES is a {type(rules).__name__}, not a uop.rewriting.rules.Rules")
    try:
        for op in dict.fromkeys(rule.term.head.op for rule in rules):
            rules.source(op)
    except TypeError as error:  # it says where the rule stands
        raise _error(source, f"has a rule that makes no sense: {error}") from error


def _error(source: str, message: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("error", message, source))
