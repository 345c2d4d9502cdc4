"""Dead ops: the last step of a conversion, which leaves what it has replaced and what nobody asked for."""

from xdsl.ir import Block, Operation

from .effects import is_removable
from .listeners import report_count


def erase_unused(block: Block, also: tuple[type[Operation], ...] = ()) -> int:
    """Erase ops, in the block and inside its ops, that only compute what nobody uses; how many.

    also: classes of ops that are erased too where nobody uses their results, whatever else they do
    """
    erased = _erase(block, also)
    report_count("dead ops removed", erased)
    return erased


def _erase(block: Block, also: tuple[type[Operation], ...]) -> int:
    erased = 0
    for op in reversed(list(block.ops)):
        for region in op.regions:
            for inner in region.blocks:
                erased += _erase(inner, also)
        if (is_removable(type(op)) or isinstance(op, also)) and not any(result.first_use for result in op.results):
            block.erase_op(op)
            erased += 1
    return erased
