"""Texts of kernels with a reduction or a scan, in each form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...dialects.types import ELEMENT_TYPES, is_float
from .kernel_literals import typed

Snippet = tuple[str, Sequence[str], Sequence[str]]
"""A name, the lines that compute %e, and the ranges over which it is combined."""


def elements(type: str, kind: str, neutral: str, conditions: bool) -> Iterator[Snippet]:
    """What reductions combine."""
    y = f"%y_i = uop.load %y[%i] : memref<4x{type}>"
    x = f"%x_ik = uop.load %x[%i, %k] : memref<4x6x{type}>"
    mask = "%m_i = uop.load %m[%i] : memref<4xi1>"
    identity = f"%neutral = uop.const {typed(neutral, type)}"
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
        one = f"%one_t = uop.const {typed(two, type)}"
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


def reduction(type: str, monoid: str, lines: Sequence[str], over: Sequence[str]) -> str:
    body = "\n  ".join((*(RANGES[name] for name in over), *lines))
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x6x{type}>, %y: memref<4x{type}>, %m: memref<4xi1>,
    %p: memref<4xi32>) {{
  %i = uop.range i = 4
  {body}
  %r = uop.reduce {monoid} %e over {", ".join(over)} : {type}
  uop.store %r, %out[%i] : memref<4x{type}>
}}"""


def expanded(type: str, monoid: str) -> str:
    return f"""
uop.kernel @k(%x: tensor<4x1x3x{type}>) -> (tensor<4x1x1x{type}>) {{
  %0 = uop.expand %x : tensor<4x1x3x{type}> -> tensor<4x6x3x{type}>
  %1 = uop.reduce_axis {monoid} %0 axes [1, 2] : (tensor<4x6x3x{type}>) -> tensor<4x1x1x{type}>
  uop.yield %1 : tensor<4x1x1x{type}>
}}"""


def loop(type: str, monoid: str) -> str:
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


def scan(type: str, monoid: str, extent: int) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{extent}x{type}>, %y: memref<4x{type}>) {{
  %i = uop.range i = 4
  %j = uop.range j = {extent}
  %e = uop.load %y[%i] : memref<4x{type}>
  %r = uop.scan {monoid} %e over %j : {type}
  uop.store %r, %out[%i, %j] : memref<4x{extent}x{type}>
}}"""


def scan_axis(type: str, monoid: str, extent: int) -> str:
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


def positioned(type: str, monoid: str, lines: Sequence[str], over: Sequence[str]) -> str:
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


def positioned_axis(type: str, monoid: str) -> str:
    wide, narrow = f"tensor<4x6x3x{type}>", f"tensor<4x1x1x{type}>"
    return f"""
uop.kernel @k(%x: tensor<4x1x3x{type}>, %n: tensor<4x1x3xi64>) -> ({narrow}, tensor<4x1x1xi64>) {{
  %0 = uop.expand %x : tensor<4x1x3x{type}> -> {wide}
  %1 = uop.expand %n : tensor<4x1x3xi64> -> tensor<4x6x3xi64>
  %2, %3 = uop.reduce_axis {monoid} %0, %1 axes [1, 2] : ({wide}, tensor<4x6x3xi64>) -> ({narrow}, tensor<4x1x1xi64>)
  uop.yield %2, %3 : {narrow}, tensor<4x1x1xi64>
}}"""


def positioned_loop(type: str, monoid: str) -> str:
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
