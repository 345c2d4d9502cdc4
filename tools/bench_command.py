"""What `uop bench` does: eager PyTorch, Inductor and ours on one program, against each other and the machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import torch

from ..frontends.captured import Captured
from ..frontends.errors import CaptureError
from ..runtime.native.cpu import host
from .benching.comparing import compare_contenders, contenders, measured_work
from .benching.contenders import OURS
from .benching.limits import limits
from .benching.plot import write_plot
from .benching.table import NAMES, bench_table
from .console import console


def bench_command(captured: Captured, options: argparse.Namespace) -> int:
    """Compare, and print; 0, or 1 where a result is wrong. Raises what the front end, passes and devices raise."""
    if options.plot and find_spec("matplotlib") is None:
        raise CaptureError("--plot takes matplotlib, which is not installed: pip install matplotlib")
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    threads = torch.get_num_threads()
    chosen = contenders(device, with_inductor=not options.no_inductor)
    work = measured_work(captured, device)
    entries = compare_contenders(captured, chosen, device, rounds=options.rounds)
    seconds = [1e-6 * entry.times.median for entry in entries.values() if entry.times is not None]
    limit = limits(device, threads, reached=work.flops / min(seconds) if seconds else 0.0)
    machine = _machine(device, threads)
    if options.json:
        data = {
            "program": captured.source_name,
            "machine": machine,
            "limits": asdict(limit),
            "work": asdict(work),
            "contenders": {name: entry.as_json() for name, entry in entries.items()},
        }
        Path(options.json).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
    if options.plot:
        write_plot(Path(options.plot), entries, work, limit, f"{options.code or captured.source_name}\n{machine}")
    console().print(bench_table(entries, work, limit, machine))
    for name, entry in entries.items():
        if entry.error:
            print(f"uop: {NAMES[name]} failed: {entry.error.splitlines()[0]}", file=sys.stderr)
        elif not entry.right:
            print(f"uop: the result of {NAMES[name]} is wrong, so it is not timed", file=sys.stderr)
    return 0 if entries[OURS].right else 1


def _machine(device: str, threads: int) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    return f"{host().model or host().machine}, {threads} thread{'' if threads == 1 else 's'}"
