"""Kernels on which rules about memory and reductions are proved: small programs in each form, of several element types.

Such rules are functions of a graph, so that no term says where they apply. Each kernel is run before and after the rule
on special and on random numbers. Sums of floats are of numbers that add up exactly in any order, also in 16 bits, for a
reduction may combine its elements in any.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser

from ...dialects import get_all_dialects
from ...dialects.monoids import MONOIDS, Number
from ...dialects.semantics import numpy_dtype
from ...dialects.types import ELEMENT_TYPES, element_of, is_bool, is_float, shape_of, type_name
from ...dialects.uop import KernelOp
from ...rewriting.driver import Order, rewrite
from ...rewriting.patterns import Assumption, Rule
from ...rewriting.rules import Rules
from ..interpret.buffers import poisoned_buffer
from ..interpret.program import interpret_kernel
from .agreement import same_results

Array = np.ndarray[Any, Any]

FLOATS = ("f32", "f64", "f16", "bf16")
TYPES = (*FLOATS, "i32", "i64", "i8", "ui8", "i1")
"""Element types of the kernels."""

CONDITION_TYPES, CONDITION_MONOIDS = ("f32", "i32", "i8", "i1"), ("add", "max", "or")
"""Of the kernels, which are many, in which elements depend on the position."""

ROUNDS = 4
"""Inputs that each kernel is run on."""

ROUNDED = 8
"""Units in the last place of 1, or of a result, that a rule which holds up to rounding may move it."""

MONOIDS_OF = {"float": ("add", "max", "min"), "integer": ("add", "mul", "max", "min"), "bool": ("and", "or")}

POSITION_MONOIDS = ("argmax", "argmin", "argmax_last", "argmin_last")
"""Of values and their positions."""


def check_on_kernels(rule: Rule) -> Iterator[tuple[str, int, str | None]]:
    """For each kernel on which the rule fires: its name, the number of inputs, and what is wrong, if anything is."""
    alone = Rules(rule)
    for name, original in kernels_with(rule.term.head.op).items():
        module = original.clone()
        if not rewrite(module, alone, order=Order.ONE_SWEEP, assuming=rule.assumes).fired:
            continue
        module.verify()
        yield name, ROUNDS, _compare(rule, name, kernel_of(original), kernel_of(module))


def _compare(rule: Rule, name: str, before: KernelOp, after: KernelOp) -> str | None:
    """The first input on which two kernels differ by more than the rule claims."""
    for round in range(ROUNDS):
        inputs = [_input(argument.type, round, place) for place, argument in enumerate(before.body.block.args)]
        expected, actual = run(before, inputs), run(after, inputs)
        for x, y in zip(expected, actual, strict=True):
            same = same_results(x, y)
            if Assumption.ROUNDING in rule.assumes and x.dtype.kind == "f":
                same |= np.isclose(x, y, ROUNDED * np.finfo(x.dtype).eps, ROUNDED * np.finfo(x.dtype).eps)
            if not same.all():
                place = tuple(int(axis[0]) for axis in np.nonzero(~same))
                return f"{name}, inputs {round}, element {list(place)}: {x[place]} became {y[place]}"
    return None


def run(kernel: KernelOp, inputs: Sequence[Array]) -> list[Array]:
    """What a kernel gives; in tensor form, or with outputs as its first arguments, whose names begin with "out"."""
    if kernel.is_tensor_form:
        outputs = [poisoned_buffer(type) for type in kernel.declared_results.data]
        interpret_kernel(kernel, [*outputs, *inputs])
        return outputs
    arguments = kernel.body.block.args
    outputs = [poisoned_buffer(x.type) for x in arguments if x.name_hint and x.name_hint.startswith("out")]
    interpret_kernel(kernel, [*outputs, *inputs[len(outputs) :]])
    return outputs


def _input(type: Attribute, round: int, place: int) -> Array:
    """Numbers for an argument: small ones, of floats with halves and, from the third round on, −0, ∞ and NaN."""
    element, shape = element_of(type), shape_of(type)
    generator = np.random.default_rng((round, place))
    if is_bool(element):
        return generator.integers(0, 2, shape) == 1
    numbers = generator.integers(-3, 10, shape)
    if not is_float(element):
        low = 0 if str(element) == "ui8" else None
        return np.maximum(numbers, 0 if low == 0 else -3).astype(numpy_dtype(element))
    halves = numbers.astype(numpy_dtype(element)) / 2
    if round < 2 or not halves.size:
        return halves
    special = np.array([inf, nan, -inf, -0.0, -0.0, -0.0], halves.dtype)
    return np.where(generator.integers(0, 3, shape) == 0, special[generator.integers(0, 6, shape)], halves)


@cache
def kernels_with(op: type[Operation]) -> dict[str, ModuleOp]:
    """The kernels that have an op of this class, by name."""
    return {
        name: module for name, module in _kernels().items() if any(isinstance(inner, op) for inner in module.walk())
    }


@cache
def _kernels() -> dict[str, ModuleOp]:
    return {name: parse(text) for name, text in kernel_texts().items()}


# Texts.


@cache
def kernel_texts() -> dict[str, str]:
    """The kernels by name."""
    texts: dict[str, str] = {}
    for type in TYPES:
        element = ELEMENT_TYPES[type]
        kind = "bool" if is_bool(element) else "float" if is_float(element) else "integer"
        for monoid in MONOIDS_OF[kind]:
            neutral = _literal(MONOIDS[monoid].identity([element])[0], element)
            conditions = type in CONDITION_TYPES and monoid in CONDITION_MONOIDS
            for name, lines, over in _elements(type, kind, neutral, conditions):
                texts[f"{monoid} of {name}, {type}"] = _reduction(type, monoid, lines, over)
            texts[f"{monoid} along an expanded axis, {type}"] = _expanded(type, monoid)
            texts[f"{monoid} in a loop, {type}"] = _loop(type, monoid)
            for extent in (0, 1, 6):
                texts[f"scan {monoid} of an invariant in {extent} steps, {type}"] = _scan(type, monoid, extent)
                texts[f"scan {monoid} along {extent} elements, {type}"] = _scan_axis(type, monoid, extent)
        if type in (*FLOATS, "i32"):
            for monoid in POSITION_MONOIDS:
                for name, element_text, over in POSITIONED:
                    texts[f"{monoid} of {name}, {type}"] = _positioned(type, monoid, element_text, over)
                texts[f"{monoid} along an expanded axis, {type}"] = _positioned_axis(type, monoid)
                texts[f"{monoid} in a loop, {type}"] = _positioned_loop(type, monoid)
        for mask in ("true", "false"):
            texts[f"accesses under {mask}, {type}"] = _accesses(type, mask)
            texts[f"tile accesses under {mask}, {type}"] = _tile_accesses(type, mask)
        texts[f"a choice of a masked read, {type}"] = _masked_read(type)
        texts[f"a choice of a masked load, {type}"] = _masked_choice(type, f"uop.where %m_i, %v, %zero : {type}")
        texts[f"a choice of a masked sum, {type}"] = _masked_choice(
            type, f"uop.{'or' if kind == 'bool' else 'add'} %v, %zero : {type}", f"uop.where %m_i, %s, %zero : {type}"
        )
    for place, (low, high) in product(MASKED_INDICES, ((1, 11), (0, 5), (3, 4), (0, 12))):
        texts[f"a load at {place} where {low} <= i < {high}, f32"] = _masked_index("load", place, low, high)
    for low in (0, 1, 2):
        texts[f"a store at (i - {low}) % 10, f32"] = _masked_index("store", "floormod", low, 10 + low)
    for sum, lines in INDEX_SUMS.items():
        texts[f"a load at {sum}, f32"] = _index_sum(lines)
    for exp, power in (("exp", "%t"), ("exp2", "%scaled")):
        texts[f"a softmax of {exp}, f32"] = _softmax(6, exp, power, _MAXIMUM_AND_SUM)
        texts[f"a softmax of long rows of {exp}, f32"] = _softmax(192, exp, power, _MAXIMUM_AND_SUM)
        texts[f"an online softmax of {exp}, f32"] = _softmax(6, exp, power, _BOTH)
    for type, (name, quotient) in product(("f32", "f64"), QUOTIENTS.items()):
        texts[f"squared deviations from {name}, {type}"] = _deviations(type, quotient)
        texts[f"a mean of a sample, {name}, {type}"] = _sample_mean(type, quotient)
    for type in ("f32", "f64"):
        texts[f"a logarithm of a sum of exponentials, {type}"] = _log_sum_exp(type)
        for name, body in WEIGHTED_SUMS.items():
            texts[f"{name}, {type}"] = _weighted_sum(type, body)
    texts["a conjunction with a masked load"] = _masked_choice("i1", "uop.and %m_i, %v : i1")
    return texts


MASKED_INDICES = ("floormod", "floordiv", "min", "max")
"""Ops of i − low and 10 that are used as an index under a mask."""


INDEX_SUMS: dict[str, tuple[str, ...]] = {
    "i · 7 + j · 7 + 5": ("mul %i, %c7", "mul %j, %c7", "add %0, %1", "add %2, %c5"),
    "(i · 3 + 2) · 5": ("mul %i, %c3", "add %0, %c2", "mul %1, %c5"),
    "i · 7 + 5 − i": ("mul %i, %c7", "add %0, %c5", "sub %1, %i"),
    "i % 3 · 7 + i ÷ 3 · 2": (
        *("truncdiv %i, %c3", "mul %0, %m3", "add %i, %1"),
        *("mul %2, %c7", "mul %0, %c2", "add %3, %4"),
    ),
}
"""Ops that compute an index, of which each uses what those before it give."""


def _index_sum(ops: tuple[str, ...]) -> str:
    """A load at what the last op gives."""
    lines = "\n  ".join(f"%{place} = uop.{op} : index" for place, op in enumerate(ops))
    constants = "\n  ".join(f"%c{number} = uop.const {number} : index" for number in (2, 3, 5, 7))
    return f"""
