# torch.manual_seed has no types.
# pyright: reportUnknownMemberType=false
"""Code on the command line: what it computes is what PyTorch computes, and nothing is allocated to find out."""

import math
from typing import Any

import pytest
import torch
from torch import nn
from torch.utils._pytree import tree_leaves

from uop.frontends.capture import capture_expression
from uop.frontends.captured import Captured
from uop.frontends.errors import CaptureError, UnsupportedProgramError
from uop.frontends.imported import ArgumentKind, ResultKind

EXPRESSIONS = [
    "torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
    "torch.randn(4, 8, 16).permute(2, 0, 1) * 2",
    "torch.randn(4, 8).max(dim=-1)",
    "torch.einsum('bij,bjk->bik', torch.randn(2, 4, 8), torch.randn(2, 8, 4))",
    "F.softmax(torch.randn(4, 8, 6), dim=1)",
    "F.layer_norm(torch.randn(4, 8, 6), (8, 6))",
    "F.gelu(torch.randn(4, 8), approximate='tanh')",
    "torch.where(torch.randn(4, 8) > 0, torch.randn(4, 8), torch.zeros(4, 8))",
    "torch.randn(4, 8).half().float()",
    "torch.stack([torch.randn(4, 8) for _ in range(6)])",
    "torch.randn(4, 8)[:, ::2]",
    "F.pad(torch.randn(4, 8), (1, 1))",
    "F.conv2d(torch.randn(1, 3, 8, 8), torch.randn(4, 3, 3, 3))",
    "F.embedding(torch.randint(0, 10, (4,)), torch.randn(10, 8))",
    "F.batch_norm(torch.randn(4, 3, 8), torch.zeros(3), torch.ones(3))",
    "F.cross_entropy(torch.randn(4, 8), torch.randint(0, 8, (4,)))",
    "F.scaled_dot_product_attention(*(torch.randn(1, 2, 16, 8) for _ in range(3)), is_causal=True)",
    "nn.LSTM(4, 4)(torch.randn(3, 1, 4))[0]",
    "nn.MultiheadAttention(16, 2, batch_first=True)(*[torch.randn(1, 8, 16)] * 3)[0]",
    "nn.RMSNorm(2048)(torch.randn(1, 32, 2048))",
    "m = nn.TransformerEncoderLayer(64, 4, batch_first=True).eval(); m(torch.randn(2, 10, 64))",
    "m = nn.Sequential(nn.RMSNorm(8), nn.Linear(8, 4), nn.GELU()).half()\nm(torch.randn(2, 8).half())",
    "m = nn.Linear(8, 4)\nnn.init.zeros_(m.weight)\nm.bias.data.fill_(0.5)\nm(torch.randn(2, 8))",
    "with torch.no_grad():\n    y = torch.randn(3) * 2\ny + 1",
    "x = torch.randn(3)\ny = x * 2\nx.zero_()\ny + x + torch.randn(3)",
    "m = nn.BatchNorm1d(3)\ny = m(torch.randn(4, 3))\ny + m(torch.randn(4, 3)) + m.running_mean",
    "m = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))\nm[0](m[1](torch.randn(4)))",
    "import copy\nm = nn.Linear(4, 4)\nn = copy.deepcopy(m)\nn(m(torch.randn(4)))",
    "x = torch.randn(3)\nx * torch.bernoulli(torch.sigmoid(x))",
    "p = torch.rand(3)\nclass M(nn.Module):\n"
    "    def __init__(self):\n        super().__init__()\n        self.p = nn.Parameter(p)\n"
    "    def forward(self, x): return x * self.p\nM()(p)",
    "w = nn.Parameter(torch.randn(3, 4) * 0.02)\ntorch.randn(2, 3) @ w",
    "x = torch.empty(4, 4).uniform_(2, 3)\nx.sqrt()",
    "x = torch.randn(3)\ny = x * 2\nx.zero_()\nx + y",
    "out = torch.zeros(4, 8)\nout[:, 0] = torch.randn(4)\nout * 2",
    "torch.manual_seed(3)\ntorch.randn(3) * 2",
    "import math\ntorch.randn(3) * math.pi",
    "{'a': torch.randn(3), 'b': [torch.randn(3) + 1, None, 3]}",
    "def f(x):\n    return torch.sin(x) + torch.randn(4)\n\nf(torch.rand(4))",
    "class Net(nn.Module):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.linear = nn.Linear(4, 4)\n"
    "        self.mask = torch.tril(torch.ones(4, 4))\n"
    "    def forward(self, x):\n"
    "        return self.linear(x) * self.mask + torch.zeros(4)\n"
    "Net()(torch.randn(4, 4))",
    "torch.compile(lambda x: x + 1)(torch.randn(3))",
    "exec('pass')\ntorch.randn(3) + 1",
]


