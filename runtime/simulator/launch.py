"""Run a kernel: arguments in, simulated blocks, results back into the arrays, counters out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from .compiler import Code, compile_kernel
from .counters import Counters, InstructionCounters, kind_of
from .errors import BarrierFault, Fault, SimulationError
from .formats import Array
from .global_shadow import GlobalShadow
from .grid import Launch
from .machine import Machine
from .memory import Buffer, GlobalMemory, as_bytes
from .ptx import Variable
from .sampling import sample_spans

CHUNK_LANES = 32768  # blocks run together in chunks of about so many lanes, so that registers stay in cache
CHUNK_BYTES = 1 << 26  # of shared and local memory, with the records of the race check
MAX_THREADS = 1024


def simulate(
    ptx: str,
    grid: tuple[int, int, int] | tuple[int, int] | tuple[int] | int,
    block: tuple[int, int, int] | tuple[int, int] | tuple[int] | int,
    arguments: Sequence[np.ndarray[Any, Any] | np.generic | int | float | bytes | None],
    *,
    kernel: str | None = None,
    check_races: bool = True,
    count: bool = True,
    source: str | None = None,
    shared_bytes: int = 0,
    chunk_lanes: int = CHUNK_LANES,
    sample: bool = False,
) -> Counters:
    """Run a kernel of a PTX module and return what it counted. Results are written back into the arrays.

    arguments: contiguous arrays for pointers (None for a null one), numbers for scalars, `bytes` for structures.
    A scalar is a number, not an array of no dimensions: that is an array of one element.
    An array that is not writeable must not be stored to; the same array may be passed twice.
    kernel: may be left out if the module has only one. shared_bytes: dynamic shared memory.
    check_races: also check for races and for reads of uninitialised shared memory; lockstep execution hides
    them otherwise. Bounds, alignment and barriers are always checked.
    source: the CUDA text, so that messages quote its lines.
    sample: of a large grid, run a few groups of blocks; if they all count the same, each instruction's numbers are
      multiplied, else every block is run. Only those blocks' results are written; `simulated_blocks` of the counters
      says how many ran, and the unique sectors are those that they touched.

    Raises SimulationError when the kernel does something wrong, UnsupportedPtxError for PTX that is not
    executed, TypeError or ValueError for arguments that do not fit the kernel.
    """
    code = compile_kernel(ptx, kernel)
    launch = Launch(
        _dimensions(grid, "grid"),
        _dimensions(block, "block"),
        code.static_shared_bytes + shared_bytes,
        check_races,
        count,
    )
    if launch.threads_per_block > MAX_THREADS:
        raise ValueError(f"a block has at most {MAX_THREADS} threads, not {launch.threads_per_block}")
    spans = sample_spans(launch.blocks) if sample else [range(launch.blocks)]
    run = _run(code, launch, arguments, frozenset(), chunk_lanes, source, spans)
    if not run.is_uniform:
        spans = [range(launch.blocks)]
        run = _run(code, launch, arguments, frozenset(), chunk_lanes, source, spans)
    both = frozenset(buffer.owner for buffer in run.memory.buffers if (buffer.loaded & buffer.stored).any())
    if both and check_races and not code.synchronises_blocks:
        # Judging loads is slow, and only needed where there are stores too, which is known now.
        run = _run(code, launch, arguments, both, chunk_lanes, source, spans)
    for array, buffer in run.arrays:
        if array.flags.writeable:
            as_bytes(array)[:] = buffer.data[: buffer.size]
    return run.counters()


@dataclass
class _Run:
    """A finished run of some blocks. stats: of each span, which are equally long if there are several."""

    launch: Launch
    spans: Sequence[range]
    stats: list[list[InstructionCounters]]
    memory: GlobalMemory
    arrays: list[tuple[np.ndarray[Any, Any], Buffer]]

    @property
    def is_uniform(self) -> bool:
        """Whether all spans count the same."""
        return all(stats == self.stats[0] for stats in self.stats[1:])

    def counters(self) -> Counters:
        blocks = self.launch.blocks
        counters = Counters(blocks, blocks * self.launch.threads_per_block, sum(map(len, self.spans)))
        if self.launch.count:
            counters.unique_load_sectors = sum(int(buffer.loaded.sum()) for _, buffer in self.arrays)
            counters.unique_store_sectors = sum(int(buffer.stored.sum()) for _, buffer in self.arrays)
        for instruction in self.stats[0]:
            if instruction.warps:
                counters.record(instruction.times(blocks // len(self.spans[0])))
        return counters


def _run(
    code: Code,
    launch: Launch,
    arguments: Sequence[Any],
    judge_loads_of: frozenset[str],
    chunk_lanes: int,
    source: str | None,
    spans: Sequence[range],
) -> _Run:
    """Run the blocks of the spans on copies of the arguments.

    judge_loads_of: owners of the buffers whose loads are judged.
    """
    memory = GlobalMemory()
    for variable in code.program.module_variables:
        content = variable.initial + bytes(variable.size - len(variable.initial))
        memory.add(variable.name, content, is_writable=variable.space == "global")
    bank, arrays = _bind(code, arguments, memory)
    for buffer in memory.buffers:
        if buffer.owner in judge_loads_of:
            buffer.shadow = GlobalShadow(len(buffer.data), code.store_granule, judges_loads=True)
    per_chunk = _blocks_per_chunk(code, launch, chunk_lanes)
    epoch = 1
    all_stats: list[list[InstructionCounters]] = []
    with np.errstate(all="ignore"):
        for span in spans:
            stats = [InstructionCounters(i.opcode, kind_of(i), i.line) for i in code.instructions]
            all_stats.append(stats)
            for first in range(span.start, span.stop, per_chunk):
                machine = Machine(code, launch, memory, bank, stats, first, min(per_chunk, span.stop - first), epoch)
                try:
                    machine.run()
                except Fault as fault:
                    raise _explain(fault, machine, source) from None
                epoch = machine.epoch + 1
    return _Run(launch, spans, all_stats, memory, arrays)


def _blocks_per_chunk(code: Code, launch: Launch, chunk_lanes: int) -> int:
    """As many blocks as give the lanes, but not more than their shared and local memory have room for."""
    record_bytes = 16 if launch.check_races else 0
    shared = launch.shared_bytes * (1 + record_bytes / code.shared_granule)
    local = code.local_stride * launch.padded_threads
    fitting = int(CHUNK_BYTES / max(1, shared + local))
    return max(1, min(chunk_lanes // launch.padded_threads, fitting))


def _dimensions(value: tuple[int, ...] | int, what: str) -> tuple[int, int, int]:
    given = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(given) <= 3 or any(extent < 1 for extent in given):
        raise ValueError(f"{what} must be one to three positive extents, not {value}")
    x, y, z = (*given, 1, 1)[:3]
    return int(x), int(y), int(z)


# -- arguments --------------------------------------------------------------------------------------------------


def _bind(
    code: Code, arguments: Sequence[Any], memory: GlobalMemory
) -> tuple[bytes, list[tuple[np.ndarray[Any, Any], Buffer]]]:
    """The kernel's parameter bank, and the arrays with the buffers that hold their copies."""
    formals = code.program.parameters
    if len(arguments) != len(formals):
        raise TypeError(f"kernel {code.program.name} takes {len(formals)} arguments, {len(arguments)} were given")
    bank = bytearray(code.program.parameter_bytes)
    arrays: list[tuple[np.ndarray[Any, Any], Buffer]] = []
    for number, ((formal, offset), argument) in enumerate(zip(formals, arguments, strict=True)):
        what = f"argument {number}"
        if isinstance(argument, np.ndarray):
            array = cast("np.ndarray[Any, Any]", argument)
            if formal.size != 8:
                raise TypeError(f"{what} of {code.program.name} is a {formal.type} parameter, not a pointer")
            data = _bind_array(array, what, arrays, memory).base.to_bytes(8, "little")
        elif argument is None:
            data = bytes(8)
        else:
            data = _scalar_bytes(argument, formal, f"{what} of {code.program.name}")
        bank[offset : offset + len(data)] = data
    return bytes(bank), arrays


