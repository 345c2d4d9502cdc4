"""Counts of values in the bins of a grid: `torch.histogram` and `torch.histogramdd`.

PyTorch raises for values whose range is not finite; a compiled program has NaN for edges there.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i1, i64

from ....dialects.types import element_count
from .lowering import Lowering
from .registry import lowering
from .tensor import Tensor, full


def edges_of(x: Tensor, bins: int, range: list[float] | None) -> Tensor:
    """The bins + 1 edges of equal bins over the range, or over the values of `x`, of rank 1."""
    low, high = (full(x.builder, (1,), number, x.element) for number in (range or (0.0, 1.0)))
    if range is None and x.count:
        low, high = x.reduce("min", [0]), x.reduce("max", [0])
    single = low.equal(high)
    low, high = single.where(low - 0.5, low), single.where(high + 0.5, high)
    # From each end to the middle, as `torch.linspace`, so that both are exact.
    place = Tensor(x.builder, x.builder.iota(bins + 1, i64))
    step = (high - low) / float(bins)
    rising, falling = low + step * place.cast(x.element), high - step * (bins - place).cast(x.element)
    return (place < (bins + 1) // 2).where(rising, falling)


def points_of(x: Tensor) -> Tensor:
    """… × dimensions as points × dimensions."""
    return x.reshape((element_count(x.shape[:-1]), x.shape[-1]))


def histogram_of(b: Lowering, x: Tensor, edges: list[Tensor], weight: Tensor | None, density: bool) -> Tensor:
    """x: points × dimensions. A bin holds its lower edge, the last one both.

    Each bin looks at each point.
    """
    points = x.shape[0]
    flat, inside = full(x.builder, (points,), 0, i64), full(x.builder, (points,), True, i1)
    count, volume = 1, full(x.builder, (), 1.0, x.element)
    for axis, edge in enumerate(edges):
        value, bins = x.select(1, axis), edge.count - 1
        below = (edge.unsqueeze(0) <= value.unsqueeze(1)).cast(i64).sum([1]).reshape((points,))
        inside = inside & (value >= edge.select(0, 0)) & (value <= edge.select(0, bins))
        flat = flat * bins + (below - 1).minimum(bins - 1)
        count *= bins
        volume = volume.unsqueeze(-1) * (edge.shrink(0, 1, bins) - edge.shrink(0, 0, bins))
    each = b.iota(count, i64).unsqueeze(1)
    is_in = each.equal(flat) & inside
    ones = full(x.builder, (points,), 1.0, x.element) if weight is None else weight.cast(x.element).reshape((points,))
    counts = is_in.where(ones, 0.0).sum([1]).reshape([edge.count - 1 for edge in edges])
    return counts / (counts.sum(range(counts.rank)) * volume) if density else counts


@lowering("histogram.bin_ct")
def histogram(
    b: Lowering,
    self: Tensor,
    bins: int = 100,
    *,
    range: list[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    x = self.reshape((self.count,))
    edges = edges_of(x, bins, range)
    return [histogram_of(b, x.unsqueeze(1), [edges], weight, density), edges]


@lowering("histogram.bins_tensor")
def histogram_of_bins(
    b: Lowering, self: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> list[Tensor]:
    return [histogram_of(b, self.reshape((self.count, 1)), [bins], weight, density), bins]


@lowering("_histogramdd_bin_edges")
def histogramdd_bin_edges(
    b: Lowering,
    self: Tensor,
    bins: list[int],
    *,
    range: list[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    """self: … × dimensions; `range` has two numbers for each of them."""
    x = points_of(self)
    ranges = [None if range is None else range[2 * axis : 2 * axis + 2] for axis, _ in enumerate(bins)]
    return [edges_of(x.select(1, axis), count, ranges[axis]) for axis, count in enumerate(bins)]


@lowering("_histogramdd_from_bin_cts")
def histogramdd(
    b: Lowering,
    self: Tensor,
    bins: list[int],
    *,
    range: list[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    edges = histogramdd_bin_edges(b, self, bins, range=range)
    return histogram_of(b, points_of(self), edges, weight, density)