uop.kernel @k(%out: memref<4x3xf32>, %x: memref<64xf32>) {{
  %i = uop.range i = 4
  %j = uop.range j = 3
  {constants}
  %m3 = uop.const -3 : index
  {lines}
  %v = uop.load %x[%{len(ops) - 1}] : memref<64xf32>
  uop.store %v, %out[%i, %j] : memref<4x3xf32>
}}"""


def _masked_index(access: str, op: str, low: int, high: int) -> str:
    """A load or a store at an index that is simpler where its mask, low ≤ i < high, is true."""
    if access == "load":
        body = """
  %v = uop.load %x[%place] mask %inside : memref<12xf32>
  uop.store %v, %out[%i] : memref<12xf32>"""
    else:
        body = """
  %v = uop.load %x[%i] : memref<12xf32>
  uop.store %v, %out[%place] mask %inside : memref<10xf32>"""
    return f"""
uop.kernel @masked_index(%out: memref<{12 if access == "load" else 10}xf32>, %x: memref<12xf32>) {{
  %i = uop.range i = 12
  %low = uop.const {low} : index
  %high = uop.const {high} : index
  %ten = uop.const {9 if op in ("min", "max") else 10} : index
  %shifted = uop.sub %i, %low : index
  %place = uop.{op} %shifted, %ten : index
  %above = uop.ge %i, %low : index
  %below = uop.lt %i, %high : index
  %inside = uop.and %above, %below : i1{body}
}}
"""


_MAXIMUM_AND_SUM = """\
%m = uop.reduce max %v over %k : f32
  %t = uop.sub %v, %m : f32
  %scaled = uop.mul %t, %log2_e : f32
  %e = uop.{exp} {power} : f32
  %s = uop.reduce add %e over %k : f32"""

_BOTH = """\
%one = uop.const 1.0 : f32
  %m, %sum = uop.reduce online_softmax %v, %one over %k : f32, f32
  %t = uop.sub %v, %m : f32
  %scaled = uop.mul %t, %log2_e : f32
  %e = uop.{exp} {power} : f32
  %nothing = uop.const 0xFF800000 : f32
  %nan = uop.const 0x7FC00000 : f32
  %none = uop.eq %m, %nothing : f32
  %s = uop.where %none, %nan, %sum : f32"""


def _softmax(length: int, exp: str, power: str, reductions: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{length}xf32>, %x: memref<4x{length}xf32>) {{
  %i = uop.range i = 4
  %k = uop.range k = {length}
  %v = uop.load %x[%i, %k] : memref<4x{length}xf32>
  %log2_e = uop.const 1.44269504 : f32
  {reductions.format(exp=exp, power=power)}
  %r = uop.div %e, %s : f32
  uop.store %r, %out[%i, %k] : memref<4x{length}xf32>
}}"""


