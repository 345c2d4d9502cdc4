"""What `uop compile` and `uop run` do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch
from xdsl.utils.exceptions import VerifyException

from ..frontends.capture import capture_expression, capture_file
from ..frontends.captured import Captured
from ..frontends.errors import FrontendError
from ..rewriting.diagnostics import PassError, collect_remarks
from ..runtime.nvrtc import CompileError, NvrtcNotFoundError
from ..runtime.program import Array, Program
from ..runtime.simulator import SimulationError, UnsupportedPtxError
from .comparison import Comparison, compare
from .compilation import CUDA, FILE_NAMES, compile_stages, stage_text
from .diagnostics import Diagnostic, describe
from .pipelines import CompileOptions
from .report import comparison_table, console, kernel_table

ERRORS = (
    FrontendError,
    PassError,
    VerifyException,
    CompileError,
    NvrtcNotFoundError,
    SimulationError,
    UnsupportedPtxError,
    OSError,
)
"""What may go wrong that a user can understand; anything else is a defect of uop."""


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0, or 1 for an error or a wrong result."""
    with collect_remarks() as remarks:
        try:
            captured = capture_expression(options.code) if options.code is not None else capture_file(options.source)
            command = compile_command if options.command == "compile" else run_command
            return command(captured, options)
        except ERRORS as error:
            print(_report(error), file=sys.stderr)
            return 1
        finally:
            if options.remarks:
                for remark in remarks:
                    print(f"remark: {remark.message}", file=sys.stderr)


def _report(error: Exception) -> Diagnostic | str:
    """The error as `uop: error: …`, with the operation and its source lines where it names one."""
    if isinstance(error, PassError):
        notes = tuple(describe(error.op)) if error.op is not None else ()
        return Diagnostic("error", error.message, "uop", help=error.help, details=notes)
    return f"uop: error: {error}"


def compile_command(captured: Captured, options: argparse.Namespace) -> int:
    """Print a stage, or write all of them to files."""
    wanted = options.ir or (None if options.directory else CUDA)
    directory = Path(options.directory) if options.directory else None
    texts: dict[str, str] = {}
    for name, module in compile_stages(captured.imported(), CompileOptions(arch=options.arch)):
        if directory is not None or name == wanted:
            texts[name] = stage_text(name, module, locations=not options.no_locations)
        if directory is None and name == wanted:
            break
    else:
        texts[CUDA] = stage_text(CUDA, captured.imported().module)
    if directory is not None:
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (directory / FILE_NAMES[name]).write_text(text)
        print("\n".join(str(directory / FILE_NAMES[name]) for name in texts), file=sys.stderr if wanted else sys.stdout)
    if wanted is not None:
        sys.stdout.write(texts[wanted])
    return 0


def run_command(captured: Captured, options: argparse.Namespace) -> int:
    """Run the program in the simulator and print what it did and whether it is right."""
    imported = captured.imported()
    for _ in compile_stages(imported, CompileOptions(arch=options.arch)):
        pass
    inputs = captured.make_inputs(options.seed)
    run = Program(imported.module).run([to_array(value) for value in inputs])
    comparisons = [
        _compare(ours, eager, exact)
        for ours, eager, exact in zip(
            run.outputs, captured.reference(inputs), captured.reference64(inputs), strict=True
        )
    ]
    out = console()
    out.print(kernel_table(run.kernels))
    out.print(comparison_table(comparisons))
    return 0 if all(row.right for row in comparisons) else 1


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as the simulator holds it: contiguous, bf16 as its bits, bool as bytes."""
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).numpy()
    return tensor.view(torch.uint8).numpy() if tensor.dtype == torch.bool else tensor.numpy()


def _compare(ours: Array, eager: torch.Tensor, exact: torch.Tensor) -> Comparison:
    result = torch.from_numpy(ours).view(eager.dtype).reshape(eager.shape)  # pyright: ignore[reportUnknownMemberType]
    if not eager.dtype.is_floating_point:
        return compare(result.numpy(), eager.numpy(), eager.numpy(), str(eager.dtype).removeprefix("torch."))
    return compare(
        result.double().numpy(), eager.double().numpy(), exact.double().numpy(), str(eager.dtype).removeprefix("torch.")
    )
