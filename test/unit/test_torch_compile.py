# Functions of tensors stand for programs; torch.manual_seed and the like have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""`torch.compile(backend="uop")` and `uop.compile`: what eager PyTorch computes, gradients and mutation included."""

import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch._dynamo
import torch.nn.functional as F
from torch import nn
from torch._dynamo.exc import BackendCompilerFailed
from torch.utils._pytree import tree_leaves

import uop
from uop.frontends.dynamic_shapes import SpecializationWarning
from uop.frontends.errors import UnsupportedProgramError
from uop.frontends.torch_internals import in_tf32, random_state
from uop.passes.torch.lowerings import LOWERINGS
from uop.tools.checking.models import MODELS, make_model
from uop.tools.torch_compile import programs
from uop.tools.torch_compile.backend import UopWarning
from uop.tools.torch_compile.compiled import InputError
from uop.tools.torch_compile.options import OptionError
from uop.tools.torch_compile.programs import forget_programs

TOLERANCE = 1e-5


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """Nothing compiled before; what would be left to eager PyTorch is an error unless a test expects it."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UopWarning)
        yield


def compiled(function: Any, **options: Any) -> Any:
    return torch.compile(function, backend="uop", options=options)


def assert_close(ours: Any, eager: Any) -> None:
    """The same tensors, as PyTorch lays them out; floats up to the tolerance, of the largest of them."""
    ours, eager = tree_leaves(ours), tree_leaves(eager)
    assert len(ours) == len(eager)
    for x, y in zip(ours, eager, strict=True):
        if not isinstance(y, torch.Tensor):
            assert x == y
            continue
        assert (x.shape, x.dtype, x.stride(), x.requires_grad) == (y.shape, y.dtype, y.stride(), y.requires_grad)
        scale = float(y.detach().abs().max()) if y.is_floating_point() and y.numel() else 0.0
        torch.testing.assert_close(x, y, rtol=TOLERANCE, atol=TOLERANCE * max(scale, 1e-30))


def step(model: nn.Module, run: Callable[..., Any], *inputs: torch.Tensor) -> dict[str, torch.Tensor]:
    """Gradients, parameters and buffers after one step of SGD on the mean square of what `run` gives."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    outputs = [x for x in tree_leaves(run(*inputs)) if isinstance(x, torch.Tensor) and x.is_floating_point()]
    sum((x.square().mean() for x in outputs), torch.zeros(())).backward()
    gradients = {f"{name}.grad": x.grad.clone() for name, x in model.named_parameters() if x.grad is not None}
    optimizer.step()
    return gradients | {name: value.detach().clone() for name, value in model.state_dict().items()}


def assert_same_step(make: Callable[[], tuple[nn.Module, tuple[torch.Tensor, ...]]], **options: Any) -> None:
    with random_state(0):
        model, inputs = make()
    ours = step(model, compiled(model, **options), *inputs)
    with random_state(0):
        model, inputs = make()
    eager = step(model, model, *inputs)
    assert ours.keys() == eager.keys()
    scale = max(float(x.abs().max()) for name, x in eager.items() if name.endswith(".grad"))
    for name, expected in eager.items():
        torch.testing.assert_close(ours[name], expected, rtol=TOLERANCE, atol=TOLERANCE * scale, msg=name)


def test_pytorch_finds_the_backend_by_itself_and_uop_imports_nothing() -> None:
    code = "import torch; assert 'uop' in torch._dynamo.list_backends()"
    subprocess.run([sys.executable, "-c", code], check=True)
    subprocess.run([sys.executable, "-c", "import sys, uop; assert not {'torch', 'xdsl'} & {*sys.modules}"], check=True)


# ---- inference

X = torch.arange(12.0).reshape(3, 4) / 7 - 1

