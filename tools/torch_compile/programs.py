"""From imported functions to what runs: the pipeline as far as a device needs it, and programs kept in memory."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError

from ...dialects.schedule import ScheduleAttr
from ...dialects.uop import KernelOp
from ...frontends.imported import ImportedFunction
from ...runtime.artifact.artifact import Artifact
from ...runtime.devices import DEVICES, Device, Executable
from ..compilation import compile_stages, stage_text
from ..faults.interpret_each import InterpretEach, InterpretOptions
from ..garbage import old_objects_spared, rare_collections
from ..pipelines import CompileOptions
from ..plugins import make_context
from ..program_cache import cached_program
from ..timing import Timing
from .options import OptionError, Options

KEPT_PROGRAMS = 256
"""How many programs stay in memory, those used last."""

_programs: OrderedDict[tuple[str, str, Options], Executable] = OrderedDict()
_lock = threading.Lock()


def load(function: ImportedFunction, options: Options) -> Executable:
    """What runs the function on the device of the options: the same for all functions of the same text, but each with
    a graph of its own, which reads the memory that its parameters lie in.

    Raises `PassError`, `CompilerCrash`, and `OptionError` for a schedule that cannot be used.
    """
    program = _load(function, options)
    device = DEVICES[options.device]
    return device.replay(program) if options.cuda_graph and device.replay is not None else program


def _load(function: ImportedFunction, options: Options) -> Executable:
    text = stage_text("torch", function.module, locations=False)
    key = function.name, text, options
    with _lock:
        if key in _programs:
            _programs.move_to_end(key)
            return _programs[key]
    with rare_collections(), old_objects_spared():
        executable = _compiled(function, text, options)
    with _lock:
        _programs[key] = executable
        while len(_programs) > KEPT_PROGRAMS:
            _programs.popitem(last=False)
    return executable


def _compiled(function: ImportedFunction, text: str, options: Options) -> Executable:
    """What runs the function, whose module has that text, from the cache on disk where that has it."""
    device = DEVICES[options.device]
    if device.ahead is None or options.check is not None:
        return device.load(_in_form(function, device, options))
    artifact = cached_program(
        function,
        text,
        _compile_options(options),
        form=device.stage,
        toolchain=device.ahead.toolchain(),
        build=partial(_build, function, device, options),
        more={"option schedules": repr(options.schedule)},
    )
    return device.ahead.open(artifact)


def forget_programs() -> None:
    """Empty the memory of `load`."""
    with _lock:
        _programs.clear()


def stages(function: ImportedFunction, options: Options) -> Iterator[tuple[str, ModuleOp]]:
    """Take the function through all stages, in place; (name, module) of each form as it is reached."""
    checks = [_interpret_each(function.module)] if options.check == "each" else []
    target = DEVICES[options.device].target
    compiled = compile_stages(
        function, _compile_options(options), target=target, verify=bool(checks), instrumentations=checks
    )
    for name, module in compiled:
        if name == "loop":
            _set_schedules(module, function.name, options)
        yield name, module


def _compile_options(options: Options) -> CompileOptions:
    return CompileOptions(arch=options.arch, vector_bytes=DEVICES[options.device].vector_bytes())


def _build(function: ImportedFunction, device: Device, options: Options) -> Artifact:
    assert device.ahead is not None
    return device.ahead.build(_in_form(function, device, options))


def _in_form(function: ImportedFunction, device: Device, options: Options) -> ImportedFunction:
    """The function in the form that a device takes. With `check`, all passes behind it are run too, on a copy."""
    reached = function
    for name, module in stages(function, options):
        if name == device.stage:
            if options.check is None:
                break
            reached = replace(function, module=module.clone())
    return reached


def _interpret_each(module: ModuleOp) -> InterpretEach:
    def warn(message: str) -> None:
        warnings.warn(f"uop: check='each': {message}", stacklevel=2)

    return InterpretEach(module, make_context(), InterpretOptions(bisects=True), warn, Timing())


def _set_schedules(module: ModuleOp, function: str, options: Options) -> None:
    """Write the schedules that the user gives for kernels of this function. Raises `OptionError`."""
    kernels = {kernel.sym_name.data: kernel for kernel in module.ops if isinstance(kernel, KernelOp)}
    for name, text in options.schedule:
        if name.rpartition("_")[0] != function:
            continue
        if name not in kernels:
            raise OptionError(
                f"option 'schedule' names {name}, but the kernels of @{function} are {', '.join(kernels) or 'none'}"
            )
        try:
            schedule = Parser(make_context(), text).parse_attribute()
        except ParseError as error:
            raise OptionError(f"option 'schedule', {name}: {error}") from error
        if not isinstance(schedule, ScheduleAttr):
            raise OptionError(f"option 'schedule', {name}: {text!r} is no #tile.schedule<…>")
        kernels[name].schedule = schedule
