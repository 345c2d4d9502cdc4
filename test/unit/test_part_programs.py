"""`Captured.part`: what an exported program computes from some of its inputs alone."""

import pytest
import torch
from torch import nn

from uop.frontends.captured import Call, Captured


class Parts(nn.Module):
    """Two programs: one writes to its input and has a parameter, the other has a literal and gives its input back."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def first(self, input: torch.Tensor) -> tuple[torch.Tensor, None]:
        input.add_(1)
        return self.linear(input), None

    def second(self, y: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return y @ z + torch.tensor([1.0, 2.0]), y


class Both(Parts):
    def forward(self, input: torch.Tensor, y: torch.Tensor, z: torch.Tensor) -> object:
        return self.first(input), self.second(y, z)


class First(Parts):
    def forward(self, input: torch.Tensor) -> object:
        return self.first(input)


class Second(Parts):
    def forward(self, y: torch.Tensor, z: torch.Tensor) -> object:
        return self.second(y, z)


X, Y, Z = torch.randn(2, 3), torch.randn(4, 5), torch.randn(5, 2)


def whole() -> Captured:
    call = Call(Both(), (X, Y, Z))
    return Captured(call, lambda: call, "both")


def test_a_part_that_writes_to_its_input() -> None:
    captured = whole()
    module = First()
    part = captured.part(Call(module, (X,)), [0], [0, 1])
    assert [argument.source for argument in part.imported().arguments] == ["linear.weight", "linear.bias", "input"]
    inputs = part.make_inputs()
    written, result = part.reference(inputs)
    assert torch.equal(written, X + 1)
    assert torch.equal(result, module.linear(X + 1))
    for value, exact in zip((written, result), part.reference64(inputs), strict=True):
        torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=1e-6)


def test_a_part_with_a_literal() -> None:
    part = whole().part(Call(Second(), (Y, Z)), [1, 2], [2, 3])
    inputs = part.make_inputs()
    result, same = part.reference(inputs)
    assert torch.equal(same, Y)
    exact, _ = part.reference64(inputs)
    torch.testing.assert_close(result.double(), exact, rtol=1e-5, atol=1e-6)
    assert len(part.imported().arguments) == 3


def test_an_input_that_is_needed_may_not_be_left_out() -> None:
    with pytest.raises(KeyError):
        whole().part(Call(Second(), (Y,)), [1], [2, 3])
