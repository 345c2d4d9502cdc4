"""The results of `kernels.py` as text: a line a case, and the page docs/kernels.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernel_bounds import GPUS
from kernel_cases import CASES
from kernel_measure import ARCHS, compare

PEERS = ("triton", "tinygrad")


def ratio(ours: int, theirs: int) -> str:
    """`=` for equal counts, else ours over theirs."""
    if ours == theirs:
        return "="
    return f"{ours / theirs:.2f}" if theirs else f"{ours:,} : 0"


def judge(record: Mapping[str, Any], peer: str) -> tuple[str, list[str]]:
    """The verdict on ours against a peer, and the counters on which ours is worse; no verdict if it did not run."""
    if "counters" not in record.get(peer, {}):
        return "", []
    return compare(record["uop"]["counters"], record[peer]["counters"])


def summary(name: str, record: Mapping[str, Any]) -> str:
    """One case on a few lines."""
    ours, triton = record["uop"], record["triton"]
    parts = [
        f"{counter} {count:,}/{triton['counters'][counter]:,}"
        for counter, count in ours["counters"].items()
        if count or triton["counters"][counter]
    ]
    bounds = ", ".join(
        f"{gpu} {ours['bounds'][gpu]['us']} {ours['bounds'][gpu]['limit']}"
        f" / {triton['bounds'][gpu]['us']} {triton['bounds'][gpu]['limit']}"
        for gpu in GPUS
    )
    lines = [
        f"{name}: {judge(record, 'triton')[0]} against Triton ({triton['configuration']})",
        f"  {'; '.join(parts)}",
        f"  bounds in µs: {bounds}",
    ]
    if "tinygrad" in record:
        verdict, _ = judge(record, "tinygrad")
        lines.append(f"  tinygrad: {verdict or record['tinygrad']['error']}")
    return "\n".join(lines)


SHOWN = {
    "instr.": "instructions",
    "no moves": "without moves",
    "ld req.": "load requests",
    "ld sect.": "load sectors",
    "st req.": "store requests",
    "st sect.": "store sectors",
    "wavefr.": "wavefronts",
    "confl.": "conflicts",
    "barriers": "barriers",
    "mma": "mma",
    "ldmatrix": "ldmatrix",
    "cp.async": "cp.async",
    "commit + wait": "commit + wait",
    "shuffles": "shuffles",
}


def document(results: Mapping[str, Any]) -> str:
    """The page, in Markdown."""
    cases: Mapping[str, Any] = results["cases"]
    versions = ", ".join(f"{package} {number}" for package, number in results["versions"].items())
    verdicts = [judge(record, "triton")[0] for record in cases.values()]
    tally = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("better", "equal", "mixed", "worse"))
    return "\n".join(
        [
            "# Our kernels beside Triton's and tinygrad's",
            "",
            "<!-- Written by bench/kernels.py --write. -->",
            "",
            "Counted in the simulator from the PTX for sm_80 of all three compilers; no GPU. A kernel is *better* when",
            "it is no worse on every counter and better on one. Triton's is the best of a few configurations by its",
            f"bound on an A100. Against Triton: {tally}. Versions: {versions}.",
            "",
            "## Bounds and verdicts",
            "",
            "Microseconds that the busiest pipe takes at least (no prediction of time), ours / Triton's / tinygrad's,",
            "with the pipe. *Worse on*: the counters on which ours is greater than Triton's.",
            "",
            *_table(
                ("case", "verdict", "A100", "H100", "worse on", "against tinygrad", "Triton's configuration"),
                [_verdict_row(name, record) for name, record in cases.items()],
            ),
            "",
            "## Counters, ours / Triton's",
            "",
            "The quotient, and `=` for equal counts; the counts themselves are in bench/kernels.json.",
            "",
            *_table(("case", "launches", *SHOWN), [_counter_row(name, record) for name, record in cases.items()]),
            "",
            f"## Resources on {', '.join(ARCHS)}",
            "",
            "Registers, bytes of shared memory and of spills, ours / Triton's, for each launch.",
            "",
            *_table(
                ("case", "registers", "shared", "spills", "counted blocks"),
                [_resource_row(name, record) for name, record in cases.items()],
            ),
            "",
        ]
    )


def _table(titles: tuple[str, ...], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in ([*titles], ["---"] * len(titles), *rows)]


def _verdict_row(name: str, record: Mapping[str, Any]) -> list[str]:
    def bound(gpu: str) -> str:
        programs = [record[who] for who in ("uop", *PEERS) if "bounds" in record.get(who, {})]
        each = [program["bounds"][gpu] for program in programs]
        return " / ".join(f"{item['us']:.4g} {item['limit']}" for item in each)

    against = judge(record, "tinygrad")[0] or ("fails" if "tinygrad" in record else "")
    verdict, worse = judge(record, "triton")
    title, configuration = CASES[name].title, record["triton"]["configuration"]
    return [title, verdict, *map(bound, GPUS), ", ".join(worse), against, configuration]


def _counter_row(name: str, record: Mapping[str, Any]) -> list[str]:
    ours, theirs = record["uop"]["counters"], record["triton"]["counters"]
    counters = ("launches", *SHOWN.values())
    return [
        CASES[name].title,
        *(ratio(ours[counter], theirs[counter]) if ours[counter] or theirs[counter] else "" for counter in counters),
    ]


def _resource_row(name: str, record: Mapping[str, Any]) -> list[str]:
    def column(key: str) -> str:
        return " / ".join(
            "; ".join(_per_arch(launch, key) for launch in record[who]["resources"]) for who in ("uop", "triton")
        )

    simulated = " / ".join(record[who]["simulated"] for who in ("uop", "triton"))
    return [CASES[name].title, column("registers"), column("shared"), column("spills"), simulated]


def _per_arch(launch: Mapping[str, Any], key: str) -> str:
    """`32` if it is the same on all architectures, else `32, 30, 30`."""
    values = [launch[arch][key] for arch in ARCHS]
    return str(values[0]) if len(set(values)) == 1 else ", ".join(map(str, values))
