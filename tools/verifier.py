"""Verification that says which operation is wrong, SSA dominance included."""

import re

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from .dominance import verify_dominance


class InvalidOperation(VerifyException):
    """`op` does not verify."""

    def __init__(self, op: Operation, message: str) -> None:
        super().__init__(message)
        self.op = op


def verify_ir(root: Operation) -> None:
    """Verify `root` and all that it holds, as `root.verify()` does, then dominance.

    Raises `InvalidOperation` or `DominanceError`; both are `VerifyException`s that know the operation.
    """
    _verify_op(root)
    verify_dominance(root)


def _verify_op(op: Operation) -> None:
    for region in op.regions:
        for block in region.blocks:
            _verify_block(block, op)
    # xDSL's own message is followed by a print of the whole module, and does not tell which operation failed.
    try:
        op.verify(verify_nested_ops=False)
        if op.name == "func.func":
            _verify_sizes(op)
    except VerifyException as error:
        raise InvalidOperation(_redefinition(op, str(error)) or op, str(error)) from error
    except ValueError as error:  # an operand that was erased
        raise InvalidOperation(op, str(error)) from error


def _verify_sizes(function: Operation) -> None:
    """The sizes that a function says of its arguments and results."""
    from xdsl.dialects.func import FuncOp  # takes 20 ms, which files without functions need not wait for

    from ..dialects.function_sizes import FunctionSizes

    if isinstance(function, FuncOp):
        FunctionSizes.of(function)


def _redefinition(op: Operation, message: str) -> Operation | None:
    """The operation in the symbol table `op` that redefines a symbol, if that is what `message` complains of."""
    if (match := re.fullmatch('Redefinition of symbol "(.*)"', message)) is None:
        return None
    same = [inner for inner in op.walk() if inner.get_attr_or_prop("sym_name") == StringAttr(match[1])]
    return same[1] if len(same) > 1 else None


def _verify_block(block: Block, parent: Operation) -> None:
    for op in block.ops:
        if op.parent is not block:
            raise InvalidOperation(op, "the operation's parent is not the block that holds it")
        _verify_op(op)
    if block.first_op is None and not parent.has_trait(NoTerminator):
        region = block.parent
        if region is not None and region.first_block is region.last_block:
            raise InvalidOperation(parent, "an empty block: the region needs at least a terminator")
