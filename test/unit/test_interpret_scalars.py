"""The interpreter of range form and loop form: what it refuses, and that it notices what is left out."""

import numpy as np
import pytest
from module_text import parse
from xdsl.dialects.builtin import MemRefType as Memref
from xdsl.dialects.builtin import f32, i1, i64

from uop.dialects.uop import KernelOp
from uop.runtime.interpret.arrays import ExecutionError
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.program import interpret_program
from uop.runtime.interpret.scalars import interpret_scalar_kernel


def kernel(body: str) -> KernelOp:
    (op,) = parse(f"uop.kernel @k(%out: memref<4xf32>, %x: memref<4xf32>) {{ {body} }}").ops
    assert isinstance(op, KernelOp)
    op.verify()
    return op


def run(body: str) -> list[float]:
    out, x = np.full(4, np.nan, np.float32), np.arange(4, dtype=np.float32)
    interpret_scalar_kernel(kernel(body), [out, x])
    return out.tolist()


COPY = """%i = uop.range i = 4
%0 = uop.load %x[%i] : memref<4xf32>
"""


def test_a_range_is_every_index() -> None:
    assert run(COPY + "uop.store %0, %out[%i] : memref<4xf32>") == [0, 1, 2, 3]


def test_a_mask_gives_zero_and_allows_any_index() -> None:
    assert run(
        """%i = uop.range i = 4
        %1 = uop.const 1 : index
        %2 = uop.add %i, %1 : index
        %3 = uop.const 4 : index
        %ok = uop.lt %2, %3 : index
        %0 = uop.load %x[%2] mask %ok : memref<4xf32>
        uop.store %0, %out[%i] : memref<4xf32>"""
    ) == [1, 2, 3, 0]


def test_a_load_outside_names_the_op() -> None:
    with pytest.raises(ExecutionError, match=r"uop\.load uses index 4 in dimension 0 of %x") as error:
        run(
            """%i = uop.range i = 4
            %1 = uop.const 1 : index
            %2 = uop.add %i, %1 : index
            %0 = uop.load %x[%2] : memref<4xf32>
            uop.store %0, %out[%i] : memref<4xf32>"""
        )
    assert error.value.args[1].name == "uop.load"


def test_a_store_outside_is_refused() -> None:
    with pytest.raises(ExecutionError, match=r"uop\.store uses index -1 in dimension 0 of %out"):
        run(COPY + "%1 = uop.const 1 : index\n%2 = uop.sub %i, %1 : index\nuop.store %0, %out[%2] : memref<4xf32>")


def test_an_element_that_is_not_written_is_noticed() -> None:
    with pytest.raises(ExecutionError, match=r"does not write element \[3\] of %out"):
        run(
            """loop.for %i (i = 3 parallel) {
              %0 = uop.load %x[%i] : memref<4xf32>
              uop.store %0, %out[%i] : memref<4xf32>
            }"""
        )


def test_two_values_for_one_element_are_refused() -> None:
    with pytest.raises(ExecutionError, match="different values to one element"):
        run(COPY + "%1 = uop.const 0 : index\nuop.store %0, %out[%1] : memref<4xf32>")


def test_a_store_that_changes_what_is_written_is_refused() -> None:
    with pytest.raises(ExecutionError, match="an element that is written already"):
        run(
            COPY
            + """uop.store %0, %out[%i] : memref<4xf32>
            %1 = uop.exp %0 : f32
            uop.store %1, %out[%i] : memref<4xf32>"""
        )


def test_loops_side_by_side_and_reductions_inside() -> None:
    body = """loop.for %i (i = 4 parallel) {
      %0 = loop.reduce %k (k = 4) add : f32 {
        %1 = loop.reduce %l (l = 2) max : f32 {
          %2 = uop.load %x[%k] : memref<4xf32>
          %3 = uop.cast %l : index -> f32
          %4 = uop.mul %2, %3 : f32
          loop.yield %4 : f32
        }
        loop.yield %1 : f32
      }
      %5 = loop.reduce %m (m = 0) add : f32 {
        %6 = uop.load %x[%m] : memref<4xf32>
        loop.yield %6 : f32
      }
      %7 = uop.add %0, %5 : f32
      uop.store %7, %out[%i] : memref<4xf32>
    }"""
    assert run(body) == [6, 6, 6, 6]


def test_a_reduction_goes_over_ranges_that_its_elements_do_not_depend_on() -> None:
    assert run(
        COPY
        + """%k = uop.range k = 3
        %1 = uop.reduce add %0 over %k : f32
        uop.store %1, %out[%i] : memref<4xf32>"""
    ) == [0, 3, 6, 9]


def test_buffers_are_checked() -> None:
    with pytest.raises(ExecutionError, match=r"buffer %x is float64\[4\], the kernel takes float32\[4\]"):
        interpret_scalar_kernel(kernel(COPY), [np.zeros(4, np.float32), np.zeros(4)])


def test_poison() -> None:
    assert np.isnan(poisoned_buffer(Memref(f32, [2, 3]))).all()
    assert (poisoned_buffer(Memref(i64, [2])) == -0x5A5A5A5A5A5A5A5B).all()
    assert poisoned_buffer(Memref(i1, [0, 2])).shape == (0, 2)


def test_a_program_names_what_it_lacks() -> None:
    text = """func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = uop.launch @k(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %0 : tensor<4xf32>
    }"""
    x = np.zeros(4, np.float32)
    with pytest.raises(ExecutionError, match="no function @backward"):
        interpret_program(parse(text), "backward", [x])
    with pytest.raises(ExecutionError, match="no kernel @k"):
        interpret_program(parse(text), "forward", [x])
    empty = "uop.kernel @k(%out: memref<4xf32>, %x: memref<4xf32>) { }\n"
    with pytest.raises(ExecutionError, match="does not write %out"):
        interpret_program(parse(empty + text), "forward", [x])
