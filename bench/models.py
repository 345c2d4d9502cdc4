"""One decoder layer of TinyLlama and of Qwen2.5-0.5B at full width: on this machine's CPU beside eager PyTorch and
Inductor, and its CUDA kernels in the simulator.

Usage: python bench/models.py [PROGRAM …] [--json FILE] [--write] [--threads N] [--rounds N] [--no-inductor]
                              [--no-gpu | --no-cpu]

Programs are model_layers.py's: 128 tokens at once, and one token after 1 and after 512 others. On the CPU in f32, as
bench/cpu.py measures; the kernels for a GPU in f16, counted like those of bench/kernels.py. Needs `transformers`.

--write writes bench/models.json and docs/model_speed.md; programs that are not named keep the results that are there.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cpu_report import COMPILE_TITLES, TIME_TITLES, compile_rows, markdown, time_rows, verdict
from cpu_steps import is_good, measure_all, merge_record, parse_options, print_tables
from model_kernels import TITLES, count_kernels, kernel_rows
from model_layers import PROGRAMS
from rich.table import Table

from uop.tools.console import console

HERE = Path(__file__).parent

RECORD, PAGE = HERE / "models.json", HERE.parent / "docs" / "model_speed.md"

GPU = "gpu"
"""Where a program's record has the counters of its kernels."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    skipped = parser.add_mutually_exclusive_group()
    skipped.add_argument("--no-gpu", action="store_true", help="leave the simulator out")
    skipped.add_argument("--no-cpu", action="store_true", help="leave the CPU out")
    options = parse_options(parser, PROGRAMS)
    if not options.programs:
        parser.error("the layers are made by transformers, which is not installed")
    if options.no_cpu and options.write and not RECORD.exists():
        parser.error(f"--no-cpu adds to a record, and there is no {RECORD}")
    data: dict[str, Any] = {"results": {}} if options.no_cpu else measure_all(options)
    measured: dict[str, Any] = data["results"]
    if not options.no_cpu:
        print_tables(measured)
    counted: dict[str, Sequence[Mapping[str, Any]]] = {}
    if not options.no_gpu:
        for name in options.programs:
            print(f"{name}: kernels in the simulator", file=sys.stderr, flush=True)
            counted[name] = count_kernels(name)
        _print_kernels(counted)
    good = is_good(measured)
    if options.write:
        for name in options.programs:
            measured[name] = dict(measured.get(name, {})) | ({GPU: counted[name]} if name in counted else {})
        merge_record(RECORD, data, PROGRAMS)
        PAGE.write_text(document(data))
    return 0 if good else 1


def _print_kernels(counted: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    for name, kernels in counted.items():
        table = Table(title=f"{name}, f16, for sm_80", title_justify="left")
        for heading in TITLES:
            table.add_column(heading, justify="left" if heading == "kernel" else "right")
        for row in kernel_rows(kernels):
            table.add_row(*row)
        console().print(table)


def document(data: Mapping[str, Any]) -> str:
    """The page, in Markdown."""
    host, results = data["machine"], data["results"]
    versions = ", ".join(f"{name} {version}" for name, version in host["versions"].items())
    timed = {name: record for name, record in results.items() if "times" in record}
    parts = [
        "# Layers of language models",
        "",
        "<!-- Written by bench/models.py --write. -->",
        "",
        "One decoder layer at full width with random weights: `prefill-128` takes 128 tokens at once, `decode-P` one",
        "token after P others, whose keys and values it is given.",
        "",
        "## On a CPU, f32",
        "",
        f"{host['cpu']}, {host['threads']} threads; {versions}. How it is measured is told in [cpu.md](cpu.md).",
        "",
        *(f"- {line}" for line in verdict(timed)),
        "",
        *markdown(TIME_TITLES, time_rows(timed)),
        "",
        "Seconds to compile, and memory:",
        "",
        *markdown(COMPILE_TITLES, compile_rows(timed)),
        "",
        "## On a GPU, f16, counted in the simulator",
        "",
        "The kernels for sm_80 in the order of their launches, with bounds for an A100: the least time that its pipes",
        "allow. [kernels.md](kernels.md) says what the counters are.",
        "",
    ]
    for name, record in results.items():
        if GPU in record:
            parts += [f"### {name}", "", *markdown(TITLES, kernel_rows(record[GPU])), ""]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.exit(main())
