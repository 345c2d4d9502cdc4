"""CPU time from torch-dialect IR to CUDA text, per pass, beside tinygrad's for the same programs in the same run.

Usage: python bench/compile_time.py [CASE …] [--json FILE] [--no-tinygrad]

PyTorch's export and NVRTC are not counted; tinygrad's time is from its expression to CUDA text. Times are CPU time,
warm: the median of several compilations in one process after a first one, which is given too (`cold`). The models are
those of `uop check models`, which needs `transformers`; tinygrad is not measured on them.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from compile_cases import CASES, MODELS
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from uop.frontends.exporting import quiet_export
from uop.frontends.importer import import_exported
from uop.targets.cuda import cuda_text, gpu_kernels
from uop.tools.console import console as report_console
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import CompileOptions, uop_to_cuda

REPEATS = 7
PRINT = "(print CUDA)"


def compile_once(module: ModuleOp) -> tuple[float, dict[str, float], int]:
    """CPU seconds in total and of each pass, and the number of kernels; the module becomes gpu_kernel form."""
    passes: dict[str, float] = {}
    start = time.process_time()
    run_pipeline(module, Context(), uop_to_cuda(CompileOptions()), timing=passes)
    printing = time.process_time()
    cuda_text(module)
    end = time.process_time()
    passes[PRINT] = end - printing
    return end - start, passes, len(list(gpu_kernels(module)))


def measure(case: str) -> dict[str, Any]:
    """Our times of one case."""
    module, inputs = (CASES | MODELS)[case]()
    with quiet_export():
        imported = import_exported(module.eval(), inputs)
    cold, _, kernels = compile_once(imported.module.clone())
    runs: list[tuple[float, dict[str, float], int]] = []
    for _ in range(REPEATS):
        copy = imported.module.clone()
        gc.collect()
        runs.append(compile_once(copy))
    passes = {name: median(run[1][name] for run in runs) for name in runs[0][1]}
    return {"cold": cold, "warm": median(run[0] for run in runs), "passes": passes, "kernels": kernels}


def measure_tinygrad(case: str) -> dict[str, Any]:
    """tinygrad's times of one case, in a process of its own."""
    script = Path(__file__).with_name("tinygrad_compile.py")
    result = subprocess.run([sys.executable, str(script), case], capture_output=True, text=True)
    if result.returncode:
        return {"error": result.stderr.strip().splitlines()[-1]}
    return json.loads(result.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    known = CASES | MODELS
    parser.add_argument("cases", nargs="*", default=list(known), metavar="CASE", help=", ".join(known))
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    parser.add_argument("--no-tinygrad", action="store_true")
    options = parser.parse_args()
    names: list[str] = options.cases
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no case is called {', '.join(unknown)}: there are {', '.join(known)}")
    console = report_console()
    left_out = [name for name in names if name in MODELS and find_spec("transformers") is None]
    if left_out:
        console.print(f"transformers is not installed: {', '.join(left_out)} left out.")
    gc.disable()  # as `uop-opt` does in effect: a compilation makes few cycles

    results: dict[str, Any] = {}
    for case in names:
        if case in left_out:
            continue
        results[case] = {"uop": measure(case)}
        if case in CASES and not options.no_tinygrad:
            results[case]["tinygrad"] = measure_tinygrad(case)

    total = Table(title="CPU time to CUDA text, ms", title_justify="left")
    for title in ("case", "uop", "kernels", "cold", "tinygrad", "kernels", "cold", "uop ÷ tinygrad"):
        total.add_column(title, justify="left" if title == "case" else "right")
    for case, result in results.items():
        ours, peer = result["uop"], result.get("tinygrad", {})
        row = [case, f"{ours['warm'] * 1e3:.1f}", str(ours["kernels"]), f"{ours['cold'] * 1e3:.1f}"]
        if "warm" in peer:
            ratio = f"{ours['warm'] / peer['warm']:.2f}"
            row += [f"{peer['warm'] * 1e3:.1f}", str(peer["kernels"]), f"{peer['cold'] * 1e3:.1f}", ratio]
        else:
            row += [peer.get("error", "-"), "", "", ""]
        total.add_row(*row)

    passes = Table(title="uop, by pass, ms", title_justify="left")
    passes.add_column("pass")
    rows = dict.fromkeys(name for result in results.values() for name in result["uop"]["passes"])
    for case in results:
        passes.add_column(case, justify="right")
    for name in rows:
        times = [result["uop"]["passes"].get(name) for result in results.values()]
        passes.add_row(name, *("-" if t is None else f"{t * 1e3:.1f}" for t in times))

    console.print(total)
    console.print(passes)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
