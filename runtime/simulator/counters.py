"""What a simulated kernel did: instructions by class, memory traffic, bank conflicts, by line and in total."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from .formats import is_float
from .ptx import Instruction

GLOBAL_LOADS = ("load.global", "cp.async")
GLOBAL_STORES = ("store.global",)
SHARED_ACCESSES = ("load.shared", "store.shared", "atomic.shared", "cp.async", "ldmatrix")


@dataclass
class InstructionCounters:
    """One PTX opcode on one CUDA line, added up over its instructions and all warps.

    kind: its class, such as "fp32", "integer", "load.global", "cp.async", "mma", "barrier".
    warps: times a warp issued it. requests: those with an active lane that accessed memory.
    bytes: asked for by lanes. sectors: 32-byte pieces of global memory moved, per request.
    wavefronts: passes over the 32 banks of shared memory; ideal_wavefronts: those without bank conflicts.
    """

    opcode: str
    kind: str
    line: int
    warps: int = 0
    requests: int = 0
    bytes: int = 0
    sectors: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0

    def add(self, other: InstructionCounters) -> None:
        """Add the numbers of `other`."""
        self.warps += other.warps
        self.requests += other.requests
        self.bytes += other.bytes
        self.sectors += other.sectors
        self.wavefronts += other.wavefronts
        self.ideal_wavefronts += other.ideal_wavefronts

    def times(self, factor: int) -> InstructionCounters:
        """These numbers, multiplied."""
        names = ("warps", "requests", "bytes", "sectors", "wavefronts", "ideal_wavefronts")
        return replace(self, **{name: factor * getattr(self, name) for name in names})


@dataclass
class Counters:
    """The counters of one launch, or of several added up with `+`.

    simulated_blocks: blocks that were run; fewer than `blocks` when equal ones were sampled.
    unique_load_sectors and unique_store_sectors: distinct 32-byte sectors of the arguments that were loaded
    (stored) at all, the least that any kernel with these accesses could move. `at_line` does not divide them.
    """

    blocks: int = 0
    threads: int = 0
    simulated_blocks: int = 0
    unique_load_sectors: int = 0
    unique_store_sectors: int = 0
    by_instruction: dict[tuple[int, str], InstructionCounters] = field(
        default_factory=dict[tuple[int, str], InstructionCounters], repr=False
    )

    def record(self, counters: InstructionCounters) -> None:
        """Add one instruction's numbers."""
        key = (counters.line, counters.opcode)
        if key in self.by_instruction:
            self.by_instruction[key].add(counters)
        else:
            self.by_instruction[key] = replace(counters)

    def __add__(self, other: Counters) -> Counters:
        total = Counters(
            self.blocks + other.blocks,
            self.threads + other.threads,
            self.simulated_blocks + other.simulated_blocks,
            self.unique_load_sectors + other.unique_load_sectors,
            self.unique_store_sectors + other.unique_store_sectors,
        )
        for counters in (*self.by_instruction.values(), *other.by_instruction.values()):
            total.record(counters)
        return total

    def at_line(self, *lines: int) -> Counters:
        """Only what the given CUDA lines did."""
        return self._filter(lambda counters: counters.line in lines)

    def of_kind(self, *kinds: str) -> Counters:
        """Only instructions of the given kinds."""
        return self._filter(lambda counters: counters.kind in kinds)

    def _filter(self, keep: Callable[[InstructionCounters], bool]) -> Counters:
        part = Counters(self.blocks, self.threads, self.simulated_blocks)
        for counters in self.by_instruction.values():
            if keep(counters):
                part.record(counters)
        return part

    def _of(self, kinds: tuple[str, ...]) -> Iterator[InstructionCounters]:
        return (counters for counters in self.by_instruction.values() if counters.kind in kinds)

    @property
    def lines(self) -> list[int]:
        """The CUDA lines that have instructions, in order."""
        return sorted({counters.line for counters in self.by_instruction.values()})

    @property
    def instructions(self) -> int:
        """Instructions issued, counted once a warp."""
        return sum(counters.warps for counters in self.by_instruction.values())

    @property
    def instructions_by_kind(self) -> dict[str, int]:
        """Warp instructions of each kind, most frequent first."""
        totals: dict[str, int] = {}
        for counters in self.by_instruction.values():
            totals[counters.kind] = totals.get(counters.kind, 0) + counters.warps
        return dict(sorted(totals.items(), key=lambda item: (-item[1], item[0])))

    @property
    def global_load_requests(self) -> int:
        """Warp instructions that loaded from global memory, cp.async included."""
        return sum(counters.requests for counters in self._of(GLOBAL_LOADS))

    @property
    def global_load_sectors(self) -> int:
        """Sectors that those moved."""
        return sum(counters.sectors for counters in self._of(GLOBAL_LOADS))

    @property
    def global_load_bytes(self) -> int:
        """Bytes that their lanes asked for."""
        return sum(counters.bytes for counters in self._of(GLOBAL_LOADS))

    @property
    def global_store_requests(self) -> int:
        """Warp instructions that stored to global memory."""
        return sum(counters.requests for counters in self._of(GLOBAL_STORES))

    @property
    def global_store_sectors(self) -> int:
        """Sectors that those moved."""
        return sum(counters.sectors for counters in self._of(GLOBAL_STORES))

    @property
    def global_store_bytes(self) -> int:
        """Bytes that their lanes stored."""
        return sum(counters.bytes for counters in self._of(GLOBAL_STORES))

    @property
    def shared_wavefronts(self) -> int:
        """Passes over shared memory of loads, stores, cp.async and ldmatrix."""
        return sum(counters.wavefronts for counters in self._of(SHARED_ACCESSES))

    @property
    def ideal_shared_wavefronts(self) -> int:
        """The passes that these accesses would take without bank conflicts."""
        return sum(counters.ideal_wavefronts for counters in self._of(SHARED_ACCESSES))

    @property
    def bank_conflicts(self) -> int:
        """Extra passes over shared memory."""
        return self.shared_wavefronts - self.ideal_shared_wavefronts

    @property
    def barriers(self) -> int:
        """Block barriers, counted once a warp."""
        return sum(counters.warps for counters in self._of(("barrier",)))

    @property
    def atomics(self) -> int:
        """Atomic updates of global memory, counted once a warp."""
        return sum(counters.warps for counters in self._of(("atomic.global", "atomic.generic")))

    @property
    def async_copies(self) -> int:
        """cp.async instructions, counted once a warp."""
        return sum(counters.warps for counters in self._of(("cp.async",)))

    @property
    def async_copy_controls(self) -> int:
        """Commits of and waits for groups of cp.async, counted once a warp."""
        return sum(counters.warps for counters in self._of(("cp.async.wait",)))

    @property
    def ldmatrix(self) -> int:
        """Loads of matrices from shared memory, counted once a warp."""
        return sum(counters.warps for counters in self._of(("ldmatrix",)))

    @property
    def shuffles(self) -> int:
        """Shuffles, counted once a warp."""
        return sum(counters.warps for counters in self._of(("shuffle",)))

    @property
    def mma(self) -> int:
        """Tensor-core instructions, counted once a warp."""
        return sum(counters.warps for counters in self._of(("mma",)))


