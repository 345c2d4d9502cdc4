"""What the lowering of one kernel knows and shares between its parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from ....dialects.gpu_kernel import AllocOp, Architecture, BarrierOp
from ....dialects.layouts import SHARED, memory_space
from ....dialects.types import byte_width, element_count, is_memref
from ....dialects.uop import KernelOp
from ....rewriting.diagnostics import PassError
from ....rewriting.linear import LinearForm
from .grid import Grid
from .indices import Indices
from .scopes import Scope
from .values import Values


@lru_cache(maxsize=1024)
def flat_type(element: Attribute, element_count: int) -> MemRefType:
    """A flat buffer of global memory."""
    return MemRefType(element, [element_count])


def flat_types(kernel: KernelOp, help: str) -> list[MemRefType]:
    """The types of a kernel's buffers, flat; `PassError` with the help where an argument is no buffer."""
    types: list[MemRefType] = []
    for argument in kernel.body.block.args:
        type = argument.type
        if not is_memref(type):
            raise PassError(f"kernel @{kernel.sym_name.data} takes {type}: it is not in tile form", kernel, help)
        types.append(flat_type(type.element_type, element_count(type.get_shape())))
    return types


@lru_cache(maxsize=1024)
def shared_type(element: Attribute, element_count: int) -> MemRefType:
    """A shared array of at least so many elements.

    It is a whole number of 16-byte units long, as shared memory is given out: NVRTC may read the last one as a vector.
    """
    unit = max(1, 16 // byte_width(element))
    return MemRefType(element, [-(-element_count // unit) * unit], memory_space=SHARED)


@dataclass
class Lowering:
    """The lowering of one kernel.

    root: the kernel's body.
    buffers: argument or slab of tile form → flat buffer or shared array.
    slots: slab → where in its array the copy that is used now begins.
    barriers: ops of tile form in front of whose shared writes all threads must have arrived.
    """

    kernel: KernelOp
    arch: Architecture
    root: Scope
    indices: Indices
    values: Values
    grid: Grid
    buffers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    slots: dict[SSAValue, LinearForm] = field(default_factory=dict[SSAValue, LinearForm])
    barriers: set[Operation] = field(default_factory=set[Operation])

    def shared_array(self, element_count: int, element: Attribute, hint: str) -> SSAValue:
        """An array of shared memory, declared at the kernel's top."""
        array = self.root.insert(AllocOp.of(shared_type(element, element_count))).result
        array.name_hint = hint
        return array

    def has_room(self, size: int) -> bool:
        """Whether the shared arrays so far leave so many bytes."""
        taken = 0
        for op in self.root.block.ops:
            if isinstance(op, AllocOp) and memory_space(op.result.type) == "shared":
                type = op.result.type
                assert is_memref(type)
                taken += element_count(type.get_shape()) * byte_width(type.element_type)
        return taken + size <= self.arch.static_shared_bytes

    def barrier(self, scope: Scope) -> None:
        scope.insert(BarrierOp.create())

    def barrier_before(self, scope: Scope, op: Operation) -> None:
        """A barrier, if what `op` writes to shared memory may still be read."""
        if op in self.barriers:
            self.barrier(scope)
