"""What code on the command line makes: found out, made for real, and handed in instead of made."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from .command_code import Code
from .errors import CaptureError
from .fake_tensors import fake_tensors
from .torch_internals import module_calls, shares_memory, without_fake_tensors

RANDOM = "bernoulli multinomial normal poisson rand rand_like randint randint_like randn randn_like randperm".split()
EMPTY = "empty empty_like empty_permuted empty_strided".split()
FILLED = "full ones zeros".split()

_FACTORIES = frozenset(getattr(torch, name) for name in (*RANDOM, *EMPTY, *FILLED))
_EMPTY = frozenset(getattr(torch, name) for name in EMPTY)

_INITIALISERS = frozenset(
    "bernoulli_ cauchy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_ zero_ requires_grad_".split()
)


class Kind(Enum):
    """What a call in the code is besides a computation."""

    INPUT = "makes an input"
    PARAMETER = "makes a parameter"
    MODULE = "makes a module"
    PREPARATION = "changes what was made before it is used"


@dataclass
class Made:
    """A call that makes something: which kind, what name the code gives it, and the value that it gave."""

    kind: Kind
    name: str | None
    value: Any


class Recorder(TorchFunctionMode):
    """Evaluates calls as they are and notes which make something, by their number in the order of evaluation.

    As a context it sees every use of a tensor, which tells initialising one from computing with it.
    """

    def __init__(self, code: Code) -> None:
        super().__init__()
        self.code = code
        self.made: dict[int, Made] = {}
        self._calls = 0
        self._inside = False
        self._used: dict[int, object] = {}  # tensors and modules by id; held, so that no other gets the id

    def record(self) -> Any:
        """The value of the code; afterwards `made` is complete."""
        with module_calls(self._use), self:
            return self.code.evaluate(self.call)

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        if getattr(func, "__name__", "") != "__get__":  # x.shape is no use of x
            for leaf in tree_leaves((args, kwargs)):
                if isinstance(leaf, torch.Tensor):
                    self._use(leaf)
        return func(*args, **(kwargs or {}))

    def _use(self, value: object) -> None:
        if not self._inside:
            self._used[id(value)] = value

    def call(self, site: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._inside:
            return function(*args, **kwargs)
        number = self._calls
        self._calls += 1
        kind = self._kind(function, args)
        used_before = dict(self._used)
        self._inside = kind is not None
        try:
            value = function(*args, **kwargs)
        finally:
            self._inside = False
        if kind is None and isinstance(value, nn.Module):
            kind = self._kind_of_module(function, value, used_before)
        if kind is Kind.PARAMETER:
            for earlier in self.made.values():
                if earlier.kind is Kind.INPUT and earlier.value is args[0]:
                    earlier.kind = Kind.PREPARATION
        if kind is not None:
            self.made[number] = Made(kind, self.code.names.get(site), value)
        return value

    def _kind(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Kind | None:
        """What a call makes, as far as it can be told before it; what happens inside it is not looked at then."""
        if isinstance(function, type):
            if issubclass(function, nn.Module):
                return Kind.MODULE
            return Kind.PARAMETER if function is nn.Parameter and args else None
        if function in _FACTORIES:
            return Kind.INPUT
        if function is torch.manual_seed:  # pyright: ignore[reportUnknownMemberType] # its parameter has no type
            return Kind.PREPARATION
        target = getattr(function, "__self__", None)
        initialises = function.__name__ in _INITIALISERS if isinstance(target, torch.Tensor) else False
        if args and getattr(function, "__module__", None) == "torch.nn.init":
            initialises, target = True, args[0]
        if initialises and isinstance(target, torch.Tensor) and self._is_unused(target):
            return Kind.PREPARATION
        return None

    def _is_unused(self, tensor: torch.Tensor) -> bool:
        """Whether the tensor is made and has not been computed with; `m.weight.data` is the tensor `m.weight`."""
        parts = [part for made in self.made.values() for part in parts_of(made.value)]
        same = [part for part in parts if isinstance(part, torch.Tensor) and shares_memory(part, tensor)]
        return bool(same) and not any(id(part) in self._used for part in same)

    def _kind_of_module(
        self, function: Callable[..., Any], module: nn.Module, used_before: dict[int, object]
    ) -> Kind | None:
        """What a call that gives a module makes: a new one, or the same one with changes."""
        if getattr(function, "__self__", None) is module:
            if any(id(part) in used_before for part in parts_of(module)):
                name = getattr(function, "__name__", "a method")
                raise ValueError(f"{name}() changes a module that has been called; change it before it is used")
            self._used = used_before
            return Kind.PREPARATION
        parts = [part for made in self.made.values() for part in parts_of(made.value)]
        return None if any(part is module for part in parts) else Kind.MODULE


def parts_of(value: object) -> list[object]:
    """What is made with `value`: a module's submodules, parameters and buffers."""
    if isinstance(value, nn.Module):
        return [*value.modules(), *value.parameters(), *value.buffers()]
    return [value]


