"""What the launches of a program say about its kernels."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from ...dialects.tile import WriteOp
from ...dialects.traversal import ops_inside
from ...dialects.uop import KernelOp, LaunchOp


def launches_of(module: ModuleOp) -> dict[str, LaunchOp]:
    """The launches of a program's functions, by the names of their kernels."""
    bodies = [region for op in module.ops if not isinstance(op, KernelOp) for region in op.regions]
    launches = [op for body in bodies for op in ops_inside(body) if isinstance(op, LaunchOp)]
    return {launch.kernel.root_reference.data: launch for launch in launches}


def output_count(kernel: KernelOp, launch: LaunchOp | None) -> int:
    """Outputs come first among the arguments: as many as a launch has results, or else those that are written."""
    if launch is not None:
        return len(launch.results)
    written = {op.buffer for op in ops_inside(kernel.body) if isinstance(op, WriteOp)}
    return max((argument.index + 1 for argument in kernel.body.block.args if argument in written), default=0)
