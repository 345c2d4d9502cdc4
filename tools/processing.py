"""What `uop-opt` does with its input: parse, verify, run the passes, print, and report what is wrong."""

import argparse
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from .diagnostics import Diagnostic, DiagnosticError, Positions, Source, crash, from_exception
from .files import write_output
from .parsing import SPLIT_MARKER, is_blank, parse_source, split_source
from .timing import Timing
from .verifier import verify_ir

if TYPE_CHECKING:
    from .pipeline import Pipeline
    from .rewrite_reports import RewriteReports


class Processor:
    """Processes the pieces of an input; their diagnostics are printed, or checked against what they expect.

    target_text: the target as the command line spells it
    """

    def __init__(
        self, args: argparse.Namespace, context: Context, passes: "Pipeline", target: Target, target_text: str
    ) -> None:
        self.args = args
        self.context = context
        self.passes = passes
        self.target = target
        self.target_text = target_text
        self.timing = Timing()
        self.rewrite_reports = _rewrite_reports(args)
        self._diagnostics: list[Diagnostic] = []

    def process(self, source: Source) -> int:
        """Process everything and write the output; returns the exit code.

        Raises `DiagnosticError` where there is nothing to process and where the output cannot be written.
        """
        if is_blank(source):
            # mlir-opt prints an empty module, and so an input lost in a broken pipe looks like a success.
            raise DiagnosticError(Diagnostic("error", "the input is empty: it has no operation", source.name))
        outputs: list[str] = []
        failed = False
        for piece in split_source(source) if self.args.split_input_file else [source]:
            try:
                outputs.append(self._process_piece(piece))
            except DiagnosticError as error:
                self.report(error.diagnostic)
                if self.args.debug:
                    traceback.print_exception(error)
            failed = self._has_failed(piece) or failed
        if self.args.mlir_timing:
            print(self.timing.table(), file=sys.stderr)
        if self.rewrite_reports is not None:
            self.rewrite_reports.print_tables()
        if not failed or self.args.output_file is None:
            write_output(self.args.output_file, f"{SPLIT_MARKER}\n".join(outputs))
        return 1 if failed else 0

    def report(self, diagnostic: Diagnostic) -> None:
        """Print a diagnostic, or keep it to be checked."""
        self._diagnostics.append(diagnostic)
        if not self.args.verify_diagnostics:
            print(diagnostic, file=sys.stderr)

    def _has_failed(self, piece: Source) -> bool:
        """Whether the diagnostics of a piece make it a failure; forgets them."""
        diagnostics, self._diagnostics = self._diagnostics, []
        if self.args.verify_diagnostics:
            from .expected import check_diagnostics

            diagnostics = check_diagnostics(piece, diagnostics)
            for problem in diagnostics:
                print(problem, file=sys.stderr)
        return any(diagnostic.severity == "error" for diagnostic in diagnostics)

    def _process_piece(self, source: Source) -> str:
        """The output for one piece. Raises `DiagnosticError` for the first thing that is wrong."""
        with self.timing.phase("(parse)"):
            module, positions = self.parse(source)
        if not self.args.disable_verify:
            with self.timing.phase("(verify)"), _internal_errors("verifying the input", source):
                try:
                    verify_ir(module)
                except DiagnosticException as error:
                    raise DiagnosticError(from_exception(error, positions)) from error
        if self.args.reduce is not None:
            with _internal_errors("reducing", source):
                module = self._reduce(module, positions)
        elif self.passes:
            from .pass_runner import (
                PassRunner,
            )  # with what it imports, as long to load as a small file to process

            with _internal_errors("running the passes", source):
                PassRunner(self).run(module, positions)
        if self.args.check_bounds or self.args.check_bounds_strict:
            with self.timing.phase("(check bounds)"), _internal_errors("checking bounds", source):
                self._check_bounds(module, positions)
        with self.timing.phase("(print)"):
            return self._print(module, positions)

    def _reduce(self, module: ModuleOp, positions: Positions) -> ModuleOp:
        """A smaller module that fails as this one does."""
        from .faults.reduce_command import reduce_module

        def parse(text: str) -> ModuleOp | None:
            try:
                return self.parse(Source(positions.source.name, text))[0]
            except DiagnosticError:
                return None

        def text(module: ModuleOp) -> str:
            return self._print(module, positions)

        try:
            return reduce_module(module, self.args, self.context, self.passes, text, parse)
        except DiagnosticException as error:
            raise DiagnosticError(from_exception(error, positions)) from error

    def _check_bounds(self, module: ModuleOp, positions: Positions) -> None:
        """Report accesses that are not proved to stay inside their buffers, and count all on standard error."""
        from .bounds import report_bounds

        try:
            summary = report_bounds(
                module,
                positions,
                self.report,
                strict=self.args.check_bounds_strict,
                remarks=self.args.remarks or self.args.verify_diagnostics,
            )
        except DiagnosticException as error:
            raise DiagnosticError(from_exception(error, positions)) from error
        if not self.args.verify_diagnostics:
            print(summary, file=sys.stderr)

    def parse(self, source: Source) -> tuple[ModuleOp, Positions]:
        """The module in `source`, an empty one for a piece with no operation. Raises `DiagnosticError`."""
        if is_blank(source):
            return ModuleOp([]), Positions(source, {})
        return parse_source(self.context, source, not self.args.no_implicit_module)

    def _print(self, module: ModuleOp, positions: Positions) -> str:
        output = StringIO()
        try:
            self.target.emit(self.context, module, output)
        except DiagnosticException as error:
            details = [f"note: in target '{self.target.name}'"]
            raise DiagnosticError(from_exception(error, positions, details)) from error
        except Exception as error:
            from .pass_runner import PassRunner

            what = f"target '{self.target.name}'"
            details = PassRunner(self).reproduce_target(module, what, error)
            raise DiagnosticError(crash(what, positions.source, error, details)) from error
        # xDSL's printer ends with an empty line.
        return output.getvalue().rstrip("\n") + "\n" if self.target.name == "mlir" else output.getvalue()


def _rewrite_reports(args: argparse.Namespace) -> "RewriteReports | None":
    """The reports of rewrites that the command line asks for, which take as long to load as the rules."""
    if not args.debug_rewrites and not args.mlir_pass_statistics:
        return None
    from .rewrite_reports import RewriteReports

    return RewriteReports.asked_for(args)


@contextmanager
def _internal_errors(doing: str, source: Source) -> Generator[None]:
    """Makes a diagnostic of any exception that nothing else has made one of."""
    try:
        yield
    except DiagnosticError:
        raise
    except Exception as error:
        raise DiagnosticError(crash(doing, source, error)) from error
