"""The table of lowerings, and what it refuses."""

from __future__ import annotations

from typing import Any, cast

import pytest
import torch
from aten_oracle import program, sample
from xdsl.context import Context

from uop.passes.torch.convert_torch_to_uop import ConvertTorchToUopPass
from uop.passes.torch.lowerings import LOWERINGS
from uop.passes.torch.lowerings.registry import IGNORED
from uop.rewriting.diagnostics import PassError
from uop.runtime.interpret.aten import overload_named

aten: Any = torch.ops.aten


@pytest.mark.parametrize("overload", sorted(LOWERINGS))
def test_parameters_are_the_schema_s(overload: str) -> None:
    """Names, order and defaults of a lowering's parameters, but for those that say where a tensor lies."""
    import torch.nn.modules.linear_cross_entropy as losses  # noqa: F401  # pyright: ignore
    import transformers.integrations.moe as registers  # noqa: F401  # pyright: ignore

    schema = overload_named(overload)._schema
    expected = [
        (x.name, x.default_value if x.has_default_value() else None) for x in schema.arguments if x.name not in IGNORED
    ]
    actual = {x.name: None if x.default is x.empty else x.default for x in LOWERINGS[overload].parameters}
    for name, default in expected:
        assert name in actual or name in {"dtype"}, name
        # The result's type says what the dtype is.
        if name in actual and name != "dtype" and default not in (None, []):
            # `int[2] padding=0` is one number for all axes.
            numbers = cast("list[object]", default) if isinstance(default, list) else []
            accepted: list[object] = [default, numbers[:1]] if len(set(numbers)) == 1 else [default]
            assert actual[name] in accepted, name
    names = [name for name, _ in expected]
    assert [name for name in names if name in actual] == list(actual)


def refusal(overload: Any, *args: Any, **kwargs: Any) -> str:
    expected = overload(*args, **kwargs)
    results: list[torch.Tensor] = [expected] if isinstance(expected, torch.Tensor) else list(expected)
    module = program(overload, args, kwargs, results)
    with pytest.raises(PassError) as error:
        ConvertTorchToUopPass().apply(Context(), module)
    return str(error.value)


def test_refusals() -> None:
    x = sample(torch.float32, (2, 3, 4))
    assert "dropout in training is random" in refusal(aten.native_dropout.default, x, 0.5, True)
    assert "no lowering for this overload" in refusal(aten._linalg_svd.default, x)
    assert "model.py:7" in refusal(aten._linalg_svd.default, x)
    assert "it draws random numbers" in refusal(aten.rand_like.default, x)
    image = torch.zeros(1, 1, 4, 4, dtype=torch.uint8)
    for overload in (aten.upsample_bilinear2d, aten.upsample_bicubic2d, aten._upsample_bilinear2d_aa):
        assert "only floats are interpolated; write x.float()" in refusal(overload.default, image, [6, 6], False)
    assert "a selection by mask depends on data" in refusal(aten.index.Tensor, x, [x > 0])
