"""`#tile.schedule`: how each axis of a kernel is carried out. Policy writes it; passes carry it out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from .atoms import ATOMS, COLUMN_LANES, ROW_LANES
from .axes import THREAD_KINDS, AxisKind, parse_axis_kind, verify_axis_name

_NO_AXES = {
    "stage": "the staged buffers",
    "min_blocks": "the least number of blocks of a multiprocessor",
    "group": "the group of blocks",
    "align": "the axis whose rows are aligned",
    "slots": "the axis of which threads have slots",
}

_BUFFER_NAME = re.compile(r"[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*")


@dataclass(frozen=True)
class Factor:
    """`8 thread`: an extent and how its steps are carried out.

    of: `8 lane of l`: the axis whose threads these are, too: its factor of that extent and kind. Nothing may vary with
    both axes.
    """

    extent: int
    kind: AxisKind
    of: str | None = None

    def __str__(self) -> str:
        text = f"{self.extent} {self.kind.value}"
        return text if self.of is None else f"{text} of {self.of}"


@dataclass(frozen=True)
class Staging:
    """`%x buffers 2 async pad 4`: a buffer whose slabs are copied to shared memory first.

    over: the reduced axis in whose loops the buffer's reads are staged; in those of all, and behind them, if None.
    prepared: what is computed of each of a slab's elements is computed once for the block, and takes its place.
    reread: matrices that are the same in all steps are read in each, not held in registers.
    buffers: slabs held at once; with more than one, the next is copied while one is used.
    asynchronous: copied by cp.async.
    along: the dimension of the buffer along which a slab's elements are neighbours, if not the last.
    pad: elements added to each row of a slab, so that rows begin in different banks.
    swizzle: elements of the units that are permuted in each row of a slab (`#tile.swizzle`) instead; 0 for none.
    """

    buffer: str
    buffers: int = 1
    asynchronous: bool = False
    pad: int = 0
    swizzle: int = 0
    along: int | None = None
    over: str | None = None
    prepared: bool = False
    reread: bool = False

    def __str__(self) -> str:
        parts = [f"%{self.buffer}"]
        if self.over is not None:
            parts.append(f"over {self.over}")
        if self.prepared:
            parts.append("prepared")
        if self.reread:
            parts.append("reread")
        if self.buffers != 1:
            parts.append(f"buffers {self.buffers}")
        if self.asynchronous:
            parts.append("async")
        if self.along is not None:
            parts.append(f"along {self.along}")
        if self.pad:
            parts.append(f"pad {self.pad}")
        if self.swizzle:
            parts.append(f"swizzle {self.swizzle}")
        return " ".join(parts)


@dataclass(frozen=True)
class BlockGroup:
    """`i 8`: so many blocks that are neighbours along an axis follow each other, whatever block axes stand behind it.

    Blocks that run at the same time then share more of what they read: 64 blocks of a product are 8 rows and 8 columns
    of its tiles, not one row and 64 columns.
    """

    axis: str
    blocks: int

    def __str__(self) -> str:
        return f"{self.axis} {self.blocks}"


@dataclass(frozen=True)
class Alignment:
    """`j 8`: positions along an axis are counted from the last multiple of so many elements of the buffers that is not
    behind the begin of a row.

    Rows of odd length begin anywhere. What neighbouring threads read and write at once then is whole sectors, of rows
    that begin alike; the first positions are in front of the row, and are masked as those behind its end are.
    """

    axis: str
    elements: int

    def __str__(self) -> str:
        return f"{self.axis} {self.elements}"


@dataclass(frozen=True)
class Slots:
    """`j 7`: of the first factor of an axis, its registers, the last 7 steps lie in shared memory instead, in slots
    that each thread has for itself: rows that registers alone do not hold are still read once."""

    axis: str
    steps: int

    def __str__(self) -> str:
        return f"{self.axis} {self.steps}"


@dataclass(frozen=True)
class MatrixFactors:
    """The axes whose innermost factors are one matrix instruction: the rows and columns of C, and what is reduced."""

    atom: str
    row: str
    column: str
    reduced: str


Axes = tuple[tuple[str, tuple[Factor, ...]], ...]
"""(axis, its factors, outermost first), in the order in which threads and blocks are numbered."""


def schedule_text(
    axes: Iterable[tuple[str, tuple[Factor, ...]]],
    stage: tuple[Staging, ...] | None,
    min_blocks: int | None,
    group: BlockGroup | None,
    align: Alignment | None,
    slots: Slots | None,
) -> str:
    """The entries of a schedule as they are written; what is None is left out."""
    parts = [f"{axis} = {' * '.join(map(str, factors))}" for axis, factors in axes]
    if stage is not None:
        parts.append(f"stage = [{', '.join(map(str, stage))}]")
    if min_blocks is not None:
        parts.append(f"min_blocks = {min_blocks}")
    if group is not None:
        parts.append(f"group = {group}")
    if align is not None:
        parts.append(f"align = {align}")
    if slots is not None:
        parts.append(f"slots = {slots}")
    return ", ".join(parts)


@dataclass(frozen=True)
class Schedule:
    """Factors of each axis, outermost first, what is staged, and how many blocks a multiprocessor holds.

    The position along an axis is mixed radix over its factors, so the order of factors is the layout. A product of
    extents
    above the axis's extent makes the axis ragged: the rest is masked. Threads are numbered over all warp, thread and
    lane
    factors in the order in which they stand here, the last the fastest; blocks likewise over block factors.

    `i = … * 16 mma, j = … * 8 mma, k = … * 16 mma` are the rows, the columns and the reduced axis of one matrix
    instruction: the last is the reduced one. A warp's lanes are spread over its accumulators, as the innermost digit of
    the threads' number.
    `i = … * 16 mma, l = … * 8 mma, k = … * 16 mma, d = … * 16 mma` are a chain of two products: what the first sums
    along d has rows i and columns k, and is summed along k by the second, with rows i and columns l. The same lanes
    hold columns of both.

    min_blocks: blocks that a multiprocessor holds at least: none of their threads gets more registers than that leaves.
    None leaves it to the compiler of the CUDA text, which prefers more blocks to more registers.
    group: blocks that are numbered before others; the axis has one block factor, a multiple of them.
    align: the axis whose positions are counted from a multiple of elements in front of its rows.
    slots: the axis of whose registers the last steps lie in shared memory.
    """

    axes: Axes
    stage: tuple[Staging, ...] = ()
    min_blocks: int | None = None
    group: BlockGroup | None = None
    align: Alignment | None = None
    slots: Slots | None = None

    def factors(self, axis: str) -> tuple[Factor, ...]:
        """Factors of the axis; raises `KeyError` when the schedule does not have it."""
        return dict(self.axes)[axis]

    def of_kinds(self, kinds: Sequence[AxisKind]) -> list[tuple[str, int, Factor]]:
        """(axis, place among its factors, factor) of the given kinds, in the order of the text."""
        return [
            (axis, place, factor)
            for axis, factors in self.axes
            for place, factor in enumerate(factors)
            if factor.kind in kinds
        ]

    @property
    def matrix(self) -> MatrixFactors | None:
        """The axes of the one matrix instruction, or of the last of a chain; None without any, or when the factors are
        those of no instruction."""
        return self.matrices[-1] if self.matrices else None

    @property
    def matrices(self) -> tuple[MatrixFactors, ...]:
        """The axes that matrix instructions go over, product by product: of two, the first computes rows of A of the
        second. Empty without them, or when the factors are those of no instruction."""
        factors = self.of_kinds((AxisKind.MMA,))
        if len({axis for axis, _, _ in factors}) != len(factors) or len(factors) not in (3, 4):
            return ()
        (first, _, f), (second, _, s), (reduced, _, r), *inner = factors
        for name, atom in ATOMS.items():
            sides = {(atom.m, atom.n): (first, second), (atom.n, atom.m): (second, first)}
            if r.extent != atom.k or (f.extent, s.extent) not in sides:
                continue
            row, column = sides[f.extent, s.extent]
            last = MatrixFactors(name, row, column, reduced)
            if not inner:
                return (last,)
            ((depth, _, d),) = inner
            # Neighbours along its columns are in one lane, as neighbours along K of A are.
            if d.extent == atom.k and atom.pack == 2:
                return MatrixFactors(name, row, reduced, depth), last
        return ()

    @property
    def chain(self) -> tuple[str, str] | None:
        """(axis, columns) where the second of two products sums along the axis what the first computes with it as its
        columns: those of the second are held by the same lanes, or the same registers."""
        matrices = self.matrices
        if len(matrices) == 2:
            return matrices[0].column, matrices[1].column
        shared = [(axis, factor.of) for axis, _, factor in self.of_kinds((AxisKind.REGISTER,)) if factor.of is not None]
        return shared[0] if shared else None

    @property
    def chained(self) -> str | None:
        """The axis along which the second of two matrix products sums what the first computes."""
        matrices = self.matrices
        return matrices[0].column if len(matrices) == 2 else None

    @property
    def has_whole_groups(self) -> bool:
        """Whether the axis of the group, if there is one, has one block factor, of whole groups."""
        if self.group is None:
            return True
        blocks = [factor.extent for axis, _, factor in self.of_kinds((AxisKind.BLOCK,)) if axis == self.group.axis]
        return len(blocks) == 1 and blocks[0] % self.group.blocks == 0

    def shared(self, factor: Factor) -> tuple[str, int] | None:
        """The axis, and the place among its factors, of the threads that a factor `of` another axis shares, or of the
        innermost registers; None where there is not one such factor."""
        alike = [
            (axis, place)
            for axis, place, other in self.of_kinds((factor.kind,))
            if axis == factor.of and other == replace(factor, of=None)
        ]
        if factor.kind is AxisKind.REGISTER:
            alike = alike[-1:]
        return alike[0] if len(alike) == 1 else None

    def spread(self) -> Schedule:
        """The schedule with the rows and columns of a matrix instruction as the lanes and registers of C.

        Of two products in a chain, the columns of the first are held as A of the second is: two instructions wide.
        """
        matrix = self.matrix
        if matrix is None:
            return self
        columns = Factor(COLUMN_LANES, AxisKind.LANE), Factor(2, AxisKind.REGISTER)
        parts: dict[str, tuple[Factor, ...]] = {
            matrix.row: (Factor(2, AxisKind.REGISTER), Factor(ROW_LANES, AxisKind.LANE)),
            matrix.column: columns,
        }
        if self.chained is not None:
            shared = (replace(factor, of=matrix.column) for factor in columns)
            parts[self.chained] = (Factor(2, AxisKind.REGISTER), *shared)
        axes: list[tuple[str, tuple[Factor, ...]]] = []
        for axis, factors in self.axes:
            spread: list[Factor] = []
            for factor in factors:
                spread += parts[axis] if axis in parts and factor.kind is AxisKind.MMA else (factor,)
            axes.append((axis, tuple(spread)))
        return replace(self, axes=tuple(axes))

    def threads(self) -> list[tuple[str, Factor]]:
        """(axis, factor) of the threads of a block in the order in which they are numbered, the last the fastest.

        What shares the threads of another axis is left out.
        """
        threads = [(axis, factor) for axis, _, factor in self.of_kinds(THREAD_KINDS) if factor.of is None]
        if (matrix := self.matrix) is not None:
            threads.append((matrix.row, Factor(ROW_LANES, AxisKind.LANE)))
            threads.append((matrix.column, Factor(COLUMN_LANES, AxisKind.LANE)))
        return threads

    def __str__(self) -> str:
        return schedule_text(self.axes, self.stage or None, self.min_blocks, self.group, self.align, self.slots)


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """`#tile.schedule<i = 2 block * 8 thread, k = 2 loop * 32 loop, stage = [%x buffers 2 async], min_blocks = 4>`"""

    name = "tile.schedule"

    def verify(self) -> None:
        names = [axis for axis, _ in self.data.axes]
        if len(names) != len(set(names)):
            raise VerifyException("an axis stands twice in the schedule")
        for axis, factors in self.data.axes:
            verify_axis_name(axis)
            if axis in _NO_AXES:
                raise VerifyException(f"no axis is called `{axis}`: in a schedule that word begins {_NO_AXES[axis]}")
            if not factors:
                raise VerifyException(f"axis {axis} has no factors")
            for factor in factors:
                if factor.extent < 1:
                    raise VerifyException(f"axis {axis} has a factor of {factor.extent}")
                if factor.kind is AxisKind.PARALLEL:
                    raise VerifyException(f"axis {axis}: `parallel` is no choice; a factor says how it is carried out")
        if self.data.min_blocks is not None and self.data.min_blocks < 1:
            raise VerifyException("min_blocks is at least 1")
        if self.data.group is not None and self.data.group.blocks < 1:
            raise VerifyException("a group has at least 1 block")
        if self.data.slots is not None and self.data.slots.steps < 1:
            raise VerifyException("at least 1 step lies in slots")
        if self.data.align is not None and self.data.align.elements < 1:
            raise VerifyException("rows are aligned to at least 1 element")
        staged = [staging.buffer for staging in self.data.stage]
        if len(staged) != len(set(staged)):
            raise VerifyException("a buffer is staged twice")
        for staging in self.data.stage:
            if _BUFFER_NAME.fullmatch(staging.buffer) is None:
                raise VerifyException(f"{staging.buffer!r} is no name of a buffer")
            if staging.buffers < 1 or staging.pad < 0 or staging.swizzle < 0:
                raise VerifyException(f"%{staging.buffer}: buffers is at least 1, pad and swizzle are not negative")
            if staging.over is not None:
                verify_axis_name(staging.over)
            if staging.along is not None and (staging.along < 0 or staging.swizzle):
                raise VerifyException(f"%{staging.buffer}: `along` is a dimension, of slabs that are not swizzled")
            if staging.pad and staging.swizzle:
                raise VerifyException(f"%{staging.buffer}: rows are padded or swizzled, not both")

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        return parse_entries(parser, parser.Delimiter.ANGLE).schedule

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


@dataclass(frozen=True)
class Entries:
    """What the text of a schedule mentions: the axes with their factors, and what else it has; None for the rest."""

    axes: Axes
    stage: tuple[Staging, ...] | None
    min_blocks: int | None
    group: BlockGroup | None
    align: Alignment | None
    slots: Slots | None

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.axes, self.stage or (), self.min_blocks, self.group, self.align, self.slots)


def parse_entries(parser: AttrParser, delimiter: AttrParser.Delimiter) -> Entries:
    """The entries of a schedule."""
    axes: list[tuple[str, tuple[Factor, ...]]] = []
    stage: list[Staging] | None = None
    min_blocks: int | None = None
    group: BlockGroup | None = None
    align: Alignment | None = None
    slots: Slots | None = None

    def entry() -> None:
        nonlocal stage, min_blocks, group, align, slots
        name = parser.parse_identifier()
        parser.parse_punctuation("=")
        if name == "stage":
            staged = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_staging(parser))
            stage = [*(stage or ()), *staged]
            return
        if name == "min_blocks":
            if min_blocks is not None:
                parser.raise_error("min_blocks stands twice")
            min_blocks = parser.parse_integer(allow_boolean=False, allow_negative=False)
            return
        if name == "group":
            if group is not None:
                parser.raise_error("group stands twice")
            group = BlockGroup(parser.parse_identifier(), parser.parse_integer(allow_boolean=False))
            return
        if name == "align":
            if align is not None:
                parser.raise_error("align stands twice")
            align = Alignment(parser.parse_identifier(), parser.parse_integer(allow_boolean=False))
            return
        if name == "slots":
            if slots is not None:
                parser.raise_error("slots stands twice")
            slots = Slots(parser.parse_identifier(), parser.parse_integer(allow_boolean=False))
            return
        factors = [_parse_factor(parser)]
        while parser.parse_optional_punctuation("*"):
            factors.append(_parse_factor(parser))
        axes.append((name, tuple(factors)))

    parser.parse_comma_separated_list(delimiter, entry)
    return Entries(tuple(axes), None if stage is None else tuple(stage), min_blocks, group, align, slots)


def _parse_factor(parser: AttrParser) -> Factor:
    extent = parser.parse_integer(allow_boolean=False, allow_negative=False)
    kind = parse_axis_kind(parser)
    return Factor(extent, kind, parser.parse_identifier() if parser.parse_optional_keyword("of") else None)


def _parse_staging(parser: AttrParser) -> Staging:
    buffer = _parse_buffer_name(parser)
    over = parser.parse_identifier() if parser.parse_optional_keyword("over") else None
    prepared = parser.parse_optional_keyword("prepared") is not None
    reread = parser.parse_optional_keyword("reread") is not None
    buffers = parser.parse_integer() if parser.parse_optional_keyword("buffers") else 1
    asynchronous = parser.parse_optional_keyword("async") is not None
    along = parser.parse_integer() if parser.parse_optional_keyword("along") else None
    pad = parser.parse_integer() if parser.parse_optional_keyword("pad") else 0
    swizzle = parser.parse_integer() if parser.parse_optional_keyword("swizzle") else 0
    return Staging(buffer, buffers, asynchronous, pad, swizzle, along, over, prepared, reread)


def _parse_buffer_name(parser: AttrParser) -> str:
    # The token is an SSA name, but inside an attribute it names a kernel argument.
    token = parser._current_token  # pyright: ignore[reportPrivateUsage]
    if not token.text.startswith("%"):
        parser.raise_error("expected the name of a buffer, as in %x")
    parser._consume_token()  # pyright: ignore[reportPrivateUsage]
    return token.text[1:]
