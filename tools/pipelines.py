"""Named pipelines: `--uop-to-cuda='arch=sm_90'` is short for the text that this file spells out.

`TARGETS` is the compiler in one table: the forms of a program from PyTorch to the text of each target, and the passes
that lead from each form to the next. `uop-opt` and `uop` both read it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .pass_options import print_values
from .pipeline_text import Option, PassSpec


@dataclass(frozen=True)
class Step:
    """A pass in a named pipeline; `forwards` are the options of the pipeline that it is given, `fixed` its own."""

    name: str
    forwards: tuple[str, ...] = ()
    fixed: tuple[Option, ...] = ()

    def spell(self, options: "CompileOptions") -> str:
        """The step as text, `convert-tile-to-gpu-kernel{arch=sm_90}`; options that are empty lists are left out."""
        values = {name: print_values(getattr(options, name)) for name in self.forwards}
        forwarded = (Option(name, value) for name, value in values.items() if value)
        return str(PassSpec(self.name, (*self.fixed, *forwarded)))


@dataclass(frozen=True)
class Stage:
    """A form of the program that can be printed, stored and continued, and the steps that make it."""

    name: str
    steps: tuple[Step, ...] = ()


@dataclass(frozen=True)
class CompileOptions:
    """Options of the pipelines that compile.

    arch:     the GPU architecture to compile for
    vector_bytes: bytes of the vectors of the CPU to compile for
    schedule: what the user decides of the kernels' schedules, as choose-schedule takes it
    cut, join: names of values that uop-partition is to store, or not
    after:    the form that the input has: only the passes after this stage are run ('' runs all)
    to:       the stage to stop at ('' runs all)
    """

    arch: str = "sm_90"
    vector_bytes: int = 32
    schedule: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()
    join: tuple[str, ...] = ()
    after: str = ""
    to: str = ""


_UOP = Stage("uop", (Step("convert-torch-to-uop"), Step("uop-simplify")))
_LOOP = Stage("loop", (Step("convert-uop-to-loop"),))

STAGES: tuple[Stage, ...] = (
    Stage("torch"),
    _UOP,
    Stage(
        "partition",
        (
            Step("uop-expand-scatter"),
            Step("uop-split-scan"),
            Step("uop-factor-rows"),
            Step("uop-fuse-deviations"),
            Step("uop-split-reduce"),
            Step("uop-partition", ("cut", "join")),
            Step("uop-merge-kernels"),
        ),
    ),
    Stage(
        "range",
        (
            Step("uop-rangeify"),
            Step("uop-simplify"),
            Step("uop-store-in-place"),
            Step("uop-fuse-reductions"),
            Step("uop-separate-statistics"),
            Step("uop-approximate"),
            Step("uop-limit-ranges"),
            Step("uop-split-attention"),
            Step("uop-plan-buffers"),
        ),
    ),
    _LOOP,
    Stage(
        "tile",
        (
            Step("choose-schedule", ("schedule",)),
            Step("convert-loop-to-tile"),
            Step("tile-drop-masks"),
            Step("tile-stage"),
            Step("tile-prepare"),
            Step("tile-mma"),
            Step("uop-simplify"),
            Step("tile-vectorize"),
        ),
    ),
    Stage(
        "gpu-kernel",
        (
            Step("convert-tile-to-gpu-kernel", ("arch",)),
            Step("gpu-kernel-check"),
            Step("gpu-kernel-strength-reduce"),
        ),
    ),
)


_CPU = (Option("machine", print_values("cpu")),)

_ATTENTION = (Option("row", print_values(2**62)), Option("warp-row", print_values(2**62)))
"""A CPU walks over a row twice sooner than it computes an exponential more: only attention is made one walk."""

_BEYOND_CACHES = (
    Option("row", print_values(1 << 18)),
    Option("part", print_values(1 << 17)),
    Option("column", print_values(2**62)),
)
"""A second walk over a row of 1 MiB, which the second cache holds, costs a CPU less than to combine its parts."""

C_STAGES: tuple[Stage, ...] = (
    Stage("torch"),
    _UOP,
    Stage(
        "partition",
        (
            Step("uop-expand-scatter"),
            Step("uop-fuse-deviations", fixed=_BEYOND_CACHES),
            Step("uop-split-reduce", fixed=(Option("products", print_values(False)),)),
            Step("uop-partition", ("cut", "join"), fixed=_CPU),
            Step("uop-merge-kernels"),
        ),
    ),
    Stage(
        "range",
        (
            Step("uop-rangeify"),
            Step("uop-simplify"),
            Step("uop-store-in-place"),
            Step("uop-fuse-reductions", fixed=_ATTENTION),
            Step("uop-split-groups"),
            Step("uop-limit-ranges"),
            Step("uop-split-attention", fixed=_CPU),
            Step("uop-plan-buffers"),
        ),
    ),
    _LOOP,
    Stage(
        "tile",
        (
            Step("choose-cpu-schedule", ("vector_bytes", "schedule")),
            Step("convert-loop-to-tile"),
            Step("tile-drop-masks"),
            Step("tile-pack"),
            Step("uop-simplify"),
        ),
    ),
    Stage("cpu-kernel", (Step("convert-tile-to-cpu-kernel", ("vector_bytes",)),)),
)
"""From PyTorch to CPUs, whose compiler is one of C."""

TARGETS = {"cuda": STAGES, "c": C_STAGES}
"""Name of the text that a program becomes → its forms on the way there."""


def target_with(stage: str) -> str:
    """The target on the way to which programs have this form; the first of several."""
    return next(target for target, stages in TARGETS.items() if any(stage == each.name for each in stages))


def stage_index(name: str, stages: Sequence[Stage] = STAGES) -> int:
    """The place of the stage in a table. Raises `ValueError` naming the stages there are."""
    names = [stage.name for stage in stages]
    if name not in names:
        raise ValueError(f"unknown stage '{name}' (the stages are {', '.join(names)})")
    return names.index(name)


def stages_between(after: str = "", to: str = "", stages: Sequence[Stage] = STAGES) -> Sequence[Stage]:
    """The stages to run on a program in the form `after`, up to and including `to`. Raises `ValueError`."""
    first = stage_index(after, stages) + 1 if after else 0
    last = stage_index(to, stages) + 1 if to else len(stages)
    if first > last:
        raise ValueError(f"stage '{to}' comes before '{after}', the form that the input has")
    return stages[first:last]


def _spell(options: CompileOptions, stages: Sequence[Stage]) -> str:
    steps = [step for stage in stages_between(options.after, options.to, stages) for step in stage.steps]
    return ",".join(step.spell(options) for step in steps)


def uop_to_cuda(options: CompileOptions) -> str:
    """From any stage to `gpu-kernel`, what `-t cuda` prints."""
    return _spell(options, STAGES)


def uop_to_c(options: CompileOptions) -> str:
    """From any stage to `cpu-kernel`, what `-t c` prints."""
    return _spell(options, C_STAGES)


# Name → the pipeline's text for given options.
NAMED_PIPELINES: dict[str, Callable[[CompileOptions], str]] = {"uop-to-cuda": uop_to_cuda, "uop-to-c": uop_to_c}
