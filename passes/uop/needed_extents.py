"""What of a program's buffers is needed: backwards from its results, where their extents are known when it runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import MemRefType, ModuleOp, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from ...dialects.function_sizes import FunctionSizes
from ...dialects.limits import Limits
from ...dialects.symbols import Bounds, Extent
from ...dialects.types import index, shape_of
from ...dialects.uop import (
    CastOp,
    FloordivOp,
    KernelOp,
    LaunchOp,
    LoadOp,
    MaxOp,
    MinOp,
    RangeOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    StoreOp,
    WhereOp,
    constant_value,
)
from ...rewriting.builder import Builder
from ...rewriting.dead import erase_unused
from ...rewriting.linear import LinearForm
from ...rewriting.ranges import RangeAnalysis, is_comparison
from ..known_values import KnownValues
from .free_ranges import Copies, FreeRanges
from .reshape_groups import reshape_groups

Needed = tuple[Extent | None, ...]
"""Of each dimension of a tensor, how many elements anybody needs: those in front; None where that may be all."""

Stored = Mapping[int, Needed]
"""Of the outputs of a kernel, by their places."""


def limit_to_needed(module: ModuleOp) -> None:
    """Limit the ranges of stores to what the kernels behind them, and the callers of the program, read.

    Where a result's extent is a symbol's, what lies beyond is never read; so it need not be stored, nor what is read
    for it alone. A kernel whose limits need a symbol that it does not read gets it as one more argument.
    Looks at functions that have symbols, and at what they launch that is in range form.
    """
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    for op in module.ops:
        if isinstance(op, FuncOp) and op.arg_attrs is not None and op.body.blocks:
            sizes = FunctionSizes.of(op)
            if sizes.symbols:
                _Program(op, sizes, kernels).run()


class _Program:
    def __init__(self, function: FuncOp, sizes: FunctionSizes, kernels: Mapping[str, KernelOp]):
        self.function = function
        self.sizes = sizes
        arguments = function.body.block.args
        self.symbols: dict[SSAValue, str] = {arguments[place]: name for name, (place, _) in sizes.symbols.items()}
        self.launches: dict[str, list[LaunchOp]] = {}
        for op in function.body.block.ops:
            if isinstance(op, LaunchOp):
                self.launches.setdefault(op.kernel.root_reference.data, []).append(op)
        self.kernels = {
            name: _Kernel(kernels[name], len(launches[0].results), sizes)
            for name, launches in self.launches.items()
            if name in kernels and _is_range_form(kernels[name])
        }
        self.stored: dict[str, Stored] = {}
        """Kernel → what is needed of what it writes, in all its launches."""

    def run(self) -> None:
        # A kernel that is launched several times stores what any launch needs. What a launch needs is known when those
        # behind it are: so the walk is repeated until nothing more is needed.
        while self._walk():
            pass
        for name, kernel in self.kernels.items():
            limits = kernel.limits(self.stored[name])
            if limits:
                kernel.apply(limits, self._symbol_arguments(name, kernel, limits.values()))

    def _walk(self) -> bool:
        """Go backwards through the program once; whether more of a kernel's results is needed than was known."""
        needed = _Needs(self.sizes.bounds)
        has_grown = False
        for op in reversed(list(self.function.body.block.ops)):
            if isinstance(op, ReturnOp):
                for place, value in enumerate(op.operands):
                    extents = self.sizes.results.get(place)
                    needed.add(value, _all(value) if extents is None else _known(extents))
            elif isinstance(op, ReshapeOp):
                needed.add(op.input, _reshaped(needed.of(op.result), shape_of(op.result.type), shape_of(op.input.type)))
            elif isinstance(op, LaunchOp):
                has_grown |= self._launch(op, needed)
        return has_grown

    def _launch(self, op: LaunchOp, needed: _Needs) -> bool:
        """Add what a launch needs; whether more of its kernel's results is needed than was known."""
        name = op.kernel.root_reference.data
        kernel = self.kernels.get(name)
        if kernel is None:
            for operand in op.operands:
                needed.add(operand, _all(operand))
            return False
        here = {place: needed.of(result) for place, result in enumerate(op.results)}
        known = self.stored.get(name)
        bounds = self.sizes.bounds
        stored = here if known is None else {place: _joined(known[place], own, bounds) for place, own in here.items()}
        self.stored[name] = stored
        for result, taken in zip(op.results, op.reused(), strict=True):
            if taken is not None:  # what is not written stays as it was
                needed.add(op.operands[taken], needed.of(result))
        symbols = {place: self.symbols[value] for place, value in enumerate(op.operands) if value in self.symbols}
        for place, extents in kernel.read(stored, symbols).items():
            needed.add(op.operands[place], extents)
        return known is not None and known != stored

    def _symbol_arguments(self, name: str, kernel: _Kernel, extents: Iterable[Extent]) -> dict[str, SSAValue]:
        """The arguments by which a kernel reads the symbols of extents: those that it has, or new ones."""
        launches = self.launches[name]
        found: dict[str, SSAValue] = {}
        for symbol in dict.fromkeys(symbol for extent in extents for symbol in extent.symbols):
            value = self.function.body.block.args[self.sizes.symbols[symbol][0]]
            places = range(len(launches[0].operands))
            place = next((n for n in places if all(launch.operands[n] is value for launch in launches)), None)
            if place is None:
                for launch in launches:
                    launch.operands = [*launch.operands, value]
                found[symbol] = kernel.add_symbol(symbol)
            else:
                found[symbol] = kernel.inputs[place]
        return found


