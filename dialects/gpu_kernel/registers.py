"""Registers of a thread that the compiler is kept from computing again."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from ..types import index


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
