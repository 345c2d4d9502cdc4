"""Losses against eager PyTorch."""

from typing import Any

import pytest
import torch
from aten_oracle import check

aten: Any = torch.ops.aten


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("reduction", [0, 1, 2])
def test_soft_margin_loss(dtype: torch.dtype, reduction: int) -> None:
    """exp(12) is more than an f16 holds."""
    x = torch.tensor([-8.5, -3.0, 0.5, 4.0, 2.0], dtype=dtype)
    y = torch.tensor([1.0, -1.0, 1.0, -1.0, 1.0], dtype=dtype)
    check(aten.soft_margin_loss.default, x, y, reduction, ulps=4)
    check(aten.soft_margin_loss.default, x - 3.5, y, 0, ulps=4)
