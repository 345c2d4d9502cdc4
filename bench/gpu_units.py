"""What bench/gpu.py measures, a unit at a time: one contender on one case or model, checked against eager and timed."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from gpu_contenders import Missing, difference, make_model_ready, make_ready
from kernel_cases import Case

from uop.frontends.torch_internals import random_state
from uop.tools.benching.gpu_times import Timer
from uop.tools.benching.times import Run
from uop.tools.checking.models import make_model

Kind = Literal["case", "model"]

RIGHT, WRONG, FAILED, MISSING, STARTED = "right", "wrong", "failed", "missing", "started"

MODEL_TOLERANCE = 1e-3
"""Of each result of a model relative to its greatest element: two layers, f32, other orders of sums than eager."""

OVERHEAD, COPY, PRODUCT = "overhead", "copy", "product"
"""What is timed of the machine itself: a graph of almost nothing, which is what a launch takes that no kernel is to
blame for; a copy in its memory; and a product of f16 matrices, by PyTorch: what can be had, rather than data sheets."""


@dataclass(frozen=True)
class Unit:
    """One contender on one case or model."""

    kind: Kind
    name: str
    contender: str

    @property
    def key(self) -> str:
        return f"{self.kind}/{self.name}/{self.contender}"

    def is_like(self, key: str) -> bool:
        """Whether the key is that of a unit of the same kind and contender."""
        kind, _, rest = key.partition("/")
        return kind == self.kind and rest.rpartition("/")[2] == self.contender


def units(cases: Mapping[str, Case], models: tuple[str, ...]) -> Iterator[Unit]:
    """All of them, the most important first: is ours right and how fast, then the peers."""
    for name in cases:
        yield Unit("case", name, "uop")
        yield Unit("case", name, "eager")
    for name in models:
        for contender in ("uop", "eager", "uop, graph"):
            yield Unit("model", name, contender)
    for contender in ("triton", "inductor"):
        yield from (Unit("case", name, contender) for name in cases)
    yield from (Unit("model", name, "inductor") for name in models)


@dataclass
class Results:
    """What was measured, and the file that has it: it is written after each unit, so that a run can go on later."""

    path: Path
    machine: dict[str, Any]
    units: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])

    @staticmethod
    def read(path: Path, machine: dict[str, Any]) -> Results:
        """Those of an earlier run. Raises ValueError where they are of another machine or other versions."""
        if not path.exists():
            return Results(path, machine)
        data = json.loads(path.read_text())
        if data["machine"] != machine:
            raise ValueError(f"{path} has results of {data['machine']}, this is {machine}: give --fresh, or --output")
        return Results(path, machine, data["units"])

    def record(self, key: str, record: dict[str, Any]) -> None:
        self.units[key] = record
        self.write()

    def longest(self, unit: Unit) -> float:
        """The seconds that the slowest unit of the same kind and contender took: what the next may take."""
        alike = (record for key, record in self.units.items() if unit.is_like(key))
        return max((record.get("seconds", 0.0) for record in alike), default=0.0)

    def write(self) -> None:
        """In one step, so that what is there can be read whenever the run ends."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_suffix(".tmp")
        data = {"machine": self.machine, "units": self.units}
        temporary.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        os.replace(temporary, self.path)

    def forget(self, contender: str | None = None) -> None:
        """Drop what did not work out, to be tried again, and all of one contender."""
        self.units = {
            key: record
            for key, record in self.units.items()
            if record["status"] in (RIGHT, MISSING) and key.rpartition("/")[2] != contender
        }

    def close_started(self) -> None:
        """A unit that was under way when the process ended has failed."""
        for record in self.units.values():
            if record["status"] == STARTED:
                record |= {"status": FAILED, "error": "the process ended, or was ended because it hung"}


@dataclass(frozen=True)
class Bench:
    """Measures units.

    device: where PyTorch's tensors lie. copied, extent: bytes of the copy, and rows and columns of the product
    """

    cases: Mapping[str, Case]
    timer: Timer
    device: str
    copied: int = 1 << 30
    extent: int = 8192

    def measure(self, unit: Unit) -> dict[str, Any]:
        """The record of a unit: whether it is right, its times, and what is told of it. Nothing is raised."""
        start = time.perf_counter()
        try:
            record = self._case(unit) if unit.kind == "case" else self._model(unit)
        except Missing as error:
            record = {"status": MISSING, "error": str(error)}
        except Exception as error:
            record = {"status": FAILED, "error": f"{type(error).__name__}: {error}"[:2000]}
        return record | {"seconds": round(time.perf_counter() - start, 2)}

    def machine(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Records of the machine itself, with what it does in a second: bytes read and written, multiplies and adds."""
        one = torch.zeros(1, device=self.device)
        yield OVERHEAD, {"status": RIGHT, "times": self.timer.time(lambda: one + 1).as_json()}
        yield COPY, self._copy()
        yield PRODUCT, self._product()

    def _copy(self) -> dict[str, Any]:
        source = torch.randint(256, (self.copied,), dtype=torch.uint8, device=self.device)
        target = torch.empty_like(source)
        return self._rate(lambda: target.copy_(source), 2 * self.copied)

    def _product(self) -> dict[str, Any]:
        a, b = (torch.randn(self.extent, self.extent, device=self.device).half() for _ in range(2))
        return self._rate(lambda: a @ b, 2 * self.extent**3)

    def _rate(self, run: Run, amount: int) -> dict[str, Any]:
        times = self.timer.time(run)
        return {"status": RIGHT, "times": times.as_json(), "per second": amount / (1e-6 * times.median)}

    def _case(self, unit: Unit) -> dict[str, Any]:
        case = self.cases[unit.name]
        inputs = case.make_inputs(self.device)
        expected = make_ready("eager", unit.name, case, inputs).run()
        ready = make_ready(unit.contender, unit.name, case, inputs)
        self._poison(expected)
        found = difference(ready.run(), expected)
        record: dict[str, Any] = {"status": RIGHT if found <= case.tolerance else WRONG, "difference": found}
        del expected
        return record | {"notes": ready.notes, "times": self.timer.time(ready.run).as_json()}

    def _model(self, unit: Unit) -> dict[str, Any]:
        with random_state(0):
            call = make_model(unit.name)
        module, inputs = call.module.to(self.device), [value.to(self.device) for value in call.args]
        with torch.no_grad():
            expected = module(*inputs)
        ready = make_model_ready(unit.contender, module, inputs)
        found = difference(ready.run(), expected)
        record: dict[str, Any] = {"status": RIGHT if found <= MODEL_TOLERANCE else WRONG, "difference": found}
        return record | {"notes": ready.notes, "times": self.timer.time(ready.run, graph=False).as_json()}

    def _poison(self, like: torch.Tensor) -> None:
        """Leave memory of the size of a result that holds no result: what a kernel does not write is seen then, since
        PyTorch gives the memory that was freed last."""
        torch.empty_like(like).view(torch.uint8).fill_(0xFF)
