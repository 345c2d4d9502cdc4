# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# (torch.testing has few types)
"""Suite `opinfo`: PyTorch's own tests of its operations (`torch.testing`), each sample of inputs a program.

Operations that draw random numbers are told by PyTorch's tag `nondeterministic_seeded`, those that give memory that
nobody wrote by `OpInfo.has_nondeterministic_output`: they are run, and not judged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_utils import set_rng_seed
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import TreeSpec, tree_flatten, tree_unflatten

from ...frontends.captured import Call, Captured
from ...frontends.exporting import quiet_export
from ...frontends.torch_internals import random_state
from .levels import Judge, Tensors, check_program
from .outcomes import Batch, Outcome, Verdict, cases_of
from .together import check_together

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "bool": torch.bool,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
}
"""uop's names of PyTorch's dtypes."""

ERRORS = "errors"
"""In the place of a dtype: inputs that the operation must refuse."""


@dataclass(frozen=True)
class OpCase:
    """A sample of an operation: its number among those of a dtype, or of `ERRORS`."""

    op: str
    dtype: str
    number: int

    def __str__(self) -> str:
        return f"{self.op} {self.dtype} #{self.number}"


@dataclass(frozen=True)
class OpInfoSuite:
    """The samples of the operations of PyTorch's `op_db` that have the dtypes.

    dtypes:  keys of `DTYPES`, and `ERRORS`
    samples: the greatest number of samples of each operation and dtype; None: all
    match:   part of the operation's name
    limit:   the greatest number of operations
    """

    levels: Sequence[str]
    dtypes: Sequence[str] = ("f32",)
    samples: int | None = 1
    match: str = ""
    limit: int | None = None
    title: str = "PyTorch's operations"

    def cases(self) -> list[OpCase]:
        names = [name for name in _operations() if self.match in name][: self.limit]
        return [
            OpCase(name, dtype, number)
            for name in names
            for dtype in self.dtypes
            for number in _spread(len(_samples(name, dtype, self.samples != 1)), self.samples)
        ]

    def batches(self, size: int) -> list[Batch[OpCase]]:
        """The cases, at most so many of one operation and dtype together."""
        groups: dict[tuple[str, str], list[OpCase]] = {}
        for case in self.cases():
            groups.setdefault((case.op, case.dtype), []).append(case)
        return [
            Batch(tuple(group[first : first + size]))
            for group in groups.values()
            for first in range(0, len(group), size)
        ]

    def check(self, case: OpCase | Batch[OpCase]) -> Iterator[Outcome]:
        judged: dict[str, Call] = {}
        error = 0.0
        for each in cases_of(case):
            info = _operations()[each.op]
            sample = sample_of(each, every=self.samples != 1)
            if each.dtype == ERRORS:
                yield from _check_refused(info, sample, str(each), self.levels)
                continue
            call = sample_call(_determined(info), sample)
            try:
                is_random = _draws_random_numbers(call)
            except Exception as failure:
                reason = f"eager PyTorch does not take it: {type(failure).__name__}"
                yield from _unspecified(str(each), self.levels, reason)
                continue
            if info.has_nondeterministic_output:
                reason = "PyTorch marks its result as not determined"
            elif info.name in _POLES_AT_INTEGERS and not DTYPES[each.dtype].is_floating_point:
                reason = "PyTorch gives great numbers for the poles at negative integers, as it rounds π"
            elif is_random:
                reason = "it draws random numbers"
            else:
                judged[str(each)] = call
                error = _FLOAT64_ERROR.get(info.name, 0.0)
                continue
            yield from _check_unspecified(_captured(call, str(each)), str(each), self.levels, reason)
        if judged:
            yield from check_together(judged, self.levels, error)


class _Sample(nn.Module):
    """An operation called with a sample, whose tensors are the arguments."""

    def __init__(self, function: Callable[..., Any], leaves: Sequence[Any], spec: TreeSpec) -> None:
        super().__init__()
        self.function = function
        self.leaves = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        self.places = [place for place, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        self.spec = spec

    def forward(self, *tensors: torch.Tensor) -> Any:
        leaves = list(self.leaves)
        for place, tensor in zip(self.places, tensors, strict=True):
            leaves[place] = tensor
        args, kwargs = tree_unflatten(leaves, self.spec)
        return self.function(*args, **kwargs)


def sample_call(function: Callable[..., Any], sample: SampleInput) -> Call:
    """The operation as a module, and the tensors of the sample that it is called with."""
    leaves, spec = tree_flatten(((sample.input, *sample.args), dict(sample.kwargs)))
    tensors = tuple(leaf.detach() for leaf in leaves if isinstance(leaf, torch.Tensor))
    return Call(_Sample(function, leaves, spec), tensors)


def sample_of(case: OpCase, *, every: bool = True) -> SampleInput:
    """every: whether it is looked for among all, or is the first"""
    return _samples(case.op, case.dtype, every)[case.number]


def _captured(call: Call, name: str) -> Captured:
    return Captured(call, lambda: call, name)


_TRIGAMMA_ERROR = 1e-9
"""PyTorch ends the series of the trigamma function after three terms, in float64 too (`trigamma` in Math.h)."""

_BESSEL_ERROR = 3e-6
"""J and Y come of rational approximations that are off by up to 6 · 10⁻⁷ around 5, where they may be small."""

_FLOAT64_ERROR = {
    "polygamma": _TRIGAMMA_ERROR,
    "special.polygamma": _TRIGAMMA_ERROR,
    **{f"special.bessel_{name}": _BESSEL_ERROR for name in ("j0", "j1", "y0", "y1")},
}
"""What operations are off by in PyTorch's float64, beside more digits, relative to the greatest element."""