def _log_sum_exp(type: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x6x{type}>) {{
  %i = uop.range i = 4
  %k = uop.range k = 6
  %v = uop.load %x[%i, %k] : memref<4x6x{type}>
  %m = uop.reduce max %v over %k : {type}
  %size = uop.abs %m : {type}
  %infinity = uop.const {INFINITIES[type][0]} : {type}
  %is_infinite = uop.eq %size, %infinity : {type}
  %zero = uop.const 0.0 : {type}
  %base = uop.where %is_infinite, %zero, %m : {type}
  %t = uop.sub %v, %base : {type}
  %e = uop.exp %t : {type}
  %s = uop.reduce add %e over %k : {type}
  %log = uop.log %s : {type}
  %r = uop.add %log, %base : {type}
  uop.store %r, %out[%i] : memref<4x{type}>
}}"""


QUOTIENTS = {
    "a mean": "div %sum, %eight",
    "a mean by the inverse": "mul %sum, %eighth",
}
"""What is made of a sum of 8 elements, by its name."""


def _deviations(type: str, quotient: str) -> str:
    return f"""
uop.kernel @k(%x: tensor<8x4x{type}>) -> (tensor<1x4x{type}>, tensor<1x4x{type}>) {{
  {_numbers(type)}
  %sum = uop.reduce_axis add %x axes [0] : (tensor<8x4x{type}>) -> tensor<1x4x{type}>
  %point = uop.{quotient} : tensor<1x4x{type}>
  %points = uop.expand %point : tensor<1x4x{type}> -> tensor<8x4x{type}>
  %d = uop.sub %x, %points : tensor<8x4x{type}>
  %square = uop.mul %d, %d : tensor<8x4x{type}>
  %squares = uop.reduce_axis add %square axes [0] : (tensor<8x4x{type}>) -> tensor<1x4x{type}>
  uop.yield %squares, %point : tensor<1x4x{type}>, tensor<1x4x{type}>
}}"""


def _sample_mean(type: str, quotient: str) -> str:
    """A quotient of a sum, and a sum, beside deviations from the mean."""
    wide, one = f"tensor<8x4x{type}>", f"tensor<1x4x{type}>"
    return f"""