FUNCTIONS: dict[str, Callable[[torch.Tensor], Any]] = {
    "nothing to compute": lambda x: x,
    "an input and a view of it": lambda x: (x, x.t(), x[1:, ::2], x + 1),
    "a view of a result": lambda x: (x * 2).t(),
    "a result and a view of it": lambda x: ((y := x * 2), y[1:]),
    "a result twice": lambda x: ((y := x.exp()), y),
    "None and numbers": lambda x: {"a": x.sum(), "b": None, "c": 3},
    "a repeated result": lambda x: (x.sum(0) * 2).expand(3, 4),
    "no dimensions": lambda x: x.mean() + torch.tensor(2.0),
    "no elements": lambda x: x[:0] * 2,
    "constants": lambda x: x + torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "dtypes": lambda x: (x.half(), x.bfloat16() * 2, x > 0, (x * 10).long(), x.double()),
    "attention": lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None], is_causal=True),
    "indices": lambda x: x[:, torch.tensor([3, 0])],
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    x = X.clone()
    assert_close(compiled(FUNCTIONS[name])(x), FUNCTIONS[name](x))


def test_what_shares_memory_with_an_input_goes_on_sharing_it() -> None:
    x = X.clone()
    same, view, other = compiled(lambda x: (x, x[1:].t(), x + 1))(x)
    assert same is x
    x.fill_(5)
    assert (view == 5).all()
    assert not (other == 5).any()


def test_inputs_that_are_changed() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        y[0].mul_(x[0])
        return x.sum() + y.sum()

    ours, eager = (X.clone(), X.clone() + 1), (X.clone(), X.clone() + 1)
    assert_close(compiled(function)(*ours), function(*eager))
    assert_close(ours, eager)


def test_inputs_that_share_memory() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.mul_(2)
        return y + 1

    ours, eager = X.clone(), X.clone()
    assert_close(compiled(function)(ours, ours[0]), function(eager, eager[0]))


@pytest.mark.parametrize("inputs", [(X.t(),), (X[:, 1:3],), (X[0].expand(3, 4),)])
def test_inputs_that_are_not_dense(inputs: tuple[torch.Tensor, ...]) -> None:
    assert_close(compiled(torch.relu)(*inputs), torch.relu(*inputs))


# ---- training


def test_gradients_of_inputs_and_of_gradients_that_nobody_asks_for() -> None:
    def function(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> torch.Tensor:
        return (x * y).sin().sum() + (z.detach() * x).sum()

    ours, eager = ([X.clone().requires_grad_(n != 1) for n in range(3)] for _ in range(2))
    compiled(function)(*ours).backward()
    function(*eager).backward()
    assert_close([x.grad for x in ours], [x.grad for x in eager])


def test_products_in_tf32_where_pytorch_allows_it() -> None:
    """The setting is looked at when a program is compiled, and that is done anew when it changes."""
    x, w = torch.rand(8, 64), torch.rand(64, 4)
    exact, cut = x.double() @ w.double(), in_tf32(x).double() @ in_tf32(w).double()
    run = compiled(lambda x, w: x @ w)
    before = torch.get_float32_matmul_precision()
    try:
        for precision, expected in (("highest", exact), ("high", cut), ("highest", exact)):
            torch.set_float32_matmul_precision(precision)
            torch.testing.assert_close(run(x, w).double(), expected, rtol=1e-5, atol=0.0)
    finally:
        torch.set_float32_matmul_precision(before)


def test_a_second_backward_through_the_same_graph() -> None:
    x = X.clone().requires_grad_()
    y = compiled(lambda x: x.sin() * x)(x).sum()
    y.backward(retain_graph=True)
    first = x.grad.clone() if x.grad is not None else None
    x.grad = None
    y.backward()
    assert_close(x.grad, first)


def test_mlp() -> None:
    assert_same_step(
        lambda: (
            nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4), nn.LogSoftmax(-1)),
            (torch.randn(3, 8),),
        )
    )


def test_running_statistics() -> None:
    assert_same_step(
        lambda: (
            nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
            (torch.randn(2, 2, 6, 6),),
        )
    )


class Tied(nn.Module):
    """An embedding whose weight is that of the last layer too."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, index: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(self.head(self.embedding(index)), index)


def test_shared_parameters() -> None:
    assert_same_step(lambda: (Tied(), (torch.tensor([1, 1, 6]),)))


# ---- what is left to PyTorch


def told(function: Any, *inputs: torch.Tensor, **options: Any) -> tuple[Any, list[str]]:
    """What the compiled function gives, and the warnings of uop."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compiled(function, **options)(*inputs)
    return result, [str(each.message) for each in caught if issubclass(each.category, UopWarning)]


