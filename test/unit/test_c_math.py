"""The C of targets/c_math: every op, cast and bitcast on scalars and vectors against the semantics table."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from uop.dialects.semantics import ALU, evaluate, numpy_dtype, round_to_element
from uop.dialects.types import ELEMENT_TYPES, integer_bounds, is_bool, is_float
from uop.targets import c_math, c_types

COMPILER = shutil.which("cc")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler called cc")

LANES = (1, 4, 8, 16)

BY_WIDTH = ("f32", "f16", "bf16")
"""Types whose functions may be others for other numbers of lanes: all are tried; of the others, scalars and 16."""

TOLERANCES = {"f32": 4, "f64": 4, "f16": 1, "bf16": 1}
"""Units in the last place that a function may differ from numpy's by; an operation may not."""

EXACT = {
    *(
        "neg abs sign reciprocal sqrt floor ceil round trunc to_tf32 isnan isinf add sub mul div floordiv floormod"
    ).split(),
    *("truncdiv truncmod min max and or xor not shl shr eq ne lt le gt ge where fma").split(),
}


@dataclass(frozen=True)
class Case:
    """A C expression of a function of `operands` (element types), which gives `result`."""

    name: str
    lanes: int
    operands: tuple[str, ...]
    result: str
    spelling: c_math.Spelling

    @property
    def function(self) -> str:
        return f"{self.name}_{self.lanes}"


def operand_types(op: str, element: str) -> tuple[str, ...]:
    return ("i1", element, element) if op == "where" else (element,) * ALU[op].arity


def lanes_of(*elements: str) -> tuple[int, ...]:
    return LANES if all(element in BY_WIDTH for element in elements) else (1, 16)


def alu_cases(lanes: int) -> Iterator[Case]:
    for op, row in ALU.items():
        for element, attribute in ELEMENT_TYPES.items():
            if row.accepts(attribute) and lanes in lanes_of(element):
                types = operand_types(op, element)
                spelling = c_math.expression(op, element, lanes, ["x", "y", "z"][: len(types)])
                yield Case(f"{op}_{element}", lanes, types, "i1" if row.compares else element, spelling)


def cast_cases(lanes: int) -> Iterator[Case]:
    for source in ELEMENT_TYPES:
        for target in ELEMENT_TYPES:
            if source == target or lanes not in lanes_of(source, target):
                continue
            yield Case(f"cast_{source}_{target}", lanes, (source,), target, c_math.cast(source, target, lanes, "x"))
            if "i1" not in (source, target) and c_types.element_bytes(source) == c_types.element_bytes(target):
                spelling = c_math.bitcast(source, target, lanes, "x")
                yield Case(f"bitcast_{source}_{target}", lanes, (source,), target, spelling)


CASES = {case.function: case for lanes in LANES for case in (*alu_cases(lanes), *cast_cases(lanes))}


def wrapper(case: Case) -> str:
    """A C function of arrays, in which a bool is a byte."""
    stored = [c_types.stored(type) for type in (*case.operands, case.result)]
    parameters = [f"const {c_types.SCALARS[type]} *p{name}" for type, name in zip(stored[:-1], "xyz", strict=False)]
    parameters.append(f"{c_types.SCALARS[stored[-1]]} *out")
    loads: list[str] = []
    for name, type in zip("xyz", case.operands, strict=False):
        value = f"*({'const ' if case.lanes == 1 else ''}{c_types.memory_type(type, case.lanes)} *)(p{name} + i)"
        if type == "i1":
            value = c_math.cast("ui8", "i1", case.lanes, f"({value})").text
        loads.append(f"    {c_types.vector_type(type, case.lanes)} {name} = {value};")
    result = "r"
    if case.result == "i1":
        result = c_math.cast("i1", "ui8", case.lanes, "r").text
    return "\n".join(
        [
            f"void {case.function}({', '.join(parameters)}, long n) {{",
            f"  for (long i = 0; i < n; i += {case.lanes}) {{",
            *loads,
            f"    {c_types.vector_type(case.result, case.lanes)} r = {case.spelling.text};",
            f"    *({c_types.memory_type(case.result, case.lanes)} *)(out + i) = {result};",
            "  }",
            "}",
        ]
    )