_POLES_AT_INTEGERS = ("polygamma", "special.polygamma")

_DIM_OF_PLACES = {"kthvalue": 1, "median": 0, "mode": 0, "nanmedian": 0, "sort": 0, "topk": 1}
"""Operations that give elements and their places along a dimension, and where the dimension is among their arguments
after the input. Of equal elements they may give the place of any."""


def _determined(info: OpInfo) -> Callable[..., Any]:
    """The operation; where it gives places that are not determined, with the elements that are there in their stead."""
    if info.name not in _DIM_OF_PLACES:
        return info.op

    def call(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        result = info.op(x, *args, **kwargs)
        if isinstance(result, torch.Tensor):  # the median of all elements
            return result
        elements, places = result
        dim = kwargs.get("dim", dict(enumerate(args)).get(_DIM_OF_PLACES[info.name], -1))
        if places.ndim < x.ndim:
            return elements, x.gather(dim, places.unsqueeze(dim)).squeeze(dim)
        return elements, x.gather(dim, places)

    return call


@functools.cache
def _operations() -> dict[str, OpInfo]:
    """By name and variant, `add` or `div.floor_rounding`."""
    return {".".join(filter(None, (info.name, info.variant_test_name))): info for info in op_db}


@functools.lru_cache(maxsize=4)
def _samples(name: str, dtype: str, every: bool) -> Sequence[SampleInput]:
    """The same for the same arguments; none where the operation has not the dtype."""
    info = _operations()[name]
    with random_state(0), quiet_export():
        set_rng_seed(0)  # of `random` and numpy too
        if dtype == ERRORS:
            # None where there are none, whatever its annotation says.
            has_errors = info.error_inputs_func is not None  # pyright: ignore[reportUnnecessaryComparison]
            return [error.sample_input for error in info.error_inputs("cpu")] if has_errors else []
        if DTYPES[dtype] not in info.dtypes:
            return []
        # Its function, since an iterator of `info.sample_inputs` cannot be closed.
        samples = iter(info.sample_inputs_func(info, "cpu", DTYPES[dtype], False))
        if every:
            return list(samples)
        first = next(samples)
        if isinstance(samples, Generator):
            samples.close()  # it would end whenever it is collected, in the middle of an export too
        return [first]


def _spread(count: int, most: int | None) -> Sequence[int]:
    """At most `most` of the numbers below `count`: the first, the last, and some between."""
    if most is None or count <= most:
        return range(count)
    return [place * (count - 1) // max(1, most - 1) for place in range(most)]


def _unspecified(case: str, levels: Sequence[str], reason: str) -> Iterator[Outcome]:
    """The outcomes of a case that cannot be judged."""
    yield from (Outcome(case, level, Verdict.UNSPECIFIED, (reason,)) for level in levels)


def _eager(call: Call) -> Any:
    """What eager PyTorch gives for copies of the inputs."""
    with torch.no_grad(), quiet_export():
        return call.module(*(tensor.clone() for tensor in call.args))


class _SeededCalls(TorchDispatchMode):
    """Sees whether an operation is called that PyTorch tags as one that draws random numbers."""

    found = False

    def __torch_dispatch__(
        self, func: Any, types: object, args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        self.found |= torch.Tag.nondeterministic_seeded in func.tags
        return func(*args, **(kwargs or {}))


def _draws_random_numbers(call: Call) -> bool:
    # The random state does not tell: OpInfo's functions set the seed, and put the state back.
    with _SeededCalls() as calls:
        _eager(call)
    return calls.found


def _check_unspecified(captured: Captured, case: str, levels: Sequence[str], reason: str) -> Iterator[Outcome]:
    """Run a program whose result may be anything: what comes of it when there is no telling that it is wrong."""
    for outcome in check_program(captured, case, levels, lambda inputs: lambda outputs: None):
        if outcome.verdict is Verdict.RIGHT:
            outcome = replace(outcome, verdict=Verdict.UNSPECIFIED, reasons=(reason,))
        yield outcome


def _check_refused(info: OpInfo, sample: SampleInput, case: str, levels: Sequence[str]) -> Iterator[Outcome]:
    """What eager PyTorch refuses must end in an error at each level, whichever step finds it."""
    try:
        _eager(sample_call(info.op, sample))
    except Exception as error:
        numbers = f"gives numbers where PyTorch raises {type(error).__name__}"
    else:
        yield from _unspecified(case, levels, "eager PyTorch takes it")
        return

    def make_judge(inputs: Tensors) -> Judge:
        return lambda outputs: numbers

    for outcome in check_program(_captured(sample_call(info.op, sample), case), case, levels, make_judge):
        is_right = outcome.verdict in (Verdict.REFUSED, Verdict.NOT_EXPORTED, Verdict.WRONG)
        yield replace(outcome, verdict=Verdict.RIGHT) if is_right and outcome.reasons != (numbers,) else outcome
