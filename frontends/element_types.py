"""PyTorch's dtypes and uop's element types: one table for both directions."""

import torch
from xdsl.dialects.builtin import DYNAMIC_INDEX, NoneAttr, TensorType, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute

from ..dialects.symbols import ExtentsAttr
from ..dialects.types import ui8
from .errors import UnsupportedError
from .symbols import NO_SYMBOLS, Symbols

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

SIZE = TensorType(i64, ())
"""The type of the value of a symbol."""

_DTYPES = {element: dtype for dtype, element in ELEMENT_TYPES.items()}


def dtype_name(dtype: torch.dtype) -> str:
    """`float32`"""
    return str(dtype).removeprefix("torch.")


def dtype_of(element: Attribute) -> torch.dtype:
    """The dtype that holds `element`; `KeyError` for `index`, which no tensor of PyTorch has."""
    return _DTYPES[element]


def tensor_type(value: object, symbols: Symbols = NO_SYMBOLS) -> TensorType:
    """`tensor<16x64xf32>`, with symbolic sizes `tensor<?x64xf32, #uop.extents<s0, 64>>`.

    symbols: those of the graph. Raises `UnsupportedError` for what uop has no type for.
    """
    if not isinstance(value, torch.Tensor):
        raise UnsupportedError("its result is no tensor: sizes and control flow that depend on data are not supported")
    if value.layout != torch.strided:
        layout = str(value.layout).removeprefix("torch.")
        raise UnsupportedError(f"layout {layout} is not supported, only dense tensors are; use x.to_dense()")
    if value.dtype not in ELEMENT_TYPES:
        advice = "; use two tensors, of real and of imaginary parts" if value.is_complex() else ""
        raise UnsupportedError(f"dtype {dtype_name(value.dtype)} is not supported{advice}")
    element = ELEMENT_TYPES[value.dtype]
    sizes: list[object] = list(value.shape)
    if all(isinstance(size, int) for size in sizes):
        return TensorType(element, list(value.shape))
    extents = tuple(map(symbols.extent, sizes))
    shape = [DYNAMIC_INDEX if extent.constant is None else extent.constant for extent in extents]
    return TensorType(element, shape, ExtentsAttr(extents) if DYNAMIC_INDEX in shape else NoneAttr())
