"""Functions in files: called under fake tensors where that goes, told by the user's lines where it does not."""

import textwrap
from pathlib import Path

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensor

from uop.frontends.capture import capture_file
from uop.frontends.captured import Captured
from uop.frontends.errors import CaptureError, FrontendError
from uop.frontends.imported import ArgumentKind
from uop.rewriting.locations import source_lines

LLAMA = """\
import torch
import torch.nn.functional as F
from torch import nn

from rotary import rotate, table


class Block(nn.Module):
    def __init__(self, dim, heads, kv_heads, hidden):
        super().__init__()
        self.size = dim // heads
        self.norm = nn.RMSNorm(dim)
        self.query = nn.Linear(dim, heads * self.size, bias=False)
        self.key_value = nn.Linear(dim, 2 * kv_heads * self.size, bias=False)
        self.out = nn.Linear(heads * self.size, dim, bias=False)
        self.gate_up = nn.Linear(dim, 2 * hidden, bias=False)
        self.down = nn.Linear(hidden, dim, bias=False)
        self.register_buffer("cos", table(128, self.size).cos(), persistent=False)
        self.sin = table(128, self.size).sin()

    def forward(self, x):
        batch, length, _ = x.shape
        h = self.norm(x)
        q = self.query(h).view(batch, length, -1, self.size).transpose(1, 2)
        k, v = self.key_value(h).view(batch, length, -1, 2 * self.size).transpose(1, 2).chunk(2, -1)
        cos, sin = self.cos[:length], self.sin[:length]
        h = F.scaled_dot_product_attention(
            rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True, enable_gqa=True)
        x = x + self.out(h.transpose(1, 2).reshape(batch, length, -1))
        gate, up = self.gate_up(x).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


def make():
    return Block(64, 4, 2, 96), torch.randn(2, 16, 64)
"""

ROTARY = """\
import torch


def table(length, size):
    frequency = 10000.0 ** (-torch.arange(0, size, 2).float() / size)
    return torch.outer(torch.arange(length).float(), frequency)


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)
"""

HEADER = "import torch\nfrom torch import nn\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def capture(folder: Path, code: str, function: str = "make") -> Captured:
    (folder / "model.py").write_text(HEADER + textwrap.dedent(code))
    return capture_file(f"model.py:{function}")


def check_references(captured: Captured) -> list[torch.Tensor]:
    inputs = captured.make_inputs(3)
    assert all(torch.equal(a, b) for a, b in zip(inputs, captured.make_inputs(3), strict=True))
    results = captured.reference(inputs)
    for single, double in zip(results, captured.reference64(inputs), strict=True):
        torch.testing.assert_close(single.to(double.dtype), double, rtol=1e-4, atol=1e-4)
    return results


def test_a_block_in_a_file(folder: Path) -> None:
    (folder / "model.py").write_text(LLAMA)
    (folder / "rotary.py").write_text(ROTARY)
    captured = capture_file("model.py")
    assert captured.source_name == "model.py:make"
    assert isinstance(captured.args[0], FakeTensor)
    imported = captured.imported()
    assert [argument.name for argument in imported.arguments] == [
        "norm_weight",
        "query_weight",
        "key_value_weight",
        "out_weight",
        "gate_up_weight",
        "down_weight",
        "cos",
        "sin",
        "x",
    ]
    sources = {line for op in imported.function.body.block.ops for line in source_lines(op.location)}
    assert {"rotary.py:10", "rotary.py:11", "model.py:27", "model.py:31"} <= sources
    assert {line.split(":")[0] for line in sources} == {"model.py", "rotary.py"}
    check_references(captured)


def test_nothing_is_allocated(folder: Path) -> None:
    code = """
    def make():
        layers = [nn.Linear(1 << 20, 1 << 20).half() for _ in range(4)]
        return nn.Sequential(*layers), torch.randn(1, 1 << 20).half()
    """
    assert len(capture(folder, code).imported().arguments) == 9


INPUTS = {
    "a tensor": ("x", ["input"]),
    "a tuple": ("(x,)", ["input"]),
    "a list": ("[x]", ["input"]),
    "a dict": ("{'input': x}", ["input"]),
    "both": ("(x,), {}", ["input"]),
}


