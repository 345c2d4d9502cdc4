"""What the simulator reports."""

from __future__ import annotations


class SimulationError(Exception):
    """A kernel did something wrong while it ran: a race, an access out of bounds, a barrier divergence …

    The text names the kernel, the CUDA line, the PTX instruction and a thread. `line` is the line of the
    CUDA text (None when the PTX was compiled without line information), `kind` what went wrong in a few words.
    """

    def __init__(self, message: str, kind: str, line: int | None):
        super().__init__(message)
        self.kind = kind
        self.line = line


class UnsupportedPtxError(Exception):
    """PTX that the simulator does not execute. The text names the instruction and its CUDA line."""


class Fault(Exception):
    """Raised inside the interpreter; the machine adds where it happened and raises SimulationError.

    lane: the lane of the chunk that is to blame, if one is. detail: what to add about it.
    other: index of the instruction that the fault conflicts with, and what that one did.
    """

    def __init__(self, kind: str, lane: int | None = None, detail: str = "", other: tuple[int, str] | None = None):
        super().__init__(kind)
        self.kind = kind
        self.lane = lane
        self.detail = detail
        self.other = other


class BarrierFault(Fault):
    """A barrier that not all threads reach. `lane` is a lane of the chunk, not a position in the mask."""

    def __init__(self, lane: int, detail: str, other: tuple[int, str] | None = None, kind: str = "barrier divergence"):
        super().__init__(kind, lane, detail, other)
