"""What `uop compile` prints of any stage, gone on from by `uop-opt`, gives the same CUDA byte for byte."""

from pathlib import Path

import pytest

from uop.tools.uop import main as uop
from uop.tools.uop_opt import main as uop_opt

EXAMPLES = {
    "seed": "torch.relu(torch.matmul(torch.randn(16,64) + torch.randn(64), torch.randn(64,16)))",
    "softmax": "torch.softmax(torch.randn(7, 13, 2049), 1)",
    "layer_norm": "nn.LayerNorm(100)(torch.randn(5, 100))",
    "attention": "F.scaled_dot_product_attention(*(torch.randn(1, 4, 37, 16) for _ in range(3)), is_causal=True)",
}
STAGES = ("torch", "uop", "partition", "range", "loop", "tile", "gpu-kernel")


def write_stages(code: str, directory: Path) -> str:
    """The CUDA text of the program; every stage is in the directory."""
    assert uop(["compile", "-c", code, "-o", str(directory)]) == 0
    return (directory / "kernels.cu").read_text()


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_stage_leads_to_the_same_cuda(name: str, tmp_path: Path) -> None:
    cuda = write_stages(EXAMPLES[name], tmp_path / "stages")
    assert "// <command>:1" in cuda
    assert write_stages(EXAMPLES[name], tmp_path / "again") == cuda
    for stage in STAGES:
        file = tmp_path / "stages" / f"{stage.replace('-', '_')}.mlir"
        assert file.read_text() == (tmp_path / "again" / file.name).read_text()
        output = tmp_path / "from_stage.cu"
        assert uop_opt([str(file), f"--uop-to-cuda=after={stage}", "-t", "cuda", "-o", str(output)]) == 0
        assert output.read_text() == cuda, f"from {stage}"
