"""Blocks of a kernel while they are built, in which scalars and vectors meet."""

from __future__ import annotations

from xdsl.dialects.builtin import bf16, f16, f32
from xdsl.ir import Attribute, SSAValue

from ....dialects.cpu_kernel import SplatOp
from ....dialects.types import element_of, is_vector, with_shape
from ..lower.scopes import Scope


class VectorScope(Scope):
    """A `Scope` in which a scalar stands for all lanes of a vector where an op has both.

    Arithmetic on 16-bit floats goes through f32, as it is defined: one rounding an op.
    """

    def alu(self, name: str, *operands: SSAValue) -> SSAValue:
        lanes = max([lanes_of(operand.type) for operand in operands])
        values = [self.fit(operand, lanes) for operand in operands] if lanes else operands
        element = element_of(values[-1].type)
        if element not in (f16, bf16) or name == "where":
            return super().alu(name, *values)
        result = super().alu(name, *(self.cast(value, f32) for value in values))
        return self.cast(result, element) if element_of(result.type) == f32 else result

    def fit(self, value: SSAValue, lanes: int) -> SSAValue:
        """`value` as a vector of so many lanes; itself if it is one, or if there are none."""
        if not lanes or is_vector(value.type):
            return value
        return self.pure(SplatOp, (value,), (with_shape(value.type, (lanes,)),)).results[0]

    def expand(self, value: SSAValue, type: Attribute) -> SSAValue:
        return self.fit(value, lanes_of(type))


def lanes_of(type: Attribute) -> int:
    """Lanes of a vector; 0 of a scalar."""
    return type.shape.data[0].data if is_vector(type) else 0
