"""Movement: ops that say where elements come from and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..syntax import (
    UnaryTypeChange,
    integer_values,
    integers,
    parse_attributes,
    parse_integers,
    print_attributes,
    print_integers,
)
from ..types import element_count, element_of, is_bool, is_tensor, is_value_type, is_vector, shape_of, with_shape

Integers = DenseArrayBase.constr(i64)


class MovementOp(UnaryTypeChange):
    """Not an op: what movement ops share. Operand and result have one element type and are both tensors or both
    vectors."""

    @classmethod
    def parse_options(cls, parser: Parser) -> dict[str, Attribute]:
        options: dict[str, Attribute] = {}
        for name in option_names(cls):
            if name in OPTIONAL and not parser.parse_optional_keyword(name):
                continue
            if name not in OPTIONAL:
                parser.parse_keyword(name)
            options[name] = parse_integers(parser)
        return options

    def print_options(self, printer: Printer) -> None:
        for name in option_names(type(self)):
            values = self.properties.get(name)
            if isinstance(values, DenseArrayBase):
                printer.print_string(f" {name} ")
                print_integers(printer, values.get_values())  # pyright: ignore[reportArgumentType]

    def integers(self, name: str) -> tuple[int, ...]:
        """The list of integers that the option `name` holds."""
        values = self.properties[name]
        assert isinstance(values, DenseArrayBase)
        return integer_values(values)  # pyright: ignore[reportUnknownArgumentType]

    def verify_elements(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Check what all movement ops ask; the two shapes."""
        source, target = self.operands[0].type, self.results[0].type
        if not is_value_type(source) or not is_value_type(target):
            raise VerifyException(f"{self.name} is not defined for {source} -> {target}")
        if element_of(source) != element_of(target):
            raise VerifyException(f"{self.name} keeps the element type: {source} -> {target}")
        if not is_tensor(target) and not is_vector(target):
            raise VerifyException(f"{self.name} gives a tensor or a vector, not {target}")
        if (is_tensor(source) or is_vector(source)) and is_tensor(source) != is_tensor(target):
            raise VerifyException(f"{self.name} does not turn {source} into {target}")
        return shape_of(source), shape_of(target)


OPTIONAL = ("strides",)


def option_names(op: type[MovementOp]) -> tuple[str, ...]:
    return _OPTION_NAMES.get(op.name, ())


@irdl_op_definition
class ReshapeOp(MovementOp):
    """The same elements in row-major order under another shape."""

    name = "uop.reshape"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, target = self.verify_elements()
        if element_count(source) != element_count(target):
            raise VerifyException(f"reshape of {list(source)} to {list(target)} changes the number of elements")

    @staticmethod
    def of(input: SSAValue, shape: Sequence[int]) -> ReshapeOp:
        return ReshapeOp.create(operands=(input,), result_types=(with_shape(input.type, shape),))


@irdl_op_definition
class ExpandOp(MovementOp):
    """Repeat along axes of extent 1, or make a tensor or vector of a scalar. The one form of broadcasting.

    input: the shape of the result with some extents 1, or a scalar.
    """

    name = "uop.expand"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, target = self.verify_elements()
        if not source and not is_tensor(self.input.type):
            return  # a scalar
        if len(source) != len(target):
            raise VerifyException(
                f"expand keeps the rank: {list(source)} -> {list(target)} (uop.reshape adds axes of 1)"
            )
        for axis, (old, new) in enumerate(zip(source, target, strict=True)):
            if old != new and old != 1:
                raise VerifyException(f"expand repeats axes of extent 1; axis {axis} has extent {old}, not 1 or {new}")


