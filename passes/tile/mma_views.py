"""Operands of a matrix instruction, computed in their own views of lanes and registers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from ...dialects.atoms import ATOMS, MATRIX_ROW_BYTES
from ...dialects.axes import AxisKind
from ...dialects.layouts import SwizzleAttr, memory_space, row_dimension, strides_of
from ...dialects.loop import ForOp
from ...dialects.tile import AxisOp, ReadOp, StageOp, TakeAcrossOp
from ...dialects.types import byte_width, element_of, index, is_memref, shape_of, with_shape
from ...dialects.uop import AluOp, ExpandOp
from ...rewriting.linear import LinearForm
from .linear import linear_form
from .mma_accumulators import REBUILT, Accumulators, refused
from .places import build_form, builder_before
from .tile_builder import TileBuilder, joined_shape


def view_of_a(accumulators: Accumulators, loop: ForOp) -> View:
    """Fragments of A: halves of k, halves of the rows, neighbours along k."""
    registers = _Registers(accumulators, (2, 2, accumulators.atom.pack))
    half, pair = registers.along_k(-3)
    row = registers.like(accumulators.row_register, -2)
    forms = registers.forms(loop, half, pair)
    forms[accumulators.row_lane] = LinearForm({accumulators.row_lane: 1})
    forms[accumulators.row_register] = LinearForm({row: 1})
    return View(loop, accumulators, registers.fragment, forms, accumulators.row_lane, {}, pair)


def view_of_b(accumulators: Accumulators, loop: ForOp) -> View:
    """Fragments of B: halves of k, neighbours along k. The lanes of rows are columns here."""
    registers = _Registers(accumulators, (2, accumulators.atom.pack))
    half, pair = registers.along_k(-2)
    forms = registers.forms(loop, half, pair)
    # A column is 2 · lane + register, and here the lane of a row: the register stands for all of it.
    forms[accumulators.column_register] = LinearForm({accumulators.row_lane: 1})
    forms[accumulators.column_lane] = LinearForm({})
    together = {accumulators.column_lane: 2, accumulators.column_register: 1}
    return View(loop, accumulators, registers.fragment, forms, accumulators.row_lane, together, pair)


@dataclass(frozen=True)
class _Registers:
    """The register axes of a view, at the kernel's top. fragment: extents of the dimensions of a lane's fragment."""

    accumulators: Accumulators
    fragment: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.accumulators.lead, *self.fragment)

    def along_k(self, half: int) -> tuple[SSAValue, SSAValue | None]:
        """Those of the halves of k, along dimension `half`, and of neighbours in one register."""
        reduced = self.accumulators.matrix.reduced
        return self.axis(reduced, half), self.axis(reduced, -1) if self.accumulators.atom.pack > 1 else None

    def forms(self, loop: ForOp, half: SSAValue, pair: SSAValue | None) -> dict[SSAValue, LinearForm]:
        """What both operands see alike: the position along k, and the tiles that repeat the instruction."""
        accumulators = self.accumulators
        pack = accumulators.atom.pack
        k = LinearForm({half: 4 * pack, accumulators.column_lane: pack})
        if pair is not None:
            k += LinearForm({pair: 1})
        forms: dict[SSAValue, LinearForm] = {loop.index: k}
        if accumulators.steps:
            step = self.axis(accumulators.matrix.reduced, len(accumulators.repeats))
            forms[accumulators.whole.index] = LinearForm({step: 1})
        for dimension, op in accumulators.registers.items():
            if dimension < len(accumulators.repeats):
                forms[op.result] = LinearForm({self.like(op.result, dimension): 1})
        return forms

    def like(self, register: SSAValue, dimension: int) -> SSAValue:
        """That of the axis of another register, along a dimension."""
        assert isinstance(register.owner, AxisOp)
        return self.axis(register.owner.axis.axis.data, dimension)

    def axis(self, axis: str, dimension: int) -> SSAValue:
        """The register axis of this name along a dimension, counted from the end where it is negative."""
        dimension %= len(self.shape)
        block = self.accumulators.kernel.body.block
        type = VectorType(index, [extent if d == dimension else 1 for d, extent in enumerate(self.shape)])
        last: AxisOp | None = None
        for op in block.ops:
            if isinstance(op, AxisOp):
                last = op
                if (op.axis.axis.data, op.axis.axis_kind, op.result.type) == (axis, AxisKind.REGISTER, type):
                    return op.result
        assert last is not None
        new = AxisOp.of(axis, self.shape[dimension], AxisKind.REGISTER, type)
        new.result.name_hint = f"r{axis}"
        new.location = last.location
        block.insert_op_after(new, last)
        return new.result


@dataclass
class View:
    """How one operand of an instruction sees the axes.

    forms: axis or loop index of the accumulators' view → what it is here; others stay what they are.
    lane: what counts the rows of matrices that lie along the other axis than k.
    together: axes that mean something here only together, in multiples of these coefficients.
    pair: neighbours along k in one register; None where it holds one element.
    fragment: extents of the dimensions that a lane's fragment takes.
    """

    loop: ForOp
    accumulators: Accumulators
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
            raise refused(self.loop, "lanes and registers do not hold what it takes of them as an instruction does")
        return value

    def _operands(self, value: SSAValue) -> list[SSAValue]:
        owner = value.owner
        if self.accumulators.is_of_rows(value):
            return []
        if not isinstance(owner, REBUILT):
            raise refused(self.loop, "a factor is made of the result of a loop or of a reduction")
        if isinstance(owner, ReadOp):
            stage = owner.buffer.owner
            if isinstance(stage, StageOp) and stage.parent_op() is self.loop:
                raise refused(self.loop, "slabs are staged in each of its steps: put a loop around it")
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
            raise refused(self.loop, "the factor of the columns is made of the result of a reduction")
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
            raise refused(self.loop, "an index is not linear in axes and loops")
        coefficients = {form.terms.get(leaf, 0) // step for leaf, step in self.together.items()}
        if len(coefficients) > 1 or any(form.terms.get(leaf, 0) % step for leaf, step in self.together.items()):
            raise refused(self.loop, "an index takes lanes and registers along the columns apart")
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
