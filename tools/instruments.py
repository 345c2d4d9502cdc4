"""What `uop-opt` hangs on its passes: dumps, diffs and verification of the IR, times, remarks."""

import sys
from collections.abc import Callable, Collection
from contextlib import nullcontext
from dataclasses import dataclass
from io import StringIO

from xdsl.ir import Operation

from ..rewriting.diagnostics import Remark
from .pass_run import PassInstrumentation, PassRun
from .printing import TextPrinter
from .timing import Timing
from .verifier import verify_ir


class RunCounter(PassInstrumentation):
    """Counts the runs of passes, and keeps the one that failed."""

    def __init__(self) -> None:
        self.started = 0
        self.failed: PassRun | None = None

    def before_pass(self, run: PassRun) -> None:
        self.started += 1

    def pass_failed(self, run: PassRun, error: Exception) -> None:
        self.failed = run


@dataclass(frozen=True)
class IRPrinter:
    """Prints operations in the form that the command line asks for."""

    generic: bool = False
    debuginfo: bool = False

    def text(self, op: Operation) -> str:
        stream = StringIO()
        printer = TextPrinter(stream, print_generic_format=self.generic, print_debuginfo=self.debuginfo)
        printer.print_op(op)
        return stream.getvalue()

    def run_text(self, run: PassRun) -> str:
        return "\n".join(map(self.text, run.ops))

    def any_text(self, op: Operation) -> str:
        """The text of an operation that may be invalid: generic if the custom form cannot be printed."""
        try:
            return self.text(op)
        except Exception:
            try:
                return IRPrinter(generic=True, debuginfo=self.debuginfo).text(op)
            except Exception as error:
                return f"// the IR cannot be printed: {type(error).__name__}: {error}"


@dataclass(frozen=True)
class DumpChoice:
    """The passes around which to print: those in `names`, or all."""

    names: Collection[str] = ()
    all: bool = False

    def __contains__(self, name: str) -> bool:
        return self.all or name in self.names


@dataclass
class DumpIR(PassInstrumentation):
    """The flags `--print-ir-…`, on standard error."""

    printer: IRPrinter
    before: DumpChoice = DumpChoice()
    after: DumpChoice = DumpChoice()
    only_changed: bool = False
    after_failure: bool = False
    diff: bool = False
    text_before: str = ""

    def before_pass(self, run: PassRun) -> None:
        if self.diff or self.only_changed:
            self.text_before = self.printer.run_text(run)
        if run.name in self.before:
            _dump("Dump Before", run, self.printer.run_text(run))

    def after_pass(self, run: PassRun) -> None:
        if not self.diff and run.name not in self.after:
            return
        text = self.printer.run_text(run)
        changed = not (self.diff or self.only_changed) or text != self.text_before
        if run.name in self.after and (changed or not self.only_changed):
            _dump("Dump After", run, text)
        if self.diff and changed:
            _dump("Diff After", run, unified_diff(self.text_before, text))

    def pass_failed(self, run: PassRun, error: Exception) -> None:
        if self.after_failure:
            _dump("Dump After Failure of", run, "\n".join(map(self.printer.any_text, run.ops)))


@dataclass
class TimePasses(PassInstrumentation):
    """Adds each pass of the pipeline to the table of times."""

    timing: Timing

    def after_pass(self, run: PassRun) -> None:
        # By identity: a pass may stand twice in a pipeline, and runs once for each operation of an anchor.
        self.timing.add(id(run.pass_), run.name, run.cpu_seconds, run.wall_seconds)


@dataclass
class VerifyEach(PassInstrumentation):
    """Verifies what each pass leaves."""

    timing: Timing | None = None

    def after_pass(self, run: PassRun) -> None:
        with nullcontext() if self.timing is None else self.timing.phase("(verify)"):
            for op in run.ops:
                verify_ir(op)


@dataclass
class ReportRemarks(PassInstrumentation):
    """Hands over the remarks of each pass when it ends, while their operations are still in place."""

    remarks: list[Remark]
    report: Callable[[Remark], None]

    def after_pass(self, run: PassRun) -> None:
        for remark in self.remarks:
            self.report(remark)
        self.remarks.clear()

    def pass_failed(self, run: PassRun, error: Exception) -> None:
        self.after_pass(run)


def _dump(what: str, run: PassRun, text: str) -> None:
    """Print `text` under mlir-opt's banner."""
    print(f"// -----// IR {what} {run.name} ({run.name}){_operation(run)} //----- //", file=sys.stderr)
    print(text, end="\n\n", file=sys.stderr)


def _operation(run: PassRun) -> str:
    """` ('func.func' operation: @f)` for a pass in a nested pipeline."""
    if not run.nested or not run.ops:
        return ""
    op = run.ops[0]
    symbol = op.get_attr_or_prop("sym_name")
    name = "" if symbol is None else f": @{getattr(symbol, 'data', symbol)}"
    return f" ('{op.name}' operation{name})"


def unified_diff(before: str, after: str) -> str:
    """The lines that differ, with some around them."""
    import difflib  # slow to import

    return "\n".join(difflib.unified_diff(before.split("\n"), after.split("\n"), "before", "after", lineterm=""))
