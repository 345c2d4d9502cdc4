"""Factorizations of matrices: LU, Cholesky and QR, their steps unrolled, computed in f64 and rounded once.

A step goes over the whole matrix, and masks choose what it changes. Where a matrix is singular PyTorch may raise when
it runs; a compiled program gives infinities or NaN.

Source of the algorithms: Golub and Van Loan, Matrix Computations, 3rd edition, by the numbers in each docstring; what
they store where is LAPACK's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import f64, i32, i64

from ....rewriting.builder import Builder
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, full, iota

MOST_STEPS = 16
"""Steps that are unrolled at most: each is a kernel or two."""


def steps(count: int) -> range:
    """The steps of an algorithm. Raises `Unsupported` where they are too many to unroll."""
    if count > MOST_STEPS:
        raise Unsupported(
            f"a matrix of {count} rows and columns needs {count} unrolled steps, at most {MOST_STEPS} are supported",
            "compute it outside of the program",
        )
    return range(count)


def places(x: Tensor) -> tuple[Tensor, Tensor]:
    """The number of each row of … × m × n, m × 1, and of each column, 1 × n."""
    rows, columns = x.shape[-2:]
    return iota(x.builder, rows, i64).unsqueeze(1), iota(x.builder, columns, i64).unsqueeze(0)


def row_of(x: Tensor, k: int) -> Tensor:
    """… × 1 × n"""
    return x.shrink(-2, k, 1)


def column_of(x: Tensor, k: int) -> Tensor:
    """… × m × 1"""
    return x.shrink(-1, k, 1)


def entry(x: Tensor, row: int, column: int) -> Tensor:
    """… × 1 × 1"""
    return column_of(row_of(x, row), column)


def identity(builder: Builder, leading: Sequence[int], rows: int, columns: int) -> Tensor:
    """Identity matrices, leading × rows × columns, of f64."""
    zeros = full(builder, (*leading, rows, columns), 0.0, f64)
    row, column = places(zeros)
    return row.equal(column).where(1.0, zeros)


def lower(x: Tensor, columns: int, unit: bool = False) -> Tensor:
    """The lower triangle of the first columns; with `unit`, 1 on its diagonal."""
    part = x.shrink(-1, 0, columns)
    row, column = places(part)
    kept = (row >= column).where(part, 0.0)
    return row.equal(column).where(1.0, kept) if unit else kept


def upper(x: Tensor, rows: int) -> Tensor:
    """The upper triangle of the first rows."""
    part = x.shrink(-2, 0, rows)
    row, column = places(part)
    return (row <= column).where(part, 0.0)


def in_a_row(values: Sequence[Tensor], like: Tensor) -> Tensor:
    """Values of … × 1 × 1 side by side, … × their number; `like` has their leading axes and element type."""
    shape = (*like.shape[:-2], len(values))
    result = full(like.builder, shape, 0, like.element)
    for k, value in enumerate(values):
        result = iota(like.builder, len(values), i64).equal(k).where(value.reshape((*shape[:-1], 1)), result)
    return result


def first_failure(failed: Sequence[Tensor], like: Tensor) -> Tensor:
    """LAPACK's `info`: the number, from 1 on, of the first step that failed, or 0."""
    result = full(like.builder, (*like.shape[:-2], 1, 1), 0, i32)
    for k in reversed(range(len(failed))):
        result = failed[k].where(k + 1, result)
    return result.reshape(like.shape[:-2])


# P A = L U.