def spectrum(x: torch.Tensor) -> torch.Tensor:
    y = torch.fft.fft(x.relu()).real
    return (y + 1).sum() + torch.linalg.eigvalsh(x[:3, :3]).sum()


def test_one_warning_lists_what_uop_cannot_compile() -> None:
    result, messages = told(spectrum, X)
    assert_close(result, spectrum(X))
    (message,) = messages
    line = spectrum.__code__.co_firstlineno
    first, *rest = message.splitlines()
    assert "fullgraph_strict" in first
    assert f"test_torch_compile.py:{line + 1}: aten._fft_r2c.default: dtype complex64" in rest[0]
    assert f"test_torch_compile.py:{line + 2}: aten._linalg_eigh" in rest[-1]
    assert "tensor<3x3xf32>" in rest[-1]


def test_it_is_an_error_where_the_user_asks_for_one() -> None:
    with pytest.raises(BackendCompilerFailed, match=r"cannot compile\n.*aten\._fft_r2c"):
        compiled(spectrum, fullgraph_strict=True)(X)


def test_gradients_through_what_is_left_to_pytorch() -> None:
    ours, eager = X.clone().requires_grad_(), X.clone().requires_grad_()
    result, messages = told(lambda x: torch.fft.fft(x.sin()).abs().sum(), ours)
    assert len(messages) == 1
    with pytest.warns(UopWarning, match="complex64"):  # PyTorch compiles it now
        result.backward()
    torch.fft.fft(eager.sin()).abs().sum().backward()
    assert_close(ours.grad, eager.grad)


def test_random_numbers_are_those_of_eager_pytorch() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.rand_like(x).sin() + torch.randn_like(x) * F.dropout(x, 0.5)

    with random_state(3):
        ours, messages = told(function, X)
    with random_state(3):
        eager = function(X)
    assert_close(ours, eager)
    assert "it draws random numbers; draw them outside" in messages[0]


@pytest.mark.parametrize("name", ["inv", "cholesky"])
def test_checks_of_matrices_are_made_by_pytorch(name: str) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return getattr(torch.linalg, name)(x) + 1

    x = torch.eye(3) * 4 + 0.5
    result, (message,) = told(function, x)
    assert_close(result, function(x))
    assert "aten._linalg_check_errors.default: a call for its effect" in message
    singular = torch.linalg.LinAlgError  # pyright: ignore[reportPrivateImportUsage]  # as its documentation names it
    with pytest.raises(singular, match=f"linalg.{name}"):
        compiled(function)(torch.zeros(3, 3))  # the warning has been told


def test_modules_stand_for_the_lines_that_pytorch_hides() -> None:
    _, (message,) = told(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)), X)
    assert "model.1 (Dropout): aten.native_dropout on tensor<3x4xf32>" in message


def broken(x: torch.Tensor) -> torch.Tensor:
    y = x.sin() + 1
    print(end="")
    torch._dynamo.graph_break()
    return y * 2


def test_graph_breaks_are_told_with_their_lines() -> None:
    result, messages = told(broken, X)
    assert_close(result, broken(X))
    assert "graph break" in messages[0]
    assert f"test_torch_compile.py:{broken.__code__.co_firstlineno + 2}" in messages[0]
    torch._dynamo.reset()
    with pytest.raises(BackendCompilerFailed, match="graph break"):
        compiled(broken, fullgraph_strict=True)(X)


# ---- new shapes, and programs that are kept


def test_new_shapes() -> None:
    function = compiled(lambda x: x.softmax(-1) @ x.t())
    for rows in (2, 3, 4, 3, 5):
        x = torch.randn(rows, 4)
        assert_close(function(x), x.softmax(-1) @ x.t())


def test_gradients_with_new_shapes() -> None:
    function = compiled(lambda x: (x.softmax(-1) @ x.t()).square().sum())
    for rows in (2, 3, 4):
        ours, eager = ([torch.ones(rows, 4).cumsum(0).requires_grad_()] for _ in range(2))
        function(*ours).backward()
        (eager[0].softmax(-1) @ eager[0].t()).square().sum().backward()
        assert_close(ours[0].grad, eager[0].grad)


