"""`uop cache`: what is on disk, why a program was not found there, and an end to it."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Sequence
from difflib import unified_diff

from rich.console import Console
from rich.table import Table

from ..runtime.cache import Cache, EntryError, Key, Stored, default_folder, differing_parts
from ..runtime.cache.settings import cache_at
from .console import console

SHOWN_DIGITS = 12
"""Of a digest: enough to name an entry."""


class CacheCommandError(Exception):
    """The command line names what there is not."""


def execute(options: argparse.Namespace) -> int:
    """Run the command; 0, or 1 for an error."""
    cache = cache_at(default_folder())
    try:
        match options.action:
            case "path":
                print(cache.folder)
            case "list":
                _list(cache, as_json=options.json)
            case "explain":
                _explain(cache, options.entry, options.other)
            case _:
                count, size = cache.clear()
                print(f"{count} {'entry' if count == 1 else 'entries'}, {size_text(size)}, removed from {cache.folder}")
    except CacheCommandError as error:
        print(f"uop: error: {error}", file=sys.stderr)
        return 1
    return 0


def size_text(size: float) -> str:
    """`12.3 kB`"""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def age_text(seconds: float) -> str:
    """`5 minutes`"""
    for length, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= length:
            count = int(seconds / length)
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return "now"


def _readable(entries: Sequence[Stored]) -> Iterator[tuple[Stored, Key]]:
    """The entries with their keys; without those that are damaged, or go meanwhile."""
    for stored in entries:
        try:
            yield stored, stored.key()
        except (OSError, EntryError):
            continue


def _list(cache: Cache, *, as_json: bool) -> None:
    entries = list(_readable(cache.entries()))
    if as_json:
        rows = [
            {
                "digest": stored.digest,
                **{name: key.parts.get(name, "") for name in ("kind", "name", "target")},
                "bytes": stored.size,
                "used": stored.used,
            }
            for stored, key in entries
        ]
        print(json.dumps(rows, indent=1))
        return
    table = Table(title=f"{cache.folder}", title_justify="left")
    for title in ("entry", "kind", "name", "target"):
        table.add_column(title)
    table.add_column("size", justify="right")
    table.add_column("last used", justify="right")
    now = time.time()
    for stored, key in entries:
        shown = [key.parts.get(name, "") for name in ("kind", "name", "target")]
        # Of a CPU its features are listed, too.
        shown[2] = shown[2] if len(shown[2]) <= 40 else f"{shown[2][:39]}…"
        table.add_row(stored.digest[:SHOWN_DIGITS], *shown, size_text(stored.size), age_text(now - stored.used))
    total = sum(stored.size for stored, _ in entries)
    table.caption = f"{len(entries)} entries, {size_text(total)} of at most {size_text(cache.limit)}"
    console().print(table)


def _explain(cache: Cache, name: str, other_name: str | None) -> None:
    stored, key = _entry(cache, name)
    other, other_key = _nearest(cache, stored, key) if other_name is None else _entry(cache, other_name)
    differing = differing_parts(key, other_key)
    out = console()
    head = f"{stored.digest[:SHOWN_DIGITS]} and {other.digest[:SHOWN_DIGITS]}"
    if not differing:
        out.print(f"{head} are one entry")
        return
    out.print(f"{head} differ in {', '.join(differing)}", markup=False)
    for part in differing:
        _print_difference(out, part, key.parts.get(part, ""), other_key.parts.get(part, ""))


def _print_difference(out: Console, part: str, one: str, other: str) -> None:
    out.print(f"\n{part}:", style="bold", markup=False)
    if "\n" not in one + other and len(one) + len(other) < 200:
        out.print(f"  - {one}\n  + {other}", markup=False, soft_wrap=True)
        return
    for line in unified_diff(one.splitlines(), other.splitlines(), lineterm="", n=2):
        if not line.startswith(("---", "+++")):
            out.print(f"  {line}", markup=False, soft_wrap=True)


def _entry(cache: Cache, prefix: str) -> tuple[Stored, Key]:
    """The entry whose digest begins so. Raises `CacheCommandError` where there is none, or several are."""
    found = list(_readable(cache.find(prefix)))
    if len(found) != 1:
        told = ", ".join(stored.digest[:SHOWN_DIGITS] for stored, _ in found[:5])
        reason = f"{len(found)} entries begin with {prefix!r}: {told}" if found else f"there is no entry {prefix!r}"
        raise CacheCommandError(f"{reason} (`uop cache list` shows all)")
    return found[0]


def _nearest(cache: Cache, stored: Stored, key: Key) -> tuple[Stored, Key]:
    """The other entry of its kind that differs in the fewest parts, and has its name if one of those does; of several,
    the one used last."""
    others = [
        (other, other_key)
        for other, other_key in _readable(cache.entries())
        if other.digest != stored.digest and other_key.parts.get("kind") == key.parts.get("kind")
    ]
    if not others:
        raise CacheCommandError(f"there is no other entry of kind {key.parts.get('kind', '')!r} to compare it with")

    def distance(pair: tuple[Stored, Key]) -> tuple[bool, int]:
        return pair[1].parts.get("name") != key.parts.get("name"), len(differing_parts(key, pair[1]))

    return min(others, key=distance)
