"""PyTorch's dtypes and uop's element types: one table for both directions."""

import torch
from xdsl.dialects.builtin import TensorType, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from ..dialects.types import ui8

ELEMENT_TYPES: dict[torch.dtype, Attribute] = {
    torch.float64: f64,
    torch.float32: f32,
    torch.float16: f16,
    torch.bfloat16: bf16,
    torch.bool: i1,
    torch.int8: i8,
    torch.int16: i16,
    torch.int32: i32,
    torch.int64: i64,
    torch.uint8: ui8,
}

_DTYPES = {element: dtype for dtype, element in ELEMENT_TYPES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """`float32`"""
    return str(dtype).removeprefix("torch.")


def dtype_of(element: Attribute) -> torch.dtype:
    """The dtype that holds `element`; `KeyError` for `index`, which no tensor of PyTorch has."""
    return _DTYPES[element]


def tensor_type(tensor: torch.Tensor) -> TensorType:
    """`tensor<16x64xf32>`; raises `UnsupportedTensorError` for what uop has no type for."""
    if tensor.dtype not in ELEMENT_TYPES:
        raise UnsupportedTensorError(f"dtype {dtype_name(tensor.dtype)} is not supported")
    if tensor.layout != torch.strided:
        layout = str(tensor.layout).removeprefix("torch.")
        raise UnsupportedTensorError(f"layout {layout} is not supported, only dense tensors are")
    if tensor.is_quantized:
        raise UnsupportedTensorError("quantized tensors are not supported")
    symbolic = [str(extent) for extent in tensor.shape if not isinstance(extent, int)]  # pyright: ignore[reportUnnecessaryIsInstance] # SymInt
    if symbolic:
        raise UnsupportedTensorError(
            f"its shape depends on data or on a dynamic dimension ({', '.join(symbolic)}); export with static shapes"
        )
    return TensorType(ELEMENT_TYPES[tensor.dtype], list(tensor.shape))


class UnsupportedTensorError(Exception):
    """A tensor that uop has no type for, and why."""
