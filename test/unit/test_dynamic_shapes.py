# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
"""Programs with sizes that are known when they are called: the same results as eager PyTorch, at several sizes and at
every level. What is not meant is poisoned, so that no result depends on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F
from torch.utils._pytree import tree_leaves

import uop
from uop.frontends.dynamic_shapes import SpecializationWarning
from uop.frontends.errors import UnsupportedProgramError
from uop.frontends.imported import Imported
from uop.frontends.importer import import_exported
from uop.passes.torch.convert_torch_to_uop import CannotLower, ConvertTorchToUopPass
from uop.runtime.interpret.aten import interpret_torch_function
from uop.runtime.interpret.program import interpret_program
from uop.runtime.tensors import to_interpreted
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions
from uop.tools.plugins import make_context
from uop.tools.verifier import verify_ir

S = Dim("s", min=2, max=9)
T = Dim("t", min=2, max=5)
LONG = Dim("s", min=4, max=9)
LENGTHS = (4, 5, 9)


class Call(nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.forward = function


def randn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape)))


def imported(function: Callable[..., Any], inputs: Sequence[torch.Tensor], dims: Sequence[Any]) -> Imported:
    module = function if isinstance(function, nn.Module) else Call(function)
    return import_exported(module, tuple(inputs), dynamic_shapes=_shapes(module, dims))


def _shapes(module: nn.Module, dims: Sequence[Any]) -> Mapping[str, Any] | Sequence[Any]:
    variadic = module.forward.__code__.co_flags & 4
    return [list(dims)] if variadic else list(dims)


def arguments_of(program: Imported, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    given = [inputs[argument.leaf] if argument.leaf is not None else argument.value for argument in program.arguments]
    return program.with_sizes(given)


def check_results(found: Sequence[torch.Tensor], expected: Sequence[torch.Tensor], what: str) -> None:
    for ours, eager in zip(found[-len(expected) :], expected, strict=True):
        torch.testing.assert_close(
            ours.to(eager.dtype), eager, rtol=1e-4, atol=1e-5, equal_nan=True, msg=lambda text: f"{what}: {text}"
        )


def check(
    function: Callable[..., Any],
    dims: Sequence[Any],
    calls: Sequence[Sequence[torch.Tensor]],
    *,
    target: str | None = None,
) -> Imported:
    """Compare with eager PyTorch in the torch dialect, in tensor form, and for a `target` at all of its levels."""
    program = imported(function, calls[1], dims)
    expected = [tree_leaves(function(*inputs)) for inputs in calls]
    given = [arguments_of(program, inputs) for inputs in calls]
    aten = program.function
    for arguments, results in zip(given, expected, strict=True):
        check_results(interpret_torch_function(aten, arguments), results, "torch")
    if target is None:
        ConvertTorchToUopPass().apply(make_context(), program.module)
        verify_ir(program.module)
        check_program(program, given, expected, "uop")
    else:
        for stage, _ in compile_stages(program, CompileOptions(), target=target):
            if stage != "torch":
                check_program(program, given, expected, stage)
    return program


def check_program(
    program: Imported, given: Sequence[Sequence[torch.Tensor]], expected: Sequence[Sequence[torch.Tensor]], stage: str
) -> None:
    for arguments, results in zip(given, expected, strict=True):
        arrays = [to_interpreted(value) for value in arguments]
        found = interpret_program(program.module, program.name, arrays)
        sizes = [tuple(value.shape) for value in arguments]
        check_results([torch.from_numpy(np.array(array)) for array in found], results, f"{stage} on {sizes}")


ONE: list[Any] = [{0: S}]
PAIR: list[Any] = [{0: T, 1: S}]


def rows(*back: int) -> list[list[torch.Tensor]]:
    return [[randn(n, *back)] for n in LENGTHS]


def matrices(*back: int) -> list[list[torch.Tensor]]:
    return [[randn(m, n, *back)] for m, n in ((2, 9), (3, 4), (5, 2))]


FUNCTIONS: list[Any] = [
    # One symbol, in front.
    ("elementwise", lambda x: torch.relu(x) * 2 + x[0], ONE, rows(3)),
    ("softmax over the symbol", lambda x: x.softmax(0), ONE, rows(3)),
    ("log_softmax", lambda x: F.log_softmax(x, 0), ONE, rows()),
    ("softmax beside it", lambda x: x.softmax(1), ONE, rows(3)),
    ("sum", lambda x: x.sum(), ONE, rows(3)),
    ("sums", lambda x: (x.sum(0), x.sum(1)), ONE, rows(3)),
    ("mean", lambda x: (x.mean(0), x.mean()), ONE, rows(3)),
    ("amax", lambda x: (x.amax(0), x.amin(), x.argmax(0), x.argmin()), ONE, rows(3)),
    ("max with places", lambda x: x.max(0), ONE, rows(3)),
    ("var", lambda x: (x.var(0), x.std(), x.var(0, unbiased=False)), ONE, rows(3)),
    ("any", lambda x: ((x > 1).any(0), (x > -9).all()), ONE, rows(3)),
    ("prod", lambda x: x.prod(0), ONE, rows(3)),
    ("kthvalue", lambda x: x.kthvalue(2, 0)[0], ONE, rows(3)),
    ("sort", lambda x: x.sort(0), ONE, rows(3)),
    ("topk", lambda x: x.topk(2, 0)[0], ONE, rows(3)),
    ("cumsum", lambda x: x.cumsum(0), ONE, rows(3)),
    ("logsumexp", lambda x: x.logsumexp(0), ONE, rows(3)),
    ("norm", lambda x: torch.linalg.vector_norm(x), ONE, rows(3)),
    ("layer_norm", lambda x: F.layer_norm(x, (3,)), ONE, rows(3)),
    ("rms_norm", lambda x: F.rms_norm(x, (3,)), ONE, rows(3)),
    ("product", lambda x: x @ x.T, ONE, rows(3)),
    ("contraction of the symbol", lambda x: x.T @ x, ONE, rows(3)),
    ("ones", lambda x: torch.ones(x.shape[0]).sum(), ONE, rows(3)),
    ("the size as a number", lambda x: x * x.shape[0] + x / x.shape[0], ONE, rows(3)),
    ("arange", lambda x: torch.arange(x.shape[0]) * 2, ONE, rows(3)),
    ("arange from", lambda x: torch.arange(x.shape[0], 2 * x.shape[0]), ONE, rows(3)),
    ("last row", lambda x: (x[-1], x[-1:], x[-2:]), ONE, rows(3)),
    ("slices", lambda x: (x[1:], x[:-1], x[:2]), [{0: LONG}], rows(3)),
    ("every second", lambda x: x[:, ::2], ONE, rows(5)),
    ("narrow", lambda x: x.narrow(0, 1, x.shape[0] - 1), [{0: LONG}], rows(3)),
    ("flip", lambda x: x.flip(0), ONE, rows(3)),
    ("pad", lambda x: F.pad(x, (0, 0, 1, 2)), ONE, rows(3)),
    ("cat with static", lambda x: torch.cat([torch.ones(2, 3), x, torch.zeros(1, 3)]), ONE, rows(3)),
    ("cat of two", lambda x: torch.cat([x, x[1:] * 2]), [{0: LONG}], rows(3)),
    ("cat beside", lambda x: torch.cat([x, x * 2], 1), ONE, rows(3)),
    ("stack", lambda x: torch.stack([x, x + 1], 1), ONE, rows(3)),
    ("tril", lambda x: torch.ones(x.shape[0], x.shape[0]).tril(), ONE, rows()),
    ("triu", lambda x: (x[:, None] * x).triu(1), ONE, rows()),
    ("comparison", lambda x: torch.arange(x.shape[0])[:, None] >= torch.arange(x.shape[0]), ONE, rows()),
    ("flatten", lambda x: x.flatten(), ONE, rows(3, 2)),
    ("unflatten", lambda x: x.view(x.shape[0], 3, 2).transpose(1, 2).reshape(x.shape[0], 6), ONE, rows(6)),
    ("embedding", lambda x: F.embedding((x.abs() * 2).long() % 4, torch.arange(12.0).view(4, 3)), ONE, rows(3)),
    ("index_select", lambda x: x.index_select(0, torch.tensor([1, 0, 1])), ONE, rows(3)),
    ("index", lambda x: x[torch.arange(x.shape[0]) // 2], ONE, rows(3)),
    ("gather", lambda x: x.gather(0, (x > 0).long()), ONE, rows(3)),
    ("index_copy", lambda x: torch.zeros(9, 3).index_copy(0, torch.arange(x.shape[0]), x), ONE, rows(3)),
    ("index_add", lambda x: torch.zeros(4, 3).index_add(0, torch.arange(x.shape[0]) % 4, x), ONE, rows(3)),
    ("index_put", lambda x: torch.zeros(9, 3).index_put((torch.arange(x.shape[0]),), x), ONE, rows(3)),
    ("scatter", lambda x: torch.zeros(2, 3).scatter_add(0, (x > 0).long(), x), ONE, rows(3)),
    ("slice assignment", lambda x: _assigned(torch.zeros(9, 3), x), ONE, rows(3)),
    ("where", lambda x: torch.where(x > 0, x, x.mean(0)), ONE, rows(3)),
    ("expand", lambda x: x[:, None].expand(-1, 4, -1), ONE, rows(3)),
    ("repeat beside", lambda x: x.repeat(1, 2), ONE, rows(3)),
    ("split", lambda x: x.split(2, 1), ONE, rows(5)),
    ("squares of the size", lambda x: (x[:, None] * x).flatten() + torch.ones(x.shape[0] * x.shape[0]), ONE, rows()),
    # Two symbols.
    ("merged", lambda x: x.view(-1, 3) * 2, PAIR, matrices(3)),
    ("merged and parted", lambda x: (x.view(-1, 3) @ torch.ones(3, 4)).view(*x.shape[:2], 4), PAIR, matrices(3)),
    ("merged and summed", lambda x: (x.view(-1, 3).sum(0), x.flatten().amax()), PAIR, matrices(3)),
    ("merged with a vector", lambda x: x.flatten() + torch.arange(x.shape[0] * x.shape[1]), PAIR, matrices()),
    ("merged and sliced", lambda x: x.flatten()[1:], PAIR, matrices()),
    ("merged and scanned", lambda x: x.flatten().cumsum(0), PAIR, matrices()),
    ("transposed and merged", lambda x: x.transpose(0, 1).reshape(-1, 3), PAIR, matrices(3)),
    ("parted otherwise", lambda x: x.flatten().view(x.shape[1], x.shape[0]), PAIR, matrices()),
    ("both summed", lambda x: (x.mean(), x.sum((0, 1)), x.var((0, 2))), PAIR, matrices(3)),
    ("batched product", lambda x: x @ x.transpose(1, 2), PAIR, matrices(3)),
    ("linear", lambda x: F.linear(x, torch.ones(4, 3), torch.ones(4)), PAIR, matrices(3)),
    ("softmax of both", lambda x: x.softmax(0) + x.softmax(1), PAIR, matrices(3)),
    ("argmax of all", lambda x: x.argmax(), PAIR, matrices(3)),
]


def _assigned(x: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[: rows.shape[0]] = rows
    return x


@pytest.mark.parametrize(("function", "dims", "calls"), [pytest.param(*row[1:], id=row[0]) for row in FUNCTIONS])
def test_tensor_form(
    function: Callable[..., Any], dims: Sequence[Any], calls: Sequence[Sequence[torch.Tensor]]
) -> None:
    check(function, dims, calls)


def attention(mask: str) -> Callable[..., Any]:
    def forward(x: torch.Tensor) -> torch.Tensor:
        q, k, v = x.view(*x.shape[:2], 3, 2, 4).unbind(2)
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        size = x.shape[1]
        masks = {"causal": None, "bool": torch.ones(size, size).tril() > 0, "float": torch.arange(size)[None] * 0.5}
        result = F.scaled_dot_product_attention(q, k, v, masks[mask], is_causal=mask == "causal")
        return result.transpose(1, 2).reshape(*x.shape[:2], 8)

    return forward


@pytest.mark.parametrize("mask", ["causal", "bool", "float"])
def test_attention(mask: str) -> None:
    check(attention(mask), PAIR, matrices(24))


class Block(nn.Module):
    """A block of a transformer that keeps keys and values from a position on."""

    keys: torch.Tensor
    values: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.qkv, self.out = nn.RMSNorm(8), nn.Linear(8, 24), nn.Linear(8, 8)
        self.register_buffer("keys", torch.zeros(2, 12, 4))
        self.register_buffer("values", torch.zeros(2, 12, 4))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        places = torch.arange(x.shape[0]) + position
        q, k, v = (y.transpose(0, 1) for y in self.qkv(self.norm(x)).view(-1, 3, 2, 4).unbind(1))
        keys, values = self.keys.index_copy(1, places, k), self.values.index_copy(1, places, v)
        mask = torch.arange(12) <= places[:, None]
        y = F.scaled_dot_product_attention(q, keys, values, mask).transpose(0, 1).reshape(-1, 8)
        return (x + self.out(y))[-1:]


@pytest.mark.parametrize("target", ["c", pytest.param("cuda", marks=pytest.mark.slow)])
def test_block_with_cache_at_every_level(target: str) -> None:
    torch.manual_seed(0)
    calls = [[randn(n, 8), torch.tensor(position)] for n, position in ((9, 0), (3, 9), (5, 2))]
    check(Block().eval(), [{0: S}, None], calls, target=target)


def test_rows_of_several_symbols_at_every_level() -> None:
    """Batches of tokens are rows of one matrix, of which those that are needed are the first."""
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(3, 8), nn.GELU(), nn.Linear(8, 4)).eval()
    check(lambda x: (layers(x).softmax(1), layers(x).amax((1, 2))), PAIR, matrices(3), target="c")


def test_symbols_and_extents_stand_in_the_function() -> None:
    program = check(lambda x: x.sum(2), PAIR, matrices(3))
    text = str(program.function).split("\n", 1)[0]
    assert "%t: tensor<i64> {uop.symbol = #uop.symbol<t, 2 to 5>}" in text
    assert "%x: tensor<5x9x3xf32> {uop.extents = #uop.extents<t, s, 3>}" in text
    assert "-> (tensor<5x9xf32> {uop.extents = #uop.extents<t, s>})" in text


@pytest.mark.parametrize(
    ("function", "dims", "inputs", "message"),
    [
        (
            lambda x: torch.linalg.inv(x @ x.T),
            [{0: LONG}],
            [randn(5, 3)],
            r"`linalg_inv_ex` on .*extents<s, s>>: it takes a number, and s is not known",
        ),
        (lambda x: x.unfold(0, 2, 1), [{0: LONG}], [randn(5)], r"`unfold` on .*sizes are known only when the program"),
    ],
)
def test_what_is_not_known_to_be_right_is_refused(
    function: Callable[..., Any], dims: Sequence[Any], inputs: Sequence[torch.Tensor], message: str
) -> None:
    program = imported(function, inputs, dims)
    with pytest.raises(CannotLower, match=message) as caught:
        ConvertTorchToUopPass().apply(make_context(), program.module)
    assert "test_dynamic_shapes.py" in str(caught.value)


def test_a_size_as_a_float_is_refused() -> None:
    with pytest.raises(UnsupportedProgramError, match=r"FloatPow.*only whole numbers of sizes are"):
        imported(lambda x: x * x.shape[0] ** -0.5, [randn(4, 3)], ONE)


def test_one_compiled_program_serves_all_sizes() -> None:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
    shapes = {"input": {0: Dim("batch", min=1, max=7)}}
    program = uop.compile(module, randn(4, 3), dynamic_shapes=shapes, device="interpret")
    with torch.no_grad():
        for batch in (1, 4, 7):
            torch.testing.assert_close(program(randn(batch, 3)), module(randn(batch, 3)))
    with pytest.raises(ValueError, match="length 8 of input in dimension 0: batch = 8 is above its bound 7"):
        program(randn(8, 3))
    with pytest.raises(ValueError, match="length 2 of input in dimension 1: it is 3"):
        program(randn(4, 2))
    with pytest.raises(ValueError, match="input has 1 dimensions, not 2"):
        program(randn(3))


def test_specialisation_is_said() -> None:
    module = Call(lambda x, y: x.view(5, 8) + y["k"])
    inputs = randn(5, 8), {"k": randn(1, 8)}
    shapes = [{0: Dim.AUTO, 1: Dim.STATIC}, {"k": {1: Dim.AUTO}}]
    with pytest.warns(SpecializationWarning) as said:
        import_exported(module, inputs, dynamic_shapes=shapes)
    assert [str(each.message).split(",")[0] for each in said] == [
        "uop: dimension 0 of x was specialised to 5",
        "uop: dimension 1 of y['k'] was specialised to 8",
    ]


def test_a_size_without_upper_bound_is_refused() -> None:
    message = r'd \(dimension 0 of x\) has no upper bound.*torch\.export\.Dim\("d", max=4096\)'
    with pytest.raises(UnsupportedProgramError, match=message):
        imported(lambda x: x + 1, [randn(4, 3)], [{0: Dim("d")}])


def test_a_size_as_a_result_is_refused() -> None:
    with pytest.raises(UnsupportedProgramError, match="result 1: a result that is a size is not supported"):
        imported(lambda x: (x + 1, x.shape[0] * 2), [randn(4, 3)], ONE)
