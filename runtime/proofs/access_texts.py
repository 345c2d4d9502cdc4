"""Texts of kernels with reads and writes that rules simplify: their masks and their indices."""

from __future__ import annotations

from .kernel_literals import zero

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


def index_sum(ops: tuple[str, ...]) -> str:
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


def masked_index(access: str, op: str, low: int, high: int) -> str:
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


def accesses(type: str, mask: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>, %y: memref<4x{type}>) {{
  %i = uop.range i = 4
  %c = uop.const {mask}
  %0 = uop.load %x[%i] mask %c : memref<4x{type}>
  {"" if mask == "true" else f"uop.store %0, %out[%i] : memref<4x{type}>"}
  uop.store %0, %out[%i] mask %c : memref<4x{type}>
}}"""


def tile_accesses(type: str, mask: str) -> str:
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>) schedule #tile.schedule<i = 4 thread> {{
  %i = tile.axis i = 4 thread : index
  %c = uop.const {mask}
  %0 = tile.read %x[%i] mask %c : memref<4x{type}>(index) -> {type}
  {"" if mask == "true" else f"tile.write %0, %out[%i] : {type} -> memref<4x{type}>(index)"}
  tile.write %0, %out[%i] mask %c : {type} -> memref<4x{type}>(index)
}}"""


def masked_read(type: str) -> str:
    return f"""
uop.kernel @k(%out: memref<8x{type}>, %x: memref<5x{type}>) schedule #tile.schedule<i = 8 thread> {{
  %i = tile.axis i = 8 thread : index
  %extent = uop.const 5 : index
  %ok = uop.lt %i, %extent : index
  %zero = uop.const {zero(type)}
  %0 = tile.read %x[%i] mask %ok : memref<5x{type}>(index) -> {type}
  %1 = uop.where %ok, %0, %zero : {type}
  tile.write %1, %out[%i] : {type} -> memref<8x{type}>(index)
}}"""


def masked_choice(type: str, *steps: str) -> str:
    names = ["%s", "%t"]
    body = "\n  ".join(f"{name} = {step}" for name, step in zip(names, steps, strict=False))
    return f"""
uop.kernel @k(%out: memref<4x{type}>, %x: memref<4x{type}>, %m: memref<4xi1>, %n: memref<4xi1>) {{
  %i = uop.range i = 4
  %m_i = uop.load %m[%i] : memref<4xi1>
  %n_i = uop.load %n[%i] : memref<4xi1>
  %both = uop.and %m_i, %n_i : i1
  %zero = uop.const {zero(type)}
  %v = uop.load %x[%i] mask %both : memref<4x{type}>
  {body}
  uop.store {names[len(steps) - 1]}, %out[%i] : memref<4x{type}>
}}"""
