"""Code on the command line as a program: the tensors that it makes become inputs, the modules that it makes parameters.

`torch.relu(torch.randn(16, 64) @ w)` says what to compute and on what in one breath. The code is evaluated three ways:

- *recorded* under fake tensors, to find out what it makes; nothing is allocated;
- *replayed* inside `torch.export` with what it makes handed in, so that only the computation is left;
- *made* for real with a seed, as far as the last thing that it makes, for the values of the inputs.

What counts as made are calls that are written in the code itself, outside `class` bodies, so what a module does in
its `forward` is always part of the program:

- an input: `rand`, `randn`, `randint`, `normal`, … (`RANDOM`), `empty` … (`EMPTY`), `zeros`, `ones`, `full` (`FILLED`);
- a parameter: `nn.Parameter(…)`, and all those of a module that is constructed;
- how they are initialised: `nn.init.…`, `x.uniform_()`, `m.half()`, `m.eval()`.

The last are so only while the tensor has not been used, since the program sees it initialised from the start.

All the rest is computed, and so are `arange`, `linspace`, `eye` and `zeros_like`, whose values mean something, and
`torch.tensor(…)`, which is a constant. Either way the result is that of plain PyTorch on the same values.
"""

from __future__ import annotations

import ast
import linecache
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from .argument_names import unique_identifiers
from .errors import CaptureError
from .source_locations import COMMAND
from .torch_internals import module_calls, shares_memory

RANDOM = "bernoulli multinomial normal poisson rand rand_like randint randint_like randn randn_like randperm".split()
EMPTY = "empty empty_like empty_permuted empty_strided".split()
FILLED = "full ones zeros".split()

_FACTORIES = frozenset(getattr(torch, name) for name in (*RANDOM, *EMPTY, *FILLED))
_EMPTY = frozenset(getattr(torch, name) for name in EMPTY)

_INITIALISERS = frozenset(
    "bernoulli_ cauchy_ exponential_ fill_ geometric_ log_normal_ normal_ random_ uniform_ zero_ requires_grad_".split()
)

_FRAME_DEPENDENT = frozenset("dir eval exec globals locals super vars".split())
"""Builtins that look at their caller's frame, so that nothing may stand between."""

_CALL = "__uop_call__"
_ANONYMOUS = "xyzw"


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


class _Finished(BaseException):
    """Everything that the code makes has been made. No `Exception`, so that no `except` of the user's takes it."""


@dataclass
class Code:
    """Parsed code: statements, and the expression at its end that gives the result.

    names: by the number of a call in the text, the variable or keyword that its result goes to
    """

    statements: CodeType
    imports: CodeType
    result: CodeType
    names: Mapping[int, str]

    @staticmethod
    def parse(text: str) -> Code:
        """Raises `CaptureError` for a syntax error, and for code that does not end in an expression."""
        linecache.cache[COMMAND] = (len(text), None, text.splitlines(keepends=True), COMMAND)
        try:
            tree = ast.parse(text, COMMAND)
        except SyntaxError as error:
            raise CaptureError(
                f"SyntaxError: {error.msg}", COMMAND, error.lineno, error.offset, error.end_offset
            ) from None
        if not tree.body:
            raise CaptureError("there is no code: give an expression such as torch.relu(torch.randn(4))")
        last = tree.body.pop()
        if not isinstance(last, ast.Expr):
            message = "the last line gives no value: end with an expression, whose value is the result"
            raise CaptureError(message, COMMAND, last.lineno, last.col_offset + 1)
        imports: list[ast.stmt] = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        calls = _CallWrapper()
        body = ast.Module([calls.visit(statement) for statement in tree.body], [])
        result = ast.Expression(calls.visit(last).value)
        return Code(
            compile(ast.fix_missing_locations(body), COMMAND, "exec"),
            compile(ast.Module(imports, []), COMMAND, "exec"),
            compile(ast.fix_missing_locations(result), COMMAND, "eval"),
            calls.names,
        )

    def run_imports(self) -> None:
        """Import the modules that the code imports at its top level."""
        exec(self.imports, {})

    def evaluate(self, call: Callable[..., Any]) -> Any:
        """The value of the code with `call(site, function, *args, **kwargs)` in the place of its calls."""
        scope = {"torch": torch, "nn": nn, "F": nn.functional, "math": math, "__name__": COMMAND, _CALL: call}
        exec(self.statements, scope)
        return eval(self.result, scope)


