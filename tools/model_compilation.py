"""A program of a language model compiled, with what it took and what came of it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from ..dialects.types import byte_count
from ..dialects.uop import LaunchOp, buffer_of
from ..frontends.captured import Captured
from ..frontends.imported import ArgumentKind, Imported
from .benching.work import Work, least_flops, work_of
from .compilation import compile_stages, stage_text
from .pipelines import CompileOptions

EXPORT, DECOMPOSITION, IMPORT = "torch.export", "decomposition", "import"
"""What comes before the first stage: what PyTorch does, what makes operations with lowerings of it, without mutation,
and that written in the torch dialect."""

_LAYER = re.compile(r"(?:^|\.)(?:layers|h|blocks|cache)\.(\d+)\.")
"""A parameter or buffer of a layer, by its qualified name, and which layer that is."""


@dataclass(frozen=True)
class Memory:
    """Bytes of buffers while a program runs.

    weights: parameters and constants. cache: buffers, which it updates, and copies of them that are not in place
    arena:   results of launches that only the program needs, as they share memory
    others:  inputs and results
    """

    weights: int
    cache: int
    arena: int
    others: int

    @property
    def total(self) -> int:
        return self.weights + self.cache + self.arena + self.others


@dataclass(frozen=True)
class CompiledStep:
    """A compiled program of a language model.

    seconds:  CPU seconds of each part, in order. texts: by stage, those that were asked for
    launches: of each layer, in the order of layers; and in all
    kernels:  that are different
    work:     of the kernels; least_flops: of the program, each operation done once
    """

    name: str
    imported: Imported
    seconds: Mapping[str, float]
    texts: Mapping[str, str]
    layer_launches: Mapping[int, int]
    launches: int
    kernels: int
    work: Work
    least_flops: int
    memory: Memory

    @property
    def own_seconds(self) -> float:
        """CPU seconds of all parts but `torch.export`."""
        return sum(each for name, each in self.seconds.items() if name != EXPORT)

    @property
    def kernels_per_layer(self) -> int:
        """Launches of most layers."""
        return Counter(self.layer_launches.values()).most_common(1)[0][0] if self.layer_launches else 0


def compile_step(
    name: str,
    captured: Captured,
    options: CompileOptions,
    target: str,
    texts: Collection[str] = (),
    *,
    locations: bool = True,
) -> CompiledStep:
    """Compile a program of a language model to the last form of `target`, in place.

    texts: forms of the program to keep as text, with locations or without. Raises what the front end and a pass raise.
    """
    seconds: dict[str, float] = {}
    with _timed(seconds, EXPORT):
        captured.exported()
    with _timed(seconds, DECOMPOSITION):
        captured.decomposed()
    with _timed(seconds, IMPORT):
        imported = captured.imported()
    function = imported.function
    kept: dict[str, str] = {}
    flops, work = 0, Work(0, 0, 0, 0)
    stages = compile_stages(imported, options, target=target, verify=False)
    start = time.process_time()
    for stage, module in stages:
        seconds[stage] = time.process_time() - start
        if stage in texts:
            kept[stage] = stage_text(stage, module, locations=locations)
        if stage == "uop":
            flops = least_flops(function)
        elif stage == "loop":
            work = work_of(module, function)
        start = time.process_time()
    del seconds["torch"]
    with _timed(seconds, target):
        text = stage_text(target, imported.module)
    if target in texts:
        kept[target] = text
    launches = [op for op in function.body.block.ops if isinstance(op, LaunchOp)]
    return CompiledStep(
        name,
        imported,
        seconds,
        kept,
        _layer_launches(imported, launches),
        len(launches),
        len({launch.kernel.root_reference.data for launch in launches}),
        work,
        flops,
        _memory(imported, launches),
    )


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Generator[None]:
    start = time.process_time()
    yield
    seconds[name] = time.process_time() - start


def _layer_launches(imported: Imported, launches: list[LaunchOp]) -> Mapping[int, int]:
    """Layer → launches for it: those that take a tensor of it, and those that come between them."""
    places: dict[SSAValue, int] = {value: place for place, value in enumerate(imported.function.body.block.args)}
    layers: list[int | None] = []
    for launch in launches:
        sources = [imported.arguments[places[b]].source for b in map(buffer_of, launch.operands) if b in places]
        found = [int(match[1]) for source in sources if (match := _LAYER.search(source))]
        layers.append(max(found, default=None))
    known = [place for place, layer in enumerate(layers) if layer is not None]
    if not known:
        return {}
    counts: Counter[int] = Counter()
    current = 0
    for layer in layers[known[0] : known[-1] + 1]:
        current = max(current, layer or 0)
        counts[current] += 1
    return dict(sorted(counts.items()))


def _memory(imported: Imported, launches: list[LaunchOp]) -> Memory:
    function = imported.function
    arguments = dict(zip(function.body.block.args, imported.arguments, strict=True))
    sizes = {kind: 0 for kind in ArgumentKind}
    for value, argument in arguments.items():
        sizes[argument.kind] += byte_count(value.type)
    ends = [
        offset + byte_count(result.type)
        for launch in launches
        for result, offset in zip(launch.results, launch.offsets(), strict=True)
        if offset is not None
    ]
    own = [result for launch in launches for result in _own_results(launch)]
    copies = _cache_copies(imported, function)
    copied = sum(byte_count(result.type) for result in own if result in copies)
    results = sum(byte_count(result.type) for result in own if result not in copies)
    return Memory(
        sizes[ArgumentKind.PARAMETER] + sizes[ArgumentKind.CONSTANT],
        sizes[ArgumentKind.BUFFER] + copied,
        max(ends, default=0),
        sizes[ArgumentKind.USER_INPUT] + results,
    )


def _own_results(launch: LaunchOp) -> list[SSAValue]:
    """The results that have memory of their own: not in the arena, and not in another buffer."""
    places = zip(launch.results, launch.offsets(), strict=True)
    return [result for result, offset in places if offset is None and buffer_of(result) is result]


def _cache_copies(imported: Imported, function: FuncOp) -> set[SSAValue]:
    """The new values of buffers that lie elsewhere than the old."""
    returned = function.body.block.last_op
    assert returned is not None
    changed = {result.index for result in imported.results if result.target is not None}
    buffers = [buffer_of(value) for place, value in enumerate(returned.operands) if place in changed]
    return {buffer for buffer in buffers if not isinstance(buffer, BlockArgument)}
