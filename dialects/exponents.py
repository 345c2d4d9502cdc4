"""Exponentials of scaled values less their running maximum, in f32, by one multiply-add and one power of 2 a value."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log2

from xdsl.ir import SSAValue

from .monoids import GREATEST_F32, LOG2_E, ALUBuilder

MOST_POWER = 2.0**28
"""Of log2(e) · scale · maximum: what a product up to this size is rounded by is at most 8."""


@dataclass(frozen=True)
class Exponents:
    """exp(scale · (value − maximum)) of values that are at most `maximum`, in sums that have a term of 1: 2 to the
    power of `power` · value + `shift`, where power is log2(e) · scale and shift −power · maximum, rounded.

    The rounding multiplies all terms of one shift by the same factor; sums of another shift are rescaled by what the
    shifts differ, rounded as they are. Where the factor might be too great, the power is the next power of 2, whose
    products are exact: values that are not the maximum differ from it by so much that their terms are next to nothing
    with either. It is not the power of 2 below, since shifts must not grow when the maximum does.

    scale: positive, and such that no value is −GREATEST_F32 / max(1, 2 · log2(e) · scale) or less but −∞
    """

    scale: float

    @property
    def _power(self) -> float:
        return self.scale * LOG2_E

    @property
    def _exact_power(self) -> float:
        return 2.0 ** ceil(log2(self._power))

    @property
    def lowest(self) -> float:
        """The maximum of no value, in place of −∞, of which −∞ less −∞ is NaN."""
        return -GREATEST_F32 / max(1.0, self._exact_power)

    @property
    def greatest_shift(self) -> float:
        """That of `lowest`, or more."""
        return -self.lowest * self._exact_power

    def shifts(self, b: ALUBuilder, maximum: SSAValue) -> tuple[SSAValue, SSAValue]:
        """(power, shift) of values up to a maximum, `lowest` or more."""
        power, exact = (b.constant_like(number, maximum) for number in (self._power, self._exact_power))
        if self._power != self._exact_power:
            is_small = b.alu("lt", b.alu("abs", maximum), b.constant_like(MOST_POWER / self._power, maximum))
            power = b.alu("where", is_small, power, exact)
        return power, b.alu("mul", maximum, b.alu("neg", power))

    def exp(self, b: ALUBuilder, value: SSAValue, power: SSAValue, shift: SSAValue) -> SSAValue:
        """0 for −∞. Wrong relative to itself, but for the common factor, by what a rounded `scale · value` is off, or
        by 2⁻¹²⁶."""
        power, shift = b.expand_like(power, value), b.expand_like(shift, value)
        return b.alu("exp2_ftz", b.alu("fma", value, power, shift))

    def rescaling(self, b: ALUBuilder, before: SSAValue, shift: SSAValue) -> SSAValue:
        """The factor of sums whose shift was `before`: 1 where it has not changed."""
        return b.alu("exp2_ftz", b.alu("sub", shift, before))

    def maximum(self, b: ALUBuilder, running: SSAValue) -> SSAValue:
        """The maximum of the scaled values, −∞ where there are none."""
        is_nothing = b.alu("le", running, b.constant_like(self.lowest, running))
        scaled = b.alu("mul", running, b.constant_like(self.scale, running))
        return b.alu("where", is_nothing, b.constant_like(float("-inf"), running), scaled)
