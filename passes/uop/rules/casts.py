"""Rules of casts. A cast is never folded across a narrowing: f32 → f16 → f32 rounds."""

from xdsl.dialects.builtin import BFloat16Type, Float16Type
from xdsl.ir import Attribute, SSAValue

from ....dialects.monoids import Number
from ....dialects.semantics import numpy_dtype, round_to_element
from ....dialects.types import bit_width, element_of, integer_bounds, is_bool, is_float, is_integer
from ....dialects.uop import AluOp, CastOp
from ....rewriting.driver import RewriteBuilder
from ....rewriting.patterns import BOOL, INDEX, INTEGER, constants, variables
from ....rewriting.rules import Rules
from ....rewriting.vocabulary import add, cast, eq, floordiv, floormod, gt, mul, ne, not_, sub, where
from .compares import COMPARISONS, WITH_CONSTANT

x, y = variables("x y")
n, m, w, z = variables("n m w z", INTEGER)
i, j = variables("i j", INDEX)
(p,) = variables("p", BOOL)
(a,) = constants("a")

SIGNIFICANDS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}
"""Bits that a float's significand has: integers up to 2 to that power are exact."""

EXPONENTS = {"f64": 11, "f32": 8, "f16": 5, "bf16": 8}


def holds(wide: Attribute, narrow: Attribute) -> bool:
    """Whether every number of type `narrow` is one of type `wide`."""
    if wide == narrow or is_bool(narrow):
        return True
    if is_bool(wide):
        return False
    if is_float(narrow):
        return (
            is_float(wide)
            and SIGNIFICANDS[str(wide)] >= SIGNIFICANDS[str(narrow)]
            and EXPONENTS[str(wide)] >= EXPONENTS[str(narrow)]
        )
    low, high = integer_bounds(narrow)
    if is_float(wide):
        return max(-low, high) <= 1 << SIGNIFICANDS[str(wide)]
    wide_low, wide_high = integer_bounds(wide)
    return wide_low <= low and high <= wide_high


def is_same_type(x: SSAValue, result: SSAValue) -> bool:
    """Whether the op keeps the type of its operand."""
    return x.type == result.type


def comes_back(x: SSAValue, y: SSAValue, result: SSAValue) -> bool:
    """Whether x was widened to y and is narrowed to its own type again."""
    return x.type == result.type and holds(element_of(y.type), element_of(x.type))


def is_widened_first(x: SSAValue, y: SSAValue, result: SSAValue) -> bool:
    """Whether y holds x exactly, and the second cast is of one kind with the direct one."""
    source, middle, target = (element_of(value.type) for value in (x, y, result))
    if not holds(middle, source):
        return False
    # From an integer to a 16-bit float, by way of f32 or not, is not one rounding.
    return is_bool(source) or is_bool(target) or is_float(source) == is_float(middle) == is_float(target)


def fold_cast(builder: RewriteBuilder, result: SSAValue, op: CastOp, a: Number) -> SSAValue | None:
    """A constant in another element type; None where that has no meaning, or is not rounded once by
    everybody."""
    source, target = element_of(op.input.type), element_of(result.type)
    if not is_float(source) and not is_float(target):
        return builder.number(a != 0 if is_bool(target) else int(a), result.type)
    if is_float(source) and not is_float(target) and not is_bool(target):
        low, high = integer_bounds(target)
        if a != a or abs(a) == float("inf") or not low <= int(a) <= high:
            return None
        return builder.number(int(a), result.type)
    import numpy as np

    with np.errstate(all="ignore"):
        number = np.asarray(a, numpy_dtype(source))
        if isinstance(target, Float16Type | BFloat16Type) and a == a and bit_width(source) >= 32:
            # Some go by way of f32: fold where that changes nothing.
            if int(number) != a if not is_float(source) else float(number.astype(np.float32)) != a:
                return None
            if not is_float(source) and abs(a) > 1 << SIGNIFICANDS["f32"]:
                return None
        rounded: Number = round_to_element(np, number, target).item()
    return builder.number(float("nan") if rounded != rounded else rounded, result.type)


