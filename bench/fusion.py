"""What uop-partition thinks that kernels cost, joined and cut, beside what the simulator counts of both. Needs no GPU.

Usage: python bench/fusion.py [PROGRAM …] [--write]. Takes about a minute.

Each program is compiled twice: with its second line stored (`--cut`), and computed by who reads it (`--join`). Counted
is the least time of an H100 for the counters of the kernels (kernel_bounds.py), and a launch each, as long as the
prices say. Grids whose blocks are all alike are sampled.

--write puts the table into docs/fusion.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from cpu_report import markdown
from kernel_bounds import GPUS, bounds
from kernel_measure import COUNTED_ON
from xdsl.context import Context
from xdsl.dialects.func import FuncOp

from uop.dialects.types import byte_count
from uop.frontends.capture import capture_expression
from uop.passes.uop.fusion import Fusion
from uop.passes.uop.machines import GPU
from uop.runtime.program import KernelRun, Program
from uop.runtime.tensors import to_array
from uop.tools.compilation import compile_stages
from uop.tools.pipeline import run_pipeline
from uop.tools.pipelines import CompileOptions, stages_between

PAGE = Path(__file__).parents[1] / "docs" / "fusion.md"
HEADING = "## Prices beside counters"
LINE = "<command>:2"
TITLES = ("program", "joined: price", "counted", "cut: price", "counted", "chosen", "cheaper by counters")

TEXT = """\
`python bench/fusion.py --write`: microseconds on an H100, by the price, and by what the simulator counts of the
kernels: the longest of their pipes, and a launch each, which both take as 5 µs."""


def _sums(length: int, columns: int) -> str:
    return f"x, y = torch.randn(512, {length}), torch.randn(512, {columns})\ns = x.sum(1, keepdim=True)\ns + y"


def _product(rows: int, columns: int, code: str, end: str = "") -> str:
    return f"x, w = torch.randn({rows}, 256){end}, torch.randn(256, {columns}){end}\nh = {code}\nh @ w"


def _outer(extent: int, code: str) -> str:
    return f"x, y = torch.rand({extent}), torch.rand({extent})\nh = {code}\nh[None, :] * y[:, None]"


def _stencil(rows: int) -> str:
    return f"x = torch.randn({rows}, 1024)\np = F.pad(x, (2, 2)).exp()\np[:, :-4] + p[:, 1:-3] + p[:, 2:-2] + p[:, 4:]"


def _consumers(rows: int, code: str) -> str:
    return f"x, y = torch.randn({rows}, 512), torch.randn({rows}, 512)\nh = {code}\nh.sum(1), h.amax(0), h * 2"


GELU, NORM, SOFTMAX = "F.gelu(x)", "F.layer_norm(x, (256,))", "torch.softmax(x, -1)"

PROGRAMS = {
    **{f"sums of 512 rows of {n}, beside {c} columns": _sums(n, c) for n, c in ((64, 33), (1024, 33), (4096, 8))},
    **{
        f"{name}({m}×256) @ 256×{n}, {'f16' if end else 'f32'}": _product(m, n, code, end)
        for name, code in (("gelu", GELU), ("layer_norm", NORM), ("softmax", SOFTMAX))
        for m, n, end in ((256, 512, ""), (1024, 1024, ""), (256, 512, ".half()"), (1024, 1024, ".half()"))
    },
    "layer_norm(1024×256) @ 256×4096, f16": _product(1024, 4096, NORM, ".half()"),
    **{f"erf(x) · yᵀ, {n}×{n}": _outer(n, "torch.erf(x)") for n in (512, 4096)},
    **{f"x¹·⁷ · yᵀ, {n}×{n}": _outer(n, "x.pow(1.7)") for n in (512, 4096)},
    **{f"stencil of exp, {n}×1024": _stencil(n) for n in (128, 2048)},
    **{f"erf(x) for sums, maxima and elements, {n}×512": _consumers(n, "torch.erf(x)") for n in (512, 8192)},
    **{f"(x + y) · x for the same, {n}×512": _consumers(n, "(x + y) * x") for n in (512, 8192)},
    "rms_norm of an embedding, 512×512": (
        "e, i = torch.randn(1000, 512), torch.randint(0, 1000, (512,))\nh = F.embedding(i, e)\nF.rms_norm(h, (512,))"
    ),
}
"""Name → the program, whose second line computes what is stored or not."""


def prices(code: str) -> tuple[float, float, float]:
    """Microseconds that the kernels take by their prices: joined, cut, and as uop-partition chooses."""
    module = capture_expression(code).imported().module
    steps = [step for stage in stages_between(to="partition") for step in stage.steps]
    names = [step.name for step in steps]
    run_pipeline(module, Context(), [step.name for step in steps[: names.index("uop-partition")]])
    (function,) = (op for op in module.ops if isinstance(op, FuncOp))
    block = function.body.block
    choices = Fusion(block, join=(LINE,)), Fusion(block, cut=(LINE,)), Fusion(block)
    joined, cut, chosen = (choice.cost().microseconds for choice in choices)
    return joined, cut, chosen


def counted(code: str, options: CompileOptions) -> float:
    """The least microseconds that an H100 takes for the counters of the kernels, and for launches."""
    captured = capture_expression(code)
    imported = captured.imported()
    for _ in compile_stages(imported, options, verify=False):
        pass
    inputs = [to_array(value) for value in captured.make_inputs(0)]
    kernels = Program(imported.module).run(inputs, check_races=False, sample=True).kernels
    return sum(GPU.launch / GPU.speed + _least_time(kernel) for kernel in kernels if not kernel.compiled.is_empty)


def _least_time(kernel: KernelRun) -> float:
    moved = sum(byte_count(argument.type) for argument in kernel.compiled.kernel.body.block.args)
    return 1e6 * max(bounds(kernel.counters, moved, GPUS["H100"]).values())


def rows(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """A row of the table for each program."""
    for name in names:
        code = PROGRAMS[name]
        joined, cut, chosen = prices(code)
        joined_counted = counted(code, CompileOptions(COUNTED_ON, join=(LINE,)))
        cut_counted = counted(code, CompileOptions(COUNTED_ON, cut=(LINE,)))
        choice = {joined: "joined", cut: "cut"}.get(chosen, "neither")
        better = "joined" if joined_counted < cut_counted else "cut"
        if choice != better:
            better = f"**{better}**, by {abs(joined_counted / cut_counted - 1):.0%}"
        yield [name, *(f"{time:.2f}" for time in (joined, joined_counted, cut, cut_counted)), choice, better]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS), metavar="PROGRAM")
    parser.add_argument("--write", action="store_true", help="put the table into docs/fusion.md")
    options = parser.parse_args()
    table: list[str] = []
    for line in markdown(TITLES, rows(options.programs)):
        print(line, flush=True)
        table.append(line)
    if options.write:
        before, _, _ = PAGE.read_text().partition(HEADING)
        PAGE.write_text("\n".join((f"{before}{HEADING}\n", f"{TEXT}\n", *table, "")))


if __name__ == "__main__":
    main()