@pytest.fixture(name="library", scope="module")
def fixture_library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder: Path = tmp_path_factory.mktemp("c_math")
    vectors = {(type, case.lanes) for case in CASES.values() for type in (*case.operands, case.result, "ui8")}
    uses = {use for case in CASES.values() for use in case.spelling.uses}
    text = [c_math.definitions(uses, vectors), c_types.memory_typedefs(vectors), *map(wrapper, CASES.values())]
    (folder / "ops.c").write_text("\n".join(text) + "\n")
    assert COMPILER is not None
    command = [COMPILER, "-O1", "-march=native", *c_math.COMPILER_FLAGS, "-Wall", "-Werror", "-Wno-unused-function"]
    command += ["-Wno-psabi", "-shared", "-fPIC", str(folder / "ops.c"), "-o", str(folder / "ops.so"), "-lm"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]
    return ctypes.CDLL(str(folder / "ops.so"))


def special_values(element: str) -> NDArray[Any]:
    """Zeros, units, extremes, halves, and a few numbers of every size."""
    attribute = ELEMENT_TYPES[element]
    if is_bool(attribute):
        return np.array([False, True])
    if not is_float(attribute):
        low, high = (-1000, 1000) if element == "index" else integer_bounds(attribute)
        values = {low, low + 1, high, high - 1, high // 2, 0, 1, 2, 3, 7, 8, 31, 63, 64, 100}
        values |= {-value for value in values if value >= 0}
        return np.array(sorted(value for value in values if low <= value <= high), numpy_dtype(attribute))
    whole = [0.0, 1.0, 2.0, 3.0, 10.0, 127.0, 129.0, 255.0, 1e3, 32767.0, 65504.0, 65520.0, 1e6, 2.0**31, 2.0**62]
    parts = [0.5, 1.5, 2.5, 1 / 3, 0.1, 0.7, 0.9999, 3.14159, 87.5, 88.8, 103.9]
    small = [2.0**-14, 2.0**-24, 2.0**-25, 2.0**-126, 2.0**-133, 2.0**-149, 1e-30, 2.0**127, 3.4e38]
    positive = [*whole, *parts, *small, *[1 + k / 256 for k in (1, 2, 3, 129)], float("inf")]
    values = np.array([*positive, *[-value for value in positive], float("nan")])
    return rounded(values, element)


def rounded(array: NDArray[Any], element: str) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return round_to_element(np, array, ELEMENT_TYPES[element])


def inputs_of(case: Case) -> list[NDArray[Any]]:
    """Every combination of special values, of which there are a multiple of all numbers of lanes."""
    values = [special_values(type) for type in case.operands]
    if len(values) == 3:
        values = [array[:: max(1, len(array) // 16)] for array in values]
    grid = [array.ravel() for array in np.meshgrid(*values, indexing="ij")]
    return [np.resize(array, -(-len(array) // 16) * 16) for array in grid]


def to_memory(element: str, array: NDArray[Any]) -> NDArray[Any]:
    """As C keeps it: bf16 as its bits, a bool as a byte."""
    if element == "bf16":
        return (np.ascontiguousarray(array, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(array)


def from_memory(element: str, array: NDArray[Any]) -> NDArray[Any]:
    if element == "bf16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    return array


def run(library: ctypes.CDLL, case: Case, inputs: Sequence[NDArray[Any]]) -> NDArray[Any]:
    dtype = np.uint16 if case.result == "bf16" else numpy_dtype(ELEMENT_TYPES[case.result])
    out = np.empty(len(inputs[0]), dtype)
    arrays = [to_memory(type, array) for type, array in zip(case.operands, inputs, strict=True)]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)]
    library[case.function](*pointers, ctypes.c_long(len(out)))
    return from_memory(case.result, out)


def ordered(element: str, array: NDArray[Any]) -> NDArray[np.int64]:
    """Floats as integers, neighbours one apart."""
    if element == "bf16":
        bits = np.ascontiguousarray(array, np.float32).view(np.int32).astype(np.int64) >> 16
        sign = -(1 << 15)
    else:
        bits = array.view(f"i{array.itemsize}").astype(np.int64)
        sign = -(1 << (8 * array.itemsize - 1))
    return np.where(bits < 0, sign - bits, bits)


def same(element: str, got: NDArray[Any], want: NDArray[Any], tolerance: int) -> NDArray[np.bool_]:
    """NaN equals NaN, and a zero has its sign."""
    if not is_float(ELEMENT_TYPES[element]):
        return got == want
    near = np.abs(ordered(element, got) - ordered(element, want)) <= tolerance
    zero = (want != 0) | (np.signbit(got) == np.signbit(want)) | (got != 0)
    return (near & zero & ~np.isnan(want) & ~np.isnan(got)) | (np.isnan(got) & np.isnan(want))


def check(case: Case, inputs: Sequence[NDArray[Any]], got: NDArray[Any], want: NDArray[Any], defined: Any, ulp: int):
    wrong = np.nonzero(~same(case.result, got, want, ulp) & np.broadcast_to(defined, got.shape))[0]
    lines = [f"{[array[i] for array in inputs]}: {got[i]!r}, not {want[i]!r}" for i in wrong[:8]]
    assert not lines, f"{case.function} of " + "\n".join(lines)


@pytest.mark.parametrize("name", sorted(op for op in ALU))
def test_op(library: ctypes.CDLL, name: str):
    row = ALU[name]
    for element, attribute in ELEMENT_TYPES.items():
        if not row.accepts(attribute):
            continue
        cases = [CASES[f"{name}_{element}_{lanes}"] for lanes in lanes_of(element)]
        inputs = inputs_of(cases[0])
        if name in EXACT:
            want = evaluate(np, row, attribute, list(inputs))
        else:
            wide = [array.astype(np.float64) if is_float(attribute) else array for array in inputs]
            want = evaluate(np, row, ELEMENT_TYPES["f64"] if is_float(attribute) else attribute, wide)
            want = rounded(want, element)
        defined: Any = True
        if not is_float(attribute) and ("div" in name or "mod" in name):
            defined = inputs[1] != 0
        results = [run(library, case, inputs) for case in cases]
        for case, got in zip(cases, results, strict=True):
            ulp = 0 if name in EXACT else TOLERANCES.get(element, 0)
            if name in ("min", "max") and is_float(attribute):  # of 0 and −0, either
                got, want = got + 0.0, want + 0.0
            check(case, inputs, got, want, defined, ulp)
            check(case, inputs, got, results[0] + 0.0 if name in ("min", "max") else results[0], defined, 0)


@pytest.mark.parametrize("name", sorted(c_math.ERRORS))
def test_lanes_agree(library: ctypes.CDLL, name: str):
    """Of random floats of every size, scalars and vectors compute the same bits."""
    x = np.random.default_rng(0).integers(-(2**31), 2**31, 1 << 16).astype(np.int32).view(np.float32)
    scalars, *vectors = (run(library, CASES[f"{name}_f32_{lanes}"], [x]) for lanes in LANES)
    for vector in vectors:
        assert np.array_equal(scalars, vector, equal_nan=True)


def cast_is_defined(source: str, target: str, x: NDArray[Any]) -> Any:
    """Not of a float to an integer that cannot hold it."""
    if not is_float(ELEMENT_TYPES[source]) or is_float(ELEMENT_TYPES[target]) or target == "i1":
        return True
    low, high = integer_bounds(ELEMENT_TYPES[target])
    whole = np.trunc(x.astype(np.float64))
    return (whole >= low) & (whole <= high) & (whole < 2.0**63)


@pytest.mark.parametrize("source", ELEMENT_TYPES)
def test_cast(library: ctypes.CDLL, source: str):
    x = inputs_of(CASES[f"neg_{source}_1" if source != "i1" else "not_i1_1"])
    for target in ELEMENT_TYPES:
        if target != source:
            want = rounded(x[0], target)
            defined = cast_is_defined(source, target, x[0])
            for lanes in lanes_of(source, target):
                case = CASES[f"cast_{source}_{target}_{lanes}"]
                check(case, x, run(library, case, x), want, defined, 0)


@pytest.mark.parametrize("name", sorted({case.name for case in CASES.values() if case.name.startswith("bitcast")}))
def test_bitcast(library: ctypes.CDLL, name: str):
    for case in (each for each in CASES.values() if each.name == name):
        x = inputs_of(case)
        got = run(library, case, x)
        assert to_memory(case.result, got).tobytes() == to_memory(case.operands[0], x[0]).tobytes()
