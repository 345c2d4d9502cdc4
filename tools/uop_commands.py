"""What `uop compile` and `uop run` do."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..frontends.capture import capture_expression, capture_file
from ..frontends.captured import Captured
from ..frontends.errors import FrontendError
from ..rewriting.diagnostics import PassError, collect_remarks
from ..runtime.nvrtc import CompileError, NvrtcNotFoundError
from ..runtime.simulator import SimulationError, UnsupportedPtxError
from .compilation import CUDA, FILE_NAMES, CompilerCrash, compile_stages, stage_text
from .diagnostics import Diagnostic, describe
from .execution import run_captured
from .pipelines import CompileOptions
from .report import comparison_table, console, kernel_table

ERRORS = (
    FrontendError,
    PassError,
    CompilerCrash,
    CompileError,
    NvrtcNotFoundError,
    SimulationError,
    UnsupportedPtxError,
    OSError,
)
"""What a user is told in words."""


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
    result = run_captured(captured, CompileOptions(arch=options.arch), seed=options.seed)
    out = console()
    out.print(kernel_table(result.run))
    out.print(comparison_table(result.comparisons))
    return 0 if result.right else 1
