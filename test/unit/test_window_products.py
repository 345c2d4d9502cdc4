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

PROGRAMS = {
    "ragged everywhere": "F.conv2d(torch.randn(2, 19, 9, 11, dtype=torch.float16), torch.randn(23, 19, 3, 3, dtype=torch.float16), padding=1)",
    "aligned rows, bias, relu": (
        "F.relu(F.conv2d(torch.randn(1, 32, 6, 16, dtype=torch.float16), torch.randn(32, 32, 3, 3, dtype=torch.float16), torch.randn(32, dtype=torch.float16), "
        "padding=1))"
    ),
    "stride, bf16": (
        "F.conv2d(torch.randn(1, 16, 9, 19, dtype=torch.bfloat16), torch.randn(17, 16, 3, 3, dtype=torch.bfloat16), stride=2, padding=1)"
    ),
    "dilation, 5 x 2 taps": (
        "F.conv2d(torch.randn(1, 16, 13, 16, dtype=torch.float16), torch.randn(16, 16, 5, 2, dtype=torch.float16), dilation=(2, 3), padding=(4, 2))"
    ),
    "7 x 7 taps, no padding": "F.conv2d(torch.randn(1, 16, 9, 17, dtype=torch.float16), torch.randn(9, 16, 7, 7, dtype=torch.float16))",
    "one line": "F.conv1d(torch.randn(2, 24, 40, dtype=torch.float16), torch.randn(16, 24, 5, dtype=torch.float16), padding=2)",
    "boxes": "F.conv3d(torch.randn(1, 16, 3, 4, 9, dtype=torch.float16), torch.randn(16, 16, 2, 2, 3, dtype=torch.float16), padding=1)",
    "activation in front": "F.conv2d(F.relu(torch.randn(1, 16, 7, 8, dtype=torch.float16)), torch.randn(16, 16, 3, 3, dtype=torch.float16))",
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
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (run.compiled.text, arch)
