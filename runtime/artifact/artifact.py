"""A compiled program as named files: its plan, and the texts and binaries of its kernels.

The same files are what the cache keeps and what a folder holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .plan import Kernel, Plan, PlanError

PLAN = "plan.json"


@dataclass(frozen=True)
class Artifact:
    """A compiled program. files: those that the plan's kernels name, and others that its device takes"""

    plan: Plan
    files: Mapping[str, bytes] = field(repr=False)

    def file(self, kernel: Kernel, kind: str) -> bytes | None:
        """A file of a kernel: its `cuda` text, its `cubin`, …; None where there is none of that kind."""
        return self.files[kernel.files[kind]] if kind in kernel.files else None

    def text(self, kernel: Kernel, kind: str) -> str:
        """A text of a kernel. Raises `PlanError` where there is none."""
        data = self.file(kernel, kind)
        if data is None:
            raise PlanError(f"the artifact has no {kind} text of {kernel.entry}")
        return data.decode()

    def with_sources(self, sources: tuple[str, ...]) -> Artifact:
        """The same program for a text whose lines have moved: as many lines of the user's, in the same order."""
        return replace(self, plan=replace(self.plan, sources=sources))

    def as_files(self) -> dict[str, bytes]:
        """Everything, by name."""
        return {PLAN: self.plan.to_json().encode(), **self.files}

    @staticmethod
    def of_files(files: Mapping[str, bytes]) -> Artifact:
        """The artifact that `as_files` gave. Raises `PlanError`."""
        if PLAN not in files:
            raise PlanError(f"there is no {PLAN}")
        plan = Plan.from_json(files[PLAN])
        named = [name for kernel in plan.kernels.values() for name in kernel.files.values()]
        missing = [name for name in named if name not in files]
        if missing:
            raise PlanError(f"there is no {missing[0]}, which the plan names")
        return Artifact(plan, {name: data for name, data in files.items() if name != PLAN})
