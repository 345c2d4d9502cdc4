"""Rows of all lengths: read once and written once, in whole sectors where rows begin anywhere.

Each result is compared with eager PyTorch and with float64, in the simulator with the race check on; each kernel
compiles for every architecture without spills.
"""

import pytest
from test_programs import check

from uop.frontends.capture import capture_expression
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

ODD_ROWS = (
    # A warp a row, a block a row; each element of 2 or 4 bytes; with weights for all rows or without.
    "torch.softmax(torch.randn(5, 61), -1)",
    "torch.softmax(torch.randn(3, 1023), -1)",
    "torch.log_softmax(torch.randn(2, 4099, dtype=torch.float16), -1)",
    "F.rms_norm(torch.randn(3, 4099), (4099,), torch.randn(4099))",
    "F.rms_norm(torch.randn(2, 3, 1025, dtype=torch.bfloat16), (1025,))",
    "F.layer_norm(torch.randn(4, 521), (521,), torch.randn(521), torch.randn(521))",
    "torch.randn(9, 4, 1031).amax(-1)",
    "torch.randn(3, 2111).argmax(-1)",
    "torch.softmax(torch.randn(4, 2051)[1:, 3:2000], -1)",
)


@pytest.mark.parametrize("code", ODD_ROWS)
def test_odd_rows(code: str) -> None:
    check(capture_expression(code), 1)


def test_odd_rows_are_written_in_whole_sectors() -> None:
    """Each warp of 32 elements writes 4 sectors, but for the first and the last of a row, of which it has parts."""
    result = run_captured(capture_expression("F.rms_norm(torch.randn(8, 4097), (4097,))"), CompileOptions())
    (run,) = result.run.kernels
    assert run.counters.global_store_sectors == sum(-(-(row % 8 + 4097) // 8) for row in range(8))
    assert run.counters.global_load_sectors == run.counters.global_store_sectors
