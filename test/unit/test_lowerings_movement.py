"""Views, joins, sources and access by index against eager PyTorch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from aten_oracle import ALL, check, run, sample, special

aten: Any = torch.ops.aten


VIEWS: list[tuple[Any, Sequence[int], tuple[Any, ...]]] = [
    (aten.view.default, (2, 3, 4), ([6, 4],)),
    (aten.view.default, (2, 3, 4), ([-1, 2],)),
    (aten.view.default, (), ([1, 1],)),
    (aten.view.default, (0, 3), ([3, 0],)),
    (aten.permute.default, (2, 3, 4), ([2, 0, 1],)),
    (aten.permute.default, (2, 3, 4), ([-1, 0, -2],)),
    (aten.transpose.int, (2, 3, 4), (0, -1)),
    (aten.t.default, (2, 3), ()),
    (aten.t.default, (3,), ()),
    (aten.unsqueeze.default, (2, 3), (-1,)),
    (aten.unsqueeze.default, (2, 3), (0,)),
    (aten.unsqueeze.default, (), (0,)),
    (aten.squeeze.default, (1, 3, 1), ()),
    (aten.squeeze.dim, (1, 3, 1), (0,)),
    (aten.squeeze.dim, (1, 3, 1), (1,)),
    (aten.squeeze.dims, (1, 3, 1), ([0, 2],)),
    (aten.expand.default, (1, 3), ([4, -1],)),
    (aten.expand.default, (3, 1), ([2, 3, 5],)),
    (aten.expand.default, (), ([2],)),
    (aten.slice.Tensor, (5, 6), (0, 1, 4)),
    (aten.slice.Tensor, (5, 6), (1, 0, 9223372036854775807, 2)),
    (aten.slice.Tensor, (5, 6), (1, -3, None, 2)),
    (aten.slice.Tensor, (5, 6), (0, 4, 2)),
    (aten.slice.Tensor, (5, 6), (0, -100, 100)),
    (aten.select.int, (5, 6), (0, 2)),
    (aten.select.int, (5, 6), (-1, -1)),
    (aten.narrow.default, (5, 6), (1, 2, 3)),
    (aten.flip.default, (2, 3, 4), ([0, 2],)),
    (aten.flip.default, (2, 3), ([],)),
    (aten.split.Tensor, (5, 6), (2,)),
    (aten.split_with_sizes.default, (5, 6), ([1, 0, 4],)),
    (aten.chunk.default, (5, 6), (4, 1)),
    (aten.unbind.int, (3, 2), (-1,)),
    (aten.unbind_copy.int, (3, 2), (1,)),
    (aten.narrow_copy.default, (5, 6), (1, 2, 3)),
    (aten.permute_copy.default, (5, 6), ([1, 0],)),
    (aten.view_copy.default, (5, 6), ([3, -1],)),
    (aten.diagonal.default, (3, 4), ()),
    (aten.diagonal.default, (3, 4), (2,)),
    (aten.diagonal.default, (3, 4), (-1,)),
    (aten.diagonal.default, (3, 4), (7,)),
    (aten.diagonal.default, (3, 2, 4), (-1, 0, 2)),
    (aten.unfold.default, (2, 7, 3), (1, 3, 2)),
    (aten.unfold.default, (5,), (0, 5, 1)),
    (aten.unfold.default, (2, 7), (-1, 1, 4)),
    (aten.as_strided.default, (4, 9), ([3, 4], [2, 5], 3)),
    (aten.as_strided.default, (4, 9), ([3, 1, 2, 4], [0, 7, 9, 1])),
    (aten.as_strided.default, (4, 9), ([], [], 5)),
    (aten.as_strided.default, (4, 9), ([2, 2], [0, 0], 35)),
    (aten.as_strided.default, (4, 9), ([0, 2], [1, 1])),
    (aten.resize.default, (4, 9), ([5, 7],)),
    (aten.resize.default, (4, 9), ([2, 0],)),
    (aten.diagonal.default, (5, 3, 4), (-3, 0, 2)),
    (aten.diagonal.default, (1, 1), ()),
    (aten.movedim.intlist, (2, 3, 4), ([0, -1], [-1, 0])),
    (aten.repeat.default, (2, 3), ([2, 1, 3],)),
    (aten.repeat.default, (2, 3), ([0, 2],)),
    (aten.repeat_interleave.self_int, (2, 3), (2, 1)),
    (aten.repeat_interleave.self_int, (2, 3), (2,)),
    (aten.tile.default, (2, 3), ([2],)),
    (aten.roll.default, (2, 5), ([2], [1])),
    (aten.roll.default, (2, 5), ([-1, 7], [0, 1])),
    (aten.roll.default, (2, 5), ([3],)),
    (aten.tril.default, (4, 5), ()),
    (aten.tril.default, (2, 4, 5), (1,)),
    (aten.triu.default, (4, 5), (-1,)),
    (aten.constant_pad_nd.default, (2, 3), ([1, 2],)),
    (aten.constant_pad_nd.default, (2, 3), ([1, 0, 0, 2], 3)),
    (aten.constant_pad_nd.default, (2, 3), ([1, -1, -1, 2], -0.0)),
    (aten.constant_pad_nd.default, (4, 5), ([-1, 2, 1, -2], 1)),
    (aten.constant_pad_nd.default, (0, 3), ([0, 0, 2, 0], 1)),
    (aten.flatten.using_ints, (2, 3, 4), (1,)),
    (aten.unflatten.int, (2, 6), (1, [2, -1])),
    (aten.movedim.int, (2, 3, 4), (0, 2)),
    (aten.slice_scatter.default, (4, 6), ()),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.uint8, torch.bool])
@pytest.mark.parametrize(("overload", "shape", "args"), VIEWS, ids=str)
def test_views(overload: Any, shape: Sequence[int], args: tuple[Any, ...], dtype: torch.dtype) -> None:
    if overload is aten.slice_scatter.default:
        check(overload, sample(dtype, shape), sample(dtype, (4, 2), 1), 1, 1, 6, 3)
        check(overload, sample(dtype, shape), sample(dtype, (2, 6), 1), 0, -2)
        check(aten.select_scatter.default, sample(dtype, shape), sample(dtype, (4,), 1), 1, -2)
        return
    check(overload, sample(dtype, shape), *args)


def test_views_keep_special_values() -> None:
    """Joining and padding do no arithmetic: NaN, infinities and −0 stay where they are."""
    value = special(torch.float32).reshape(4, 4)
    for padding in ([1, 2], [1, 2, 3, 0]):
        check(aten.constant_pad_nd.default, value, padding, math.inf)
    check(aten.cat.default, [value, -value, value[:0]], 0)
    check(aten.stack.default, [value, -value], -1)
    check(aten.tril.default, value)
    check(aten.roll.default, value, [1], [0])


@pytest.mark.parametrize("padding", [[1, 2], [2, 0, 1, 3]])
def test_mirrored_and_repeated_edges(padding: list[int]) -> None:
    dims = len(padding) // 2
    value = sample(torch.float32, (2, 4, 5, 6)[-dims - 1 :])
    check(getattr(aten, f"reflection_pad{dims}d").default, value, padding)
    check(getattr(aten, f"replication_pad{dims}d").default, value, padding)


@pytest.mark.parametrize("dtype", ALL)
def test_joins(dtype: torch.dtype) -> None:
    x, y = sample(dtype, (2, 3)), sample(dtype, (2, 1), 1)
    check(aten.cat.default, [x, y, x], 1)
    check(aten.cat.default, [x, y], -1)
    check(aten.cat.default, [x])
    check(aten.cat.default, [x, torch.zeros(0, dtype=dtype)])
    check(aten.cat.default, [x[:0], x[:0]])
    check(aten.cat.default, [x, x.float()])
    check(aten.stack.default, [x, x], 1)
    check(aten.stack.default, [x[0, 0], x[1, 1]])


def test_indexing() -> None:
    x = sample(torch.float32, (4, 5, 6))
    index = torch.tensor([[0, 3], [2, 2]])
    signed = torch.tensor([-1, 2])
    check(aten.embedding.default, x[0], index)
    check(aten.embedding.default, x[0], index.int())
    check(aten.index_select.default, x, 1, torch.tensor([4, 0, 4]))
    check(aten.index_select.default, torch.tensor(3.0), 0, torch.tensor([0]))
    check(aten.gather.default, x, 1, torch.randint(0, 5, (2, 3, 6)))
    check(aten.gather.default, x, -1, torch.randint(0, 6, (4, 5, 9)))
    check(aten.take.default, x, index)
    check(aten.index.Tensor, x, [signed])
    check(aten.index.Tensor, x, [index])
    check(aten.index.Tensor, x, [None, signed])
    check(aten.index.Tensor, x, [signed, signed])
    check(aten.index.Tensor, x, [None, index, signed])
    check(aten.index.Tensor, x, [index, None, signed])
    check(aten.index.Tensor, x, [signed.reshape(2, 1), None, signed])
    updates = sample(torch.float32, (2, 5, 6), 1)
    check(aten.index_put.default, x, [signed], updates)
    check(aten.index_put.default, x, [signed], torch.tensor(2.0))
    check(aten.index_put.default, x, [torch.tensor([1, 1])], updates, True, ulps=4)
    check(aten.index_put.default, x, [None, signed], sample(torch.float32, (4, 2, 6), 1))
    check(aten.index_put.default, x, [signed, None, signed], sample(torch.float32, (2, 5), 1))
    places = (
        torch.stack([torch.randperm(5) for _ in range(24)], 1).reshape(5, 4, 6).permute(1, 0, 2)[:, :3].contiguous()
    )
    check(aten.scatter.src, x, 1, places, sample(torch.float32, (4, 4, 6), 1))
    check(aten.scatter.value, x, 1, places, 7)
    same = torch.zeros_like(places)
    check(aten.scatter_add.default, x, 1, same, sample(torch.float32, (4, 3, 6), 1), ulps=16)
    check(aten.scatter_reduce.two, x, 1, same, sample(torch.float32, (4, 3, 6), 1), "amax")
    check(aten.index_add.default, x, 1, torch.tensor([1, 1]), sample(torch.float32, (4, 2, 6), 1), alpha=2, ulps=16)
    check(aten.index_copy.default, x, 1, torch.tensor([1, 3]), sample(torch.float32, (4, 2, 6), 1))


@pytest.mark.parametrize("dtype", ALL)
def test_creation(dtype: torch.dtype) -> None:
    like = sample(dtype, (2, 3))
    check(aten.full.default, [2, 3], 1.5 if dtype.is_floating_point else 1, dtype=dtype)
    check(aten.full.default, [], True, dtype=dtype)
    check(aten.full_like.default, like, 1)
    check(aten.zeros.default, [0, 2], dtype=dtype)
    check(aten.ones_like.default, like)
    check(aten.new_zeros.default, like, [4])
    check(aten.scalar_tensor.default, 3, dtype=dtype)
    check(aten.eye.default, 3, dtype=dtype)
    check(aten.eye.m, 2, 4, dtype=dtype)
    if dtype != torch.bool:
        check(aten.arange.start_step, 2, 11, 3, dtype=dtype)
        check(aten.arange.default, 5, dtype=dtype)
    if dtype in (torch.float32, torch.float64):
        check(aten.arange.start_step, 0, 1, 0.1, dtype=dtype, ulps=1)
        check(aten.linspace.default, -1, 3, 7, dtype=dtype, ulps=1)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8])
def test_sequences_of_integers(dtype: torch.dtype) -> None:
    """The ends are truncated first, and the elements last, from each end to the middle."""
    for start, end, steps in [(4.3, 50, 50), (0, 50, 50), (-3.7, 9.2, 7), (50, -50, 13), (2.9, 2.9, 1), (0, 9, 0)]:
        check(aten.linspace.default, start, end, steps, dtype=dtype)
        first, last = torch.tensor(float(start)), torch.tensor(float(end))
        check(aten.linspace.Tensor_Scalar, first, end, steps, dtype=dtype)
        check(aten.linspace.Scalar_Tensor, start, last, steps, dtype=dtype)
        check(aten.linspace.Tensor_Tensor, first, last, steps, dtype=dtype)
    check(aten.arange.start_step, 0.1, -7.9, -4.0, dtype=dtype)
    check(aten.arange.start_step, 0, 2.5, 1.5, dtype=dtype)


@pytest.mark.parametrize("overload", [aten.tril_indices.default, aten.triu_indices.default], ids=str)
def test_triangles(overload: Any) -> None:
    for rows, columns in ((0, 3), (1, 1), (3, 5), (5, 3)):
        for offset in (-4, -1, 0, 2, 6):
            check(overload, rows, columns, offset)


def test_bits_of_another_type() -> None:
    check(aten.view.dtype, sample(torch.float32, (3, 4)), torch.int32)
    check(aten.view.dtype, sample(torch.bfloat16, (3, 4)), torch.int16)
    check(aten.view.dtype, sample(torch.float16, (3, 4)), torch.int16)
    check(aten.view.dtype, sample(torch.int8, (3, 4)), torch.uint8)


def test_other_forms_of_movement() -> None:
    x = sample(torch.float32, (2, 6, 5))
    for overload in (aten.alias, aten.contiguous, aten.detach, aten.lift_fresh_copy):
        check(overload.default, x)
    check(aten.reshape.default, x, [3, -1])
    check(aten._unsafe_view.default, x, [12, 5])
    check(aten.copy.default, x, sample(torch.int64, (6, 5)))
    check(aten.to.dtype, x, torch.float16)
    check(aten.fill.Scalar, x, 2)
    check(aten.fill.Tensor, x, torch.tensor(2))
    check(aten.arange.start, 2, 7)
    check(aten.ones.default, [2, 3])
    check(aten.zeros_like.default, x)
    check(aten.new_full.default, x, [2], 3)
    check(aten.new_ones.default, x, [2])
    check(aten._unsafe_index.Tensor, x, [None, torch.tensor([1, 0])])
    check(aten._unsafe_index_put.default, x, [torch.tensor([1])], x[:1])
    check(aten.reflection_pad3d.default, sample(torch.float32, (1, 3, 4, 5)), [1, 2, 2, 1, 0, 1])
    check(aten.replication_pad3d.default, sample(torch.float32, (1, 3, 4, 5)), [1, 2, 2, 1, 0, 1])


def test_the_contents_of_an_empty_tensor_are_open() -> None:
    x = sample(torch.float32, (2, 3))
    for overload, args in [
        (aten.empty.memory_format, ([2, 3],)),
        (aten.empty_like.default, (x,)),
        (aten.empty_strided.default, ([2, 3], [3, 1])),
        (aten.new_empty.default, (x, [2, 3])),
        (aten.new_empty_strided.default, (x, [2, 3], [3, 1])),
    ]:
        actual, expected = run(overload, *args)
        assert actual[0].shape == expected[0].shape
