"""Those who want to see rewrites. They are asked for with `listen`; when nobody is, nothing is spent on them."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

from xdsl.ir import Operation, SSAValue

from .patterns import Rule


class RewriteListener:
    """Told of what the engine does while `listen` is open.

    counts_tries: whether `tried` is wanted, for which matchers are compiled that count
    """

    counts_tries: bool = False

    def allows(self, rule: Rule, op: Operation) -> bool:
        """Whether the rule, which applies, may rewrite `op`."""
        return True

    def rewriting(self, rule: Rule, op: Operation, built: Sequence[Operation], values: Sequence[SSAValue]) -> None:
        """The results of `op` are about to be replaced by `values`; `built` is what the rule has built for it."""

    def tried(self, counts: Mapping[Rule, int]) -> None:
        """On how many ops each rule was tried in a run that ends."""

    def counted(self, what: str, count: int) -> None:
        """Something else was done so many times: dead ops removed, equal ops merged."""


_listeners: ContextVar[tuple[RewriteListener, ...]] = ContextVar("rewrite_listeners", default=())


@contextmanager
def listen(*listeners: RewriteListener, alone: bool = False) -> Generator[None]:
    """Let these be told of rewrites, beside those who are already, or instead of them."""
    token = _listeners.set(listeners if alone else (*_listeners.get(), *listeners))
    try:
        yield
    finally:
        _listeners.reset(token)


def current_listeners() -> tuple[RewriteListener, ...]:
    return _listeners.get()


def report_count(what: str, count: int) -> None:
    """Tell the listeners of something that was done so many times."""
    if count:
        for listener in _listeners.get():
            listener.counted(what, count)