def run_plainly(code: str, seed: int) -> list[torch.Tensor]:
    """What Python and PyTorch make of `code`, without uop."""
    *statements, last = code.split("\n") if "\n" in code else code.split("; ")
    scope: dict[str, Any] = {"torch": torch, "nn": nn, "F": nn.functional, "math": math}
    torch.manual_seed(seed)
    with torch.no_grad(), torch.compiler.set_stance("force_eager"):
        exec("\n".join(statements), scope)
        return [leaf for leaf in tree_leaves(eval(last, scope)) if isinstance(leaf, torch.Tensor)]


def user_outputs(captured: Captured, values: list[torch.Tensor]) -> list[torch.Tensor]:
    results = captured.imported().results
    return [values[r.index] for r in results if r.kind is ResultKind.USER_OUTPUT and r.index is not None]


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_results_are_those_of_plain_pytorch(code: str) -> None:
    captured = capture_expression(code)
    inputs = captured.make_inputs(7)
    reference = captured.reference(inputs)
    expected = run_plainly(code, 7)
    outputs = user_outputs(captured, reference)
    assert len(outputs) == len(expected)
    for output, plain in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, plain, rtol=1e-5, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("code", EXPRESSIONS)
def test_the_imported_function_takes_those_inputs_and_gives_those_results(code: str) -> None:
    captured = capture_expression(code)
    function = captured.imported().function
    inputs = captured.make_inputs(1)
    for value, type in zip(inputs, function.function_type.inputs, strict=True):
        assert str(type).startswith("tensor<" + "".join(f"{extent}x" for extent in value.shape))
        assert value.is_contiguous()
    reference = captured.reference(inputs)
    precise = captured.reference64(inputs)
    tolerance = 2e-2 if any(value.dtype is torch.float16 for value in inputs) else 1e-4
    for single, double in zip(reference, precise, strict=True):
        assert double.dtype is (torch.float64 if single.is_floating_point() else single.dtype)
        torch.testing.assert_close(single.to(double.dtype), double, rtol=tolerance, atol=tolerance)


def test_the_same_seed_gives_the_same_inputs_and_leaves_no_trace() -> None:
    captured = capture_expression("nn.Linear(4, 4)(torch.randn(3, 4) + torch.rand(4) * torch.empty(4))")
    torch.manual_seed(0)
    state = torch.random.get_rng_state()
    first, second, other = (captured.make_inputs(seed) for seed in (5, 5, 6))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))
    assert not any(torch.equal(a, b) for a, b in zip(first, other, strict=True))


def test_reference_leaves_its_inputs_alone() -> None:
    captured = capture_expression("x = torch.zeros(3); m = nn.BatchNorm1d(3); x.add_(1); m(torch.randn(4, 3) * x)")
    inputs = captured.make_inputs()
    before = [value.clone() for value in inputs]
    first = captured.reference(inputs)
    captured.reference64(inputs)
    assert all(torch.equal(a, b) for a, b in zip(inputs, before, strict=True))
    assert all(torch.equal(a, b) for a, b in zip(first, captured.reference(inputs), strict=True))


def test_reference64_is_more_precise_and_rounds_where_the_program_does() -> None:
    captured = capture_expression("torch.randn(64, 64) @ torch.randn(64, 64)")
    x, y = captured.make_inputs()
    assert torch.equal(captured.reference64([x, y])[0], x.double() @ y.double())
    rounded = capture_expression("torch.randn(100).half()")
    (x,) = rounded.make_inputs()
    assert torch.equal(rounded.reference64([x])[0], x.half().double())


def arguments(code: str) -> dict[str, str]:
    return {argument.name: argument.kind.value for argument in capture_expression(code).imported().arguments}


