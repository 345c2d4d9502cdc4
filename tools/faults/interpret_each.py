"""`--interpret-each`: run the program after each pass, and name the first that changes what it computes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ...rewriting.diagnostics import PassError
from ..pass_run import PassInstrumentation, PassRun
from ..pipeline import PassRegistry, build_pipeline, execute
from ..timing import Timing
from .bisection import Replay, bisect, path_of
from .checker import Checker, Finding
from .outcomes import Inputs


class WrongResultError(PassError):
    """A pass has changed what the program computes."""

    def __init__(self, pass_name: str, finding: Finding) -> None:
        self.pass_name = pass_name
        self.rule: str | None = None
        """The rule at fault, where `bisect` found one."""
        difference = finding.difference
        message = f"'{pass_name}' changes what @{finding.entry} computes"
        earlier = [getattr(pass_, "name", "") for pass_ in finding.passes[:-1]]
        if earlier:
            message += f" (or {', '.join(map(repr, earlier))} before it, after which it cannot be executed)"
        super().__init__(message)
        self.add_note(f"note: on inputs {difference.inputs}: {difference.what}")
        if finding.policy.why:
            self.add_note(f"note: by more than rounding, which may differ since {finding.policy.why}")
        if difference.kernel is not None:
            self.add_note(f"note: the first kernel that differs is @{difference.kernel}")


@dataclass(frozen=True)
class InterpretOptions:
    """seed: of the random inputs. bisects: also find the rewrite that is wrong. given: more inputs"""

    seed: int = 0
    bisects: bool = False
    given: Sequence[Inputs] = ()

    @staticmethod
    def of(args: argparse.Namespace) -> InterpretOptions:
        """What the command line of `uop-opt` asks for. Raises `PassError` for inputs that cannot be read."""
        given = () if args.interpret_inputs is None else (read_inputs(args.interpret_inputs),)
        return InterpretOptions(int(args.interpret_each or 0), args.bisect, given)


class InterpretEach(PassInstrumentation):
    """Runs the program on random inputs before the first pass and after each, as far as it has changed.

    Costs some runs of the program for each pass that changes it (one for each kind of inputs), and a copy of it.
    Raises `WrongResultError` after the first pass that changes the results.
    """

    def __init__(
        self,
        module: ModuleOp,
        context: Context,
        options: InterpretOptions,
        warn: Callable[[str], None],
        timing: Timing,
    ) -> None:
        """warn: told why something is not checked. timing: gets a row for the runs"""
        self.module = module
        self.context = context
        self.options = options
        self.warn = warn
        self.timing = timing
        self.checked = 0
        self.skipped = 0
        self._warned: set[str] = set()
        self._before = module.clone()
        self._checker = Checker(self._before, options.seed, options.given)
        self._paths: list[tuple[int, ...]] = []
        self._warn_of_reasons("the input")
        for fault in self._checker.faulty:
            warn(f"not compared where the input fails: {fault}")

    def before_pass(self, run: PassRun) -> None:
        self._paths = [path_of(op) for op in run.ops] if run.nested else []

    def after_pass(self, run: PassRun) -> None:
        with self.timing.phase("(interpret)"):
            self._check(run)

    def _check(self, run: PassRun) -> None:
        if self.module.is_structurally_equivalent(self._before):
            return
        after = self.module.clone()
        finding = self._checker.check(after, run.pass_)
        if finding is not None:
            error = WrongResultError(run.name, finding)
            if not self.options.bisects:
                error.help = "--bisect finds the rewrite"
            else:
                replay = Replay(run.pass_, self.context, self._before, self._paths)
                culprit = bisect(finding, replay, after)
                error.rule = culprit.rule
                for line in culprit.lines:
                    error.add_note(line)
            raise error
        if self._checker.reasons:
            self.skipped += 1
            self._warn_of_reasons(f"what '{run.name}' leaves")
        else:
            self.checked += 1
        self._before = after

    def summary(self) -> str:
        """What was done, in a line."""
        skipped = f", {self.skipped} not executed" if self.skipped else ""
        return f"interpret-each: {self.checked} passes that change the program agree{skipped}"

    def _warn_of_reasons(self, what: str) -> None:
        for name, reason in self._checker.reasons.items():
            if reason not in self._warned:
                self._warned.add(reason)
                self.warn(f"{what} is not checked: @{name}: {reason}")


def interpret_pipeline(
    module: ModuleOp,
    context: Context,
    pipeline: str,
    passes: PassRegistry,
    options: InterpretOptions | None,
) -> None:
    """Run a pipeline, and where there are options the program after each pass too. Raises what these raise."""
    checks = [] if options is None else [InterpretEach(module, context, options, lambda message: None, Timing())]
    execute(build_pipeline(pipeline, passes), context, module, checks)


def read_inputs(directory: str) -> Inputs:
    """The arrays of a folder, in the order of their names. Raises `PassError`."""
    files = sorted(Path(directory).glob("*.npy"))
    if not files:
        raise PassError(f"--interpret-inputs: there are no .npy files in {directory}")
    try:
        return Inputs(directory, [np.load(file, allow_pickle=False) for file in files])
    except (OSError, ValueError, EOFError) as error:
        raise PassError(f"--interpret-inputs: {directory} cannot be read: {error}") from error