@pytest.mark.parametrize(("inputs", "names"), INPUTS.values(), ids=INPUTS)
def test_ways_to_give_inputs(folder: Path, inputs: str, names: list[str]) -> None:
    captured = capture(folder, f"def make():\n    x = torch.randn(2, 4)\n    return nn.Linear(4, 4), {inputs}\n")
    arguments = captured.imported().arguments
    assert [a.name for a in arguments if a.kind is ArgumentKind.USER_INPUT] == names
    check_references(captured)


def test_keyword_arguments_that_are_no_tensors(folder: Path) -> None:
    code = """
    class Model(nn.Module):
        def forward(self, x, scale=None, *, mode="sum", pair):
            return (x.sum() if mode == "sum" else x) * scale + pair[1]

    def make():
        return Model(), (torch.randn(3), 2.5), {"pair": (1, torch.ones(3)), "mode": "none"}
    """
    captured = capture(folder, code)
    assert [argument.name for argument in captured.imported().arguments] == ["x", "pair1"]
    x, one = captured.make_inputs()
    assert torch.equal(captured.reference([x, one])[0], x * 2.5 + one)
    check_references(captured)


def test_a_function_instead_of_a_module(folder: Path) -> None:
    captured = capture(folder, "def make():\n    return lambda a, b: a @ b, (torch.randn(2, 3), torch.randn(3, 4))\n")
    assert [argument.name for argument in captured.imported().arguments] == ["a", "b"]
    check_references(captured)


REAL = {
    "all real": "return MODEL, X",
    "a real module": "return MODEL, torch.randn(2, 4)",
    "real inputs": "return nn.Linear(4, 4), X",
    "a real part": "return nn.Sequential(MODEL, nn.Linear(4, 4)), X",
    "a look at data": "return nn.Linear(4, 4), (torch.rand(2, 4) if torch.rand(()) < 2 else None)",
}


@pytest.mark.parametrize("body", REAL.values(), ids=REAL)
def test_real_tensors(folder: Path, body: str) -> None:
    code = f"torch.manual_seed(1)\nMODEL = nn.Linear(4, 4)\nX = torch.randn(2, 4)\n\ndef make():\n    {body}\n"
    check_references(capture(folder, code))


def test_buffers_that_change(folder: Path) -> None:
    code = """
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.zeros(1))

        def forward(self, x):
            self.count += 1
            return x * self.count

    def make():
        return Counter(), torch.randn(3)
    """
    captured = capture(folder, code)
    count, x = captured.make_inputs()
    for results in (captured.reference([count + 4, x]), captured.reference64([count + 4, x])):
        assert results[0].item() == 5.0
        assert torch.allclose(results[1].float(), x * 5)


UNNAMED = {
    "a tensor that a function closes over": "scale_by(torch.randn(3))",
    "a module that a function closes over": "after(nn.Linear(3, 3))",
    "a tensor of the file": "lambda x: x * W",
    "a tensor of an object": "Scale(torch.randn(3)).call",
    "modules in a list": "Layers([nn.Linear(3, 3)])",
}


@pytest.mark.parametrize("program", UNNAMED.values(), ids=UNNAMED)
def test_tensors_that_are_no_attributes_of_a_module(folder: Path, program: str) -> None:
    code = """
    W = torch.randn(3)

    def scale_by(w):
        return lambda x: x * w

    def after(layer):
        return lambda x: layer(x) + 1

    class Scale:
        def __init__(self, w):
            self.w = w

        def call(self, x):
            return x * self.w

    class Layers(nn.Module):
        def __init__(self, layers):
            super().__init__()
            self.layers = layers

        def forward(self, x):
            return self.layers[0](x)
    """
    make = f"\ndef make():\n    return {program}, torch.randn(3)\n"
    check_references(capture(folder, textwrap.dedent(code) + make))


def test_a_step_of_training(folder: Path) -> None:
    """PyTorch computes the derivative that was exported, of what needs one, and gives no history with it."""
    code = """
    class Step(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(torch.randn(3, 2))

        def forward(self, x):
            gradient, = torch.autograd.grad((x @ self.w).pow(2).mean(), [self.w])
            with torch.no_grad():
                self.w -= 0.1 * gradient
            return gradient

    def make():
        return Step(), torch.randn(4, 3)
    """
    captured = capture(folder, code)
    assert not any(result.requires_grad for result in captured.reference(captured.make_inputs()))
    check_references(captured)