def test_names() -> None:
    def names(code: str) -> list[str]:
        return list(arguments(code))

    assert names("sum([torch.randn(2), torch.zeros(2), *(torch.rand(2) for _ in range(4))])") == [*"xyzw", "x4", "x5"]
    assert names("x = torch.randn(2, 3); x @ torch.randn(3)") == ["x", "y"]
    assert names("a, b = torch.randn(2), torch.rand(2); a + b") == ["a", "b"]
    assert names("(a := torch.randn(2)) * 2") == ["a"]
    assert names("noise: torch.Tensor = torch.empty(2).normal_(); noise * 2") == ["noise"]
    assert names("F.linear(torch.randn(2, 3), weight=torch.randn(4, 3), bias=torch.ones(4))") == ["x", "weight", "bias"]
    assert names("w = torch.randn(2)\nfor _ in range(2):\n    w = torch.randn(2)\nw + 1") == ["w", "w2", "w3"]
    assert names("nn.Linear(2, 3)(torch.randn(2))") == ["linear_weight", "linear_bias", "x"]
    assert names("m = nn.Linear(2, 3); m(torch.randn(2))") == ["m_weight", "m_bias", "x"]
    assert names("forward = nn.Linear(2, 3, False); forward(torch.randn(2))") == ["forward_module_weight", "x"]
    assert names("w = nn.Parameter(torch.randn(2)); w * torch.randn(2)") == ["w", "x"]


def test_what_is_an_input_and_what_is_computed() -> None:
    user, parameter, constant = (
        kind.value for kind in (ArgumentKind.USER_INPUT, ArgumentKind.PARAMETER, ArgumentKind.CONSTANT)
    )
    assert arguments("torch.arange(10)") == {}
    assert arguments("torch.eye(3) + torch.linspace(0, 1, 3) + torch.zeros_like(torch.eye(3))") == {}
    assert arguments("torch.tensor(2.0) * torch.ones(3)") == {"x": user}
    assert arguments("torch.tensor([2.0, 3.0]) * torch.ones(2)") == {"constant0": constant, "x": user}
    assert arguments("torch.full((2,), 3.0) + torch.zeros(2) + torch.rand_like(torch.eye(2))") == dict.fromkeys(
        "xyz", user
    )
    assert arguments("nn.Bilinear(1, 2, 3, bias=False)(torch.ones(1), torch.ones(2))") == {
        "bilinear_weight": parameter,
        "x": user,
        "y": user,
    }


def test_a_module_in_a_module_is_one() -> None:
    code = "inner = nn.Linear(4, 4, False); outer = nn.Sequential(inner, inner); outer(torch.randn(4)) + inner.weight"
    assert list(arguments(code)) == ["outer_0_weight", "x"]


def test_shared_parameters_stay_shared_when_converted() -> None:
    code = (
        "a, b = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)\n"
        "b.weight = a.weight\n"
        "m = nn.Sequential(a, b).half().float()\n"
        "m(torch.randn(4))"
    )
    captured = capture_expression(code)
    assert [argument.name for argument in captured.imported().arguments] == ["m_0_weight", "x"]
    weight, x = captured.make_inputs()
    assert torch.equal(captured.reference([weight * 2, x])[0], captured.reference([weight, x])[0] * 4)
    assert torch.allclose(captured.reference64([weight, x])[0], x.double() @ weight.double().T @ weight.double().T)


def test_nothing_is_allocated() -> None:
    # Eight tebibytes, which no machine has: making them in passing would fail at once.
    for code in (
        "F.softmax(torch.randn(2048, 1024, 1024, 1024), -1)",
        "nn.Linear(1 << 20, 1 << 21, bias=False)(torch.zeros(1, 1 << 20))",
        "m = nn.Embedding(1 << 21, 1 << 20).bfloat16().eval(); m(torch.randint(0, 9, (4,)))",
    ):
        assert capture_expression(code).imported().arguments


def test_inputs_that_are_not_initialised_get_values() -> None:
    (value,) = capture_expression("torch.empty(1000) + 1").make_inputs()
    assert 0.8 < value.std() < 1.2
    (value,) = capture_expression("torch.empty(1000, dtype=torch.int32) + 1").make_inputs()
    assert not value.any()


def test_locations_are_lines_of_the_code() -> None:
    captured = capture_expression("x = torch.randn(3)\ny = torch.sin(\n    x)\nF.gelu(y)")
    locations = [str(op.location) for op in captured.imported().function.body.block.ops]
    assert locations == ['loc("<command>":2:0)', 'loc("<command>":4:0)', 'loc("<command>":4:0)']