uop.kernel @k(%x: {wide}) -> ({one}, {one}) {{
  {_numbers(type)}
  %ones = uop.expand %one : {type} -> {wide}
  %zeros = uop.expand %zero : {type} -> {wide}
  %n, %p, %d, %q = uop.reduce_axis welford %ones, %x, %zeros, %zeros axes [0] :
    ({wide}, {wide}, {wide}, {wide}) -> ({one}, {one}, {one}, {one})
  %is_nan = uop.isnan %d : {one}
  %mean = uop.where %is_nan, %p, %p : {one}
  %sum = uop.mul %mean, %eight : {one}
  %point = uop.{quotient} : {one}
  %other = uop.reduce_axis add %x axes [0] : ({wide}) -> {one}
  uop.yield %point, %other : {one}, {one}
}}"""


def _numbers(type: str) -> str:
    return f"""\
%zero = uop.const 0.0 : {type}
  %one = uop.const 1.0 : {type}
  %n8 = uop.const 8.0 : {type}
  %eight = uop.expand %n8 : {type} -> tensor<1x4x{type}>
  %i8 = uop.const 0.125 : {type}
  %eighth = uop.expand %i8 : {type} -> tensor<1x4x{type}>"""


_ONLINE = """\
%a1, %a = uop.reduce online_softmax %v, %one over %k : {t}, {t}
  %n, %b = uop.reduce online_softmax %v, %w over %k : {t}, {t}
  %none = uop.eq %n, %nothing : {t}"""

_MASKED = """\
%four = uop.const 4 : index
  %inside = uop.lt %k, %four : index
  %x1 = uop.where %inside, %v, %nothing : {t}
  %m1 = uop.reduce max %x1 over %k : {t}
  %less1 = uop.sub %x1, %m1 : {t}
  %e1 = uop.exp %less1 : {t}
  %s1 = uop.reduce add %e1 over %k : {t}
  %q = uop.div %e1, %s1 : {t}"""

WEIGHTED_SUMS: dict[str, str] = {
    "a weighted sum of exponentials": """
  %p = uop.mul %e, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of quotients": """
  %q = uop.div %e, %s : {t}
  %p = uop.mul %q, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of products with a reciprocal": """
  %c = uop.reciprocal %s : {t}
  %q = uop.mul %e, %c : {t}
  %p = uop.mul %w, %q : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of quotients by more than the sum": """
  %more = uop.add %s, %one : {t}
  %q = uop.div %e, %more : {t}
  %p = uop.mul %q, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of quotients, 0 of nothing": """
  %none = uop.eq %m, %nothing : {t}
  %q = uop.div %e, %s : {t}
  %z = uop.where %none, %zero, %q : {t}
  %p = uop.mul %z, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of rounded quotients": """
  %q = uop.div %e, %s : {t}
  %h = uop.cast %q : {t} -> f16
  %f = uop.cast %h : f16 -> {t}
  %p = uop.mul %f, %w : {t}
  %sum = uop.reduce add %p over %k : {t}
  %r = uop.cast %sum : {t} -> f16""",
    "a logarithm of a sum, subtracted with the maximum": """
  %log = uop.log %s : {t}
  %more = uop.add %log, %m : {t}
  %l = uop.sub %v, %more : {t}
  %q = uop.exp %l : {t}
  %p = uop.mul %q, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a logarithm of a sum, subtracted after the maximum": """
  %log = uop.log %s : {t}
  %l = uop.sub %less, %log : {t}
  %q = uop.exp %l : {t}
  %p = uop.mul %q, %w : {t}
  %r = uop.reduce add %p over %k : {t}""",
    "a weighted sum of quotients behind which there is nothing": f"""
  {_MASKED}
  %z = uop.where %inside, %q, %zero : {{t}}
  %p = uop.mul %z, %w : {{t}}
  %r = uop.reduce add %p over %k : {{t}}""",
    "a weighted sum of quotients behind which there is nothing, 0 of nothing": f"""
  {_MASKED}
  %none = uop.eq %m1, %nothing : {{t}}
  %is = uop.not %none : i1
  %both = uop.and %inside, %is : i1
  %z = uop.where %both, %q, %zero : {{t}}
  %p = uop.mul %z, %w : {{t}}
  %r = uop.reduce add %p over %k : {{t}}""",
    "two sums of exponentials": f"""
  {_ONLINE}
  %r = uop.div %b, %a : {{t}}""",
    "a choice of quotients of choices": f"""
  {_ONLINE}
  %u = uop.where %none, %nan, %a : {{t}}
  %g = uop.where %none, %nan, %b : {{t}}
  %d = uop.div %g, %u : {{t}}
  %r = uop.where %none, %b, %d : {{t}}""",
    "a quotient of choices": f"""
  {_ONLINE}
  %u = uop.where %none, %nan, %a : {{t}}
  %g = uop.where %none, %nan, %b : {{t}}
  %r = uop.div %g, %u : {{t}}""",
    "a choice of a quotient": f"""
  {_ONLINE}
  %n1, %c, %d = uop.reduce online_attention %v, %one, %w over %k : {{t}}, {{t}}, {{t}}
  %e1 = uop.eq %n1, %nothing : {{t}}
  %q = uop.div %d, %c : {{t}}
  %r = uop.where %e1, %nan, %q : {{t}}""",
}
"""What is computed of exponentials %e of %v, their sum %s, and weights %w, for a type {t}; by its name."""


def _weighted_sum(type: str, body: str) -> str:
    """Weights and results have one dimension more than exponentials. Some rows are nothing but −∞."""
    rounded = "-> f16" in body
    result = "f16" if rounded else type
    return f"""
