"""Functions of the bits of floats against eager PyTorch: zeros, numbers without a leading 1, the ends of each type."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from aten_oracle import FLOATS, check, special

aten: Any = torch.ops.aten


def turning(dtype: torch.dtype) -> torch.Tensor:
    """Special values, and the least and the greatest of the type."""
    info = torch.finfo(dtype)
    ends = torch.tensor([info.tiny, info.max, -info.max, 3 * info.smallest_normal], dtype=dtype)
    least = torch.tensor([1, 3], dtype={8: torch.int64, 4: torch.int32, 2: torch.int16}[dtype.itemsize]).view(dtype)
    return torch.cat([special(dtype), ends, least, -least])


@pytest.mark.parametrize("dtype", FLOATS)
def test_mantissa_and_exponent(dtype: torch.dtype) -> None:
    check(aten.frexp.Tensor, turning(dtype))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_neighbours(dtype: torch.dtype) -> None:
    values = turning(dtype)
    check(aten.nextafter.default, values.reshape(-1, 1), values.reshape(1, -1))
    check(aten.nextafter.default, values[2], values[3])
