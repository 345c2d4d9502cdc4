"""Texts of kernels with means, and deviations from them."""

from __future__ import annotations

QUOTIENTS = {
    "a mean": "div %sum, %eight",
    "a mean by the inverse": "mul %sum, %eighth",
}
"""What is made of a sum of 8 elements, by its name."""


def deviations(type: str, quotient: str) -> str:
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


def sample_mean(type: str, quotient: str) -> str:
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
