"""Several rows of a warp, of which each lane writes the one that it holds: whole programs, simulated, race-checked.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.frontends.capture import capture_expression
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

PROGRAMS = {
    "mean, ragged": ("torch.randn(4099, 268).mean(1) * 3", True),
    "with NaN": ("(torch.randn(4096, 256) * torch.tensor([float('nan')] + [1.0] * 255)).amax(1)", True),
    "with other rows": ("torch.randn(4101, 260).sum(1) + torch.randn(4101)", False),
    "normalised": ("(lambda x: x / x.sum(1, keepdim=True))(torch.rand(4096, 256) + 1)", False),
}
"""Name → expression, whether lanes write what they hold: nothing else is read with the result."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code, written_by_lanes = PROGRAMS[name]
    result = run_captured(capture_expression(code), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    (run,) = result.run.kernels
    if written_by_lanes:  # 4 rows a warp, at once
        warps, rows = run.counters.threads // 32, len(result.run.outputs[0])
        assert run.counters.shuffles == 6 * warps
        assert run.counters.global_store_requests == -(-rows // 4)
