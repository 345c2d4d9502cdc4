"""Contenders on one program: each is checked against eager PyTorch and float64, and then they are timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from ...frontends.captured import Call, Captured
from ...frontends.errors import CaptureError
from ...frontends.imported import ResultKind
from ...runtime.devices import DEVICES
from ..comparison import Comparison
from ..compilation import compile_stages
from ..execution import compare_tensors
from ..pipelines import CompileOptions
from .contenders import EAGER, INDUCTOR, OURS, Ready, eager, inductor, ours
from .gpu_times import GpuTimer
from .times import Run, Times, alternate
from .work import Work, work_of

Contender = Callable[[Call], Ready]


@dataclass(frozen=True)
class Entry:
    """One contender on a program.

    seconds: that making it ready took, by what was done. error: why it has no results
    """

    name: str
    comparisons: Sequence[Comparison] = ()
    times: Times | None = None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])
    error: str = ""

    @property
    def right(self) -> bool:
        return not self.error and all(row.right for row in self.comparisons)

    @property
    def worst(self) -> float:
        """The greatest error against float64 of any result, relative to its greatest element."""
        return max((row.error for row in self.comparisons), default=0.0)

    def as_json(self) -> dict[str, Any]:
        return {
            "right": self.right,
            "error": self.error,
            "worst": self.worst,
            "times": None if self.times is None else self.times.as_json(),
            "seconds": dict(self.seconds),
            "outputs": [asdict(row) for row in self.comparisons],
        }


def contenders(device: str, *, with_inductor: bool = True) -> dict[str, Contender]:
    """PyTorch, its compiler, and ours on a device."""
    found: dict[str, Contender] = {EAGER: eager, OURS: lambda call: ours(call, device)}
    return found | ({INDUCTOR: inductor} if with_inductor else {})


def compare_contenders(
    captured: Captured, contenders: Mapping[str, Contender], device: str, *, rounds: int, seconds: float = 0.02
) -> dict[str, Entry]:
    """Run and time the contenders, one after the other in each round. One that fails is told in its entry; one whose
    results are wrong is not timed.

    Raises what the front end and ours raise, and `CaptureError` for a program that changes what it is given.
    """
    if any(result.kind is not ResultKind.USER_OUTPUT for result in captured.imported().results):
        raise CaptureError("the program changes its inputs or buffers: what is run again and again must give the same")
    inputs = captured.make_inputs()
    expected, exact = captured.reference(inputs), captured.reference64(inputs)
    call = _moved(captured.make_call(), DEVICES[device].memory)
    entries: dict[str, Entry] = {}
    programs: dict[str, Run] = {}
    with torch.no_grad():
        for name, make in contenders.items():
            try:
                ready = make(call)
                given = [value.cpu() for value in ready.read(ready.run())]
                rows = [compare_tensors(*each) for each in zip(given, expected, exact, strict=True)]
            except Exception as error:
                if name == OURS:
                    raise
                entries[name] = Entry(name, error=f"{type(error).__name__}: {error}"[:2000])
                continue
            entries[name] = Entry(name, rows, seconds=ready.seconds)
            if entries[name].right:
                programs[name] = ready.run
        for name, times in _time(programs, device, rounds, seconds).items():
            entries[name] = replace(entries[name], times=times)
    return entries


def _time(programs: Mapping[str, Run], device: str, rounds: int, seconds: float) -> dict[str, Times]:
    if not programs or device != "cuda":
        return alternate(programs, rounds=rounds, seconds=seconds) if programs else {}
    timer = GpuTimer()
    return {name: timer.time(run, graph=False, seconds=rounds * seconds) for name, run in programs.items()}


def _moved(call: Call, memory: str) -> Call:
    """A call on the tensors of a device."""
    args, kwargs = tree_map_only(torch.Tensor, lambda value: value.to(memory), (call.args, dict(call.kwargs)))
    return Call(call.module.to(memory), args, kwargs)


def measured_work(captured: Captured, device: str) -> Work:
    """The work of a program, whose kernels are those for the device. Raises what the front end and a pass raise."""
    target, imported = DEVICES[device], captured.imported()
    function = replace(imported, module=imported.module.clone())
    options = CompileOptions(arch=target.arch(), vector_bytes=target.vector_bytes())
    for name, module in compile_stages(function, options, target=target.target, verify=False):
        if name == "loop":
            return work_of(module, function.function)
    raise AssertionError("every target has a loop form")
