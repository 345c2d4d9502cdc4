"""Functions of the bits of floats: sign, biased exponent, and the mantissa behind its leading 1 (IEEE 754)."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import bf16, f16, f32, f64, i16, i32, i64
from xdsl.ir import Attribute

from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor


@dataclass(frozen=True)
class Format:
    """A float type: the integer that has its width, and how many bits of it are mantissa and exponent."""

    integer: Attribute
    mantissa: int
    exponent: int

    @property
    def bias(self) -> int:
        return (1 << self.exponent - 1) - 1


FORMATS: dict[Attribute, Format] = {
    f64: Format(i64, 52, 11),
    f32: Format(i32, 23, 8),
    f16: Format(i16, 10, 5),
    bf16: Format(i16, 7, 8),
}


@lowering("nextafter")
def nextafter(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    """The neighbour of `self` towards `other`: as integers, the bits of a greater magnitude are greater by 1."""
    x, y = b.operands([self, other], b.element)
    bits = x.bitcast(FORMATS[b.element].integer)
    grows = (x < y).equal(x > 0)
    neighbour = grows.where(bits + 1, bits - 1).bitcast(b.element)
    least = bits.like(1).bitcast(b.element)
    neighbour = x.equal(0.0).where((y < 0).where(-least, least), neighbour)
    is_nan = x.alu("isnan") | y.alu("isnan")
    return is_nan.where(float("nan"), x.equal(y).where(y, neighbour))


@lowering("frexp.Tensor")
def frexp(b: Lowering, self: Tensor) -> list[Tensor]:
    """`self` as a mantissa from ½ to 1 and a power of 2; a number without a leading 1 is made greater first."""
    x = self.cast(b.compute)
    form = FORMATS[x.element]
    is_small = x.alu("abs") < 2.0 ** (1 - form.bias)
    scaled = is_small.where(x * 2.0**form.mantissa, x)
    bits = scaled.bitcast(form.integer)
    exponent = bits.alu("shr", form.mantissa).alu("and", (1 << form.exponent) - 1) - (form.bias - 1)
    exponent = is_small.where(exponent - form.mantissa, exponent)
    kept = bits.alu("and", ~(((1 << form.exponent) - 1) << form.mantissa))
    mantissa = kept.alu("or", (form.bias - 1) << form.mantissa).bitcast(x.element)
    has_none = x.equal(0.0) | x.alu("isinf") | x.alu("isnan")
    return [has_none.where(x, mantissa), has_none.where(0, exponent).cast(i32)]
