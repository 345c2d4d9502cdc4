"""The command line of `uop-opt`: mlir-opt's flags under mlir-opt's names.

As in mlir-opt, a flag may be written with one dash or two, one that is on or off takes `=true` or `=false`,
and the prefix `mlir-` of mlir-opt's own flags may be written or left out.
"""

import argparse
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Flag(NamedTuple):
    """A flag of the command line; with a `metavar` it takes a value, else it is on or off.

    repeated: it may be given several times, and has a list of values
    optional: its value may be left out, and is "" then
    """

    name: str
    help: str
    metavar: str | None = None
    short: str | None = None
    default: bool | str | None = None
    dest: str | None = None
    repeated: bool = False
    optional: bool = False


FLAGS: Mapping[str, tuple[Flag, ...]] = {
    "input and output": (
        Flag("output-file", "file to write (default: standard output); only written on success", "FILE", "-o"),
        Flag("split-input-file", "process each piece between lines `// -----` on its own"),
        Flag("allow-unregistered-dialect", "accept operations, types and attributes that no dialect defines"),
        Flag("no-implicit-module", "do not wrap the input in a builtin.module"),
        Flag(
            "target",
            "print the result with this target, options in braces",
            "NAME",
            "-t",
            "mlir",
            "target_text",
        ),
        Flag("print-uop-tree", "print functions and kernels as trees of numbered nodes: short for -t uop-tree"),
        Flag("print-op-generic", "print operations in generic form"),
        Flag("print-debuginfo", "print the locations of operations"),
        Flag("print-no-properties", "print properties as attributes"),
        Flag("syntax-highlight", "print with colours"),
    ),
    "passes": (
        Flag("load", "use the dialects, rules and passes of this Python file too", "FILE", repeated=True),
        Flag("pass-pipeline", "passes to run, such as 'builtin.module(cse,func.func(x{a=1}))'", "PIPELINE"),
        Flag("passes", "the same without the anchor, such as cse,canonicalize", "PASSES", "-p"),
        Flag("dump-pass-pipeline", "print the pipeline with named pipelines spelled out, on standard error"),
        Flag(
            "verify-each",
            "verify the IR, SSA dominance included, after each pass (on by default)",
            default=True,
        ),
        Flag("disable-verify", "verify nothing at all"),
        Flag(
            "interpret-each",
            "run the program on random inputs after each pass, and name the first that changes what it computes",
            "SEED",
            optional=True,
        ),
        Flag("interpret-inputs", "with --interpret-each: run it on the .npy files in DIR too, in order of name", "DIR"),
        Flag("bisect", "with --interpret-each: also find the rewrite that is wrong"),
        Flag(
            "reduce",
            "make the input smaller while COMMAND, run by the shell with the path of a candidate for %%s or at its "
            "end, exits with 0; without COMMAND: while the passes fail as they do on the input",
            "COMMAND",
            optional=True,
        ),
        Flag("reduce-tries", "stop --reduce after so many candidates", "N", default="5000"),
        Flag("reduce-seconds", "stop --reduce after so many seconds", "N", default="600"),
        Flag("run-reproducer", "run what the `// configuration:` line of the input says"),
    ),
    "diagnostics, on standard error": (
        Flag("check-bounds", "prove that every access of every kernel of the result is inside its buffer"),
        Flag("check-bounds-strict", "the same, and refuse accesses that depend on data being in range"),
        Flag("verify-diagnostics", "check the diagnostics against `// expected-error@+1 {{text}}` comments"),
        Flag("remarks", "print the remarks of passes"),
        Flag("print-ir-before", "print the IR before these passes", "PASSES"),
        Flag("print-ir-after", "print the IR after these passes", "PASSES"),
        Flag("print-ir-before-all", "print the IR before each pass"),
        Flag("print-ir-after-all", "print the IR after each pass"),
        Flag("print-ir-after-change", "print the IR only after passes that changed it"),
        Flag("print-ir-after-failure", "print the IR that a failing pass has left"),
        Flag("print-ir-diff", "print what each pass changed as a unified diff"),
        Flag("debug-rewrites", "print each rewrite: its rule, its place, the term before and after"),
        Flag("mlir-pass-statistics", "print for each pass how often each rule fired and was tried"),
        Flag("mlir-timing", "print the CPU and wall time of each pass"),
        Flag("crash-reproducer-dir", "folder for the reproducer of a crash (default: the current one)", "DIR"),
        Flag(
            "mlir-pass-pipeline-crash-reproducer",
            "write the reproducer of any failed pass to this file",
            "FILE",
        ),
        Flag("debug", "show the Python traceback of an error"),
    ),
    "information": (
        Flag("list-passes", "list the passes and what they do"),
        Flag("list-targets", "list the targets"),
        Flag("list-dialects", "list the dialects"),
    ),
}