def _bind_array(
    array: np.ndarray[Any, Any], what: str, arrays: list[tuple[np.ndarray[Any, Any], Buffer]], memory: GlobalMemory
) -> Buffer:
    if not array.flags.c_contiguous:
        raise TypeError(f"{what} is not contiguous: pass numpy.ascontiguousarray(array)")
    for other, buffer in arrays:
        if np.shares_memory(array, other):
            if array.ctypes.data != other.ctypes.data or array.nbytes != other.nbytes:
                raise TypeError(f"{what} overlaps another argument without being the same array")
            return buffer
    shape = "×".join(map(str, array.shape))
    owner = f"{what} ({array.dtype}[{shape}], {array.nbytes} bytes)"
    buffer = memory.add(owner, as_bytes(array), is_writable=array.flags.writeable)
    arrays.append((array, buffer))
    return buffer


def _scalar_bytes(value: Any, formal: Variable, what: str) -> bytes:
    """A scalar in the parameter's type, or a structure's bytes."""
    if isinstance(value, bytes):
        if len(value) != formal.size:
            raise TypeError(f"{what} has {formal.size} bytes, {len(value)} were given")
        return value
    scalar: Array = np.asarray(value)
    if scalar.dtype.kind not in "biuf":
        raise TypeError(f"{what}: cannot pass {type(value).__name__}")
    if formal.type[0] == "f":
        return scalar.astype(f"f{formal.size}").tobytes()
    if isinstance(value, np.generic) and scalar.nbytes == formal.size:
        return scalar.tobytes()  # also a 16-bit float for a parameter of untyped bits
    if scalar.dtype.kind == "f":
        raise TypeError(f"{what} is a {formal.type} parameter; {value!r} is not an integer")
    number, bits = int(scalar), 8 * formal.size
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise TypeError(f"{what} is a {formal.type} parameter; {number} does not fit")
    return (number & (1 << bits) - 1).to_bytes(formal.size, "little")


