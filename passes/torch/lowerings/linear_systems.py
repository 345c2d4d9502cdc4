"""Systems of linear equations, inverses and determinants, by the factorizations, in f64 and rounded once."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import f64

from .factorizations import (
    column_of,
    eliminate,
    entry,
    exchanges_of,
    first_failure,
    identity,
    permuted,
    places,
    row_of,
    steps,
)
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, broadcast_shape, full


def solve_triangular(a: Tensor, x: Tensor, is_upper: bool, unit: bool = False) -> Tensor:
    """Substitution by columns, 3.1.3 and 3.1.4: a⁻¹ x, of a triangle of `a`; with `unit`, as if its diagonal were 1."""
    row, _ = places(x)
    order = steps(a.shape[-1])
    for k in reversed(order) if is_upper else order:
        solved = row_of(x, k) if unit else row_of(x, k) / entry(a, k, k)
        rest = x - column_of(a, k) * solved
        x = ((row < k) if is_upper else (row > k)).where(rest, row.equal(k).where(solved, x))
    return x


def solve_factored(lu: Tensor, exchanged: Sequence[Tensor], x: Tensor, transposed: bool = False) -> Tensor:
    """A⁻¹ x of P A = L U, or its transpose's."""
    exchanges = list(enumerate(exchanged))
    if transposed:
        turned = lu.transpose(-2, -1)
        x = solve_triangular(turned, solve_triangular(turned, x, is_upper=False), is_upper=True, unit=True)
        return permuted(x, reversed(exchanges))
    x = solve_triangular(lu, permuted(x, exchanges), is_upper=False, unit=True)
    return solve_triangular(lu, x, is_upper=True)


def broadcast_leading(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Both with the leading axes that they have together."""
    leading = broadcast_shape([a.shape[:-2], x.shape[:-2]])
    return a.broadcast_to((*leading, *a.shape[-2:])), x.broadcast_to((*leading, *x.shape[-2:]))


# Triangles.


@lowering("linalg_solve_triangular")
def linalg_solve_triangular(
    b: Lowering, self: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    a, x = broadcast_leading(self.cast(f64), B.cast(f64))
    if left:
        return solve_triangular(a, x, upper, unitriangular).cast(b.compute)
    turned = solve_triangular(a.transpose(-2, -1), x.transpose(-2, -1), not upper, unitriangular)
    return turned.transpose(-2, -1).cast(b.compute)


@lowering("triangular_solve")
def triangular_solve(
    b: Lowering, self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> list[Tensor]:
    a, x = broadcast_leading(A, self.cast(f64))
    wide = a.cast(f64)
    if transpose:
        solved = solve_triangular(wide.transpose(-2, -1), x, not upper, unitriangular)
    else:
        solved = solve_triangular(wide, x, upper, unitriangular)
    return [solved.cast(b.compute), a]


def solve_with_cholesky(factor: Tensor, x: Tensor, is_upper: bool) -> Tensor:
    """(L Lᵀ)⁻¹ x, L of the factor's lower triangle, or of its upper one transposed."""
    low = factor.transpose(-2, -1) if is_upper else factor
    x = solve_triangular(low, x, is_upper=False)
    return solve_triangular(low.transpose(-2, -1), x, is_upper=True)


@lowering("cholesky_inverse")
def cholesky_inverse(b: Lowering, self: Tensor, upper: bool = False) -> Tensor:
    start = identity(b.builder, self.shape[:-2], *self.shape[-2:])
    return solve_with_cholesky(self.cast(f64), start, upper).cast(b.compute)


@lowering("cholesky_solve")
def cholesky_solve(b: Lowering, self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    factor, x = broadcast_leading(input2.cast(f64), self.cast(f64))
    return solve_with_cholesky(factor, x, upper).cast(b.compute)


# Whole matrices. What PyTorch keeps of the factorization for the backward pass is not computed.


@lowering("linalg_lu_solve")
def linalg_lu_solve(
    b: Lowering, LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    """X A = B is Aᵀ Xᵀ = Bᵀ."""
    lu, x = broadcast_leading(LU.cast(f64), B.cast(f64))
    exchanged = [row.broadcast_to((*lu.shape[:-2], 1, 1)) for row in exchanges_of(pivots)]
    if left:
        return solve_factored(lu, exchanged, x, adjoint).cast(b.compute)
    return solve_factored(lu, exchanged, x.transpose(-2, -1), not adjoint).transpose(-2, -1).cast(b.compute)


@lowering("_linalg_solve_ex")
def linalg_solve_ex(
    b: Lowering, A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> list[Tensor | None]:
    """`B` holds vectors where its shape is that of A's rows."""
    is_vector = B.rank == 1 or B.shape == A.shape[:-1]
    a, x = broadcast_leading(A.cast(f64), B.cast(f64).unsqueeze(-1) if is_vector else B.cast(f64))
    lu, exchanged = eliminate(a)
    if left:
        solved = solve_factored(lu, exchanged, x)
    else:
        solved = solve_factored(lu, exchanged, x.transpose(-2, -1), transposed=True).transpose(-2, -1)
    failed = [entry(lu, k, k).equal(0.0) for k in range(len(exchanged))]
    return [solved.reshape(b.shape).cast(b.compute), None, None, first_failure(failed, lu)]


@lowering("linalg_inv_ex")
def linalg_inv_ex(b: Lowering, A: Tensor, *, check_errors: bool = False) -> list[Tensor]:
    lu, exchanged = eliminate(A.cast(f64))
    inverse = solve_factored(lu, exchanged, identity(b.builder, A.shape[:-2], *A.shape[-2:]))
    failed = [entry(lu, k, k).equal(0.0) for k in range(len(exchanged))]
    return [inverse.cast(b.compute), first_failure(failed, lu)]


def signed_diagonal(lu: Tensor, exchanged: Sequence[Tensor]) -> list[Tensor]:
    """The factors of the determinant, … × 1 × 1: an exchange of rows changes its sign."""
    heads = [entry(lu, k, k) for k in range(len(exchanged))]
    return [row.equal(k).where(head, -head) for k, (head, row) in enumerate(zip(heads, exchanged, strict=True))]


@lowering("_linalg_det")
def linalg_det(b: Lowering, A: Tensor) -> list[Tensor | None]:
    result = full(b.builder, (*A.shape[:-2], 1, 1), 1.0, f64)
    for factor in signed_diagonal(*eliminate(A.cast(f64))):
        result = result * factor
    return [result.reshape(b.shape).cast(b.compute), None, None]


@lowering("_linalg_slogdet")
def linalg_slogdet(b: Lowering, A: Tensor) -> list[Tensor | None]:
    """The sign and the logarithm of the absolute value; 0 and −∞ of a singular matrix."""
    sign = full(b.builder, (*A.shape[:-2], 1, 1), 1.0, f64)
    logarithm = sign.like(0.0)
    for factor in signed_diagonal(*eliminate(A.cast(f64))):
        sign = sign * factor.alu("sign")
        logarithm = logarithm + factor.alu("abs").log()
    return [x.reshape(b.shape).cast(b.compute) for x in (sign, logarithm)] + [None, None]
