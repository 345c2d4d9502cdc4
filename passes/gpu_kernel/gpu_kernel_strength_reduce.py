"""gpu-kernel-strength-reduce: divisions of indices as shifts, masks and multiplications, where that is exact."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.monoids import Number
from ...dialects.traversal import ops_inside
from ...dialects.types import index
from ...dialects.uop import ALU_OPS
from ...rewriting.cse import eliminate_common_subexpressions
from ...rewriting.driver import RewriteBuilder, RewriteStatistics, rewrite
from ...rewriting.patterns import INDEX, constants, variables
from ...rewriting.quotients import magic_numbers
from ...rewriting.rules import Rules
from ...rewriting.vocabulary import add, and_, floordiv, floormod, mul, sub, truncdiv, truncmod
from .index_sums import GREATEST, shorter_sum

(i,) = variables("i", INDEX)
a, b = constants("a b")


def is_power_of_two(a: Number) -> bool:
    """Whether a is 2ⁿ."""
    return a > 0 and int(a).bit_count() == 1


def shifted_right(builder: RewriteBuilder, i: SSAValue, a: Number) -> SSAValue:
    """`i >> n` for a = 2ⁿ"""
    return builder.alu("shr", i, builder.constant_like(int(a).bit_length() - 1, i))


def multiplied(builder: RewriteBuilder, i: SSAValue, a: Number) -> SSAValue | None:
    """i ÷ a as a product and a shift: of indices where the product fits every index, else of i64."""
    interval = builder.interval(i)
    if interval is None or interval.high > GREATEST:
        return None
    numbers = magic_numbers(interval.high, int(a))
    if numbers is None:
        return None
    multiplier, shift = numbers
    fits = interval.high * multiplier <= GREATEST
    wide = i if fits else builder.cast(i, i64)
    product = builder.alu("mul", wide, builder.constant_like(multiplier, wide))
    quotient = builder.alu("shr", product, builder.constant_like(shift, wide))
    return quotient if fits else builder.cast(quotient, index)


NOT_NEGATIVE = Rules(
    floordiv[i, a].when(a > 0, i.min < 0, i.max - i.min // a * a <= GREATEST)
    >> add[truncdiv[add[i, -(i.min // a) * a], a], i.min // a],
    floormod[i, a].when(a > 0, i.min < 0, i.max - i.min // a * a <= GREATEST) >> truncmod[add[i, -(i.min // a) * a], a],
)
"""A multiple of the divisor is added to what may be negative: what is divided then is not."""

POWERS = Rules(
    truncdiv[i, a].when(is_power_of_two, i.min >= 0) >> shifted_right,
    truncmod[i, a].when(is_power_of_two, i.min >= 0) >> and_[i, a - 1],
)

QUOTIENTS = Rules(
    truncdiv[truncdiv[i, a], b].when(a > 0, b > 0, i.min >= 0, a * b <= GREATEST) >> truncdiv[i, a * b],
    truncmod[i, a].when(a > 0, i.min >= 0) >> add[i, mul[truncdiv[i, a], -a]],
)
"""One quotient of each number is all that is divided for."""

SUMS = Rules(
    add[...] >> shorter_sum,
    sub[...] >> shorter_sum,
    mul[...] >> shorter_sum,
)

MULTIPLIED = Rules(truncdiv[i, a].when(a > 1, i.min >= 0) >> multiplied)

DIVIDED = Rules(NOT_NEGATIVE, POWERS, QUOTIENTS)

STRENGTH = Rules(DIVIDED, SUMS, MULTIPLIED)
"""All rules of the pass."""


_DIVISIONS = frozenset(ALU_OPS[name] for name in ("floordiv", "floormod", "truncdiv", "truncmod"))


class GPUKernelStrengthReducePass(ModulePass):
    """Divide indices by constants with `uop.shr` and `uop.and`, or `uop.mul` and `uop.shr`.

    C divides signed numbers towards 0, and NVRTC does not know which indices are not negative. It spends four
    instructions instead of one on a power of two, three to five instead of two on another divisor, and 16 on floor
    quotient and remainder of what may be negative, to which a multiple of the divisor is added here. Of a quotient
    and its remainder only the quotient is computed; the sums that both go into are written anew where that takes fewer
    ops. Left alone are products with powers of two, which NVRTC shifts itself, dividends without known bounds, and
    integers of data. `bench/index_arithmetic.py --instructions` says what all this saves.
    """

    name = "gpu-kernel-strength-reduce"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        statistics = RewriteStatistics()
        for part in filter(_divides, op.ops):
            statistics += rewrite(part, DIVIDED)
        if not statistics.fired.keys() <= set(POWERS):
            eliminate_common_subexpressions(op)
            rewrite(op, SUMS)
        for part in filter(_divides, op.ops):
            rewrite(part, MULTIPLIED)


def _divides(part: Operation) -> bool:
    """Whether a kernel or function divides anything: most programs hold many that do not."""
    return any(type(op) in _DIVISIONS for region in part.regions for op in ops_inside(region))
