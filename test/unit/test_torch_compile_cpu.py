# pyright: reportUnknownMemberType=false
"""`torch.compile(backend="uop")` with device cpu, and `uop.compile`: C text, built and run on this machine."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.testing import assert_close
from xdsl.dialects.builtin import ModuleOp

import uop
from uop.dialects.uop import LaunchOp
from uop.runtime.native.compiler import CompilerNotFoundError, find_compiler
from uop.tools.garbage import old_objects_spared
from uop.tools.torch_compile import programs
from uop.tools.torch_compile.compiled import InputError
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
    assert f"\nvoid {kernel.name}(" in kernel.text


@pytest.mark.parametrize("masked", [False, True])
def test_attention_is_one_kernel(masked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    modules: list[ModuleOp] = []
    original = programs.compile_stages

    def kept(function: Any, *args: Any, **kwargs: Any) -> Any:
        modules.append(function.module)
        return original(function, *args, **kwargs)

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        mask = torch.arange(33) < torch.arange(33)[:, None] if masked else None
        return F.scaled_dot_product_attention(q, k, v, mask, is_causal=not masked)

    monkeypatch.setattr(programs, "compile_stages", kept)
    q, k, v = (torch.randn(1, 4, 33, 16) for _ in range(3))
    programs.forget_programs()
    with torch.no_grad():
        assert_close(torch.compile(attention, backend="uop")(q, k, v), attention(q, k, v))
    (module,) = modules
    assert sum(isinstance(op, LaunchOp) for op in module.walk()) == 1


Structure = Callable[[Sequence[torch.Tensor]], Any]


class Pair(NamedTuple):
    scaled: torch.Tensor
    difference: torch.Tensor


class Heads(nn.Module):
    """Gives two results, of which one needs a parameter; takes an input that it does not use."""

    def __init__(self, results: Structure):
        super().__init__()
        self.weight = nn.Parameter(torch.full((3,), 2.0))
        self.results = results

    def forward(self, unused: torch.Tensor, x: torch.Tensor, y: torch.Tensor):
        return self.results((x * self.weight, x - y))


def nested(values: Sequence[torch.Tensor]) -> dict[str, list[torch.Tensor]]:
    return {"scaled": [values[0]], "difference": [values[1]]}


STRUCTURES: Sequence[Structure] = (tuple, list, Pair._make, nested)


@pytest.mark.parametrize("results", STRUCTURES)
def test_a_program_is_called_directly_where_it_takes_only_tensors(results: Structure):
    model, x, y = Heads(results), torch.ones(2, 3), torch.arange(3.0)
    program = uop.compile(model, (x, x), {"y": y})
    for _ in range(3):
        made = program(x, x, y=y)
        assert type(made) is type(results([x, x]))
        assert_close(made, model(x, x, y))
    with torch.no_grad():
        model.weight.add_(1)
    assert_close(program(x, x, y=y), model(x, x, y))
    model.weight.data = torch.zeros(3)
    assert_close(program(x, x.t().contiguous().t(), y=y), model(x, x, y))
    for args, kwargs, message in (
        ((x, x, y), {}, "compile the module anew"),
        ((x, x), {}, "compile the module anew"),
        ((x, x), {"z": y}, "compile the module anew"),
        ((x, x.double()), {"y": y}, r"input x is float64\[2, 3\], not float32\[2, 3\]"),
        ((x, 1), {"y": y}, "input x is int"),
        ((x, x), {"y": torch.zeros(2)}, r"input y is float32\[2\]"),
    ):
        with pytest.raises(InputError, match=message):
            program(*args, **kwargs)
    model.weight.data = torch.zeros(4)
    with pytest.raises(InputError, match=r"weight is float32\[4\], not float32\[3\]"):
        program(x, x, y=y)


def test_old_objects_are_no_garbage_while_programs_are_compiled():
    assert gc.get_freeze_count() == 0
    with old_objects_spared():
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0
    with pytest.raises(ValueError, match="stop"), old_objects_spared():
        raise ValueError("stop")
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        with old_objects_spared():
            pass
        assert gc.get_freeze_count() > 0  # what somebody else has frozen stays so
    finally:
        gc.unfreeze()


def test_the_target_is_the_devices():
    assert Options.of({"device": "cpu"}).target == "c"
    with pytest.raises(OptionError, match="option 'target' is 'c' with device 'cpu'"):
        Options.of({"device": "cpu", "target": "cuda"})
