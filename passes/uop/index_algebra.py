"""Index expressions as normal forms: what movement ops do to the indices of a tensor, before any op is built.

An index is `constant + Σ coefficient · atom`, where an atom is a range, a floor quotient or remainder of
another index, or a number read from data. Equal indices are equal tuples, so they serve as keys. Splitting and
merging axes (reshape) stays linear wherever mixed-radix arithmetic allows it: `(16·a + b) // 16` is `a` where
`b` lies in [0, 16).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Literal

from .reshape_groups import reshape_groups

Index = tuple[int, tuple[tuple[int, int], ...]]
"""(constant, ((atom, coefficient), …)): atoms ascending, no coefficient 0."""

Bounds = tuple[int, int] | None
"""Least and greatest value; None when they are not known."""

ZERO: Index = (0, ())


@dataclass(frozen=True)
class Atom:
    """What an index is made of.

    bounds: least and greatest value, None for data.
    ranges: the ranges that it depends on. data: the keys of the data that it depends on.
    key: of a quotient or remainder, the dividend and the divisor; of a range, its number; of data, what its
    user says.
    """

    kind: Literal["range", "floordiv", "floormod", "data"]
    key: Hashable
    bounds: Bounds
    ranges: frozenset[int]
    data: tuple[Hashable, ...] = ()

    @property
    def division(self) -> tuple[Index, int]:
        """Dividend and divisor of a quotient or remainder."""
        assert self.kind in ("floordiv", "floormod")
        return self.key  # pyright: ignore[reportReturnType]


class IndexAlgebra:
    """The atoms of one kernel, numbered in the order in which they appear, and arithmetic on indices."""

    def __init__(self) -> None:
        self.atoms: list[Atom] = []
        self.extents: list[int] = []
        """Extent of each range."""
        self._numbers: dict[tuple[str, Hashable], int] = {}
        self._bounds: dict[Index, Bounds] = {ZERO: (0, 0)}
        self._ranges: dict[Index, frozenset[int]] = {ZERO: frozenset()}

    # Atoms.

    def range(self, extent: int) -> tuple[int, Index]:
        """A new range: its number, and the index that walks it."""
        number = len(self.extents)
        self.extents.append(extent)
        return number, self._atom(Atom("range", number, (0, max(extent - 1, 0)), frozenset((number,))))

    def data(self, key: Hashable, ranges: frozenset[int]) -> Index:
        """An index that is read from memory; `key` says which."""
        return self._atom(Atom("data", key, None, ranges, (key,)))

    def _divided(self, kind: Literal["floordiv", "floormod"], dividend: Index, divisor: int, bounds: Bounds) -> Index:
        return self._atom(Atom(kind, (dividend, divisor), bounds, self.ranges(dividend), self.data_of(dividend)))

    def _atom(self, atom: Atom) -> Index:
        number = self._numbers.setdefault((atom.kind, atom.key), len(self.atoms))
        if number == len(self.atoms):
            self.atoms.append(atom)
        return 0, ((number, 1),)

    # What is known of an index.

    def bounds(self, index: Index) -> Bounds:
        """Least and greatest value."""
        if index not in self._bounds:
            self._bounds[index] = self._compute_bounds(index)
        return self._bounds[index]

    def _compute_bounds(self, index: Index) -> Bounds:
        low = high = index[0]
        for atom, coefficient in index[1]:
            bounds = self.atoms[atom].bounds
            if bounds is None:
                return None
            low += coefficient * bounds[coefficient < 0]
            high += coefficient * bounds[coefficient > 0]
        return low, high

    def is_within(self, index: Index, low: int, high: int) -> bool:
        """Whether `low ≤ index < high` is certain."""
        bounds = self.bounds(index)
        return bounds is not None and low <= bounds[0] and bounds[1] < high

    def ranges(self, index: Index) -> frozenset[int]:
        """The ranges that it depends on."""
        if index not in self._ranges:
            self._ranges[index] = frozenset[int]().union(*(self.atoms[atom].ranges for atom, _ in index[1]))
        return self._ranges[index]

    def ranges_of(self, indices: Iterable[Index]) -> frozenset[int]:
        """The ranges that any of the indices depends on."""
        return frozenset[int]().union(*map(self.ranges, indices))

    def data_of(self, index: Index) -> tuple[Hashable, ...]:
        """The keys of the data that it depends on."""
        return tuple(dict.fromkeys(key for atom, _ in index[1] for key in self.atoms[atom].data))

    def as_range(self, index: Index) -> int | None:
        """The number of the range that the index is, if it is one."""
        if index[0] == 0 and len(index[1]) == 1:
            atom, coefficient = index[1][0]
            if coefficient == 1 and self.atoms[atom].kind == "range":
                return self.atoms[atom].key  # pyright: ignore[reportReturnType]
        return None

    # Arithmetic.

    def affine(self, index: Index, scale: int = 1, offset: int = 0) -> Index:
        """`index · scale + offset`"""
        if scale == 1:
            return (index[0] + offset, index[1]) if offset else index
        if scale == 0:
            return offset, ()
        return index[0] * scale + offset, tuple((atom, coefficient * scale) for atom, coefficient in index[1])

    def sum(self, *parts: Index) -> Index:
        """The sum; `n · (x // n) + x % n` becomes `x`."""
        constant = sum(part[0] for part in parts)
        terms: dict[int, int] = {}
        for part in parts:
            for atom, coefficient in part[1]:
                terms[atom] = terms.get(atom, 0) + coefficient
        for atom, coefficient in terms.items():
            if coefficient and self.atoms[atom].kind == "floormod":
                dividend, divisor = self.atoms[atom].division
                offset, quotient = self.floordiv(dividend, divisor)
                if offset == 0 and len(quotient) == 1 and quotient[0][1] == 1:
                    other = quotient[0][0]
                    if terms.get(other) == coefficient * divisor:
                        rest = [(a, c) for a, c in terms.items() if c and a not in (atom, other)]
                        return self.sum((constant, tuple(sorted(rest))), self.affine(dividend, coefficient))
        return constant, tuple(sorted((atom, coefficient) for atom, coefficient in terms.items() if coefficient))

    def floordiv(self, index: Index, divisor: int) -> Index:
        """`⌊index ÷ divisor⌋` for a positive divisor."""
        if divisor == 1:
            return index
        whole, rest = self._split(index, divisor)
        whole = self._divide_exactly(whole, divisor)
        if self.is_within(rest, 0, divisor):
            return whole
        if (nearest := self._nearest_multiple(index, divisor)) is not None:
            return self._divide_exactly(nearest[0], divisor)
        common, large, _ = self._common_factor(rest, divisor)
        if common > 1:  # (common · large + small) // divisor, 0 ≤ small < common
            return self.sum(whole, self.floordiv(self._divide_exactly(large, common), divisor // common))
        if (atom := self._single_atom(rest)) is not None:
            inner, step = atom.division
            if atom.kind == "floordiv":
                return self.sum(whole, self.floordiv(inner, step * divisor))
            if step % divisor == 0:
                return self.sum(whole, self.floormod(self.floordiv(inner, divisor), step // divisor))
        bounds = self.bounds(rest)
        bounds = None if bounds is None else (bounds[0] // divisor, bounds[1] // divisor)
        return self.sum(whole, self._divided("floordiv", rest, divisor, bounds))

    def floormod(self, index: Index, divisor: int) -> Index:
        """`index − ⌊index ÷ divisor⌋ · divisor` for a positive divisor."""
        if divisor == 1:
            return ZERO
        if self.is_within(index, 0, divisor):
            return index
        _, rest = self._split(index, divisor)
        if self.is_within(rest, 0, divisor):
            return rest
        if (nearest := self._nearest_multiple(index, divisor)) is not None:
            return nearest[1]
        common, large, small = self._common_factor(rest, divisor)
        if common > 1:
            remainder = self.floormod(self._divide_exactly(large, common), divisor // common)
            return self.sum(self.affine(remainder, common), small)
        if (atom := self._single_atom(rest)) is not None and atom.kind == "floormod":
            inner, step = atom.division
            if step % divisor == 0:
                return self.floormod(inner, divisor)
        return self._divided("floormod", rest, divisor, (0, divisor - 1))

    def _split(self, index: Index, divisor: int) -> tuple[Index, Index]:
        """(a multiple of the divisor, the rest): their sum is the index."""
        whole = tuple(term for term in index[1] if term[1] % divisor == 0)
        rest = tuple(term for term in index[1] if term[1] % divisor != 0)
        remainder = index[0] % divisor
        return (index[0] - remainder, whole), (remainder, rest)

    def _nearest_multiple(self, index: Index, divisor: int) -> tuple[Index, Index] | None:
        """(a multiple of the divisor, the rest in [0, divisor)), each coefficient split at its nearest multiple.

        So `15 · a + b` is `16 · a + (b − a)` for the divisor 16. None where the rest may lie outside.
        """
        whole = [(atom, (coefficient + divisor // 2) // divisor * divisor) for atom, coefficient in index[1]]
        rest = [(atom, c - w) for (atom, c), (_, w) in zip(index[1], whole, strict=True)]
        kept = tuple((atom, c) for atom, c in rest if c)
        bounds = self.bounds((index[0], kept))
        if bounds is None:
            return None
        constant = (bounds[0] // divisor) * divisor
        if bounds[1] - constant >= divisor:
            return None
        return (constant, tuple((atom, w) for atom, w in whole if w)), (index[0] - constant, kept)

    def _common_factor(self, index: Index, divisor: int) -> tuple[int, Index, Index]:
        """(factor, its multiple, rest in [0, factor)) for the greatest proper factor of the divisor, or 1."""
        factors = {gcd(coefficient, divisor) for _, coefficient in index[1]}
        for factor in sorted(factors, reverse=True):
            if 1 < factor < divisor:
                large, small = self._split(index, factor)
                if self.is_within(small, 0, factor):
                    return factor, large, small
        return 1, index, ZERO

    def _divide_exactly(self, index: Index, divisor: int) -> Index:
        return index[0] // divisor, tuple((atom, coefficient // divisor) for atom, coefficient in index[1])

    def _single_atom(self, index: Index) -> Atom | None:
        """The quotient or remainder that the index is, if it is one."""
        if index[0] == 0 and len(index[1]) == 1 and index[1][0][1] == 1:
            atom = self.atoms[index[1][0][0]]
            return atom if atom.kind in ("floordiv", "floormod") else None
        return None

    # Movement.

    def reshape(self, indices: Sequence[Index], shape: Sequence[int], target: Sequence[int]) -> list[Index]:
        """Indices into `target` of the element that `indices` chooses in `shape`, of as many elements.

        Axes are merged and split in the smallest groups of axes that have the same number of elements on both sides.
        """
        if 0 in shape:  # no element: an index that depends on the empty range stays inside its loop
            return [ZERO if extent == 1 else indices[shape.index(0)] for extent in target]
        result = [ZERO] * len(target)
        for merged, split in reshape_groups(shape, target):
            flat = ZERO
            for axis in merged:
                flat = self.sum(self.affine(flat, shape[axis]), indices[axis])
            for axis in reversed(split[1:]):
                result[axis] = self.floormod(flat, target[axis])
                flat = self.floordiv(flat, target[axis])
            result[split[0]] = flat  # below its extent wherever the element exists
        return result
