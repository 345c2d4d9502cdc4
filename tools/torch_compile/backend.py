"""`torch.compile(model, backend="uop")`: PyTorch finds `uop` by the entry point `torch_dynamo_backends`.

TorchDynamo hands over a graph of the user's code, AOTAutograd makes functional graphs of it, a forward and where
gradients are asked for a backward one, and each of these goes through the passes as one program. What uop cannot
compile stays with PyTorch, and one warning lists it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from ...frontends.aot_graphs import BACKWARD, FORWARD, find_refused, import_graph, problem_of
from ...frontends.aot_tracing import Signature, is_symbolic, recompile_limit, signature, trace, unbounded_sizes
from ...frontends.dynamic_shapes import SpecializationWarning
from ...frontends.errors import FrontendError, Problem, UnsupportedProgramError
from ...frontends.graph_segments import Run, Segment, SegmentedGraph, split
from ...frontends.source_locations import users_line
from ...frontends.torch_internals import node_outputs, without_fake_tensors
from ...passes.torch.convert_torch_to_uop import CannotLower
from ...rewriting.diagnostics import PassError
from ...rewriting.locations import source_lines
from ...runtime.devices import DEVICES
from ..compilation import CompilerCrash
from ..faults.interpret_each import WrongResultError
from .options import OptionError, Options
from .programs import load


class UopWarning(UserWarning):
    """What `torch.compile(backend="uop")` leaves to eager PyTorch."""


class NotCompiledError(FrontendError):
    """With `fullgraph_strict`: what would be left to eager PyTorch. problems: all of it, in program order"""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(f"options={{'fullgraph_strict': True}}, but uop cannot compile\n{_listing(problems)}")


def uop(
    module: fx.GraphModule,
    inputs: Sequence[Any],
    *,
    options: Mapping[str, Any] | None = None,
    mode: str | None = None,
) -> Callable[..., Any]:
    """The backend, as TorchDynamo calls it. options: see `Options`; mode: there are none

    Raises `OptionError`; `NotCompiledError` under `fullgraph_strict`; `WrongResultError` under `check`.
    """
    if mode is not None:
        raise OptionError(f"uop has no modes ({mode!r}): leave `mode` out, and see `options`")
    settings = Options.of(options or {})
    if any(map(is_symbolic, inputs)):
        return _compile_symbolic(module, inputs, settings)
    return _compile(module, inputs, settings)


def _compile_symbolic(module: fx.GraphModule, inputs: Sequence[Any], options: Options) -> Callable[..., Any]:
    """One program for all sizes where they have upper bounds and uop can compile the graph for them, else one for each
    combination, and a warning that says why."""
    try:
        if torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in inputs):
            raise _NotForAllSizes("derivatives are compiled for fixed sizes: `with torch.no_grad():`")
        if endless := unbounded_sizes(inputs):
            raise _NotForAllSizes(
                f"{', '.join(endless)} has no upper bound: `torch._dynamo.mark_dynamic(x, dim, min=1, max=4096)`"
            )
        return _compile(module, inputs, options, symbolic=True)
    except _NotForAllSizes as error:
        message = f"uop: sizes are specialised, each combination is compiled by itself: {error}"
        if message not in _said:
            _said.add(message)
            warnings.warn(message, SpecializationWarning, stacklevel=2)
        return _Specialized(module, options)


class _NotForAllSizes(Exception):
    """Why a graph with symbolic sizes does not become one program."""


_said: set[str] = set()
"""What warnings have said of specialised sizes since TorchDynamo was last reset."""

_told: set[Problem] = set()
"""What warnings have listed since TorchDynamo was last reset."""


def _reset() -> None:
    _told.clear()
    _said.clear()


uop.reset = _reset  # pyright: ignore[reportFunctionMemberAccess]  # PyTorch looks for it there


def _compile(
    module: fx.GraphModule, inputs: Sequence[Any], options: Options, symbolic: bool = False
) -> Callable[..., Any]:
    """symbolic: for all sizes, or not at all. Raises `_NotForAllSizes`."""
    compiler = _GraphCompiler(options, symbolic)
    compiler.graph_break(module)
    elsewhere = _elsewhere(inputs, options)
    if elsewhere:
        compiler.problems.append(_misplaced("", elsewhere, options))
    compiled = module if elsewhere else trace(module, inputs, compiler.forward, compiler.backward)
    compiler.tell()
    return compiled


def _elsewhere(inputs: Iterable[object], options: Options) -> list[str]:
    """Where tensors lie that the device does not take. Those of no dimensions may lie on the CPU, as in PyTorch."""
    tensors = [value for value in inputs if isinstance(value, torch.Tensor)]
    memory = DEVICES[options.device].memory
    found = [each.device for each in tensors if each.device.type not in (memory, *(("cpu",) if not each.dim() else ()))]
    return sorted(set(map(str, found)))


def _misplaced(location: str, places: Sequence[str], options: Options) -> Problem:
    memory = DEVICES[options.device].memory
    types = {place.partition(":")[0] for place in places}
    fitting = ", ".join(repr(name) for name, device in DEVICES.items() if types == {device.memory})
    advice = f", or choose device {fitting}" if fitting else ""
    reason = f"device {options.device!r} takes tensors on {memory}: move the model there, `.to({memory!r})`{advice}"
    return Problem(location, f"tensors on {', '.join(places)}", reason)


class _GraphCompiler:
    """Compiles what AOTAutograd makes of one graph. problems: what is left to PyTorch and was not told yet"""

    def __init__(self, options: Options, symbolic: bool = False) -> None:
        self.options = options
        self.symbolic = symbolic
        self.problems: list[Problem] = []
        self._traced = False

    def graph_break(self, module: fx.GraphModule) -> None:
        """Note the break at which the graph ends, if it does."""
        reason = getattr(module, "compile_subgraph_reason", None)
        if reason is not None and reason.graph_break:
            line = users_line(reason.user_stack)
            what = str(reason.reason).strip().split("\n", 1)[0]
            advice = "; the code there runs in Python, and a new graph begins behind it"
            self.problems.append(Problem(line, "graph break", f"{what}{advice}"))

    def tell(self) -> None:
        """One warning for all that is left to PyTorch and no warning has listed, or an error where the user asks."""
        problems = list(dict.fromkeys(self.problems))
        self.problems.clear()
        self._traced = True
        if problems and self.options.fullgraph_strict:
            raise NotCompiledError(problems)
        problems = [problem for problem in problems if problem not in _told]
        _told.update(problems)
        if not problems:
            return
        warnings.warn(
            f"uop: left to eager PyTorch (an error with options={{'fullgraph_strict': True}}):\n{_listing(problems)}",
            UopWarning,
            stacklevel=2,
        )

    def forward(self, module: fx.GraphModule) -> Run:
        return self._graph(module, FORWARD)

    def backward(self, module: fx.GraphModule) -> Run:
        run = self._graph(module, BACKWARD)
        if self._traced:  # PyTorch may compile it when it is first called
            self.tell()
        return run

    def _graph(self, module: fx.GraphModule, name: str) -> Run:
        try:
            return self._program(module, name)
        except WrongResultError:
            raise
        except (UnsupportedProgramError, PassError, CompilerCrash) as error:
            if self.symbolic:
                raise _NotForAllSizes("; ".join(map(str, _problems_of(error)))) from error
            if not isinstance(error, UnsupportedProgramError | CannotLower):
                self.problems += _problems_of(error)
                return _eager(module)
            refused = find_refused(module)
            self.problems += [problem for problem in refused.values() if problem is not None] or _problems_of(error)
        return SegmentedGraph(module, [(part, self._segment(part, name)) for part in split(module, refused)])

    def _segment(self, segment: Segment, name: str) -> Run:
        module = segment.module
        if not segment.compiled:
            return _eager(module)
        try:
            return self._program(module, name)
        except WrongResultError:
            raise
        except (UnsupportedProgramError, PassError, CompilerCrash) as error:
            self.problems += _problems_of(error)
            return _eager(module)

    def _program(self, module: fx.GraphModule, name: str) -> Run:
        """The graph as one program. Raises what the front end and the passes raise."""
        graph = import_graph(module, name)
        if not graph.computes:
            return _eager(module)
        memory = DEVICES[self.options.device].memory
        if elsewhere := {str(value.device) for value in _results(module) if value.device.type != memory}:
            raise UnsupportedProgramError([_misplaced("", sorted(elsewhere), self.options)])
        with without_fake_tensors():  # PyTorch compiles under them, and `check` computes
            execute = load(graph, self.options)
        return lambda inputs: graph.call(execute, inputs)


class _Specialized:
    """A graph with symbolic sizes of which each combination has a program of its own.

    As many as TorchDynamo compiles of one function at most; further ones stay with PyTorch.
    """

    def __init__(self, module: fx.GraphModule, options: Options) -> None:
        self.module = module
        self.options = options
        self.compiled: dict[Signature, Callable[..., Any]] = {}

    def __call__(self, *inputs: Any) -> Any:
        sizes = signature(inputs)
        if sizes not in self.compiled:
            self.compiled[sizes] = self._compile(inputs)
        return self.compiled[sizes](*inputs)

    def _compile(self, inputs: Sequence[Any]) -> Callable[..., Any]:
        limit = recompile_limit()
        if len(self.compiled) < limit:
            return _compile(self.module, inputs, self.options)
        reason = f"{limit} combinations are compiled already; pad inputs, or raise torch._dynamo.config.recompile_limit"
        compiler = _GraphCompiler(self.options)
        compiler.problems.append(Problem("", "a graph with new sizes", reason))
        compiler.tell()
        return self.module


def _results(module: fx.GraphModule) -> list[torch.Tensor]:
    """What a graph gives, as PyTorch traced it."""
    (end,) = module.graph.find_nodes(op="output")
    values = (value for node in end.all_input_nodes for value in node_outputs(node))
    return [value for value in values if isinstance(value, torch.Tensor)]


def _eager(module: fx.GraphModule) -> Run:
    return lambda inputs: module(*inputs)


def _problems_of(error: Exception) -> list[Problem]:
    """What the front end or a pass has against a graph."""
    match error:
        case UnsupportedProgramError():
            return list(error.problems)
        case CannotLower():
            return [problem_of(refusal) for refusal in error.refusals]
        case PassError():
            lines = "" if error.op is None else ", ".join(source_lines(error.op.location))
            what = "the program" if error.op is None else error.op.name
            return [Problem(lines, what, str(error))]
        case _:
            return [Problem("", "the program", str(error))]


def _listing(problems: Sequence[Problem]) -> str:
    return "\n".join(f"  {problem}" for problem in problems)
