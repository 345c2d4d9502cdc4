"""Products of a few rows by a matrix: whole programs, run in the simulator with the race check on, on ragged extents.

Each result is compared with eager PyTorch and with float64.
"""

import pytest

from uop.dialects.gpu_kernel import ARCHITECTURES
from uop.frontends.capture import capture_expression
from uop.runtime.nvrtc import compile_cuda
from uop.tools.execution import run_captured
from uop.tools.pipelines import CompileOptions

f16, bf16 = "dtype=torch.float16", "dtype=torch.bfloat16"

PROGRAMS = {
    "columns_f16": f"torch.randn(1, 256, {f16}).float() @ torch.randn(256, 304, {f16}).float()",
    "columns_widened": f"torch.randn(2, 99, {f16}).float() @ torch.randn(99, 200, {f16}).float() + torch.randn(200)",
    "columns_ragged": "torch.randn(4, 129) @ torch.randn(129, 257)",
    "columns_short": "torch.randn(4, 33) @ torch.randn(33, 8200)",
    "columns_f64": "torch.randn(3, 1031).double() @ torch.randn(1031, 20).double()",
    "columns_vector": "torch.randn(67) @ torch.randn(67, 513)",
    "columns_few": "torch.randn(1, 2048) @ torch.randn(2048, 12)",
    "columns_many": f"torch.randn(4, 64, {f16}) @ torch.randn(64, 16400, {f16})",
    "columns_batches": f"torch.bmm(torch.randn(3, 1, 250, {bf16}), torch.randn(3, 250, 300, {bf16}))",
    "columns_epilogue": f"(torch.randn(4, 1025, {f16}) @ torch.randn(1025, 66, {f16}) + torch.randn(66, {f16})).relu()",
    "rows_f16": f"torch.randn(1, 1024, {f16}).float() @ torch.randn(301, 1024, {f16}).float().T",
    "rows_linear": f"F.linear(torch.randn(2, 257, {f16}), torch.randn(300, 257, {f16}), torch.randn(300, {f16}))",
    "rows_epilogue": "F.gelu(F.linear(torch.randn(3, 127), torch.randn(131, 127), torch.randn(131)))",
    "rows_vector": "torch.randn(513, 68) @ torch.randn(68)",
    "rows_few": f"torch.randn(13, 4104, {bf16}) @ torch.randn(4104, {bf16})",
    "rows_batches": f"torch.randn(2, 4, 1, 64, {f16}) @ torch.randn(2, 4, 101, 64, {f16}).transpose(-1, -2)",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    result = run_captured(capture_expression(PROGRAMS[name]), CompileOptions())
    assert result.right, "\n".join(map(str, result.comparisons))
    (run,) = result.run.kernels
    for arch in ARCHITECTURES:
        resources = compile_cuda(run.compiled.text, arch).resources[run.compiled.name]
        assert resources.spill_store_bytes == resources.spill_load_bytes == 0, (name, arch)
