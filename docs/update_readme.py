"""Writes the stages of the README's example into the README, so that they are what the compiler prints.

Usage: python docs/update_readme.py [--check]; with --check nothing is written, and the exit status is 1 when the
  text is stale.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from pathlib import Path

from uop.frontends.capture import capture_expression
from uop.tools.compilation import CUDA, compile_stages, stage_text
from uop.tools.pipelines import CompileOptions

README = Path(__file__).parents[1] / "README.md"
BEGIN, END = "<!-- stages:begin (written by docs/update_readme.py) -->\n", "<!-- stages:end -->\n"

EXPRESSION = """\
x, bias, w = torch.randn(16, 64), torch.randn(64), torch.randn(64, 16)
torch.relu(torch.matmul(x + bias, w))"""

STAGES = {
    "torch": "**torch**: the exported graph, one to one.",
    "uop": "**uop**, tensor form: one vocabulary; broadcasting and products are written out.",
    "range": (
        "**uop**, range form: one kernel; movement has become index arithmetic, and the reduction binds its range `%k`."
    ),
    "loop": "**loop**: the nest of the kernel.",
    "tile": (
        "**tile**: `#tile.schedule` says how each axis is carried out. Each thread holds a 2×2 register tile as a"
        " vector; slabs of `x`, `bias` and `w` are staged in shared memory, the next copied while one is used."
    ),
    "gpu-kernel": (
        "**gpu_kernel**: hardware primitives; everything is decided (`uop compile … --ir gpu-kernel` prints it)."
    ),
    CUDA: "**CUDA**: a one-to-one walk of that, with the source line of what each part computes.",
}
LEFT_OUT = ("gpu-kernel",)
"""Stages that are named but too long for a README."""


def stages_section() -> str:
    """The section between the markers."""
    captured = capture_expression(EXPRESSION)
    parts = [f"```python\n{EXPRESSION}\n```\n"]
    for name, module in compile_stages(captured.imported(), CompileOptions()):
        if name in STAGES:
            parts.append(_part(name, stage_text(name, module, locations=False)))
    parts.append(_part(CUDA, stage_text(CUDA, captured.imported().module)))
    return "\n".join(parts)


def _part(name: str, text: str) -> str:
    if name in LEFT_OUT:
        return f"{STAGES[name]}\n"
    language = "cuda" if name == CUDA else "mlir"
    return f"{STAGES[name]}\n\n```{language}\n{_without_module(text).rstrip()}\n```\n"


def _without_module(text: str) -> str:
    """IR text without the `builtin.module` around it."""
    lines = text.rstrip().split("\n")
    if lines[0] != "builtin.module {":
        return text
    return "\n".join(line.removeprefix("  ") for line in lines[1:-1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    old = README.read_text()
    head, _, rest = old.partition(BEGIN)
    _, _, tail = rest.partition(END)
    new = f"{head}{BEGIN}\n{stages_section()}\n{END}{tail}"
    if options.check:
        diff = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "README.md", "README.md, written anew", lineterm=""
        )
        print("\n".join(diff))
        return int(old != new)
    README.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
