"""Names by which a user speaks of the values of a function: of source lines, and of the values themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from ...dialects.uop import ConstOp, ExpandOp, IotaOp, ReshapeOp
from ...rewriting.diagnostics import PassError
from ...rewriting.locations import source_lines

MOST_NAMES = 24
"""Names that an error lists."""


def names_of(op: Operation) -> list[str]:
    """`model.py:7` for each source line that an op comes from, `%x` for each of its results that has a name."""
    return [*source_lines(op.location), *(f"%{result.name_hint}" for result in op.results if result.name_hint)]


def named(ops: Iterable[Operation], name: str) -> list[Operation]:
    """The ops whose values `name` means: those of a line (the end of its file's path will do), or of a name. Constants,
    and what only repeats elements, have none."""
    return [op for op in ops if not isinstance(op, ConstOp | IotaOp | ExpandOp) and _is_named(op, name)]


def last_of(ops: Sequence[Operation]) -> list[Operation]:
    """Of the ops that a name means those whose values others use, or leave, but for those that only reshape them."""
    own = set(ops)
    return [op for op in ops if not isinstance(op, ReshapeOp) and not own.issuperset(_users(op))]


def _users(op: Operation) -> Iterable[Operation]:
    """What uses the values of an op, repeated or reshaped or as they are."""
    pending = list(op.results)
    while pending:
        for use in pending.pop().uses:
            user = use.operation
            if isinstance(user, ExpandOp | ReshapeOp):
                pending += user.results
            else:
                yield user


def _is_named(op: Operation, name: str) -> bool:
    if name.startswith("%"):
        return any(result.name_hint == name[1:] for result in op.results)
    return any(line == name or line.endswith(f"/{name}") for line in source_lines(op.location))


def check_names(functions: Sequence[FuncOp], option: str, names: Sequence[str]) -> None:
    """Raise `PassError` for a name that means nothing in any of the functions; it lists those that do."""
    ops = [op for function in functions for op in function.body.block.ops]
    for name in names:
        if not any(named((op,), name) for op in ops):
            known = list(dict.fromkeys(each for op in ops for each in names_of(op)))
            near = get_close_matches(name, known, n=3, cutoff=0.6)
            listed = list(dict.fromkeys((*near, *known)))
            more = f", and {len(listed) - MOST_NAMES} more" if len(listed) > MOST_NAMES else ""
            raise PassError(
                f"{option} '{name}': no value is called that",
                None,
                f"there are: {', '.join(listed[:MOST_NAMES]) or 'none'}{more}",
            )
