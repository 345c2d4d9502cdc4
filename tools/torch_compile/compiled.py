"""`uop.compile`: a module compiled for inputs of given shapes, with all of its stages to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import torch
from torch.utils._pytree import tree_flatten
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp

from ...dialects.function_sizes import SizeError
from ...dialects.types import element_of, shape_of
from ...frontends.element_types import dtype_name, dtype_of
from ...frontends.exporting import DynamicShapes
from ...frontends.imported import Argument, ArgumentKind, Imported, ResultKind
from ...frontends.importer import import_exported
from ...runtime.devices import DEVICES
from ...runtime.native.program import CpuInputError, CpuProgram
from ...targets import c, cuda
from ..compilation import FORMS, C, stage_text
from .direct_call import DirectCall
from .options import OptionError, Options
from .programs import load, stages


class InputError(ValueError):
    """What a compiled program is called with is not what it was compiled for."""


@dataclass(frozen=True)
class Kernel:
    """One kernel of a compiled program.

    text:  its CUDA or C text, complete with what it calls
    grid:  numbers of blocks along x, y and z; on a CPU, of tasks
    block: number of threads of a block; 1 on a CPU
    arch:  what it was compiled for; on a CPU, `64-byte vectors`
    """

    name: str
    text: str
    grid: Sequence[int]
    block: int
    arch: str


class CompiledProgram:
    """A module compiled for inference: call it as the module, with inputs of the shapes and dtypes that it has.

    Parameters and buffers stay the module's: their values are read with each call, and what the module changes of them,
    or of its inputs, is changed. Its results carry no gradients; for training there is `torch.compile`.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        options: Options,
        dynamic_shapes: DynamicShapes | None = None,
    ) -> None:
        """Raises what `torch.export.export` raises, `UnsupportedProgramError`, `PassError` and `OptionError`."""
        self.options = options
        self._leaves, _ = tree_flatten((args, dict(kwargs)))
        self._imported: Imported = import_exported(module, args, kwargs, dynamic_shapes=dynamic_shapes)
        self._torch = self._imported.module.clone()
        self._execute = load(self._imported, options)
        is_native = isinstance(self._execute, CpuProgram)
        self._direct = DirectCall.of(self._imported, args, kwargs) if is_native else None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the module gives. Raises `InputError`, and what the device has to say."""
        if self._direct is not None and (given := self._direct.arguments(args, kwargs)) is not None:
            try:
                return self._direct.results(self._execute(given))
            except (CpuInputError, AttributeError):
                pass  # said below, in the user's words
        imported = self._imported
        leaves, spec = tree_flatten((args, kwargs))
        if spec != imported.input_spec:
            raise InputError(
                f"the inputs have the structure {spec}, not {imported.input_spec}: compile the module anew"
            )
        for place, (leaf, expected) in enumerate(zip(leaves, self._leaves, strict=True)):
            if not isinstance(expected, torch.Tensor) and leaf != expected:
                raise InputError(f"input {place} is {leaf!r}, not {expected!r}: compile the module anew")
        memory = DEVICES[self.options.device].memory
        given = [
            None if argument.kind is ArgumentKind.SYMBOL else _value(argument, leaves, memory)
            for argument in imported.arguments
        ]
        try:
            arguments = imported.with_sizes(given)
        except SizeError as error:
            raise InputError(str(error)) from error
        values = {argument.source: value for argument, value in zip(imported.arguments, arguments, strict=True)}
        with torch.no_grad():
            results = self._execute(arguments)
            for result in imported.results:
                if result.kind is not ResultKind.USER_OUTPUT and result.index is not None:
                    values[result.target or ""].copy_(results[result.index])
        return imported.user_outputs(results)

    @cached_property
    def _modules(self) -> Mapping[str, ModuleOp]:
        """The program in each of its forms. Compiles further than the device needs."""
        function = replace(self._imported, module=self._torch.clone())
        return {name: module.clone() for name, module in stages(function, self.options)}

    @property
    def _forms(self) -> Sequence[str]:
        """The names of the forms on the way to what the device executes, its text the last."""
        return FORMS[DEVICES[self.options.device].target]

    @property
    def stages(self) -> Mapping[str, str]:
        """The text of each form of the program, from `torch` to `cuda` or `c`, with its source locations."""
        return {name: self._text(name, locations=True) for name in self._forms}

    @property
    def kernels(self) -> Sequence[Kernel]:
        """The kernels, in the order in which they stand in the text."""
        *_, last, target = self._forms
        module = self._modules[last]
        if target == C:
            return [
                Kernel(
                    kernel.sym_name.data,
                    c.kernel_text(kernel),
                    (kernel.tasks.value.data, 1, 1),
                    1,
                    f"{kernel.vector_bytes.value.data}-byte vectors",
                )
                for kernel in c.cpu_kernels(module)
            ]
        return [
            Kernel(kernel.sym_name.data, cuda.kernel_text(kernel), kernel.grid_shape, kernel.threads, kernel.arch.data)
            for kernel in cuda.gpu_kernels(module)
        ]

    def print(self, stage: str | None = None, *, locations: bool = False) -> None:
        """Print the text of a stage, by default the last. Raises `OptionError` for one that there is not."""
        names = self._forms
        stage = names[-1] if stage is None else stage
        if stage not in names:
            raise OptionError(f"there is no stage {stage!r} (the stages are {', '.join(names)})")
        print(self._text(stage, locations), end="")

    def _text(self, stage: str, locations: bool) -> str:
        module = self._modules[self._forms[-2] if stage == self._forms[-1] else stage]
        return stage_text(stage, module, locations=locations)


def compile_module(
    module: torch.nn.Module,
    args: Any,
    kwargs: Mapping[str, Any] | None,
    options: Mapping[str, Any],
    dynamic_shapes: DynamicShapes | None = None,
) -> CompiledProgram:
    """Compile a module for what it is called with. args: a tuple, or one tensor; options: see `Options`"""
    positional = cast("Sequence[Any]", args) if isinstance(args, tuple | list) else (args,)
    return CompiledProgram(module, tuple(positional), kwargs or {}, Options.of(options), dynamic_shapes)


def _value(argument: Argument, leaves: Sequence[Any], memory: str) -> torch.Tensor:
    """The value of an argument: an input, checked, or what the module holds, on a device of type `memory`.

    Constants of the program and tensors of no dimensions may lie on the CPU, as in PyTorch.
    """
    if argument.leaf is None:
        assert argument.value is not None
        value = argument.value
    else:
        value = leaves[argument.leaf]
    shape, dtype = shape_of(argument.type), dtype_of(element_of(argument.type))
    # Of sizes that are no numbers, `with_sizes` says more.
    fits = isinstance(value, torch.Tensor) and (DYNAMIC_INDEX in shape or tuple(value.shape) == shape)
    if not fits or value.dtype != dtype:
        is_tensor = isinstance(value, torch.Tensor)
        what = f"{dtype_name(value.dtype)}{list(value.shape)}" if is_tensor else type(value).__name__
        raise InputError(
            f"input {argument.source} is {what}, not {dtype_name(dtype)}{list(shape)}: shapes and dtypes are fixed "
            "when a program is compiled; compile the module anew"
        )
    may_be_on_cpu = argument.kind is ArgumentKind.CONSTANT or not value.dim()
    if value.device.type not in (memory, *(("cpu",) if may_be_on_cpu else ())):
        raise InputError(
            f"{argument.kind.value} {argument.source} is on {value.device}, and the device takes tensors on {memory}: "
            f"move the module and its inputs there, `.to({memory!r})`"
        )
    return value
