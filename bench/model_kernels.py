"""The CUDA kernels of a decoder layer in f16, counted in the simulator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from kernel_measure import BOUND_IN_NS, COUNTED_ON, SPILLS, measure
from kernel_runs import launched
from model_layers import make_layer

from uop.frontends.captured import Call, Captured
from uop.runtime.program import Program
from uop.runtime.tensors import to_array
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

GPU = "A100"

COUNTED = ("instructions", "load sectors", "store sectors", "conflicts", "mma", SPILLS)

TITLES = ("kernel", "threads", *COUNTED, f"{GPU} bound, µs", "limited by")


def _in_half(name: str) -> Call:
    call = make_layer(name)
    return Call(call.module.half(), tuple(value.half() for value in call.args))


def count_kernels(name: str) -> list[dict[str, Any]]:
    """The counters of each launch of a layer. Grids whose blocks are all alike are sampled, so they are exact."""
    call = _in_half(name)
    captured = Captured(call, lambda: call, name)
    inputs = [to_array(value) for value in captured.make_inputs()]
    imported = captured.imported()
    for _ in compile_stages(imported, CompileOptions(arch=COUNTED_ON), verify=False):
        pass
    with torch.no_grad():
        run = Program(imported.module).run(inputs, check_races=False, sample=True)
    return [
        {"kernel": kernel.name, "threads": kernel.threads, **measure([kernel]).as_json()} for kernel in launched(run)
    ]


def kernel_rows(kernels: Sequence[Mapping[str, Any]]) -> Iterator[Sequence[str]]:
    """A row for each launch, and their sum."""
    for kernel in kernels:
        counters, bound = kernel["counters"], kernel["bounds"][GPU]
        counts = [f"{counters[name]:,}" for name in COUNTED]
        yield [kernel["kernel"], str(kernel["threads"]), *counts, f"{bound['us']:.2f}", bound["limit"]]
    sums = [f"{sum(kernel['counters'][name] for kernel in kernels):,}" for name in COUNTED]
    total = sum(kernel["counters"][BOUND_IN_NS[GPU]] for kernel in kernels) / 1000
    yield [f"all {len(kernels)}", "", *sums, f"{total:.2f}", ""]
