"""Products without matrix instructions, 8 x 8 elements a thread: whole programs, simulated with the race check on.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import KernelRun
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

PROGRAMS = {
    "primes": "torch.randn(509, 19) @ torch.randn(19, 521)",
    "right transposed": "torch.randn(449, 33) @ torch.randn(513, 33).T",
    "left transposed": "torch.randn(33, 512).T @ torch.randn(33, 452)",
    "batches": "torch.bmm(torch.randn(16, 65, 18), torch.randn(16, 18, 127))",
    "epilogue": "F.gelu(F.linear(torch.randn(500, 40), torch.randn(512, 40), torch.randn(512)))",
    "mixed": "torch.randn(512, 36, dtype=torch.float16).float() @ torch.randn(36, 500)",
}


def _run(program: str) -> KernelRun:
    """The one kernel of a program whose result is right."""
    result = run_captured(capture_expression(program), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    (run,) = result.run.kernels
    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    run = _run(PROGRAMS[name])
    assert run.compiled.kernel.threads == 64
    _check_spills(run)


def _check_spills(run: KernelRun) -> None:
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (run.compiled.text, arch)


def _total(run: KernelRun, kind: str, what: str) -> int:
    return sum(getattr(counts, what) for counts in run.counters.by_instruction.values() if counts.kind == kind)


def test_cost() -> None:
    """16 bytes a read, no bank conflicts, one barrier a slab, and little but multiplications."""
    run = _run("torch.randn(512, 64) @ torch.randn(64, 512)")
    warps, steps = 64 * 2, 64 // 16
    # 8 rows of 4 steps and 8 columns of one step are 2 reads a step each; the compiler may split one.
    assert warps * steps * 64 <= _total(run, "load.shared", "warps") <= warps * steps * 65
    for kind in ("load.shared", "cp.async"):
        assert _total(run, kind, "wavefronts") == _total(run, kind, "ideal_wavefronts") > 0
    assert _total(run, "barrier", "warps") == warps * steps
    assert _total(run, "store.global", "requests") == 512 * 512 // (4 * 32)
    assert _total(run, "fp32", "warps") == 512 * 512 * 64 // 32


@pytest.mark.parametrize(
    ("program", "min_blocks"),
    [
        ("torch.randn(64, 12) @ torch.randn(12, 64)", 3),
        ("torch.randn(512, 16) @ torch.randn(16, 512)", 3),
        ("torch.randn(101, 300, dtype=torch.float64) @ torch.randn(300, 67, dtype=torch.float64)", 2),
    ],
)
def test_others(program: str, min_blocks: int) -> None:
    """What one slab holds, and doubles keep 4 x 4 elements a thread, in as many registers as these need."""
    run = _run(program)
    kernel = run.compiled.kernel
    assert kernel.threads == 256
    assert kernel.min_blocks is not None
    assert kernel.min_blocks.value.data == min_blocks
    _check_spills(run)
