"""Registers of a thread: what the compiler is kept from computing again, and two values in one."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, VectorType, bf16, f16, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from ..types import element_of, index, shape_of


@irdl_op_definition
class PinOp(IRDLOperation):
    """An index in a register of its own: `%y = gpu_kernel.pin %x`.

    NVRTC saves registers by computing addresses again in each step of a loop, from the thread's number on; what is
    pinned it takes for a number that it knows nothing of.
    """

    name = "gpu_kernel.pin"

    input = operand_def(IndexType)
    result = result_def(IndexType)

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict"

    @staticmethod
    def of(value: SSAValue) -> PinOp:
        return PinOp.create(operands=(value,), result_types=(index,))


@irdl_op_definition
class PackOp(IRDLOperation):
    """Two f32, rounded to nearest even, side by side in one register: `%v = gpu_kernel.pack %x, %y : vector<2xf16>`.

    result: of f16 or bf16.
    """

    name = "gpu_kernel.pack"

    first = operand_def(f32)
    second = operand_def(f32)
    result = result_def(VectorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$first `,` $second attr-dict `:` type($result)"

    @staticmethod
    def of(first: SSAValue, second: SSAValue, element: Attribute) -> PackOp:
        return PackOp.create(operands=(first, second), result_types=(VectorType(element, (2,)),))

    def verify_(self) -> None:
        if shape_of(self.result.type) != (2,) or element_of(self.result.type) not in (f16, bf16):
            raise VerifyException(f"two f32 are packed as f16 or bf16, not {self.result.type}")
