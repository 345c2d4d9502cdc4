# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
"""What uop uses of PyTorch that is private or has no types: typed, and in one place to look at when PyTorch changes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache
from traceback import FrameSummary, StackSummary
from typing import Any

import torch
import torch.export
from torch import fx, nn
from torch._export.utils import _collect_all_valid_cia_ops, _special_op_to_preserve_cia
from torch._ops import OperatorBase, OpOverload
from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily
from torch.export.exported_program import _decompose_exported_program
from torch.export.graph_signature import ExportGraphSignature
from torch.fx.proxy import TracerBase
from torch.nn.modules.module import register_module_forward_pre_hook

PRODUCTS: Mapping[OpOverload[..., Any], tuple[int, int]] = {
    torch.ops.aten.mm.default: (0, 1),
    torch.ops.aten.bmm.default: (0, 1),
    torch.ops.aten.matmul.default: (0, 1),
    torch.ops.aten.linear.default: (0, 1),
    torch.ops.aten.addmm.default: (1, 2),
    torch.ops.aten.baddbmm.default: (1, 2),
    torch.ops.aten.addbmm.default: (1, 2),
}
"""Products of matrices that take part in PyTorch's setting for TF32, and which of their arguments are multiplied.

Attention may use TF32, too: uop computes it in f32 all the same. So are convolutions, which have a setting of their own
that allows TF32 unless it is forbidden.
"""

Conversion = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class SchemaArgument:
    """An argument of an operation's schema; `has_absent` is set for `Tensor?[]`, a list with None in it."""

    name: str
    has_default: bool
    default: Any
    has_absent: bool


def operator_overload(target: object) -> OpOverload[..., Any] | None:
    """`target`, which an FX node calls, if it is an operator of PyTorch or of a library that registers some."""
    return target if isinstance(target, OpOverload) else None


def ordered_overload(node: fx.Node) -> OpOverload[..., Any] | None:
    """The operator that `node` calls by way of `with_effects`, whose token keeps such calls in their order."""
    return operator_overload(node.args[1]) if node.target is torch.ops.higher_order.with_effects else None


def overload_name(overload: OpOverload[..., Any]) -> str:
    """As the torch dialect writes it: `relu`, `add.Tensor`; `library::name` for an operator that is not ATen's."""
    namespace, _, name = overload.name().partition("::")
    return name if namespace == "aten" else f"{namespace}::{name}"


def allows_tf32() -> bool:
    """Whether PyTorch may compute products of f32 on a GPU in TF32: `torch.set_float32_matmul_precision("high")`, or
    another of the names that this setting has."""
    matmul = torch.backends.cuda.matmul
    precision = getattr(matmul, "fp32_precision", None)  # not before PyTorch 2.9
    return bool(matmul.allow_tf32) if precision is None else precision == "tf32"


def in_tf32(value: torch.Tensor) -> torch.Tensor:
    """Numbers of f32 as tensor cores take them for TF32, as `uop.to_tf32` does: the last 13 bits are 0."""
    return (value.view(torch.int32) & -(1 << 13)).view(torch.float32)


def schema_arguments(overload: OpOverload[..., Any]) -> Iterator[SchemaArgument]:
    """The arguments of `overload`, in order."""
    for argument in overload._schema.arguments:
        is_list = isinstance(argument.type, torch.ListType)
        has_absent = is_list and isinstance(argument.type.getElementType(), torch.OptionalType)
        yield SchemaArgument(argument.name, argument.has_default_value(), argument.default_value, has_absent)


def call_arguments(node: fx.Node, overload: OpOverload[..., Any]) -> Mapping[str, Any]:
    """What `node` gives `overload`, by the names of the schema."""
    given = dict(zip((argument.name for argument in schema_arguments(overload)), node.args, strict=False))
    defaults = {argument.name: argument.default for argument in schema_arguments(overload) if argument.has_default}
    return {**defaults, **given, **node.kwargs}


def writes_memory(overload: OpOverload[..., Any]) -> bool:
    """Whether its schema says that it writes to an operand."""
    return overload._schema.is_mutable


