# Triton is in the extra `bench` alone. Its language is Python in form only: types of blocks are not Python's.
# pyright: basic, reportCallIssue=false, reportArgumentType=false, reportOperatorIssue=false
# pyright: reportGeneralTypeIssues=false, reportMissingImports=false
"""Triton's kernels for the cases: what a person who knows Triton well would write.

Every size is a compile-time constant, as in our kernels: strides and trip counts are literals, alignment is known.
"""

import triton
import triton.language as tl

LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit
def silu_add(x, y, out, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i).to(tl.float32)
    w = tl.load(y + i).to(tl.float32)
    tl.store(out + i, (v * tl.sigmoid(v) + w).to(out.dtype.element_ty))


@triton.jit
def softmax(x, out, N: tl.constexpr, ROWS: tl.constexpr):
    """Whole rows in registers."""
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = i[:, None] * N + tl.arange(0, N)[None, :]
    v = tl.load(x + at)
    e = tl.exp2((v - tl.max(v, 1)[:, None]) * LOG2_E)
    tl.store(out + at, e * (1.0 / tl.sum(e, 1))[:, None])


@triton.jit
def softmax_row(x, out, N: tl.constexpr):
    """One row in registers."""
    at = tl.program_id(0) * N + tl.arange(0, N)
    v = tl.load(x + at)
    e = tl.exp2((v - tl.max(v, 0)) * LOG2_E)
    tl.store(out + at, e * (1.0 / tl.sum(e, 0)))


@triton.jit
def softmax_online(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    """A row too long for registers: maximum and sum in one pass, per lane, and a second pass for the result."""
    start = tl.program_id(0).to(tl.int64) * N
    c = tl.arange(0, BLOCK)
    m = tl.full((BLOCK,), float("-inf"), tl.float32)
    s = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, N, BLOCK):
        v = tl.load(x + start + i + c) * LOG2_E
        new = tl.maximum(m, v)
        s = s * tl.exp2(m - new) + tl.exp2(v - new)
        m = new
    top = tl.max(m, 0)
    inverse = 1.0 / tl.sum(s * tl.exp2(m - top), 0)
    for i in range(0, N, BLOCK):
        v = tl.load(x + start + i + c) * LOG2_E
        tl.store(out + start + i + c, tl.exp2(v - top) * inverse)


@triton.jit
def layer_norm(x, weight, bias, out, EPS: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, N)
    at = i[:, None] * N + c[None, :]
    v = tl.load(x + at)
    d = v - (tl.sum(v, 1) * (1.0 / N))[:, None]
    scale = tl.rsqrt(tl.sum(d * d, 1) * (1.0 / N) + EPS)
    tl.store(out + at, d * scale[:, None] * tl.load(weight + c)[None, :] + tl.load(bias + c)[None, :])


