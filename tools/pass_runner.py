"""The passes of `uop-opt`: hooks that the flags ask for, and reproducers when a pass fails."""

import argparse
import sys
from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException

from ..rewriting.diagnostics import Remark, collect_remarks
from .diagnostics import Diagnostic, DiagnosticError, Positions, Source, crash, describe, from_exception
from .instruments import DumpChoice, DumpIR, IRPrinter, ReportRemarks, RunCounter, TimePasses, VerifyEach
from .pass_run import PassInstrumentation
from .pipeline import Pipeline, execute, pipeline_text
from .timing import Timing

if TYPE_CHECKING:
    from .faults.interpret_each import InterpretEach
    from .rewrite_reports import RewriteReports


class PassHost(Protocol):
    """What runs passes for: the flags, the passes, where times and diagnostics go."""

    args: argparse.Namespace
    context: Context
    passes: Pipeline
    target_text: str
    timing: Timing
    rewrite_reports: "RewriteReports | None"

    def parse(self, source: Source) -> tuple[ModuleOp, Positions]: ...

    def report(self, diagnostic: Diagnostic) -> None: ...


class PassRunner:
    """Runs the passes of `processor` on modules."""

    def __init__(self, processor: PassHost) -> None:
        self.processor = processor
        self.args = processor.args

    def run(self, module: ModuleOp, positions: Positions) -> None:
        """Run the passes on `module`, in place. Raises `DiagnosticError` if one fails."""
        counter = RunCounter()
        reports = self.processor.rewrite_reports
        wants_remarks = self.args.remarks or self.args.verify_diagnostics
        with (
            collect_remarks() if wants_remarks else nullcontext(()) as remarks,
            nullcontext() if reports is None else reports.listening(),
        ):
            instrumentations: list[PassInstrumentation] = [counter, self._dumps()]
            if reports is not None:
                instrumentations += reports.reports
            if not isinstance(remarks, tuple):
                instrumentations.append(ReportRemarks(remarks, lambda remark: self._remark(remark, positions)))
            instrumentations.append(TimePasses(self.processor.timing))
            interpretation: InterpretEach | None = None
            if self.args.verify_each and not self.args.disable_verify:
                instrumentations.append(VerifyEach(self.processor.timing))
            try:
                if self.args.interpret_each is not None:
                    # Before the verifier in the list, so after it when a pass ends.
                    interpretation = self._interpret_each(module, positions)
                    instrumentations.insert(1, interpretation)
                execute(self.processor.passes, self.processor.context, module, instrumentations)
            except DiagnosticException as error:
                details: list[str] = []
                if counter.failed is not None:
                    details.append(f"note: in pass '{counter.failed.name}'")
                    if self.args.mlir_pass_pipeline_crash_reproducer is not None:
                        details += self._reproduce_pass(positions.source, counter, error)
                raise DiagnosticError(from_exception(error, positions, details)) from error
            except Exception as error:
                if counter.failed is None:
                    raise
                details = self._reproduce_pass(positions.source, counter, error)
                what = f"pass '{counter.failed.name}'"
                raise DiagnosticError(crash(what, positions.source, error, details)) from error
        if interpretation is not None:
            print(interpretation.summary(), file=sys.stderr)

    def _interpret_each(self, module: ModuleOp, positions: Positions) -> "InterpretEach":
        """Loads numpy, and takes as long as to run the program."""
        from .faults.interpret_each import InterpretEach, InterpretOptions

        options = InterpretOptions.of(self.args)
        with self.processor.timing.phase("(interpret)"):
            return InterpretEach(
                module,
                self.processor.context,
                options,
                lambda message: self.processor.report(Diagnostic("warning", message, positions.source.name)),
                self.processor.timing,
            )

    def reproduce_target(self, module: ModuleOp, what: str, error: Exception) -> list[str]:
        """Write a reproducer for the target, which failed on `module`; returns the notes that say so."""
        ir = IRPrinter(generic=True, debuginfo=True).any_text(module)
        flags = {"--pass-pipeline": pipeline_text(()), "--target": self.processor.target_text}
        return self._write_reproducer(ir, flags, what, error)

    def _remark(self, remark: Remark, positions: Positions) -> None:
        diagnostic = positions.report("remark", remark.message, remark.op)
        self.processor.report(diagnostic.replaced(details=tuple(describe(remark.op))))

    def _dumps(self) -> DumpIR:
        args = self.args
        after_names = names_in(args.print_ir_after)
        # Alone, `--print-ir-after-change` speaks of all passes.
        after_all = args.print_ir_after_all or (args.print_ir_after_change and not after_names)
        return DumpIR(
            IRPrinter(args.print_op_generic, args.print_debuginfo),
            before=DumpChoice(names_in(args.print_ir_before), args.print_ir_before_all),
            after=DumpChoice(after_names, after_all),
            only_changed=args.print_ir_after_change,
            after_failure=args.print_ir_after_failure,
            diff=args.print_ir_diff,
        )

    def _reproduce_pass(self, source: Source, counter: RunCounter, error: Exception) -> list[str]:
        """Write a reproducer for the failed run of a pass; returns the notes that say so."""
        from .reproducer import replay

        assert counter.failed is not None, "called for a failed run"
        try:
            module, _ = self.processor.parse(source)
            ir, passes = replay(self.processor.passes, self.processor.context, module, counter.started)
        except Exception:  # not what happened the first time: keep everything
            ir, passes = source.text, self.processor.passes
        what = f"pass '{counter.failed.name}'"
        return self._write_reproducer(ir, {"--pass-pipeline": pipeline_text(passes)}, what, error)

    def _write_reproducer(self, ir: str, flags: Mapping[str, str], what: str, error: Exception) -> list[str]:
        from .reproducer import reproducer_text, write_reproducer

        if self.args.allow_unregistered_dialect:
            flags = {**flags, "--allow-unregistered-dialect": ""}
        text = reproducer_text(ir, flags, what, error)
        try:
            path = write_reproducer(text, self.args.crash_reproducer_dir, self.args.mlir_pass_pipeline_crash_reproducer)
        except DiagnosticError as failure:
            return [f"note: no reproducer: {failure}"]
        loads = "".join(f" --load {file}" for file in self.args.load)
        return [f"note: to run it again: uop-opt {path} --run-reproducer{loads}"]


def names_in(text: str | None) -> tuple[str, ...]:
    """The names of a list with commas."""
    return () if text is None else tuple(name for part in text.split(",") if (name := part.strip()))