_KINDS = {
    "bra": "branch",
    "brx": "branch",
    "call": "branch",
    "ret": "branch",
    "exit": "branch",
    "bar": "barrier",
    "barrier": "barrier",
    "shfl": "shuffle",
    "vote": "vote",
    "match": "vote",
    "redux": "vote",
    "activemask": "vote",
    "elect": "vote",
    "ldmatrix": "ldmatrix",
    "mma": "mma",
    "mov": "move",
    "cvta": "move",
    "cvt": "convert",
    "setp": "compare",
    "set": "compare",
    "testp": "compare",
    "selp": "select",
    "slct": "select",
    "membar": "fence",
    "fence": "fence",
    "nanosleep": "fence",
}
_SPECIAL_FUNCTIONS = ("ex2", "lg2", "sin", "cos", "tanh", "rcp", "rsqrt", "sqrt", "div")
_MEMORY = {"ld": "load", "ldu": "load", "st": "store", "atom": "atomic", "red": "atomic"}


def kind_of(instruction: Instruction) -> str:
    """The class in which an instruction is counted."""
    name, type_ = instruction.name, instruction.type
    if name in _MEMORY:
        spaces = ("global", "shared", "local", "const", "param")
        space = next((s for s in spaces if any(m.split("::")[0] == s for m in instruction.modifiers)), "generic")
        return f"{_MEMORY[name]}.{space}"
    if name == "cp":
        return "cp.async" if instruction.has("shared", "shared::cta") else "cp.async.wait"
    if name == "bar" and instruction.has("warp"):
        return "warp barrier"
    if name in _KINDS:
        return _KINDS[name]
    if type_ == "pred":
        return "predicate"
    if is_float(type_) if type_ else False:
        if name in _SPECIAL_FUNCTIONS:
            return "special"
        return {"f64": "fp64", "f32": "fp32", "f32x2": "fp32"}.get(type_, "fp16")
    return "integer"
