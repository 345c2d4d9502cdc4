"""Sizes that are known when a program runs, in the place of ints, and how they lie in tensors of their greatest size.

Lowerings calculate with them as with ints: what cannot be told for all values of the symbols is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn, cast

from xdsl.dialects.builtin import TensorType, i64
from xdsl.ir import SSAValue

from ....dialects.symbols import Bounds, Extent
from ....rewriting.builder import Builder
from .errors import Unsupported

STATIC = "export with static sizes"
ADVICE = "give torch.export.Dim a `min` and a `max` that tell, or export with a static size"


@dataclass(frozen=True)
class Scope:
    """The symbols of a function. bounds: of each; values: the argument that is its value"""

    bounds: Bounds
    values: Mapping[str, SSAValue]

    def size(self, extent: Extent) -> int:
        """An extent as a shape has it: an int, or a `Size`, which behaves like one."""
        constant = extent.constant
        return _as_int(Size(extent, self)) if constant is None else constant

    def number(self, builder: Builder, extent: Extent) -> SSAValue:
        """The value of an extent when the program runs: an i64 of rank 0. Symbols are clamped to their bounds."""
        total: SSAValue | None = None
        for monomial, coefficient in extent.terms:
            product = value_of(builder, coefficient) if coefficient != 1 or not monomial else None
            for factor in monomial:
                if isinstance(factor, str):
                    value = self._symbol(builder, factor)
                else:
                    dividend = self.number(builder, factor.dividend)
                    value = builder.alu("floordiv", dividend, value_of(builder, factor.divisor))
                product = value if product is None else builder.alu("mul", value, product)
            assert product is not None
            total = product if total is None else builder.alu("add", total, product)
        return value_of(builder, 0) if total is None else total

    def _symbol(self, builder: Builder, name: str) -> SSAValue:
        low, high = (value_of(builder, bound) for bound in self.bounds[name])
        return builder.alu("min", builder.alu("max", self.values[name], low), high)


class Size:
    """A size that is known when the program runs. It is equal to no int, and to those that are the same extent."""

    __slots__ = ("extent", "scope")

    def __init__(self, extent: Extent, scope: Scope) -> None:
        self.extent = extent
        self.scope = scope

    @property
    def bound(self) -> int:
        """Its greatest value."""
        return self.extent.range(self.scope.bounds)[1]

    def __str__(self) -> str:
        return str(self.extent)

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Size) and other.extent == self.extent

    def __hash__(self) -> int:
        return hash(self.extent)

    def __bool__(self) -> bool:
        return True

    def _with(self, other: object, combine: Callable[[Extent, Extent], Extent]) -> int:
        """An operation with a number or another size; tensors have their own."""
        if isinstance(other, float):
            self._unknown(f"it calculates with {other}, and {self}")
        extent = _extent(other)
        return NotImplemented if extent is None else self.scope.size(combine(self.extent, extent))

    def __add__(self, other: object) -> int:
        return self._with(other, lambda x, y: x + y)

    __radd__ = __add__

    def __sub__(self, other: object) -> int:
        return self._with(other, lambda x, y: x - y)

    def __rsub__(self, other: object) -> int:
        return self._with(other, lambda x, y: y - x)

    def __neg__(self) -> int:
        return self.scope.size(-self.extent)

    def __mul__(self, other: object) -> int:
        return self._with(other, lambda x, y: x * y)

    __rmul__ = __mul__

    def __floordiv__(self, other: int | Size) -> int:
        if isinstance(other, int) and other > 0:
            return self.scope.size(self.extent // other)
        found = quotient(_as_int(self), _as_int(other) if isinstance(other, Size) else other)
        return self._unknown(f"what {self} // {other} is") if found is None else found

    def __rfloordiv__(self, other: int) -> int:
        return self._unknown(f"what {other} // ({self}) is")

    def __mod__(self, other: int) -> int:
        return self - self // other * other

    def __rmod__(self, other: int) -> int:
        """A place on an axis of this extent, which may be counted from its end."""
        if other >= 0:
            return other if self > other else self._unknown(f"{other} % ({self})")
        return self + other if self >= -other else self._unknown(f"{other} % ({self})")

    def _unknown(self, what: str) -> NoReturn:
        raise Unsupported(f"{what} is not known before the program runs", ADVICE)

    def _number(self, *others: object) -> NoReturn:
        raise Unsupported(f"it takes a number, and {self} is not known before the program runs", STATIC)

    __index__ = __int__ = __float__ = __truediv__ = __rtruediv__ = __pow__ = __rpow__ = _number

    def __lt__(self, other: object) -> bool:
        if (extent := _extent(other)) is None:
            return NotImplemented
        low, high = (self.extent - extent).range(self.scope.bounds)
        if low < 0 <= high:
            self._unknown(f"whether {self} < {other}")
        return high < 0

    def __le__(self, other: object) -> bool:
        if (extent := _extent(other)) is None:
            return NotImplemented
        low, high = (self.extent - extent).range(self.scope.bounds)
        if low <= 0 < high:
            self._unknown(f"whether {self} <= {other}")
        return high <= 0

    def __gt__(self, other: object) -> bool:
        return NotImplemented if _extent(other) is None else not self <= other

    def __ge__(self, other: object) -> bool:
        return NotImplemented if _extent(other) is None else not self < other


def _extent(number: object) -> Extent | None:
    return number.extent if isinstance(number, Size) else Extent.of(number) if isinstance(number, int) else None


def _as_int(size: Size) -> int:
    """As PyTorch does with `SymInt`: what takes an int calculates with it and knows of nothing else."""
    return cast("int", size)


def as_size(number: object) -> Size | None:
    """The number as the size that it is, if it is one."""
    return number if isinstance(number, Size) else None


def is_size(number: object) -> bool:
    return isinstance(number, Size)


def bound_of(size: int) -> int:
    """The greatest value of an extent: that which the dimension of a bounded tensor has."""
    symbolic = as_size(size)
    return size if symbolic is None else symbolic.bound


def value_of(builder: Builder, size: int) -> SSAValue:
    """The value of a size when the program runs: an i64 of rank 0."""
    symbolic = as_size(size)
    if symbolic is None:
        return builder.expand(builder.const(size, i64), TensorType(i64, ()))
    return symbolic.scope.number(builder, symbolic.extent)


@dataclass(frozen=True)
class Dim:
    """A dimension of a bounded tensor.

    size:    how many elements are meant
    digits:  sizes whose product is `size`, the outermost first: element i of the tensor is the one whose place is
      written i in mixed radix with the digits' bounds, and is meant where each digit is less than its size. One digit,
      where no axis of symbolic size is inside of another: the first `size` elements are meant.
    uniform: all elements are the same, those that are not meant too, so that they may lie in any order
    """

    size: int
    digits: tuple[int, ...]
    uniform: bool = False

    @staticmethod
    def of(size: int, uniform: bool = False) -> Dim:
        return Dim(size, (size,), uniform)

    @property
    def extent(self) -> int:
        """That of the tensor, which has room for all."""
        product = 1
        for digit in self.digits:
            product *= bound_of(digit)
        return product

    @property
    def is_cut(self) -> bool:
        """Whether there may be elements that are not meant."""
        return is_size(self.size)


def merged(digits: Sequence[int]) -> tuple[int, ...]:
    """The same elements with fewer digits: where what is inside has a static size, the first ones are meant."""
    result: list[int] = []
    for digit in digits:
        if digit == 1:
            continue
        if result and not is_size(digit) and bound_of(result[-1]) * digit == bound_of(result[-1] * digit):
            result[-1] = result[-1] * digit
        else:
            result.append(digit)
    return tuple(result) or (1,)


def split(dims: Sequence[Dim], shape: Sequence[int]) -> tuple[Dim, ...] | None:
    """The dimensions of the same elements, in the same order, under another shape; None where they lie otherwise.

    Digits are taken from the innermost on, and cut where what is inside has a static size.
    """
    left = list(merged([digit for dim in dims for digit in dim.digits]))
    uniform = all(dim.uniform for dim in dims if dim.is_cut)
    found: list[Dim] = []
    for size in reversed(shape):
        taken: list[int] = []
        rest = size
        while rest != 1:
            if not left:
                return None
            digit = left.pop()
            outer = digit if digit == rest else quotient(digit, rest)
            if digit == rest:
                taken.append(digit)
                rest = 1
            elif outer is not None and not is_size(rest) and bound_of(outer) * rest == bound_of(digit):
                left.append(outer)
                taken.append(rest)
                rest = 1
            elif (inner := quotient(rest, digit)) is not None:
                taken.append(digit)
                rest = inner
            else:
                return None
        found.append(Dim(size, merged(taken[::-1]), uniform and is_size(size)))
    return tuple(reversed(found)) if not left or left == [1] else None


def quotient(size: int, divisor: int) -> int | None:
    """`size` divided by another size, where it is that times something."""
    sizes = as_size(size), as_size(divisor)
    if sizes == (None, None):
        return size // divisor if divisor and size % divisor == 0 else None
    scope = next(each for each in sizes if each is not None).scope
    extents = [
        Extent.of(number) if symbolic is None else symbolic.extent
        for number, symbolic in zip((size, divisor), sizes, strict=True)
    ]
    found = extents[0].divided_by(extents[1])
    return None if found is None else scope.size(found)