@irdl_op_definition
class PermuteOp(MovementOp):
    """Reorder axes: axis `d` of the result is axis `order[d]` of the input."""

    name = "uop.permute"
    order = prop_def(Integers)
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, target = self.verify_elements()
        order = self.integers("order")
        if sorted(order) != list(range(len(source))):
            raise VerifyException(f"order {list(order)} is no permutation of the {len(source)} axes")
        expected = tuple(source[axis] for axis in order)
        if target != expected:
            raise VerifyException(f"permute gives shape {list(expected)}, not {list(target)}")

    @staticmethod
    def of(input: SSAValue, order: Sequence[int]) -> PermuteOp:
        shape = shape_of(input.type)
        type = with_shape(input.type, [shape[axis] for axis in order])
        return PermuteOp.create(operands=(input,), result_types=(type,), properties={"order": integers(order)})


@irdl_op_definition
class PadOp(MovementOp):
    """Add `low` elements in front of each axis and `high` behind it: zeros, or false. Neither is negative."""

    name = "uop.pad"
    low = prop_def(Integers)
    high = prop_def(Integers)
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, target = self.verify_elements()
        low, high = self.integers("low"), self.integers("high")
        _verify_length(self, source, low, high)
        if any(x < 0 for x in (*low, *high)):
            raise VerifyException("pad adds elements: low and high are not negative (uop.shrink removes)")
        expected = tuple(a + n + b for a, n, b in zip(low, source, high, strict=True))
        if target != expected:
            raise VerifyException(f"pad gives shape {list(expected)}, not {list(target)}")

    @staticmethod
    def of(input: SSAValue, low: Sequence[int], high: Sequence[int]) -> PadOp:
        shape = [a + n + b for a, n, b in zip(low, shape_of(input.type), high, strict=True)]
        return PadOp.create(
            operands=(input,),
            result_types=(with_shape(input.type, shape),),
            properties={"low": integers(low), "high": integers(high)},
        )


@irdl_op_definition
class ShrinkOp(MovementOp):
    """A part of each axis: element `i` of the result is element `offsets[d] + i · strides[d]` (strides are 1 where
    not given)."""

    name = "uop.shrink"
    offsets = prop_def(Integers)
    strides = opt_prop_def(Integers)
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def steps(self) -> tuple[int, ...]:
        """The stride of each axis."""
        return self.integers("strides") if "strides" in self.properties else (1,) * len(shape_of(self.input.type))

    def verify_(self) -> None:
        source, target = self.verify_elements()
        offsets, steps = self.integers("offsets"), self.steps()
        _verify_length(self, source, offsets, steps)
        if len(target) != len(source):
            raise VerifyException("shrink keeps the rank")
        for axis, (extent, offset, step, count) in enumerate(zip(source, offsets, steps, target, strict=True)):
            if step < 1:
                raise VerifyException(
                    f"axis {axis} has stride {step}: strides are positive (uop.flip turns an axis round)"
                )
            if offset < 0 or count < 0 or (count > 0 and offset + (count - 1) * step >= extent):
                raise VerifyException(
                    f"axis {axis}: {count} elements from {offset} in steps of {step} leave its {extent}"
                )

    @staticmethod
    def of(
        input: SSAValue, offsets: Sequence[int], shape: Sequence[int], strides: Sequence[int] | None = None
    ) -> ShrinkOp:
        properties: dict[str, Attribute] = {"offsets": integers(offsets)}
        if strides is not None and any(step != 1 for step in strides):
            properties["strides"] = integers(strides)
        return ShrinkOp.create(operands=(input,), result_types=(with_shape(input.type, shape),), properties=properties)


