"""The meaning of the tensor form: functions and kernels of uop ops on tensors, run on numpy arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import SymbolTable

from ...dialects.semantics import numpy_dtype
from ...dialects.types import element_of, is_float, shape_of, type_name
from ...dialects.uop import (
    AluOp,
    BitcastOp,
    CastOp,
    ConstOp,
    ExpandOp,
    FlipOp,
    GatherOp,
    IotaOp,
    KernelOp,
    LaunchOp,
    PadOp,
    PermuteOp,
    ReduceAxisOp,
    ReshapeOp,
    ScanAxisOp,
    ScatterOp,
    ShrinkOp,
    WindowOp,
    YieldOp,
)
from .arrays import Array, ExecutionError, NotExecutableError, alu, bitcast_array, cast_array, constant, fold, scan
from .noise import current_noise


def interpret_function(function: FuncOp, arguments: Sequence[Array]) -> list[Array]:
    """What a function of uop ops on tensors, or of launches of kernels in tensor form, returns.

    arguments: one array for each argument, with its shape and `numpy_dtype`; bf16 is float32 arrays of numbers that
    bf16 holds. Kernels are looked up in the module that holds the function. Raises `ExecutionError`, which names the
    op.
    """
    return _run(function.body.block, arguments, function)


def interpret_kernel(kernel: KernelOp, arguments: Sequence[Array]) -> list[Array]:
    """What a kernel in tensor form yields. Raises `ExecutionError`, which names the op."""
    if not kernel.is_tensor_form:
        raise ExecutionError(f"@{kernel.sym_name.data} is not in tensor form", kernel)
    return _run(kernel.body.block, arguments, kernel)


def _run(block: Block, arguments: Sequence[Array], parent: Operation) -> list[Array]:
    """The operands of the terminator; arrays are dropped after their last use."""
    _check_arguments(block, arguments, parent)
    values: dict[SSAValue, Array] = dict(zip(block.args, arguments, strict=True))
    uses_left: dict[SSAValue, int] = {value: len(tuple(value.uses)) for value in block.args}
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, ReturnOp | YieldOp):
            return operands
        handler = _HANDLERS.get(AluOp if isinstance(op, AluOp) else type(op))
        if handler is None:
            raise NotExecutableError(f"{op.name} has no meaning in tensor form", op)
        results = handler(op, operands)
        for value, array in zip(op.results, results, strict=True):
            assert array.shape == shape_of(value.type), f"{op.name} made {array.shape} of {value.type}"
            values[value] = array
            uses_left[value] = len(tuple(value.uses))
        for operand in op.operands:
            uses_left[operand] -= 1
            if uses_left[operand] == 0:
                del values[operand]
    raise ExecutionError(f"{parent.name} does not end in a return", parent)


def _check_arguments(block: Block, arguments: Sequence[Array], parent: Operation) -> None:
    if len(arguments) != len(block.args):
        raise ExecutionError(f"it takes {len(block.args)} arguments, not {len(arguments)}", parent)
    for argument, array in zip(block.args, arguments, strict=True):
        expected = numpy_dtype(element_of(argument.type))
        if array.shape != shape_of(argument.type) or array.dtype != expected:
            raise ExecutionError(
                f"argument %{argument.name_hint} is {array.dtype}{list(array.shape)}, "
                f"not {expected}{list(shape_of(argument.type))}",
                parent,
            )


def _alu(op: AluOp, operands: Sequence[Array]) -> list[Array]:
    return [alu(op, operands)]


def _const(op: ConstOp, operands: Sequence[Array]) -> list[Array]:
    return [constant(op.number, op.result.type)]


def _cast(op: CastOp, operands: Sequence[Array]) -> list[Array]:
    return [cast_array(operands[0], element_of(op.result.type))]


def _bitcast(op: BitcastOp, operands: Sequence[Array]) -> list[Array]:
    return [bitcast_array(operands[0], element_of(op.input.type), element_of(op.result.type))]


def _reshape(op: ReshapeOp, operands: Sequence[Array]) -> list[Array]:
    return [operands[0].reshape(shape_of(op.result.type))]


def _expand(op: ExpandOp, operands: Sequence[Array]) -> list[Array]:
    return [np.broadcast_to(operands[0], shape_of(op.result.type))]


def _permute(op: PermuteOp, operands: Sequence[Array]) -> list[Array]:
    return [operands[0].transpose(op.integers("order"))]


def _pad(op: PadOp, operands: Sequence[Array]) -> list[Array]:
    return [np.pad(operands[0], list(zip(op.integers("low"), op.integers("high"), strict=True)))]


def _shrink(op: ShrinkOp, operands: Sequence[Array]) -> list[Array]:
    places = zip(op.integers("offsets"), shape_of(op.result.type), op.steps(), strict=True)
    return [operands[0][tuple(slice(start, start + count * step, step) for start, count, step in places)]]


def _window(op: WindowOp, operands: Sequence[Array]) -> list[Array]:
    strides, shape = op.integers("strides"), shape_of(op.result.type)
    extents = shape[op.place : op.place + len(strides)]
    places = sum(
        np.arange(extent).reshape([-1 if d == axis else 1 for d in range(len(extents))]) * stride
        for axis, (extent, stride) in enumerate(zip(extents, strides, strict=True))
    )
    return [np.take(operands[0], places, op.place)]


def _flip(op: FlipOp, operands: Sequence[Array]) -> list[Array]:
    return [np.flip(operands[0], op.integers("axes"))]


def _iota(op: IotaOp, operands: Sequence[Array]) -> list[Array]:
    element = element_of(op.result.type)
    return [cast_array(np.arange(shape_of(op.result.type)[0], dtype=np.int64), element)]


_UFUNCS: Mapping[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}
"""Monoids that numpy has."""


def _numpy_reduces(op: ReduceAxisOp) -> bool:
    """Whether numpy combines these elements as they are: it rounds f16 in its own way, has no bf16, and no noise."""
    element = element_of(op.operands[0].type)
    return current_noise() is None and op.monoid.data in _UFUNCS and type_name(element) not in ("f16", "bf16")


def _reduce_axis(op: ReduceAxisOp, operands: Sequence[Array]) -> list[Array]:
    monoid = op.monoid.monoid
    elements = [element_of(value.type) for value in op.operands]
    axes = op.axis_list()
    if _numpy_reduces(op):
        identity = constant(monoid.identity(elements)[0], elements[0])
        with np.errstate(all="ignore"):
            return [_reduced(_UFUNCS[monoid.name], operands[0], axes, identity)]
    arrays = list(operands)
    for axis in axes:
        arrays = fold(monoid, elements, arrays, axis)
    return arrays


def _reduced(ufunc: np.ufunc, array: Array, axes: tuple[int, ...], identity: Array) -> Array:
    """numpy adds up pairwise only along the last axis of contiguous arrays: the reduced axes go there."""
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    rows = array.transpose((*kept, *axes)).reshape((*(array.shape[axis] for axis in kept), -1)) if array.size else None
    shape = [1 if axis in axes else n for axis, n in enumerate(array.shape)]
    if rows is None:
        return np.broadcast_to(identity, shape)
    total = ufunc.reduce(np.ascontiguousarray(rows), axis=-1, dtype=array.dtype)
    return ufunc(total, identity).reshape(shape)  # a sum of −0 is +0


def _scan_axis(op: ScanAxisOp, operands: Sequence[Array]) -> list[Array]:
    elements = [element_of(value.type) for value in op.operands]
    return scan(op.monoid.monoid, elements, operands, op.axis.value.data)


def _gather(op: GatherOp, operands: Sequence[Array]) -> list[Array]:
    source, indices = operands
    axis = op.axis.value.data
    _check_bounds(op, indices, source.shape[axis])
    return [np.take_along_axis(source, indices.astype(np.int64), axis)]


def _scatter(op: ScatterOp, operands: Sequence[Array]) -> list[Array]:
    source, indices, updates = operands
    axis = op.axis.value.data
    named = indices != -1
    _check_bounds(op, indices[named], source.shape[axis])
    result = source.copy()
    places: list[Array] = list(np.nonzero(named))
    places[axis] = indices[named].astype(np.int64)
    updates = updates[named]
    if op.monoid is None:
        result[tuple(places)] = updates
    else:
        element = element_of(op.input.type)
        if op.monoid.data not in _UFUNCS:
            raise NotExecutableError(f"a scatter with {op.monoid.data} is not interpreted", op)
        with np.errstate(all="ignore"):
            _UFUNCS[op.monoid.data].at(result, tuple(places), updates)
        result = cast_array(result, element) if is_float(element) else result
    return [result]


def _check_bounds(op: GatherOp | ScatterOp, indices: Array, extent: int) -> None:
    outside = (indices < 0) | (indices >= extent)
    if outside.any():
        index = indices[outside].flat[0]
        raise ExecutionError(f"index {index} is outside axis {op.axis.value.data}, which has extent {extent}", op)


def _launch(op: LaunchOp, operands: Sequence[Array]) -> list[Array]:
    name = op.kernel.root_reference.data
    kernel = SymbolTable.lookup_symbol(op, name)
    if not isinstance(kernel, KernelOp):
        raise ExecutionError(f"there is no kernel @{name}", op)
    return interpret_kernel(kernel, operands)


_HANDLERS: Mapping[type[Operation], Callable[[Any, Sequence[Array]], list[Array]]] = {
    AluOp: _alu,
    ConstOp: _const,
    CastOp: _cast,
    BitcastOp: _bitcast,
    ReshapeOp: _reshape,
    ExpandOp: _expand,
    PermuteOp: _permute,
    PadOp: _pad,
    ShrinkOp: _shrink,
    WindowOp: _window,
    FlipOp: _flip,
    IotaOp: _iota,
    ReduceAxisOp: _reduce_axis,
    ScanAxisOp: _scan_axis,
    GatherOp: _gather,
    ScatterOp: _scatter,
    LaunchOp: _launch,
}
