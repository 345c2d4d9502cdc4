"""The steps that measure a program on this machine's CPU, each in a process of its own: what bench/cpu.py and
bench/models.py share."""

from __future__ import annotations

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from cpu_cases import CASES
from cpu_programs import MODELS, program
from cpu_report import COMPILE_TITLES, TIME_TITLES, compile_rows, time_rows, verdict
from rich.table import Table

from uop.runtime.cache.settings import FOLDER
from uop.runtime.native.compiler import find_compiler
from uop.runtime.native.cpu import core_count, host
from uop.tools.benching.comparing import measured_work
from uop.tools.console import console

HERE = Path(__file__).parent

TIMEOUT = 900.0
"""Seconds after which a step is ended."""

BOUND = {"OMP_PROC_BIND": "true", "OMP_PLACES": "threads"}
"""Each thread keeps to a core of its own: Linux may put all threads of a process with priority on one."""

PACKAGES = ("torch", "tinygrad", "transformers", "xdsl")


def parse_options(parser: argparse.ArgumentParser, known: Sequence[str]) -> argparse.Namespace:
    """The command line with what all of these benchmarks take; `programs` are those that this machine can run.

    Exits with a sentence where an argument is wrong.
    """
    parser.add_argument("programs", nargs="*", metavar="PROGRAM", help=", ".join(known))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to this file")
    parser.add_argument("--write", action="store_true", help="write the record and the page")
    parser.add_argument("--threads", type=int, default=core_count(), metavar="N", help="(default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=11, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--no-inductor", action="store_true")
    parser.add_argument("--no-tinygrad", action="store_true")
    options = parser.parse_args()
    if unknown := [name for name in options.programs if name not in known]:
        parser.error(f"no program is called {', '.join(unknown)}: there are {', '.join(known)}")
    if options.threads < 1 or options.rounds < 1:
        parser.error("--threads and --rounds are at least 1")
    options.programs = options.programs or known
    if find_spec("transformers") is None:
        options.programs = [name for name in options.programs if name in CASES]
    if find_spec("tinygrad") is None:
        options.no_tinygrad = True
    return options


def measure_all(options: argparse.Namespace) -> dict[str, Any]:
    """The machine, and the results of each program; told on the way."""
    with steps(options) as step:
        data: dict[str, Any] = {"machine": machine(options, step), "results": {}}
        for name in options.programs:
            data["results"][name] = measure(name, options, step)
            print("\n".join([name, *verdict({name: data["results"][name]})]), file=sys.stderr, flush=True)
            if options.json:
                options.json.write_text(as_text(data))
    return data


def print_tables(results: Mapping[str, Any]) -> None:
    """Times, and what compiling took, to the terminal."""
    out = console()
    for title, titles, rows in (
        ("Microseconds of a run", TIME_TITLES, time_rows(results)),
        ("Seconds to compile, and memory", COMPILE_TITLES, compile_rows(results)),
    ):
        table = Table(title=title, title_justify="left")
        for heading in titles:
            table.add_column(heading, justify="left" if heading == "program" else "right")
        for row in rows:
            table.add_row(*row)
        out.print(table)
    out.print("\n".join(verdict(results)))


def merge_record(record: Path, data: dict[str, Any], known: Sequence[str]) -> None:
    """Put the results into the record; what was not measured keeps what is there, of the machine and of each
    program."""
    before: dict[str, Any] = json.loads(record.read_text()) if record.exists() else {"results": {}}
    results = {name: before["results"].get(name, {}) | data["results"].get(name, {}) for name in known}
    data["machine"] = data.get("machine") or before.get("machine")
    data["results"] = {name: found for name, found in results.items() if found}
    record.write_text(as_text(data))


def is_good(results: Mapping[str, Any]) -> bool:
    """Whether all steps ran, and ours is right."""
    failed = any("failed" in part for record in results.values() for part in record.values())
    return not failed and all(
        record["times"]["uop"]["right"] for record in results.values() if "uop" in record["times"]
    )


def machine(options: argparse.Namespace, step: Steps) -> dict[str, Any]:
    """What is measured on, and with what."""
    versions: dict[str, str] = {"C compiler": find_compiler().version}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            pass
    limits = step.run("limits", "")
    return {
        "cpu": host().model,
        "cores": core_count(),
        "vector bytes": host().vector_bytes,
        "threads": options.threads,
        "rounds": options.rounds,
        "priority": limits.pop("priority", False),
        "versions": versions,
        "limits": limits,
    }


class Steps:
    """Runs steps in processes of their own, with caches in a folder of this run."""

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.arguments = [str(options.threads), str(options.rounds)]
        self.environment = {
            **os.environ,
            FOLDER: str(folder / "uop"),
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
        }

    def run(self, step: str, name: str, *chosen: str, **environment: str) -> dict[str, Any]:
        """What the step prints; `failed`, and why, where it does not come to that."""
        command = [sys.executable, str(HERE / "cpu_measure.py"), step, name, *self.arguments, *chosen]
        try:
            done = subprocess.run(
                command,
                env={**self.environment, **environment},
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                start_new_session=True,  # which may have priority
            )
        except subprocess.TimeoutExpired:
            return {"failed": f"it took more than {TIMEOUT:.0f} seconds"}
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [""])[-1]
            return {"failed": f"status {done.returncode}, {last}"}
        return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def steps(options: argparse.Namespace) -> Generator[Steps]:
    """Steps in a folder that is removed at the end."""
    compile_bytecode()
    with tempfile.TemporaryDirectory(prefix="uop-bench-") as folder:
        step = Steps(Path(folder), options)
        if not options.no_inductor:
            step.run("inductor", "relu_mm")  # what Inductor builds once for a machine, and no program is to blame for
        yield step


def compile_bytecode() -> None:
    """Compile uop's Python files, as pip does when it installs a package: an editable install, in an environment that
    writes no bytecode, would have each process do it again."""
    for package in ("dialects", "rewriting", "passes", "targets", "frontends", "runtime", "tools"):
        for folder in import_module(f"uop.{package}").__path__:
            compileall.compile_dir(folder, quiet=2)


def measure(name: str, options: argparse.Namespace, step: Steps) -> dict[str, Mapping[str, Any]]:
    """All steps of a program."""
    found: dict[str, Mapping[str, Any]] = {"work": asdict(measured_work(program(name), "cpu"))}
    found["uop"] = step.run("uop", name)
    found["cached"] = step.run("uop", name)
    found["eager"] = step.run("eager", name)
    chosen = ["eager", "uop"]
    if not options.no_inductor:
        found["inductor"] = step.run("inductor", name, TORCHINDUCTOR_FORCE_DISABLE_CACHES="1")
        chosen.append("inductor")
    found["times"] = step.run("times", name, *chosen, **BOUND)
    if name in (*CASES, *MODELS) and not options.no_tinygrad:
        found["tinygrad"] = step.run("tinygrad", name)
    return found


def as_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"