uop.kernel @k(%out: memref<4x3x{result}>, %x: memref<4x6x{type}>, %y: memref<6x3x{type}>, %some: memref<4xi1>) {{
  %i = uop.range i = 4
  %j = uop.range j = 3
  %k = uop.range k = 6
  %nothing = uop.const {INFINITIES[type][1]} : {type}
  %x_ik = uop.load %x[%i, %k] : memref<4x6x{type}>
  %some_i = uop.load %some[%i] : memref<4xi1>
  %v = uop.where %some_i, %x_ik, %nothing : {type}
  %w = uop.load %y[%k, %j] : memref<6x3x{type}>
  %one = uop.const 1.0 : {type}
  %zero = uop.const 0.0 : {type}
  %nan = uop.const {"0x7FC00000" if type == "f32" else "0x7FF8000000000000"} : {type}
  %m = uop.reduce max %v over %k : {type}
  %less = uop.sub %v, %m : {type}
  %e = uop.exp %less : {type}
  %s = uop.reduce add %e over %k : {type}
  {body.strip().format(t=type)}
  uop.store %r, %out[%i, %j] : memref<4x3x{result}>
}}"""


INFINITIES = {
    "f64": ("0x7FF0000000000000", "0xFFF0000000000000"),
    "f32": ("0x7F800000", "0xFF800000"),
    "f16": ("0x7C00", "0xFC00"),
    "bf16": ("0x7F80", "0xFF80"),
}
"""∞ and −∞ as a constant is written."""


def _literal(number: Number, element: Attribute) -> str:
    if is_bool(element):
        return "true" if number else "false"
    if is_float(element):
        if number in (inf, -inf):
            return INFINITIES[type_name(element)][number < 0]
        return f"{float(number):e}"
    return str(number)


def _typed(number: str, type: str) -> str:
    return number if type == "i1" else f"{number} : {type}"


Snippet = tuple[str, Sequence[str], Sequence[str]]
"""A name, the lines that compute %e, and the ranges over which it is combined."""


def _elements(type: str, kind: str, neutral: str, conditions: bool) -> Iterator[Snippet]:
    """What reductions combine."""
    y = f"%y_i = uop.load %y[%i] : memref<4x{type}>"
    x = f"%x_ik = uop.load %x[%i, %k] : memref<4x6x{type}>"
    mask = "%m_i = uop.load %m[%i] : memref<4xi1>"
    identity = f"%neutral = uop.const {_typed(neutral, type)}"
    yield "nothing", [f"%e = uop.load %y[%i] : memref<4x{type}>"], ["%none"]
    yield "an invariant", [f"%e = uop.load %y[%i] : memref<4x{type}>"], ["%k"]
    yield "an invariant over two", [f"%e = uop.load %x[%i, %k] : memref<4x6x{type}>"], ["%k", "%k1"]
    yield "a masked element", [x, mask, identity, f"%e = uop.where %m_i, %x_ik, %neutral : {type}"], ["%k"]
    for order in ("%y_i, %x_ik", "%x_ik, %y_i"):
        for op in {"bool": ("and", "or")}.get(kind, ("mul", "add", "sub")):
            yield f"{op} {order}", [y, x, f"%e = uop.{op} {order} : {type}"], ["%k"]
    if kind != "bool":
        yield "a negation", [x, f"%e = uop.neg %x_ik : {type}"], ["%k"]
    if conditions:
        yield from _conditions(type, x, y, identity)


def _conditions(type: str, x: str, y: str, identity: str) -> Iterator[Snippet]:
    """Elements that depend on the position."""
    position = ["%p_i = uop.load %p[%i] : memref<4xi32>", "%q = uop.cast %p_i : i32 -> index"]
    narrow = ["%k32 = uop.cast %k : index -> i32", "%one = uop.const 1 : index", "%next = uop.add %k, %one : index"]
    compares = [f"%c = uop.{op} {order} : index" for op in COMPARES for order in ("%k, %q", "%q, %k")]
    compares += [f"%c = uop.{op} {order} : i32" for op in COMPARES for order in ("%k32, %p_i", "%p_i, %k32")]
    compares += [f"%c = uop.{op} %next, %q : index" for op in COMPARES]
    for compare in compares:
        condition = [*position, *narrow, compare]
        yield f"an element where {compare}", [*condition, x, identity, _where(type, "%c", "%x_ik")], ["%k"]
        yield f"an invariant where {compare}", [*condition, y, identity, _where(type, "%c", "%y_i")], ["%k"]
        two = "true" if type == "i1" else "2.0" if is_float(ELEMENT_TYPES[type]) else "2"
        one = f"%one_t = uop.const {_typed(two, type)}"
        yield f"a number where {compare}", [*condition, one, identity, _where(type, "%c", "%one_t")], ["%k", "%k1"]
        if type != "i1":
            yield f"a cast of {compare}", [*condition, f"%e = uop.cast %c : i1 -> {type}"], ["%k"]
    both = [*position, *narrow, "%c0 = uop.ge %k, %q : index", "%three = uop.const 3 : index"]
    both += ["%c1 = uop.lt %k, %three : index", "%c = uop.and %c0, %c1 : i1"]
    masked = [*both[:-1], "%m_i = uop.load %m[%i] : memref<4xi1>", "%c2 = uop.and %c0, %m_i : i1"]
    masked += ["%c = uop.and %c2, %c1 : i1"]
    for name, lines in (("two conditions", both), ("three conditions", masked)):
        yield f"an element under {name}", [*lines, x, identity, _where(type, "%c", "%x_ik")], ["%k"]
        yield f"an invariant under {name}", [*lines, y, identity, _where(type, "%c", "%y_i")], ["%k"]


COMPARES = ("eq", "ne", "lt", "le", "gt", "ge")


def _where(type: str, condition: str, value: str) -> str:
    return f"%e = uop.where {condition}, {value}, %neutral : {type}"


RANGES = {"%k": "%k = uop.range k = 6", "%k1": "%k1 = uop.range k1 = 3", "%none": "%none = uop.range k = 0"}
"""Over which is combined."""


def _reduction(type: str, monoid: str, lines: Sequence[str], over: Sequence[str]) -> str:
    body = "\n  ".join((*(RANGES[name] for name in over), *lines))
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x6x{type}>, %y: memref<4x{type}>, %m: memref<4xi1>,
    %p: memref<4xi32>) {{
  %i = uop.range i = 4
  {body}
  %r = uop.reduce {monoid} %e over {", ".join(over)} : {type}
  uop.store %r, %out[%i] : memref<4x{type}>
}}"""


