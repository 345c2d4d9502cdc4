"""Where the uses of an op come together again."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

from xdsl.ir import Operation


class PostDominators:
    """The tree of immediate post-dominators of straight-line ops.

    The immediate post-dominator of an op is the first later op that every path from it to an output goes through.

    ops: the ops in order; each has a use or is an output. outputs: the ops whose results leave.
    """

    def __init__(self, ops: Sequence[Operation], outputs: Container[Operation]):
        self._ops = ops
        self._position = {op: position for position, op in enumerate(ops)}
        end = len(ops)
        self._next = [end] * end
        for position in range(end - 1, -1, -1):
            op = ops[position]
            if op in outputs:
                continue
            users = {
                self._position[use.operation]
                for result in op.results
                for use in result.uses
                if use.operation in self._position
            }
            common = users.pop()
            for user in users:
                while common != user:  # an op's post-dominators come later
                    if common < user:
                        common = self._next[common]
                    else:
                        user = self._next[user]
            self._next[position] = common

    def after(self, op: Operation) -> Iterator[Operation]:
        """The post-dominators of the op, nearest first."""
        position = self._next[self._position[op]]
        while position < len(self._ops):
            yield self._ops[position]
            position = self._next[position]
