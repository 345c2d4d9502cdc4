"""What passes say to the user: errors that name an operation, and remarks."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from xdsl.ir import Operation
from xdsl.utils.exceptions import DiagnosticException


class PassError(DiagnosticException):
    """A pass cannot do its job: what is wrong, on which operation, and what the user can do about it.

    message: what and why, in one sentence without a final full stop
    op:      the offending operation, whose source location the driver prints; None if there is no single one
    help:    what to do about it
    """

    def __init__(self, message: str, op: Operation | None = None, help: str | None = None) -> None:
        super().__init__(message, op, help)
        self.message = message
        self.op = op
        self.help = help

    def __str__(self) -> str:
        return self.message if self.help is None else f"{self.message} ({self.help})"


@dataclass(frozen=True)
class Remark:
    """Something that a pass wants to tell about `op`, such as an optimisation that it did not do and why."""

    op: Operation
    message: str


_remarks: ContextVar[list[Remark] | None] = ContextVar("remarks", default=None)


def are_remarks_wanted() -> bool:
    """Whether anybody collects remarks: for those that take a while to find."""
    return _remarks.get() is not None


def emit_remark(op: Operation, message: str) -> None:
    """Tell `message` about `op` to whoever collects remarks; does nothing when nobody does."""
    if (remarks := _remarks.get()) is not None:
        remarks.append(Remark(op, message))


@contextmanager
def collect_remarks() -> Generator[list[Remark]]:
    """The list that `emit_remark` appends to while the context is open."""
    remarks: list[Remark] = []
    token = _remarks.set(remarks)
    try:
        yield remarks
    finally:
        _remarks.reset(token)
