"""The CPU that this process runs on."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

_WIDTHS = ((64, {"avx512f", "avx512bw", "avx512dq", "avx512vl"}), (32, {"avx2", "fma"}))
"""Bytes of a vector register, and the features that are taken to have such registers for all types."""

_X86 = ("x86_64", "amd64")


@dataclass(frozen=True)
class Cpu:
    """A CPU. machine: its architecture, `x86_64` or `aarch64`. vector_bytes: 16, 32 or 64, as kernels take it.

    model, features: what the system tells of it
    """

    machine: str
    vector_bytes: int
    model: str
    features: frozenset[str]

    @property
    def is_x86(self) -> bool:
        return self.machine in _X86

    @property
    def instructions(self) -> str:
        """What its vector instructions are called."""
        return {64: "AVX-512", 32: "AVX2", 16: "SSE2"}[self.vector_bytes] if self.is_x86 else "NEON"

    @property
    def identity(self) -> str:
        """All that code built for it depends on."""
        return f"{self.machine} {self.model} {' '.join(sorted(self.features))}"

    @cached_property
    def arch(self) -> str:
        """A short name of all that."""
        return f"{self.machine}-{hashlib.sha256(self.identity.encode()).hexdigest()[:12]}"

    def __str__(self) -> str:
        return f"{self.machine}, vectors of {self.vector_bytes} bytes"


@cache
def host() -> Cpu:
    """This machine's."""
    machine = platform.machine().lower()
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    return parse_cpuinfo(machine, text)


def parse_cpuinfo(machine: str, text: str) -> Cpu:
    """The CPU that Linux describes in /proc/cpuinfo; that with least of its kind where there is no such text."""
    fields: dict[str, str] = {}
    for line in text.split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        fields[name.strip().lower()] = value.strip()
    features = frozenset((fields.get("flags") or fields.get("features") or "").split())
    widths = _WIDTHS if machine in _X86 else ()
    vector_bytes = next((width for width, needed in widths if needed <= features), 16)
    model = " ".join(fields[name] for name in ("model name", "cpu family", "model", "cpu part") if name in fields)
    return Cpu(machine, vector_bytes, model, features)


def core_count() -> int:
    """Cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not everywhere
        return os.cpu_count() or 1