def _expanded(type: str, monoid: str) -> str:
    return f"""
uop.kernel @k(%x: tensor<4x1x3x{type}>) -> (tensor<4x1x1x{type}>) {{
  %0 = uop.expand %x : tensor<4x1x3x{type}> -> tensor<4x6x3x{type}>
  %1 = uop.reduce_axis {monoid} %0 axes [1, 2] : (tensor<4x6x3x{type}>) -> tensor<4x1x1x{type}>
  uop.yield %1 : tensor<4x1x1x{type}>
}}"""


def _loop(type: str, monoid: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %y: memref<4x{type}>) {{
  loop.for %i (i = 4 parallel) {{
    %e = uop.load %y[%i] : memref<4x{type}>
    %r = loop.reduce %k (k = 6) {monoid} : {type} {{
      loop.yield %e : {type}
    }}
    uop.store %r, %out[%i] : memref<4x{type}>
  }}
}}"""


def _scan(type: str, monoid: str, extent: int) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{extent}x{type}>, %y: memref<4x{type}>) {{
  %i = uop.range i = 4
  %j = uop.range j = {extent}
  %e = uop.load %y[%i] : memref<4x{type}>
  %r = uop.scan {monoid} %e over %j : {type}
  uop.store %r, %out[%i, %j] : memref<4x{extent}x{type}>
}}"""