def test_the_number_of_shapes_is_bounded() -> None:
    function = torch.compile(lambda x: x.sin() * 2, backend="uop", dynamic=True)
    with torch._dynamo.config.patch(recompile_limit=2), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for rows in range(2, 7):
            x = torch.randn(rows, 4)
            assert_close(function(x), x.sin() * 2)
    messages = [str(each.message) for each in caught if issubclass(each.category, UopWarning)]
    assert len(messages) == 1
    assert "2 combinations are compiled already" in messages[0]


def test_sizes_with_bounds_are_one_program() -> None:
    """Marks of the user bound sizes; results that share memory, have strides, or are sizes are PyTorch's."""
    forget_programs()
    function = torch.compile(lambda x: (x.softmax(0) * x.shape[0], x.shape[0] * 2, x.t(), x.exp().t()), backend="uop")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (6, 2, 9):
            x = torch.randn(rows, 4)
            torch._dynamo.mark_dynamic(x, 0, min=2, max=9)
            ours = function(x)
            assert_close(ours[0], x.softmax(0) * rows)
            assert ours[1] == 2 * rows
            assert ours[2].data_ptr() == x.data_ptr()
            assert_close(ours[3], x.exp().t())
            assert ours[3].stride() == x.exp().t().stride()
    assert len(programs._programs) == 1  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("function", "bound", "reason"),
    [
        (lambda x: x.exp(), None, r"dimension 0 of x has no upper bound: `torch._dynamo.mark_dynamic"),
        (lambda x: x.unfold(0, 2, 1).exp(), 9, r"aten.unfold .*dimension 0 is s\d+.*export with static sizes"),
    ],
)
def test_specialised_sizes_are_said_once(function: Callable[..., Any], bound: int | None, reason: str) -> None:
    compiled_function = torch.compile(function, backend="uop")
    with torch.no_grad(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for rows in (3, 4, 5):
            x = torch.randn(rows, 6)
            torch._dynamo.mark_dynamic(x, 0, **({} if bound is None else {"min": 3, "max": bound}))
            assert_close(compiled_function(x), function(x))
    (message,) = [str(each.message) for each in caught if issubclass(each.category, SpecializationWarning)]
    assert re.search(reason, message)


def test_the_same_graph_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    forget_programs()
    compilations: list[str] = []
    original = programs.compile_stages

    def counted(function: Any, *args: Any, **kwargs: Any) -> Any:
        compilations.append(function.name)
        return original(function, *args, **kwargs)

    monkeypatch.setattr(programs, "compile_stages", counted)
    for scale in (2.0, 2.0, 3.0):
        torch._dynamo.reset()
        compiled(lambda x, scale=scale: x.sin() * scale)(X)
    assert len(compilations) == 2


def test_numbers_among_the_inputs() -> None:
    function = compiled(lambda x, n: (x * n + x.shape[0], x.shape[0]))
    for n in (2, 3, 4, 2.0, 3.5, 4.5):
        assert_close(function(X, n), (X * n + 3, 3))


# ---- options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"archh": "sm_90"}, "there is no option 'archh'; did you mean 'arch'? (the options are arch, target, device,"),
        ({"arch": "sm_75"}, "option 'arch' is one of 'sm_80', 'sm_90', 'sm_100', not 'sm_75'"),
        ({"device": "gpu"}, "option 'device' is one of 'cpu', 'interpret', 'sim', 'cuda', not 'gpu'"),
        ({"schedule": "i = 2 thread"}, "option 'schedule' is a dict from names of kernels to texts"),
        ({"schedule": {"forward_7": "#tile.schedule<i = 2 thread>"}, "device": "sim"}, "kernels of @forward are forwa"),
        ({"schedule": {"forward_0": "#tile.schedule<i = >"}, "device": "sim"}, "option 'schedule', forward_0"),
    ],
)
def test_options_that_there_are_not(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BackendCompilerFailed) as caught:
        compiled(torch.sin, **options)(X)
    assert message in str(caught.value)


def test_there_are_no_modes() -> None:
    with pytest.raises(BackendCompilerFailed, match="uop has no modes"):
        torch.compile(torch.sin, backend="uop", mode="max-autotune")(X)


