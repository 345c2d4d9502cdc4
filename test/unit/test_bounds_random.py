"""Bounds of random accesses against all values of their ranges: proofs hold, and witnesses are true."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, f32, i1, i8
from xdsl.ir import Attribute, Block, Region, SSAValue

from uop.dialects.semantics import ALU, evaluate, numpy_dtype, round_to_element
from uop.dialects.types import index
from uop.dialects.uop import CastOp, KernelOp, LoadOp, RangeOp
from uop.rewriting.bounds import Finding, Verdict, check_kernel
from uop.rewriting.builder import Builder

EXTENTS = {"i": 6, "j": 9}
GRIDS = np.meshgrid(*(np.arange(extent) for extent in EXTENTS.values()), indexing="ij")
GRID = {name: grid.reshape(-1) for name, grid in zip(EXTENTS, GRIDS, strict=True)}
"""Range → its value in each of all steps."""
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


class RandomAccess:
    """A kernel that loads one element under a mask, and the values of index and mask for all values of its ranges."""

    def __init__(self, data: st.DataObject):
        self.draw = data.draw
        self.extent = self.draw(st.integers(1, 60))
        self.block = Block(arg_types=[MemRefType(f32, [self.extent])])
        self.builder = Builder(self.block)
        self.values: dict[Attribute, list[tuple[SSAValue, np.ndarray]]] = {index: [], i1: [], i8: []}
        for name, extent in EXTENTS.items():
            range_op = RangeOp.of(name, extent)
            self.builder.insert(range_op)
            range_op.result.name_hint = name
            self.values[index].append((range_op.result, GRID[name]))
        for _ in range(self.draw(st.integers(1, 10))):
            self._grow()
        self.place, self.places = self.values[index][-1]
        mask = self.values[i1][-1] if self.values[i1] else None
        self.mask = np.ones_like(self.places, bool) if mask is None else mask[1]
        self.builder.insert(LoadOp.of(self.block.args[0], [self.place], None if mask is None else mask[0]))
        self.kernel = KernelOp.of("k", [], Region(self.block))
        self.kernel.verify()

    def _pick(self, element: Attribute) -> tuple[SSAValue, np.ndarray]:
        return self.draw(st.sampled_from(self.values[element]))

    def _number(self, number: int, element: Attribute) -> tuple[SSAValue, np.ndarray]:
        return self.builder.const(number, element), np.full(GRID["i"].shape, number, numpy_dtype(element))

    def _alu(self, name: str, *operands: tuple[SSAValue, np.ndarray]) -> None:
        value = self.builder.alu(name, *(value for value, _ in operands))
        array = evaluate(np, ALU[name], operands[-1][0].type, [array for _, array in operands])
        self.values[value.type].append((value, array))

    def _grow(self) -> None:
        elements = [index, i8] if self.values[i8] else [index]
        element = self.draw(st.sampled_from(elements))
        match self.draw(st.sampled_from(["sum", "scale", "divide", "compare", "logic", "where", "narrow", "widen"])):
            case "sum":
                name = self.draw(st.sampled_from(["add", "sub", "min", "max"]))
                self._alu(name, self._pick(element), self._pick(element))
            case "scale":
                name = self.draw(st.sampled_from(["add", "sub", "mul", "xor"]))
                self._alu(name, self._pick(element), self._number(self.draw(st.integers(0, 9)), element))
            case "divide":
                name = self.draw(st.sampled_from(["floordiv", "floormod", "truncdiv", "truncmod"]))
                self._alu(name, self._pick(element), self._number(self.draw(st.integers(1, 9)), element))
            case "compare":
                name = self.draw(st.sampled_from(COMPARISONS))
                self._alu(name, self._pick(element), self._number(self.draw(st.integers(-5, 60)), element))
            case "logic" if self.values[i1]:
                name = self.draw(st.sampled_from(["and", "or", "xor"]))
                self._alu(name, self._pick(i1), self._pick(i1))
            case "where" if self.values[i1]:
                self._alu("where", self._pick(i1), self._pick(element), self._pick(element))
            case "narrow" | "widen" as direction:
                source, target = (index, i8) if direction == "narrow" else (i8, index)
                if self.values[source]:
                    value, array = self._pick(source)
                    cast = self.builder.pure(CastOp, (value,), (target,)).results[0]
                    self.values[target].append((cast, np.asarray(round_to_element(np, array, target))))
            case _:
                pass


def check(access: RandomAccess) -> Finding:
    (finding,) = check_kernel(access.kernel)
    is_outside = access.mask & ((access.places < 0) | (access.places >= access.extent))
    match finding.verdict:
        case Verdict.BY_RANGES | Verdict.BY_SOLVER:
            assert not is_outside.any(), finding.message
        case Verdict.OUTSIDE:
            (where,) = np.nonzero(
                np.logical_and.reduce([GRID[n] == finding.witness[n] for n in EXTENTS if n in finding.witness])
                & is_outside
            )
            assert where.size, (finding.message, "is no witness")
            assert finding.witness["index"] in access.places[where], finding.message
        case verdict:
            raise AssertionError(f"{verdict}: {finding.message}")
    return finding


@settings(max_examples=250, deadline=None)
@given(st.data())
def test_proofs_and_witnesses(data: st.DataObject) -> None:
    check(RandomAccess(data))


def test_all_verdicts_come_up() -> None:
    """The generator makes accesses of each kind: else the test above would test nothing."""
    verdicts: Counter[Verdict] = Counter()

    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    @given(st.data())
    def collect(data: st.DataObject) -> None:
        verdicts[check(RandomAccess(data)).verdict] += 1

    collect()
    assert all(verdicts[verdict] for verdict in (Verdict.BY_RANGES, Verdict.BY_SOLVER, Verdict.OUTSIDE)), verdicts


def test_the_grid_is_all_values() -> None:
    assert sorted(zip(GRID["i"], GRID["j"], strict=True)) == sorted(itertools.product(*map(range, EXTENTS.values())))
