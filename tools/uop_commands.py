"""What the commands do that take a program: `uop compile`, `uop run` and `uop bench`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from ..frontends.capture import capture_expression, capture_file
from ..frontends.captured import Captured
from ..frontends.errors import FrontendError
from ..rewriting.diagnostics import PassError, Remark, collect_remarks
from ..runtime.cuda.program import CudaProgram
from ..runtime.devices import DEVICES
from ..runtime.native.compiler import CCompileError, CompilerNotFoundError
from ..runtime.nvrtc import CompileError, NvrtcNotFoundError
from ..runtime.profile import profile_launch
from ..runtime.simulator import SimulationError
from ..runtime.tensors import to_interpreted
from .artifacts import weights_of, write_artifact
from .choose_device import Chosen, choose_device
from .compilation import CUDA, FILE_NAMES, C, CompilerCrash, compile_stages, stage_text
from .console import console
from .device_errors import DEVICE_ERRORS
from .diagnostics import Diagnostic, DiagnosticError, describe
from .execution import run_captured, run_on_device
from .faults.interpret_each import InterpretEach, InterpretOptions, WrongResultError
from .faults.outcomes import Inputs
from .faults.saved_run import free_directory, save_run
from .pipeline_text import PipelineError
from .pipelines import CompileOptions
from .plugins import load_plugin, make_context, register_plugin
from .profile import profile_text
from .report import comparison_table, gpu_table, kernel_table
from .timing import Timing

ERRORS = (
    FrontendError,
    PassError,
    PipelineError,
    CompilerCrash,
    DiagnosticError,
    *DEVICE_ERRORS,
    OSError,
)
"""What a user is told in words."""


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0, or 1 for an error or a wrong result."""
    # What passes would tell takes them time: nobody listens where nothing is printed.
    with collect_remarks() if options.remarks else nullcontext(list[Remark]()) as remarks:
        try:
            for file in options.load:
                register_plugin(load_plugin(file), {}, {})
            if options.command == "compile" and options.is_model:
                return _compile_model(options)
            captured = capture_expression(options.code) if options.code is not None else capture_file(options.source)
            return COMMANDS[options.command](captured, options)
        except BrokenPipeError:
            raise
        except ERRORS as error:
            print(_report(error), file=sys.stderr)
            return 1
        finally:
            for remark in remarks:
                print(f"remark: {remark.message}", file=sys.stderr)


def generate_in_words(options: argparse.Namespace) -> int:
    """`uop generate`; 1 for an error, which is told."""
    from .generate_command import generate_command

    try:
        return generate_command(options)
    except BrokenPipeError:
        raise
    except ERRORS as error:
        print(_report(error), file=sys.stderr)
        return 1


def _report(error: Exception) -> Diagnostic | str:
    """The error as `uop: error: …`, with the operation and its source lines where it names one."""
    if isinstance(error, PassError):
        notes = describe(error.op) if error.op is not None else []
        details = (*notes, *getattr(error, "__notes__", ()))
        return Diagnostic("error", error.message, "uop", help=error.help, details=details)
    if isinstance(error, DiagnosticError):
        return error.diagnostic
    return f"uop: error: {error}"


def _compile_options(options: argparse.Namespace) -> CompileOptions:
    device = DEVICES[options.device]
    return CompileOptions(
        arch=options.arch or device.arch(),
        vector_bytes=device.vector_bytes(),
        schedule=tuple(options.schedule),
        cut=tuple(options.cut),
        join=tuple(options.join),
    )


BUILDERS = {CUDA: "sim", C: "cpu"}
"""Target → the device that programs are compiled for: one that takes no GPU."""


def _compile_model(options: argparse.Namespace) -> int:
    """Compile the programs of a language model."""
    from .model_command import compile_model

    options.device = BUILDERS[options.target]
    return compile_model(options, _compile_options(options), options.device)