# -- messages ---------------------------------------------------------------------------------------------------


def _explain(fault: Fault, machine: Machine, source: str | None) -> SimulationError:
    """The error with where it happened: kernel, line, instruction, thread, and the access it conflicts with."""
    code = machine.code
    instruction = code.instructions[machine.pc]
    lines = source.splitlines() if source is not None else []
    out = [f"kernel {code.program.name}{_at_line(instruction.line)}: {fault.kind}"]
    out += _quote(instruction.line, lines)
    out.append(f"  PTX: {instruction.text}")
    if (lane := _lane_of(fault, machine)) is not None:
        detail = f": {fault.detail}" if fault.detail else ""
        out.append(f"  {machine.name_lane(lane)}{detail}")
    if fault.other is not None:
        index, what = fault.other
        other = code.instructions[index]
        out.append(f"  {what}{_at_line(other.line)}, PTX: {other.text}")
        out += _quote(other.line, lines)
    return SimulationError("\n".join(out), fault.kind, instruction.line or None)


def _lane_of(fault: Fault, machine: Machine) -> int | None:
    if fault.lane is None or isinstance(fault, BarrierFault):
        return fault.lane
    active: Array | None = machine.active()
    return fault.lane if active is None else int(active[fault.lane])


def _at_line(line: int) -> str:
    return f", line {line}" if line else ""


def _quote(line: int, lines: list[str]) -> list[str]:
    return [f"  {line} | {lines[line - 1].strip()}"] if 0 < line <= len(lines) else []
