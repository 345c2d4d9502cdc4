"""Values of tile form in registers: what is kept in an array, and what is computed again where it is used."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import prod

from xdsl.dialects.builtin import IndexType, MemRefType, bf16, f16, f32
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ....dialects.gpu_kernel import AllocOp, ForOp, LoadOp, PackOp, StoreOp
from ....dialects.layouts import REGISTER
from ....dialects.tile import AxisOp, ReadOp
from ....dialects.types import element_count, element_of, index, is_bool, shape_of, with_element
from ....dialects.uop import AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, constant_value
from ....rewriting.diagnostics import PassError
from ....rewriting.linear import LinearForm
from ....rewriting.locations import UNKNOWN
from ...held_values import is_data
from .indices import ZERO, Indices
from .scopes import Scope

Value = SSAValue | LinearForm
"""One element: a linear form where it is an index, else a value of the kernel."""

Place = Sequence[LinearForm]
"""Where in a register tile: one coordinate for each dimension."""


@lru_cache(maxsize=1024)
def array_type(element: Attribute, shape: tuple[int, ...], flat: bool = False) -> MemRefType:
    """A register array for the elements of a tile: dimensions of extent 1 are left out."""
    extents = [extent for extent in shape if extent != 1]
    return MemRefType(element, [prod(extents)] if flat and extents else extents, memory_space=REGISTER)


@dataclass(frozen=True)
class LateRead:
    """A read that is carried out where its elements are used. load: what one instruction reads at a place, `width`
    elements along the last dimension."""

    load: Callable[[Scope, Place], SSAValue]
    width: int


_ELEMENTWISE = (AluOp, ConstOp, ExpandOp, CastOp, BitcastOp, AxisOp)


def is_one_element(value: SSAValue) -> bool:
    return all(extent == 1 for extent in shape_of(value.type))


class Values:
    """What each value of tile form has become.

    known: values of one element that do not change: scalars, vectors whose extents are all 1, indices of loops.
    arrays: vectors kept in registers, and the state of loops, which changes.
    late: vectors that are read where they are used.

    All other values are computed where they are used, for the elements that are used.

    innermost: array → the dimension of the tile along which its elements are neighbours, where that is not the last:
    vectors go along it.

    flat: arrays have one dimension: matrix instructions take runs of elements that go over several.
    """

    def __init__(self, indices: Indices, flat: bool = False):
        self.indices = indices
        self.flat = flat
        self.known: dict[SSAValue, Value] = {}
        self.arrays: dict[SSAValue, SSAValue] = {}
        self.late: dict[SSAValue, LateRead] = {}
        self.innermost: dict[SSAValue, int] = {}
        self.dimension_names: dict[int, str] = {}

    # Elements.

    def elements(self, scope: Scope, values: Sequence[SSAValue], place: Place = ()) -> list[Value]:
        """The elements of `values` at one place, built in `scope`."""
        memo: dict[SSAValue, Value] = {}
        return [self._element(scope, value, place, memo) for value in values]

    def scalars(self, scope: Scope, values: Sequence[SSAValue], place: Place = ()) -> list[SSAValue]:
        """The same as values of the kernel."""
        return [self.scalar(scope, value) for value in self.elements(scope, values, place)]

    def scalar(self, scope: Scope, value: Value) -> SSAValue:
        return self.indices.value(scope, value) if isinstance(value, LinearForm) else value

    def _element(self, scope: Scope, root: SSAValue, place: Place, memo: dict[SSAValue, Value]) -> Value:
        stack = [root]
        while stack:
            value = stack[-1]
            if value in memo or value in self.known:
                stack.pop()
                continue
            if value in self.arrays or value in self.late:
                memo[value] = self._load(scope, value, place)
                continue
            op = value.owner
            if not isinstance(op, _ELEMENTWISE):
                raise _not_lowered(value)
            missing = [x for x in reversed(op.operands) if x not in memo and x not in self.known]
            if missing:
                stack += missing
                continue
            operands = [memo[x] if x in memo else self.known[x] for x in op.operands]
            with scope.at(scope.location if op.location == UNKNOWN else op.location):
                result = self.apply(scope, op, operands, place)
            if not shape_of(value.type) and all(x in self.known for x in op.operands):
                self.known[value] = result
            else:
                memo[value] = result
        return memo[root] if root in memo else self.known[root]

    def _load(self, scope: Scope, value: SSAValue, place: Place) -> Value:
        array = self.arrays[value]
        loaded = scope.insert(LoadOp.of(array, self.array_place(scope, value, place))).result
        if isinstance(loaded.type, IndexType):
            return self.indices.leaf(loaded)
        return loaded

    def array_place(self, scope: Scope, value: SSAValue, place: Place, array: SSAValue | None = None) -> list[SSAValue]:
        """Indices of an element of `value`, or of one broadcast to where `place` is, in an array, by itself its own."""
        shape, place = list(shape_of(value.type)), list(place)
        array = self.arrays.get(value) if array is None else array
        if array is not None and shape and array in self.innermost:
            innermost = self.innermost[array]
            shape.append(shape.pop(innermost))
            place.append(place.pop(innermost))
        return self.place_in(scope, shape, place)

    def place_in(self, scope: Scope, shape: Sequence[int], place: Place) -> list[SSAValue]:
        """Indices of an element in a register array of a tile of this shape, whose extents of 1 it lacks."""
        coordinates = [(extent, x) for extent, x in zip(shape, place, strict=False) if extent != 1]
        if not self.flat:
            return [self.indices.value(scope, coordinate) for _, coordinate in coordinates]
        offset = ZERO
        for extent, coordinate in coordinates:
            offset = offset * extent + coordinate
        return [self.indices.value(scope, offset)] if coordinates else []

    def apply(self, scope: Scope, op: Operation, operands: Sequence[Value], place: Place) -> Value:
        """What an elementwise op makes of elements, those at `place`."""
        result = op.results[0]
        element = element_of(result.type)
        if isinstance(op, ConstOp):
            return LinearForm({}, int(op.number)) if element == index else scope.const(op.number, element)
        if isinstance(op, ExpandOp):
            return operands[0]
        if isinstance(op, AxisOp):
            dimension = next((d for d, extent in enumerate(shape_of(result.type)) if extent != 1), None)
            return ZERO if dimension is None else place[dimension]
        if isinstance(op, CastOp):
            cast = scope.cast(self.scalar(scope, operands[0]), element)
            return self.indices.leaf(cast) if element == index else cast
        if isinstance(op, BitcastOp):
            source = self.scalar(scope, operands[0])
            bits = scope.pure(BitcastOp, (source,), (with_element(source.type, element),)).result
            return self.indices.leaf(bits) if element == index else bits
        assert isinstance(op, AluOp)
        name = op.row().name
        if name == "where" and element == index:
            condition, first, second = operands
            assert isinstance(first, LinearForm)
            assert isinstance(second, LinearForm)
            return self.indices.where(scope, self.scalar(scope, condition), first, second)
        forms = [operand for operand in operands if isinstance(operand, LinearForm)]
        if len(forms) == len(operands):
            if op.row().compares:
                return self.indices.compare(scope, name, forms[0], forms[1])
            return self.indices.alu(scope, name, forms)
        return _simplified(scope, name, [self.scalar(scope, operand) for operand in operands])

    # Tiles that a thread does not hold in registers alone: see slots.py.

    def splits(self, shape: Sequence[int]) -> bool:
        """Whether tiles of this shape lie in registers only for a part."""
        return False

    def parts(
        self, scope: Scope, shape: Sequence[int], width: int = 1, dimension: int = -1
    ) -> Iterator[tuple[Scope, Place]]:
        """As `nest`, with loops of their own for each part of a tile that lies elsewhere."""
        with self.nest(scope, shape, width, dimension) as nest:
            yield nest

    def put(self, scope: Scope, stored: SSAValue, value: SSAValue, place: Place, array: SSAValue) -> None:
        """Store an element of `value` in its array, or neighbours from there on."""
        scope.insert(StoreOp.of(stored, array, self.array_place(scope, value, place, array)))

    def is_kept(self, op: Operation, value: SSAValue) -> bool:
        """Whether the result of a pure op gets an array, where it is no single element."""
        return _is_worth_keeping(op, value)

    def reads_late(self, op: ReadOp) -> bool:
        """Whether elements are better read where they are used."""
        return False

    # Arrays.

    def allocate(self, scope: Scope, type: MemRefType, hint: str) -> SSAValue:
        array = scope.insert(AllocOp.of(type)).result
        array.name_hint = hint
        return array

    def array_of(self, scope: Scope, value: SSAValue, hint: str, innermost: int | None = None) -> SSAValue:
        """A new array with room for `value`; along the dimension `innermost`, by itself the last, elements are
        neighbours."""
        shape = list(shape_of(value.type))
        if innermost in (None, len(shape) - 1):
            return self.allocate(scope, array_type(element_of(value.type), tuple(shape), self.flat), hint)
        shape.append(shape.pop(innermost))
        array = self.allocate(scope, array_type(element_of(value.type), tuple(shape), self.flat), hint)
        self.innermost[array] = innermost
        return array

    def neighbours(self, value: SSAValue, array: SSAValue) -> int:
        """The dimension of `value` along which the elements are neighbours in an array."""
        return self.innermost.get(array, len(shape_of(value.type)) - 1)

    @contextmanager
    def nest(
        self, scope: Scope, shape: Sequence[int], width: int = 1, dimension: int = -1
    ) -> Generator[tuple[Scope, Place]]:
        """Unrolled loops over the places of a register tile; one dimension, by itself the last, in steps of `width`."""
        steps = [1] * len(shape)
        if shape:
            steps[dimension] = width
        with self.steps(scope, shape, steps) as nest:
            yield nest

    @contextmanager
    def steps(
        self, scope: Scope, shape: Sequence[int], steps: Sequence[int], starts: Sequence[int] = ()
    ) -> Generator[tuple[Scope, Place]]:
        """Unrolled loops over the places of a register tile, each dimension in its own steps from its own start."""
        place: list[LinearForm] = []
        with ExitStack() as loops:
            for dimension, (extent, step) in enumerate(zip(shape, steps, strict=True)):
                start = starts[dimension] if starts else 0
                if extent - start <= step:
                    place.append(LinearForm({}, start))
                    continue
                loop = ForOp.of(self.indices.constant(start), extent, step, unroll=0)
                loop.index.name_hint = self.dimension_names.get(dimension, "r")
                scope = loops.enter_context(scope.inside(loop, loop.body.block))
                place.append(self.indices.leaf(loop.index))
            yield scope, place

    def behind_first(
        self, scope: Scope, shape: Sequence[int], dimensions: Sequence[int]
    ) -> Iterator[tuple[Scope, Place]]:
        """The places of a register tile in order, but those at 0 along all of these dimensions: for each of them a nest
        of its own, the innermost first, of the places at 0 along those around it and not along itself."""
        ones = [1] * len(shape)
        for place in reversed(range(len(dimensions))):
            outer = dimensions[:place]
            extents = [1 if dimension in outer else extent for dimension, extent in enumerate(shape)]
            starts = [int(dimension == dimensions[place]) for dimension in range(len(shape))]
            with self.steps(scope, extents, ones, starts) as nest:
                yield nest

    @staticmethod
    def places(shape: Sequence[int], steps: Sequence[int]) -> Iterator[Place]:
        """The same places one by one, for instructions that take numbers."""
        for place in product(*(range(0, extent, step) for extent, step in zip(shape, steps, strict=True))):
            yield [LinearForm({}, coordinate) for coordinate in place]

    @contextmanager
    def assuming(self, index: SSAValue, form: LinearForm) -> Generator[None]:
        """Let a loop's index have this value; what is computed from it is forgotten afterwards."""
        known = self.known
        self.known = {**known, index: form}
        try:
            yield
        finally:
            self.known = known

    def fill(self, scope: Scope, value: SSAValue, array: SSAValue) -> None:
        """Compute all elements of `value` into `array`; two at once that are rounded to 16 bits side by side."""
        rounded = self._rounded_in_pairs(value, array)
        if rounded is not None:
            for inner, place in self.parts(scope, shape_of(value.type), 2):
                (first,) = self.scalars(inner, [rounded], place)
                (second,) = self.scalars(inner, [rounded], [*place[:-1], place[-1] + LinearForm({}, 1)])
                packed = inner.insert(PackOp.of(first, second, element_of(value.type))).result
                self.put(inner, packed, value, place, array)
            return
        for inner, place in self.parts(scope, shape_of(value.type)):
            (element,) = self.scalars(inner, [value], place)
            self.put(inner, element, value, place, array)

    def _rounded_in_pairs(self, value: SSAValue, array: SSAValue) -> SSAValue | None:
        """The f32 that a value rounds to 16 bits, if neighbours in an array are even in number."""
        shape, op = shape_of(value.type), value.owner
        if not isinstance(op, CastOp) or element_of(op.input.type) != f32 or element_of(value.type) not in (f16, bf16):
            return None
        is_even = bool(shape) and shape[-1] % 2 == 0 and self.neighbours(value, array) == len(shape) - 1
        return op.input if is_even else None

    def keep(self, scope: Scope, op: Operation) -> None:
        """Compute the result of a pure op here and now, if its elements are used more than once or in another block."""
        (value,) = op.results
        if not self.is_kept(op, value):
            return
        if is_one_element(value):
            (element,) = self.elements(scope, [value], [ZERO] * len(shape_of(value.type)))
            self.set_known(value, element)
            return
        self.arrays.pop(value, None)  # of another step of a loop that is written out
        array = self.array_of(scope, value, value.name_hint or f"{op.name.split('.')[-1]}_r")
        self.fill(scope, value, array)
        self.arrays[value] = array

    def keep_as(self, scope: Scope, value: SSAValue, result: SSAValue) -> None:
        """`result` is the same tile with dimensions of extent 1 elsewhere: it lies in the same registers."""
        if value in self.known:
            self.known[result] = self.known[value]
            return
        if value not in self.arrays:
            array = self.array_of(scope, value, value.name_hint or "reshape_r")
            self.fill(scope, value, array)
            self.arrays[value] = array
        self.arrays[result] = self.arrays[value]

    def set_known(self, value: SSAValue, element: Value) -> None:
        """`value` has one element, and this is it."""
        if isinstance(element, SSAValue) and element.name_hint is None:
            element.name_hint = value.name_hint
        self.known[value] = element


