"""Keys: all that a result depends on, by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Key:
    """What a result depends on: named texts, such as the program, the options, and the versions of the compilers.

    Two of the parts also tell people what the entry is: `kind`, such as `program` or `cuda`, and `name`.
    """

    parts: Mapping[str, str]

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the parts in order of name, each text behind its length: no two keys run into the same bytes."""
        hashed = hashlib.sha256()
        for name in sorted(self.parts):
            for text in (name, self.parts[name]):
                data = text.encode("utf-8", "surrogatepass")
                hashed.update(len(data).to_bytes(8, "little"))
                hashed.update(data)
        return hashed.hexdigest()


def differing_parts(one: Key, other: Key) -> list[str]:
    """The names of the parts that differ, or that only one of the keys has."""
    names = sorted({*one.parts, *other.parts})
    return [name for name in names if one.parts.get(name) != other.parts.get(name)]
