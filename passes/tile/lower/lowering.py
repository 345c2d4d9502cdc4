"""What the lowering of one kernel knows and shares between its parts."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from ....dialects.gpu_kernel import AllocOp, Architecture, BarrierOp
from ....dialects.layouts import SHARED
from ....dialects.uop import KernelOp
from ..linear import LinearForm
from .grid import Grid
from .indices import Indices
from .scopes import Scope
from .values import Values


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

    def shared_array(self, element_count: int, like: MemRefType, hint: str) -> SSAValue:
        """An array of shared memory, declared at the kernel's top, of the element type of `like`."""
        type = MemRefType(like.element_type, [element_count], memory_space=SHARED)
        array = self.root.insert(AllocOp.of(type)).result
        array.name_hint = hint
        return array

    def barrier(self, scope: Scope) -> None:
        scope.insert(BarrierOp.create())

    def barrier_before(self, scope: Scope, op: Operation) -> None:
        """A barrier, if what `op` writes to shared memory may still be read."""
        if op in self.barriers:
            self.barrier(scope)
