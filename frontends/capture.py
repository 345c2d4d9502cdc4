"""Programs from where users keep them: code on the command line, and functions in files."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode
from torch.utils._pytree import tree_leaves, tree_map_only

from .captured import Call, Captured
from .command_code import Code
from .errors import CaptureError
from .exporting import quiet_export
from .expression import Expression
from .fake_tensors import fake_tensors
from .recording import Recorder, make_values
from .source_locations import COMMAND, shown_path
from .torch_internals import is_dimension, random_state
from .user_errors import user_errors

DEFAULT_FUNCTION = "make"


def capture_expression(text: str) -> Captured:
    """Capture code whose last line is an expression, with `torch`, `nn`, `F` and `math` in scope.

    The tensors that it makes become inputs and the modules that it makes parameters; see `expression`. Nothing is
    allocated. Raises `CaptureError` for code that cannot be run, and for a result without tensors.
    """
    code = Code.parse(text)
    recorder = Recorder(code)
    with importing_from(Path.cwd()), quiet_export(), user_errors():
        code.run_imports()  # before there are fake tensors, which an imported module would keep
        with fake_tensors() as mode:
            _check_result(recorder.record())
    made = recorder.made

    def make() -> Call:
        with importing_from(Path.cwd()):
            expression = Expression(code, made, make_values(code, made, mode))
        return Call(expression, (), expression.inputs)

    expression = Expression(code, made, {number: each.value for number, each in made.items()})
    return Captured(Call(expression, (), expression.inputs), make, COMMAND)


def _check_result(value: Any) -> None:
    if isinstance(value, nn.Module):
        raise CaptureError(f"the code gives a module, {type(value).__name__}: call it on an input")
    if not any(isinstance(leaf, torch.Tensor) for leaf in tree_leaves(value)):
        raise CaptureError(
            f"the code gives a value of type {type(value).__name__}; "
            "a tensor, or a tuple, list or dict of tensors is needed"
        )


def capture_file(source: str) -> Captured:
    """Capture what a function in a file gives: `model.py:make`, or `model.py` when it is called `make`.

    The function takes no arguments and gives a module (or a function of tensors) and its inputs: a tensor, a tuple or
    list of positional arguments, or a dict of keyword arguments; and behind them, where sizes may differ from call to
    call, which, as `torch.export.export` takes its `dynamic_shapes`. It is called under fake tensors, so nothing is
    allocated; should it need real ones (it looks at data), it is called again without.
    Raises `CaptureError`, with the user's lines, when there is no such function or it fails.
    """
    path, function = _split_source(source)
    source_name = f"{shown_path(str(path))}:{function}"

    def call() -> Call:
        with importing_from(path.parent):
            return _as_call(_load_function(path, function)(), source_name)

    with quiet_export(), user_errors(), importing_from(path.parent):
        make = _load_function(path, function)
        try:
            with fake_tensors() as mode:
                fake = _as_call(make(), source_name)
                fake = replace(fake, **_with_fake_tensors({"args": fake.args, "kwargs": fake.kwargs}, mode))
        except CaptureError:
            raise
        except Exception:
            fake = call()
    return Captured(fake, call, source_name)


def capture_function(function: Callable[..., Any], make_inputs: Callable[[], Sequence[Any]], name: str) -> Captured:
    """Capture a function of what `make_inputs` gives, anew with each call; `name` stands for it in messages."""

    def call() -> Call:
        return _as_call((function, tuple(make_inputs())), name)

    return Captured(call(), call, name)


def _with_fake_tensors(inputs: Any, mode: FakeTensorMode) -> Any:
    """`inputs` with fake tensors for the real ones among them."""
    return tree_map_only(torch.Tensor, lambda x: x if isinstance(x, FakeTensor) else mode.from_tensor(x), inputs)


def _split_source(source: str) -> tuple[Path, str]:
    path, separator, function = source.rpartition(":")
    if not separator:
        path, function = source, DEFAULT_FUNCTION
    if not Path(path).is_file():
        raise CaptureError(f"there is no file {path}")
    return Path(path).resolve(), function


@contextmanager
def importing_from(folder: Path) -> Generator[None]:
    """Let the user's code import what lies in `folder`, as `python` does."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _load_function(path: Path, name: str) -> Callable[[], Any]:
    """The function `name` of the file, which is run anew: what an earlier run kept may be fake tensors."""
    module_name = f"uop_program_{path.stem}"
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise CaptureError(f"{shown_path(str(path))} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module  # where dataclasses and pickle look for a class's module
    with random_state(0):  # each run makes the same tensors, which a function may use as constants
        spec.loader.exec_module(module)
    function = getattr(module, name, None)
    if not callable(function):
        functions = ", ".join(_functions(module)) or "none"
        raise CaptureError(f"{shown_path(str(path))} has no function {name} (it has: {functions})")
    return function


def _functions(module: ModuleType) -> list[str]:
    """Names of the functions of the file that can be called without arguments."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and all(parameter.default is not parameter.empty for parameter in inspect.signature(value).parameters.values())
    ]


class _Function(nn.Module):
    """A plain function as a module."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.forward = function


def _as_call(made: Any, source_name: str) -> Call:
    """What the user's function gave as a call. Raises `CaptureError` for what is none."""
    kwargs: Any = {}
    dynamic_shapes: Any = None
    match made:
        case (module, args, kwargs, dynamic_shapes) if isinstance(kwargs, dict):
            pass
        case (module, args, shapes) if _names_dimensions(shapes):
            dynamic_shapes = shapes
        case (module, args, kwargs) if isinstance(kwargs, dict):
            pass
        case (module, args):
            pass
        case _:
            raise CaptureError(
                f"what {source_name} gives is of type {type(made).__name__}; a module and its inputs are needed: "
                "`return model, (x, y)`"
            )
    if isinstance(args, dict) and not kwargs:
        args, kwargs = (), cast("dict[str, Any]", args)
    if not isinstance(module, nn.Module):
        if not callable(module):
            raise CaptureError(f"the module that {source_name} gives is of type {type(module).__name__}")
        module = _Function(module)
    positional = tuple(cast("Sequence[Any]", args)) if isinstance(args, tuple | list) else (cast("Any", args),)
    return Call(module, positional, cast("Mapping[str, Any]", kwargs), dynamic_shapes)


def _names_dimensions(value: object) -> bool:
    """Whether this is what `torch.export.export` takes for `dynamic_shapes`, and not keyword arguments."""
    return any(is_dimension(leaf) for leaf in tree_leaves(value))