@dataclass
class Replayer:
    """Evaluates calls as they are, but for those that make something: their value is given."""

    values: Mapping[int, Any]
    _calls: int = 0

    def call(self, site: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        number = self._calls
        self._calls += 1
        return self.values[number] if number in self.values else function(*args, **kwargs)


def make_values(code: Code, made: Mapping[int, Made], mode: FakeTensorMode) -> dict[int, Any]:
    """Really make what the code makes, with PyTorch's current random state: the values by number.

    mode: that under which `made` was recorded
    """
    state = torch.random.get_rng_state()
    try:
        with fake_tensors(mode):
            return Maker(made).make(code)
    except _NeedsDataError:
        torch.random.set_rng_state(state)
        return Maker(made, compute=True).make(code)


class _Finished(BaseException):
    """Everything that the code makes has been made. No `Exception`, so that no `except` of the user's takes it."""


class _NeedsDataError(BaseException):
    """Something is made of what the program computes: `nn.Parameter(torch.randn(3) * 0.02)`. No `Exception` either."""


class Maker:
    """Evaluates calls that make something for real and keeps what they give; stops after the last of them.

    compute: whether the other calls are evaluated for real as well. If not, the code goes on with the recorded fake
      values, so that it costs nothing and cannot change what has been made; if so, such a change is an error.
    """

    def __init__(self, made: Mapping[int, Made], compute: bool = False) -> None:
        self.made = made
        self.compute = compute
        self.values: dict[int, Any] = {}
        self._calls = 0
        self._inside = False
        self._versions: dict[int, int] = {}  # of the tensors made, by id: how often each has been changed

    def make(self, code: Code) -> dict[int, Any]:
        """The values by number. Raises `_NeedsDataError` for one that is made of what is not computed."""
        if self.made:
            try:
                code.evaluate(self.call)
            except _Finished:
                pass
        return self.values

    def call(self, site: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._inside:
            return function(*args, **kwargs)
        number = self._calls
        self._calls += 1
        if number not in self.made:
            return function(*args, **kwargs)
        self._check_unchanged()
        self._inside = True
        try:
            with contextlib.nullcontext() if self.compute else without_fake_tensors():
                if not self.compute:
                    function, args, kwargs = tree_map(self._real, (function, args, kwargs))
                value = function(*args, **kwargs)
                if function in _EMPTY:
                    _fill(value, number)
        finally:
            self._inside = False
        if any(isinstance(part, FakeTensor) for part in parts_of(value)):
            raise _NeedsDataError  # a module's constructor has used a tensor of the code
        self.values[number] = value
        self._versions |= {id(tensor): tensor._version for tensor in self._tensors()}
        if len(self.values) == len(self.made):
            raise _Finished
        return value if self.compute else self.made[number].value

    def _tensors(self) -> list[torch.Tensor]:
        parts = [part for value in self.values.values() for part in parts_of(value)]
        return [part for part in parts if isinstance(part, torch.Tensor)]

    def _check_unchanged(self) -> None:
        """Its value as an input of the program would not be that which the program has seen."""
        if any(tensor._version != self._versions.get(id(tensor), tensor._version) for tensor in self._tensors()):
            raise CaptureError("the code changes a tensor before it makes the last of its inputs: make them first")

    def _real(self, value: Any) -> Any:
        """The real tensor, module or method of one for a fake one; anything else as it is."""
        owner = getattr(value, "__self__", None)
        if isinstance(owner, torch.Tensor | nn.Module):
            return getattr(self._real(owner), value.__name__)
        if not isinstance(value, torch.Tensor | nn.Module):
            return value
        for number, real in self.values.items():
            for fake_part, real_part in zip(parts_of(self.made[number].value), parts_of(real), strict=False):
                if value is fake_part:
                    return real_part
        raise _NeedsDataError


def _fill(tensor: torch.Tensor, number: int) -> None:
    """Values for a tensor that the code leaves uninitialised: normally distributed, integers and bools 0.

    They come from a generator of their own, so that the code's own random numbers stay what they are.
    """
    generator = torch.Generator(tensor.device).manual_seed(torch.initial_seed() + number)
    if tensor.is_floating_point():
        tensor.normal_(generator=generator)
    else:
        tensor.zero_()