class _Needs:
    """What is needed of values of a program, as far as its users are known."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds
        self._known: dict[SSAValue, Needed] = {}

    def add(self, value: SSAValue, extents: Needed) -> None:
        known = self._known.get(value)
        self._known[value] = extents if known is None else _joined(known, extents, self._bounds)

    def of(self, value: SSAValue) -> Needed:
        """All of a value that nobody reads: to remove it is for others."""
        return self._known.get(value) or _all(value)


class _Kernel:
    """A kernel in range form. outputs: how many of its buffers it writes."""

    def __init__(self, kernel: KernelOp, outputs: int, sizes: FunctionSizes):
        self.block = kernel.body.block
        self.outputs = outputs
        self.sizes = sizes
        self.free = FreeRanges()
        self.analysis = RangeAnalysis()
        ops = list(self.block.ops)
        self.stores = [op for op in ops if isinstance(op, StoreOp)]
        self.loads = [op for op in ops if isinstance(op, LoadOp)]
        self.bound = {range for op in ops if isinstance(op, ReduceOp) for range in op.over}
        self.scanned = {op.over[0] for op in ops if isinstance(op, ScanOp)}
        self.certain = [] if self.bound else [op.results[0] for op in ops if is_comparison(op) and self._holds(op)]
        """Comparisons that hold wherever anything is stored; none where something is reduced, for which more is read.
        """

    def _holds(self, comparison: Operation) -> bool:
        """Whether no store stores anything where a comparison does not hold."""
        known = KnownValues({comparison.results[0]: False})
        masks = [None if store.mask is None else known.of(store.mask) for store in self.stores]
        return all(mask is not None and not mask for mask in masks)

    @property
    def inputs(self) -> Sequence[BlockArgument]:
        return self.block.args[self.outputs :]

    def add_symbol(self, name: str) -> BlockArgument:
        """One more argument, a symbol's value."""
        argument = self.block.insert_arg(MemRefType(i64, []), len(self.block.args))
        argument.name_hint = name
        return argument

    def limits(self, stored: Stored) -> dict[SSAValue, Extent]:
        """The ranges, other than those of reductions, that need not go further than an extent: each store that depends
        on one has it for the index of a dimension of which no more is needed."""
        found: dict[SSAValue, Extent | None] = {}
        for store in self.stores:
            assert isinstance(store.buffer, BlockArgument)
            needed = stored.get(store.buffer.index, ())
            direct = dict(zip(store.indices, needed, strict=False))
            for range in self.free.of(store.operands):
                extent = direct.get(range)
                found[range] = extent if found.setdefault(range, extent) == extent else None
        order = [op.result for op in self.block.ops if isinstance(op, RangeOp)]
        return {
            range: extent for range in order if (extent := found.get(range)) is not None and range not in self.scanned
        }

    def read(self, stored: Stored, symbols: Mapping[int, str]) -> dict[int, Needed]:
        """By input that is read, what is needed of it. symbols: those that are inputs, by their places"""
        limits: dict[SSAValue, Extent | None] = dict(self.limits(stored))
        found: dict[int, Needed] = {}
        for load in self.loads:
            assert isinstance(load.buffer, BlockArgument)
            extents: Needed = tuple(
                self._extent(value, limits, symbols) or self._extent_under_masks(value, symbols)
                for value in load.indices
            )
            place = load.buffer.index - self.outputs
            found[place] = _joined(found[place], extents, self.sizes.bounds) if place in found else extents
        return found

    def _extent(
        self, value: SSAValue, limits: dict[SSAValue, Extent | None], symbols: Mapping[int, str]
    ) -> Extent | None:
        """What an index stays below, where it is made of symbols and of ranges, of which some have limits, and of
        quotients of such, for whose dividends it calls itself."""
        form = self.analysis.form(value)
        total = Extent.of(form.constant + 1)
        for range, coefficient in form.terms.items():
            if (name := self._symbol(range, symbols)) is not None:
                total += Extent.of(name) * coefficient
                continue
            if coefficient > 0 and isinstance(range.owner, FloordivOp):
                dividend, divisor = range.owner.operands
                extent, by = self._extent(dividend, limits, symbols), constant_value(divisor)
                if extent is None or not isinstance(by, int) or by <= 0:
                    return None
                total += ((extent - 1) // by) * coefficient
                continue
            if not isinstance(range.owner, RangeOp) or coefficient < 0:
                return None
            if range in self.bound or range not in limits:
                upper = range.owner.upper
                limits[range] = None if upper is None else self._symbolic(upper, symbols)
            extent = limits[range] or Extent.of(range.owner.extent)
            total += (extent - 1) * coefficient
        return total if total.symbols else None

    def _extent_under_masks(self, value: SSAValue, symbols: Mapping[int, str]) -> Extent | None:
        """What an index stays below where the masks of the stores hold: where one of their comparisons says so."""
        known = KnownValues(dict.fromkeys(self.certain, True))
        while isinstance(op := value.owner, CastOp | WhereOp):
            if isinstance(op, CastOp):
                value = op.input
            elif (condition := known.of(op.operands[0])) is None:
                return None
            else:
                value = op.operands[1 if condition else 2]
        for comparison in self.certain:
            for form in self.analysis.nonpositive_forms(comparison, True):
                if form.terms.get(value) == 1:
                    extent = self._symbolic_form((form + LinearForm({value: -1})) * -1, symbols)
                    if extent is not None:
                        return extent + 1
        return None

    def _symbolic(self, value: SSAValue, symbols: Mapping[int, str]) -> Extent | None:
        """An index as an extent, if it is made of symbols."""
        return self._symbolic_form(self.analysis.form(value), symbols)

    def _symbolic_form(self, form: LinearForm, symbols: Mapping[int, str]) -> Extent | None:
        total = Extent.of(form.constant)
        for leaf, coefficient in form.terms.items():
            name = self._symbol(leaf, symbols)
            if name is None:
                return None
            total += Extent.of(name) * coefficient
        return total if total.symbols else None

    def _symbol(self, value: SSAValue, symbols: Mapping[int, str]) -> str | None:
        """The symbol that a value is; clipping it to its bounds changes nothing."""
        low, high = 0, None
        while isinstance(op := value.owner, MinOp | MaxOp | CastOp):
            if not isinstance(op, CastOp):
                number = constant_value(op.operands[1])
                if not isinstance(number, int):
                    return None
                low, high = (low, number) if isinstance(op, MinOp) else (max(low, number), high)
            value = op.operands[0]
        if not isinstance(op, LoadOp) or op.indices or not isinstance(op.buffer, BlockArgument):
            return None
        name = symbols.get(op.buffer.index - self.outputs)
        if name is None:
            return None
        _, symbol = self.sizes.symbols[name]
        return name if low <= symbol.low and (high is None or symbol.high <= high) else None

    def apply(self, limits: Mapping[SSAValue, Extent], arguments: Mapping[str, SSAValue]) -> None:
        """Let the stores go over ranges with limits. arguments: symbol → the argument that holds it."""
        first = next(store for store in self.stores if not self.free.of(store.operands).isdisjoint(limits))
        builder = Builder(self.block, before=first)
        new: dict[SSAValue, SSAValue] = {}
        copies = Copies(builder, self.free, new)
        with builder.at(first.location):
            for range, extent in limits.items():
                op = range.owner
                assert isinstance(op, RangeOp)
                upper = self._value(builder, extent, arguments)
                if op.upper is not None:
                    upper = builder.alu("min", copies.of(op.upper), upper)
                lower = None if op.lower is None else copies.of(op.lower)
                limited = builder.insert(RangeOp.of(op.axis.axis.data, op.extent, Limits(lower, upper)))
                limited.result.name_hint = range.name_hint
                new[range] = limited.result
        for store in self.stores:
            builder.before = store
            operands = [copies.of(operand) for operand in store.operands]
            with builder.at(store.location):
                builder.insert(
                    StoreOp.create(operands=operands, properties=store.properties, attributes=store.attributes)
                )
            self.block.erase_op(store)
        erase_unused(self.block)

    def _value(self, builder: Builder, extent: Extent, arguments: Mapping[str, SSAValue]) -> SSAValue:
        """An extent as an index; calls itself for dividends."""
        total: SSAValue | None = None
        for monomial, coefficient in extent.terms:
            term = builder.const(coefficient, index)
            for factor in monomial:
                if isinstance(factor, str):
                    value = self._read_symbol(builder, factor, arguments)
                else:
                    dividend = self._value(builder, factor.dividend, arguments)
                    value = builder.alu("floordiv", dividend, builder.const(factor.divisor, index))
                is_one = constant_value(term) == 1
                term = value if is_one else builder.alu("mul", value, term)
            total = term if total is None else builder.alu("add", total, term)
        return builder.const(0, index) if total is None else total

    def _read_symbol(self, builder: Builder, name: str, arguments: Mapping[str, SSAValue]) -> SSAValue:
        """A symbol's value, clipped to its bounds, which tells them to those who know nothing of symbols."""
        _, symbol = self.sizes.symbols[name]
        load = LoadOp.of(arguments[name], ())
        value = builder.pure(LoadOp, tuple(load.operands), (i64,), load.properties).result
        load.erase()
        value = builder.alu("max", value, builder.const(symbol.low, i64))  # as convert-torch-to-uop reads them
        return builder.cast(builder.alu("min", value, builder.const(symbol.high, i64)), index)


def _is_range_form(kernel: KernelOp) -> bool:
    return not kernel.is_tensor_form and not any(op.regions for op in kernel.body.block.ops)


def _all(value: SSAValue) -> Needed:
    return (None,) * len(shape_of(value.type))


def _known(extents: Sequence[Extent]) -> Needed:
    """Extents of which those that are numbers are all of a dimension."""
    return tuple(extent if extent.symbols else None for extent in extents)


def _joined(first: Needed, second: Needed, bounds: Bounds) -> Needed:
    """What is needed where either is: the greater extent, where the bounds of symbols say which it is."""

    def greater(a: Extent | None, b: Extent | None) -> Extent | None:
        if a is None or b is None or a == b:
            return a and b
        low, high = (a - b).range(bounds)
        return a if low >= 0 else b if high <= 0 else None

    return tuple(map(greater, first, second))


def _reshaped(needed: Needed, shape: Sequence[int], source: Sequence[int]) -> Needed:
    """What is needed of the input of a reshape: along an axis that stays, or of several axes along the first, of which
    the last that is needed may be in part."""
    if 0 in shape or not any(needed):
        return (None,) * len(source)
    found: list[Extent | None] = [None] * len(source)
    for merged, split in reshape_groups(source, shape):
        extent = needed[split[0]]
        if extent is None:
            continue
        elements = extent * prod(shape[axis] for axis in split[1:])
        behind = prod(source[axis] for axis in merged[1:])
        found[merged[0]] = (elements + (behind - 1)) // behind
    return tuple(found)
