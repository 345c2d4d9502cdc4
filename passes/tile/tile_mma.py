"""tile-mma: loops over the mma factor of a product become matrix instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from ...dialects.atoms import ATOMS, COLUMN_LANES, MATRIX_ROW_BYTES, ROW_LANES, Atom
from ...dialects.axes import AxisKind
from ...dialects.layouts import SwizzleAttr, memory_space, row_dimension, strides_of
from ...dialects.loop import ForOp
from ...dialects.schedule import MatrixFactors
from ...dialects.tile import AxisOp, MmaOp, ReadOp, ReduceAcrossOp, StageOp, TakeAcrossOp
from ...dialects.types import byte_width, element_of, index, is_memref, shape_of, with_shape
from ...dialects.uop import AddOp, AluOp, BitcastOp, CastOp, ConstOp, ExpandOp, KernelOp, MulOp, WhereOp
from ...rewriting.dead import erase_unused
from ...rewriting.diagnostics import PassError
from ...rewriting.linear import LinearForm
from ..loop.matrix_products import multiplied
from .accesses import kernels_of
from .linear import is_zero, linear_form, unexpanded
from .places import build_form, builder_before
from .tile_builder import TileBuilder, joined_shape

_REBUILT = (AluOp, AxisOp, BitcastOp, CastOp, ConstOp, ExpandOp, ReadOp, StageOp)
"""What an operand is made of that can be computed in another view."""


@dataclass(frozen=True)
class TileMmaPass(ModulePass):
    """Compute sums of products over the mma factors of the schedule with matrix instructions.

    The loop over the mma factor of the reduced axis adds a · b to a register tile of accumulators, of which a lane
    holds what the instruction wants (convert-loop-to-tile). An instruction wants other elements of the operands in a
    lane than that loop reads: those lanes that hold rows of the accumulators hold columns of B. So each operand is
    computed again in its own view, in which the lanes and registers along rows, columns and the reduced axis stand for
    what the instruction's fragments hold (dialects/atoms.py), and `tile.mma` takes the place of the loop.

    Reads of matrices whose rows of 16 bytes lie side by side in shared memory are marked `ldmatrix`; of elements of 16
    bits transposed where it is the reduced axis that goes across rows. Reads stand in front of the loops in which they
    do not change, unless the schedule says `reread`.

    Of two products in a chain, lanes and registers hold C of the first as A of the second wants it: what
    `tile.take_across` takes of it place by place is that operand. The unrolled steps around an instruction are in the
    one `tile.mma`, too.

    Leaves alone: kernels without mma factors, or in which no loop over one is left. Refused: loops that do anything
    else than to add products of two 16-bit floats, or of two f32 cut to TF32, and operands that cannot be computed in
    another view: made of values that vary with rows and columns, of reductions, or of indices that are not linear.
    """

    name = "tile-mma"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in kernels_of(op):
            matrices = () if kernel.schedule is None else kernel.schedule.data.matrices
            if not matrices:
                continue
            # Classes are compared: isinstance asks abstract classes.
            loops = [op for op in kernel.body.walk() if type(op) is ForOp and op.axis.axis_kind is AxisKind.MMA]
            for loop in loops:
                for matrix in matrices:
                    if matrix.reduced == loop.axis.axis.data:
                        _use_instruction(kernel, matrices, matrix, loop)
            if loops:
                erase_unused(kernel.body.block)


def _use_instruction(kernel: KernelOp, matrices: Sequence[MatrixFactors], matrix: MatrixFactors, loop: ForOp) -> None:
    """One of the products of a kernel."""
    # Of a chain, the steps of each are in one op: for A of the second they are a tile of registers, and A of the first
    # is read in front of the loop around, in which it is the same.
    whole = _whole(loop) if len(matrices) == 2 else loop
    accumulators = _Accumulators.of(kernel, matrix, matrices[-1].column, loop, whole)
    if [monoid.data for monoid in loop.monoids.data] != ["add"] * len(loop.carried):
        raise _refused(loop, "it carries something else than sums")
    builder = builder_before(whole)
    views = accumulators.view_of_a(loop), accumulators.view_of_b(loop)
    for number, old in enumerate(whole.results):
        is_of_rows = _is_of_rows(accumulators, loop, number)
        if is_of_rows:
            new = _sum_rows(builder, accumulators, loop, number, views[0])
        else:
            new = _multiply(builder, accumulators, loop, number, views)
        old.replace_all_uses_with(new)
        if is_of_rows:
            _combine_lanes(accumulators, whole, number, new)
    assert whole.parent is not None
    whole.parent.erase_op(whole)


def _whole(loop: ForOp) -> ForOp:
    """The loop that is written out around that over an instruction, if it does nothing else than to repeat it; else the
    loop itself."""
    outer = loop.parent_op()
    if not isinstance(outer, ForOp) or outer.axis.axis_kind is not AxisKind.UNROLL or outer.axis.axis != loop.axis.axis:
        return loop
    repeats = bool(loop.inits) and tuple(loop.inits) == tuple(outer.carried)
    repeats = repeats and tuple(outer.yielded) == tuple(loop.results)
    return outer if repeats and not any(isinstance(op, StageOp) for op in outer.body.block.ops) else loop


def _multiply(
    builder: TileBuilder, accumulators: _Accumulators, loop: ForOp, number: int, views: tuple[_View, _View]
) -> SSAValue:
    """The sum of this number that the loop carries, by an instruction; products side by side share what they read."""
    matrix = accumulators.matrix
    conditions, factors = _product(loop, number, matrix.atom)
    if any(accumulators.axes_of(condition, loop) for condition in conditions):
        raise _refused(loop, "which elements it adds depends on rows or columns")
    axes = [accumulators.axes_of(factor, loop) for factor in factors]
    if axes == [{matrix.column}, {matrix.row}]:
        factors = factors[::-1]
    elif axes != [{matrix.row}, {matrix.column}]:
        found = " and ".join(", ".join(sorted(names)) or "neither" for names in axes)
        raise _refused(
            loop, f"one factor varies with {matrix.row} and the other with {matrix.column}, but they vary with {found}"
        )
    with builder.at(loop.location):
        a, b = (view.build(builder, factor, conditions) for view, factor in zip(views, factors, strict=True))
        whole = accumulators.whole
        state = whole.inits[number] if whole.inits else builder.constant_like(0.0, whole.results[number])
        result = builder.insert(MmaOp.of(matrix.atom, state, a, b)).result
    result.name_hint = whole.results[number].name_hint or whole.carried[number].name_hint
    return result


def _is_of_rows(accumulators: _Accumulators, loop: ForOp, number: int) -> bool:
    """Whether the sum of this number varies with rows only: it stands beside products."""
    return loop is accumulators.whole and shape_of(loop.results[number].type)[-1:] == (1,)


def _sum_rows(builder: TileBuilder, accumulators: _Accumulators, loop: ForOp, number: int, view: _View) -> SSAValue:
    """The sum of this number, of the elements that a lane holds for operand A: a part of each row, the others of which
    the lanes along columns have."""
    state, new = loop.carried[number], loop.yielded[number]
    total = new.owner
    if not isinstance(total, AddOp) or state not in total.operands:
        raise _refused(loop, "it does not add to what it carries")
    element = total.operands[1 if total.operands[0] is state else 0]
    with builder.at(loop.location):
        part = view.build(builder, element)
        rank = len(shape_of(part.type))
        along_k = [rank - 3, rank - 1] if ATOMS[accumulators.matrix.atom].pack > 1 else [rank - 3]
        (part,) = builder.reduce_axis("add", [part], along_k)
        # The halves of rows are the last dimension but one of accumulators, and of what is reduced here.
        shape = shape_of(part.type)
        part = builder.reshape(part, (*shape[: rank - 3], shape[rank - 2], 1))
        state = loop.inits[number] if loop.inits else builder.constant_like(0.0, loop.results[number])
        return builder.alu("add", state, builder.fit(part, shape_of(state.type)))


def _combine_lanes(accumulators: _Accumulators, loop: ForOp, number: int, total: SSAValue) -> None:
    """Combine, behind the loops that carry the sum of this number on, what the lanes along columns have of it."""
    outer = loop
    while outer.inits and isinstance(around := outer.parent_op(), ForOp):
        continued = [place for place, state in enumerate(around.carried) if state is outer.inits[number]]
        if not continued:
            break
        outer, (number,) = around, continued
        total = outer.results[number]
    assert outer.next_op is not None
    builder = builder_before(outer.next_op)
    with builder.at(outer.location):
        across = builder.insert(ReduceAcrossOp.of("add", [total], [accumulators.column_lane]))
    total.replace_uses_with_if(across.outputs[0], lambda use: use.operation is not across)


def _refused(loop: ForOp, reason: str) -> PassError:
    return PassError(
        f"the loop over {loop.axis.axis.data} is no matrix instruction: {reason}",
        loop,
        "bind its axes to loop, thread and register factors instead of mma",
    )


def _product(loop: ForOp, number: int, atom: str) -> tuple[list[SSAValue], tuple[SSAValue, SSAValue]]:
    """What an instruction multiplies (`multiplied`) to add it to the sum of this number that the loop carries, and
    the conditions that hold together where it does."""
    state, new = loop.carried[number], loop.yielded[number]
    total = new.owner
    if not isinstance(total, AddOp) or state not in total.operands:
        raise _refused(loop, "it does not add to what it carries")
    element = total.operands[1 if total.operands[0] is state else 0]
    product, conditions = unexpanded(element).owner, list[SSAValue]()
    while isinstance(product, WhereOp) and is_zero(product.operands[2]):
        conditions.append(product.operands[0])
        product = unexpanded(product.operands[1]).owner
    if not isinstance(product, MulOp):
        raise _refused(loop, "what it adds is no product")
    factors: list[SSAValue] = []
    for factor in product.operands:
        taken = multiplied(unexpanded(factor).owner)
        if taken is None:
            raise _refused(loop, "a factor is neither a 16-bit float that was cast to f32 nor f32 cut to TF32")
        factors.append(taken)
    if element_of(factors[0].type) != element_of(factors[1].type):
        raise _refused(loop, "its factors differ in type")
    if (element := str(element_of(factors[0].type))) not in ATOMS[atom].elements:
        raise _refused(loop, f"{atom} does not multiply {element}")
    return conditions, (factors[0], factors[1])


@dataclass
class _Accumulators:
    """The axes of the lanes and registers that hold accumulators.

    columns: the axis by which the lanes and registers along columns go: of two products in a chain, that of the last.
    whole: the loop over the instruction, or that around it whose steps `tile.mma` takes in, too.
    repeats: register dimensions that repeat the instruction, with their extents.
    """

    kernel: KernelOp
    matrix: MatrixFactors
    columns: str
    whole: ForOp
    row_lane: SSAValue
    column_lane: SSAValue
    row_register: SSAValue
    column_register: SSAValue
    registers: dict[int, AxisOp]
    repeats: tuple[int, ...]
    of_rows: dict[SSAValue, bool] = field(default_factory=dict[SSAValue, bool])
    """What `is_of_rows` knows."""

    @staticmethod
    def of(kernel: KernelOp, matrix: MatrixFactors, columns: str, loop: ForOp, whole: ForOp) -> _Accumulators:
        shapes = {shape_of(result.type) for result in loop.results if shape_of(result.type)[-1:] != (1,)}
        shape = shapes.pop() if len(shapes) == 1 else ()
        registers: dict[int, AxisOp] = {}
        lanes: dict[tuple[str, int], SSAValue] = {}
        for op in kernel.body.block.ops:
            if isinstance(op, AxisOp):
                if len(dimensions := shape_of(op.result.type)) == len(shape) > 0:
                    # Those of operands' views stand behind.
                    registers.setdefault(max(range(len(dimensions)), key=lambda d: dimensions[d]), op)
                elif op.axis.axis_kind is AxisKind.LANE:
                    lanes[op.axis.axis.data, op.extent] = op.result
        row_lane, column_lane = lanes.get((matrix.row, ROW_LANES)), lanes.get((columns, COLUMN_LANES))
        rank = len(shape)
        places = registers.get(rank - 2), registers.get(rank - 1)
        names = [None if op is None else op.axis.axis.data for op in places]
        if row_lane is None or column_lane is None or shape[-2:] != (2, 2) or names != [matrix.row, columns]:
            raise _refused(loop, "its accumulators do not lie in lanes and registers as an instruction's do")
        row, column = places
        assert row is not None
        assert column is not None
        repeats = shape[:-2]
        while repeats and repeats[-1] == 1:  # where A and B have other dimensions
            repeats = repeats[:-1]
        row_register, column_register = row.result, column.result
        return _Accumulators(
            kernel, matrix, columns, whole, row_lane, column_lane, row_register, column_register, registers, repeats
        )

    @property
    def steps(self) -> tuple[int, ...]:
        """The extent of the steps along K beyond those of one instruction, if `tile.mma` takes such."""
        return () if self.whole.axis.axis_kind is AxisKind.MMA else (self.whole.axis.extent.data,)

    @property
    def lead(self) -> tuple[int, ...]:
        """The dimensions of operands in front of their fragments."""
        return (*self.repeats, *self.steps)

    @property
    def _atom(self) -> Atom:
        return ATOMS[self.matrix.atom]

    def axes_of(self, value: SSAValue, loop: ForOp) -> set[str]:
        """Which of the rows and columns of an instruction a value varies with."""
        leaves = {self.row_lane, self.row_register}, {self.column_lane, self.column_register}
        found: set[str] = set()
        seen, stack = {value}, [value]
        while stack:
            top = stack.pop()
            for axis, own in zip((self.matrix.row, self.matrix.column), leaves, strict=True):
                if top in own:
                    found.add(axis)
            owner = top.owner
            if isinstance(owner, TakeAcrossOp):
                found.update(self._axes_of_registers(top))
                continue
            if self.is_of_rows(top):
                found.add(self.matrix.row)
                continue
            if isinstance(owner, Operation):
                if not isinstance(owner, _REBUILT):
                    raise _refused(loop, "a factor is made of the result of a loop or of a reduction")
                new = [x for x in owner.operands if x not in seen]
                seen.update(new)
                stack += new
        return found

    def is_of_rows(self, value: SSAValue) -> bool:
        """Whether a value is one for each row, of what the lanes along columns have together."""
        stack = [value]
        while stack:
            top = stack[-1]
            owner = top.owner
            if top in self.of_rows:
                stack.pop()
            elif isinstance(owner, AluOp | CastOp) and element_of(top.type) != index:
                missing = [operand for operand in owner.operands if operand not in self.of_rows]
                if missing:
                    stack += missing
                    continue
                others = [operand for operand in owner.operands if not self.of_rows[operand]]
                are_constant = all(isinstance(unexpanded(operand).owner, ConstOp) for operand in others)
                self.of_rows[top] = are_constant and len(others) < len(owner.operands)
            else:
                is_combined = isinstance(owner, ReduceAcrossOp) and self.column_lane in owner.over
                self.of_rows[top] = is_combined and self._goes_along_rows(top)
        return self.of_rows[value]

    def _goes_along_rows(self, value: SSAValue) -> bool:
        """Whether no registers of a value go along another axis than rows."""
        shape = shape_of(value.type)
        registers = (op for dimension, op in self.registers.items() if shape[dimension] > 1)
        return all(op.axis.axis.data == self.matrix.row for op in registers)

    def _axes_of_registers(self, value: SSAValue) -> set[str]:
        """Which rows and columns the registers of a value go along; so do its lanes."""
        *_, rows, columns = shape_of(value.type)
        extents = {self.matrix.row: rows, self.matrix.column: columns}
        return {axis for axis, extent in extents.items() if extent > 1}

    def view_of_a(self, loop: ForOp) -> _View:
        """Fragments of A: halves of k, halves of the rows, neighbours along k."""
        pack = self._atom.pack
        shape = (*self.lead, 2, 2, pack)
        rank = len(shape)
        half, pair = self._along_k(shape, rank - 3)
        row = self._axis_like(self.row_register, shape, rank - 2)
        forms = self._common(loop, shape, half, pair)
        forms[self.row_lane] = LinearForm({self.row_lane: 1})
        forms[self.row_register] = LinearForm({row: 1})
        return _View(loop, self, (2, 2, pack), forms, self.row_lane, {}, pair)

    def view_of_b(self, loop: ForOp) -> _View:
        """Fragments of B: halves of k, neighbours along k. The lanes of rows are columns here."""
        pack = self._atom.pack
        shape = (*self.lead, 2, pack)
        rank = len(shape)
        half, pair = self._along_k(shape, rank - 2)
        forms = self._common(loop, shape, half, pair)
        # A column is 2 · lane + register, and here the lane of a row: the register stands for all of it.
        forms[self.column_register] = LinearForm({self.row_lane: 1})
        forms[self.column_lane] = LinearForm({})
        together = {self.column_lane: 2, self.column_register: 1}
        return _View(loop, self, (2, pack), forms, self.row_lane, together, pair)

    def _along_k(self, shape: tuple[int, ...], half: int) -> tuple[SSAValue, SSAValue | None]:
        """The register axes of the halves of k, along dimension `half`, and of neighbours in one register."""
        reduced = self.matrix.reduced
        halves = self._register(reduced, shape, half)
        return halves, self._register(reduced, shape, len(shape) - 1) if self._atom.pack > 1 else None

    def _common(
        self, loop: ForOp, shape: tuple[int, ...], half: SSAValue, pair: SSAValue | None
    ) -> dict[SSAValue, LinearForm]:
        pack = self._atom.pack
        k = LinearForm({half: 4 * pack, self.column_lane: pack})
        if pair is not None:
            k += LinearForm({pair: 1})
        forms: dict[SSAValue, LinearForm] = {loop.index: k}
        if self.steps:
            step = self._register(self.matrix.reduced, shape, len(self.repeats))
            forms[self.whole.index] = LinearForm({step: 1})
        for dimension, op in self.registers.items():
            if dimension < len(self.repeats):
                forms[op.result] = LinearForm({self._axis_like(op.result, shape, dimension): 1})
        return forms

    def _axis_like(self, register: SSAValue, shape: tuple[int, ...], dimension: int) -> SSAValue:
        assert isinstance(register.owner, AxisOp)
        return self._register(register.owner.axis.axis.data, shape, dimension)

    def _register(self, axis: str, shape: tuple[int, ...], dimension: int) -> SSAValue:
        """The register axis of this name along one dimension, at the kernel's top."""
        type = VectorType(index, [extent if d == dimension else 1 for d, extent in enumerate(shape)])
        last: AxisOp | None = None
        for op in self.kernel.body.block.ops:
            if isinstance(op, AxisOp):
                last = op
                if (op.axis.axis.data, op.axis.axis_kind, op.result.type) == (axis, AxisKind.REGISTER, type):
                    return op.result
        assert last is not None
        new = AxisOp.of(axis, shape[dimension], AxisKind.REGISTER, type)
        new.result.name_hint = f"r{axis}"
        new.location = last.location
        self.kernel.body.block.insert_op_after(new, last)
        return new.result


