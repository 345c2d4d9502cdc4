"""`uop-opt`: reads IR, runs passes, prints IR; mlir-opt's manners on top of xDSL's driver."""

import argparse
import dataclasses
import os
import sys
from collections.abc import Sequence
from functools import cached_property
from io import StringIO
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.universe import Universe
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import VersionAction, xDSLOptMain

from .arguments import add_arguments, normalize_arguments
from .diagnostics import Diagnostic, DiagnosticError, Positions, Source, at_position, from_exception
from .files import read_source, write_output
from .parsing import SPLIT_MARKER, is_blank, parse_source, split_source
from .pass_options import make_from_spec, near_names
from .pipeline import PassInstrumentation, PassRun, Pipeline, build_pipeline, execute, expand_pipeline
from .pipeline_text import PassSpec, PipelineError, parse_pipeline, print_pipeline
from .pipelines import NAMED_PIPELINES
from .verifier import VerifyEach, verify_ir


class FailedRun(PassInstrumentation):
    """Remembers the run of a pass that failed."""

    run: PassRun | None = None

    def pass_failed(self, run: PassRun, error: Exception) -> None:
        self.run = run


class UOpOptMain(xDSLOptMain):
    """xDSL's driver with the registries of every installed universe, and its own command line, errors and flow."""

    version_format: ClassVar[str] = "uop-opt (xdsl {xdsl_version})"

    passes: Pipeline
    target: Target

    def __init__(self, arguments: Sequence[str] | None = None) -> None:
        given = sys.argv[1:] if arguments is None else arguments
        super().__init__("The optimizer driver of uop.", normalize_arguments(given, tuple(NAMED_PIPELINES)))

    # Registration. One scan of the entry points serves all; it brings uop in, which is itself installed.

    @cached_property
    def universe(self) -> Universe:
        return Universe.get_multiverse()

    def register_all_dialects(self) -> None:
        for name, factory in self.universe.all_dialects.items():
            self.ctx.register_dialect(name, factory)

    def register_all_passes(self) -> None:
        self.available_passes.update(self.universe.all_passes)

    def register_all_targets(self) -> None:
        self.available_targets.update(self.universe.all_targets)

    def register_all_frontends(self) -> None:
        self.available_frontends.update(self.universe.all_frontends)

    def register_all_arguments(self, arg_parser: argparse.ArgumentParser) -> None:
        arg_parser.prog = "uop-opt"
        arg_parser.usage = "%(prog)s [FILE] [flags]"
        arg_parser.allow_abbrev = False
        arg_parser.add_argument("-v", "--version", action=VersionAction, version_format=self.version_format)
        add_arguments(arg_parser, tuple(NAMED_PIPELINES))

    # What the command line asks for. Called last by xDSL's constructor.

    def setup_pipeline(self) -> None:
        """Find the passes and the target. Raises `DiagnosticError`."""
        self.target = self._make_target(self.args.target_text)
        given: list[tuple[str, str]] = self.args.pipelines or []
        anonymous = [flag for flag, _ in given if flag.removeprefix("--") not in NAMED_PIPELINES]
        if anonymous and len(given) > 1:
            others = ", ".join(flag for flag, _ in given)
            raise DiagnosticError(
                Diagnostic("error", f"give the passes only once, not by {others}", "uop-opt")
            )
        self.passes = tuple(item for flag, text in given for item in self._build(flag, text))

    def _build(self, flag: str, text: str) -> Pipeline:
        name = flag.removeprefix("--")
        if name in NAMED_PIPELINES:
            text = f"{name}{{{text}}}"
        try:
            if self.args.dump_pass_pipeline:
                elements = print_pipeline(expand_pipeline(text)[1])
                print(f"builtin.module({elements})", file=sys.stderr)
            return build_pipeline(text, self.available_passes)
        except PipelineError as error:
            source = Source(flag, error.text)
            raise DiagnosticError(at_position(source, error.position, "error", str(error))) from error

    def _make_target(self, text: str) -> Target:
        try:
            elements = parse_pipeline(text)
            spec = elements[0] if len(elements) == 1 else None
            if not isinstance(spec, PassSpec):
                raise PipelineError("expected the name of one target", text, 0)
            if spec.name not in self.available_targets:
                known = ", ".join(sorted(self.available_targets))
                near = near_names(spec.name, [*self.available_targets])
                raise PipelineError(
                    f"unknown target '{spec.name}'{near} (known: {known})", text, spec.position
                )
            target = make_from_spec(self.universe.all_targets[spec.name](), spec, text, kind="target")
        except PipelineError as error:
            source = Source("--target", error.text)
            raise DiagnosticError(at_position(source, error.position, "error", str(error))) from error
        if spec.name != "mlir":
            return target
        return dataclasses.replace(
            target,
            print_generic_format=self.args.print_op_generic,
            print_properties_as_attributes=self.args.print_no_properties,
            print_debuginfo=self.args.print_debuginfo,
            syntax_highlight=self.args.syntax_highlight,
        )

    # The flow.

    def process(self) -> int:
        """Read, process and write everything; returns the exit code."""
        source = read_source(self.args.input_file)
        if is_blank(source):
            raise DiagnosticError(
                Diagnostic("error", "the input is empty: there is no operation", source.name)
            )
        outputs: list[str] = []
        failed = False
        for piece in split_source(source) if self.args.split_input_file else [source]:
            try:
                outputs.append(self._process_piece(piece))
            except DiagnosticError as error:
                print(error.diagnostic, file=sys.stderr)
                failed = True
        if not failed or self.args.output_file is None:
            write_output(self.args.output_file, f"{SPLIT_MARKER}\n".join(outputs))
        return 1 if failed else 0

    def _process_piece(self, source: Source) -> str:
        module, positions = self._parse(source)
        if not self.args.disable_verify:
            try:
                verify_ir(module)
            except DiagnosticException as error:
                raise DiagnosticError(from_exception(error, positions)) from error
        failed = FailedRun()
        try:
            execute(self.passes, self.ctx, module, [failed, *self._instrumentations()])
        except DiagnosticException as error:
            assert failed.run is not None, "only passes raise"
            details = [f"note: in pass '{failed.run.name}'"]
            raise DiagnosticError(from_exception(error, positions, details)) from error
        return self._print(module, positions)

    def _parse(self, source: Source) -> tuple[ModuleOp, Positions]:
        if is_blank(source):
            return ModuleOp([]), Positions(source, {})
        return parse_source(self.ctx, source, not self.args.no_implicit_module)

    def _instrumentations(self) -> list[PassInstrumentation]:
        instrumentations: list[PassInstrumentation] = []
        if self.args.verify_each and not self.args.disable_verify:
            instrumentations.append(VerifyEach())
        return instrumentations

    def _print(self, module: ModuleOp, positions: Positions) -> str:
        output = StringIO()
        try:
            self.target.emit(self.ctx, module, output)
        except DiagnosticException as error:
            details = [f"note: in target '{self.target.name}'"]
            raise DiagnosticError(from_exception(error, positions, details)) from error
        return output.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `uop-opt`; returns 0, 1 for an error in the input or a pass, 2 for a bad command line."""
    try:
        driver = UOpOptMain(arguments)
    except DiagnosticError as error:
        print(error.diagnostic, file=sys.stderr)
        return 2
    try:
        return driver.process()
    except DiagnosticError as error:
        print(error.diagnostic, file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has gone. Python flushes standard output at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