def are_integer_casts(w: SSAValue, result: SSAValue) -> bool:
    """Whether w and the cast of it give integers."""
    return is_integer_cast(w) and is_integer_cast(result)


def is_integer_cast(w: SSAValue) -> bool:
    """Whether the cast w gives integers."""
    return is_integer(element_of(w.type))


def are_casts_of_one_type(n: SSAValue, m: SSAValue, w: SSAValue) -> bool:
    """Whether n and m can be operands of one op, and the cast w of n gives integers."""
    return n.type == m.type and is_integer_cast(w)


def cast_of_op(builder: RewriteBuilder, op: AluOp, result: SSAValue, i: SSAValue, j: SSAValue) -> SSAValue:
    """The cast of an op, for the op of two casts."""
    return builder.cast(builder.alu(op.row().name, i, j), element_of(result.type))


def cast_of_op_with_constant(
    builder: RewriteBuilder, op: AluOp, result: SSAValue, i: SSAValue, a: Number
) -> SSAValue | None:
    """The cast of an op with a constant, for the op of a cast and the constant."""
    constant = builder.constant_like(a, i)
    return builder.cast(builder.alu(op.row().name, i, constant), element_of(result.type))


CHAINS = Rules(
    cast[a] >> fold_cast,
    cast[x].when(is_same_type) >> x,
    cast[y @ cast[x]].when(comes_back) >> x,
    cast[y @ cast[x]].when(is_widened_first) >> cast[x],
    cast[w @ cast[n]].when(are_integer_casts, w.min == n.min, w.max == n.max) >> cast[n],
)

TRUTH = Rules(
    ne[cast[p], 0] >> p,
    ne[cast[p], 1] >> not_[p],
    eq[cast[p], 0] >> not_[p],
    eq[cast[p], 1] >> p,
    gt[cast[p], 0] >> p,
    mul[cast[p], n] >> where[p, n, 0],
)
"""Bools as numbers."""

COMPARED = Rules(
    *(
        op[w @ cast[n], z @ cast[m]].when(
            are_casts_of_one_type, w.min == n.min, w.max == n.max, z.min == m.min, z.max == m.max
        )
        >> op[n, m]
        for op in COMPARISONS
    ),
    *(
        op[w @ cast[n], a].when(is_integer_cast, w.min == n.min, w.max == n.max, n.min <= a, a <= n.max) >> op[n, a]
        for op in WITH_CONSTANT
    ),
)
"""A cast that keeps the bounds of an integer keeps every integer between them."""

LEAST, GREATEST = -(1 << 31), (1 << 31) - 1
"""What an index holds on every machine."""

OUTWARD = Rules(
    add[w @ cast[i], z @ cast[j]].when(is_integer_cast, i.min + j.min >= LEAST, i.max + j.max <= GREATEST)
    >> cast_of_op,
    sub[w @ cast[i], z @ cast[j]].when(is_integer_cast, i.min - j.max >= LEAST, i.max - j.min <= GREATEST)
    >> cast_of_op,
    add[w @ cast[i], a].when(is_integer_cast, a >= LEAST, a <= GREATEST, i.min + a >= LEAST, i.max + a <= GREATEST)
    >> cast_of_op_with_constant,
    mul[w @ cast[i], a].when(is_integer_cast, i.min >= 0, a >= 0, i.max * a <= GREATEST) >> cast_of_op_with_constant,
    *(
        op[w @ cast[i], a].when(
            is_integer_cast, i.min >= LEAST, i.max <= GREATEST, w.min == i.min, w.max == i.max, a > 0
        )
        >> cast_of_op_with_constant
        for op in (floordiv, floormod)
    ),
)
"""Arithmetic on positions (arange) is arithmetic on indices: it has bounds, and needs fewer bits. Sums and products
of integers that wrap around are those of whole numbers, wrapped."""

CASTS = Rules(CHAINS, TRUTH, COMPARED, OUTWARD)
