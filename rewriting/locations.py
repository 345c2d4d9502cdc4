"""Locations: every op carries where it came from in the user's Python, and keeps it when passes rewrite it."""

from collections.abc import Iterable
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, FileLineColLoc, FusedLoc, LocationAttr, NoneAttr, UnknownLoc

UNKNOWN = UnknownLoc()


def location_leaves(location: LocationAttr) -> tuple[LocationAttr, ...]:
    """The locations that a fused one holds, none of them unknown."""
    if isinstance(location, FusedLoc):
        parts = cast(ArrayAttr[LocationAttr], location.locations)  # pyright: ignore[reportUnknownMemberType]
        return tuple(leaf for part in parts for leaf in location_leaves(part))
    return () if isinstance(location, UnknownLoc) else (location,)


def _source_order(location: LocationAttr) -> tuple[str, int, int, str]:
    if isinstance(location, FileLineColLoc):
        return location.filename.data, location.line.data, location.column.data, ""
    return "", 0, 0, str(location)


def fuse_locations(locations: Iterable[LocationAttr]) -> LocationAttr:
    """One location for what came from all of these, in source order, each once."""
    leaves = {leaf: None for location in locations for leaf in location_leaves(location)}
    if not leaves:
        return UNKNOWN
    if len(leaves) == 1:
        return next(iter(leaves))
    return FusedLoc(ArrayAttr(sorted(leaves, key=_source_order)), NoneAttr())


def source_lines(location: LocationAttr) -> list[str]:
    """`model.py:7` for each line of source that the location names."""
    return [
        f"{leaf.filename.data}:{leaf.line.data}"
        for leaf in location_leaves(location)
        if isinstance(leaf, FileLineColLoc)
    ]
