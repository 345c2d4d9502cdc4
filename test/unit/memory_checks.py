"""What tests ask of the memory accesses of every kernel that they compile."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from uop.dialects.gpu_kernel import AsyncCopyOp
from uop.passes.gpu_kernel.gpu_kernel_check import GPUKernelCheckPass
from uop.rewriting.bounds import Finding, check_bounds
from uop.rewriting.ranges import RangeAnalysis


def check_memory(module: ModuleOp, *, gathers: bool = False) -> list[Finding]:
    """The accesses of a module's kernels are proved to be in bounds and aligned, and no mask is known; the findings.

    gathers: some indices are data, which PyTorch's contract says are in range.
    """
    GPUKernelCheckPass().apply(Context(), module)
    check_masks(module)
    findings = check_bounds(module)
    for finding in findings:
        assert not finding.is_failure(strict=not gathers), finding.message
    return findings


def check_masks(module: ModuleOp) -> None:
    """No access has a mask that is always true or always false: `uop-simplify` and tile-drop-masks leave none.

    An asynchronous copy may have one that is always false: the part of a slab that is filled with zeros.
    """
    ranges = RangeAnalysis()
    for op in module.walk():
        mask: SSAValue | None = getattr(op, "mask", None)
        if mask is not None:
            known = ranges.interval(mask)
            assert known is not None, op
            assert not known.is_single or (isinstance(op, AsyncCopyOp) and known.high == 0), op