@dataclass
class _View:
    """How one operand of an instruction sees the axes.

    forms: axis or loop index of the accumulators' view → what it is here; others stay what they are.
    lane: what counts the rows of matrices that lie along the other axis than k.
    together: axes that mean something here only together, in multiples of these coefficients.
    pair: neighbours along k in one register; None where it holds one element.
    fragment: extents of the dimensions that a lane's fragment takes.
    """

    loop: ForOp
    accumulators: _Accumulators
    fragment: tuple[int, ...]
    forms: Mapping[SSAValue, LinearForm]
    lane: SSAValue
    together: Mapping[SSAValue, int]
    pair: SSAValue | None
    built: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def build(self, builder: TileBuilder, root: SSAValue, conditions: Sequence[SSAValue] = ()) -> SSAValue:
        """The value in this view, as large as the fragments of the tile that it varies over; 0 where a condition does
        not hold, so that the product with another such value is 0."""
        if isinstance(root.owner, TakeAcrossOp):
            return self._held(root.owner, conditions)
        stack = [root, *conditions]
        while stack:
            value = stack[-1]
            if value in self.built:
                stack.pop()
                continue
            operands = [] if element_of(value.type) == index else self._operands(value)
            missing = [x for x in operands if x not in self.built]
            if missing:
                stack += missing
                continue
            stack.pop()
            self.built[value] = self._again(builder, value)
        built = self.built[root]
        inside = builder.conjunction(self.built[condition] for condition in conditions)
        if inside is not None:
            shape = joined_shape([inside, built])
            built = builder.fit(built, shape)
            built = builder.alu("where", inside, built, builder.constant_like(0.0, built))
        steps = self.accumulators.steps
        lead = shape_of(built.type)[: -len(self.fragment)] or (1,) * len(self.accumulators.lead)
        return builder.fit(built, (*lead[: len(lead) - len(steps)], *steps, *self.fragment))

    def _held(self, op: TakeAcrossOp, conditions: Sequence[SSAValue]) -> SSAValue:
        """What lanes and registers hold as this operand wants it: the tile of which the loop takes one place after the
        other."""
        value, accumulators = op.input, self.accumulators
        shape, factors = shape_of(value.type), op.factors
        rank = len(shape)
        steps = (
            [LinearForm({accumulators.whole.index: ATOMS[accumulators.matrix.atom].k})] if accumulators.steps else []
        )
        place = sum(steps, LinearForm({self.loop.index: 1}))
        in_order = (
            len(self.fragment) == 3
            and self.pair is not None
            and not conditions
            and linear_form(op.place) == place
            and [factor.dimension for factor in factors] == [*range(rank - 3 - len(steps), rank - 2), None, rank - 1]
            and factors[-2].result is accumulators.column_lane
            and shape == (*shape[: rank - 3 - len(steps)], *accumulators.steps, *self.fragment)
            and rank - 3 == len(accumulators.lead)
        )
        if not in_order:
            raise _refused(self.loop, "lanes and registers do not hold what it takes of them as an instruction does")
        return value

    def _operands(self, value: SSAValue) -> list[SSAValue]:
        owner = value.owner
        if self.accumulators.is_of_rows(value):
            return []
        if not isinstance(owner, _REBUILT):
            raise _refused(self.loop, "a factor is made of the result of a loop or of a reduction")
        if isinstance(owner, ReadOp):
            stage = owner.buffer.owner
            if isinstance(stage, StageOp) and stage.parent_op() is self.loop:
                raise _refused(self.loop, "slabs are staged in each of its steps: put a loop around it")
            return [] if owner.mask is None else [owner.mask]
        return list(owner.operands)

    def _again(self, builder: TileBuilder, value: SSAValue) -> SSAValue:
        if element_of(value.type) == index:
            return self._index(builder, value)
        op = value.owner
        assert isinstance(op, Operation)
        if self.accumulators.is_of_rows(value):
            return self._of_rows(value)
        with builder.at(op.location):
            if isinstance(op, ReadOp):
                return self._read(builder, op)
            operands = [self.built[x] for x in op.operands]
            if isinstance(op, ExpandOp):
                return operands[0]
            if isinstance(op, AluOp):
                return builder.alu(op.row().name, *operands)
            types = [with_shape(value.type, shape_of(operands[0].type))] if operands else [value.type]
            return builder.pure(type(op), operands, types, op.properties).results[0]

    def _of_rows(self, value: SSAValue) -> SSAValue:
        """One number for each row: lanes and registers hold the same rows of C and of A."""
        if self.lane is not self.accumulators.row_lane or len(self.fragment) != 3:
            raise _refused(self.loop, "the factor of the columns is made of the result of a reduction")
        assert isinstance(value.owner, Operation)
        assert value.owner.next_op is not None
        builder = builder_before(value.owner.next_op)
        *lead, rows, _ = shape_of(value.type)
        repeats = len(self.accumulators.repeats)
        steps = (1,) * len(self.accumulators.steps)
        with builder.at(value.owner.location):
            return builder.reshape(value, (*lead[:repeats], *steps, 1, rows, 1))

    def _form(self, value: SSAValue) -> LinearForm:
        form = linear_form(value)
        if form is None:
            raise _refused(self.loop, "an index is not linear in axes and loops")
        coefficients = {form.terms.get(leaf, 0) // step for leaf, step in self.together.items()}
        if len(coefficients) > 1 or any(form.terms.get(leaf, 0) % step for leaf, step in self.together.items()):
            raise _refused(self.loop, "an index takes lanes and registers along the columns apart")
        total = LinearForm({}, form.constant)
        for leaf, coefficient in form.terms.items():
            total += self.forms.get(leaf, LinearForm({leaf: 1})) * coefficient
        return total

    def _index(self, builder: TileBuilder, value: SSAValue) -> SSAValue:
        return build_form(builder, self._form(value), ())

    def _read(self, builder: TileBuilder, op: ReadOp) -> SSAValue:
        forms = [self._form(value) for value in op.indices]
        indices = [build_form(builder, form, ()) for form in forms]
        mask = None if op.mask is None else self.built[op.mask]
        shape = joined_shape(indices if mask is None else [*indices, mask])
        if mask is not None:
            mask = builder.fit(mask, shape)
            indices[0] = builder.fit(indices[0], shape)
        type = VectorType(element_of(op.result.type), shape) if shape else element_of(op.result.type)
        order = None if mask is not None else self._matrices(op.buffer, forms)
        if mask is None and not self._is_reread(op.buffer):
            builder = self._outside(builder, op.buffer, forms)
            indices = [build_form(builder, form, ()) for form in forms]
        read = ReadOp.of(op.buffer, indices, type, mask, None, order is not None, order is True)
        read.result.name_hint = op.result.name_hint
        return builder.insert(read).result

    def _is_reread(self, buffer: SSAValue) -> bool:
        """Whether the schedule lets each step read matrices that are the same in all."""
        schedule, stage = self.accumulators.kernel.schedule, buffer.owner
        assert schedule is not None
        return isinstance(stage, StageOp) and any(
            staging.reread and staging.buffer == stage.buffer.name_hint for staging in schedule.data.stage
        )

    def _outside(self, builder: TileBuilder, buffer: SSAValue, forms: Sequence[LinearForm]) -> TileBuilder:
        """A builder in front of the loops in which what is read there does not change."""
        op: Operation = self.accumulators.whole
        while isinstance(loop := op.parent_op(), ForOp):
            slab = buffer.owner
            if isinstance(slab, Operation) and slab.parent_op() is loop:
                break
            if any(loop.index in form.terms for form in forms):
                break
            op = loop
        return builder if op is self.accumulators.whole else builder_before(op)

    def _matrices(self, buffer: SSAValue, forms: list[LinearForm]) -> bool | None:
        """Whether a warp reads transposed matrices there, of rows of 16 bytes side by side; None if no matrices."""
        type = buffer.type
        assert is_memref(type)
        atom, width = ATOMS[self.accumulators.matrix.atom], byte_width(type.element_type)
        if memory_space(type) != "shared" or width * atom.pack != 4 or not forms:
            return None
        row = MATRIX_ROW_BYTES // width
        along = row_dimension(type)
        if isinstance(type.layout, SwizzleAttr):
            if type.layout.unit.data % row:
                return None
        elif any(stride % row for place, stride in enumerate(strides_of(type)) if place != along):
            return None
        last, others = forms[along], [form for place, form in enumerate(forms) if place != along]
        neighbours = self.accumulators.column_lane if self.pair is None else self.pair
        k, rows = {self.accumulators.column_lane, neighbours}, {self.lane}
        orders = ((k, rows, neighbours, False), (rows, k, self.lane, True))
        for along, across, leaf, transposed in orders if width == 2 else orders[:1]:
            rest = [c for x, c in last.terms.items() if x not in along]
            if (
                last.terms.get(leaf, 0) == 1
                and last.constant % row == 0
                and all(c % row == 0 for c in rest)
                and across.isdisjoint(last.terms)
                and not any(along & set(form.terms) for form in others)
            ):
                return transposed
        return None