@irdl_op_definition
class WindowOp(MovementOp):
    """One axis seen as several: element `i0, i1, …` of the new axes is element `i0 · strides[0] + i1 · strides[1] + …`
    of the axis.

    The windows of a convolution or a pool are `strides [stride, dilation]`: which window, which element of it.
    New axes stand in the place of `axis`, as many as there are strides; their extents are the result's. No stride is
    less than 1 (uop.expand repeats), and elements may be in several windows or in none.
    """

    name = "uop.window"
    axis = prop_def(IntegerAttr)
    strides = prop_def(Integers)
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @classmethod
    def parse_options(cls, parser: Parser) -> dict[str, Attribute]:
        parser.parse_keyword("axis")
        axis = IntegerAttr(parser.parse_integer(allow_boolean=False), i64)
        parser.parse_keyword("strides")
        return {"axis": axis, "strides": parse_integers(parser)}

    def print_options(self, printer: Printer) -> None:
        printer.print_string(f" axis {self.place} strides ")
        print_integers(printer, self.integers("strides"))

    @property
    def place(self) -> int:
        """The axis, as a number."""
        return self.axis.value.data

    @property
    def added(self) -> int:
        """How many axes the result has more."""
        return len(self.integers("strides")) - 1

    def verify_(self) -> None:
        source, target = self.verify_elements()
        axis, strides = self.place, self.integers("strides")
        if not 0 <= axis < len(source):
            raise VerifyException(f"axis {axis} is no axis of a shape of rank {len(source)}")
        if not strides or any(stride < 1 for stride in strides):
            raise VerifyException(f"strides {list(strides)} are not one or more positive numbers")
        extents = target[axis : axis + len(strides)]
        if len(target) != len(source) + self.added or target != (*source[:axis], *extents, *source[axis + 1 :]):
            raise VerifyException(f"window replaces axis {axis} by {len(strides)}: {list(source)} -> {list(target)}")
        last = sum((extent - 1) * stride for extent, stride in zip(extents, strides, strict=True))
        if 0 not in extents and last >= source[axis]:
            raise VerifyException(
                f"axis {axis}: windows {list(extents)} of strides {list(strides)} leave its {source[axis]}"
            )

    @staticmethod
    def of(input: SSAValue, axis: int, extents: Sequence[int], strides: Sequence[int]) -> WindowOp:
        shape = shape_of(input.type)
        type = with_shape(input.type, (*shape[:axis], *extents, *shape[axis + 1 :]))
        properties = {"axis": IntegerAttr(axis, i64), "strides": integers(strides)}
        return WindowOp.create(operands=(input,), result_types=(type,), properties=properties)


@irdl_op_definition
class FlipOp(MovementOp):
    """Turn the given axes round."""

    name = "uop.flip"
    axes = prop_def(Integers)
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, target = self.verify_elements()
        if source != target:
            raise VerifyException("flip keeps the shape")
        verify_axes(self.integers("axes"), len(source))

    @staticmethod
    def of(input: SSAValue, axes: Sequence[int]) -> FlipOp:
        return FlipOp.create(operands=(input,), result_types=(input.type,), properties={"axes": integers(axes)})


_OPTION_NAMES = {
    "uop.permute": ("order",),
    "uop.pad": ("low", "high"),
    "uop.shrink": ("offsets", "strides"),
    "uop.flip": ("axes",),
}


@irdl_op_definition
class IotaOp(IRDLOperation):
    """0, 1, 2, …: `uop.iota : tensor<16xi64>`. One axis; uop.reshape and uop.expand make more of it."""

    name = "uop.iota"
    result = result_def(TensorType.constr())
    traits = traits_def(Pure())

    def verify_(self) -> None:
        if not is_value_type(self.result.type) or is_bool(element_of(self.result.type)):
            raise VerifyException(f"iota is not defined for {self.result.type}: it counts in numbers")
        if len(shape_of(self.result.type)) != 1:
            raise VerifyException(f"iota gives a tensor of one axis, not {self.result.type}")

    @classmethod
    def parse(cls, parser: Parser) -> IotaOp:
        attributes = parse_attributes(parser)
        parser.parse_punctuation(":")
        return cls.create(result_types=(parser.parse_type(),), attributes=attributes)

    def print(self, printer: Printer) -> None:
        print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


def verify_axes(axes: Sequence[int], rank: int) -> None:
    """Axes are in range, ascending and different."""
    if list(axes) != sorted(set(axes)) or any(not 0 <= axis < rank for axis in axes):
        raise VerifyException(f"axes {list(axes)} are not ascending axes of a shape of rank {rank}")


def _verify_length(op: Operation, shape: Sequence[int], *lists: Sequence[int]) -> None:
    if any(len(values) != len(shape) for values in lists):
        raise VerifyException(f"{op.name} takes one number for each of {len(shape)} axes")