def test_the_simulator_runs_what_a_given_schedule_makes() -> None:
    schedule = {"forward_0": "#tile.schedule<i = 3 thread, j = 2 block * 2 thread>"}
    function = lambda x: x.relu() + 1  # noqa: E731
    assert_close(compiled(function, device="sim", schedule=schedule, arch="sm_80")(X), function(X))
    program = uop.compile(Function(function), X, device="sim", schedule=schedule)
    assert "i = 3 thread, j = 2 block * 2 thread" in program.stages["tile"]
    assert program.kernels[0].grid[-1] == 2 or 2 in program.kernels[0].grid


def test_each_pass_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert_close(compiled(torch.relu, check="each")(X), X.relu())
    torch._dynamo.reset()
    forget_programs()
    monkeypatch.setitem(LOWERINGS, "relu", LOWERINGS["neg"])
    with pytest.raises(BackendCompilerFailed, match="'convert-torch-to-uop' changes what @forward computes"):
        compiled(torch.relu, check="each")(X)


# ---- uop.compile


class Function(nn.Module):
    """A function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


@pytest.mark.parametrize(("device", "last"), [("sim", ("gpu-kernel", "cuda")), ("cpu", ("cpu-kernel", "c"))])
def test_a_compiled_module_shows_its_stages(
    device: str, last: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    model = nn.Sequential(nn.Linear(8, 4), nn.ReLU())
    x = torch.randn(2, 8)
    program = uop.compile(model, x, device=device)
    with torch.no_grad():
        assert_close(program(x), model(x))
        model[0].weight.mul_(2)  # pyright: ignore
        assert_close(program(x), model(x))
    assert list(program.stages) == ["torch", "uop", "partition", "range", "loop", "tile", *last]
    assert "loc(" in program.stages["tile"]
    (kernel,) = program.kernels
    assert kernel.name == "forward_0"
    assert "forward_0" in kernel.text
    program.print("tile")
    printed = capsys.readouterr().out
    assert "#tile.schedule<" in printed
    assert "loc(" not in printed
    with pytest.raises(OptionError, match="there is no stage 'tiles'"):
        program.print("tiles")


def test_a_compiled_module_changes_what_the_module_changes() -> None:
    ours, eager = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
    program = uop.compile(ours, (torch.randn(3, 4),))
    x = torch.randn(3, 4)
    with torch.no_grad():
        assert_close(program(x), eager(x))
    assert_close(list(ours.buffers()), list(eager.buffers()))


def test_other_inputs_are_refused_by_name() -> None:
    program = uop.compile(Function(lambda x, n: x * n), (X, 2))
    assert_close(program(X, 2), X * 2)
    with pytest.raises(InputError, match=r"input x is float32\[4, 3\], not float32\[3, 4\]: shapes and dtypes are fix"):
        program(X.t(), 2)
    with pytest.raises(InputError, match="input x is float64"):
        program(X.double(), 2)
    with pytest.raises(InputError, match="input 1 is 3, not 2"):
        program(X, 3)
    with pytest.raises(InputError, match="structure"):
        program(X)
    with pytest.raises(OptionError, match="no option 'archs'"):
        uop.compile(Function(torch.sin), X, archs="sm_90")
    with pytest.raises(UnsupportedProgramError, match="complex64"):
        uop.compile(Function(lambda x: torch.fft.fft(x)), X)


# ---- models


def forward_and_step(name: str) -> None:
    with random_state(0):
        call = make_model(name)
    with torch.no_grad():
        assert_close(compiled(call.module)(*call.args), call.module(*call.args))

    def make() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
        call = make_model(name)
        return call.module, call.args

    assert_same_step(make)


@pytest.mark.parametrize("name", ["llama", "resnet"])
def test_a_few_models(name: str) -> None:
    forward_and_step(name)


LEFT_IN_PART = ("mixtral", "wav2vec2", "deberta")
"""Models of which something is left to PyTorch: derivatives of operators of transformers and of `weight_norm`, and what
a call of `item` breaks off."""


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    if name in LEFT_IN_PART:
        warnings.simplefilter("ignore", UopWarning)
    forward_and_step(name)
