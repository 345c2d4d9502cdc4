# pyright: reportUnknownMemberType=false
"""`torch.compile(backend="uop")` with device cpu, and `uop.compile`: C text, built and run on this machine."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.testing import assert_close

import uop
from uop.runtime.native.compiler import CompilerNotFoundError, find_compiler
from uop.tools.torch_compile.options import OptionError, Options

try:
    find_compiler()
except CompilerNotFoundError as error:
    pytest.skip(str(error), allow_module_level=True)


def mlp() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(20, 33), nn.GELU(), nn.Linear(33, 5))


def test_a_step_of_training_gives_the_parameters_of_eager_pytorch():
    ours, eager = mlp(), mlp()
    compiled = torch.compile(ours, backend="uop", options={"device": "cpu"})
    x = torch.randn(7, 20)
    for model, call in ((ours, compiled), (eager, eager)):
        loss = call(x).square().mean()
        loss.backward()
        torch.optim.SGD(model.parameters(), lr=0.1).step()
    for one, other in zip(ours.parameters(), eager.parameters(), strict=True):
        assert_close(one, other)


def test_a_compiled_module_shows_its_stages(capsys: pytest.CaptureFixture[str]):
    model, x = mlp(), torch.randn(7, 20)
    program = uop.compile(model, (x,), device="cpu")
    assert_close(program(x), model(x))
    assert list(program.stages)[-3:] == ["tile", "cpu-kernel", "c"]
    program.print()
    assert "\nvoid forward(" in capsys.readouterr().out
    kernel = program.kernels[0]
    assert kernel.arch.endswith("-byte vectors")
    assert f"static void {kernel.name}(" in kernel.text


def test_the_target_is_the_devices():
    assert Options.of({"device": "cpu"}).target == "c"
    with pytest.raises(OptionError, match="option 'target' is 'c' with device 'cpu'"):
        Options.of({"device": "cpu", "target": "cuda"})
