"""Compiled programs on disk: a program that has been compiled before, by any process, takes none of the passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields

from xdsl.dialects.builtin import ModuleOp

from ..frontends.imported import ImportedFunction
from ..rewriting.locations import source_lines
from ..runtime.artifact.artifact import Artifact
from ..runtime.artifact.plan import PlanError
from ..runtime.cache import Cache, Key, default_cache
from ..runtime.cache.versions import package_version, uop_version
from .pipelines import CompileOptions
from .plugins import changes_passes

SOURCES = "sources.json"
"""The file of an entry that holds the user's lines, as they were when it was made."""


def cached_program(
    function: ImportedFunction,
    text: str,
    options: CompileOptions,
    *,
    form: str,
    toolchain: str,
    build: Callable[[], Artifact],
    more: Mapping[str, str] | None = None,
) -> Artifact:
    """What `build` makes of a function in the torch dialect, from the cache where that has it.

    text: of the function's module, without locations
    form: the last form of the program, a name of the pipeline's table of stages. toolchain: what compiles its text
    more: what else the result depends on, by name
    Raises what `build` raises; nothing of that is kept.
    """
    cache = default_cache()
    if cache is None or changes_passes():
        return build()
    lines = _user_lines(function.module)
    key = program_key(function, text, options, form=form, toolchain=toolchain, more=more)
    return _find(cache, key, lines) or _store(cache, key, lines, build())


def program_key(
    function: ImportedFunction,
    text: str,
    options: CompileOptions,
    *,
    form: str,
    toolchain: str,
    more: Mapping[str, str] | None = None,
) -> Key:
    """All that a compiled program depends on.

    The text is without locations, so that a program stays in the cache when its lines move in their file; but which
    operations share a line does count, so that each line has its place in `_user_lines`.
    """
    return Key(
        {
            "kind": "program",
            "name": function.name,
            "target": form,
            "text": text,
            "lines": json.dumps(_line_numbers(function.module)),
            "toolchain": toolchain,
            "uop": uop_version(),
            **{package: package_version(package) for package in ("xdsl", "torch")},
            **{f"option {field.name}": repr(getattr(options, field.name)) for field in fields(options)},
            **(more or {}),
        }
    )


def _user_lines(module: ModuleOp) -> list[str]:
    """The lines of the user's program that the module's operations name, each once, in order."""
    return list(dict.fromkeys(line for op in module.walk() for line in source_lines(op.location)))


def _line_numbers(module: ModuleOp) -> list[list[int]]:
    """For each operation the places of its lines in `_user_lines`."""
    places: dict[str, int] = {}
    return [[places.setdefault(line, len(places)) for line in source_lines(op.location)] for op in module.walk()]


def _find(cache: Cache, key: Key, lines: list[str]) -> Artifact | None:
    """The program in the cache, its lines where they are now."""
    files = cache.get(key)
    if files is None:
        return None
    try:
        artifact = Artifact.of_files({name: data for name, data in files.items() if name != SOURCES})
        now = dict(zip(json.loads(files[SOURCES]), lines, strict=True))
        return artifact.with_sources(tuple(now[line] for line in artifact.plan.sources))
    except (PlanError, KeyError, ValueError):  # another version of uop of the same name has written it
        cache.remove(key)
        return None


def _store(cache: Cache, key: Key, lines: list[str], artifact: Artifact) -> Artifact:
    cache.put(key, {**artifact.as_files(), SOURCES: json.dumps(lines).encode()})
    return artifact
