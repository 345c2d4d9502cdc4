"""The functions of f32 in C are as exact as `c_math.ERRORS` says (bench/c_math.py measures them)."""

from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from uop.targets import c_math

COMPILER = shutil.which("cc")
BENCH = Path(__file__).parents[2] / "bench"

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler called cc")


@pytest.fixture(name="bench", scope="module")
def fixture_bench() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(BENCH), *sys.path])
        return importlib.import_module("c_math")


@pytest.fixture(name="program", scope="module")
def fixture_program(bench: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = bench.build([COMPILER], tmp_path_factory.mktemp("c_math"), list(c_math.ERRORS))
    if not bench.is_fused(program):
        pytest.skip("the errors are those of machines that multiply and add in one instruction")
    return program


@pytest.mark.parametrize("name", c_math.ERRORS)
def test_a_sample_of_floats(bench: Any, program: Path, name: str):
    worst, where = bench.error(program, name, 4093)
    assert worst <= c_math.ERRORS[name], f"{name}({where})"


@pytest.mark.slow
@pytest.mark.parametrize("name", c_math.ERRORS)
def test_every_float(bench: Any, program: Path, name: str):
    worst, where = bench.error(program, name, 1)
    assert c_math.ERRORS[name] - 0.01 < worst <= c_math.ERRORS[name], f"{name}({where})"
