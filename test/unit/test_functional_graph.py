# Functions of tensors stand for programs, and have no types.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
"""Programs that are made functional without PyTorch's decompositions: what they compute, and which they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.export.graph_signature import OutputKind

from uop.frontends import exporting
from uop.frontends.capture import capture_function
from uop.frontends.captured import Call, Captured
from uop.frontends.errors import CaptureError
from uop.frontends.functional_graph import functional_program
from uop.tools.checking.judging import by_eager
from uop.tools.checking.levels import check_program
from uop.tools.checking.outcomes import Verdict

Function = Callable[..., Any]


class State(nn.Module):
    """A function of a module and an input, [4, 4], where the module has buffers `b` and `c` of that shape."""

    b: torch.Tensor
    c: torch.Tensor

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function
        self.register_buffer("b", torch.arange(16.0).reshape(4, 4))
        self.register_buffer("c", torch.ones(4, 4))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def capture(function: Function) -> Captured:
    def make() -> Call:
        return Call(State(function), (torch.arange(16.0).reshape(4, 4) - 7,))

    return Captured(make(), make, function.__name__)


def assert_right(captured: Captured) -> None:
    """The tensor form computes what eager PyTorch does, new values of buffers and inputs included."""
    (outcome,) = check_program(captured, captured.source_name, ["tensors"], by_eager(captured))
    assert outcome.verdict is Verdict.RIGHT, (outcome.reasons, outcome.detail)


# ---- writes


def update_of_rows(state: State, x: torch.Tensor) -> Any:
    state.b.index_copy_(0, torch.tensor([2, 1]), x[:2])
    state.c.index_copy_(0, torch.tensor([0, 3]), x[2:])
    return state.b @ state.c


def update_then_view(state: State, x: torch.Tensor) -> Any:
    state.b.add_(x)
    row = state.b[1]
    return row * 2, state.b.reshape(-1)


def update_twice(state: State, x: torch.Tensor) -> Any:
    before = state.b * 1
    middle = state.b.add_(x[0]) + 0
    return before, middle, state.b.mul_(2)


def assignment(state: State, x: torch.Tensor) -> Any:
    state.b, state.c = state.c + x, state.b + 0
    return state.b + state.c


def update_of_the_input(state: State, x: torch.Tensor) -> Any:
    same = x.to(torch.float32).contiguous()
    same.masked_fill_(x > 3, -1.0)
    return x.sum(), same


def update_of_a_copy(state: State, x: torch.Tensor) -> Any:
    y = x.clone()
    y.sub_(state.b).clamp_(-2.0, 3.0)
    y[torch.tensor([1]), :] = 7.0
    y.copy_(x.to(torch.float64))
    return y, x


def fill(state: State, x: torch.Tensor) -> Any:
    state.c.zero_()
    state.b.fill_(2.5)
    return state.c + state.b + torch.tensor(2.0)


def parts_before_and_after(state: State, x: torch.Tensor) -> Any:
    first, _ = state.b.chunk(2)
    kept = first + 0
    state.b.add_(1.0)
    _, second = state.b.chunk(2)
    return kept, second


def view_before(state: State, x: torch.Tensor) -> Any:
    row = state.b[1]
    state.b.add_(x)
    return row


def part_before(state: State, x: torch.Tensor) -> Any:
    first, _ = state.b.chunk(2)
    state.b.add_(x)
    return first


def write_to_a_view(state: State, x: torch.Tensor) -> Any:
    state.b[0].add_(1)
    return state.b


def write_in_a_wider_type(state: State, x: torch.Tensor) -> Any:
    return state.b.add_(x.double())


def returned_view(state: State, x: torch.Tensor) -> Any:
    y = x + 1
    flat = y.view(-1)
    y.mul_(2)
    return flat


REWRITTEN: list[Function] = [
    update_of_rows,
    update_then_view,
    update_twice,
    assignment,
    update_of_the_input,
    update_of_a_copy,
    fill,
    parts_before_and_after,
]

LEFT: list[Function] = [
    view_before,
    part_before,
    write_to_a_view,
    write_in_a_wider_type,
    returned_view,
]


@pytest.mark.parametrize("function", REWRITTEN)
def test_writes_to_whole_tensors(function: Function) -> None:
    captured = capture(function)
    assert functional_program(captured.exported()) is not None
    assert_right(captured)


@pytest.mark.parametrize("function", LEFT)
def test_writes_that_pytorch_has_to_take_out(function: Function) -> None:
    captured = capture(function)
    assert functional_program(captured.exported()) is None
    assert_right(captured)


def test_what_is_written_is_an_output() -> None:
    program = functional_program(capture(update_of_the_input).exported())
    assert program is not None
    specs = program.graph_signature.output_specs
    assert [(spec.kind, spec.target) for spec in specs] == [
        (OutputKind.USER_INPUT_MUTATION, "x"),
        (OutputKind.USER_OUTPUT, None),
        (OutputKind.USER_OUTPUT, None),
    ]
    program = functional_program(capture(assignment).exported())
    assert program is not None
    assert not any("copy" in str(node.target) for node in program.graph.nodes)


def test_inputs_that_share_memory_are_refused_as_before() -> None:
    x = torch.zeros(4)
    captured = capture_function(lambda x, y: x.add_(1) + y, lambda: (x, x[:1]), "shared")
    assert functional_program(captured.exported()) is None
    with pytest.raises(CaptureError, match="share memory that the program changes"):
        captured.imported()


# ---- operations


def floats(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape))).to(dtype)


X, W, V = (4, 6), (3, 6), (6,)

OPERATIONS: dict[str, tuple[Function, Sequence[tuple[int, ...]]]] = {
    "linear": (lambda x, w, b: F.linear(x, w, b), [(2, 4, 6), W, (3,)]),
    "linear of a vector": (lambda x, w: F.linear(x, w), [V, W]),
    "matmul": (lambda x, w: x @ w.t(), [X, W]),
    "matmul of batches": (lambda x, w: x @ w.transpose(1, 2), [(2, 4, 6), (2, 3, 6)]),
    "matmul that broadcasts": (lambda x, w: x @ w.mT, [(2, 1, 4, 6), (3, 5, 6)]),
    "matmul of a batch and a matrix": (lambda x, w: x @ w.mT, [(2, 3, 4, 6), W]),
    "matmul of a matrix and a batch": (lambda x, w: w @ x.mT, [(2, 4, 6), W]),
    "matmul with vectors": (lambda x, v: (x @ v, v @ x.mT, v @ v), [(2, 4, 6), V]),
    "softmax": (lambda x: (x.softmax(-1), x.softmax(0, dtype=torch.float32), x.log_softmax(1)), [X]),
    "conversions": (lambda x: (x.to(torch.float16), x.float(), x.to(x), x.type_as(x.double()), x.int()), [X]),
    "layer_norm": (lambda x, v: F.layer_norm(x, (6,), v, v), [X, V]),
    "group_norm": (lambda x: F.group_norm(x, 2), [(2, 4, 6)]),
    "batch_norm": (lambda x, v: F.batch_norm(x, v, v.abs(), v, v), [(2, 6, 4), V]),
    "activations": (lambda x: F.silu(x) + F.gelu(x) + F.softplus(x) + F.mish(x) + F.elu(x) + F.relu6(x), [X]),
    "dropout": (lambda x: F.dropout(x, 0.5, training=False), [X]),
    "parts": (lambda x: [*x.chunk(4, 1), *x.split(4, -1), *x.split([1, 2, 1]), *x.unbind(1)], [X]),
    "shapes": (lambda x: (x.flatten(), x.reshape(-1, 3).contiguous(), x.t().unflatten(0, (2, -1)), x[:, None].mT), [X]),
    "joins": (lambda x: (torch.stack([x, x], 1), x.roll(2, 1), x.tile(2, 1), x.repeat_interleave(2, 1)), [X]),
    "diff": (lambda x: (x.diff(), x.diff(n=2, dim=0), x.diff(prepend=x[:, :2], append=x[:, 1:3])), [X]),
    "diff of bools": (lambda x: ((x > 0).diff(), (x > 0).diff(n=7)), [X]),
    "masks": (lambda x: (x.masked_fill(x > 0, 2.0), torch.where(x > 0, x, 1.0), (x > 0) & (x < 1) | (x > 2)), [X]),
    "pad": (lambda x: (F.pad(x, (1, -2)), F.pad(x, (0, 0, 2, 1), value=-1.5)), [X]),
    "pools": (
        lambda x: (F.adaptive_avg_pool2d(x, 1), F.adaptive_avg_pool2d(x, (3, 2)), F.max_pool2d(x, 2)),
        [(2, 4, 6)],
    ),
    "convolution": (lambda x, w: F.conv1d(x, w, padding=1), [(2, 3, 8), (4, 3, 3)]),
    "extrema": (lambda x, v: (torch.max(x, v), torch.min(x, v), x.std(1), x.var(0), x.norm(dim=1)), [X, V]),
    "constants": (lambda x: x + torch.ones(6) * torch.arange(6) + torch.zeros_like(x) - torch.eye(6)[1], [X]),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right without the decompositions, and with them."""
    function, shapes = OPERATIONS[name]
    captured = capture_function(function, lambda: [floats(*shape, dtype=dtype) for shape in shapes], name)
    assert functional_program(captured.exported()) is not None
    assert_right(captured)
    monkeypatch.setattr(exporting, "functional_program", lambda exported: None)
    assert_right(capture_function(function, lambda: [floats(*shape, dtype=dtype) for shape in shapes], name))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: F.dropout(x, 0.5),
        lambda x: F.batch_norm(x, torch.zeros(6), torch.ones(6), training=True),
        lambda x: F.pad(x[None], (1, 1), mode="circular"),
        lambda x: x.normal_(),
        lambda x: torch.einsum("ij,kj->ik", x, x),
    ],
    ids=["dropout", "batch_norm", "circular", "normal_", "einsum"],
)
def test_what_takes_decompositions(function: Function) -> None:
    captured = capture_function(function, lambda: [floats(*X)], "program")
    assert functional_program(captured.exported()) is None


def test_lines_are_the_users() -> None:
    captured = capture(update_then_view)
    line = update_then_view.__code__.co_firstlineno
    module = captured.imported().module
    found = {op.location for op in module.walk() if op.name == "torch.aten"}
    assert {str(location).partition(":")[2].split(":")[0] for location in found} <= {str(line + n) for n in (1, 2, 3)}