def functional_overload(overload: OpOverload[..., Any]) -> OpOverload[..., Any] | None:
    """For one that writes what it gives to its first operand, the one that only gives it; None for others.

    Not for those that change the shape of their operand.
    """
    arguments = overload._schema.arguments
    written = [
        argument.name for argument in arguments if argument.alias_info is not None and argument.alias_info.is_write
    ]
    namespace, _, name = overload._schema.name.partition("::")
    if written != [arguments[0].name] or not name.endswith("_") or torch.Tag.inplace_view in overload.tags:
        return None
    packet = getattr(getattr(torch.ops, namespace), name[:-1], None)
    return getattr(packet, overload._overloadname, None)


def call_on_fake_tensors(overload: OpOverload[..., Any], node: fx.Node) -> Any:
    """What `overload` gives for the arguments of `node`, as fake tensors."""

    def value_of(source: fx.Node) -> Any:
        return source.meta["val"]

    args, kwargs = fx.node.map_arg((node.args, dict(node.kwargs)), value_of)
    (mode, *_) = [value.fake_mode for value in args if isinstance(value, FakeTensor)]
    with mode:
        return overload(*args, **kwargs)


def memory_of(tensor: torch.Tensor) -> int:
    """The memory of a tensor, real or fake, as a number that views of it have as well while it is held."""
    return tensor.untyped_storage()._cdata


def with_graph(
    exported: torch.export.ExportedProgram, graph: fx.Graph, signature: ExportGraphSignature
) -> torch.export.ExportedProgram:
    """`exported` with another graph, and what that is called with and gives."""
    return exported._update(fx.GraphModule(exported.graph_module, graph), signature)


def node_outputs(node: fx.Node) -> list[object]:
    """What `node` gives: the elements of a tuple or list, or its one value."""
    value: Any = node.meta.get("val")
    return list(value) if isinstance(value, tuple | list) else [value]


def input_sizes(graph: fx.Graph) -> Iterator[object]:
    """The extents of the graph's inputs, and those inputs that are numbers."""
    for node in graph.find_nodes(op="placeholder"):
        for value in node_outputs(node):
            yield from value.shape if isinstance(value, torch.Tensor) else (value,)


def fixed_size(size: int | torch.SymInt) -> int | None:
    """A size that is one number, although PyTorch may hold it as a symbolic one."""
    if isinstance(size, torch.SymInt):
        return int(size.node.expr) if size.node.expr.is_number else None
    return size


def is_dimension(value: object) -> bool:
    """Whether it is a `torch.export.Dim`, or one of its hints, such as `Dim.AUTO`."""
    return isinstance(value, torch.export.Dim | torch.export.dynamic_shapes._DimHint)


def size_ranges(exported: torch.export.ExportedProgram) -> Mapping[Any, Any]:
    """Symbol of sympy → its least and its greatest value."""
    return dict(exported.range_constraints)


def node_modules(node: fx.Node) -> Mapping[str, str]:
    """Qualified name and class name of the modules in whose `forward` the operation of `node` was called."""
    stack: Mapping[str, tuple[str, str | type]] = node.meta.get("nn_module_stack") or {}
    return {name: kind.__name__ if isinstance(kind, type) else kind.rpartition(".")[2] for name, kind in stack.values()}


def run_decompositions(
    exported: torch.export.ExportedProgram, kept: tuple[OpOverload[..., Any], ...]
) -> torch.export.ExportedProgram:
    """`exported` in core ATen operations, but for those of `kept`: what `exported.run_decompositions` gives.

    That one takes 0.2 s for the smallest program. It asks every library for its operations anew, and puts a function
    of Python in the place of each decomposition that PyTorch's dispatcher does by itself; here only in the place of
    those that are not to be done.
    """
    table, whole = _decompositions(kept)
    with without_fake_tensors():
        return _decompose_exported_program(
            exported,
            cia_to_decomp=dict(whole),
            python_decomp_table=dict(table),
            joint_loss_index=None,
            decompose_custom_triton_ops=False,
        )


Decompositions = Mapping[OperatorBase, Callable[..., Any]]