def _is_worth_keeping(op: Operation, value: SSAValue) -> bool:
    """Whether elements are used several times, and are cheaper to keep than to compute again."""
    if not is_data(op, value):
        return False
    uses = list(value.uses)
    return len(uses) > 1 or any(use.operation.parent is not op.parent or _repeats(use.operation) for use in uses)


def _repeats(op: Operation) -> bool:
    """Whether the elements of the operand are each used several times."""
    return isinstance(op, ExpandOp) and element_count(shape_of(op.result.type)) > element_count(shape_of(op.input.type))


def _simplified(scope: Scope, name: str, operands: Sequence[SSAValue]) -> SSAValue:
    """An ALU op on data; conditions that the bounds of indices decided disappear."""
    if name in ("and", "or") and is_bool(operands[0].type):
        neutral = name == "and"
        for condition, other in (operands, tuple(reversed(operands))):
            if (known := constant_value(condition)) is not None:
                return other if known == neutral else condition
    if name == "where" and (known := constant_value(operands[0])) is not None:
        return operands[1] if known else operands[2]
    return scope.alu(name, *operands)


def _not_lowered(value: SSAValue) -> PassError:
    owner = value.owner
    op = owner.parent_op() if isinstance(owner, Block) else owner
    name = op.name if op is not None else "a block argument"
    return PassError(
        f"the elements of a value of {name} cannot be computed where they are used",
        op,
        "values in registers, and the origin of a slab that is copied ahead, are made of ALU ops, casts and uop.expand",
    )
