# tinygrad's functions are largely untyped.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateImportUsage=false
"""tinygrad as a contender of bench/cpu.py, for the cases that are short to write in it; recorded by its TinyJit.

It takes Clang. Where there is none, the compiler of the `ziglang` wheel stands in, for the same machine, which reads
the same C.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.update(DEV="CPU", CCACHE="0", CACHELEVEL="0", NO_COLOR="1")

import torch

from uop.frontends.captured import Call
from uop.runtime.native.compiler import zig_command
from uop.tools.benching.contenders import Ready


def linear(x: Any, w: Any, b: Any) -> Any:
    return x @ w.transpose() + b


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "relu_mm": lambda x, bias, w: ((x + bias) @ w).relu(),
    "softmax": lambda x: x.softmax(-1),
    "rmsnorm": lambda x, gain: x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gain,
    "layernorm": lambda x, gain, bias: x.layernorm() * gain + bias,
    "matmul_f32": lambda a, b: a @ b,
    "matmul_f16": lambda a, b: a.float() @ b.float(),
    "gelu_mlp": lambda x, w1, b1, w2, b2: linear(linear(x, w1, b1).gelu(), w2, b2),
    "attention": lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True),
}
"""Case → the same function of tinygrad's tensors."""

_ZIG_AS_CLANG = """#!/bin/sh
# tinygrad reads the object from standard output, and names a target that zig spells in another way.
object=$(mktemp)
{zig} -c -x c -O2 -fPIC -ffreestanding -fno-math-errno -nostdlib -g0 -fno-sanitize=all \\
  -target {machine}-freestanding-none -mcpu=native - -o "$object" >&2 && cat "$object"
status=$?
rm -f "$object"
exit $status
"""


def tinygrad(name: str, call: Call) -> Ready:
    """The case, compiled. seconds: `compile`, the first run without what the third takes."""
    folder = tempfile.mkdtemp(prefix="uop-bench-")
    try:
        if shutil.which("clang") is None:
            os.environ["CC"] = _zig_as_clang(Path(folder))
        return _recorded(name, call)
    finally:
        shutil.rmtree(folder)


def _recorded(name: str, call: Call) -> Ready:
    from tinygrad import Device, Tensor, TinyJit

    inputs = [Tensor(value.numpy()).realize() for value in call.args]
    step = TinyJit(lambda *values: FUNCTIONS[name](*values).realize())

    def run() -> Any:
        result = step(*inputs)
        Device["CPU"].synchronize()
        return result

    seconds: list[float] = []
    for _ in range(3):  # it records the second run
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return Ready(run, {"compile": seconds[0] - seconds[2]}, lambda result: [torch.from_numpy(result.numpy().copy())])


def _zig_as_clang(folder: Path) -> str:
    """The path of a Clang for tinygrad. Raises `FileNotFoundError` where there is no `ziglang` wheel either."""
    zig = zig_command()
    if zig is None:
        raise FileNotFoundError("tinygrad takes clang, or ziglang's: pip install ziglang")
    path = folder / "clang"
    path.write_text(_ZIG_AS_CLANG.format(zig=shlex.join(zig), machine=platform.machine()))
    path.chmod(0o700)
    return str(path)
