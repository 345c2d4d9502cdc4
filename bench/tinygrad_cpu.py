# tinygrad's functions are largely untyped.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportPrivateImportUsage=false
"""tinygrad as a contender of bench/cpu.py; recorded by its TinyJit.

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
from pathlib import Path
from typing import Any

os.environ.update(DEV="CPU", CCACHE="0", CACHELEVEL="0", NO_COLOR="1")

import torch

from uop.frontends.captured import Call
from uop.runtime.native.compiler import zig_command
from uop.tools.benching.contenders import Ready

_ZIG_AS_CLANG = """#!/bin/sh
# tinygrad reads the object from standard output, and names a target that zig spells in another way.
object=$(mktemp)
{zig} -c -x c -O2 -fPIC -ffreestanding -fno-math-errno -nostdlib -g0 -fno-sanitize=all \\
  -target {machine}-freestanding-none -mcpu=native - -o "$object" >&2 && cat "$object"
status=$?
rm -f "$object"
exit $status
"""


def tinygrad(call: Call) -> Ready:
    """The program, compiled. seconds: `compile`, the first run without what the third takes."""
    folder = tempfile.mkdtemp(prefix="uop-bench-")
    try:
        if shutil.which("clang") is None:
            os.environ["CC"] = _zig_as_clang(Path(folder))
        return _recorded(call)
    finally:
        shutil.rmtree(folder)


def _recorded(call: Call) -> Ready:
    from tinygrad import Device, TinyJit
    from tinygrad_graphs import tinygrad_program

    program, inputs = tinygrad_program(call)
    step = TinyJit(program)

    def run() -> Any:
        results = step(*inputs)
        Device["CPU"].synchronize()
        return results

    seconds: list[float] = []
    for _ in range(3):  # it records the second run
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return Ready(
        run,
        {"compile": seconds[0] - seconds[2]},
        _as_torch,
    )


def _as_torch(results: list[Any]) -> list[torch.Tensor]:
    return [torch.from_numpy(each.numpy().copy()) for each in results]


def _zig_as_clang(folder: Path) -> str:
    """The path of a Clang for tinygrad. Raises `FileNotFoundError` where there is no `ziglang` wheel either."""
    zig = zig_command()
    if zig is None:
        raise FileNotFoundError("tinygrad takes clang, or ziglang's: pip install ziglang")
    path = folder / "clang"
    path.write_text(_ZIG_AS_CLANG.format(zig=shlex.join(zig), machine=platform.machine()))
    path.chmod(0o700)
    return str(path)
