"""Several small programs as one: most of the time of a check is spent once for each export and each compilation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import torch
from torch import nn

from ...frontends.captured import Call, Captured
from .findings import Finding
from .judging import by_eager
from .levels import check_program, fail_everywhere, refusal
from .outcomes import Outcome, Verdict


def check_together(calls: Mapping[str, Call], levels: Sequence[str], float64_error: float = 0.0) -> Iterator[Outcome]:
    """The outcomes of several programs by their names, judged by eager PyTorch.

    They are exported as one program, those of it that uop refuses are told, and the others compiled and judged as one:
    if that is right, each of them is. What is not right as a whole is halved until it is one program. A half is cut
    out of the graph that has been exported, but for what cannot be exported.

    float64_error: as of `by_eager`
    """
    waiting = [calls]
    while waiting:
        group = waiting.pop()
        programs = _Programs(group)
        try:
            programs.captured.decomposed()
        except Exception as error:
            if len(group) == 1:
                yield from fail_everywhere(error, next(iter(group)), levels)
            else:
                waiting += [{name: group[name] for name in half} for half in _halves([*group])]
        else:
            yield from _check_exported(programs, levels, float64_error)


def _check_exported(programs: _Programs, levels: Sequence[str], float64_error: float) -> Iterator[Outcome]:
    waiting: list[Sequence[str]] = [[*programs.calls]]
    while waiting:
        names = waiting.pop()
        captured = programs.part(names)
        outcomes = list(check_program(captured, names[0], levels, by_eager(captured, float64_error)))
        if len(names) == 1 or all(outcome.verdict is Verdict.RIGHT for outcome in outcomes):
            yield from _of_each(outcomes, names)
            continue
        refused: dict[str, Finding] = {}
        if any(outcome.verdict is Verdict.REFUSED for outcome in outcomes):
            refused = {name: finding for name in names if (finding := refusal(programs.part([name]))) is not None}
        for name, finding in refused.items():
            yield from (Outcome(name, level, finding.verdict, finding.reasons, finding.detail) for level in levels)
        rest = [name for name in names if name not in refused]
        if not refused:
            waiting += _halves(rest)
        elif rest:
            waiting.append(rest)


def _of_each(outcomes: Sequence[Outcome], names: Sequence[str]) -> Iterator[Outcome]:
    """The outcomes of programs that were checked as one."""
    for outcome in outcomes:
        yield from (replace(outcome, case=name, seconds=outcome.seconds / len(names)) for name in names)


def _halves(names: Sequence[str]) -> list[Sequence[str]]:
    middle = len(names) // 2
    return [names[:middle], names[middle:]]


class _Programs:
    """Several programs as one.

    calls: by name; of tensors alone
    """

    def __init__(self, calls: Mapping[str, Call]) -> None:
        self.calls = calls
        call = _as_one([*calls.values()])
        self.captured = Captured(call, lambda: call, next(iter(calls)))

    def part(self, names: Sequence[str]) -> Captured:
        """Some of the programs as one. Raises `CaptureError` and `UnsupportedProgramError`."""
        if len(names) == len(self.calls):
            return self.captured
        inputs = [place for name in names for place in self._inputs[name]]
        outputs = [place for name in names for place in self._outputs[name]]
        return self.captured.part(_as_one([self.calls[name] for name in names]), inputs, outputs)

    @cached_property
    def _inputs(self) -> dict[str, range]:
        """The places of each one's inputs among those of all."""
        return _ranges(self.calls, [len(call.args) for call in self.calls.values()])

    @cached_property
    def _outputs(self) -> dict[str, range]:
        """The same of the leaves of its outputs."""
        spec = self.captured.exported().call_spec.out_spec
        assert spec is not None
        return _ranges(self.calls, [child.num_leaves for child in spec.children()])


def _ranges(names: Iterable[str], counts: Sequence[int]) -> dict[str, range]:
    """Numbers one after the other, so many for each of the names."""
    return {name: range(*ends) for name, ends in zip(names, pairwise(accumulate(counts, initial=0)), strict=True)}


def _as_one(calls: Sequence[Call]) -> Call:
    if len(calls) == 1:
        return calls[0]
    return Call(_Several(calls), tuple(tensor for call in calls for tensor in call.args))


class _Several(nn.Module):
    """Several modules, one after the other."""

    def __init__(self, calls: Sequence[Call]) -> None:
        super().__init__()
        self.parts = nn.ModuleList(call.module for call in calls)
        self.counts = [len(call.args) for call in calls]

    def forward(self, *tensors: torch.Tensor) -> Any:
        results: list[Any] = []
        for part, count in zip(self.parts, self.counts, strict=True):
            results.append(part(*tensors[:count]))
            tensors = tensors[count:]
        return results
