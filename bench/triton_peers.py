# Triton's kernels are untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Which of Triton's kernels, with which constants, computes each case: a few configurations of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
import triton_kernels as kernels
from kernel_cases import CASES

OUT = "out"
"""The buffer of a case's result; the others are its inputs and the temporaries of a peer."""


Grid = tuple[int] | tuple[int, int] | tuple[int, int, int]


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel. buffers: names, in the order of the kernel's pointers."""

    kernel: Any
    grid: Grid
    buffers: tuple[str, ...]
    constants: dict[str, Any]
    warps: int = 4
    stages: int = 3


@dataclass(frozen=True)
class Peer:
    """One way to compute a case. temporaries: buffers between the launches, each with its number of f32 elements."""

    launches: tuple[Launch, ...]
    temporaries: dict[str, int] = field(default_factory=dict[str, int])


def _one(kernel: Any, grid: Grid, buffers: str, warps: int = 4, stages: int = 3, **constants: Any) -> Peer:
    """A peer of one launch."""
    return Peer((Launch(kernel, grid, tuple(buffers.split()), constants, warps, stages),))


def _silu_add() -> dict[str, Peer]:
    total = 1 << 24
    return {
        f"block {block}": _one(kernels.silu_add, (total // block,), "x y out", BLOCK=block) for block in (1024, 2048)
    }


def _softmax(rows: int, length: int) -> dict[str, Peer]:
    return {
        "a warp a row": _one(kernels.softmax_row, (rows,), "x out", 1, N=length),
        "4 rows, 4 warps": _one(kernels.softmax, (rows // 4,), "x out", 4, N=length, ROWS=4),
    }


def _layer_norm(rows: int, length: int) -> dict[str, Peer]:
    sizes: dict[str, Any] = {"EPS": 1e-5, "N": length}
    buffers = "x weight bias out"
    return {
        "a warp a row": _one(kernels.layer_norm, (rows,), buffers, 1, **sizes, ROWS=1),
        "4 rows, 4 warps": _one(kernels.layer_norm, (rows // 4,), buffers, 4, **sizes, ROWS=4),
    }


def _rms_norm(rows: int, length: int) -> dict[str, Peer]:
    sizes: dict[str, Any] = {"EPS": 1e-5, "N": length}
    return {
        "a warp a row": _one(kernels.rms_norm, (rows,), "x weight out", 1, **sizes, ROWS=1),
        "4 rows, 4 warps": _one(kernels.rms_norm, (rows // 4,), "x weight out", 4, **sizes, ROWS=4),
    }


def _sum_columns(rows: int, columns: int) -> dict[str, Peer]:
    parts = 32
    width = 128
    first = Launch(
        kernels.sum_columns,
        (columns // width, parts),
        ("x", "partial"),
        {"M": rows // parts, "N": columns, "BM": 16, "BN": width},
    )
    second = Launch(
        kernels.sum_columns,
        (columns // width, 1),
        ("partial", OUT),
        {"M": parts, "N": columns, "BM": parts, "BN": width},
    )
    return {"32 parts": Peer((first, second), {"partial": parts * columns})}


def _sum_all(total: int) -> dict[str, Peer]:
    parts = 256
    first = Launch(kernels.sum_span, (parts,), ("x", "partial"), {"N": total // parts, "BLOCK": 4096}, 8)
    second = Launch(kernels.sum_span, (1,), ("partial", OUT), {"N": parts, "BLOCK": parts}, 1)
    return {"256 parts": Peer((first, second), {"partial": parts})}


def _matmul(
    m: int,
    n: int,
    k: int,
    *tiles: tuple[int, int, int, int],
    stages: tuple[int, ...] = (2, 3),
    batch: int = 1,
    b_strides: tuple[int, int] | None = None,
    buffers: str = "a b out",
    precision: str = "ieee",
) -> dict[str, Peer]:
    """tiles: rows, columns, depth and warps of a block."""
    b_k, b_n = b_strides or (n, 1)
    return {
        f"{bm}×{bn}×{bk}, {warps} warps, {depth} stages": _one(
            kernels.matmul,
            (n // bn, m // bm, batch),
            buffers,
            warps,
            depth,
            M=m,
            N=n,
            K=k,
            B_K=b_k,
            B_N=b_n,
            BM=bm,
            BN=bn,
            BK=bk,
            PRECISION=precision,
        )
        for bm, bn, bk, warps in tiles
        for depth in stages
    }


def _matmul_ragged(size: int) -> dict[str, Peer]:
    tile = 128
    tiles = -(-size // tile)
    sizes = {"M": size, "N": size, "K": size, "BM": tile, "BN": tile, "BK": 32}
    return {
        f"128×128×32, 4 warps, {stages} stages": _one(
            kernels.matmul_ragged, (tiles, tiles), "a b out", 4, stages, **sizes
        )
        for stages in (2, 3)
    }


def _matmul_gelu(size: int) -> dict[str, Peer]:
    return {
        f"{tile}×{tile}×32, 4 warps, 2 stages": _one(
            kernels.matmul_gelu,
            (size // tile, size // tile),
            "a b bias out",
            4,
            2,
            N=size,
            K=size,
            BM=tile,
            BN=tile,
            BK=32,
        )
        for tile in (64, 128)
    }


def _vector_matrix(n: int, k: int) -> dict[str, Peer]:
    parts = 8
    tile = {"BN": 128, "BK": 32}
    first = Launch(kernels.vector_matrix, (n // 128, parts), ("a", "b", "partial"), {"N": n, "K": k // parts, **tile})
    second = Launch(
        kernels.sum_columns, (n // 128, 1), ("partial", OUT), {"M": parts, "N": n, "BM": parts, "BN": 128}, 1
    )
    return {
        "8 parts": Peer((first, second), {"partial": parts * n}),
        "32 columns": _one(kernels.vector_matrix, (n // 32, 1), "a b out", N=n, K=k, BN=32, BK=128),
    }


def _matmul_few_rows(m: int, n: int, k: int) -> dict[str, Peer]:
    return {
        f"{bn} columns": _one(kernels.matmul_few_rows, (n // bn,), "a b out", 4, 3, M=m, N=n, K=k, BN=bn, BK=bk)
        for bn, bk in ((32, 128), (64, 64))
    }


def _attention(length: int) -> dict[str, Peer]:
    heads, _, depth = CASES["attention_512"].inputs["query"][0]
    return {
        f"{bm} queries, {bn} keys, 4 warps, {stages} stages": _one(
            kernels.attention,
            (length // bm, heads),
            "query key value out",
            4,
            stages,
            T=length,
            D=depth,
            SCALE=depth**-0.5,
            BM=bm,
            BN=bn,
        )
        for bm, bn, stages in ((128, 64, 2), (64, 64, 2), (128, 32, 3))
    }


def _decoding(name: str) -> dict[str, Peer]:
    _, shared, keys, depth = CASES[name].inputs["key"][0]
    heads = CASES[name].inputs["query"][0][1]
    peers: dict[str, Peer] = {}
    for part, block, warps in ((128, 64, 4), (128, 128, 4), (256, 64, 4), (512, 64, 4)):
        sizes = {"T": keys, "D": depth, "SCALE": depth**-0.5, "GROUP": heads // shared, "PART": part, "BN": block}
        buffers = ("query", "key", "value", "maxima", "totals", "partial")
        parts = keys // part
        first = Launch(kernels.attention_part, (parts, shared), buffers, sizes, warps, 2)
        second = Launch(kernels.attention_join, (heads,), (*buffers[3:], OUT), {"D": depth, "PARTS": parts}, 1)
        sums = heads * parts
        temporaries = {"maxima": sums, "totals": sums, "partial": sums * depth}
        peers[f"parts of {part} keys, {block} at once, {warps} warps"] = Peer((first, second), temporaries)
    return peers


def _conv2d() -> dict[str, Peer]:
    images = CASES["conv2d"].inputs["x"][0][0]
    sizes = {"C": 64, "O": 64, "H": 56, "W": 56}
    return {
        f"{bm} pixels": _one(kernels.conv2d_3x3, (-(-56 * 56 // bm), images), "x weight out", 4, **sizes, BM=bm)
        for bm in (64, 128)
    }


F16_TILES = ((64, 64, 32, 4), (128, 128, 32, 4))
F32_TILES = ((64, 64, 16, 2), (128, 128, 16, 4))

PEERS: dict[str, dict[str, Peer]] = {
    "silu_add_f32": _silu_add(),
    "silu_add_f16": _silu_add(),
    "softmax_1024": _softmax(4096, 1024),
    "softmax_2048": _softmax(57344, 2048),
    "softmax_65536": {
        f"{block} elements a step, {warps} warps": _one(
            kernels.softmax_online, (64,), "x out", warps, N=65536, BLOCK=block
        )
        for block, warps in ((16384, 32), (4096, 8))
    },
    "layer_norm_2048": _layer_norm(4096, 2048),
    "layer_norm_4097": {
        "a row, 8 warps": _one(kernels.layer_norm_ragged, (1024,), "x weight bias out", 8, EPS=1e-5, N=4097, BLOCK=8192)
    },
    "rms_norm_2048": _rms_norm(4096, 2048),
    "rms_norm_4097": {
        "a row, 8 warps": _one(kernels.rms_norm_ragged, (1024,), "x weight out", 8, EPS=1e-5, N=4097, BLOCK=8192)
    },
    "sum_rows": {
        "a warp a row": _one(kernels.sum_row, (4096,), "x out", 1, N=1024),
        "4 rows, 4 warps": _one(kernels.sum_rows, (1024,), "x out", 4, N=1024, ROWS=4),
        "16 rows, 4 warps": _one(kernels.sum_rows, (256,), "x out", 4, N=1024, ROWS=16),
    },
    "sum_columns": _sum_columns(4096, 1024),
    "sum_all": _sum_all(4096 * 1024),
    "argmax": {
        f"{rows} rows, {warps} warps": _one(kernels.argmax_rows, (4096 // rows,), "x out", warps, N=1024, ROWS=rows)
        for rows, warps in ((1, 1), (4, 4))
    },
    "transpose": {
        f"{bm}×{bn}, {warps} warps": _one(
            kernels.transpose, (1024 // bn, 1024 // bm), "x out", warps, M=1024, N=1024, BM=bm, BN=bn
        )
        for bm, bn, warps in ((64, 64, 8), (64, 64, 4), (32, 32, 4))
    },
    "matmul_f16_512": _matmul(512, 512, 512, *F16_TILES),
    "matmul_f16_1024": _matmul(1024, 1024, 1024, *F16_TILES),
    "matmul_f16_1000": _matmul_ragged(1000),
    "matmul_f16_k64": _matmul(4096, 4096, 64, *F16_TILES, stages=(2,)),
    "matmul_bf16_gelu": _matmul_gelu(1024),
    "matmul_f32_512": _matmul(512, 512, 512, *F32_TILES, stages=(3,)),
    "matmul_f32_1024": _matmul(1024, 1024, 1024, *F32_TILES, stages=(3,)),
    "matmul_tf32_1024": _matmul(1024, 1024, 1024, *F16_TILES, stages=(2,), precision="tf32"),
    "matmul_f16_m1": _vector_matrix(4096, 4096),
    "matmul_f16_m8": _matmul_few_rows(8, 4096, 4096),
    "bmm_scores": _matmul(512, 512, 64, *F16_TILES, stages=(2,), batch=32, b_strides=(1, 64), buffers="query key out"),
    "bmm_values": _matmul(
        512, 64, 512, (64, 64, 32, 4), (128, 64, 32, 4), stages=(2,), batch=32, buffers="weights value out"
    ),
    "attention_512": _attention(512),
    "attention_1024": _attention(1024),
    "attention_decode": _decoding("attention_decode"),
    "conv2d": _conv2d(),
    "cumsum": {
        f"{rows} rows, {warps} warps": _one(kernels.cumsum_rows, (4096 // rows,), "x out", warps, N=1024, ROWS=rows)
        for rows, warps in ((1, 1), (4, 4))
    },
}
"""Case → the name of a configuration → how it computes the case."""

TYPE_NAMES = {
    torch.float32: "fp32",
    torch.float16: "fp16",
    torch.bfloat16: "bf16",
    torch.int64: "i64",
}
"""Triton's names of the types."""
