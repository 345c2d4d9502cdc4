"""Our programs on this machine's CPU beside eager PyTorch, Inductor and tinygrad: times, compile times, memory, errors.

Usage: python bench/cpu.py [PROGRAM …] [--json FILE] [--write] [--threads N] [--rounds N] [--no-inductor]
                           [--no-tinygrad]

Programs are the cases of cpu_cases.py and five small models of `uop check models`, which need `transformers`. Every
step runs in a process of its own, so that a crash costs that step alone, with caches of this run. A process is put in
front of others where the system lets it (as root, mostly); without that, other jobs make times longer and uneven.

--write writes bench/cpu.json and docs/cpu.md; programs that are not named keep the results that are there.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cpu_cases import CASES
from cpu_programs import MODELS
from cpu_report import document
from cpu_steps import is_good, measure_all, merge_record, parse_options, print_tables

HERE = Path(__file__).parent

RECORD, PAGE = HERE / "cpu.json", HERE.parent / "docs" / "cpu.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = (*CASES, *MODELS)
    options = parse_options(parser, known)
    data = measure_all(options)
    measured = data["results"]
    print_tables(measured)
    if options.write:
        merge_record(RECORD, data, known)
        PAGE.write_text(document(data))
    return 0 if is_good(measured) else 1


if __name__ == "__main__":
    sys.exit(main())
