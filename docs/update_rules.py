"""Writes docs/rules.md: the rewrite rules of `uop-simplify`, by family, with where each stands.

Usage: python docs/update_rules.py [--check]; with --check nothing is written, and the exit status is 1 when the
  text is stale.
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from uop.passes.uop.rules import FAMILIES, SIMPLIFY
from uop.passes.uop.rules.approximations import APPROXIMATIONS
from uop.passes.uop.rules.dependent_reductions import DEPENDENT_REDUCTIONS
from uop.passes.uop.rules.error_function import ERROR_FUNCTION
from uop.passes.uop.rules.fast_math import FAST_MATH
from uop.passes.uop.rules.weighted_sums import WEIGHTED_SUMS
from uop.rewriting.patterns import Rule

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("rules.md")
APPROXIMATE, ERF, FAST = "approximations", "error_function", "fast_math"
WEIGHTED, DEPENDENT = "weighted_sums", "dependent_reductions"

INTRODUCTION = """\
# The rewrite rules of `uop-simplify`

<!-- Written by docs/update_rules.py. -->

{count} rules that keep every bit of eager PyTorch's result, and {fast} that `uop-simplify{{fast-math=true}}` adds, in
the order in which they are tried. `term >> replacement`: a value that matches the term is the same as the replacement.
A name is any value of the class that `for` gives it, and the same value where it is repeated; a number that is computed
with is a constant; `n.min` and `n.max` are what the range analysis knows. The name of a function stands for what it
builds.
"""


def note_of(rule: Rule) -> str:
    """What a comment at the end of the rule's line says, and what the rule assumes."""
    line = Path(rule.file).read_text().splitlines()[rule.line - 1]
    _, _, comment = line.partition("  # ")
    return "; ".join([*([comment] if comment else []), *sorted(f"assumes {a.value}" for a in rule.assumes)])


def cell(text: str, code: bool = False) -> str:
    """Text as it stands in a cell of a table."""
    if not text:
        return ""
    return f"`{text}`" if code else text.replace("|", "\\|")


def split(rule: Rule) -> tuple[str, str]:
    """The rule without its guard, and the guard."""
    text, _, guard = str(rule).partition(" when ")
    return text, guard


def title(family: str) -> str:
    """A family's name as a title."""
    return family.replace("_", " ").capitalize()


def section(name: str, rules: Iterable[Rule]) -> str:
    """One family: what its file says, and a row for each rule."""
    documentation = import_module(f"uop.passes.uop.rules.{name}").__doc__ or ""
    rows = ["| rule | where | place | note |", "| --- | --- | --- | --- |"]
    for rule in rules:
        text, guard = split(rule)
        place = Path(rule.file).resolve().relative_to(ROOT)
        link = f"[{place.name}:{rule.line}](../{place}#L{rule.line})"
        rows.append(f"| {cell(text, code=True)} | {cell(guard, code=True)} | {link} | {cell(note_of(rule))} |")
    return "\n".join((f"## {title(name)}", "", documentation.strip(), "", *rows, ""))


def page() -> str:
    """The whole page."""
    families = {
        **FAMILIES,
        WEIGHTED: WEIGHTED_SUMS,
        DEPENDENT: DEPENDENT_REDUCTIONS,
        APPROXIMATE: APPROXIMATIONS,
        ERF: ERROR_FUNCTION,
        FAST: FAST_MATH,
    }
    introduction = INTRODUCTION.format(count=len(SIMPLIFY), fast=len(FAST_MATH))
    contents = [f"- [{title(n)}](#{title(n).lower().replace(' ', '-')}): {len(rules)}" for n, rules in families.items()]
    contents.append("")
    return "\n".join((introduction, *contents, *(section(name, rules) for name, rules in families.items())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    new = page()
    if options.check:
        old = PAGE.read_text()
        diff = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "docs/rules.md", "docs/rules.md, written anew", lineterm=""
        )
        print("\n".join(diff))
        return int(old != new)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
