"""Our kernels beside Triton's and tinygrad's on every counter of the simulator. Needs no GPU.

Usage: python bench/kernels.py [--case NAME]… [--write] [--ours | --check | --lines] [--no-tinygrad]

Each case is compiled by the three compilers and executed in the simulator of the same PTX level; the table gives our
count over Triton's best configuration, the verdict, and the least time that the pipes of an A100 and an H100 allow.
A kernel is better when it is no worse on every counter and better on one. Grids whose blocks are all alike are
sampled: first, last and spread blocks count the same, and the counts are multiplied, so they are exact.

--write puts the results into kernels.json beside this file and the table into docs/kernels.md.
--ours only runs ours, and compares with the peers' counters in kernels.json.
--check only runs ours, and fails if a counter is greater than the one in kernels.json.
--lines only runs ours, and prints the CUDA text with what each line did, and its PTX instructions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kernel_cases import CASES
from kernel_check import check
from kernel_measure import Measured
from kernel_report import document, summary
from kernel_runs import run_ours, run_tinygrad, run_triton, simulate_ours

from uop.runtime.profile import profile_launch
from uop.runtime.tensors import to_array
from uop.tools.profile import profile_text

RESULTS = Path(__file__).with_name("kernels.json")
PAGE = Path(__file__).parents[1] / "docs" / "kernels.md"
OUR_PACKAGES = ("torch", "nvidia-cuda-nvrtc")
PEER_PACKAGES = ("triton", "tinygrad")


def run_case(name: str, before: Mapping[str, Any] | None = None, *, with_tinygrad: bool = True) -> dict[str, Any]:
    """The record of a case that kernels.json holds. before: an earlier one, whose peers are kept."""
    case = CASES[name]
    inputs = case.make_inputs()
    expected = to_array(case.function(*inputs)).reshape(-1)
    ours = run_ours(case, inputs, expected).as_json()
    if before is not None:
        kept: dict[str, Any] = {key: before[key] for key in ("triton", "other triton", "tinygrad") if key in before}
        return {"uop": ours, **kept}
    configurations = run_triton(name, case, inputs, expected)
    title, triton = best(configurations)
    record: dict[str, Any] = {
        "uop": ours,
        "triton": {"configuration": title, **triton.as_json()},
        "other triton": {other: run.counters for other, run in configurations.items() if other != title},
    }
    if with_tinygrad:
        try:
            record["tinygrad"] = run_tinygrad(name, case, inputs, expected).as_json()
        except Exception as error:
            # A peer that cannot do a case is a result, not a failure of the run.
            record["tinygrad"] = {"error": str(error).splitlines()[0]}
    return record


def best(configurations: dict[str, Measured]) -> tuple[str, Measured]:
    """The configuration with the lowest bound on an A100, the fewest instructions among equals."""

    def cost(item: tuple[str, Measured]) -> tuple[float, int]:
        measured = item[1]
        return measured.bounds["A100"]["us"], measured.counters["without moves"]

    return min(configurations.items(), key=cost)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--case", action="append", choices=list(CASES), metavar="NAME", help="one case; may be repeated"
    )
    parser.add_argument("--write", action="store_true", help="write kernels.json and docs/kernels.md")
    parser.add_argument("--ours", action="store_true", help="take the peers' counters from kernels.json")
    parser.add_argument("--check", action="store_true", help="compare our counters with kernels.json")
    parser.add_argument("--lines", action="store_true", help="print our kernels with what each line did")
    parser.add_argument("--no-tinygrad", action="store_true")
    options = parser.parse_args()
    names: list[str] = options.case or list(CASES)
    stored: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"cases": {}}
    if options.check:
        return 1 if check([name for name in names if name in stored["cases"]], stored["cases"]) else 0
    if options.lines:
        for name in names:
            run = simulate_ours(CASES[name], CASES[name].make_inputs())
            profiles = map(profile_launch, run.kernels)
            print("\n\n".join(profile_text(profile, with_opcodes=True) for profile in profiles))
        return 0
    for name in names:
        before = stored["cases"].get(name) if options.ours else None
        record = run_case(name, before, with_tinygrad=not options.no_tinygrad)
        print(summary(name, record), flush=True)
        stored["cases"][name] = record
        if options.write:
            packages = OUR_PACKAGES if options.ours else (*OUR_PACKAGES, *PEER_PACKAGES)
            stored.setdefault("versions", {}).update((package, version(package)) for package in packages)
            stored["cases"] = {case: stored["cases"][case] for case in CASES if case in stored["cases"]}
            RESULTS.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n")
            PAGE.write_text(document(stored))
    return 0


if __name__ == "__main__":
    sys.exit(main())
