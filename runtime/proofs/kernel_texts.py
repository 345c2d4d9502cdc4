"""The kernels on which rules about memory and reductions are proved: texts in each form, of several element types."""

from __future__ import annotations

from functools import cache
from itertools import product

from ...dialects.monoids import MONOIDS
from ...dialects.types import ELEMENT_TYPES, is_bool, is_float
from .access_texts import (
    INDEX_SUMS,
    MASKED_INDICES,
    accesses,
    index_sum,
    masked_choice,
    masked_index,
    masked_read,
    tile_accesses,
)
from .deviation_texts import QUOTIENTS, deviations, sample_mean
from .exponential_texts import BOTH, MAXIMUM_AND_SUM, WEIGHTED_SUMS, log_sum_exp, softmax, weighted_sum
from .kernel_literals import literal
from .reduction_texts import (
    POSITIONED,
    elements,
    expanded,
    loop,
    positioned,
    positioned_axis,
    positioned_loop,
    reduction,
    scan,
    scan_axis,
)

FLOATS = ("f32", "f64", "f16", "bf16")
TYPES = (*FLOATS, "i32", "i64", "i8", "ui8", "i1")
"""Element types of the kernels."""

CONDITION_TYPES, CONDITION_MONOIDS = ("f32", "i32", "i8", "i1"), ("add", "max", "or")
"""Of the kernels, which are many, in which elements depend on the position."""

MONOIDS_OF = {"float": ("add", "max", "min"), "integer": ("add", "mul", "max", "min"), "bool": ("and", "or")}

POSITION_MONOIDS = ("argmax", "argmin", "argmax_last", "argmin_last")
"""Of values and their positions."""


@cache
def kernel_texts() -> dict[str, str]:
    """The kernels by name."""
    texts: dict[str, str] = {}
    for type in TYPES:
        element = ELEMENT_TYPES[type]
        kind = "bool" if is_bool(element) else "float" if is_float(element) else "integer"
        for monoid in MONOIDS_OF[kind]:
            neutral = literal(MONOIDS[monoid].identity([element])[0], element)
            conditions = type in CONDITION_TYPES and monoid in CONDITION_MONOIDS
            for name, lines, over in elements(type, kind, neutral, conditions):
                texts[f"{monoid} of {name}, {type}"] = reduction(type, monoid, lines, over)
            texts[f"{monoid} along an expanded axis, {type}"] = expanded(type, monoid)
            texts[f"{monoid} in a loop, {type}"] = loop(type, monoid)
            for extent in (0, 1, 6):
                texts[f"scan {monoid} of an invariant in {extent} steps, {type}"] = scan(type, monoid, extent)
                texts[f"scan {monoid} along {extent} elements, {type}"] = scan_axis(type, monoid, extent)
        if type in (*FLOATS, "i32"):
            for monoid in POSITION_MONOIDS:
                for name, element_text, over in POSITIONED:
                    texts[f"{monoid} of {name}, {type}"] = positioned(type, monoid, element_text, over)
                texts[f"{monoid} along an expanded axis, {type}"] = positioned_axis(type, monoid)
                texts[f"{monoid} in a loop, {type}"] = positioned_loop(type, monoid)
        for mask in ("true", "false"):
            texts[f"accesses under {mask}, {type}"] = accesses(type, mask)
            texts[f"tile accesses under {mask}, {type}"] = tile_accesses(type, mask)
        texts[f"a choice of a masked read, {type}"] = masked_read(type)
        texts[f"a choice of a masked load, {type}"] = masked_choice(type, f"uop.where %m_i, %v, %zero : {type}")
        texts[f"a choice of a masked sum, {type}"] = masked_choice(
            type, f"uop.{'or' if kind == 'bool' else 'add'} %v, %zero : {type}", f"uop.where %m_i, %s, %zero : {type}"
        )
    for place, (low, high) in product(MASKED_INDICES, ((1, 11), (0, 5), (3, 4), (0, 12))):
        texts[f"a load at {place} where {low} <= i < {high}, f32"] = masked_index("load", place, low, high)
    for low in (0, 1, 2):
        texts[f"a store at (i - {low}) % 10, f32"] = masked_index("store", "floormod", low, 10 + low)
    for sum, lines in INDEX_SUMS.items():
        texts[f"a load at {sum}, f32"] = index_sum(lines)
    for exp, power in (("exp", "%t"), ("exp2", "%scaled")):
        texts[f"a softmax of {exp}, f32"] = softmax(6, exp, power, MAXIMUM_AND_SUM)
        texts[f"a softmax of long rows of {exp}, f32"] = softmax(192, exp, power, MAXIMUM_AND_SUM)
        texts[f"an online softmax of {exp}, f32"] = softmax(6, exp, power, BOTH)
    for type, (name, quotient) in product(("f32", "f64"), QUOTIENTS.items()):
        texts[f"squared deviations from {name}, {type}"] = deviations(type, quotient)
        texts[f"a mean of a sample, {name}, {type}"] = sample_mean(type, quotient)
    for type in ("f32", "f64"):
        texts[f"a logarithm of a sum of exponentials, {type}"] = log_sum_exp(type)
        for name, body in WEIGHTED_SUMS.items():
            texts[f"{name}, {type}"] = weighted_sum(type, body)
    texts["a conjunction with a masked load"] = masked_choice("i1", "uop.and %m_i, %v : i1")
    return texts
