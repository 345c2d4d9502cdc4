# pyright: reportUnknownMemberType=false
"""State in place: programs that update what they are given write the places that change, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from module_text import parse
from stand_in_gpu import StandIn
from torch import nn

from uop.frontends.captured import Call, Captured
from uop.frontends.imported import Imported
from uop.rewriting.diagnostics import collect_remarks
from uop.runtime.artifact.folder import Folder
from uop.runtime.artifact.loaded import LoadedProgram
from uop.runtime.artifact.plan import Plan, PlanError
from uop.runtime.cuda.graphs import GraphedProgram
from uop.runtime.cuda.program import CudaProgram
from uop.runtime.devices import DEVICES
from uop.runtime.interpret.program import interpret_program
from uop.runtime.native.compilation import compile_program, load_guarded
from uop.runtime.program import Program
from uop.runtime.tensors import to_array
from uop.tools.artifacts import signature_of
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

HEADS, LENGTH, WIDTH = 2, 16, 8


class Decode(nn.Module):
    """A step of decoding: a row of a cache is stored, and all of it is read."""

    keys: torch.Tensor

    def __init__(self, store: Callable[[torch.Tensor, torch.Tensor, torch.Tensor], object]) -> None:
        super().__init__()
        self.register_buffer(
            "keys", torch.arange(HEADS * LENGTH * WIDTH, dtype=torch.float32).view(1, HEADS, LENGTH, -1)
        )
        self.store = store

    def forward(self, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.store(self.keys, row, position)
        return self.keys.sum(-1)


def index_copy(keys: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> None:
    keys.index_copy_(2, position[None], row)


def index_put(keys: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> None:
    keys[:, :, position[None]] = row * 2


def slices(keys: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> None:
    keys[:, :, 3:5] = row
    keys[:, 1, 7] = row[:, 0, 0]
    keys[:, :, 4:6] = -row


def two_steps(keys: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> None:
    keys.index_copy_(2, position[None], row)
    keys.index_copy_(2, position[None] + 1, row.exp())


STORES = (index_copy, index_put, slices, two_steps)


def captured(store: Callable[..., object]) -> Captured:
    def make() -> Call:
        return Call(Decode(store), (torch.randn(1, HEADS, 1, WIDTH), torch.tensor(9)))

    return Captured(make(), make, "test")


def compiled(program: Captured, target: str = "c") -> tuple[Imported, list[str]]:
    """The program in the last form, and what the passes remarked."""
    imported = program.imported()
    with collect_remarks() as remarks:
        for _ in compile_stages(imported, CompileOptions(vector_bytes=DEVICES["cpu"].vector_bytes()), target=target):
            pass
    return imported, [remark.message for remark in remarks]


@pytest.mark.parametrize("store", STORES)
def test_the_cpu_updates_what_it_is_given(store: Callable[..., object]) -> None:
    program = captured(store)
    imported, remarks = compiled(program)
    assert "reuse [0]" in str(imported.function)
    assert not any("of which all is copied" in remark for remark in remarks)
    inputs = program.make_inputs()
    expected = program.reference(inputs)
    given = [value.clone() for value in inputs]
    outputs = DEVICES["cpu"].load(imported)(given)
    for output, value in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, value)
    assert outputs[0].data_ptr() == given[0].data_ptr()
    arrays = load_guarded(imported.module).run_guarded([to_array(value) for value in inputs])
    np.testing.assert_array_equal(arrays[0], expected[0].numpy())


@pytest.mark.parametrize("store", STORES)
def test_the_simulator_counts_the_bytes_that_are_written(store: Callable[..., object]) -> None:
    program = captured(store)
    imported, _ = compiled(program, "cuda")
    inputs = program.make_inputs()
    expected = program.reference(inputs)
    before = inputs[0].clone()
    run = Program(imported.module).run([to_array(value) for value in inputs])
    assert torch.equal(inputs[0], before)
    for output, value in zip(run.outputs, expected, strict=True):
        np.testing.assert_allclose(output, value.numpy(), rtol=1e-6)
    rows = len(torch.nonzero((expected[0] != before).any(-1)))
    (update,) = [each for each in run.kernels if each.compiled.name == "forward_0"]
    assert update.counters.unique_store_sectors * 32 == rows * WIDTH * 4
    assert update.counters.unique_load_sectors * 32 <= (rows + 1) * WIDTH * 4 * HEADS


def test_held_state_stays_where_it_is_from_step_to_step() -> None:
    program = captured(index_copy)
    imported, _ = compiled(program)
    artifact = compile_program(imported.module)
    loaded = LoadedProgram(Folder(artifact, signature_of(imported), {}, {}))
    module = Decode(index_copy)
    given = module.keys.numpy().copy()
    given.flags.writeable = False  # as in a file that is mapped to memory
    loaded.hold("keys", given)
    held = loaded.held("keys")
    for position in range(5):
        row, place = torch.randn(1, HEADS, 1, WIDTH), torch.tensor(position)
        torch.testing.assert_close(loaded(row, place), module(row, place))
    assert loaded.held("keys") is held or np.shares_memory(loaded.held("keys"), held)
    torch.testing.assert_close(torch.from_numpy(loaded.held("keys")), module.keys)
    assert given[0, 0, 0, 0] == 0


class Argument(nn.Module):
    def forward(self, keys: torch.Tensor, row: torch.Tensor) -> torch.Tensor:
        keys[1:3] = row
        return keys.sum()


@pytest.mark.parametrize("contiguous", [True, False])
def test_an_argument_that_is_given_is_updated(contiguous: bool) -> None:
    def make() -> Call:
        return Call(Argument(), (torch.randn(6, 4), torch.randn(4)))

    imported, _ = compiled(Captured(make(), make, "test"))
    loaded = LoadedProgram(Folder(compile_program(imported.module), signature_of(imported), {}, {}))
    keys, row = torch.randn(4, 6).T, torch.randn(4)
    if contiguous:
        keys = keys.contiguous()
    expected = keys.clone()
    total = Argument()(expected, row)
    torch.testing.assert_close(loaded(keys, row), total)
    assert torch.equal(keys, expected)


@pytest.mark.parametrize("graphed", [False, True])
def test_a_gpu_updates_what_it_is_given(graphed: bool) -> None:
    program = captured(index_copy)
    imported, _ = compiled(program, "cuda")
    stand_in = StandIn()
    artifact = Program(imported.module).artifact()
    stand_in.machine.learn(artifact)
    on_gpu: Any = CudaProgram(artifact, stand_in.gpus)
    if graphed:
        on_gpu = GraphedProgram(on_gpu)
    module = Decode(index_copy)
    for place in (3, 0, 15):
        keys = stand_in.torch.put(module.keys)  # elsewhere each time
        row, position = torch.randn(1, HEADS, 1, WIDTH), torch.tensor(place)
        sums = module(row, position)
        outputs = on_gpu([keys, stand_in.torch.put(row), stand_in.torch.put(position)])
        assert torch.equal(stand_in.machine.download(outputs[0]), module.keys)
        assert torch.equal(stand_in.machine.download(keys), module.keys)
        torch.testing.assert_close(stand_in.machine.download(outputs[1]), sums)


class ReadsBefore(nn.Module):
    """The old value is read, by a launch that comes first, or is given back."""

    keys: torch.Tensor

    def __init__(self, gives_old: bool) -> None:
        super().__init__()
        self.register_buffer("keys", torch.randn(LENGTH, WIDTH))
        self.gives_old = gives_old

    def forward(self, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        old = self.keys.clone()
        self.keys.index_copy_(0, position[None], row)
        return old if self.gives_old else old.sum(0)


@pytest.mark.parametrize("gives_old", [False, True])
def test_old_values_that_are_asked_for_are_kept(gives_old: bool) -> None:
    def make() -> Call:
        torch.manual_seed(0)
        return Call(ReadsBefore(gives_old), (torch.randn(1, WIDTH), torch.tensor(9)))

    program = Captured(make(), make, "test")
    imported, remarks = compiled(program)
    copied = [remark for remark in remarks if "of which all is copied: a later operation reads" in remark]
    assert len(copied) == ("reuse" not in str(imported.function))
    inputs = program.make_inputs()
    expected = program.reference(inputs)
    outputs = DEVICES["cpu"].load(imported)(inputs)
    for output, value in zip(outputs, expected, strict=True):
        torch.testing.assert_close(output, value)


OLD_IS_READ = """
uop.kernel @update(%out: memref<4xf32>, %b: memref<4xf32>) {
  %i = uop.range i = 4
  %0 = uop.const 0 : index
  %1 = uop.eq %i, %0 : index
  %2 = uop.const 7.0 : f32
  uop.store %2, %out[%i] mask %1 : memref<4xf32>
}
uop.kernel @copy(%out: memref<4xf32>, %b: memref<4xf32>) {
  %i = uop.range i = 4
  %0 = uop.load %b[%i] : memref<4xf32>
  uop.store %0, %out[%i] : memref<4xf32>
}
func.func @forward(%b: tensor<4xf32> {uop.mutated = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = uop.launch @update(%b) reuse [0] : (tensor<4xf32>) -> tensor<4xf32>
  %1 = uop.launch @copy(OPERAND) : (tensor<4xf32>) -> tensor<4xf32>
  func.return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
"""


@pytest.mark.parametrize(("operand", "right"), [("%0", True), ("%b", False)])
def test_the_interpreter_gives_no_old_value(operand: str, right: bool) -> None:
    given = np.arange(4, dtype=np.float32)
    module = parse(OLD_IS_READ.replace("OPERAND", operand), verify=False)
    new, copied = interpret_program(module, "forward", [given])
    np.testing.assert_array_equal(new, [7, 1, 2, 3])
    assert np.array_equal(copied, new) is right
    np.testing.assert_array_equal(given, np.arange(4))


def test_plans_refuse_what_reads_an_old_value() -> None:
    imported, _ = compiled(captured(index_copy))
    plan = compile_program(imported.module).plan
    assert Plan.from_json(plan.to_json()) == plan
    assert plan.updated_inputs == {plan.inputs[0]}
    keys, (first, second) = plan.inputs[0], plan.launches
    for launches, message in (
        ((first, replace(second, inputs=(keys,))), "is written over"),
        ((replace(first, inputs=(keys, *first.inputs)), second), "reads keys and writes over it"),
        ((replace(first, inputs=first.inputs[1:]), second), "which is there already"),
        ((second, first), "before it is made"),
    ):
        with pytest.raises(PlanError, match=message):
            replace(plan, launches=launches).check()
    with pytest.raises(PlanError, match="gives a value that is written over"):
        replace(plan, outputs=(keys, *plan.outputs[1:])).check()
