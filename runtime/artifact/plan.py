"""The plan of a compiled program: its values, where they lie in memory, and the launches that compute them.

A plan is data and has one text, `plan.json`. Whatever runs a program walks its plan: see `walk`.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from math import prod
from typing import Any, cast

from .elements import STORAGE_DTYPES
from .sizes import NO_SIZES, Size, SizeError, Sizes, Symbol, size_of_json, size_text, size_value


class PlanError(ValueError):
    """A plan that cannot be carried out. launch: the place of the launch that is wrong, where it is one."""

    def __init__(self, message: str, launch: int | None = None) -> None:
        super().__init__(message)
        self.launch = launch


@dataclass(frozen=True)
class Value:
    """A tensor of the program, dense and row-major.

    dtype:   name of its element type: f32, bf16, i1, …
    view_of: the value whose memory this is, in another shape, or which a launch that writes this has taken over; None
      for one with memory
    offset:  where it lies in the arena, in bytes; None for one with memory of its own, as inputs have
    extents: how many elements of each dimension are meant, where that differs from call to call; the others may be
      anything
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    view_of: int | None = None
    offset: int | None = None
    extents: tuple[Size, ...] | None = None

    def shape_in(self, sizes: Sizes) -> tuple[int, ...]:
        """The shape of what is meant in a call."""
        return self.shape if self.extents is None else tuple(size_value(extent, sizes) for extent in self.extents)

    @property
    def byte_count(self) -> int:
        return prod(self.shape) * STORAGE_DTYPES[self.dtype].itemsize

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(size_text, self.extents or self.shape))}]"


@dataclass(frozen=True)
class Kernel:
    """A kernel and how it is launched. It takes pointers: to the results' buffers, then to the operands'.

    entry:   the function's name in the text and in the binary
    grid:    numbers of blocks along x, y and z; with a 0 there is nothing to launch
    threads: of a block
    dynamic_shared_bytes: shared memory of a block that the launch asks for, beside what the kernel declares
    files:   kind of file (`cuda`, `ptx`, `cubin`, …) → its name in the artifact
    lines:   pairs (line, sources): from this line of the text on, counted from 1, it computes these lines of the
      user's program, places in `Plan.sources`
    """

    entry: str
    grid: tuple[int, int, int] = (1, 1, 1)
    threads: int = 1
    files: Mapping[str, str] = field(default_factory=dict[str, str])
    lines: tuple[tuple[int, tuple[int, ...]], ...] = ()
    dynamic_shared_bytes: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether its grid has no blocks, so that there is nothing to launch."""
        return 0 in self.grid

    @property
    def sources(self) -> Sequence[int]:
        """All lines of the user's program that it computes, in the order of its text."""
        return list(dict.fromkeys(place for _, each in self.lines for place in each))


@dataclass(frozen=True)
class Launch:
    """A launch: the kernel's name, and the values that it writes and reads, by their places."""

    kernel: str
    outputs: tuple[int, ...]
    inputs: tuple[int, ...]

    @property
    def buffers(self) -> tuple[int, ...]:
        """What the kernel takes, in its order."""
        return (*self.outputs, *self.inputs)


