"""The width of indices: 32 bits only where every index is proved to fit."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.parser import Parser

from uop.dialects import gpu_kernel
from uop.frontends.capture import capture_expression
from uop.rewriting.index_width import index_bits
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions
from uop.tools.universe import UOP_UNIVERSE

X = "memref<100xf32>"

BODIES: dict[str, tuple[str, int]] = {
    "the greatest that fits": ("%c = uop.const 2147483647 : index\n%p = uop.mul %block, %c : index", 32),
    "one more": ("%c = uop.const 2147483648 : index\n%p = uop.mul %block, %c : index", 64),
    # Every buffer is small, and the place is in one; yet what leads to it is not.
    "an intermediate": (
        "%c = uop.const 65536 : index\n%0 = uop.mul %tid, %c : index\n%1 = uop.mul %0, %c : index\n"
        "%p = uop.floordiv %1, %c : index",
        64,
    ),
    "below": ("%c = uop.const -2147483648 : index\n%p = uop.mul %block, %c : index", 32),
    "further below": ("%c = uop.const -2147483649 : index\n%p = uop.mul %block, %c : index", 64),
    "beyond the end of a loop": ("%c = uop.const 0 : index\ngpu_kernel.for %i = %c to 2147483647 step 2 {\n}", 64),
    "the end of a loop": ("%c = uop.const 0 : index\ngpu_kernel.for %i = %c to 2147483646 step 2 {\n}", 32),
    "data as a place": (
        "%d = gpu_kernel.load %n[%tid] : memref<64xi64> -> i64\n%0 = uop.cast %d : i64 -> index\n"
        f"%c = uop.const 33 : index\n%1 = uop.mul %0, %c : index\n%p = gpu_kernel.load %x[%1] : {X} -> f32",
        32,
    ),
    "narrow data": (
        "%d = gpu_kernel.load %b[%tid] : memref<64xi8> -> i8\n%0 = uop.cast %d : i8 -> index\n"
        "%c = uop.const 0 : index\n%p = uop.max %0, %c : index",
        32,
    ),
    # Of an index that leaves 32 bits, the last 32 do not tell how it compares.
    "data compared": (
        "%d = gpu_kernel.load %n[%tid] : memref<64xi64> -> i64\n%0 = uop.cast %d : i64 -> index\n"
        f"%c = uop.const 100 : index\n%1 = uop.lt %0, %c : index\n%p = gpu_kernel.load %x[%0] mask %1 : {X} -> f32",
        64,
    ),
    "data clamped": (
        "%d = gpu_kernel.load %n[%tid] : memref<64xi64> -> i64\n%0 = uop.cast %d : i64 -> index\n"
        f"%c = uop.const 99 : index\n%1 = uop.min %0, %c : index\n%p = gpu_kernel.load %x[%1] : {X} -> f32",
        64,
    ),
    # What an instruction adds to an address of 64 bits does not bring an index back that has left 32.
    "a place and an offset": (
        "%d = gpu_kernel.load %n[%tid] : memref<64xi64> -> i64\n%0 = uop.cast %d : i64 -> index\n"
        '%s = gpu_kernel.alloc : memref<64xf32, "shared">\n'
        f'gpu_kernel.async_copy %x[%0] offset -4 to %s[%tid] width 1 : {X} to memref<64xf32, "shared">',
        64,
    ),
    "a place in shared memory and an offset": (
        "%d = gpu_kernel.load %n[%tid] : memref<64xi64> -> i64\n%0 = uop.cast %d : i64 -> index\n"
        '%s = gpu_kernel.alloc : memref<64xf32, "shared">\n'
        f'gpu_kernel.async_copy %x[%tid] to %s[%0] offset -4 width 1 : {X} to memref<64xf32, "shared">',
        32,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BODIES)
def test_index_bits(name: str) -> None:
    body, bits = BODIES[name]
    context = Context()
    for dialect, factory in UOP_UNIVERSE.all_dialects.items():
        context.register_dialect(dialect, factory)
    module = Parser(
        context,
        f"""
gpu_kernel.kernel @k(%x : {X}, %n : memref<64xi64>, %b : memref<64xi8>) outputs 0 grid [2, 1, 1] block 64 arch "sm_90"
    index_bits 32 {{
  %block = gpu_kernel.block_id x
  %tid = gpu_kernel.thread_id
  {body}
}}""",
    ).parse_module()
    (kernel,) = module.ops
    assert isinstance(kernel, gpu_kernel.KernelOp)
    assert index_bits(kernel) == bits


@pytest.mark.parametrize(
    ("code", "bits"),
    [
        ("torch.zeros(2**16, 2**15 - 1, dtype=torch.int8) + 1", 32),
        ("torch.zeros(2**16, 2**15, dtype=torch.int8) + 1", 64),
        ("torch.zeros(2**16, 2**16, dtype=torch.int8)[::8, ::8] + 1", 64),
        ("nn.Embedding(50, 33)(torch.zeros(4, 7, dtype=torch.int64))", 32),
    ],
)
def test_index_bits_of_programs(code: str, bits: int) -> None:
    *_, (_, module) = compile_stages(capture_expression(code).imported(), CompileOptions())
    assert [op.index_bits.value.data for op in module.ops if isinstance(op, gpu_kernel.KernelOp)] == [bits]
