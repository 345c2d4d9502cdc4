# pyright: reportUnknownMemberType=false
"""C text of `cpu_kernel`, built and run on this machine: memory, control flow, threads and programs."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from cpu_modules import Kernel, module_of
from module_text import parse
from numpy.typing import NDArray

from uop.runtime.artifact.artifact import Artifact
from uop.runtime.artifact.elements import STORAGE_DTYPES
from uop.runtime.artifact.plan import Value
from uop.runtime.native import tensors
from uop.runtime.native.compilation import compile_program, load_guarded, load_program
from uop.runtime.native.compiler import Compiler, compiler_at, find_compiler, zig_command
from uop.runtime.native.library import set_threads
from uop.runtime.native.memory import LARGE_BYTES, Blocks, blocks
from uop.runtime.native.program import LIBRARY, TEXT, CpuInputError, CpuProgram, OutOfBoundsError

Array = NDArray[Any]

SIZE = 400
ELEMENTS = ("f64", "f32", "f16", "bf16", "i1", "i8", "i16", "i32", "i64", "ui8")


def compilers() -> Iterator[Any]:
    yield pytest.param("", id="default")
    marks = () if zig_command() else pytest.mark.skip("the ziglang wheel is not installed")
    yield pytest.param("zig", id="zig", marks=marks)


@pytest.fixture(params=compilers(), scope="module")
def compiler(request: pytest.FixtureRequest) -> Compiler:
    return compiler_at(zig_command() or ()) if request.param == "zig" else find_compiler()


def values_of(element: str) -> Array:
    """Bits of numbers of an element type, as memory has them."""
    dtype = STORAGE_DTYPES[element]
    if element == "i1":
        return (np.arange(SIZE) * 7 % 3 % 2).astype(dtype)
    if element in ("f16", "f32", "f64"):
        return (np.arange(SIZE) * 0.37 - 20).astype(dtype)
    return (np.arange(SIZE) * 37).astype(dtype)


# Loads and stores.


@dataclass(frozen=True)
class Access:
    """How lanes are loaded, and stored in the same way somewhere else: in 2 tasks, at places 70 apart.

    mask: `one` for a bool, true in task 1; `each` for lanes, false for every third. each: at every third place.
    to: where task 0 stores
    """

    element: str
    lanes: int
    count: int | None = None
    mask: str = ""
    each: bool = False
    stream: bool = False
    to: int = 5
    index_bits: int = 32

    def kernel(self) -> Kernel:
        lanes, memory = self.lanes, f"memref<{SIZE}x{self.element}>"
        type = self.element if lanes == 1 else f"vector<{lanes}x{self.element}>"
        numbers = {"c0": 0, "c1": 1, "c3": 3, "c70": 70, "to": self.to, "copy": SIZE // 2}
        lines = [f"%{name} = uop.const {number} : index" for name, number in numbers.items()]
        lines += [
            "%t = cpu_kernel.task_id",
            "%row = uop.mul %t, %c70 : index",
            "%row_from = uop.add %row, %c3 : index",
            "%row_to = uop.add %row, %to : index",
            "%row_copy = uop.add %row, %copy : index",
            "%odd = uop.eq %t, %c1 : index",
        ]
        if self.each or self.mask == "each":
            vector = f"vector<{lanes}xindex>"
            lines += [
                f"%lanes = cpu_kernel.lanes : {vector}",
                *(f"%v_{x} = cpu_kernel.splat %{x} : index -> {vector}" for x in ("c3", "c0", "row_from", "row_to")),
                f"%remainder = uop.truncmod %lanes, %v_c3 : {vector}",
                f"%chosen = uop.ne %remainder, %v_c0 : {vector}",
                f"%steps = uop.mul %lanes, %v_c3 : {vector}",
                f"%each_from = uop.add %steps, %v_row_from : {vector}",
                f"%each_to = uop.add %steps, %v_row_to : {vector}",
            ]
        kind = "each" if self.each else "row"
        how = "" if self.count is None else f" count {self.count}"
        how += {"": "", "one": " mask %odd", "each": " mask %chosen"}[self.mask]
        types = (" each" if self.each else "") + (" lanewise" if self.mask == "each" else "")
        stream = " stream" if self.stream else ""
        lines += [
            f"%v = cpu_kernel.load %{self.element}[%{kind}_from]{how} : {memory} -> {type}{types}",
            f"cpu_kernel.store %v, %out[%{kind}_to]{how}{stream} : {type} -> {memory}{types}",
            f"cpu_kernel.store %v, %out[%row_copy] : {type} -> {memory}",
        ]
        body = "\n".join(f"  {line}" for line in lines)
        return Kernel(body, f"{SIZE}x{self.element}", [self.element], tasks=2, index_bits=self.index_bits)

    def expected(self) -> Array:
        """What is stored, and behind it all that was loaded; what is not written is poison."""
        x = values_of(self.element)
        out = np.full(x.nbytes, 0xFF, np.uint8).view(x.dtype)
        lanes = np.arange(self.lanes)
        for task in range(2):
            chosen = lanes < (self.lanes if self.count is None else self.count)
            if self.mask:
                chosen &= (lanes % 3 != 0) if self.mask == "each" else task == 1
            steps = 70 * task + lanes * (3 if self.each else 1)
            loaded = np.where(chosen, x[3 + steps], np.zeros(1, x.dtype))
            out[(self.to + steps)[chosen]] = loaded[chosen]
            out[SIZE // 2 + 70 * task + lanes] = loaded
        return out


def accesses() -> Iterator[Access]:
    sizes = [(element, 8) for element in ELEMENTS]
    sizes += [("f32", 2), ("f32", 4), ("f32", 16), ("i1", 16), ("f16", 4), ("i8", 16)]
    for element, lanes in sizes:
        for count, mask in product((None, lanes - 1), ("", "one", "each")):
            yield Access(element, lanes, count, mask)
        for mask in ("", "one", "each"):
            yield Access(element, lanes, mask=mask, each=True)
        yield Access(element, lanes, stream=True)
        yield Access(element, lanes, stream=True, to=64)
    for element in ELEMENTS:
        yield Access(element, 1)
        yield Access(element, 1, mask="one")
    for element, lanes in (("f16", 32), ("ui8", 64), ("i16", 32)):
        yield Access(element, lanes)
        yield Access(element, lanes, lanes // 2)
    yield Access("f32", 8, mask="each", each=True, index_bits=64)
    yield Access("f64", 8, mask="each", each=True, index_bits=64)


def test_loads_and_stores(compiler: Compiler):
    cases = list(accesses())
    module = module_of({element: f"{SIZE}x{element}" for element in ELEMENTS}, [case.kernel() for case in cases])
    program = load_guarded(module, compiler=compiler)
    outputs = program.run_guarded([values_of(element) for element in ELEMENTS])
    for case, output in zip(cases, outputs, strict=True):
        assert output.tobytes() == case.expected().tobytes(), case


# Vectors and control flow.


def run_kernels(kernels: Sequence[Kernel], arguments: dict[str, str], arrays: Sequence[Array], compiler: Compiler):
    return load_guarded(module_of(arguments, kernels), compiler=compiler).run_guarded(arrays)


def test_vectors(compiler: Compiler):
    """Splats, numbers of lanes, shuffles and extracts of every type."""
    kernels: list[Kernel] = []
    for element in ELEMENTS:
        vector, memory = f"vector<8x{element}>", f"memref<{SIZE}x{element}>"
        body = f"""
          %c0 = uop.const 0 : index
          %c8 = uop.const 8 : index
          %c16 = uop.const 16 : index
          %c24 = uop.const 24 : index
          %a = cpu_kernel.load %{element}[%c0] : {memory} -> {vector}
          %b = cpu_kernel.load %{element}[%c8] : {memory} -> {vector}
          %s = cpu_kernel.shuffle %a, %b [0, 8, 3, 15, 7, 1, 1, 12] : {vector}
          cpu_kernel.store %s, %out[%c0] : {vector} -> {memory}
          %e = cpu_kernel.extract %b [5] : {vector} -> {element}
          cpu_kernel.store %e, %out[%c8] : {element} -> {memory}
          %v = cpu_kernel.splat %e : {element} -> {vector}
          cpu_kernel.store %v, %out[%c16] : {vector} -> {memory}"""
        kernels.append(Kernel(body, f"{SIZE}x{element}", [element]))
    lanes = """
      %lanes = cpu_kernel.lanes : vector<16xindex>
      %numbers = uop.cast %lanes : vector<16xindex> -> vector<16xi32>
      %c0 = uop.const 0 : index
      cpu_kernel.store %numbers, %out[%c0] : vector<16xi32> -> memref<16xi32>"""
    kernels.append(Kernel(lanes, "16xi32", []))
    inputs = [values_of(element) for element in ELEMENTS]
    *outputs, numbers = run_kernels(kernels, {x: f"{SIZE}x{x}" for x in ELEMENTS}, inputs, compiler)
    for x, output in zip(inputs, outputs, strict=True):
        assert output[:8].tobytes() == x[[0, 8, 3, 15, 7, 1, 1, 12]].tobytes()
        assert output[8:9].tobytes() == x[13:14].tobytes()
        assert output[16:24].tobytes() == x[[13] * 8].tobytes()
    assert numbers.tolist() == list(range(16))


def test_transpose(compiler: Compiler):
    """Squares of every type, rows that are 18 apart to columns that are 17 apart."""
    kernels: list[Kernel] = []
    for element, lanes in TRANSPOSED:
        memory = f"memref<{SIZE}x{element}>"
        body = f"""
          %c3 = uop.const 3 : index
          %c5 = uop.const 5 : index
          cpu_kernel.transpose %{element}[%c3] rows 18, %out[%c5] rows 17 lanes {lanes} : {memory} -> {memory}"""
        kernels.append(Kernel(body, f"{SIZE}x{element}", [element]))
    inputs = [values_of(element) for element in ELEMENTS]
    outputs = run_kernels(kernels, {x: f"{SIZE}x{x}" for x in ELEMENTS}, inputs, compiler)
    for (element, lanes), output in zip(TRANSPOSED, outputs, strict=True):
        x, out = values_of(element), np.empty_like(output)
        out.view(np.uint8)[:] = 0xFF
        row, column = np.mgrid[:lanes, :lanes]
        out[5 + 17 * column + row] = x[3 + 18 * row + column]
        assert output.tobytes() == out.tobytes(), (element, lanes)


TRANSPOSED = [*((element, 8) for element in ELEMENTS), ("f32", 16), ("f32", 2), ("i8", 16)]


CONTROL = {
    # A step gives its carried values in another order: those of Fibonacci.
    "carried values change places": (
        """
      %c0 = uop.const 0 : index
      %c10 = uop.const 10 : index
      %a0 = uop.const 0 : i32
      %b0 = uop.const 1 : i32
      %x, %y = cpu_kernel.for %i = %c0 to %c10 step 1 carry (%a = %a0 : i32, %b = %b0 : i32) {
        %sum = uop.add %a, %b : i32
        cpu_kernel.yield %b, %sum : i32, i32
      }
      %c1 = uop.const 1 : index
      cpu_kernel.store %x, %out[%c0] : i32 -> memref<4xi32>
      cpu_kernel.store %y, %out[%c1] : i32 -> memref<4xi32>""",
        [55, 89, -1, -1],
    ),
    "carried values are swapped, and one stays": (
        """
      %c0 = uop.const 0 : index
      %c1 = uop.const 1 : index
      %c2 = uop.const 2 : index
      %c3 = uop.const 3 : index
      %a0 = uop.const 7 : i32
      %b0 = uop.const 8 : i32
      %d0 = uop.const 9 : i32
      %x, %y, %z = cpu_kernel.for %i = %c0 to %c3 step 1 carry (%a = %a0 : i32, %b = %b0 : i32, %d = %d0 : i32) {
        cpu_kernel.yield %b, %a, %d : i32, i32, i32
      }
      cpu_kernel.store %x, %out[%c0] : i32 -> memref<4xi32>
      cpu_kernel.store %y, %out[%c1] : i32 -> memref<4xi32>
      cpu_kernel.store %z, %out[%c2] : i32 -> memref<4xi32>""",
        [8, 7, 9, -1],
    ),
    "one loop in another, unrolled, whose bound is the other's index": (
        """
      %c0 = uop.const 0 : index
      %c1 = uop.const 1 : index
      %c7 = uop.const 7 : index
      %zero = uop.const 0 : i32
      %n = cpu_kernel.for %i = %c0 to %c7 step 2 carry (%s = %zero : i32) {
        %m = cpu_kernel.for %j = %c0 to %i step 1 unroll 4 carry (%r = %s : i32) {
          %jj = uop.cast %j : index -> i32
          %t = uop.add %r, %jj : i32
          cpu_kernel.yield %t : i32
        }
        cpu_kernel.yield %m : i32
      }
      cpu_kernel.store %n, %out[%c0] : i32 -> memref<4xi32>
      cpu_kernel.for %i = %c7 to %c1 step 1 {
        cpu_kernel.store %zero, %out[%c1] : i32 -> memref<4xi32>
      }""",
        [22, -1, -1, -1],
    ),
    "branches, and an array": (
        """
      %copy = cpu_kernel.alloc : memref<4xi32, "local">
      %c0 = uop.const 0 : index
      %c2 = uop.const 2 : index
      %c4 = uop.const 4 : index
      cpu_kernel.for %i = %c0 to %c4 step 1 {
        %small = uop.lt %i, %c2 : index
        %k = uop.cast %i : index -> i32
        %square = uop.mul %k, %k : i32
        cpu_kernel.if %small {
          cpu_kernel.store %k, %copy[%i] : i32 -> memref<4xi32, "local">
        } else {
          cpu_kernel.store %square, %copy[%i] : i32 -> memref<4xi32, "local">
        }
      }
      cpu_kernel.for %i = %c0 to %c4 step 2 {
        %v = cpu_kernel.load %copy[%i] : memref<4xi32, "local"> -> i32
        %some = uop.gt %i, %c0 : index
        cpu_kernel.if %some {
          cpu_kernel.store %v, %out[%i] : i32 -> memref<4xi32>
        }
      }""",
        [-1, -1, 4, -1],
    ),
}


def test_control_flow(compiler: Compiler):
    outputs = run_kernels([Kernel(body, "4xi32", []) for body, _ in CONTROL.values()], {}, [], compiler)
    for (name, (_, expected)), output in zip(CONTROL.items(), outputs, strict=True):
        assert output.tolist() == expected, name


CONSTANTS = {
    "f64": ["0x7ff8000000000123", "0xfff0000000000000", "0x7ff0000000000001", "0x8000000000000000", "0.1"],
    "f32": ["0x7fc00123", "0xffc00000", "0xff800000", "0x80000000", "0x00000001", "3.4028234663852886e38", "0.1"],
    "f16": ["0x7e00", "0xfc00", "0x8000", "0.1"],
    "bf16": ["0x7fc1", "0xff80", "0x8000", "0.1"],
    "i1": ["true", "false"],
    "i8": ["-128", "127"],
    "i16": ["-32768", "32767"],
    "i32": ["-2147483648", "2147483647"],
    "i64": ["-9223372036854775808", "9223372036854775807"],
    "ui8": ["255", "0"],
}


def test_constants(compiler: Compiler):
    kernels: list[Kernel] = []
    for element, constants in CONSTANTS.items():
        lines = ["%c0 = uop.const 0 : index"]
        for place, constant in enumerate(constants):
            lines += [
                f"%v{place} = uop.const {constant}" + (f" : {element}" if element != "i1" else ""),
                f"%p{place} = uop.const {place} : index",
                f"cpu_kernel.store %v{place}, %out[%p{place}] : {element} -> memref<{len(constants)}x{element}>",
            ]
        kernels.append(Kernel("\n".join(lines), f"{len(constants)}x{element}", []))
    outputs = run_kernels(kernels, {}, [], compiler)
    for (element, constants), output in zip(CONSTANTS.items(), outputs, strict=True):
        for constant, got in zip(constants, output, strict=True):
            if constant.startswith("0x"):
                assert int.from_bytes(got.tobytes(), "little") == int(constant, 16), (element, constant)
            elif element == "bf16":
                assert got == 0x3DCD
            else:
                want = {"true": 1, "false": 0}.get(constant) if element == "i1" else output.dtype.type(constant)
                assert got == want, (element, constant)


# Programs.

ADD_ONE = """
cpu_kernel.kernel @add_one(%out: memref<6xf32>, %x: memref<6xf32>)
    outputs 1 tasks 6 grain 1 vector_bytes 16 index_bits 32 {
  %i = cpu_kernel.task_id
  %one = uop.const 1.0 : f32
  %v = cpu_kernel.load %x[%i] : memref<6xf32> -> f32
  %w = uop.add %v, %one : f32
  cpu_kernel.store %w, %out[%i] : f32 -> memref<6xf32>
}
"""

ONE = "(tensor<2x3xf32>) -> tensor<2x3xf32>"

PROGRAMS = {
    # name → (body of @forward(%x: tensor<2x3xf32>), types of its results, how much each adds to x, the arena's bytes)
    "nothing but the argument": ("func.return %x : tensor<2x3xf32>", ["2x3"], [0], 0),
    "the argument in another shape, twice": (
        "%r = uop.reshape %x : tensor<2x3xf32> -> tensor<6xf32>\nfunc.return %r, %x, %r : "
        "tensor<6xf32>, tensor<2x3xf32>, tensor<6xf32>",
        ["6", "2x3", "6"],
        [0, 0, 0],
        0,
    ),
    "a result twice, and in another shape": (
        f"%a = uop.launch @add_one(%x) : {ONE}\n%r = uop.reshape %a : tensor<2x3xf32> -> tensor<3x2xf32>\n"
        "func.return %a, %r, %a : tensor<2x3xf32>, tensor<3x2xf32>, tensor<2x3xf32>",
        ["2x3", "3x2", "2x3"],
        [1, 1, 1],
        0,
    ),
    "an arena that is used again": (
        f"%a = uop.launch @add_one(%x) arena [0] : {ONE}\n%b = uop.launch @add_one(%a) arena [64] : {ONE}\n"
        f"%c = uop.launch @add_one(%b) arena [0] : {ONE}\n%d = uop.launch @add_one(%c) arena [own] : {ONE}\n"
        "func.return %d : tensor<2x3xf32>",
        ["2x3"],
        [4],
        88,
    ),
    "results that nobody planned, a reshape between": (
        f"%a = uop.launch @add_one(%x) : {ONE}\n%r = uop.reshape %a : tensor<2x3xf32> -> tensor<6xf32>\n"
        "%b = uop.launch @add_one(%r) : (tensor<6xf32>) -> tensor<6xf32>\nfunc.return %b : tensor<6xf32>",
        ["6"],
        [2],
        0,
    ),
}


def program_module(name: str):
    body, shapes, _, _ = PROGRAMS[name]
    results = ", ".join(f"tensor<{shape}xf32>" for shape in shapes)
    return parse(f"{ADD_ONE}func.func @forward(%x: tensor<2x3xf32>) -> ({results}) {{\n{body}\n}}")


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str):
    _, shapes, added, arena = PROGRAMS[name]
    module = program_module(name)
    program = load_program(module)
    assert program.plan.arena_bytes == arena
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    runs = [
        [result.numpy() for result in program([x])],
        program.run([x.numpy()]),
        load_guarded(module).run_guarded([x.numpy()]),
    ]
    for results in runs:
        assert [result.shape for result in results] == [tuple(map(int, shape.split("x"))) for shape in shapes]
        for result, more in zip(results, added, strict=True):
            assert (result.ravel() == np.arange(6) + more).all()
        # They are new, and no two share memory.
        for result in results:
            result[...] = -1
        assert all((result == -1).all() for result in results)
        results[0][...] = -2
        assert all((result == -1).all() for result in results[1:])
        assert x.ravel().tolist() == [0, 1, 2, 3, 4, 5]


def numbers(program: CpuProgram, x: torch.Tensor) -> Any:
    return program([x])[0].numpy().tolist()


def test_inputs_of_other_layouts_are_copied_and_others_refused():
    program = load_program(program_module("results that nobody planned, a reshape between"))
    x = torch.arange(6, dtype=torch.float32).reshape(3, 2).t()
    assert numbers(program, x) == [2, 4, 6, 3, 5, 7]
    assert program([torch.nn.Parameter(x)])[0].requires_grad is False
    negative = torch.complex(torch.zeros(2, 3), x).conj().imag
    assert negative.is_neg()
    assert numbers(program, negative) == [2, 0, -2, 1, -1, -3]
    with pytest.raises(CpuInputError, match=r"argument x: f32\[2, 3\] of @forward is given a tensor float32\[6\]"):
        program([x.reshape(6)])
    with pytest.raises(CpuInputError, match=r"is given a tensor float64\[2, 3\]"):
        program([x.double()])
    with pytest.raises(CpuInputError, match="takes 1 tensors, not 2"):
        program([x, x])
    for elsewhere in (x.to("meta"), x.contiguous().to("meta")):
        with pytest.raises(CpuInputError, match="lies on meta, not on the CPU"):
            program([elsewhere])
    with pytest.raises(ValueError, match="is given an array of float64"):
        program.run([x.double().numpy()])


@pytest.mark.parametrize("private", [True, False])
def test_tensors_that_are_like_known_ones_are_taken_and_all_others_looked_at(private: bool):
    """private: whether PyTorch has what it does not document, which takes less time."""
    names = ("_TensorGuards", "_empty_strided")
    with pytest.MonkeyPatch.context() as patch:
        for name in () if private else names:
            patch.setattr(tensors, name, None)
        program = load_program(program_module("results that nobody planned, a reshape between"))
        x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        expected = [float(each + 2) for each in range(6)]
        for _ in range(3):
            assert numbers(program, x) == expected
        assert numbers(program, x.t().contiguous().t()) == expected
        assert numbers(program, x.double().requires_grad_().float()) == expected
        assert numbers(program, torch.nn.Parameter(x)) == expected
        assert numbers(program, torch.complex(torch.zeros(2, 3), x).conj().imag) == [2 - each for each in range(6)]
        with torch.inference_mode():
            assert numbers(program, x.clone()) == expected
        assert numbers(program, x) == expected
        for wrong in ([x.double()], [x.reshape(6)], [x.to("meta")], [x[:, :2]], [x, x], []):
            with pytest.raises(CpuInputError):
                program(wrong)
        assert numbers(program, x) == expected


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (3, 1, 2)])
@pytest.mark.parametrize("element", ELEMENTS)
def test_what_programs_make_is_dense(element: str, shape: tuple[int, ...]):
    value = Value("x", element, shape)
    made = tensors.maker(value)()
    like = torch.empty(shape, dtype=tensors.torch_dtype(value))
    assert (made.shape, made.stride(), made.dtype) == (like.shape, like.stride(), like.dtype)


def test_guards_tell_what_is_written_beside_a_value():
    for place, message in ((6, "behind its end, as far as 4 bytes"), (-2, "before its beginning, as far as 8 bytes")):
        body = f"""
          %one = uop.const 1.0 : f32
          %beyond = uop.const {place} : index
          cpu_kernel.store %one, %out[%beyond] : f32 -> memref<6xf32>"""
        program = load_guarded(module_of({}, [Kernel(body, "6xf32", [])]))
        with pytest.raises(OutOfBoundsError, match=message):
            program.run_guarded([])


def test_large_results_use_memory_again():
    size = LARGE_BYTES // 4 + 1
    body = f"""
      %one = uop.const 1.0 : f32
      %last = uop.const {size - 1} : index
      cpu_kernel.store %one, %out[%last] : f32 -> memref<{size}xf32>"""
    program = load_program(module_of({}, [Kernel(body, f"{size}xf32", [])]))
    blocks.clear()
    (first,) = program([])
    (second,) = program([])
    place, other, view = first.data_ptr(), second.data_ptr(), first[-1:]
    assert place != other
    assert place % 64 == other % 64 == 0
    del first
    assert blocks.waiting == 0  # the view needs it
    del view
    assert blocks.waiting == 4 * size
    (third,) = program([])
    again, last = third.data_ptr(), third[-1].item()
    assert (again, last) == (place, 1)
    assert blocks.waiting == 0
    (array,) = program.run([])
    last = float(array[-1])
    assert last == 1
    del second, third, array
    assert blocks.waiting == 12 * size
    few = Blocks(limit=4 * size)
    for _ in range(2):
        del_me = [few.array(np.dtype(np.float32), (size,), 4 * size) for _ in range(2)]
        del del_me
    assert few.waiting == 4 * size
    blocks.clear()
    assert blocks.waiting == 0


# Threads.

MARK = """
  %t = cpu_kernel.task_id
  %old = cpu_kernel.load %out[%t] : memref<1000xi32> -> i32
  %k = uop.cast %t : index -> i32
  cpu_kernel.store %k, %out[%t] : i32 -> memref<1000xi32>