# The flags that give a pipeline of `pipelines.py`; the options are those of `CompileOptions`.
NAMED_PIPELINES = {
    "uop-to-cuda": "from any stage to what `-t cuda` prints; options such as 'arch=sm_90 after=loop to=tile' and, "
    "for the schedules of kernels, schedule='k = 4 loop * 16 loop','@forward_1: i = 8 block'",
    "uop-to-c": "from any stage to what `-t c` prints; options such as 'vector-bytes=64 after=loop', and those of "
    "--uop-to-cuda but arch",
}

_ALL = {flag.name: flag for flags in FLAGS.values() for flag in flags}
_TRUE, _FALSE = ("true", "1"), ("false", "0")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare `FLAGS` and `NAMED_PIPELINES`.

    Pipelines, however spelled, become the list `pipelines` of pairs (flag, text), in the order given.
    """
    # xDSL's driver looks these up, in a syntax that has fewer spellings than ours: `-t` is resolved by us.
    parser.set_defaults(target="mlir", frontend=None)
    parser.add_argument("input_file", nargs="?", metavar="FILE", help="the input; `-` or nothing: standard input")
    for title, flags in FLAGS.items():
        group = parser.add_argument_group(title)
        for flag in flags:
            _add_flag(group, flag)
    group = parser.add_argument_group("named pipelines, run in the order given")
    for name, description in NAMED_PIPELINES.items():
        group.add_argument(f"--{name}", dest="pipelines", action=AppendPipeline, metavar="OPTIONS", help=description)


def normalize_arguments(arguments: Sequence[str]) -> list[str]:
    """Spell `arguments` in argparse's way: see the top of this file."""
    known = {*_ALL, *NAMED_PIPELINES, *(f"no-{name}" for name, flag in _ALL.items() if flag.metavar is None)}
    result: list[str] = []
    for position, argument in enumerate(arguments):
        if argument == "--":
            return [*result, *arguments[position:]]
        dashes = len(argument) - len(argument.lstrip("-"))
        name, equals, value = argument[dashes:].partition("=")
        for candidate in (name, f"mlir-{name}", name.removeprefix("mlir-")):
            if candidate in known:
                name = candidate
                break
        if dashes not in (1, 2) or len(name) == 1 or name not in known:
            result.append(argument)
            continue
        flag = _ALL.get(name)
        if (name in NAMED_PIPELINES or (flag is not None and flag.optional)) and not equals:
            equals = "="  # the value is optional, so it must not be taken from the next argument
        if flag is not None and flag.metavar is None and value in (*_TRUE, *_FALSE):
            name, equals, value = (name if value in _TRUE else f"no-{name}"), "", ""
        result.append(f"--{name}{equals}{value}")
    return result


class AppendPipeline(argparse.Action):
    """Appends (flag, text): pipelines are run in the order of the command line."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        assert option_string is not None, "pipelines are given by flags"
        given: list[tuple[str, str]] = getattr(namespace, self.dest) or []
        setattr(namespace, self.dest, [*given, (option_string, str(values))])


def _add_flag(group: "argparse._ArgumentGroup", flag: Flag) -> None:  # pyright: ignore[reportPrivateUsage]  # argparse exports no name for it
    names = [name for name in (flag.short, f"--{flag.name}") if name is not None]
    if flag.metavar is None:
        dest = flag.name.replace("-", "_")
        group.add_argument(*names, dest=dest, action="store_true", default=bool(flag.default), help=flag.help)
        group.add_argument(f"--no-{flag.name}", dest=dest, action="store_false", help=argparse.SUPPRESS)
    elif flag.name in ("pass-pipeline", "passes"):
        group.add_argument(*names, dest="pipelines", action=AppendPipeline, metavar=flag.metavar, help=flag.help)
    elif flag.repeated:
        group.add_argument(*names, action="append", default=[], metavar=flag.metavar, help=flag.help)
    else:
        dest = flag.dest or flag.name.replace("-", "_")
        group.add_argument(*names, dest=dest, metavar=flag.metavar, default=flag.default, help=flag.help)
