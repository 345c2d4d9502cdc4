"""`uop`: compile PyTorch programs to CUDA, run them in the simulator, prove the rewrite rules."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from .garbage import rare_collections

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
DEVICES = ("sim", "interpret", "cpu", "cuda")
STAGES = {
    "cuda": ("torch", "uop", "partition", "range", "loop", "tile", "gpu-kernel", "cuda"),
    "c": ("torch", "uop", "partition", "range", "loop", "tile", "cpu-kernel", "c"),
}
"""Target → the forms of a program on its way there."""


LEVELS = {
    "tensors": "before they are cut into kernels",
    "loops": "of each kernel",
    **dict.fromkeys(ARCHITECTURES, "compiled and not run"),
    "cuda": "in the simulator",
    "cpu": "C on this machine",
}
"""Level of `uop check` → what is done there."""

CHECK_LEVELS = tuple(LEVELS)
EXECUTED_LEVELS = ("tensors", "loops", "cuda", "cpu")
DTYPES = ("f64", "f32", "f16", "bf16", "bool", "i8", "i16", "i32", "i64", "u8")


def make_parser() -> argparse.ArgumentParser:
    """The command line of `uop`."""
    parser = argparse.ArgumentParser(
        prog="uop", description="A compiler from PyTorch to CUDA in which nothing is hidden."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    source = argparse.ArgumentParser(add_help=False)
    source.add_argument(
        "source", nargs="?", metavar="FILE:FUNCTION", help="a function that returns a module and its example inputs"
    )
    source.add_argument(
        "-c", dest="code", metavar="CODE", help="Python whose last line is an expression, with torch, nn and F in scope"
    )
    source.add_argument("--load", action="append", default=[], metavar="FILE", help="also the rules that FILE defines")
    source.add_argument("--no-cache", action="store_true", help="look for nothing that is compiled, and keep nothing")
    source.add_argument("--remarks", action="store_true", help="tell what passes decided, and why")

    program = argparse.ArgumentParser(add_help=False, parents=[source])
    program.add_argument(
        "--arch", choices=ARCHITECTURES, help="architecture (default: the GPU's with --device cuda, else sm_90)"
    )
    program.add_argument(
        "--schedule",
        action="append",
        default=[],
        type=_schedule,
        metavar="SCHEDULE",
        help="how axes are carried out, of all kernels or of one: 'k = 4 loop * 16 loop', '@forward_1: i = 8 block'; "
        "the rest is chosen (--ir loop shows the axes, --remarks what is chosen; several times for several kernels)",
    )
    program.add_argument(
        "--cut",
        action="append",
        default=[],
        metavar="VALUE",
        help="end a kernel at what a source line computes, 'model.py:7', or at a value, '%%x'",
    )
    program.add_argument(
        "--join",
        action="append",
        default=[],
        metavar="VALUE",
        help="let the kernels that use such a value compute it (--remarks tells the cuts, and what they cost)",
    )

    compile_ = commands.add_parser(
        "compile",
        parents=[program],
        help="print or write any stage of the compilation; needs no GPU, allocates no tensors",
    )
    compile_.add_argument(
        "--target", choices=STAGES, help="what the program becomes: cuda, or c for this machine's CPU (default: cuda)"
    )
    compile_.add_argument(
        "--ir",
        choices=dict.fromkeys(stage for stages in STAGES.values() for stage in stages),
        metavar="STAGE",
        help="the stage to print (default: the last, unless -o is given): "
        + "; ".join(f"to {target} {', '.join(stages)}" for target, stages in STAGES.items()),
    )
    compile_.add_argument(
        "-o",
        dest="directory",
        metavar="DIR",
        help="write every stage to a file in DIR, and what `uop exec DIR` runs: plan, kernels, manifest",
    )
    compile_.add_argument(
        "--weights", action="store_true", help="with -o: also write the values of parameters and buffers"
    )
    compile_.add_argument("--no-locations", action="store_true", help="leave source locations out of the IR")
    _add_language_model(compile_)

    run = commands.add_parser(
        "run", parents=[program], help="run the program, and compare with eager PyTorch and float64"
    )
    run.add_argument(
        "--device",
        choices=DEVICES,
        help="what runs the program: cuda, an NVIDIA GPU; cpu, C text built by this machine's compiler; sim, the CUDA "
        "text in the simulator, which finds races and counts; interpret, the tensor form in numpy, without kernels "
        "(default: the first of cuda, cpu and sim that is there; sim with --profile; cuda or sim with --arch)",
    )
    run.add_argument("--seed", type=int, default=0, help="seed of the random inputs (default: %(default)s)")
    run.add_argument(
        "--profile",
        action="store_true",
        help="of each launch, the CUDA text with what each line did and which line of PyTorch it came from, and how the"
        " launch fills an A100, an H100 and a B200",
    )
    run.add_argument("--json", action="store_true", help="with --profile: print all that as JSON and nothing else")
    run.add_argument(
        "--check",
        choices=["each"],
        help="each: run the program after each pass too, and name the first pass and rewrite that change its results",
    )
    run.add_argument(
        "--save",
        metavar="DIR",
        help="where a failing run leaves what it takes to repeat it (default: a new folder uop-run-failure)",
    )

    bench = commands.add_parser(
        "bench",
        parents=[source],
        help="time eager PyTorch, torch.compile (Inductor) and ours, against each other and the machine's limits",
    )
    bench.add_argument("--device", choices=("cpu", "cuda"), help="(default: cuda where there is a GPU, else cpu)")
    bench.add_argument(
        "--rounds", type=_count, default=11, metavar="N", help="in each, all run in turn (default: %(default)s)"
    )
    bench.add_argument("--threads", type=_count, metavar="N", help="of the CPU (default: PyTorch's)")
    bench.add_argument("--json", metavar="FILE", help="write all that is found to FILE")
    bench.add_argument("--plot", metavar="FILE.png", help="draw the times; takes matplotlib")
    bench.add_argument("--no-inductor", action="store_true", help="leave Inductor out, which takes seconds to compile")

    exec_ = commands.add_parser("exec", help="run what `uop compile … -o DIR` wrote, without the compiler")
    exec_.add_argument("directory", metavar="DIR", help="the artifact")
    exec_.add_argument("--inputs", metavar="FILE", help="inputs by name, .npz or .safetensors; the others are random")
    exec_.add_argument("--weights", metavar="FILE", help="parameters and buffers by name, .safetensors")
    exec_.add_argument("--seed", type=int, default=0, help="seed of what is random (default: %(default)s)")
    exec_.add_argument("--device", metavar="NAME", help="what it runs on (default: the fastest that is there)")
    exec_.add_argument("--save", metavar="FILE", help="write the results, .npz or .safetensors")

    _add_generate(commands.add_parser("generate", help="text from a language model, in one decode step a token"))

    _add_cache(commands.add_parser("cache", help="what is compiled and kept on disk"))

    rules = commands.add_parser("rules", help="list the rewrite rules, or prove them")
    rules.add_argument("names", nargs="*", metavar="NAME", help="only rules whose family or name contains one of these")
    rules.add_argument("--prove", action="store_true", help="prove each rule: by z3, or by running both sides")
    rules.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes that prove (default: 1)")
    rules.add_argument("--load", action="append", default=[], metavar="FILE", help="also the rules that FILE defines")
    rules.add_argument(
        "--strict", action="store_true", help="fail too where a loaded rule is about ops without a registered meaning"
    )
    rules.add_argument("--json", action="store_true", help="print JSON instead of a table")

    _add_check(commands.add_parser("check", help="check a suite of programs: is each right, and why not"))
    return parser


def _add_language_model(compile_: argparse.ArgumentParser) -> None:
    """The arguments of `uop compile` for a language model."""
    group = compile_.add_argument_group(
        "language models",
        "hf:DIR or DIR, a folder with config.json, in the place of FILE:FUNCTION, or --config: compile prefill and "
        "decode, and tell kernels, work, memory and times (docs/models.md)",
    )
    group.add_argument(
        "--config", metavar="NAME", help="a published model's configuration: tinyllama-1.1b, qwen2.5-7b …"
    )
    group.add_argument("--dtype", choices=("f32", "f16", "bf16"), help="(default: what the configuration says)")
    group.add_argument(
        "--max-length",
        type=_count,
        default=4096,
        metavar="N",
        help="tokens that the cache holds (default: %(default)s)",
    )
    group.add_argument("--layers", type=_count, metavar="N", help="only the first N layers (default: all)")
    group.add_argument(
        "--prefill", type=_count, metavar="N", help="tokens of the prefill (default: any number, in one program)"
    )
    group.add_argument("--program", choices=("prefill", "decode"), help="only one of the two")


LANGUAGE_MODEL = "hf:"
"""What stands before the folder of a language model."""


def _check_compile(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse what does not go together in a command line of `uop compile`, and say what is left to be said."""
    source: str = options.source or ""
    options.is_model = (
        options.config is not None
        or source.startswith(LANGUAGE_MODEL)
        or (bool(source) and os.path.exists(os.path.join(source, "config.json")))
    )
    options.target = options.target or ("c" if options.ir and options.ir not in STAGES["cuda"] else "cuda")
    if options.ir and options.ir not in STAGES[options.target]:
        parser.error(f"there is no {options.ir} on the way to {options.target}")
    if options.weights and not options.directory:
        parser.error("--weights go where the artifact goes: give -o too")
    if options.is_model and options.ir and not options.program:
        parser.error("--ir prints one program: give --program prefill or --program decode")
    given = [f"--{name}" for name in ("dtype", "layers", "program") if getattr(options, name)]
    if not options.is_model and given:
        parser.error(f"{given[0]} is of language models: give hf:DIR or --config")


