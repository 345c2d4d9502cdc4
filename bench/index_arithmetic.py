"""ALU ops on indices and integers in the kernels of the test programs, before and after the rules, at each level.

Usage: python bench/index_arithmetic.py [PROGRAM …] [--json FILE] [--instructions]. Exits with status 1 if
  simplification makes the index arithmetic of a kernel larger.

Counted are ALU ops and casts that give or take integers, in the text of the kernels: an op in a loop or on a vector
counts once, and arithmetic on positions is counted whether it is of indices or, as PyTorch writes it, of i64. `range`
and `tile` count what `uop-simplify` is given at that point of the pipeline and what it leaves; `loop` and `gpu-kernel`,
after which no `uop-simplify` stands, count what it would leave, and
`without → with` counts gpu_kernel form when the pipeline never simplifies and as it is.

--instructions runs programs that divide indices in the simulator instead, and counts the warp instructions of all their
kernels: with the divisions that NVRTC makes of C's `/` and `%`, and after gpu-kernel-strength-reduce.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

from rich.console import Console
from rich.table import Table
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from uop.dialects import gpu_kernel
from uop.dialects.types import element_of, is_integer
from uop.dialects.uop import AluOp, CastOp, KernelOp
from uop.frontends.capture import capture_expression
from uop.passes.uop.uop_simplify import simplify
from uop.runtime.program import Program
from uop.runtime.tensors import to_array
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import STAGES, CompileOptions

PROGRAMS: dict[str, tuple[str, int]] = run_path(str(Path(__file__).parents[1] / "test/unit/programs.py"))["PROGRAMS"]
"""Name → the program in PyTorch, and how many kernels it is."""

DIVISIONS: dict[str, str] = {
    "views": PROGRAMS["views"][0],
    "reshape by 14": "torch.randn(30, 14, 9).transpose(0, 2).reshape(126, 30) + 1",
    "reshape by 3, 70": "torch.randn(70, 3, 50).permute(2, 0, 1).reshape(30, 350) + 1",
    "reshape by 7, 10": "torch.randn(10, 7, 24).permute(1, 2, 0).reshape(56, 30) + 1",
    "reshape by 8, 16": "torch.randn(16, 8, 24).permute(1, 2, 0).reshape(64, 48) + 1",
    "reshape of many": "torch.randn(300, 7, 100).permute(2, 0, 1).reshape(700, 300) + 1",
    "flip": "torch.randn(7, 30).flip(0).reshape(21, 10).flip(1) + 1",
    "roll": "torch.roll(torch.randn(21, 10), (3, 7), (0, 1)) + 1",
    "cat, reshaped": "torch.cat((torch.randn(3, 7), torch.randn(4, 7))).T.reshape(-1) + 1",
    "rows": "torch.randn(10, 7, 33).transpose(0, 1).reshape(70, 33).sum(1)",
}
"""Programs that divide indices."""

SIMPLIFY, STRENGTH_REDUCE = "uop-simplify", "gpu-kernel-strength-reduce"
LEVELS = ("range", "loop", "tile", "gpu-kernel")
Counts = dict[str, int]
"""Kernel → ALU ops on integers."""


def is_index_arithmetic(op: Operation) -> bool:
    """Whether an op computes integers, or compares them."""
    if not isinstance(op, AluOp | CastOp):
        return False
    return any(is_integer(element_of(value.type)) for value in (*op.operands, *op.results))


def counts(module: ModuleOp) -> Counts:
    """Index arithmetic of each kernel."""
    kernels = (op for op in module.ops if isinstance(op, KernelOp | gpu_kernel.KernelOp))
    return {kernel.sym_name.data: sum(map(is_index_arithmetic, kernel.walk())) for kernel in kernels}


def levels(module: ModuleOp) -> Iterator[tuple[str, Counts, Counts]]:
    """Compiles the module; (level, counts before, counts after) for each of `LEVELS`."""
    context, options = Context(), CompileOptions()
    for stage in STAGES:
        measured = stage.name not in LEVELS
        for step in stage.steps:
            if step.name == SIMPLIFY and stage.name in LEVELS:
                before = counts(module)
                run_pipeline(module, context, step.spell(options))
                yield stage.name, before, counts(module)
                measured = True
            else:
                run_pipeline(module, context, step.spell(options))
        if not measured:
            copy = module.clone()
            simplify(copy)
            yield stage.name, counts(module), counts(copy)


def without_rules(module: ModuleOp) -> Counts:
    """Counts in gpu_kernel form when nothing is ever simplified."""
    steps = [step.spell(CompileOptions()) for stage in STAGES for step in stage.steps if step.name != SIMPLIFY]
    run_pipeline(module, Context(), ",".join(steps))
    return counts(module)


def measure(code: str) -> dict[str, tuple[Counts, Counts]]:
    """Level → counts before and after."""
    module = capture_expression(code).imported().module
    plain = module.clone()
    result = {name: (before, after) for name, before, after in levels(module)}
    result["without → with"] = (without_rules(plain), counts(module))
    return result


def instructions(code: str) -> tuple[int, int]:
    """Warp instructions of a program without and with `STRENGTH_REDUCE`. Raises `ValueError` if the results differ."""
    captured = capture_expression(code)
    imported = captured.imported()
    steps = [step for stage in STAGES for step in stage.steps]
    counted: list[int] = []
    results: list[list[bytes]] = []
    for left_out in (STRENGTH_REDUCE, None):
        module = imported.module.clone()
        pipeline = ",".join(step.spell(CompileOptions()) for step in steps if step.name != left_out)
        run_pipeline(module, Context(), pipeline)
        run = Program(module).run([to_array(value) for value in captured.make_inputs(0)])
        counted.append(sum(kernel.counters.instructions for kernel in run.kernels))
        results.append([output.tobytes() for output in run.outputs])
    if results[0] != results[1]:
        raise ValueError(f"{STRENGTH_REDUCE} changes what {code} gives")
    return counted[0], counted[1]


def print_instructions() -> None:
    """The table of `--instructions`."""
    table = Table(title="Warp instructions in the simulator", title_justify="left")
    table.add_column("program")
    for column in ("NVRTC's divisions", STRENGTH_REDUCE, "change"):
        table.add_column(column, justify="right")
    for name, code in DIVISIONS.items():
        before, after = instructions(code)
        table.add_row(name, f"{before:,}", f"{after:,}", f"{after / before - 1:+.0%}")
    Console(highlight=False).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--json", type=Path, help="write the numbers to this file")
    parser.add_argument("--instructions", action="store_true", help="count instructions of programs that divide")
    options = parser.parse_args()
    if options.instructions:
        print_instructions()
        return 0

    results = {name: measure(PROGRAMS[name][0]) for name in options.programs}
    columns = [*LEVELS, "without → with"]
    table = Table(title="ALU ops on integers, before → after simplification", title_justify="left")
    table.add_column("program")
    for column in columns:
        table.add_column(column, justify="right")
    totals = {column: [0, 0] for column in columns}
    larger: list[str] = []
    for name, result in results.items():
        row = [name]
        for column in columns:
            before, after = result[column]
            larger += [f"{name}: @{k} at {column}" for k in before if column in LEVELS and after.get(k, 0) > before[k]]
            pair = sum(before.values()), sum(after.values())
            totals[column][0] += pair[0]
            totals[column][1] += pair[1]
            row.append(f"{pair[0]} → {pair[1]}")
        table.add_row(*row)
    table.add_section()
    table.add_row("total", *(f"{before} → {after}" for before, after in totals.values()))
    Console(highlight=False).print(table)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if larger:
        print("larger:", *larger, sep="\n  ")
    return int(bool(larger))


if __name__ == "__main__":
    sys.exit(main())
