"""Products of matrices and vectors, as multiplication and addition over the common axis.

x of M × K and y of K × N become M × 1 × K and 1 × N × K, broadcast to M × N × K, multiplied, and added up over K.
Floats of 16 bits are multiplied and added up in f32. Where TF32 is allowed, f32 is cut to it first.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute

from ....dialects.monoids import Number
from ....dialects.types import element_count
from .errors import Unsupported
from .lowering import Lowering
from .registry import lowering
from .sizes import is_size
from .tensor import Tensor


def matrix_product(x: Tensor, y: Tensor) -> Tensor:
    """… × M × K times … × K × N, with the same leading axes, of one element type: … × M × N."""
    return product_of_rows(x, y.transpose(-2, -1))


def product_of_rows(x: Tensor, y: Tensor) -> Tensor:
    """Each row of x, … × M × K, with each row of y, … × N × K: … × M × N."""
    if is_size(x.shape[-1]):
        x, y = x.filled(-1, 0), y.filled(-1, 0)
    *leading, rows, inner = x.shape
    columns = y.shape[-2]
    shape = (*leading, rows, columns, inner)
    left = x.reshape((*leading, rows, 1, inner)).expand(shape)
    right = y.reshape((*leading, 1, columns, inner)).expand(shape)
    return (left * right).sum([len(shape) - 1]).reshape(shape[:-1])


def _product(b: Lowering, x: Tensor, y: Tensor) -> Tensor:
    return matrix_product(b.factor(x), b.factor(y))


@lowering("mm", "bmm")
def mm(b: Lowering, self: Tensor, mat2: Tensor) -> Tensor:
    return _product(b, self, mat2)


@lowering("matmul")
def matmul(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    """Vectors are a row on the left and a column on the right; leading axes broadcast.

    Where the right operand has none, those of the left are rows of one matrix.
    """
    if self.rank > 2 >= other.rank:
        columns = other.unsqueeze(1) if other.rank == 1 else other
        rows = self.reshape((element_count(self.shape[:-1]), self.shape[-1]))
        return _product(b, rows, columns).reshape(b.shape)
    x = self.unsqueeze(0) if self.rank == 1 else self
    y = other.unsqueeze(1) if other.rank == 1 else other
    rank = max(x.rank, y.rank)
    leading = b.shape[: rank - 2]
    x = x.broadcast_to((*leading, *x.shape[-2:]))
    y = y.broadcast_to((*leading, *y.shape[-2:]))
    return _product(b, x, y).reshape(b.shape)


@lowering("mv")
def mv(b: Lowering, self: Tensor, vec: Tensor) -> Tensor:
    return _product(b, self, vec.unsqueeze(1)).reshape(b.shape)


@lowering("dot")
def dot(b: Lowering, self: Tensor, tensor: Tensor) -> Tensor:
    return (self.cast(b.compute) * tensor.cast(b.compute)).sum([0]).reshape(())


@lowering("vdot")
def vdot(b: Lowering, self: Tensor, other: Tensor) -> Tensor:
    return dot(b, self, other)


@lowering("outer")
def outer(b: Lowering, self: Tensor, vec2: Tensor) -> Tensor:
    return self.cast(b.element).unsqueeze(1) * vec2.cast(b.element)


@lowering("linear")
def linear(b: Lowering, input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`weight` is of out × in."""
    x = b.factor(input)
    *leading, inner = x.shape
    flat = x.reshape((element_count(leading), inner))
    result = product_of_rows(flat, b.factor(weight))
    result = result if bias is None else bias.cast(b.compute) + result
    # Rounded before its rows are split again: what rounds them is in the kernel of the product.
    return result.cast(b.element).reshape(b.shape)


@lowering("addmm")
def addmm(b: Lowering, self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    return _added(b, self, _product(b, mat1, mat2), beta, alpha)


@lowering("baddbmm")
def baddbmm(
    b: Lowering, self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1
) -> Tensor:
    return _added(b, self, _product(b, batch1, batch2), beta, alpha)


@lowering("addbmm")
def addbmm(b: Lowering, self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """The sum of the products of the batch."""
    product = _product(b, batch1, batch2).sum([0]).reshape((batch1.shape[1], batch2.shape[2]))
    return _added(b, self, product, beta, alpha)


@lowering("_trilinear")
def trilinear(
    b: Lowering,
    i1: Tensor,
    i2: Tensor,
    i3: Tensor,
    expand1: list[int],
    expand2: list[int],
    expand3: list[int],
    sumdim: list[int],
    unroll_dim: int = 1,
) -> Tensor:
    """The product of three tensors, each with axes of extent 1 put in at `expand`, summed over the axes `sumdim`."""
    factors = [_with_axes(x.cast(b.compute), axes) for x, axes in ((i1, expand1), (i2, expand2), (i3, expand3))]
    x, y, z = b.operands(factors, b.compute)
    return (x * y * z).sum(sumdim).reshape(b.shape)


def _with_axes(x: Tensor, axes: Sequence[int]) -> Tensor:
    """`x` with an axis of extent 1 at each of these places of the result, in ascending order."""
    for axis in axes:
        x = x.unsqueeze(axis)
    return x


@lowering("addmv")
def addmv(b: Lowering, self: Tensor, mat: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    return _added(b, self, _product(b, mat, vec.unsqueeze(1)).reshape(b.shape), beta, alpha)


@lowering("transformers::grouped_mm_fallback")
def grouped_mm_fallback(b: Lowering, input: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
    return _grouped_product(b, input, weight, offs)


@lowering("_grouped_mm")
def grouped_mm(
    b: Lowering,
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: Attribute | None = None,
) -> Tensor:
    if offs is None and self.rank == mat2.rank == 3:
        return _product(b, self, mat2)
    if offs is None or (self.rank, mat2.rank) != (2, 3) or bias is not None:
        raise Unsupported("only groups of rows with a matrix each are supported", "use torch.bmm on padded groups")
    return _grouped_product(b, self, mat2, offs)


def _grouped_product(b: Lowering, x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """Each row of x, S × K, times the matrix of its group out of G × K × N: S × N.

    ends: G ascending integers; group g is of the rows from `ends[g - 1]` up to, not including, `ends[g]`. Rows past
    the last give zeros. A row's group is its number of ends at or before it, so each row reads K · N weights.
    """
    rows = x.shape[0]
    groups, _, columns = weights.shape
    if not groups:
        return b.full((rows, columns), 0, b.compute)
    row = b.iota(rows, ends.element).unsqueeze(1).expand((rows, groups))
    passed = ends.unsqueeze(0).broadcast_to((rows, groups)) <= row
    group = passed.cast(i64).sum([1]).reshape((rows,))
    chosen = weights.cast(b.compute).take(0, group.minimum(groups - 1))
    product = (x.cast(b.compute).unsqueeze(2).expand(chosen.shape) * chosen).sum([1]).reshape((rows, columns))
    return (group < groups).unsqueeze(1).broadcast_to((rows, columns)).where(product, 0)


def _added(b: Lowering, x: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    """beta · x + alpha · product, rounded once; with beta = 0, whatever is in `x` does not count."""
    scaled = product if alpha == 1 else product * alpha
    if beta == 0:
        return scaled
    x = x.cast(b.compute)
    return (x if beta == 1 else x * beta) + scaled