@triton.jit
def layer_norm_ragged(x, weight, bias, out, EPS: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    """Rows that are not aligned: neighbouring lanes take neighbouring elements (`max_contiguous` of 1)."""
    start = tl.program_id(0) * N
    c = tl.max_contiguous(tl.arange(0, BLOCK), 1)
    ok = c < N
    v = tl.load(x + start + c, mask=ok, other=0.0)
    d = tl.where(ok, v - tl.sum(v, 0) * (1.0 / N), 0.0)
    scale = tl.rsqrt(tl.sum(d * d, 0) * (1.0 / N) + EPS)
    result = d * scale * tl.load(weight + c, mask=ok) + tl.load(bias + c, mask=ok)
    tl.store(out + start + c, result, mask=ok)


@triton.jit
def rms_norm(x, weight, out, EPS: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    c = tl.arange(0, N)
    at = i[:, None] * N + c[None, :]
    v = tl.load(x + at)
    scale = tl.rsqrt(tl.sum(v * v, 1) * (1.0 / N) + EPS)
    tl.store(out + at, v * scale[:, None] * tl.load(weight + c)[None, :])


@triton.jit
def rms_norm_ragged(x, weight, out, EPS: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    start = tl.program_id(0) * N
    c = tl.max_contiguous(tl.arange(0, BLOCK), 1)
    ok = c < N
    v = tl.load(x + start + c, mask=ok, other=0.0)
    scale = tl.rsqrt(tl.sum(v * v, 0) * (1.0 / N) + EPS)
    tl.store(out + start + c, v * scale * tl.load(weight + c, mask=ok), mask=ok)


@triton.jit
def sum_rows(x, out, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    tl.store(out + i, tl.sum(tl.load(x + i[:, None] * N + tl.arange(0, N)[None, :]), 1))


@triton.jit
def sum_row(x, out, N: tl.constexpr):
    i = tl.program_id(0)
    tl.store(out + i, tl.sum(tl.load(x + i * N + tl.arange(0, N)), 0))


@triton.jit
def sum_columns(x, out, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """Columns of M rows by program_id(1), so that a second launch adds those up."""
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    at = x + tl.program_id(1) * (M * N) + tl.arange(0, BM)[:, None] * N + c[None, :]
    s = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, M, BM):
        s += tl.load(at)
        at += BM * N
    tl.store(out + tl.program_id(1) * N + c, tl.sum(s, 0))


@triton.jit
def sum_span(x, out, N: tl.constexpr, BLOCK: tl.constexpr):
    """N neighbouring elements."""
    at = tl.program_id(0) * N + tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    for i in range(0, N, BLOCK):
        s += tl.load(x + at + i)
    tl.store(out + tl.program_id(0), tl.sum(s, 0))


@triton.jit
def argmax_rows(x, out, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    v = tl.load(x + i[:, None] * N + tl.arange(0, N)[None, :])
    tl.store(out + i, tl.argmax(v, 1).to(tl.int64))


@triton.jit
def transpose(x, out, M: tl.constexpr, N: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.program_id(1) * BM + tl.arange(0, BM)
    c = tl.program_id(0) * BN + tl.arange(0, BN)
    v = tl.load(x + r[:, None] * N + c[None, :])
    tl.store(out + c[:, None] * M + r[None, :], tl.trans(v))


@triton.jit
def matmul(
    a,
    b,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    B_K: tl.constexpr,
    B_N: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
    PRECISION: tl.constexpr,
):
    """A batch (program_id(2)) of products of whole tiles. B_K, B_N: strides of b."""
    batch = tl.program_id(2)
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + batch * (M * K) + rm[:, None] * K + rk[None, :]
    pb = b + batch * (K * N) + rk[:, None] * B_K + rn[None, :] * B_N
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc, input_precision=PRECISION)
        pa += BK
        pb += BK * B_K
    tl.store(out + batch * (M * N) + rm[:, None] * N + rn[None, :], acc.to(out.dtype.element_ty))


@triton.jit
def matmul_ragged(
    a,
    b,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """Rows and columns wrap around, so that only K is masked in the loop."""
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + (rm % M)[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + tl.max_contiguous(tl.multiple_of(rn % N, 8), 8)[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        left = tl.load(pa, mask=rk[None, :] < K - k, other=0.0)
        right = tl.load(pb, mask=rk[:, None] < K - k, other=0.0)
        acc = tl.dot(left, right, acc)
        pa += BK
        pb += BK * N
    tl.store(out + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def matmul_gelu(
    a,
    b,
    bias,
    out,
    N: tl.constexpr,
    K: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    rm = tl.program_id(1) * BM + tl.arange(0, BM)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    v = acc + tl.load(bias + rn).to(tl.float32)[None, :]
    v = 0.5 * v * (1.0 + tl.erf(v * 0.7071067811865476))
    tl.store(out + rm[:, None] * N + rn[None, :], v.to(out.dtype.element_ty))


@triton.jit
def vector_matrix(a, b, out, N: tl.constexpr, K: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """K rows of the matrix by program_id(1), so that a second launch adds those up."""
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.program_id(1) * K + tl.arange(0, BK)
    acc = tl.zeros((BK, BN), tl.float32)
    for k in range(0, K, BK):
        row = tl.load(a + rk + k).to(tl.float32)
        acc += row[:, None] * tl.load(b + (rk + k)[:, None] * N + rn[None, :]).to(tl.float32)
    tl.store(out + tl.program_id(1) * N + rn, tl.sum(acc, 0))


@triton.jit
def matmul_few_rows(
    a,
    b,
    out,
    M: tl.constexpr,
    N: tl.constexpr,
    K: tl.constexpr,
    BN: tl.constexpr,
    BK: tl.constexpr,
):
    """Fewer rows than a tensor-core tile has."""
    rm = tl.arange(0, 16)
    rn = tl.program_id(0) * BN + tl.arange(0, BN)
    rk = tl.arange(0, BK)
    ok = rm[:, None] < M
    pa = a + rm[:, None] * K + rk[None, :]
    pb = b + rk[:, None] * N + rn[None, :]
    acc = tl.zeros((16, BN), tl.float32)
    for _ in range(0, K, BK):
        acc = tl.dot(tl.load(pa, mask=ok, other=0.0), tl.load(pb), acc)
        pa += BK
        pb += BK * N
    tl.store(out + rm[:, None] * N + rn[None, :], acc, mask=ok)


@triton.jit
def conv2d_3x3(
    x,
    weight,
    out,
    C: tl.constexpr,
    O: tl.constexpr,  # noqa: E741
    H: tl.constexpr,
    W: tl.constexpr,
    BM: tl.constexpr,
):
    """A product of pixels (program_id(0), of the image program_id(1)) by channels for each of the nine positions."""
    pixel = tl.program_id(0) * BM + tl.arange(0, BM)
    h, w = pixel // W, pixel % W
    image = x + tl.program_id(1) * (C * H * W)
    c = tl.arange(0, C)
    o = tl.arange(0, O)
    acc = tl.zeros((BM, O), tl.float32)
    for position in tl.static_range(9):
        dh = position // 3 - 1
        dw = position % 3 - 1
        ok = (h + dh >= 0) & (h + dh < H) & (w + dw >= 0) & (w + dw < W)
        left = tl.load(image + (pixel + dh * W + dw)[:, None] + c[None, :] * (H * W), mask=ok[:, None], other=0.0)
        right = tl.load(weight + o[None, :] * (C * 9) + c[:, None] * 9 + position)
        acc = tl.dot(left, right, acc)
    at = out + tl.program_id(1) * (O * H * W) + pixel[:, None] + o[None, :] * (H * W)
    tl.store(at, acc.to(tl.float16), mask=pixel[:, None] < H * W)


@triton.jit
def cumsum_rows(x, out, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    at = i[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out + at, tl.cumsum(tl.load(x + at), 1))


@triton.jit
def _attend(queries, key, value, maximum, total, sums, mask, SCALE: tl.constexpr):
    """One tile of keys: what is known of the rows, with it. SCALE: of scores in powers of 2."""
    scores = tl.dot(queries, tl.trans(tl.load(key)))
    if mask is not None:
        scores = tl.where(mask, scores, float("-inf"))
    new = tl.maximum(maximum, tl.max(scores, 1) * SCALE)
    weights = tl.exp2(scores * SCALE - new[:, None])
    change = tl.exp2(maximum - new)
    total = total * change + tl.sum(weights, 1)
    sums = tl.dot(weights.to(value.dtype.element_ty), tl.load(value), sums * change[:, None])
    return new, total, sums


@triton.jit
def attention(
    query,
    key,
    value,
    out,
    T: tl.constexpr,
    D: tl.constexpr,
    SCALE: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Causal: the keys that all rows of a block see, without a mask, and then the others; long blocks first."""
    block = tl.num_programs(0) - 1 - tl.program_id(0)
    head = tl.program_id(1) * (T * D)
    rows = block * BM + tl.arange(0, BM)
    columns = tl.arange(0, BN)
    channels = tl.arange(0, D)
    at = head + rows[:, None] * D + channels[None, :]
    queries = tl.load(query + at)
    maximum = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, D), tl.float32)
    tile = head + columns[:, None] * D + channels[None, :]
    keys, values = key + tile, value + tile
    for _ in range(0, block * BM, BN):
        maximum, total, sums = _attend(queries, keys, values, maximum, total, sums, None, SCALE * LOG2_E)
        keys += BN * D
        values += BN * D
    for start in range(block * BM, (block + 1) * BM, BN):
        mask = rows[:, None] >= (start + columns)[None, :]
        maximum, total, sums = _attend(queries, keys, values, maximum, total, sums, mask, SCALE * LOG2_E)
        keys += BN * D
        values += BN * D
    tl.store(out + at, (sums / total[:, None]).to(out.dtype.element_ty))


@triton.jit
def attention_part(
    query,
    key,
    value,
    maxima,
    totals,
    partial,
    T: tl.constexpr,
    D: tl.constexpr,
    SCALE: tl.constexpr,
    GROUP: tl.constexpr,
    PART: tl.constexpr,
    BN: tl.constexpr,
):
    """One query of each of the heads that share keys, as the first rows of a tile, and a part of the keys."""
    part, head = tl.program_id(0), tl.program_id(1)
    rows = tl.arange(0, 16)
    channels = tl.arange(0, D)
    heads = head * GROUP + rows
    used = rows < GROUP
    queries = tl.load(query + heads[:, None] * D + channels[None, :], used[:, None], 0.0)
    maximum = tl.full((16,), float("-inf"), tl.float32)
    total = tl.zeros((16,), tl.float32)
    sums = tl.zeros((16, D), tl.float32)
    tile = (head * T + part * PART + tl.arange(0, BN))[:, None] * D + channels[None, :]
    keys, values = key + tile, value + tile
    for _ in range(0, PART, BN):
        maximum, total, sums = _attend(queries, keys, values, maximum, total, sums, None, SCALE * LOG2_E)
        keys += BN * D
        values += BN * D
    at = heads * (T // PART) + part
    tl.store(maxima + at, maximum, used)
    tl.store(totals + at, total, used)
    tl.store(partial + at[:, None] * D + channels[None, :], sums, used[:, None])


@triton.jit
def attention_join(maxima, totals, partial, out, D: tl.constexpr, PARTS: tl.constexpr):
    """What the parts of one head give together."""
    at = tl.program_id(0) * PARTS + tl.arange(0, PARTS)
    channels = tl.arange(0, D)
    maximum = tl.load(maxima + at)
    weights = tl.exp2(maximum - tl.max(maximum, 0))
    sums = tl.sum(tl.load(partial + at[:, None] * D + channels[None, :]) * weights[:, None], 0)
    total = tl.sum(tl.load(totals + at) * weights, 0)
    tl.store(out + tl.program_id(0) * D + channels, (sums / total).to(out.dtype.element_ty))
