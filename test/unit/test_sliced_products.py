"""Products of few tiles, of which warps of one block sum slices: whole programs, simulated with the race check on.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.passes.loop.product_cost import Product, Tiling
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import KernelRun
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

PROGRAMS = {
    "f16": "torch.randn(64, 256, dtype=torch.float16) @ torch.randn(256, 96, dtype=torch.float16)",
    "f16, primes": "torch.randn(67, 509, dtype=torch.float16) @ torch.randn(509, 97, dtype=torch.float16)",
    "f16, one past a tile": "F.linear(torch.randn(65, 257, dtype=torch.float16), torch.randn(33, 257).half())",
    "f16 to f32": "torch.randn(40, 264).half().float() @ torch.randn(264, 72).half().float()",
    "few rows": "torch.randn(9, 300, dtype=torch.float16) @ torch.randn(300, 64, dtype=torch.float16)",
    "bf16, epilogue": "F.gelu(F.linear(torch.randn(48, 320).bfloat16(), torch.randn(56, 320).bfloat16(), "
    "torch.randn(56).bfloat16()))",
    "batches": "torch.bmm(torch.randn(3, 33, 130, dtype=torch.float16), torch.randn(3, 130, 34, dtype=torch.float16))",
    "f32": "torch.randn(64, 256) @ torch.randn(256, 96)",
    "f32, primes": "torch.relu(torch.randn(67, 509) @ torch.randn(509, 97) + torch.randn(97))",
    "f32, right transposed": "F.linear(torch.randn(33, 129), torch.randn(65, 129))",
    "f32, left transposed": "torch.randn(129, 40).T @ torch.randn(129, 44)",
}


def _run(program: str, schedule: tuple[str, ...] = ()) -> KernelRun:
    """The one kernel of a program whose result is right."""
    result = run_captured(capture_expression(program), CompileOptions(schedule=schedule))
    assert result.right, "\n".join(map(str, result.comparisons))
    (run,) = result.run.kernels
    return run


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    """One kernel, whose slices meet in shared memory, without bank conflicts."""
    run = _run(PROGRAMS[name])
    assert "partial" in run.compiled.text
    assert run.counters.bank_conflicts == 0


@pytest.mark.parametrize("name", ["f16", "bf16, epilogue", "f32, primes"])
def test_nothing_is_spilled(name: str) -> None:
    run = _run(PROGRAMS[name])
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, arch


def test_cost() -> None:
    """Of four slices, three put their sums into shared memory and one takes them, 16 bytes a lane; one stores."""
    run = _run("torch.randn(32, 512, dtype=torch.float16) @ torch.randn(512, 32, dtype=torch.float16)")
    assert run.compiled.kernel.threads == 128
    counters = run.counters
    assert counters.mma == 32 * 32 * 512 // (16 * 8 * 16)
    assert counters.global_store_requests == 32 * 32 * 2 // (16 * 32)
    steps = 512 // (4 * 32)
    assert counters.barriers == 4 * (steps + 1)
    stored = sum(c.warps for c in counters.by_instruction.values() if c.kind == "store.shared" and ".v4." in c.opcode)
    assert stored == 3 * 32 * 32 * 4 // (16 * 32)


@pytest.mark.parametrize(
    ("program", "schedule", "threads"),
    [
        (
            "torch.randn(37, 150, dtype=torch.float16) @ torch.randn(150, 41, dtype=torch.float16)",
            "i = 3 block * 16 mma, j = 3 block * 2 register * 8 mma, k = 2 loop * 3 warp * 2 unroll * 16 mma",
            3 * 32,
        ),
        ("torch.randn(37, 150) @ torch.randn(150, 41)", "k = 10 loop * 2 warp * 8 loop", 2 * 64),
        ("torch.randn(37, 150) @ torch.randn(150, 41)", "k = 3 warp * 2 loop * 25 loop, stage = [%x, %y]", 3 * 64),
    ],
)
def test_slices_are_pinned(program: str, schedule: str, threads: int) -> None:
    assert _run(program, (schedule,)).compiled.kernel.threads == threads


def test_estimates() -> None:
    """The down projection of a small block takes small tiles in slices; of many tiles there is nothing to gain, and of
    very few and long sums parts are faster."""
    down = Product.of(128, 512, 2048, 1, 2, by_matrices=True)
    assert down.fastest() == Tiling(32, 4)
    assert down.clocks(down.fastest()) < min(down.clocks_in_parts(count) for count in (2, 4))
    assert Product.of(128, 2048, 64, 1, 2, by_matrices=True).fastest() == Tiling(64, 1)
    long = Product.of(64, 64, 16384, 1, 2, by_matrices=True)
    assert long.clocks_in_parts(16) < long.clocks(long.fastest())
    assert down.fastest(lambda tiling: tiling.tile > 32) == Tiling(64, 2)
    assert down.fastest(lambda _: False) == Tiling(64, 1)