def eliminate(x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Gaussian elimination with partial pivoting, 3.4.1: L below the diagonal and U above.

    And, for each step k, the row that is exchanged with row k, … × 1 × 1 of i64.
    """
    row, column = places(x)
    exchanged: list[Tensor] = []
    for k in steps(min(x.shape[-2:])):
        size = (row >= k).where(column_of(x, k).alu("abs"), -1.0)
        _, found = x.builder.reduce_axis("argmax", [size.value, row.broadcast_to(size.shape).value], [size.rank - 2])
        pivot = Tensor(x.builder, found)
        exchanged.append(pivot)
        x = exchange(x, k, pivot)
        head = entry(x, k, k)
        factor = head.equal(0.0).where(column_of(x, k), column_of(x, k) / head)
        rest = x - factor * row_of(x, k)
        x = (row > k).where((column > k).where(rest, column.equal(k).where(factor, x)), x)
    return x, exchanged


def exchange(x: Tensor, k: int, other: Tensor) -> Tensor:
    """`x` with row k and another exchanged."""
    row, _ = places(x)
    order = row.equal(k).where(other, row.equal(other).where(k, row))
    return x.gather(-2, order.broadcast_to(x.shape))


def permutation(leading: Sequence[int], rows: int, exchanges: Iterable[tuple[int, Tensor]], builder: Builder) -> Tensor:
    """The row of the matrix that comes into each place by the exchanges, leading × rows × 1."""
    order = iota(builder, rows, i64).unsqueeze(1).broadcast_to((*leading, rows, 1))
    for k, other in exchanges:
        order = exchange(order, k, other)
    return order


def permuted(x: Tensor, exchanges: Iterable[tuple[int, Tensor]]) -> Tensor:
    """`x` after the exchanges of rows."""
    order = permutation(x.shape[:-2], x.shape[-2], exchanges, x.builder)
    return x.gather(-2, order.broadcast_to(x.shape))


def permutation_matrix(exchanges: Iterable[tuple[int, Tensor]], like: Tensor) -> Tensor:
    """P of A = P L U, with as many rows and leading axes as `like`."""
    order = permutation(like.shape[:-2], like.shape[-2], exchanges, like.builder)
    row = iota(like.builder, like.shape[-2], i64).unsqueeze(1)
    return row.equal(order.transpose(-2, -1)).cast(f64)


def check_pivot(pivot: bool) -> None:
    """Refuse what eager PyTorch refuses on a CPU."""
    if not pivot:
        raise Unsupported("an elimination without exchanges of rows is not supported", "leave out `pivot`")


@lowering("linalg_lu_factor_ex")
def linalg_lu_factor_ex(b: Lowering, A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> list[Tensor]:
    """Pivots count from 1."""
    check_pivot(pivot)
    x, exchanged = eliminate(A.cast(f64))
    pivots = in_a_row(exchanged, full(b.builder, (*A.shape[:-2], 1, 1), 0, i64)) + 1
    failed = [entry(x, k, k).equal(0.0) for k in range(len(exchanged))]
    return [x.cast(b.compute), pivots.cast(i32), first_failure(failed, x)]


@lowering("linalg_lu")
def linalg_lu(b: Lowering, A: Tensor, *, pivot: bool = True) -> list[Tensor]:
    check_pivot(pivot)
    x, exchanged = eliminate(A.cast(f64))
    count = min(A.shape[-2:])
    factors = [permutation_matrix(enumerate(exchanged), x), lower(x, count, unit=True), upper(x, count)]
    return [factor.cast(b.compute) for factor in factors]


@lowering("lu_unpack")
def lu_unpack(
    b: Lowering, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> list[Tensor | None]:
    """What is not asked for is not computed."""
    x, count = LU_data.cast(f64), min(LU_data.shape[-2:])
    p = permutation_matrix(enumerate(exchanges_of(LU_pivots)), x).cast(b.compute) if unpack_pivots else None
    if not unpack_data:
        return [p, None, None]
    return [p, lower(x, count, unit=True).cast(b.compute), upper(x, count).cast(b.compute)]


def exchanges_of(pivots: Tensor) -> list[Tensor]:
    """The row that each step exchanges with its own, … × 1 × 1, of LAPACK's pivots."""
    numbers = pivots.cast(i64).unsqueeze(-1) - 1
    return [row_of(numbers, k) for k in steps(pivots.shape[-1])]


# A = L Lᵀ.


def cholesky_factor(x: Tensor, is_upper: bool) -> tuple[Tensor, Tensor]:
    """The outer product form, 4.2.2, on the lower triangle, or on the upper; the factor and `info`."""
    x = x.transpose(-2, -1) if is_upper else x
    row, column = places(x)
    failed: list[Tensor] = []
    for k in steps(x.shape[-1]):
        head = entry(x, k, k)
        failed.append(~(head > 0.0))
        factor = column_of(x, k) / head.alu("sqrt")
        rest = x - factor * factor.transpose(-2, -1)
        x = column.equal(k).where(factor, ((row > k) & (column > k)).where(rest, x))
    factor = lower(x, x.shape[-1])
    return (factor.transpose(-2, -1) if is_upper else factor), first_failure(failed, x)


@lowering("linalg_cholesky_ex")
def linalg_cholesky_ex(b: Lowering, self: Tensor, *, upper: bool = False, check_errors: bool = False) -> list[Tensor]:
    factor, info = cholesky_factor(self.cast(f64), upper)
    return [factor.cast(b.compute), info]


@lowering("cholesky")
def cholesky(b: Lowering, self: Tensor, upper: bool = False) -> Tensor:
    return cholesky_factor(self.cast(f64), upper)[0].cast(b.compute)


# A = Q R.


def reflect(x: Tensor) -> tuple[Tensor, list[Tensor]]:
    """Householder's reflections, 5.2.1: R above the diagonal, the vectors below it, and the factors, … × 1 × 1.

    A reflection is 1 − τ v vᵀ, where v is 0 above the diagonal and 1 on it; its sign is LAPACK's.
    """
    row, column = places(x)
    factors: list[Tensor] = []
    for k in steps(min(x.shape[-2:])):
        head, below = entry(x, k, k), (row > k).where(column_of(x, k), 0.0)
        square = (below * below).sum([x.rank - 2])
        none = square.equal(0.0)
        norm = (head * head + square).alu("sqrt")
        diagonal = none.where(head, (head < 0.0).where(norm, -norm))
        factor = none.where(0.0, (diagonal - head) / diagonal)
        vector = row.equal(k).where(1.0, below / none.where(1.0, head - diagonal))
        here = (row > k).where(vector, row.equal(k).where(diagonal, column_of(x, k)))
        x = (column > k).where(reflected(x, vector, factor), column.equal(k).where(here, x))
        factors.append(factor)
    return x, factors


def reflected(x: Tensor, vector: Tensor, factor: Tensor) -> Tensor:
    """(1 − τ v vᵀ) x"""
    return x - factor * vector * (vector * x).sum([x.rank - 2])


def vector_of(packed: Tensor, k: int) -> Tensor:
    """The vector of reflection k, … × m × 1, of where `reflect` stores it."""
    row, _ = places(packed)
    return row.equal(k).where(1.0, (row > k).where(column_of(packed, k), 0.0))


def orthogonal_product(packed: Tensor, factors: Sequence[Tensor], x: Tensor, transposed: bool = False) -> Tensor:
    """Q x, or Qᵀ x: the product of all reflections, from the first on the left, with `x`."""
    order = range(len(factors))
    for k in order if transposed else reversed(order):
        x = reflected(x, vector_of(packed, k), factors[k])
    return x


def factors_of(tau: Tensor) -> list[Tensor]:
    """The factor of each reflection, … × 1 × 1."""
    column = tau.cast(f64).unsqueeze(-1)
    return [row_of(column, k) for k in steps(tau.shape[-1])]


@lowering("geqrf")
def geqrf(b: Lowering, self: Tensor) -> list[Tensor]:
    x, factors = reflect(self.cast(f64))
    tau = in_a_row(factors, full(b.builder, (*self.shape[:-2], 1, 1), 0.0, f64))
    return [x.cast(b.compute), tau.cast(b.compute)]


@lowering("linalg_householder_product")
def linalg_householder_product(b: Lowering, input: Tensor, tau: Tensor) -> Tensor:
    start = identity(b.builder, input.shape[:-2], *input.shape[-2:])
    return orthogonal_product(input.cast(f64), factors_of(tau), start).cast(b.compute)


@lowering("ormqr")
def ormqr(
    b: Lowering, self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """X Q is (Qᵀ Xᵀ)ᵀ."""
    x = input3.cast(f64) if left else input3.cast(f64).transpose(-2, -1)
    product = orthogonal_product(self.cast(f64), factors_of(input2), x, transpose if left else not transpose)
    return (product if left else product.transpose(-2, -1)).cast(b.compute)


@lowering("linalg_qr")
def linalg_qr(b: Lowering, A: Tensor, mode: str = "reduced") -> list[Tensor]:
    x, factors = reflect(A.cast(f64))
    rows = A.shape[-2] if mode == "complete" else len(factors)
    r = upper(x, rows).cast(b.compute)
    if mode == "r":
        return [b.full(b.shape, 0.0, b.compute), r]
    q = orthogonal_product(x, factors, identity(b.builder, A.shape[:-2], A.shape[-2], rows))
    return [q.cast(b.compute), r]
