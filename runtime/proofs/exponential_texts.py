"""Texts of kernels with sums of exponentials: softmax, its logarithm, and what is weighted by it."""

from __future__ import annotations

from .kernel_literals import INFINITIES

MAXIMUM_AND_SUM = """\
%m = uop.reduce max %v over %k : f32
  %t = uop.sub %v, %m : f32
  %scaled = uop.mul %t, %log2_e : f32
  %e = uop.{exp} {power} : f32
  %s = uop.reduce add %e over %k : f32"""

BOTH = """\
%one = uop.const 1.0 : f32
  %m, %sum = uop.reduce online_softmax %v, %one over %k : f32, f32
  %t = uop.sub %v, %m : f32
  %scaled = uop.mul %t, %log2_e : f32
  %e = uop.{exp} {power} : f32
  %nothing = uop.const 0xFF800000 : f32
  %nan = uop.const 0x7FC00000 : f32
  %none = uop.eq %m, %nothing : f32
  %s = uop.where %none, %nan, %sum : f32"""


def softmax(length: int, exp: str, power: str, reductions: str) -> str:
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


def log_sum_exp(type: str) -> str:
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


def weighted_sum(type: str, body: str) -> str:
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
