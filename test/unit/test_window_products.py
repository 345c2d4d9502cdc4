"""Convolutions by matrix instructions: whole programs, simulated with the race check on.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.runtime.program import KernelRun
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions
from uop.tools.uop import main


def _convolution(
    x: tuple[int, ...], w: tuple[int, ...], options: str = "", dtype: str = "float16", name: str = "conv2d"
) -> str:
    """A convolution of random inputs of these shapes."""
    x_text, w_text = (f"torch.randn({shape}, dtype=torch.{dtype})" for shape in (x, w))
    return f"F.{name}({x_text}, {w_text}{options})"


PROGRAMS = {
    "ragged everywhere": _convolution((2, 19, 9, 11), (23, 19, 3, 3), ", padding=1"),
    "bias, relu, aligned rows": f"""\
bias = torch.randn(32, dtype=torch.float16)
F.relu({_convolution((1, 32, 6, 16), (32, 32, 3, 3), ", bias, padding=1")})""",
    "stride, bf16": _convolution((1, 16, 9, 19), (17, 16, 3, 3), ", stride=2, padding=1", "bfloat16"),
    "dilation, 5 x 2 taps": _convolution((1, 16, 13, 16), (16, 16, 5, 2), ", dilation=(2, 3), padding=(4, 2)"),
    "7 x 7 taps, no padding": _convolution((1, 16, 9, 17), (9, 16, 7, 7)),
    "one line": _convolution((2, 24, 40), (16, 24, 5), ", padding=2", name="conv1d"),
    "boxes": _convolution((1, 16, 3, 4, 9), (16, 16, 2, 2, 3), ", padding=1", name="conv3d"),
    "activation in front": """\
x = F.relu(torch.randn(1, 16, 7, 8, dtype=torch.float16))
F.conv2d(x, torch.randn(16, 16, 3, 3, dtype=torch.float16))""",
}


def _run(program: str) -> KernelRun:
    """The last kernel of a program whose result is right."""
    result = run_captured(capture_expression(program), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    return result.run.kernels[-1]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    run = _run(PROGRAMS[name])
    assert "mma_m16n8k16" in run.compiled.text
    resources = run.compiled.resources
    assert resources.spill_store_bytes == resources.spill_load_bytes == 0, run.compiled.text


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (_convolution((1, 3, 8, 16), (16, 3, 3, 3)), "axis k has 3 elements, an instruction 16"),
        (_convolution((1, 16, 8, 16), (16, 16, 3, 3), dtype="float32"), "a factor is neither a 16-bit float"),
    ],
)
def test_without_matrix_instructions(program: str, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What no instruction computes is refused by name."""
    assert main(["compile", "--remarks", "--ir", "tile", "-c", program]) == 0
    captured = capsys.readouterr()
    assert "without matrix instructions" in captured.err
    assert reason in captured.err


def test_cost() -> None:
    """The least matrix instructions, no bank conflicts, whole sectors, and registers enough on every architecture."""
    run = _run(_convolution((2, 16, 56, 56), (64, 16, 3, 3), ", padding=1"))
    counters = run.counters
    assert counters.bank_conflicts == 0
    outputs = 2 * 64 * 56 * 56
    assert _warps(run, "mma") == outputs * 16 * 9 // (16 * 8 * 16)
    assert counters.global_store_sectors == counters.unique_store_sectors == outputs * 2 // 32
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (run.compiled.text, arch)


def _warps(run: KernelRun, kind: str) -> int:
    return sum(counts.warps for counts in run.counters.by_instruction.values() if counts.kind == kind)
