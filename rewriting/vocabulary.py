"""The ops of uop as patterns: `from .vocabulary import add, where`.

One for each row of the semantics table (`and_`, `or_` and `not_` where Python has the word), and one for each other op
that rules speak of.
"""

from xdsl.ir import Operation

from ..dialects.uop import (
    ALU_OPS,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    LoadOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StoreOp,
    WindowOp,
)
from .patterns import OpPattern

_OTHERS: tuple[type[Operation], ...] = (
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    LoadOp,
    PadOp,
    PermuteOp,
    ReshapeOp,
    ShrinkOp,
    StoreOp,
    WindowOp,
)

ALU_PATTERNS: dict[str, OpPattern] = {name: OpPattern(name, op, op.row().commutative) for name, op in ALU_OPS.items()}
"""Op name (without the dialect) → pattern, for every row of the semantics table."""

_PATTERNS = ALU_PATTERNS | {name: OpPattern(name, op) for op in _OTHERS for name in (op.name.removeprefix("uop."),)}


def __getattr__(name: str) -> OpPattern:
    pattern = _PATTERNS.get(name.removesuffix("_"))
    if pattern is None:
        raise AttributeError(f"uop has no op {name} that rules speak of")
    return pattern
