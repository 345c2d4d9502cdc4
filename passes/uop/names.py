"""Names of values."""

from collections.abc import Iterable, Sequence


def distinct_names(taken: Sequence[str], wanted: Iterable[str]) -> list[str]:
    """`taken`, then the wanted names, with a number behind those that are taken: `x`, `x1`, `x2`, …"""
    names = list(taken)
    used = set(taken)
    for name in wanted:
        free, number = name, 0
        while free in used:
            number += 1
            free = f"{name}{number}"
        used.add(free)
        names.append(free)
    return names
