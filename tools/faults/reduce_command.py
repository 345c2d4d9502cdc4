"""`uop-opt --reduce`: what is looked for, where it is tried, and what is told on the way."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...rewriting.diagnostics import PassError, collect_remarks
from ..instruments import RunCounter, VerifyEach
from ..pass_run import PassInstrumentation
from ..pipeline import Pipeline, execute
from ..timing import Timing
from .interpret_each import InterpretEach, InterpretOptions, WrongResultError
from .reduction import Limits, Reducer
from .shrinking import count_ops

PLACE = "%s"
"""In a command, this is replaced by the path of the candidate."""

PATIENCE = 10
"""A candidate may take so many times as long as the input, and a second."""


class ReduceError(PassError):
    """The input shows nothing that could be kept."""


def reduce_module(
    module: ModuleOp,
    args: argparse.Namespace,
    context: Context,
    passes: Pipeline,
    text: Callable[[ModuleOp], str],
    parse: Callable[[str], ModuleOp | None],
) -> ModuleOp:
    """The smallest program found that fails as `module` does; progress on standard error.

    Raises `ReduceError` where the input does not fail.
    """
    limits = Limits(int(args.reduce_tries), float(args.reduce_seconds))
    with tempfile.TemporaryDirectory(prefix="uop-reduce-") as folder, _progress() as show:
        path = Path(folder) / "candidate.mlir"
        if args.reduce:
            command = _Command(args.reduce, path)
            command.check_input(text(module))

            def interesting(candidate: ModuleOp) -> bool:
                return command.succeeds(text(candidate))
        else:
            pipeline = _PipelineFailure(args, context, passes)
            expected = pipeline.of(module)
            if expected is None:
                raise ReduceError(
                    "the passes do not fail on the input, so there is nothing to keep",
                    None,
                    None if args.interpret_each is not None else "--interpret-each also looks for wrong results",
                )

            def interesting(candidate: ModuleOp) -> bool:
                return pipeline.of(candidate) == expected

        reducer = Reducer(module, interesting, limits=limits, text=text, parse=parse, on_try=show)
        start, before = time.monotonic(), count_ops(module)
        result = reducer.reduce()
    stopped = f"; stopped before the end (--reduce-tries={limits.tries} or --reduce-seconds={limits.seconds:g})"
    print(
        f"reduce: {before} ops to {count_ops(result)} in {reducer.tries} tries, {time.monotonic() - start:.1f} s"
        f"{stopped if reducer.stopped else ''}",
        file=sys.stderr,
    )
    return result


class _Command:
    """A shell command that succeeds for what is of interest."""

    def __init__(self, command: str, path: Path) -> None:
        quoted = shlex.quote(str(path))
        self.text = command.replace(PLACE, quoted) if PLACE in command else f"{command} {quoted}"
        self.path = path
        self.timeout: float | None = None

    def check_input(self, text: str) -> None:
        """Run it on the input. Raises `ReduceError` where it does not succeed."""
        self.path.write_text(text, encoding="utf-8")
        start = time.monotonic()
        done = subprocess.run(self.text, shell=True, capture_output=True, text=True, errors="replace", check=False)
        self.timeout = 1 + PATIENCE * (time.monotonic() - start)
        if done.returncode != 0:
            error = ReduceError(
                f"the command does not fail on the input: it exits with {done.returncode}, and 0 says that a file is of"
                " interest",
                None,
                "turn a status around with `not`, or look for a message with `2>&1 | grep -q …`",
            )
            for line in (done.stdout + done.stderr).strip().split("\n")[-5:]:
                if line:
                    error.add_note(f"note: the command: {line}")
            raise error

    def succeeds(self, text: str) -> bool:
        self.path.write_text(text, encoding="utf-8")
        process = subprocess.Popen(
            self.text,
            shell=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(self.timeout) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


class _PipelineFailure:
    """How the passes fail on a program, found in this process."""

    def __init__(self, args: argparse.Namespace, context: Context, passes: Pipeline) -> None:
        self.args = args
        self.context = context
        self.passes = passes

    def of(self, module: ModuleOp) -> tuple[str, ...] | None:
        """The pass and what it does wrong, without the numbers; None where nothing fails."""
        module = module.clone()
        counter = RunCounter()
        instrumentations: list[PassInstrumentation] = [counter]
        try:
            with collect_remarks():
                if self.args.interpret_each is not None:
                    options = InterpretOptions.of(self.args)
                    instrumentations.append(
                        InterpretEach(module, self.context, options, lambda message: None, Timing())
                    )
                if self.args.verify_each and not self.args.disable_verify:
                    instrumentations.append(VerifyEach())
                execute(self.passes, self.context, module, instrumentations)
        except WrongResultError as error:
            return error.pass_name, "wrong", error.rule or ""
        except Exception as error:
            if counter.failed is None:
                return None  # it cannot be run
            message = str(getattr(error, "message", error))
            return counter.failed.name, type(error).__name__, re.sub(r"[\d<>x%@\w]*\d[\w<>]*", "N", message)
        return None


@contextmanager
def _progress() -> Generator[Callable[[Reducer], None]]:
    """Shows on a terminal how far it is."""
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        yield lambda reducer: None
        return
    with Console(stderr=True).status("reduce: the input") as status:
        yield lambda reducer: status.update(f"reduce: {count_ops(reducer.best)} ops, try {reducer.tries}")