ERRORS: list[tuple[str, str, int, int | None]] = [
    ("torch.randn(3) +", "SyntaxError: invalid syntax", 1, 17),
    ("x = 3", "the last line gives no value", 1, 1),
    ("torch.randn(3)\nfoo(torch.randn(3))", "NameError: name 'foo' is not defined", 2, 1),
    ("torch.randn(16, 64) @ torch.randn(3, 4)", "RuntimeError: .*reduction dim", 1, 1),
    ("def f(x):\n    return x @ x\n\nf(torch.randn(3, 4))", "called from <command>:4 in <module>", 2, 12),
    ("1 + torch.randn(3).nonzero()", "the shape of what aten.nonzero.default gives depends on data.*torch.where", 1, 5),
    ("x = torch.randn(3)\nif x.sum() > 0:\n    x = -x\nx", "depends on the data", 2, 4),
    ("torch.randn(3) * float(torch.rand(()))", "depends on the data", 1, 18),
    ("m = nn.Dropout()\nx = m(torch.randn(4))\nm.eval()\nm(x)", "changes a module that has been called", 3, 1),
    ("import no_such_module\ntorch.randn(3)", "ModuleNotFoundError", 1, 1),
]


@pytest.mark.parametrize(("code", "message", "line", "column"), ERRORS, ids=[case[0] for case in ERRORS])
def test_errors_say_where(code: str, message: str, line: int, column: int | None) -> None:
    with pytest.raises(CaptureError, match=message) as caught:
        capture_expression(code)
    assert (caught.value.file, caught.value.line, caught.value.column) == ("<command>", line, column)
    text = str(caught.value).splitlines()
    assert text[0].startswith(f"<command>:{line}:{column}: ")
    assert text[1].strip() == code.splitlines()[line - 1].strip()
    assert text[2].index("^") == 4 + (column or 0) - 1


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("", "there is no code"),
        ("# nothing", "there is no code"),
        ("nn.Linear(3, 4)", "gives a module, Linear: call it on an input"),
        ("3", "gives a value of type int"),
        ("[1, 'a', None]", "gives a value of type list"),
    ],
)
def test_results_without_tensors_are_refused(code: str, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        capture_expression(code)


def test_values_that_would_come_too_late_are_refused() -> None:
    captured = capture_expression("x = torch.randn(3)\ny = x * 2\nx.zero_()\nw = nn.Parameter(y + 1)\nw + x")
    with pytest.raises(CaptureError, match="changes a tensor before it makes the last of its inputs"):
        captured.make_inputs()


def test_what_cannot_be_exported_is_told_as_well() -> None:
    captured = capture_expression("torch.func.grad(lambda a: a.sin().sum())(torch.randn(3))")
    with pytest.raises(CaptureError, match=r"torch\.export does not record all that torch\.func\.grad .* compute with"):
        captured.imported()


def test_what_uop_has_no_form_for_is_told_as_well() -> None:
    with pytest.raises(UnsupportedProgramError) as caught:
        capture_expression(
            "torch.randn(3, dtype=torch.complex64).abs() + torch.fft.fft(torch.randn(3)).real"
        ).imported()
    reason = "dtype complex64 is not supported; use two tensors, of real and of imaginary parts"
    assert str(caught.value).splitlines() == [
        f"argument x: {reason}",
        f"<command>:1: aten._fft_r2c.default: {reason}",
    ]


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    captured = capture_expression("nn.TransformerEncoderLayer(8, 2, 8)(torch.randn(2, 1, 8))")
    captured.reference(captured.make_inputs())
    for code in ("torch.randn(16, 64) @ torch.randn(3, 4)", "torch.randn(3).nonzero()"):
        with pytest.raises(CaptureError):
            capture_expression(code)
    assert capfd.readouterr() == ("", "")


def test_capturing_leaves_pytorch_as_it_was() -> None:
    apply = nn.Module._apply  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType, reportUnknownVariableType]
    capture_expression("m = nn.Linear(2, 2).half(); m(torch.randn(2).half())").imported()
    assert nn.Module._apply is apply  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType]
    assert type(torch.randn(2)) is torch.Tensor