"""


@pytest.fixture(scope="module")
def marks(compiler: Compiler) -> CpuProgram:
    """A program of 1000 tasks, each of which writes its number."""
    return load_program(module_of({}, [Kernel(MARK, "1000xi32", [], tasks=1000)]), compiler=compiler)


@pytest.fixture(autouse=True)
def default_threads() -> Iterator[None]:
    yield
    set_threads(None)


def is_complete(program: CpuProgram) -> bool:
    return program.run([])[0].tolist() == list(range(1000))


def test_every_task_runs_once_on_any_number_of_threads(marks: CpuProgram):
    for threads in (1, 2, 3, 7, 40, 2, 1, 3):
        set_threads(threads)
        assert is_complete(marks), threads
    with pytest.raises(ValueError, match="at least 1 thread, not 0"):
        set_threads(0)


def test_threads_that_call_at_once(marks: CpuProgram):
    set_threads(2)
    complete: list[bool] = []

    def call() -> None:
        complete.append(all(is_complete(marks) for _ in range(50)))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert complete == [True] * 4


def test_a_child_process_runs_programs(marks: CpuProgram):
    set_threads(2)
    assert is_complete(marks)
    child = os.fork()
    if child == 0:
        os._exit(0 if is_complete(marks) and is_complete(marks) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert is_complete(marks)


def test_a_program_is_data():
    artifact = compile_program(module_of({}, [Kernel(MARK, "1000xi32", [], tasks=1000)]))
    kernel = artifact.plan.kernels["k0"]
    assert kernel.entry == "k0"
    assert "void forward(int *r0, char *arena, int threads) {" in artifact.text(kernel, TEXT)
    again = Artifact.of_files(artifact.as_files())
    assert is_complete(CpuProgram(again))
    # A library for another CPU is built anew from the text.
    other = replace(again, plan=replace(again.plan, arch="other"), files={**again.files, LIBRARY: b"not for here"})
    assert is_complete(CpuProgram(other))