def _count(text: str) -> int:
    """A number of at least 1, from the command line."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of at least 1")
    return int(text)


def _schedule(text: str) -> str:
    """A schedule that can be read, from the command line."""
    from ..passes.loop.schedule_pins import parse_pin  # xDSL takes a while to load

    try:
        parse_pin(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _number(text: str) -> float:
    """A number that is not negative, from the command line."""
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 0 on")
    return number


def _token_ids(text: str) -> list[int]:
    """Tokens as numbers, from the command line."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"{text!r} are no tokens: give their numbers, such as 1,2,3")
    return [int(part) for part in parts]


def _add_generate(parser: argparse.ArgumentParser) -> None:
    """The arguments of `uop generate`."""
    model = parser.add_mutually_exclusive_group(required=True)
    model.add_argument(
        "directory", nargs="?", metavar="DIR", help="a folder with config.json, safetensors and tokenizer.json"
    )
    model.add_argument("--config", metavar="NAME", help="a published model's configuration, with --random-weights")
    prompt = parser.add_mutually_exclusive_group(required=True)
    prompt.add_argument("--prompt", metavar="TEXT", help="what the text begins with")
    prompt.add_argument("--prompt-ids", type=_token_ids, metavar="1,2,3", help="the same in numbers of tokens")
    parser.add_argument(
        "--tokens", type=_count, default=64, metavar="N", help="at most so many more (default: %(default)s)"
    )
    parser.add_argument(
        "--temperature",
        type=_number,
        default=0.0,
        metavar="T",
        help="draw each token, from logits divided by T (default: 0, take the most likely)",
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of what is drawn (default: %(default)s)")
    parser.add_argument("--ignore-end", action="store_true", help="go on after a token that ends the text")
    parser.add_argument(
        "--device", choices=("cpu", "cuda", "sim"), default="cpu", help="what runs the model (default: %(default)s)"
    )
    parser.add_argument("--dtype", choices=("f32", "f16", "bf16"), help="of weights and cache (default: the model's)")
    parser.add_argument(
        "--max-length",
        type=_count,
        metavar="N",
        help="tokens that the cache holds (default: 4096, or as many as the model has positions)",
    )
    parser.add_argument("--layers", type=_count, metavar="N", help="only the first N layers")
    parser.add_argument(
        "--random-weights", type=int, nargs="?", const=0, metavar="SEED", help="of random weights (default: seed 0)"
    )
    parser.add_argument("--no-cache", action="store_true", help="look for nothing that is compiled, and keep nothing")


def _add_cache(cache: argparse.ArgumentParser) -> None:
    """The arguments of `uop cache`."""
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    list_ = actions.add_parser("list", help="the entries, those used last first")
    list_.add_argument("--json", action="store_true", help="print JSON instead of a table")
    explain = actions.add_parser("explain", help="what differs between two entries, so that one was not found")
    explain.add_argument("entry", metavar="A", help="the beginning of an entry's digest, as `uop cache list` shows it")
    explain.add_argument("other", nargs="?", metavar="B", help="another (default: the one that differs least)")
    actions.add_parser("clear", help="remove all entries")
    actions.add_parser("path", help="print the folder: $UOP_CACHE_DIR, else $XDG_CACHE_HOME/uop, else ~/.cache/uop")


def _add_check(check: argparse.ArgumentParser) -> None:
    """The arguments of `uop check`."""
    check.description = (
        "Run a suite of programs, compare each with eager PyTorch and float64, or with what it states, and count what "
        "is right, refused, wrong …; the exit status is 1 where something is wrong or crashes. More: docs/checking.md"
    )
    suites = check.add_subparsers(dest="suite", required=True, metavar="SUITE")

    def suite(name: str, levels: Sequence[str], help: str) -> argparse.ArgumentParser:
        parser = suites.add_parser(name, help=help)
        parser.add_argument(
            "--level",
            nargs="+",
            choices=levels,
            default=levels,
            metavar="LEVEL",
            help=f"what to execute (default: all): {'; '.join(f'{name}, {LEVELS[name]}' for name in levels)}",
        )
        parser.add_argument("--match", default="", metavar="TEXT", help="only cases with TEXT in their name")
        parser.add_argument("--jobs", type=_count, default=1, metavar="N", help="processes (default: %(default)s)")
        parser.add_argument(
            "--time-limit",
            type=float,
            default=60.0,
            metavar="SECONDS",
            help="CPU time for each level of a case (default: %(default)s)",
        )
        parser.add_argument("--json", metavar="FILE", help="write every outcome to FILE, while it runs")
        return parser

    cases = suite("cases", EXECUTED_LEVELS, "programs from a file")
    cases.add_argument("file", metavar="FILE", help=".jsonl with expected values, or .txt with an expression a line")

    opinfo = suite("opinfo", EXECUTED_LEVELS, "PyTorch's operations, on PyTorch's own samples of inputs")
    opinfo.add_argument(
        "--dtype",
        nargs="+",
        choices=DTYPES,
        default=["f32"],
        metavar="DTYPE",
        help=f"dtypes of the samples, of {', '.join(DTYPES)} (default: f32)",
    )
    opinfo.add_argument(
        "--batch",
        type=_count,
        default=1,
        metavar="N",
        help="samples of an operation that are exported and compiled together, as one program, which is cut into "
        "smaller ones where it is not right (default: %(default)s)",
    )
    samples = opinfo.add_mutually_exclusive_group()
    samples.add_argument(
        "--samples",
        type=_count,
        default=1,
        metavar="N",
        help="at most N samples of each operation and dtype, the first and others spread over them (default: 1)",
    )
    samples.add_argument("--all-samples", action="store_true", help="every sample")
    opinfo.add_argument("--limit", type=_count, metavar="N", help="at most N operations")
    opinfo.add_argument("--include-errors", action="store_true", help="also inputs that PyTorch raises for")

    suite("models", CHECK_LEVELS, "small models of `transformers` with random weights")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `uop`; returns 0, 1 for an error or a wrong result, 2 for a bad command line."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command == "rules":
        from .rules_command import rules_command

        return guarded(lambda: rules_command(options))
    if options.command == "check":

        def check() -> int:
            from .check_command import check_command

            return check_command(options)

        return guarded(check)
    if options.command == "exec":

        def exec_() -> int:
            from .exec_command import execute

            return execute(options)

        return guarded(exec_)
    if options.command == "cache":

        def cache() -> int:
            from .cache_command import execute

            return execute(options)

        return guarded(cache)
    if options.no_cache:
        os.environ["UOP_CACHE"] = "0"
    if options.command == "generate":

        def generate() -> int:
            from .uop_commands import generate_in_words

            return generate_in_words(options)

        return guarded(generate)
    programs = (options.source, options.code, getattr(options, "config", None))
    if sum(program is not None for program in programs) != 1:
        parser.error("give one program: -c CODE, or FILE:FUNCTION")
    if options.command == "compile":
        _check_compile(parser, options)
    if options.command == "run" and options.json and not options.profile:
        parser.error("--json prints the profile: give --profile too")
    if options.command == "run" and options.profile and options.device not in (None, "sim"):
        parser.error("--profile tells what the simulator counts: leave --device out")
    if options.command == "run" and options.arch and options.device in ("cpu", "interpret"):
        parser.error(f"--arch is of GPUs: --device {options.device} takes none")

    def execute() -> int:
        # PyTorch takes seconds to load: the command line is checked first.
        from .uop_commands import execute

        with rare_collections() if options.command == "compile" else nullcontext():
            return execute(options)

    return guarded(execute)


EXTRAS = {
    "torch": "torch",
    "rich": "torch",
    "z3": "prove",
    "expecttest": "check",
    "transformers": "models",
    "tokenizers": "models",
}
"""Optional packages, and the extra of uop that brings each."""


def guarded(command: Callable[[], int]) -> int:
    """What a command returns; 1 where a package is missing or the reader of its output has gone."""
    try:
        return command()
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        print(f"uop: error: {error.name} is not installed: pip install 'uop[{extra}]'", file=sys.stderr)
        return 1
    except BrokenPipeError:
        # The reader has gone. Python flushes standard output at exit: let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
