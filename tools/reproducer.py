"""Reproducers: a file with the IR that a pass failed on, and in comments how to run that pass on it again.

    // configuration: --pass-pipeline='builtin.module(cse)'

`uop-opt FILE --run-reproducer` does what the comment says.
"""

import os
import shlex
import traceback
from collections.abc import Mapping, Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from .files import write_output
from .instruments import IRPrinter
from .pass_run import PassInstrumentation, PassRun
from .pipeline import Pipeline, execute

_CONFIGURATION = "// configuration:"
# The flags that a configuration may have; those without a value map to "".
FLAGS = ("--pass-pipeline", "--target", "--allow-unregistered-dialect")


class _Reached(Exception):
    """The run that was waited for is about to start."""

    def __init__(self, run: PassRun) -> None:
        self.run = run


class _StopAtRun(PassInstrumentation):
    def __init__(self, number: int) -> None:
        self.left = number

    def before_pass(self, run: PassRun) -> None:
        self.left -= 1
        if self.left == 0:
            raise _Reached(run)


def replay(passes: Pipeline, context: Context, module: ModuleOp, number: int) -> tuple[str, Pipeline]:
    """Run `passes` on `module` again up to run `number` (from 1) of a pass.

    Returns the generic text of what that pass is given, and the pipeline of that pass alone. Passes are
    deterministic, so keeping the IR from before each pass, in case it crashes, is not worth its time.
    """
    try:
        execute(passes, context, module, (_StopAtRun(number),))
    except _Reached as reached:
        printer = IRPrinter(generic=True, debuginfo=True)
        return printer.text(_as_module(reached.run)), (reached.run.pass_,)
    raise ValueError(f"there is no run {number}")


def _as_module(run: PassRun) -> Operation:
    """The module that the pass of `run` sees."""
    if not run.nested:
        return run.ops[0]
    outer = run.ops[0].parent_op()
    attributes = dict(outer.attributes) if isinstance(outer, ModuleOp) else {}
    return ModuleOp([op.clone() for op in run.ops], attributes)


def reproducer_text(ir: str, configuration: Mapping[str, str], what: str, error: Exception) -> str:
    """The file: what failed, how to run it again, the traceback, and `ir`."""
    flags = [shlex.quote(f"{flag}={value}") if value else flag for flag, value in configuration.items()]
    comments = [
        f"{what} failed with {type(error).__name__}",
        "Run it again: uop-opt THIS_FILE --run-reproducer",
    ]
    trace = "".join(traceback.format_exception(error)).rstrip().split("\n")
    lines = [
        *(f"// {comment}" for comment in comments),
        f"{_CONFIGURATION} {' '.join(flags)}",
        "//",
        *(f"// {line}".rstrip() for line in trace),
        "",
        ir.rstrip("\n"),
        "",
    ]
    return "\n".join(lines)


def write_reproducer(text: str, directory: str | None, file: str | None) -> str:
    """Write the reproducer to `file`, or under a name made from its text into `directory`; returns the path.

    Raises `DiagnosticError` if that cannot be done.
    """
    if file is None:
        from hashlib import sha256  # slow to import

        digest = sha256(text.encode()).hexdigest()[:12]
        file = os.path.join(directory or "", f"uop-opt-reproducer-{digest}.mlir")
    write_output(file, text)
    return file


def read_configuration(text: str) -> dict[str, str]:
    """The flags of the `// configuration:` line of a reproducer. Raises `ValueError` saying what is wrong."""
    lines = [line for line in text.split("\n") if line.startswith(_CONFIGURATION)]
    if len(lines) != 1:
        raise ValueError(f"expected one line `{_CONFIGURATION} …`, found {len(lines)}")
    return dict(map(_flag, _split(lines[0].removeprefix(_CONFIGURATION))))


def _split(flags: str) -> Sequence[str]:
    try:
        return shlex.split(flags)
    except ValueError as error:
        raise ValueError(f"the configuration cannot be read: {error}") from None


def _flag(argument: str) -> tuple[str, str]:
    name, _, value = argument.partition("=")
    if name not in FLAGS:
        raise ValueError(f"a configuration cannot hold '{argument}', only {', '.join(FLAGS)}")
    return name, value
