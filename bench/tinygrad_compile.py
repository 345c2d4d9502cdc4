# tinygrad's functions are largely untyped.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateImportUsage=false
"""CPU time that tinygrad takes from an expression to CUDA text: run in a process of its own by compile_time.py.

No GPU is needed: tensors live on tinygrad's NULL device, and its CUDA renderer writes text that nobody compiles.
Usage: python tinygrad_compile.py CASE; prints one JSON object.
"""

import json
import os
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

os.environ.update(DEV="NULL", PARALLEL="0", CCACHE="0", CACHELEVEL="0", ALLOW_TF32="0", NO_COLOR="1")

import tinygrad.schedule as schedule
from tinygrad import Tensor
from tinygrad.codegen import to_program, to_program_cache
from tinygrad.device import Compiler
from tinygrad.helpers import Target
from tinygrad.renderer.cstyle import NVCCRenderer
from tinygrad.uop.ops import Ops

REPEATS = 3


class TextOnly(Compiler):
    """Keeps the text instead of compiling it."""

    def __init__(self) -> None:
        super().__init__(None)

    def compile(self, src: str) -> bytes:
        return src.encode()


def linear(x: Any, w: Any, b: Any = None) -> Any:
    y = x @ w.transpose()
    return y if b is None else y + b


def rms_norm(x: Any, weight: Any) -> Any:
    return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * weight


def rotate_half(x: Any) -> Any:
    half = x.shape[-1] // 2
    return (-x[..., half:]).cat(x[..., :half], dim=-1)


def llama_block(
    x: Any, n1: Any, q: Any, k: Any, v: Any, o: Any, n2: Any, g: Any, u: Any, d: Any, cos: Any, sin: Any
) -> Any:
    batch, tokens, hidden = x.shape

    def split(y: Any) -> Any:
        return y.reshape(batch, tokens, 4, hidden // 4).transpose(1, 2)

    h = rms_norm(x, n1)
    qs, ks, vs = split(linear(h, q)), split(linear(h, k)), split(linear(h, v))
    qs, ks = qs * cos + rotate_half(qs) * sin, ks * cos + rotate_half(ks) * sin
    a = qs.scaled_dot_product_attention(ks, vs, is_causal=True).transpose(1, 2).reshape(batch, tokens, hidden)
    x = x + linear(a, o)
    h = rms_norm(x, n2)
    return x + linear(linear(h, g).silu() * linear(h, u), d)


CASES: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "seed": (lambda x, bias, w: ((x + bias) @ w).relu(), [(16, 64), (64,), (64, 16)]),
    "softmax": (lambda x: x.softmax(-1), [(64, 1000)]),
    "rms_norm": (rms_norm, [(1, 32, 2048), (2048,)]),
    "layer_norm": (lambda x, g, b: x.layernorm() * g + b, [(64, 2048), (2048,), (2048,)]),
    "matmul": (lambda a, b: a @ b, [(128, 128), (128, 128)]),
    "mlp": (
        lambda x, w1, b1, w2, b2: linear(linear(x, w1, b1).gelu(), w2, b2),
        [(128, 512), (2048, 512), (2048,), (512, 2048), (512,)],
    ),
    "llama_block": (
        llama_block,
        [(1, 37, 64), (64,), *[(64, 64)] * 4, (64,), (176, 64), (176, 64), (64, 176), (37, 16), (37, 16)],
    ),
}


def main() -> None:
    function, shapes = CASES[sys.argv[1]]
    renderer = NVCCRenderer(Target("CUDA", "NVCC", "sm_90"))
    renderer.compiler = TextOnly()

    def compile_once() -> tuple[float, int]:
        to_program_cache.clear()
        schedule.schedule_cache.clear()
        inputs = [Tensor.empty(*shape) for shape in shapes]
        start = time.process_time()
        calls = function(*inputs).schedule_linear()
        programs = [to_program(call.src[0], renderer) for call in calls.src if call.src[0].op is Ops.SINK]
        return time.process_time() - start, len(programs)

    first, kernels = compile_once()
    warm = median(compile_once()[0] for _ in range(REPEATS))
    print(json.dumps({"cold": first, "warm": warm, "kernels": kernels}))


if __name__ == "__main__":
    main()