def compile_command(captured: Captured, options: argparse.Namespace) -> int:
    """Print a stage, or write all of them to files, and what `uop exec` runs."""
    target = options.target
    options.device = BUILDERS[target]
    wanted = options.ir or (None if options.directory else target)
    directory = Path(options.directory) if options.directory else None
    texts: dict[str, str] = {}
    for name, module in compile_stages(captured.imported(), _compile_options(options), target=target):
        if directory is not None or name == wanted:
            texts[name] = stage_text(name, module, locations=not options.no_locations)
        if directory is None and name == wanted:
            break
    else:
        texts[target] = stage_text(target, captured.imported().module)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / FILE_NAMES[name]).write_text(text)
        written = [directory / FILE_NAMES[name] for name in texts]
        try:
            ahead = DEVICES[options.device].ahead
            assert ahead is not None
            artifact = ahead.build(captured.imported())
            weights = weights_of(captured, parameters=options.weights)
            written += write_artifact(directory, captured, artifact, weights)
        except (NvrtcNotFoundError, CompilerNotFoundError) as error:
            print(
                f"uop: note: {directory} has the stages only, which `uop exec` does not run: {error}", file=sys.stderr
            )
        print("\n".join(map(str, written)), file=sys.stderr if wanted else sys.stdout)
    if wanted is not None:
        sys.stdout.write(texts[wanted])
    return 0


def run_command(captured: Captured, options: argparse.Namespace) -> int:
    """Run the program and print what ran it, what it did and whether it is right; save a run that fails."""
    chosen = choose_device(options.device, simulated=options.profile, for_gpu=options.arch is not None)
    options.device = chosen.name
    directory = free_directory(options.save)
    module = captured.imported().module.clone()

    def save(reason: str) -> None:
        save_run(
            directory,
            captured,
            module,
            _compile_options(options),
            target=DEVICES[chosen.name].target,
            seed=options.seed,
            loaded=options.load,
            each=options.check == "each",
            reason=reason,
        )
        print(f"uop: to repeat this, and to look into it, see {directory}/README.md", file=sys.stderr)

    try:
        run = _run_simulated if chosen.name == "sim" else _run_on
        right = run(chosen, captured, options)
    except (WrongResultError, SimulationError, CompileError, CCompileError) as error:
        save(str(error).split("\n", 1)[0])
        raise
    if not right:
        if chosen.name != "sim":
            print(
                "uop: the simulator may say more of it: --device sim; "
                "--check each names the pass that changes the result",
                file=sys.stderr,
            )
        save("The result is not what eager PyTorch and float64 give.")
    return 0 if right else 1


def _run_simulated(chosen: Chosen, captured: Captured, options: argparse.Namespace) -> bool:
    """Run the program in the simulator, and print what it did; whether it is right."""
    result = run_captured(
        captured, _compile_options(options), seed=options.seed, instrumentations=_checks(captured, options)
    )
    profiles = [profile_launch(launch) for launch in result.run.kernels] if options.profile else []
    if options.json:
        outputs = [{**asdict(row), "right": row.right} for row in result.comparisons]
        launches = [profile.as_json() for profile in profiles]
        print(json.dumps({"right": result.right, "outputs": outputs, "launches": launches}, indent=1))
    else:
        print(chosen.summary())
        out = console()
        out.print(kernel_table(result.run))
        out.print(comparison_table(result.comparisons))
        for profile in profiles:
            print(f"\n{profile_text(profile)}")
    return result.right


def _run_on(chosen: Chosen, captured: Captured, options: argparse.Namespace) -> bool:
    """Run the program on another device than the simulator, and print what that is; whether it is right."""
    program, judged = run_on_device(
        captured,
        _compile_options(options),
        DEVICES[chosen.name],
        seed=options.seed,
        instrumentations=_checks(captured, options),
    )
    out = console()
    if isinstance(program, CudaProgram):
        out.print(gpu_table(program))
    else:
        print(chosen.summary())
    out.print(comparison_table(judged.comparisons))
    return judged.right


def bench_command(captured: Captured, options: argparse.Namespace) -> int:
    """Time the program beside PyTorch's own ways to run it."""
    from .bench_command import bench_command  # loads TorchDynamo

    return bench_command(captured, options)


COMMANDS: Mapping[str, Callable[[Captured, argparse.Namespace], int]] = {
    "compile": compile_command,
    "run": run_command,
    "bench": bench_command,
}
"""By name: those that take a program."""


def _checks(captured: Captured, options: argparse.Namespace) -> Sequence[InterpretEach]:
    """What `--check` watches passes with."""
    return [_interpret_each(captured, options.seed)] if options.check == "each" else []


def _interpret_each(captured: Captured, seed: int) -> InterpretEach:
    """Runs the program after each pass, on its own inputs and random ones."""
    inputs = Inputs("of the program", [to_interpreted(value) for value in captured.make_inputs(seed)])
    return InterpretEach(
        captured.imported().module,
        make_context(),
        InterpretOptions(seed, bisects=True, given=[inputs]),
        lambda message: print(f"uop: warning: {message}", file=sys.stderr),
        Timing(),
    )
