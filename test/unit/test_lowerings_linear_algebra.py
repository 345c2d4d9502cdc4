"""Factorizations and systems of linear equations against PyTorch: batches, exchanges of rows, each form of a call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from aten_oracle import program, run, sample, tensors_of, to_numpy
from xdsl.context import Context

from uop.passes.torch.convert_torch_to_uop import CannotLower, ConvertTorchToUopPass

aten: Any = torch.ops.aten

SQUARE = [(5, 5), (2, 3, 3), (1, 1), (2, 0, 0)]
SHAPES = [*SQUARE, (5, 3), (3, 5), (2, 1, 4), (0, 3)]


def close(overload: Any, *args: Any, results: int | None = None, **kwargs: Any) -> None:
    """The results, or the first of them, in f32 and f64: as PyTorch's in f64."""
    for dtype, error in ((torch.float64, 1e-11), (torch.float32, 2e-6)):
        narrow = [x.to(dtype) if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in args]
        actual, like = run(overload, *narrow, results=results, **kwargs)
        wide = [x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x for x in narrow]
        for ours, theirs, wanted in zip(actual, like, tensors_of(overload(*wide, **kwargs))[:results], strict=True):
            assert ours.dtype == to_numpy(theirs).dtype
            np.testing.assert_allclose(ours, to_numpy(wanted), rtol=error, atol=error)


def matrix(shape: tuple[int, ...], seed: int = 0) -> torch.Tensor:
    return sample(torch.float64, shape, seed)


def definite(shape: tuple[int, ...]) -> torch.Tensor:
    x = matrix(shape)
    return x @ x.mT + torch.eye(shape[-1], dtype=torch.float64)


@pytest.mark.parametrize("shape", SHAPES)
def test_lu(shape: tuple[int, ...]) -> None:
    x = matrix(shape)
    close(aten.linalg_lu_factor_ex.default, x)
    close(aten.linalg_lu.default, x)
    lu, pivots, _ = aten.linalg_lu_factor_ex(x)
    close(aten.lu_unpack.default, lu, pivots)


def test_singular() -> None:
    x = torch.tensor([[[0.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]])
    close(aten.linalg_lu_factor_ex.default, x)
    close(aten.linalg_cholesky_ex.default, x[1:2] + torch.tensor([[0.0, 0.0], [0.0, 1.0]]))
    (*_, info), _ = run(aten.linalg_cholesky_ex.default, x)
    assert info.tolist() == [1, 2, 1]
    (*_, info), _ = run(aten.linalg_inv_ex.default, x)
    assert info.tolist() == [1, 2, 0]
    close(aten._linalg_det.default, x, results=1)
    close(aten._linalg_slogdet.default, x, results=2)


def test_without_exchanges() -> None:
    module = program(aten.linalg_lu.default, [torch.eye(2)], {"pivot": False}, [torch.eye(2)] * 3)
    with pytest.raises(CannotLower, match="without exchanges of rows is not supported"):
        ConvertTorchToUopPass().apply(Context(), module)


def test_too_large() -> None:
    with pytest.raises(CannotLower, match="17 rows and columns needs 17 unrolled steps, at most 16"):
        run(aten.linalg_inv_ex.default, torch.eye(17))


@pytest.mark.parametrize("shape", SQUARE)
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(shape: tuple[int, ...], upper: bool) -> None:
    x = definite(shape)
    # Nothing is read of the other triangle.
    half = x.triu() if upper else x.tril()
    close(aten.linalg_cholesky_ex.default, half, upper=upper)
    close(aten.cholesky.default, half, upper)
    factor: torch.Tensor = aten.linalg_cholesky_ex(x, upper=upper)[0]
    close(aten.cholesky_inverse.default, factor, upper)
    close(aten.cholesky_solve.default, matrix((2, shape[-1], 3)), factor, upper)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
def test_qr(shape: tuple[int, ...], mode: str) -> None:
    close(aten.linalg_qr.default, matrix(shape), mode)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[-2] >= shape[-1]])
def test_householder(shape: tuple[int, ...]) -> None:
    x = matrix(shape)
    close(aten.geqrf.default, x)
    packed, tau = torch.geqrf(x)
    close(aten.linalg_householder_product.default, packed, tau)
    rows = shape[-2]
    for transposed in (False, True):
        close(aten.ormqr.default, packed, tau, matrix((*shape[:-2], rows, 2)), True, transposed)
        close(aten.ormqr.default, packed, tau, matrix((*shape[:-2], 2, rows)), False, transposed)


def test_a_column_that_is_reflected_already() -> None:
    close(aten.geqrf.default, torch.tensor([[2.0, 1.0], [0.0, 3.0], [0.0, 0.0]]))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangles(upper: bool, unit: bool) -> None:
    a = matrix((2, 4, 4)) + 3 * torch.eye(4)
    close(aten.linalg_solve_triangular.default, a, matrix((4, 3)), upper=upper, unitriangular=unit)
    close(aten.linalg_solve_triangular.default, a[0], matrix((2, 3, 4)), upper=upper, left=False, unitriangular=unit)
    for transposed in (False, True):
        close(aten.triangular_solve.default, matrix((4, 3)), a, upper, transposed, unit)


@pytest.mark.parametrize("shape", SQUARE)
def test_systems(shape: tuple[int, ...]) -> None:
    a = matrix(shape)
    size = shape[-1]
    close(aten.linalg_inv_ex.default, a)
    close(aten._linalg_solve_ex.default, a, matrix((*shape[:-1], 2)), results=1)
    close(aten._linalg_solve_ex.default, a, matrix((*shape[:-2], 2, size)), left=False, results=1)
    close(aten._linalg_solve_ex.default, a, matrix(shape[:-1]), results=1)
    close(aten._linalg_det.default, a, results=1)
    close(aten._linalg_slogdet.default, a, results=2)
    lu, pivots, _ = aten.linalg_lu_factor_ex(a)
    for adjoint in (False, True):
        close(aten.linalg_lu_solve.default, lu, pivots, matrix((*shape[:-1], 2)), adjoint=adjoint)
        close(aten.linalg_lu_solve.default, lu, pivots, matrix((2, size)), left=False, adjoint=adjoint)
