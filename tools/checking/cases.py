"""Suite `cases`: programs from a file, `.jsonl` with the values that they ought to give, or `.txt`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils._pytree import tree_leaves

from ...frontends.capture import capture_expression, capture_function
from ...frontends.captured import Captured
from ...frontends.errors import FrontendError
from ...runtime.tensors import to_interpreted
from .judging import by_eager, by_values
from .levels import Judge, Tensors, check_program, fail_everywhere
from .outcomes import Outcome


@dataclass(frozen=True)
class ExpressionCase:
    """One line of a `.txt` file, in the expression syntax of `uop run -c`; judged by eager PyTorch and float64."""

    code: str

    def __str__(self) -> str:
        return self.code

    def captured(self) -> Captured:
        return capture_expression(self.code)

    def judge(self, captured: Captured) -> Callable[[Tensors], Judge]:
        return by_eager(captured)


@dataclass(frozen=True)
class StatedCase:
    """A line of a `.jsonl` file: a function, its inputs, and what it ought to give.

    torch_code:    Python that defines `inputs()`, a tuple of tensors, and `fn`
    expected_code: Python that defines `expect`, of the inputs as numpy holds them (16-bit floats as f32)
    tolerance:     relative and absolute, of each element
    """

    name: str
    torch_code: str
    expected_code: str
    tolerance: float

    def __str__(self) -> str:
        return self.name

    def captured(self) -> Captured:
        names = _run(self.torch_code, self.name)
        return capture_function(names["fn"], names["inputs"], self.name)

    def judge(self, captured: Captured) -> Callable[[Tensors], Judge]:
        names = _run(self.torch_code, self.name)
        arrays = [to_interpreted(value) if isinstance(value, torch.Tensor) else value for value in names["inputs"]()]
        with np.errstate(all="ignore"):
            expected = tree_leaves(_run(self.expected_code, self.name)["expect"](*arrays))
        return lambda inputs: by_values(captured, expected, self.tolerance)


Case = ExpressionCase | StatedCase


@dataclass(frozen=True)
class CaseSuite:
    """The cases of a file. match: part of their names."""

    file: str
    levels: Sequence[str]
    match: str = ""

    @property
    def title(self) -> str:
        return Path(self.file).name

    def cases(self) -> list[Case]:
        """Raises `BadCaseFile`."""
        return [case for case in read_cases(Path(self.file)) if self.match in str(case)]

    def check(self, case: Case) -> Iterator[Outcome]:
        try:
            captured = case.captured()
        except FrontendError as error:
            yield from fail_everywhere(error, str(case), self.levels)
            return
        yield from check_program(captured, str(case), self.levels, case.judge(captured))


class BadCaseFile(Exception):
    """A file of cases that cannot be read; the text says which line, and why."""


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; empty lines and those that begin with # are none. Raises `BadCaseFile`."""
    if path.suffix not in (".jsonl", ".txt"):
        raise BadCaseFile(f"{path}: a file of cases ends in .jsonl (with stated values) or .txt (an expression a line)")
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        raise BadCaseFile(f"{path}: {error.strerror}") from None
    cases: list[Case] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            cases.append(_stated_case(json.loads(line)) if path.suffix == ".jsonl" else ExpressionCase(line.strip()))
        except ValueError as error:
            raise BadCaseFile(f"{path}:{number}: {error}") from None
    return cases


def _stated_case(row: dict[str, Any]) -> StatedCase:
    missing = [key for key in ("id", "torch_code", "expected_code", "tol") if key not in row]
    if missing:
        raise ValueError(f"the case has no {', '.join(missing)}")
    if (mode := row.get("mode", "value")) != "value":
        raise ValueError(f"mode {mode!r} is not known, only 'value' is: each element within `tol`")
    return StatedCase(row["id"], row["torch_code"], row["expected_code"], float(row["tol"]))


def _run(code: str, name: str) -> dict[str, Any]:
    """What the code defines."""
    names: dict[str, Any] = {}
    exec(compile(code, f"<{name}>", "exec"), names)
    return names
