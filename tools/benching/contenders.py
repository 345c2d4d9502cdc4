# torch._dynamo is partly untyped.
# pyright: reportUnknownMemberType=false
"""Who computes a program: PyTorch, its compiler Inductor, and ours. Each makes ready what can be run many times."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
import torch._dynamo
from torch.utils._pytree import tree_leaves

from ...frontends.captured import Call
from ...frontends.exporting import quiet_export
from ...frontends.importer import import_exported
from ...runtime.cache.settings import SWITCH
from ..torch_compile.compiled import CompiledProgram
from ..torch_compile.options import Options
from ..torch_compile.programs import forget_programs, load

EAGER, INDUCTOR, OURS = "eager", "inductor", "uop"


def tensors(value: Any) -> Sequence[torch.Tensor]:
    """The tensors of what a program gives, in order."""
    return [leaf.detach() for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


@dataclass(frozen=True)
class Ready:
    """A program that has run once. Both are to be called without gradients.

    run: computes it once more. seconds: that making it ready took, by what was done. read: the results of a run
    """

    run: Callable[[], Any]
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    read: Callable[[Any], Sequence[torch.Tensor]] = tensors


def eager(call: Call) -> Ready:
    """PyTorch itself."""
    return _ran(lambda: call.module(*call.args, **call.kwargs))


def inductor(call: Call) -> Ready:
    """PyTorch's compiler. seconds: `compile`, the first run without what the second takes."""
    torch._dynamo.reset()
    compiled = torch.compile(call.module)

    def run() -> Any:
        return compiled(*call.args, **call.kwargs)

    first, second = (_seconds(run)[0] for _ in range(2))
    return Ready(run, {"compile": first - second})


def ours(call: Call, device: str) -> Ready:
    """Ours. seconds: `export`, PyTorch's part, and `compile`, from there to what runs, passes and compilers."""
    options = Options.of({"device": device})
    with quiet_export():
        export, imported = _seconds(lambda: import_exported(call.module, call.args, call.kwargs))
        compile_, _ = _seconds(lambda: load(imported, options))
        program = CompiledProgram(call.module, call.args, call.kwargs, options)  # finds it in memory
    ready = _ran(lambda: program(*call.args, **call.kwargs))
    return Ready(ready.run, {"export": export, "compile": compile_})


def compile_seconds(call: Call, device: str, *, repeats: int = 3) -> float:
    """Seconds that ours takes to compile the program once more, in a process that has compiled before, without the
    cache: the median."""
    options = Options.of({"device": device})
    times: list[float] = []
    for _ in range(repeats):
        with quiet_export(), _no_cache():
            imported = import_exported(call.module, call.args, call.kwargs)
            forget_programs()
            times.append(_seconds(lambda imported=imported: load(imported, options))[0])
    return sorted(times)[repeats // 2]


@contextmanager
def _no_cache() -> Generator[None]:
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = "0"
    try:
        yield
    finally:
        if before is None:
            del os.environ[SWITCH]
        else:
            os.environ[SWITCH] = before


def _ran(run: Callable[[], Any]) -> Ready:
    run()
    return Ready(run)


def _seconds(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result