def test_a_compiled_model_is_the_model(folder: Path) -> None:
    code = """
    @torch.compile
    def f(x):
        return x.sin() + 1

    def make():
        return torch.compile(f), torch.randn(3)
    """
    check_references(capture(folder, code))


ERRORS = {
    "no function": (
        "x = 3\ndef other(): pass\ndef with_argument(a): pass\n",
        "model.py has no function make (it has: other)",
    ),
    "syntax": ("def make(:\n    pass\n", "model.py:3:10: SyntaxError: invalid syntax\n    def make(:\n             ^"),
    "import": ("import no_such_module\n", "model.py:3:1: ModuleNotFoundError: No module named 'no_such_module'"),
    "in a helper": (
        "def helper():\n    raise KeyError('gone')\n\ndef make():\n    return helper(), 1\n",
        "model.py:4:5: KeyError: 'gone'\n        raise KeyError('gone')\n        ^^^^^^^^^^^^^^^^^^^^^^\n"
        "    called from model.py:7 in make",
    ),
    "no inputs": (
        "def make():\n    return nn.Linear(3, 4)\n",
        "what model.py:make gives is of type Linear; a module and its inputs are needed: `return model, (x, y)`",
    ),
    "no module": ("def make():\n    return 3, 4\n", "the module that model.py:make gives is of type int"),
    "wrong shapes": (
        "def make():\n    return nn.Linear(3, 4), torch.randn(2, 5)\n",
        "torch.export cannot take the program: RuntimeError: a and b must have same reduction dim, "
        "but got [2, 5] X [3, 4].",
    ),
    "memory of two inputs": (
        "def f(x, y):\n    x += 1\n    return x * y\n\n"
        "def make():\n    x = torch.randn(3)\n    return f, (x[1:], x[:2])\n",
        "inputs x and y share memory that the program changes: hand in a .clone() of one",
    ),
    "memory of a buffer": (
        "def make():\n    m = nn.BatchNorm1d(3)\n    return m, m.running_mean.expand(2, 3)\n",
        "inputs running_mean and input share memory that the program changes: hand in a .clone() of one",
    ),
    "a result of a class": (
        "class Pair:\n    pass\n\ndef make():\n    return lambda x: Pair(), torch.randn(3)\n",
        "torch.export cannot take the program: the program gives an object of Pair, which torch.export does not know: "
        "return a tuple or a dict, or register the class with torch.export.register_dataclass(Pair)",
    ),
    "the derivative of a function": (
        "def make():\n    return torch.func.grad(lambda x: x.sin().sum()), torch.randn(3)\n",
        "torch.export does not record all that torch.func.grad and the like compute with: write the derivative out",
    ),
    "a derivative that is not recorded": (
        "def f(x):\n    return torch.autograd.grad(x.tanh().sum(), x)\n\n"
        "def make():\n    return f, torch.randn(3, requires_grad=True)\n",
        "torch.export cannot take the program: torch.export does not record all that torch.autograd.grad computes "
        "with: write the derivative out",
    ),
    "a number of data": (
        "def f(x):\n    return x * x.sum().item()\n\ndef make():\n    return f, torch.randn(3)\n",
        "model.py:4: aten._local_scalar_dense.default: its result is no tensor: sizes and control flow that depend on "
        "data are not supported; without `.item()` and `float()`, a tensor of no dimensions computes the same",
    ),
    "control flow on data": (
        "def f(x):\n    if x.sum() > 0:\n        x = -x\n    return x\n\ndef make():\n    return f, torch.randn(3)\n",
        "model.py:4:8: the program depends on the data in a tensor (`if x > 0`, `x.item()`), which is not supported\n"
        "        if x.sum() > 0:\n           ^^^^^^^^^^^",
    ),
}


@pytest.mark.parametrize(("code", "expected"), ERRORS.values(), ids=ERRORS)
def test_errors(folder: Path, code: str, expected: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(FrontendError) as caught:
        capture(folder, code).imported()
    assert str(caught.value).startswith(expected)
    assert capfd.readouterr() == ("", "")


def test_no_such_file() -> None:
    with pytest.raises(CaptureError, match=r"there is no file nowhere\.py"):
        capture_file("nowhere.py:make")
