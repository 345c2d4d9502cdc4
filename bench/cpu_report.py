"""The results of bench/cpu.py as tables: for the terminal, and as a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import geometric_mean
from typing import Any

from cpu_cases import CASES
from cpu_programs import MODELS
from model_layers import PROGRAMS

OURS, EAGER, INDUCTOR, TINYGRAD = CONTENDERS = ("uop", "eager", "inductor", "tinygrad")

TIME_TITLES = (
    "program",
    *CONTENDERS,
    "better of eager, Inductor / uop",
    "kernels",
    "GFLOP/s",
    "GB/s",
    "error",
    "eager's",
)
COMPILE_TITLES = (
    "program",
    "export",
    "uop, first",
    "uop, warm",
    "uop, from the cache",
    "inductor, first",
    "uop / inductor",
    "tinygrad",
    "memory: uop",
    "eager",
    "inductor",
)

Record = Mapping[str, Any]


def faster(record: Record) -> float | None:
    """How many times as fast ours is as the better of eager and Inductor; None where ours has no time."""
    times = {name: median(record, name) for name in (OURS, EAGER, INDUCTOR)}
    ours = times.pop(OURS)
    others = [time for time in times.values() if time is not None]
    return min(others) / ours if ours and others else None


def median(record: Record, contender: str) -> float | None:
    """Microseconds of a run of a contender; None where it has no time."""
    times = entry(record, contender).get("times")
    return times["median"] if times else None


def entry(record: Record, contender: str) -> Record:
    """What was found of a contender; nothing where its step failed."""
    return record.get(TINYGRAD if contender == TINYGRAD else "times", {}).get(contender, {})


def time_rows(results: Mapping[str, Record]) -> Iterator[Sequence[str]]:
    """For each program: times, and errors against float64."""
    for name, record in results.items():
        ratio, ours = faster(record), median(record, OURS)
        work = record.get("work", {})
        worst = [entry(record, contender).get("worst") for contender in (OURS, EAGER)]
        yield [
            name,
            *(_times(record, contender) for contender in CONTENDERS),
            "" if ratio is None else f"{ratio:.2f}",
            str(work.get("kernels", "")),
            *(f"{work[key] / ours / 1e3:.1f}" if ours and key in work else "" for key in ("flops", "bytes")),
            *("" if error is None else f"{error:.1e}" for error in worst),
        ]


def compile_rows(results: Mapping[str, Record]) -> Iterator[Sequence[str]]:
    """For each program: seconds that compilers take, and memory."""
    for name, record in results.items():
        ours, cached, theirs = (record.get(step, {}) for step in ("uop", "cached", "inductor"))
        peer = entry(record, TINYGRAD).get("seconds", {})
        both = "compile" in ours and "compile" in theirs
        yield [
            name,
            *(_seconds(part.get(key)) for part, key in ((ours, "export"), (ours, "compile"), (ours, "warm"))),
            *(_seconds(part.get("compile")) for part in (cached, theirs)),
            f"{ours['compile'] / theirs['compile']:.3f}" if both else "",
            _seconds(peer.get("compile")),
            *(_memory(record.get(step, {})) for step in ("uop", "eager", "inductor")),
        ]


def verdict(results: Mapping[str, Record]) -> Iterator[str]:
    """Sentences: means, and what is slower than the better of eager and Inductor, or wrong."""
    for what, names in (("cases", CASES), ("models", MODELS), ("layers", PROGRAMS)):
        ratios = {name: ratio for name in names if (ratio := faster(results.get(name, {}))) is not None}
        if not ratios:
            continue
        slower = [f"{name} ({ratio:.2f})" for name, ratio in ratios.items() if ratio < 1]
        told = f"slower: {', '.join(slower)}" if slower else "none slower"
        yield (
            f"{len(ratios)} {what}: {geometric_mean(ratios.values()):.2f} times as fast as the better of eager and "
            f"Inductor in geometric mean; {told}."
        )
    for name, record in results.items():
        for contender in CONTENDERS:
            found = entry(record, contender)
            if found and not found["right"]:
                reason = found["error"].splitlines()[0] if found["error"] else f"off by {found['worst']:.1e}"
                yield f"{name}: {contender} is left out: {reason}"
        for step, part in record.items():
            if "failed" in part:
                yield f"{name}: step {step} failed: {part['failed']}"


def document(data: Mapping[str, Any]) -> str:
    """The page, in Markdown."""
    machine, results = data["machine"], data["results"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    parts = [
        "# Measured on a CPU",
        "",
        "<!-- Written by bench/cpu.py --write. -->",
        "",
        f"{machine['cpu']}, {machine['cores']} cores, vectors of {machine['vector bytes']} bytes; {versions}.",
        f"Programs run on {machine['threads']} threads. Measured limits, with {machine['limits']['source']}:",
        f"{machine['limits']['flops'] / 1e9:.0f} GFLOP/s of f32 and {machine['limits']['bytes'] / 1e9:.0f} GB/s read",
        "and written.",
        "",
        *(f"- {line}" for line in verdict(results)),
        "",
        "Each program is checked against float64 before it is timed. Contenders alternate in one process, for",
        f"{machine['rounds']} rounds; given are the median of the rounds and, in brackets, what the middle 80 % lie",
        "between. tinygrad is timed alone: its threads wait so actively that others' come to a halt. Results are new",
        "tensors in each run, and the call from Python counts. Threads keep to a core each. The",
        "machine is shared with other jobs; the process had",
        f"{'priority over them' if machine['priority'] else 'no priority over them'}.",
        "",
        "Where the middle 80 % are far apart, another job ran on the same cores, and the median says little.",
        "",
        "Where a program is one large product, little can be won on this machine: MKL's kernels come near the limit of",
        "its multiply-adds, too, which the GFLOP/s compare with. Small programs gain most, by fewer calls: the models",
        "are tiny (two layers, width 32), so their times are those of dispatch, not of arithmetic.",
        "",
        "## Microseconds",
        "",
        *markdown(TIME_TITLES, time_rows(results)),
        "",
        "GFLOP/s count operations on floats in the kernels, exp as one; GB/s the inputs and results, each once, which",
        "caches may hold. Errors are the greatest against float64, relative to the greatest element.",
        "",
        "## Seconds to compile, and memory",
        "",
        *markdown(COMPILE_TITLES, compile_rows(results)),
        "",
        "`first` is in a new process without caches: for uop passes and C compiler, behind `torch.export` (`export`);",
        "for Inductor its whole first call without what the second takes. `warm` is in a process that has compiled",
        "before, still without the cache; `from the cache` in a new process, the loading of Python modules included.",
        "Memory is the most that a process took, PyTorch included, not the C compilers. tinygrad is given the",
        "operations of the exported graph, products, attention and normalisations whole; its compiler is clang, or",
        "ziglang's.",
        "",
    ]
    return "\n".join(parts)


def markdown(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table."""
    return [f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows)]


def _times(record: Record, contender: str) -> str:
    found = entry(record, contender)
    if not found:
        return ""
    times = found["times"]
    if times is None:
        return "failed" if found["error"] else "wrong"
    return f"{_short(times['median'])} ({_short(times['low'])} to {_short(times['high'])})"


def _short(microseconds: float) -> str:
    return f"{microseconds:,.0f}" if microseconds >= 100 else f"{microseconds:.1f}"


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def _memory(record: Record) -> str:
    return f"{record['memory'] / 1e6:.0f} MB" if "memory" in record else ""
