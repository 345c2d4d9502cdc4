"""Programs with symbols: one program for all lengths up to a bound, on every device."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from module_text import parse
from stand_in_gpu import StandIn

from uop.frontends.imported import ImportedFunction
from uop.runtime.artifact.artifact import Artifact
from uop.runtime.artifact.conversions import InputError
from uop.runtime.artifact.folder import Folder, read_folder, write_folder
from uop.runtime.artifact.loaded import LoadedProgram
from uop.runtime.artifact.plan import Plan
from uop.runtime.artifact.signature import Signature
from uop.runtime.artifact.simulated import SimulatedProgram
from uop.runtime.artifact.sizes import SizeError, size_text, size_value
from uop.runtime.cuda.graphs import GraphedProgram
from uop.runtime.cuda.program import CudaProgram
from uop.runtime.interpret.entries import entries, execute
from uop.runtime.interpret.random_inputs import KINDS, random_inputs
from uop.runtime.native.compilation import compile_program, load_guarded
from uop.runtime.native.program import CpuProgram
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

Array = np.ndarray[Any, Any]

SHARES = """
uop.kernel @exponentials(%x: tensor<96x24xf32>) -> (tensor<96x24xf32>) {
  %0 = uop.exp %x : tensor<96x24xf32>
  uop.yield %0 : tensor<96x24xf32>
}
uop.kernel @totals(%y: tensor<96x24xf32>, %s: tensor<i64>) -> (tensor<1x24xf32>) {
  %0 = uop.iota : tensor<96xi64>
  %1 = uop.reshape %0 : tensor<96xi64> -> tensor<96x1xi64>
  %2 = uop.expand %1 : tensor<96x1xi64> -> tensor<96x24xi64>
  %s11 = uop.reshape %s : tensor<i64> -> tensor<1x1xi64>
  %3 = uop.expand %s11 : tensor<1x1xi64> -> tensor<96x24xi64>
  %4 = uop.lt %2, %3 : tensor<96x24xi64>
  %5 = uop.const 0.0 : f32
  %6 = uop.expand %5 : f32 -> tensor<96x24xf32>
  %7 = uop.where %4, %y, %6 : tensor<96x24xf32>
  %8 = uop.reduce_axis add %7 axes [0] : (tensor<96x24xf32>) -> tensor<1x24xf32>
  uop.yield %8 : tensor<1x24xf32>
}
uop.kernel @shares(%y: tensor<96x24xf32>, %total: tensor<1x24xf32>) -> (tensor<96x24xf32>) {
  %0 = uop.expand %total : tensor<1x24xf32> -> tensor<96x24xf32>
  %1 = uop.div %y, %0 : tensor<96x24xf32>
  uop.yield %1 : tensor<96x24xf32>
}
func.func @forward(
  %s: tensor<i64> {uop.symbol = #uop.symbol<s, 2 to 96>},
  %x: tensor<96x24xf32> {uop.extents = #uop.extents<s, 24>},
  %z: tensor<192xf32> {uop.extents = #uop.extents<2 * s>}
) -> (
  tensor<96x24xf32> {uop.extents = #uop.extents<s, 24>},
  tensor<1x24xf32>,
  tensor<192xf32> {uop.extents = #uop.extents<2 * s>}
) {
  %0 = uop.launch @exponentials(%x) : (tensor<96x24xf32>) -> tensor<96x24xf32>
  %1 = uop.launch @totals(%0, %s) : (tensor<96x24xf32>, tensor<i64>) -> tensor<1x24xf32>
  %2 = uop.launch @shares(%0, %1) : (tensor<96x24xf32>, tensor<1x24xf32>) -> tensor<96x24xf32>
  func.return %2, %1, %z : tensor<96x24xf32>, tensor<1x24xf32>, tensor<192xf32>
}
"""
"""A softmax over rows, of which there are s: in three kernels, of which only one needs s for its result."""

LENGTHS = (2, 17, 96)


def inputs(length: int) -> list[Array]:
    generator = np.random.default_rng(length)
    return [generator.standard_normal(shape).astype(np.float32) for shape in ((length, 24), (2 * length,))]


def check(outputs: Sequence[Any], length: int) -> None:
    x, z = inputs(length)
    exponentials = np.exp(x.astype(np.float64))
    expected = (exponentials / exponentials.sum(0), exponentials.sum(0, keepdims=True), z)
    for output, reference in zip(outputs, expected, strict=True):
        output = np.asarray(output)
        assert output.shape == reference.shape
        assert output.flags.c_contiguous
        np.testing.assert_allclose(output, reference, rtol=1e-5)


def compiled(target: str) -> ImportedFunction:
    imported = ImportedFunction(parse(SHARES))
    for _ in compile_stages(imported, CompileOptions(), target=target):
        pass
    return imported


@pytest.fixture(scope="module")
def cuda() -> Artifact:
    return Program(compiled("cuda").module).artifact()


@pytest.fixture(scope="module")
def native() -> Artifact:
    return compile_program(compiled("c").module)


def on_arrays(run: Callable[[list[Array]], list[Array]]) -> None:
    for length in LENGTHS:
        check(run(inputs(length)), length)


def on_tensors(run: Callable[[list[torch.Tensor]], Sequence[torch.Tensor]]) -> None:
    # The longest first: what it leaves in kept buffers lies behind what is given next.
    for length in sorted(LENGTHS, reverse=True):
        outputs = run([torch.tensor(array) for array in inputs(length)])
        assert all(output.is_contiguous() for output in outputs)
        check(outputs, length)


@pytest.mark.parametrize("target", ["cuda", "c"])
def test_at_every_stage(target: str) -> None:
    imported = ImportedFunction(parse(SHARES))
    for _, module in compile_stages(imported, CompileOptions(), target=target):
        (entry,) = entries(module)
        for length in LENGTHS:
            results = execute(module, entry, [np.array(length), *inputs(length)]).results
            check([np.asarray(result, order="C") for result in results], length)


def test_random_sizes_are_within_their_bounds() -> None:
    module = parse(SHARES)
    (entry,) = entries(module)
    made = [random_inputs(module, entry, kind, seed) for kind in KINDS for seed in range(3)]
    sizes = {int(size) for size, _, _ in made}
    assert len(sizes) > 3
    assert all(2 <= size <= 96 for size in sizes)
    assert all(x.shape == (size, 24) and z.shape == (2 * size,) for size, x, z in made)


def test_symbols_may_be_given_too(native: Artifact) -> None:
    program = CpuProgram(native)
    check(program.run([np.array(17), *inputs(17)]), 17)
    check(program([torch.tensor(17), *map(torch.tensor, inputs(17))]), 17)
    with pytest.raises(SizeError, match="s is given as 16, and is 17"):
        program.run([np.array(16), *inputs(17)])


def test_the_kernels_get_the_symbol() -> None:
    imported = compiled("cuda")
    launches = [op for op in imported.function.body.block.ops if op.name == "uop.launch"]
    symbol = imported.function.body.block.args[0]
    assert [symbol in launch.operands for launch in launches] == [True, True, True]


def test_in_the_simulator(cuda: Artifact) -> None:
    on_arrays(SimulatedProgram(cuda).execute)


def test_counted_in_the_simulator() -> None:
    program = Program(compiled("cuda").module)
    loads: list[int] = []
    for length in LENGTHS:
        run = program.run(inputs(length))
        check(run.outputs, length)
        loads.append(run.kernels[0].counters.unique_load_sectors)
    assert loads == [96 + 1, 96 + 1, 3 * 96 + 1]  # three blocks of 32 rows of 24, and the symbol


def test_natively(native: Artifact) -> None:
    program = CpuProgram(native)
    on_arrays(program.run)
    on_tensors(program)
    (kept,) = program._wide[native.plan.arguments[0]]  # pyright: ignore[reportPrivateUsage]  # one buffer for all calls
    assert kept.shape == (96, 24)


def test_natively_in_guarded_memory() -> None:
    on_arrays(load_guarded(compiled("c").module).run_guarded)


@pytest.mark.parametrize("is_replayed", [False, True])
def test_on_a_gpu(cuda: Artifact, is_replayed: bool) -> None:
    stand_in = StandIn()
    stand_in.machine.learn(cuda)
    program = CudaProgram(cuda, stand_in.gpus)
    run = GraphedProgram(program) if is_replayed else program

    def call(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        return [stand_in.machine.download(each) for each in run([stand_in.torch.put(each) for each in tensors])]

    on_tensors(call)
    on_tensors(call)


@pytest.mark.parametrize("device", ["sim", "cpu"])
def test_from_a_folder(tmp_path: Path, cuda: Artifact, native: Artifact, device: str) -> None:
    artifact = cuda if device == "sim" else native
    write_folder(tmp_path, Folder(artifact, Signature.of_plan(artifact.plan), {}, {}))
    program = LoadedProgram(read_folder(tmp_path), device=device)
    assert [value.name for value in program.given] == ["x", "z"]
    on_arrays(lambda arrays: list(program(*arrays)))
    on_tensors(lambda tensors: list(program(*tensors)))
    with pytest.raises(InputError, match="s = 97 is above its bound 96"):
        program(np.zeros((97, 24), np.float32), np.zeros(194, np.float32))
    with pytest.raises(InputError, match=r"input x is given float64\[5, 24\], not float32\[s, 24\]"):
        program(np.zeros((5, 24)), np.zeros(10, np.float32))


def test_plans_are_text(cuda: Artifact) -> None:
    plan = cuda.plan
    assert Plan.from_json(plan.to_json()) == plan
    assert str(plan.values[plan.arguments[1]]) == "z: f32[2 * s]"
    data = json.loads(plan.to_json())
    assert data["symbols"] == [
        {"name": "s", "low": 2, "high": 96, "place": 0, "argument": 1, "axis": 0, "factor": 1, "offset": 0}
    ]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((97, 24), (194,)), "length 97 of argument x in dimension 0: s = 97 is above its bound 96"),
        (((1, 24), (2,)), "length 1 of argument x in dimension 0: s = 1 is below its bound 2"),
        (((9, 24), (19,)), "length 19 of argument z in dimension 0: 2 \\* s is 18 where s = 9"),
        (((9, 23), (18,)), "length 23 of argument x in dimension 1: 24 is 24 where s = 9"),
        (((9,), (18,)), "argument x: f32\\[s, 24\\] of @forward is given with 1 dimensions"),
    ],
)
def test_other_sizes_are_refused(native: Artifact, shapes: tuple[tuple[int, ...], ...], message: str) -> None:
    program = CpuProgram(native)
    with pytest.raises(SizeError, match=message):
        program.run([np.zeros(shape, np.float32) for shape in shapes])
    with pytest.raises(SizeError, match=message):
        program([torch.zeros(shape) for shape in shapes])


def test_sizes() -> None:
    size = (((), 1), (("s", "t"), 2), (((((("s",), 1), ((), 3)), 4),), -1))
    assert size_value(size, {"s": 6, "t": 5}) == 1 + 60 - 2
    assert size_text(size) == "1 + 2 * s * t - ((s + 3) // 4)"
