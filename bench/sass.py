"""Machine instructions of the loops in our kernels, read by nvdisasm. Needs no GPU.

Usage: python bench/sass.py --case NAME [--arch sm_80]

PTX counts hold moves that ptxas removes; this is what is left. A line a loop, from its first instruction to the
branch back: kernel, number of instructions, then the count of each opcode, the most frequent first:

    forward_0: 64 instructions: HMMA 16, IADD3 9, LDSM 8, …

A loop that the compiler unrolled holds several iterations: HMMA says how many. NOP is not counted.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s+(?:/\*[0-9a-f]+\*/)?\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9]*)([^;]*);")
_TARGET = re.compile(r"\.L_\w+")


def nvdisasm() -> Path | None:
    """The disassembler of the package nvidia-cuda-nvdisasm, if it is installed."""
    spec = find_spec("nvidia")
    folders = [] if spec is None else spec.submodule_search_locations or []
    return next((file for folder in folders for file in Path(folder).glob("*/bin/nvdisasm")), None)


def disassemble(cubin: bytes) -> str:
    """The text of a cubin. Raises FileNotFoundError without nvdisasm."""
    tool = nvdisasm()
    if tool is None:
        raise FileNotFoundError("nvdisasm is not installed: pip install nvidia-cuda-nvdisasm")
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        return subprocess.run([tool, "-c", file.name], check=True, capture_output=True, text=True).stdout


def loops(text: str) -> Iterator[Counter[str]]:
    """The opcodes of each loop of a disassembled kernel: what lies between a label and a branch back to it."""
    labels: dict[str, int] = {}
    opcodes: list[str] = []
    for line in text.splitlines():
        if label := _LABEL.match(line):
            labels[label[1]] = len(opcodes)
        elif instruction := _INSTRUCTION.match(line):
            opcode, operands = instruction.groups()
            opcodes.append(opcode)
            target = _TARGET.search(operands) if opcode == "BRA" else None
            # ptxas ends a kernel by a branch to itself, which is no loop.
            if target and labels.get(target[0], len(opcodes)) < len(opcodes) - 1:
                yield Counter(name for name in opcodes[labels[target[0]] :] if name != "NOP")


def main() -> None:
    from kernel_cases import CASES
    from kernel_runs import simulate_ours

    from uop.runtime.nvrtc import compile_cuda

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", required=True, choices=list(CASES), metavar="NAME")
    parser.add_argument("--arch", default="sm_80")
    options = parser.parse_args()
    case = CASES[options.case]
    for launch in simulate_ours(case, case.make_inputs()).kernels:
        compiled = launch.compiled
        for loop in loops(disassemble(compile_cuda(compiled.text, options.arch).cubin)):
            counts = ", ".join(f"{opcode} {count}" for opcode, count in loop.most_common())
            print(f"{compiled.name}: {loop.total()} instructions: {counts}")


if __name__ == "__main__":
    main()
