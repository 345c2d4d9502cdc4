"""The class behind `uop-opt`: xDSL's driver with mlir-opt's command line."""

import argparse
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from xdsl.targets.mlir import MLIRTarget
from xdsl.universe import Universe
from xdsl.utils.target import Target
from xdsl.xdsl_opt_main import VersionAction, xDSLOptMain

from .arguments import NAMED_PIPELINES, add_arguments, normalize_arguments
from .diagnostics import Diagnostic, DiagnosticError, Source, at_position
from .files import read_source
from .plugins import installed_plugins, load_plugin, register_plugin
from .printing import TextTarget
from .processing import Processor

if TYPE_CHECKING:
    from .pipeline import Pipeline
    from .pipeline_text import PipelineError


class UOpOptMain(xDSLOptMain):
    """xDSL's driver with the registries of all installed universes; command line and errors are its own."""

    version_format: ClassVar[str] = "uop-opt (xdsl {xdsl_version})"

    passes: "Pipeline"
    target: Target

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__("The optimizer driver of uop.", normalize_arguments(arguments))

    # Registration. One scan of the entry points serves all; it brings uop in, which is itself installed.

    @cached_property
    def universe(self) -> Universe:
        try:
            return Universe.get_multiverse()
        except Exception as error:  # a broken plugin, or two that define the same name
            message = f"cannot load the plugins of the group `xdsl.universe`: {type(error).__name__}: {error}"
            raise _usage_error(message) from error

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
        add_arguments(arg_parser)

    # What the command line asks for.

    @cached_property
    def source(self) -> Source:
        return read_source(self.args.input_file)

    def setup_pipeline(self) -> None:
        """Find the passes and the target; called last by xDSL's constructor. Raises `DiagnosticError`."""
        for plugin in (*installed_plugins(), *map(load_plugin, self.args.load)):
            register_plugin(plugin, self.universe.all_dialects, self.available_passes)
            for dialect in plugin.dialects:
                self.ctx.register_dialect(dialect.name, self.universe.all_dialects[dialect.name])
        given: list[tuple[str, str]] = self.args.pipelines or []
        self.target_text: str = "uop-tree" if self.args.print_uop_tree else self.args.target_text
        if self.args.run_reproducer:
            if given:
                raise _usage_error(f"--run-reproducer brings its own passes: leave out {given[0][0]}")
            given = [*self._read_configuration()]
        anonymous = [flag for flag, _ in given if flag.removeprefix("--") not in NAMED_PIPELINES]
        if anonymous and len(given) > 1:
            raise _usage_error(f"{anonymous[0]} must be the only flag that gives passes")
        self.passes = tuple(item for flag, text in given for item in self._build(flag, text))
        self.target = self._make_target(self.target_text)
        for flag in ("--print-ir-before", "--print-ir-after"):
            self._check_pass_names(flag)
        self._check_interpretation()
        self._check_reduction()

    def _read_configuration(self) -> Iterator[tuple[str, str]]:
        """Follow the configuration of a reproducer; yields its pipelines."""
        from .reproducer import read_configuration

        try:
            configuration = read_configuration(self.source.text)
        except ValueError as error:
            raise DiagnosticError(Diagnostic("error", str(error), self.source.name)) from error
        for flag, value in configuration.items():
            match flag:
                case "--target":
                    self.target_text = value
                case "--allow-unregistered-dialect":
                    self.ctx.allow_unregistered = True
                case _:
                    yield flag, value

    def _build(self, flag: str, text: str) -> "Pipeline":
        from .pipeline import build_pipeline, expand_pipeline
        from .pipeline_text import Nest, PipelineError

        if flag.removeprefix("--") in NAMED_PIPELINES:
            text = f"{flag.removeprefix('--')}{{{text}}}"
        try:
            if self.args.dump_pass_pipeline:
                _, elements = expand_pipeline(text)
                print(Nest("builtin.module", elements), file=sys.stderr)
            return build_pipeline(text, self.available_passes)
        except PipelineError as error:
            raise _text_error(flag, error) from error

    def _make_target(self, text: str) -> Target:
        if text != "mlir":
            target = self._find_target(text)
            if not isinstance(target, MLIRTarget):
                return target
        else:
            target = MLIRTarget()
        return TextTarget(
            print_generic_format=target.print_generic_format or self.args.print_op_generic,
            print_properties_as_attributes=target.print_properties_as_attributes or self.args.print_no_properties,
            print_debuginfo=target.print_debuginfo or self.args.print_debuginfo,
            syntax_highlight=target.syntax_highlight or self.args.syntax_highlight,
        )

    def _find_target(self, text: str) -> Target:
        from .pass_options import load, make_from_spec, near_names
        from .pipeline_text import PassSpec, PipelineError, parse_pipeline

        targets = self.universe.all_targets
        try:
            elements = parse_pipeline(text)
            if len(elements) != 1 or not isinstance(spec := elements[0], PassSpec):
                raise PipelineError("expected the name of one target", text, 0)
            if spec.name not in targets:
                known = ", ".join(sorted(targets))
                message = f"unknown target '{spec.name}'{near_names(spec.name, [*targets])} (known: {known})"
                raise PipelineError(message, text, spec.position)
            return make_from_spec(load(targets[spec.name], "target", spec, text), spec, text, kind="target")
        except PipelineError as error:
            raise _text_error("--target", error) from error

    def _check_pass_names(self, flag: str) -> None:
        """Refuse a flag that names passes which there are not."""
        if (text := getattr(self.args, flag.removeprefix("--").replace("-", "_"))) is None:
            return
        from .pass_options import near_names
        from .pass_runner import names_in

        for name in names_in(text):
            if name not in self.available_passes:
                near = near_names(name, [*self.available_passes])
                raise _usage_error(f"{flag}: unknown pass '{name}'{near}")

    def _check_interpretation(self) -> None:
        """Refuse flags of `--interpret-each` that make no sense."""
        seed: str | None = self.args.interpret_each
        if seed is None:
            if self.args.interpret_inputs is not None:
                raise _usage_error("--interpret-inputs is for --interpret-each: give that too")
            if self.args.bisect:
                raise _usage_error("--bisect looks into the pass that --interpret-each names: give that too")
        elif seed and not seed.isdecimal():
            raise _usage_error(f"--interpret-each: the seed is a number such as 1, not '{seed}'")
        elif not self.passes:
            raise _usage_error("--interpret-each needs passes: give some with -p or --pass-pipeline")

    def _check_reduction(self) -> None:
        """Refuse flags of `--reduce` that make no sense."""
        args = self.args
        if args.reduce is None:
            return
        if args.reduce and self.passes:
            raise _usage_error("--reduce: the command runs the passes: leave them out, or leave out the command")
        if not args.reduce and not self.passes:
            raise _usage_error("--reduce needs a command, or passes that fail")
        if args.split_input_file:
            raise _usage_error("--reduce takes one program: leave out --split-input-file")
        for flag in ("reduce_tries", "reduce_seconds"):
            value: str = getattr(args, flag)
            if not value.isdecimal():
                raise _usage_error(f"--{flag.replace('_', '-')}: a number is needed, not '{value}'")
        paths = (args.input_file, args.output_file)
        if None not in paths and os.path.realpath(paths[0]) == os.path.realpath(paths[1]):
            raise _usage_error("--reduce: the output would replace the input: give -o another name")

    def print_lists(self) -> None:
        """What `--list-passes` and the like ask for."""
        from .listing import list_classes

        if self.args.list_passes:
            print(*list_classes(self.available_passes), sep="\n")
        if self.args.list_targets:
            print(*list_classes(self.universe.all_targets), sep="\n")
        if self.args.list_dialects:
            print(*sorted(self.universe.all_dialects), sep="\n")

    def run(self) -> None:
        """Process the input; exits with 1 when something is wrong with it."""
        sys.exit(self.process())

    def process(self) -> int:
        """Read, process and write everything; returns the exit code. Raises `DiagnosticError`."""
        if self.args.list_passes or self.args.list_targets or self.args.list_dialects:
            self.print_lists()
            return 0
        return Processor(self.args, self.ctx, self.passes, self.target, self.target_text).process(self.source)


def _usage_error(message: str) -> DiagnosticError:
    return DiagnosticError(Diagnostic("error", message, "uop-opt"))


def _text_error(flag: str, error: "PipelineError") -> DiagnosticError:
    """The diagnostic for an error in the text that `flag` was given."""
    return DiagnosticError(at_position(Source(flag, error.text), error.position, "error", str(error)))


def drive(arguments: Sequence[str]) -> int:
    """Do what the command line says; returns the exit code (see `main`).

    Exits where argparse does: after `--help`, and with 2 for an unknown flag.
    """
    code = 2
    try:
        driver = UOpOptMain(arguments)
        code = 1
        return driver.process()
    except DiagnosticError as error:
        print(error.diagnostic, file=sys.stderr)
        if "--debug" in arguments:
            traceback.print_exception(error)
        return code
