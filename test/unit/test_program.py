"""Programs of several kernels in the simulator: buffers between kernels, poison, arguments that do not fit."""

import numpy as np
import pytest
from module_text import parse
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, TensorType, bf16, f32, i32

from uop.dialects import gpu_kernel
from uop.rewriting.diagnostics import PassError
from uop.runtime.program import Program
from uop.runtime.simulator import SimulationError
from uop.runtime.storage import poisoned

DOUBLE = """
gpu_kernel.kernel @double(%out: memref<6xf32>, %x: memref<6xf32>)
    outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %n = uop.const LIMIT : index
  %ok = uop.lt %t, %n : index
  %0 = gpu_kernel.load %x[%t] mask %ok : memref<6xf32> -> f32
  %1 = uop.add %0, %0 : f32
  gpu_kernel.store %1, %out[%t] mask %ok : f32 -> memref<6xf32>
}
func.func @forward(%x: tensor<2x3xf32>) -> (tensor<6xf32>, tensor<3x2xf32>) {
  %0 = uop.reshape %x : tensor<2x3xf32> -> tensor<6xf32>
  %1 = uop.launch @double(%0) : (tensor<6xf32>) -> tensor<6xf32>
  %2 = uop.launch @double(%1) : (tensor<6xf32>) -> tensor<6xf32>
  %3 = uop.reshape %2 : tensor<6xf32> -> tensor<3x2xf32>
  func.return %1, %3 : tensor<6xf32>, tensor<3x2xf32>
}
"""


def x() -> np.ndarray:
    return np.arange(6, dtype=np.float32).reshape(2, 3)


def test_buffers_go_from_kernel_to_kernel() -> None:
    argument = x()
    launched: list[str] = []
    run = Program(parse(DOUBLE.replace("LIMIT", "6"))).run(
        [argument], on_kernel=lambda kernel: launched.append(kernel.compiled.name)
    )
    np.testing.assert_array_equal(run.outputs[0], 2 * x().reshape(6))
    np.testing.assert_array_equal(run.outputs[1], 4 * x().reshape(3, 2))
    np.testing.assert_array_equal(argument, x())
    assert launched == ["double", "double"]
    assert [kernel.counters.global_store_sectors for kernel in run.kernels] == [1, 1]


def test_what_a_kernel_leaves_unwritten_is_poison() -> None:
    run = Program(parse(DOUBLE.replace("LIMIT", "5"))).run([x()])
    assert np.isnan(run.outputs[0][5])
    assert not np.isnan(run.outputs[0][:5]).any()


def test_one_element_too_many_is_found() -> None:
    with pytest.raises(SimulationError, match="out of bounds"):
        Program(parse(DOUBLE.replace("LIMIT", "7"))).run([x()])


TWO_BLOCKS = """
gpu_kernel.kernel @first(%out: memref<6xf32>, %x: memref<2xf32>)
    outputs 1 grid [2, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %b = gpu_kernel.block_id x
  %t = gpu_kernel.thread_id
  %n = uop.const 6 : index
  %ok = uop.lt %t, %n : index
  %0 = gpu_kernel.load %x[%b] : memref<2xf32> -> f32
  gpu_kernel.store %0, %out[%t] mask %ok : f32 -> memref<6xf32>
}
func.func @forward(%x: tensor<2xf32>) -> tensor<6xf32> {
  %0 = uop.launch @first(%x) : (tensor<2xf32>) -> tensor<6xf32>
  func.return %0 : tensor<6xf32>
}
"""


def test_blocks_that_store_different_values_are_found_with_their_lines() -> None:
    module = parse(TWO_BLOCKS)
    for op in module.walk():
        if isinstance(op, gpu_kernel.StoreOp):
            op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(7), IntAttr(0))
    program = Program(module)
    np.testing.assert_array_equal(program.run([np.ones(2, np.float32)]).outputs[0], np.ones(6))
    with pytest.raises(SimulationError, match="two threads store different values") as caught:
        program.run([np.arange(2, dtype=np.float32)])
    message = str(caught.value)
    assert message.startswith(f"kernel first, line {caught.value.line}: ")
    assert "thread (0, 0, 0) of block (0, 0, 0): thread (0, 0, 0) of block (1, 0, 0) stores another value" in message
    assert message.endswith("\n  from model.py:7")


@pytest.mark.parametrize("argument", [x().reshape(3, 2), x().astype(np.float64)])
def test_arguments_that_do_not_fit(argument: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"argument x: f32\[2, 3\] is given an array of"):
        Program(parse(DOUBLE.replace("LIMIT", "6"))).run([argument])


def test_kernels_at_another_level_are_refused() -> None:
    with pytest.raises(PassError, match="kernel @early is not in gpu_kernel form"):
        Program(parse("uop.kernel @early(%out: memref<4xf32>) {}"))


def test_missing_function() -> None:
    with pytest.raises(PassError, match="the module has no function @forward"):
        Program(parse("builtin.module {}"))


def test_poison_is_nan_and_minus_one() -> None:
    assert np.isnan(poisoned(TensorType(f32, [2, 3]))).all()
    assert (poisoned(TensorType(i32, [2, 3])) == -1).all()
    assert (poisoned(TensorType(bf16, [2, 3])) == 0xFFFF).all()  # a NaN