def _scan_axis(type: str, monoid: str, extent: int) -> str:
    return f"""
uop.kernel @k(%x: tensor<{extent}x4x{type}>) -> (tensor<{extent}x4x{type}>) {{
  %0 = uop.scan_axis {monoid} %x axis 0 : tensor<{extent}x4x{type}>
  uop.yield %0 : tensor<{extent}x4x{type}>
}}"""


POSITIONED: Sequence[Snippet] = (
    ("nothing and positions", ["%e = uop.load %y[%i]", "%p = uop.cast %none"], ["%none"]),
    ("elements", ["%e = uop.load %x[%i, %k]", "%p = uop.cast %k"], ["%k"]),
    ("invariants", ["%e = uop.load %y[%i]", "%p = uop.load %n[%i]"], ["%k"]),
    ("invariants with positions", ["%e = uop.load %y[%i]", "%p = uop.cast %k"], ["%k"]),
    ("elements with one position", ["%e = uop.load %x[%i, %k]", "%p = uop.load %n[%i]"], ["%k"]),
    ("invariants over two", ["%e = uop.load %x[%i, %k]", "%p = uop.cast %k"], ["%k", "%k1"]),
)
"""What reductions of values and positions combine: the lines that compute %e and %p, without their types."""


def _positioned(type: str, monoid: str, lines: Sequence[str], over: Sequence[str]) -> str:
    types = {"%x": f"memref<4x6x{type}>", "%y": f"memref<4x{type}>", "%n": "memref<4xi64>"}
    typed = [f"{line} : {types.get(line.split()[3].split('[')[0], 'index -> i64')}" for line in lines]
    body = "\n  ".join((*(RANGES[name] for name in over), *typed))
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %out1: memref<4xi64>, %x: memref<4x6x{type}>, %y: memref<4x{type}>,
    %n: memref<4xi64>) {{
  %i = uop.range i = 4
  {body}
  %r, %q = uop.reduce {monoid} %e, %p over {", ".join(over)} : {type}, i64
  uop.store %r, %out[%i] : memref<4x{type}>
  uop.store %q, %out1[%i] : memref<4xi64>
}}"""


def _positioned_axis(type: str, monoid: str) -> str:
    wide, narrow = f"tensor<4x6x3x{type}>", f"tensor<4x1x1x{type}>"
    return f"""
