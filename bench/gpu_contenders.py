# Triton, torch._dynamo and transformers are partly untyped.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""Who computes the cases and models on a GPU: each makes ready what can be run again and again."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
import torch._dynamo
from compile_cases import Function
from kernel_cases import Case
from kernel_runs import float32_matmul_precision
from torch import nn
from torch.utils._pytree import tree_leaves

from uop.frontends.importer import import_exported
from uop.runtime.devices import DEVICES
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions
from uop.tools.torch_compile.backend import UopWarning

RECORDED = Path(__file__).with_name("kernels.json")

Tensors = Sequence[torch.Tensor]


@dataclass(frozen=True)
class Ready:
    """A program that is ready to run. notes: what a table may say of it"""

    run: Callable[[], Any]
    notes: dict[str, Any]


class Missing(Exception):
    """A contender is not installed, or has nothing for the case."""


def eager(case: Case, inputs: Tensors) -> Ready:
    """PyTorch itself."""
    return Ready(partial(case.function, *inputs), {})


def uop(case: Case, inputs: Tensors) -> Ready:
    """Ours, compiled for the GPU."""
    start = time.perf_counter()
    examples = tuple(torch.empty(shape, dtype=dtype) for shape, dtype in case.inputs.values())
    imported = import_exported(Function(case.function), examples)
    device = DEVICES["cuda"]
    for _ in compile_stages(imported, CompileOptions(arch=device.arch()), verify=False):
        pass
    program: Any = device.load(imported)
    seconds = round(time.perf_counter() - start, 3)
    return Ready(lambda: program(inputs)[0], {"launches": len(program.plan.launches), "compile seconds": seconds})


def inductor(case: Case, inputs: Tensors) -> Ready:
    """PyTorch's own compiler."""
    torch._dynamo.reset()
    return Ready(partial(torch.compile(Function(case.function)), *inputs), {})


def triton(name: str, case: Case, inputs: Tensors) -> Ready:
    """Triton's kernels, in the configuration that kernels.json has found best. Raises `Missing`."""
    if find_spec("triton") is None:
        raise Missing("Triton is not installed")
    from triton_peers import OUT, PEERS

    recorded = json.loads(RECORDED.read_text())["cases"].get(name, {})
    title = recorded.get("triton", {}).get("configuration")
    if title not in PEERS.get(name, {}):
        raise Missing("Triton has no kernel for it")
    peer = PEERS[name][title]
    buffers = dict(zip(case.inputs, inputs, strict=True))
    result = torch.empty_like(case.function(*inputs))
    buffers[OUT] = result
    device = result.device
    buffers |= {key: torch.empty(count, device=device) for key, count in peer.temporaries.items()}

    def run() -> torch.Tensor:
        for launch in peer.launches:
            launch.kernel[launch.grid](
                *(buffers[key] for key in launch.buffers),
                **launch.constants,
                num_warps=launch.warps,
                num_stages=launch.stages,
            )
        return result

    return Ready(run, {"configuration": title, "launches": len(peer.launches)})


CASE_CONTENDERS: dict[str, Callable[[str, Case, Tensors], Ready]] = {
    "eager": lambda name, case, inputs: eager(case, inputs),
    "uop": lambda name, case, inputs: uop(case, inputs),
    "triton": triton,
    "inductor": lambda name, case, inputs: inductor(case, inputs),
}
"""By name. All are made ready under the `float32_matmul_precision` of the case."""


def make_ready(contender: str, name: str, case: Case, inputs: Tensors) -> Ready:
    """A contender's program, run once. Raises what it raises."""
    with float32_matmul_precision(case.precision):
        ready = CASE_CONTENDERS[contender](name, case, inputs)
        ready.run()
    return Ready(lambda: _with_precision(case.precision, ready.run), ready.notes)


def _with_precision(precision: str, run: Callable[[], Any]) -> Any:
    with float32_matmul_precision(precision):
        return run()


MODEL_CONTENDERS: dict[str, Callable[[nn.Module], Callable[..., Any]]] = {
    "eager": lambda module: module,
    "uop": lambda module: torch.compile(module, backend="uop", options={"device": "cuda"}),
    "uop, graph": lambda module: torch.compile(module, backend="uop", options={"device": "cuda", "cuda_graph": True}),
    "inductor": torch.compile,
}
"""By name: the module as each runs it."""


def make_model_ready(contender: str, module: nn.Module, inputs: Tensors) -> Ready:
    """A model as a contender runs it, run once without gradients; its notes list what ours leaves to eager PyTorch.

    Raises what it raises.
    """
    torch._dynamo.reset()
    compiled = MODEL_CONTENDERS[contender](module)

    def run() -> Any:
        with torch.no_grad():
            return compiled(*inputs)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UopWarning)
        run()
    left = [str(each.message) for each in caught if issubclass(each.category, UopWarning)]
    return Ready(run, {"left to eager": left} if left else {})


def difference(given: Any, expected: Any) -> float:
    """The greatest error of any result, relative to the greatest element of that result: what is no number in one and
    not in the other counts as infinite. Integers and bools have to be the same."""
    worst = 0.0
    pairs = zip(_tensors(given), _tensors(expected), strict=True)
    for ours, theirs in pairs:
        if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
            return float("inf")
        if not theirs.numel():
            continue
        if not theirs.is_floating_point():
            worst = max(worst, 0.0 if bool((ours == theirs).all()) else float("inf"))
            continue
        ours, theirs = ours.double(), theirs.double()
        same = (ours == theirs) | (ours.isnan() & theirs.isnan())
        finite = ours.isfinite() & theirs.isfinite()
        if not bool((same | finite).all()):
            return float("inf")
        errors = torch.where(finite, (ours - theirs).abs(), 0.0)
        scale = torch.where(finite, theirs.abs(), 0.0).max().clamp(min=1e-30)
        worst = max(worst, float(errors.max() / scale))
    return worst


def _tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
