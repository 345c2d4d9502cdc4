# Functions of tensors stand for programs; torch.manual_seed and the like have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""`torch.compile(backend="uop", options={"device": "cuda"})` and `uop.compile`, on a GPU that is not there."""

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch._dynamo
from stand_in_gpu import StandIn
from torch import fx, nn
from torch._dynamo.exc import BackendCompilerFailed
from torch._subclasses.fake_tensor import FakeTensorMode

import uop
from uop.runtime.cuda.errors import GpuUnavailableError
from uop.runtime.cuda.gpus import all_gpus
from uop.tools.torch_compile import backend
from uop.tools.torch_compile.backend import UopWarning
from uop.tools.torch_compile.compiled import InputError
from uop.tools.torch_compile.options import OptionError, Options
from uop.tools.torch_compile.programs import forget_programs


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing compiled before; what would be left to eager PyTorch is an error unless a test expects it."""
    torch._dynamo.reset()
    forget_programs()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UopWarning)
        yield


@pytest.fixture(name="gpu")
def fixture_gpu(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn(capabilities=[(8, 6)])
    stand_in.install(monkeypatch)
    return stand_in


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend="uop", options={"device": "cuda", **options})


def step(model: nn.Module, run: Callable[..., torch.Tensor], *inputs: torch.Tensor) -> list[torch.Tensor]:
    """The result and the gradients of one step."""
    model.zero_grad()
    result = run(*inputs)
    result.square().mean().backward()
    return [result.detach(), *(parameter.grad for parameter in model.parameters() if parameter.grad is not None)]


def test_forward_and_backward(gpu: StandIn) -> None:
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4))
    inputs = torch.randn(3, 8)
    ours, eager = step(model, compiled(model), inputs), step(model, model, inputs)
    torch.testing.assert_close(ours, eager, rtol=1e-4, atol=1e-6)
    entries = {call.partition("(")[2].partition(",")[0] for call in gpu.machine.journal if call.startswith("launch")}
    assert {entry.partition("_")[0] for entry in entries} == {"forward", "backward"}


def test_graphs_are_replayed(gpu: StandIn) -> None:
    function = compiled(lambda x: x.softmax(-1) @ x.t(), cuda_graph=True)
    x = torch.randn(4, 8)
    for _ in range(3):
        torch.testing.assert_close(function(x), x.softmax(-1) @ x.t(), rtol=1e-4, atol=1e-6)
    assert (gpu.calls.count("captured"), gpu.calls.count("replay")) == (1, 3)


def test_constants_and_numbers_of_the_cpu(gpu: StandIn) -> None:
    x = torch.randn(4)
    function = lambda x, y: x * torch.tensor([1.0, 2.0, 3.0, 4.0]) + y  # noqa: E731
    torch.testing.assert_close(compiled(function)(x, torch.tensor(2.0)), function(x, torch.tensor(2.0)))


def test_a_compiled_module(gpu: StandIn) -> None:
    model = nn.Linear(8, 4)
    x = torch.randn(2, 8)
    program = uop.compile(model, x, device="cuda")
    torch.testing.assert_close(program(x), model(x).detach(), rtol=1e-4, atol=1e-6)
    assert program.kernels[0].arch == "sm_80"


def test_programs_of_the_same_text_have_graphs_of_their_own(gpu: StandIn) -> None:
    layers = [nn.Linear(4, 4) for _ in range(2)]
    functions = [uop.compile(layer, torch.zeros(3, 4), device="cuda", cuda_graph=True) for layer in layers]
    x = torch.randn(3, 4)
    for _ in range(3):
        for layer, function in zip(layers, functions, strict=True):
            torch.testing.assert_close(function(x), layer(x).detach(), rtol=1e-4, atol=1e-6)
    assert (gpu.calls.count("captured"), gpu.calls.count("replay")) == (2, 6)
    assert gpu.calls.count("module_from_buffer") == 1


def test_inputs_and_parameters_elsewhere_are_refused() -> None:
    program = uop.compile(nn.Linear(4, 2), torch.zeros(3, 4))
    with pytest.raises(InputError, match=r"user input input is on meta, and the device takes tensors on cpu: move"):
        program(torch.zeros(3, 4, device="meta"))


# ---- options


def test_the_architecture_is_the_gpus(gpu: StandIn) -> None:
    assert Options.of({"device": "cuda"}).arch == "sm_80"
    assert Options.of({"device": "cuda", "arch": "sm_100"}).arch == "sm_100"
    assert Options.of({}).arch == "sm_90"


@pytest.mark.parametrize(
    ("capability", "arch"), [((8, 0), "sm_80"), ((9, 0), "sm_90"), ((10, 3), "sm_100"), ((14, 0), "sm_100")]
)
def test_the_newest_architecture_that_the_gpu_has(
    capability: tuple[int, int], arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    StandIn(capabilities=[capability]).install(monkeypatch)
    assert Options.of({"device": "cuda"}).arch == arch


def test_graphs_take_a_gpu() -> None:
    with pytest.raises(OptionError, match="option 'cuda_graph' takes device 'cuda', not 'sim'"):
        Options.of({"cuda_graph": True, "device": "sim"})


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_there_is_no_gpu() -> None:
    all_gpus.cache_clear()
    with pytest.raises(GpuUnavailableError, match="PyTorch sees no GPU"):
        uop.compile(nn.Linear(2, 2), torch.zeros(1, 2), device="cuda")
    with pytest.raises(BackendCompilerFailed, match="PyTorch sees no GPU"):
        compiled(torch.sin)(torch.zeros(2))


# ---- tensors elsewhere


@pytest.mark.parametrize(
    ("device", "place", "advice"),
    [
        ("cuda", "cpu", "device 'cuda' takes tensors on cuda: move the model there, `.to('cuda')`, or choose device '"),
        ("sim", "cuda:0", "device 'sim' takes tensors on cpu: move the model there, `.to('cpu')`, or choose device 'c"),
        ("cuda", "meta", "device 'cuda' takes tensors on cuda: move the model there, `.to('cuda')`"),
    ],
)
def test_tensors_elsewhere_are_left_to_pytorch(device: str, place: str, advice: str) -> None:
    graph = fx.symbolic_trace(lambda x: x * 2)
    with FakeTensorMode():
        value = torch.empty(3, device=place)
    with pytest.warns(UopWarning) as caught:
        assert backend._compile(graph, [value], Options(device=device)) is graph  # pyright: ignore[reportPrivateUsage]
    assert f"tensors on {place}: {advice}" in str(caught[0].message)


def test_numbers_may_lie_on_the_cpu() -> None:
    with FakeTensorMode():
        inputs = [torch.empty(3, device="cuda"), torch.empty((), device="cpu")]
    assert not backend._elsewhere(inputs, Options(device="cuda"))  # pyright: ignore[reportPrivateUsage]
    assert backend._elsewhere(inputs, Options(device="sim")) == ["cuda:0"]  # pyright: ignore[reportPrivateUsage]


def test_results_elsewhere_are_left_to_pytorch(gpu: StandIn) -> None:
    """`torch.empty(…, device="meta")` in the middle of a graph, which is no place for results."""
    with pytest.warns(UopWarning, match="tensors on meta: device 'cuda' takes tensors on"):
        result = compiled(lambda x: (x + 1, torch.ones(3, device="meta") * 2))(torch.zeros(3))
    assert [value.device.type for value in result] == ["cpu", "meta"]