uop.kernel @k(%x: tensor<4x1x3x{type}>, %n: tensor<4x1x3xi64>) -> ({narrow}, tensor<4x1x1xi64>) {{
  %0 = uop.expand %x : tensor<4x1x3x{type}> -> {wide}
  %1 = uop.expand %n : tensor<4x1x3xi64> -> tensor<4x6x3xi64>
  %2, %3 = uop.reduce_axis {monoid} %0, %1 axes [1, 2] : ({wide}, tensor<4x6x3xi64>) -> ({narrow}, tensor<4x1x1xi64>)
  uop.yield %2, %3 : {narrow}, tensor<4x1x1xi64>
}}"""


def _positioned_loop(type: str, monoid: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %out1: memref<4xi64>, %y: memref<4x{type}>, %n: memref<4xi64>) {{
  loop.for %i (i = 4 parallel) {{
    %e = uop.load %y[%i] : memref<4x{type}>
    %p = uop.load %n[%i] : memref<4xi64>
    %r, %q = loop.reduce %k (k = 6) {monoid} : {type}, i64 {{
      loop.yield %e, %p : {type}, i64
    }}
    uop.store %r, %out[%i] : memref<4x{type}>
    uop.store %q, %out1[%i] : memref<4xi64>
  }}
}}"""


def _accesses(type: str, mask: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>, %y: memref<4x{type}>) {{
  %i = uop.range i = 4
  %c = uop.const {mask}
  %0 = uop.load %x[%i] mask %c : memref<4x{type}>
  {"" if mask == "true" else f"uop.store %0, %out[%i] : memref<4x{type}>"}
  uop.store %0, %out[%i] mask %c : memref<4x{type}>
}}"""


def _tile_accesses(type: str, mask: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>) schedule #tile.schedule<i = 4 thread> {{
  %i = tile.axis i = 4 thread : index
  %c = uop.const {mask}
  %0 = tile.read %x[%i] mask %c : memref<4x{type}>(index) -> {type}
  {"" if mask == "true" else f"tile.write %0, %out[%i] : {type} -> memref<4x{type}>(index)"}
  tile.write %0, %out[%i] mask %c : {type} -> memref<4x{type}>(index)
}}"""


def _masked_read(type: str) -> str:
    return f"""
uop.kernel @k(%out: memref<8x{type}>, %x: memref<5x{type}>) schedule #tile.schedule<i = 8 thread> {{
  %i = tile.axis i = 8 thread : index
  %extent = uop.const 5 : index
  %ok = uop.lt %i, %extent : index
  %zero = uop.const {_zero(type)}
  %0 = tile.read %x[%i] mask %ok : memref<5x{type}>(index) -> {type}
  %1 = uop.where %ok, %0, %zero : {type}
  tile.write %1, %out[%i] : {type} -> memref<8x{type}>(index)
}}"""


def _zero(type: str) -> str:
    return _typed("false" if type == "i1" else "0.0" if is_float(ELEMENT_TYPES[type]) else "0", type)


def _masked_choice(type: str, *steps: str) -> str:
    names = ["%s", "%t"]
    body = "\n  ".join(f"{name} = {step}" for name, step in zip(names, steps, strict=False))
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>, %m: memref<4xi1>, %n: memref<4xi1>) {{
  %i = uop.range i = 4
  %m_i = uop.load %m[%i] : memref<4xi1>
  %n_i = uop.load %n[%i] : memref<4xi1>
  %both = uop.and %m_i, %n_i : i1
  %zero = uop.const {_zero(type)}
  %v = uop.load %x[%i] mask %both : memref<4x{type}>
  {body}
  uop.store {names[len(steps) - 1]}, %out[%i] : memref<4x{type}>
}}"""


def parse(text: str) -> ModuleOp:
    return Parser(_context(), text).parse_module()


def kernel_of(module: ModuleOp) -> KernelOp:
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    return kernel


@cache
def _context() -> Context:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    return context
