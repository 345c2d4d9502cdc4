"""Matrix instructions: what each multiplies, and which element of a matrix which lane holds in which register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Numbers = Any
"""An int or a numpy array of them."""

Place = tuple[Numbers, Numbers]


@dataclass(frozen=True)
class Atom:
    """One instruction, D = C + A · B, of a warp: A is m × k, B is k × n, C and D are m × n.

    A lane holds a fragment of each matrix, in registers of 32 bits. Places are those of the PTX ISA ("Matrix fragments
    for mma").

    pack: elements of A and B in one register, neighbours along k. elements: the types that they may have, by name;
      f32 counts as TF32, its last 13 bits as 0. C and D are f32.
    """

    m: int
    n: int
    k: int
    pack: int
    elements: tuple[str, ...]

    @property
    def registers(self) -> tuple[int, int, int]:
        """Elements of A, of B and of C that a lane holds."""
        return self.m * self.k // 32, self.k * self.n // 32, self.m * self.n // 32

    def place_in_a(self, lane: Numbers, register: Numbers) -> Place:
        """Row and column in A, m × k: a fragment is (halves of k) × (halves of m) × pack."""
        row = lane // 4 + 8 * (register // self.pack % 2)
        return row, self.pack * (lane % 4 + 4 * (register // (2 * self.pack))) + register % self.pack

    def place_in_b(self, lane: Numbers, register: Numbers) -> Place:
        """Row and column in B, k × n: a fragment is (halves of k) × pack."""
        return self.pack * (lane % 4 + 4 * (register // self.pack)) + register % self.pack, lane // 4

    def place_in_c(self, lane: Numbers, register: Numbers) -> Place:
        """Row and column in C and D, m × n: a fragment is (halves of m) × (2 neighbours along n)."""
        return lane // 4 + 8 * (register // 2), 2 * (lane % 4) + register % 2


ATOMS: dict[str, Atom] = {
    "m16n8k16": Atom(16, 8, 16, 2, ("f16", "bf16")),
    "m16n8k8": Atom(16, 8, 8, 1, ("f32",)),
}
"""Instructions by name."""

MATRIX_ROWS, MATRIX_ROW_BYTES = 8, 16
"""Rows of the matrices that ldmatrix loads, and bytes of a row, which lie side by side. A lane gets 4 bytes of each."""


def atom_for(element: str) -> str:
    """The name of the instruction that multiplies elements of this type; `KeyError` when there is none."""
    for name, atom in ATOMS.items():
        if element in atom.elements:
            return name
    raise KeyError(element)


ROW_LANES, COLUMN_LANES = 8, 4
"""Lanes along the rows and along the columns of C: lane = 4 · row's + column's, for every atom."""


def fragment_rank(shape: Sequence[int], registers: int) -> int | None:
    """How many dimensions at the end of a shape hold one fragment of so many elements; None when none do."""
    count = 1
    for rank, extent in enumerate(reversed(shape), 1):
        count *= extent
        if count == registers:
            return rank
    return None
