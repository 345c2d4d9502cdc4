"""What tests ask of the memory accesses of every kernel that they compile."""

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from uop.passes.gpu_kernel.gpu_kernel_check import GPUKernelCheckPass
from uop.rewriting.bounds import Finding, check_bounds


def check_memory(module: ModuleOp, *, gathers: bool = False) -> list[Finding]:
    """The accesses of a module's kernels are proved to be in bounds and aligned; the findings.

    gathers: some indices are data, which PyTorch's contract says are in range.
    """
    GPUKernelCheckPass().apply(Context(), module)
    findings = check_bounds(module)
    for finding in findings:
        assert not finding.is_failure(strict=not gathers), finding.message
    return findings
