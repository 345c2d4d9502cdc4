"""Every stage of a program computes what eager PyTorch computes.

PyTorch executes the torch dialect, interpreters the levels below it, the simulator `gpu_kernel` (test_programs.py).
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from xdsl.dialects.func import FuncOp

from uop.frontends.capture import capture_expression, capture_file
from uop.frontends.captured import Captured
from uop.runtime.interpret.aten import interpret_torch_function
from uop.runtime.interpret.program import interpret_program
from uop.tools.comparison import TOLERANCE, compare
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    "seed": "torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
    "promotion": "torch.randint(0, 9, (7, 11)) * torch.randn(11) + torch.randint(0, 2, (7, 1)).bool()",
    "softmax": "torch.softmax(torch.randn(7, 13, 50), 1)",
    "layer_norm": "nn.LayerNorm(100)(torch.randn(5, 100))",
    "rms_norm bf16": "nn.RMSNorm(100).bfloat16()(torch.randn(5, 100).bfloat16())",
    "var_mean": "torch.var_mean(torch.randn(6, 100), 1)",
    "argmax": "torch.randint(0, 5, (6, 100)).argmax(1)",
    "NaN": "x = torch.randn(6, 100)\nx = torch.where(x > 2.0, math.nan, x)\ntorch.amax(x, 1), torch.relu(x)",
    "ragged product": "F.gelu(torch.randn(17, 33) @ torch.randn(33, 65) + torch.randn(65))",
    "normalised product": "F.linear(F.layer_norm(torch.randn(37, 53), (53,)), torch.randn(41, 53), torch.randn(41))",
    "half product": "torch.randn(9, 64).half() @ torch.randn(64, 10).half()",
    "batched product": "torch.bmm(torch.randn(3, 17, 33), torch.randn(3, 33, 20))",
    "gram": "x = torch.randn(24, 33)\nx @ x.T",
    "attention": "F.scaled_dot_product_attention(*(torch.randn(1, 4, 37, 16) for _ in range(3)), is_causal=True)",
    "stencil": "p = F.pad(torch.randn(20, 301).exp(), (2, 1))\n(p[:, :-2] + p[:, 1:-1] + p[:, 2:]).sum(-1)",
    "conv": "F.relu(nn.Conv2d(3, 5, 3, stride=2, padding=1)(torch.randn(2, 3, 9, 8)))",
    "conv depthwise bf16": "nn.Conv2d(4, 4, 3, padding=1, groups=4).bfloat16()(torch.randn(4, 6, 5).bfloat16())",
    "conv transposed": "nn.ConvTranspose1d(3, 4, 3, stride=2, padding=1)(torch.randn(1, 3, 7))",
    "max pool": "F.max_pool2d(torch.randn(2, 9, 8), 3, 2, 1, ceil_mode=True, return_indices=True)",
    "average pool": "F.avg_pool2d(torch.randn(2, 9, 8), 3, 2, 1, count_include_pad=False)",
    "adaptive pool": "F.adaptive_avg_pool2d(torch.randn(2, 7, 8), (3, 4))",
    "bicubic": "F.interpolate(torch.randn(1, 1, 5, 6), size=(9, 4), mode='bicubic', align_corners=True)",
    "trilinear f16": "F.interpolate(torch.randn(1, 2, 3, 4, 5).half(), size=(5, 4, 7), mode='trilinear')",
    "grid sample": "F.grid_sample(torch.randn(1, 2, 5, 6), torch.randn(1, 4, 3, 2), 'bicubic', 'reflection', True)",
    "fold": "F.fold(torch.randn(1, 18, 18), (5, 6), 3, padding=1, stride=(2, 1))[0] * 2",
    "views": "torch.randn(6, 4, 10).transpose(0, 2).reshape(10, 24).flip(1)[::3, 2:] * 2",
    "cat": "torch.cat((torch.randn(3, 5), torch.randn(2, 5)))",
    "embedding": "nn.Embedding(50, 33)(torch.randint(0, 50, (4, 7)))",
    "integers": "x = torch.randint(-9, 9, (40, 33), dtype=torch.int32)\nx.sum(1), x // 4, x % 4, x.prod(0)",
    "cumsum": "torch.cumsum(torch.randn(5, 37) * torch.randn(37), 1).exp()",
    "cumsum of half": "torch.cumsum(torch.randn(5, 37).half(), 0)",
    "cumprod of columns": "torch.cumprod(torch.rand(5, 37) + 0.5, 0)",
    "cummax": "x = torch.randn(5, 37)\ntorch.cummax(torch.where(x > 2.0, math.nan, x), 1)",
    "cummin of ties": "torch.cummin(torch.randint(0, 9, (5, 37)), 0)",
    "logcumsumexp": "x = torch.randn(5, 37)\ntorch.logcumsumexp(torch.where(x < 0.0, -math.inf, x), 1)",
    "long cumsum": "torch.cumsum(torch.randn(2, 1000), 1).exp()",
    "two scans": "x = torch.rand(5, 37)\ntorch.cumsum(x, 1) + torch.cumprod(x, 1)",
    "softmax of cumsum": "torch.softmax(torch.cumsum(torch.randn(5, 37), 1), 1)",
    "position_ids": "m = torch.randint(0, 2, (2, 19))\nnn.Embedding(40, 16)((m.cumsum(-1) - 1).clamp(min=0))",
    "cumulative_trapezoid": "torch.cumulative_trapezoid(torch.randn(5, 37), dim=0)",
    "empty": "torch.randn(0, 3) + 1, torch.sum(torch.randn(0, 3), 0)",
}


def as_array(tensor: torch.Tensor) -> np.ndarray:
    """A tensor as the interpreters hold it: bf16 widened to f32."""
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def check(captured: Captured) -> None:
    imported = captured.imported()
    inputs = captured.make_inputs()
    eager, exact = captured.reference(inputs), captured.reference64(inputs)
    checked: list[str] = []
    for stage, module in compile_stages(imported, CompileOptions()):
        if stage == "gpu-kernel":
            break
        if stage == "torch":
            function = module.body.block.first_op
            assert isinstance(function, FuncOp)
            outputs = [as_array(output) for output in interpret_torch_function(function, inputs)]
        else:
            outputs = interpret_program(module, "forward", [as_array(value) for value in inputs])
        for ours, reference, reference64 in zip(outputs, eager, exact, strict=True):
            dtype = str(reference.dtype).removeprefix("torch.")
            if dtype in TOLERANCE:
                row = compare(ours, as_array(reference), reference64.double().numpy(), dtype)
            else:
                row = compare(ours, reference.numpy(), reference.numpy(), dtype)
            assert row.right, f"after {stage}: {row}"
        checked.append(stage)
    assert checked == ["torch", "uop", "partition", "range", "loop", "tile"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    check(capture_expression(PROGRAMS[name]))


def test_llama_block() -> None:
    check(capture_file(str(ROOT / "examples" / "llama_block.py") + ":make"))