class _CallWrapper(ast.NodeTransformer):
    """Replace `f(x)` by `__uop_call__(site, f, x)`, outside class bodies; sites are numbered from 0."""

    def __init__(self) -> None:
        self.sites = 0
        self.names: dict[int, str] = {}
        self._name_of: dict[ast.expr, str] = {}

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        for target in node.targets:
            self._name(target, node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            self._name(node.target, node.value)
        return self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.AST:
        self._name(node.target, node.value)
        return self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        if node.arg is not None:
            self._name_of[node.value] = node.arg
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id in _FRAME_DEPENDENT:
            return self.generic_visit(node)
        site = self.sites
        self.sites += 1
        if (name := self._name_of.get(node)) is not None:
            self.names[site] = name
            if isinstance(node.func, ast.Attribute):  # x = torch.empty(3).uniform_(): the name is for both calls
                self._name_of[node.func.value] = name
        self.generic_visit(node)
        wrapper = ast.copy_location(ast.Name(_CALL, ast.Load()), node.func)
        number = ast.copy_location(ast.Constant(site), node.func)
        return ast.copy_location(ast.Call(wrapper, [number, node.func, *node.args], node.keywords), node)

    def _name(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Name(id=name), ast.expr():
                self._name_of[value] = name
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), (ast.Tuple(elts=values) | ast.List(elts=values))):
                for inner_target, inner_value in zip(targets, values, strict=False):
                    self._name(inner_target, inner_value)
            case _:
                pass


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
        parts = [part for made in self.made.values() for part in _parts(made.value)]
        same = [part for part in parts if isinstance(part, torch.Tensor) and shares_memory(part, tensor)]
        return bool(same) and not any(id(part) in self._used for part in same)

    def _kind_of_module(
        self, function: Callable[..., Any], module: nn.Module, used_before: dict[int, object]
    ) -> Kind | None:
        """What a call that gives a module makes: a new one, or the same one with changes."""
        if getattr(function, "__self__", None) is module:
            if any(id(part) in used_before for part in _parts(module)):
                name = getattr(function, "__name__", "a method")
                raise ValueError(f"{name}() changes a module that has been called; change it before it is used")
            self._used = used_before
            return Kind.PREPARATION
        parts = [part for made in self.made.values() for part in _parts(made.value)]
        return None if any(part is module for part in parts) else Kind.MODULE


def _parts(value: object) -> list[object]:
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


@dataclass
class Maker:
    """Evaluates calls as they are and keeps what those that make something give; stops after the last of them."""

    wanted: frozenset[int]
    values: dict[int, Any] = field(default_factory=dict[int, Any])
    _calls: int = 0
    _inside: bool = False

    def call(self, site: int, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if self._inside:
            return function(*args, **kwargs)
        number = self._calls
        self._calls += 1
        if number not in self.wanted:
            return function(*args, **kwargs)
        self._inside = True
        try:
            value = function(*args, **kwargs)
        finally:
            self._inside = False
        if function in _EMPTY:
            _fill(value, number)
        self.values[number] = value
        if len(self.values) == len(self.wanted):
            raise _Finished
        return value


def _fill(tensor: torch.Tensor, number: int) -> None:
    """Values for a tensor that the code leaves uninitialised: normally distributed, integers and bools 0.

    They come from a generator of their own, so that the code's own random numbers stay what they are.
    """
    generator = torch.Generator(tensor.device).manual_seed(torch.initial_seed() + number)
    if tensor.is_floating_point():
        tensor.normal_(generator=generator)
    else:
        tensor.zero_()


class Expression(nn.Module):
    """Code as a module: what it makes are its inputs, by name, and its submodules and parameters.

    values: what the calls of `made` gave, by number: as recorded, or made anew
    """

    def __init__(self, code: Code, made: Mapping[int, Made], values: Mapping[int, Any]) -> None:
        super().__init__()
        self._code = code
        self._values = dict(values)
        names = input_names(made)
        self.inputs = {name: values[number] for number, name in names.items()}
        """The tensors that the code makes, by name."""
        by_tensor = {id(values[number]): name for number, name in names.items()}
        self._inputs = {n: by_tensor[id(value)] for n, value in values.items() if id(value) in by_tensor}
        self._own_parameters: dict[int, str] = {}
        for name, number in _roots(made, values):
            value = values[number]
            if isinstance(value, nn.Module):
                self.add_module(name, value)
            else:
                self.register_parameter(name, value)
                self._own_parameters[number] = name

    def forward(self, **inputs: torch.Tensor) -> Any:
        values = (
            self._values
            | {number: inputs[name] for number, name in self._inputs.items()}
            # `torch.export` and `functional_call` put other tensors in the place of parameters.
            | {number: getattr(self, name) for number, name in self._own_parameters.items()}
        )
        return self._code.evaluate(Replayer(values).call)


def input_names(made: Mapping[int, Made]) -> dict[int, str]:
    """A name for each input by its call's number: its variable's, else the next of x, y, z, w, x4, x5, …"""
    inputs = {number: each.name for number, each in made.items() if each.kind is Kind.INPUT}
    taken = {each.name for each in made.values()}
    free = (
        name for name in (*_ANONYMOUS, *(f"x{n}" for n in range(4, 4 + len(inputs) + len(taken)))) if name not in taken
    )
    names = [name if name is not None else next(free) for name in inputs.values()]
    return dict(zip(inputs, unique_identifiers(names), strict=True))


def _roots(made: Mapping[int, Made], values: Mapping[int, Any]) -> list[tuple[str, int]]:
    """Numbers of the modules and parameters that are in no other module, by the name of their variable or class."""
    kept = [number for number, each in made.items() if each.kind in (Kind.MODULE, Kind.PARAMETER)]
    inner = {id(part) for number in kept for part in _parts(values[number]) if part is not values[number]}
    roots = [number for number in kept if id(values[number]) not in inner]
    names = unique_identifiers([made[number].name or type(values[number]).__name__.lower() for number in roots])
    taken = [*dir(nn.Module()), "inputs"]  # a submodule may not have the name of an attribute
    names = [f"{name}_module" if name in taken else name for name in names]
    return list(zip(names, roots, strict=True))


def make_values(code: Code, made: Mapping[int, Made]) -> dict[int, Any]:
    """Really make what the code makes, with PyTorch's current random state: the values by number."""
    maker = Maker(frozenset(made))
    if made:
        try:
            code.evaluate(maker.call)
        except _Finished:
            pass
    return maker.values