@dataclass(frozen=True)
class Plan:
    """A program: what it takes and gives, and the launches between, in order.

    function: its name. target, arch: what the kernels are for, such as `cuda` and `sm_90`
    values:   every value, made before it is used; launches and views name them by their places
    inputs, outputs: the values that it takes, and that it gives
    sources:  lines of the user's program, `model.py:7`, that kernels name
    entry:    the function that carries out all launches, where a library has one; '' where each kernel is launched
    symbols:  the sizes that calls tell
    """

    function: str
    target: str
    arch: str
    values: tuple[Value, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    kernels: Mapping[str, Kernel]
    launches: tuple[Launch, ...]
    sources: tuple[str, ...] = ()
    entry: str = ""
    symbols: tuple[Symbol, ...] = ()

    @cached_property
    def arguments(self) -> Sequence[int]:
        """The inputs that it is called with, by their places: all but the symbols, which their shapes tell."""
        held = {symbol.place for symbol in self.symbols}
        return [place for place in self.inputs if place not in held]

    def without_symbols(self, given: Sequence[Any]) -> Sequence[Any]:
        """What is given for the arguments, where the symbols may be given, too."""
        if not self.symbols or len(given) != len(self.inputs):
            return given
        named = dict(zip(self.inputs, given, strict=True))
        return [named[place] for place in self.arguments]

    def sizes(self, given: Sequence[Any]) -> Sizes:
        """The values of the symbols, told by the shapes of arrays or tensors, one for each argument or input. Raises
        `SizeError` for sizes that contradict each other or the bounds."""
        if not self.symbols:
            return NO_SIZES
        arguments = self.without_symbols(given)
        values = self._sizes({place: tuple(each.shape) for place, each in zip(self.arguments, arguments, strict=True)})
        if arguments is not given:
            told = dict(zip(self.inputs, given, strict=True))
            for each in self.symbols:
                if int(told[each.place]) != values[each.name]:
                    raise SizeError(f"{each.name} is given as {int(told[each.place])}, and is {values[each.name]}")
        return values

    def _sizes(self, given: Mapping[int, Sequence[int]]) -> Sizes:
        for place, shape in given.items():
            if len(shape) != len(self.values[place].shape):
                raise SizeError(
                    f"argument {self.values[place]} of @{self.function} is given with {len(shape)} dimensions"
                )
        values: dict[str, int] = {}
        for each in self.symbols:
            length = given[each.argument][each.axis]
            value, rest = divmod(length - each.offset, each.factor)
            if not rest and each.low <= value <= each.high:
                values[each.name] = value
                continue
            where = self._where(each.argument, each.axis, length)
            if rest:
                extent = size_text((self.values[each.argument].extents or ())[each.axis])
                raise SizeError(f"{where}, which {extent} is for no {each.name}")
            limit = f"above its bound {each.high}" if value > each.high else f"below its bound {each.low}"
            raise SizeError(f"{where}: {each.name} = {value} is {limit}")
        for place, shape in given.items():
            for axis, (length, extent) in enumerate(zip(shape, self.values[place].extents or shape, strict=True)):
                if length != (expected := size_value(extent, values)):
                    known = ", ".join(f"{name} = {value}" for name, value in values.items())
                    raise SizeError(
                        f"{self._where(place, axis, length)}: {size_text(extent)} is {expected} where {known}"
                    )
        return values

    def _where(self, place: int, axis: int, length: int) -> str:
        return f"@{self.function} is given length {length} of argument {self.values[place].name} in dimension {axis}"

    @cached_property
    def roots(self) -> Sequence[int]:
        """For each value the one whose memory it lies in: itself, or what it is a view of."""
        roots: list[int] = []
        for place, value in enumerate(self.values):
            roots.append(place if value.view_of is None else roots[value.view_of])
        return roots

    @cached_property
    def shown(self) -> Sequence[int]:
        """For each value the one whose elements it shows: itself, or what it is a view of and nothing has written."""
        written = {place for launch in self.launches for place in launch.outputs}
        shown: list[int] = []
        for place, value in enumerate(self.values):
            shown.append(place if value.view_of is None or place in written else shown[value.view_of])
        return shown

    @cached_property
    def updated_inputs(self) -> frozenset[int]:
        """The inputs in whose memory launches write. Each then holds the first output that lies there."""
        inputs = frozenset(self.inputs)
        return inputs.intersection(self.roots[place] for launch in self.launches for place in launch.outputs)

    @cached_property
    def last_uses(self) -> Mapping[int, int]:
        """Value with memory that a launch writes → the last launch that needs it, the number of launches where it is
        given back."""
        uses: dict[int, int] = {}
        for number, launch in enumerate(self.launches):
            uses.update({place: number for place in launch.outputs if self.values[place].view_of is None})
            uses.update({root: number for place in launch.inputs if (root := self.roots[place]) in uses})
        uses.update({root: len(self.launches) for place in self.outputs if (root := self.roots[place]) in uses})
        return uses

    @cached_property
    def owned_outputs(self) -> Sequence[bool]:
        """For each output whether its memory is its own, or an input's that it is the new value of: not that of another
        input, not the arena's, not an earlier output's."""
        free = {root for root in self.last_uses if self.values[root].offset is None} | self.updated_inputs
        owned: list[bool] = []
        for place in self.outputs:
            root = self.roots[place]
            owned.append(root in free)
            free.discard(root)
        return owned

    @cached_property
    def arena_bytes(self) -> int:
        """The memory that the values with an offset share."""
        return max((value.offset + value.byte_count for value in self.values if value.offset is not None), default=0)

    @cached_property
    def unplanned_bytes(self) -> int:
        """What they would take without sharing."""
        return sum(value.byte_count for value in self.values if value.offset is not None)

    def sources_of(self, kernel: Kernel, line: int | None = None) -> list[str]:
        """The lines of the user's program that a line of the kernel's text computes, or all of it."""
        if line is not None:
            found = bisect_right(kernel.lines, line, key=lambda pair: pair[0])
            return [self.sources[place] for place in kernel.lines[found - 1][1]] if found else []
        return [self.sources[place] for place in kernel.sources]

    def check(self) -> None:
        """Raise `PlanError` where the plan uses a value before it is made, or loses one that is still needed."""
        self._check_values()
        made: set[int] = set(self.inputs)
        lost: set[int] = set()
        held: dict[int, tuple[int, int]] = {}
        """The bytes [start, end) of each value in the arena that is still needed."""
        for number, launch in enumerate(self.launches):
            for place in launch.inputs:
                if self.shown[place] not in made:
                    raise PlanError(f"{launch.kernel} reads a value before it is made", number)
                if self.shown[place] in lost:
                    raise PlanError(f"{launch.kernel} reads {self.values[place].name}, which is written over", number)
            for place in launch.outputs:
                value = self.values[place]
                if place in made or (value.view_of is not None and value.view_of not in launch.inputs):
                    raise PlanError(f"{launch.kernel} writes {value.name}, which is there already", number)
                made.add(place)
                if value.view_of is not None:
                    self._take_over(number, launch, self.shown[value.view_of], lost)
                if value.offset is not None:
                    self._place(number, place, value.offset, held)
            held = {place: span for place, span in held.items() if self.last_uses[place] != number}
        if not all(self.shown[place] in made for place in self.outputs):
            raise PlanError("the program gives a value before it is made")
        if any(self.shown[place] in lost for place in self.outputs):
            raise PlanError("the program gives a value that is written over")

    def _check_values(self) -> None:
        """Raise `PlanError` for values that cannot be, and for names of what there is not."""
        for each in self.symbols:
            if each.place not in self.inputs or each.argument not in self.arguments or each.factor < 1:
                raise PlanError(f"no input holds the size {each.name}, or none tells it")
        for place, value in enumerate(self.values):
            if value.dtype not in STORAGE_DTYPES:
                raise PlanError(f"{value.name} has the unknown element type {value.dtype!r}")
            if min(value.shape, default=0) < 0 or (value.offset or 0) < 0:
                raise PlanError(f"{value.name} has a negative extent or offset")
            if value.view_of is not None:
                if not 0 <= value.view_of < place:
                    raise PlanError(f"{value.name} is a view of a value that does not stand before it")
                if self.values[value.view_of].byte_count != value.byte_count:
                    raise PlanError(f"{value.name} is a view of more or fewer bytes")
        known = range(len(self.values))
        for number, launch in enumerate(self.launches):
            if launch.kernel not in self.kernels:
                raise PlanError(f"there is no kernel {launch.kernel}", number)
            if not all(place in known for place in launch.buffers):
                raise PlanError(f"{launch.kernel} takes a value that there is not", number)
        if not all(place in known for place in (*self.inputs, *self.outputs)):
            raise PlanError("the program takes or gives a value that there is not")
        if not all(place in range(len(self.sources)) for kernel in self.kernels.values() for place in kernel.sources):
            raise PlanError("a kernel names a line of the user's program that there is not")

    def _take_over(self, number: int, launch: Launch, old: int, lost: set[int]) -> None:
        """A launch writes over `old`, which it must be given once."""
        if old in lost or [self.shown[place] for place in launch.inputs].count(old) > 1:
            raise PlanError(f"{launch.kernel} reads {self.values[old].name} and writes over it", number)
        lost.add(old)

    def _place(self, number: int, place: int, offset: int, held: dict[int, tuple[int, int]]) -> None:
        end = offset + self.values[place].byte_count
        for start, stop in held.values():
            if offset < stop and start < end:
                raise PlanError(f"bytes {offset} to {end} of the arena hold a result that is still needed", number)
        held[place] = offset, end

    def to_json(self) -> str:
        """The plan as text: a line for each value, kernel and launch."""
        parts: list[str] = []
        for name, part in _as_json(self):
            if isinstance(part, Mapping):
                items = [
                    f"  {json.dumps(key)}: {_compact(item)}" for key, item in cast("Mapping[str, Any]", part).items()
                ]
                text = "{\n" + ",\n".join(items) + "\n}" if items else "{}"
            elif name in ("values", "launches") and part:
                text = "[\n" + ",\n".join(f"  {_compact(item)}" for item in part) + "\n]"
            else:
                text = _compact(part)
            parts.append(f"{json.dumps(name)}: {text}")
        return "{\n" + ",\n".join(parts) + "\n}\n"

    @staticmethod
    def from_json(text: str | bytes) -> Plan:
        """The plan that `to_json` wrote. Raises `PlanError` for text that is none."""
        try:
            data = json.loads(text)
            plan = Plan(
                function=str(data["function"]),
                target=str(data["target"]),
                arch=str(data["arch"]),
                values=tuple(_value(item) for item in data["values"]),
                inputs=_places(data["inputs"]),
                outputs=_places(data["outputs"]),
                kernels={str(name): _kernel(item) for name, item in data["kernels"].items()},
                launches=tuple(
                    Launch(str(item["kernel"]), _places(item["outputs"]), _places(item["inputs"]))
                    for item in data["launches"]
                ),
                sources=tuple(str(source) for source in data["sources"]),
                entry=str(data["entry"]),
                symbols=tuple(Symbol(**each) for each in data.get("symbols", ())),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise PlanError(f"the text is no plan: {type(error).__name__} {error}") from error
        plan.check()
        return plan


def _as_json(plan: Plan) -> Iterator[tuple[str, Any]]:
    """The plan's fields as JSON has them; those of a value that are None are left out, and symbols where there are
    none."""
    for name, part in asdict(plan).items():
        if name == "symbols" and not part:
            continue
        if name == "values":
            part = [{key: item for key, item in value.items() if item is not None} for value in part]
        yield name, part


def _compact(part: Any) -> str:
    return json.dumps(part, ensure_ascii=False)


def _places(items: Sequence[Any]) -> tuple[int, ...]:
    return tuple(int(item) for item in items)


def _value(item: Mapping[str, Any]) -> Value:
    view_of, offset = (None if item.get(key) is None else int(item[key]) for key in ("view_of", "offset"))
    extents = tuple(map(size_of_json, item["extents"])) if "extents" in item else None
    return Value(str(item["name"]), str(item["dtype"]), _places(item["shape"]), view_of, offset, extents)


def _kernel(item: Mapping[str, Any]) -> Kernel:
    x, y, z = _places(item["grid"])
    files = {str(kind): str(name) for kind, name in item["files"].items()}
    lines = tuple((int(line), _places(sources)) for line, sources in item["lines"])
    dynamic = int(item.get("dynamic_shared_bytes", 0))
    return Kernel(str(item["entry"]), (x, y, z), int(item["threads"]), files, lines, dynamic)