@cache
def _decompositions(kept: tuple[OpOverload[..., Any], ...]) -> tuple[Decompositions, Decompositions]:
    """Operations that a function writes out, and those of PyTorch's dispatcher that stay whole."""
    table = torch.export.default_decompositions()
    for overload in kept:
        table.pop(overload, None)
    by_dispatcher = _collect_all_valid_cia_ops()
    written = {overload: function for overload, function in table.items() if overload not in by_dispatcher}
    return written, dict.fromkeys((each for each in by_dispatcher if each not in table), _special_op_to_preserve_cia)


def uniform_number(tensor: torch.Tensor) -> float | int | bool | None:
    """The number that every element of a real tensor has the bits of, if there is one."""
    if isinstance(tensor, FakeTensor) or tensor.numel() == 0 or tensor.is_complex():
        return None
    rows = tensor.detach().contiguous().reshape(-1, 1).view(torch.uint8)
    return tensor.flatten()[0].item() if bool((rows == rows[0]).all()) else None


def without_fake_tensors() -> AbstractContextManager[object]:
    """A context in which tensors are real although `FakeTensorMode` is on around it."""
    return unset_fake_temporarily()


def shares_memory(first: torch.Tensor, second: torch.Tensor) -> bool:
    """Whether one is the other or a view of it; for fake tensors too."""
    return torch._C._is_alias_of(first, second)


def is_inside_derivative(tensor: torch.Tensor) -> bool:
    """Whether it is a value that `torch.func.grad` and the like compute with, which means nothing outside of them."""
    return torch._C._functorch.is_functorch_wrapped_tensor(tensor)


@contextmanager
def random_state(seed: int) -> Generator[None]:
    """Random numbers on the CPU from `seed`; afterwards they go on as if nothing had been."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@contextmanager
def module_calls(called: Callable[[nn.Module], None]) -> Generator[None]:
    """Tell `called` each module that is called."""

    def before_forward(module: nn.Module, inputs: object) -> None:
        called(module)

    hook = register_module_forward_pre_hook(before_forward)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def stack_trace_filter(keep: Callable[[list[FrameSummary]], list[FrameSummary]]) -> Generator[None]:
    """Let `keep` choose the frames that tracing records with an operation.

    PyTorch records those of `forward` methods, so a line in the user's helper function is lost.
    """
    original = TracerBase._filter_traceback_frames

    def filtered(tracer: TracerBase, frames: StackSummary) -> StackSummary:
        return StackSummary.from_list(keep(list(frames)) or original(tracer, frames))

    TracerBase._filter_traceback_frames = filtered
    try:
        yield
    finally:
        TracerBase._filter_traceback_frames = original


@contextmanager
def replaced_parameters() -> Generator[None]:
    """Let `nn.Module._apply`, which is behind `half()` and `to()`, put new parameters in the place of the old.

    PyTorch swaps the contents of old and new parameters when they are fake, and fails when a weak reference to one of
    them is left, as its cache of fake results may do.
    """
    # Parameters that several modules share are shared afterwards. What the ids stand for is held, so they stay valid.
    converted: dict[tuple[int, int], tuple[nn.Parameter, Conversion, nn.Parameter]] = {}

    def convert(parameter: nn.Parameter, conversion: Conversion) -> nn.Parameter:
        key = id(parameter), id(conversion)
        if key not in converted:
            with torch.no_grad():
                value = conversion(parameter)
            new = parameter if value is parameter else nn.Parameter(value, parameter.requires_grad)
            converted[key] = parameter, conversion, new
        return converted[key][2]

    def apply(module: nn.Module, fn: Conversion, recurse: bool = True) -> nn.Module:
        for child in module.children() if recurse else ():
            child._apply(fn)
        for name, parameter in module._parameters.items():
            if parameter is not None:
                module._parameters[name] = convert(parameter, fn)
        for name, buffer in module._buffers.items():
            if buffer is not None:
                module._buffers[name] = fn(buffer)
        return module

    original = nn.Module._apply
    nn.Module._apply = apply
    try:
        yield
    finally:
        nn.Module._apply = original


def is_view(overload: OpOverload[..., Any]) -> bool:
    """Whether what `overload` gives shares memory with what it is given, and it writes to neither."""
    return overload.is_view


def draws_random_numbers(overload: OpOverload[..., Any]) -> bool:
    """Whether the results of `overload` depend on the state of the random number generator."""
    return torch.Tag.nondeterministic_seeded in overload.tags
