"""Limits of loops, carried out: what is inside is computed, and nothing depends on what is outside, at any level."""

from dataclasses import dataclass

import numpy as np
import pytest
from memory_checks import check_memory
from module_text import make_context, parse
from test_tile_to_gpu_kernel import Array, kernel_of, needs_nvrtc, run, run_pass
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from uop.dialects import cpu_kernel, gpu_kernel
from uop.dialects.schedule import ScheduleAttr
from uop.dialects.uop import KernelOp
from uop.passes.uop.uop_limit_ranges import UOpLimitRangesPass
from uop.rewriting.diagnostics import collect_remarks
from uop.runtime.interpret.arrays import ExecutionError
from uop.runtime.interpret.buffers import poisoned_buffer
from uop.runtime.interpret.limits import ignoring_limits
from uop.runtime.interpret.program import interpret_kernel

TILE_PASSES = ("convert-loop-to-tile", "tile-drop-masks", "tile-stage", "tile-mma", "uop-simplify", "tile-vectorize")
GPU_PASSES = ("convert-tile-to-gpu-kernel", "gpu-kernel-check", "gpu-kernel-strength-reduce")
CPU_PASSES = ("convert-loop-to-tile", "tile-drop-masks", "tile-pack", "uop-simplify", "convert-tile-to-cpu-kernel")

WINDOW = """
uop.kernel @window(%out: memref<40xf32>, %x: memref<40x50xf32>, %n: memref<i64>) schedule #tile.schedule<{}> {{
  %c1 = uop.const 1 : index
  %c9 = uop.const 9 : index
  %zero = uop.const 0.0 : f32
  loop.for %i (i = 40 parallel) {{
    %lo = uop.sub %i, %c9 : index
    %hi = uop.add %i, %c1 : index
    %2 = loop.reduce %k (k = 50) from %lo to %hi add : f32 {{
      %0 = uop.load %x[%i, %k] : memref<40x50xf32>
      %before = uop.le %k, %i : index
      %after = uop.ge %k, %lo : index
      %inside = uop.and %before, %after : i1
      %1 = uop.where %inside, %0, %zero : f32
      loop.yield %1 : f32
    }}
    uop.store %2, %out[%i] : memref<40xf32>
  }}
}}
"""

ROWS = """
uop.kernel @rows(%out: memref<40x24xf32>, %x: memref<40x24xf32>, %n: memref<i64>) schedule #tile.schedule<{}> {{
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  loop.for %i (i = 40 parallel) to %hi {{
    loop.for %j (j = 24 parallel) {{
      %0 = uop.load %x[%i, %j] : memref<40x24xf32>
      %1 = uop.add %0, %0 : f32
      uop.store %1, %out[%i, %j] : memref<40x24xf32>
    }}
  }}
}}
"""

PRODUCT = """
uop.kernel @product(%out: memref<40x24xf32>, %x: memref<40x100xf16>, %y: memref<100x24xf16>, %n: memref<i64>)
    schedule #tile.schedule<{}> {{
  %zero = uop.const 0.0 : f32
  %length = uop.load %n[] : memref<i64>
  %hi = uop.cast %length : i64 -> index
  loop.for %i (i = 40 parallel) {{
    loop.for %j (j = 24 parallel) {{
      %5 = loop.reduce %k (k = 100) to %hi add : f32 {{
        %0 = uop.load %x[%i, %k] : memref<40x100xf16>
        %1 = uop.cast %0 : f16 -> f32
        %2 = uop.load %y[%k, %j] : memref<100x24xf16>
        %3 = uop.cast %2 : f16 -> f32
        %4 = uop.mul %1, %3 : f32
        loop.yield %4 : f32
      }}
      uop.store %5, %out[%i, %j] : memref<40x24xf32>
    }}
  }}
}}
"""


PARTS = """
uop.kernel @parts(%out: memref<4x6xf32>, %x: memref<4x192xf32>, %n: memref<i64>) schedule #tile.schedule<{}> {{
  %zero = uop.const 0.0 : f32
  %c32 = uop.const 32 : index
  %length = uop.load %n[] : memref<i64>
  %end = uop.cast %length : i64 -> index
  loop.for %i (i = 4 parallel) {{
    loop.for %p (p = 6 parallel) {{
      %start = uop.mul %p, %c32 : index
      %hi = uop.sub %end, %start : index
      %2 = loop.reduce %k (k = 32) to %hi add : f32 {{
        %place = uop.add %start, %k : index
        %0 = uop.load %x[%i, %place] : memref<4x192xf32>
        %inside = uop.lt %place, %end : index
        %1 = uop.where %inside, %0, %zero : f32
        loop.yield %1 : f32
      }}
      uop.store %2, %out[%i, %p] : memref<4x6xf32>
    }}
  }}
}}
"""


@dataclass(frozen=True)
class Case:
    """text: loop form with a place for the schedule. cpu: whether the schedule is one for a CPU"""

    text: str
    schedule: str
    n: int = 0
    cpu: bool = False

    def inputs(self) -> list[Array]:
        generator = np.random.default_rng(3)
        n = np.array(self.n, np.int64)
        if "@product" in self.text:
            x = generator.standard_normal((40, 100)).astype(np.float16)
            x[:, self.n :] = 0
            return [x, generator.standard_normal((100, 24)).astype(np.float16), n]
        if "@parts" in self.text:
            return [generator.standard_normal((4, 192)).astype(np.float32), n]
        return [generator.standard_normal((40, 50 if self.text is WINDOW else 24)).astype(np.float32), n]

    def expected(self) -> Array:
        x, *others = (array.astype(np.float64) for array in self.inputs())
        if self.text is WINDOW:
            i, k = np.ogrid[:40, :50]
            return np.where((k <= i) & (k >= i - 9), x, 0).sum(1)
        if "@parts" in self.text:
            return np.where(np.arange(192) < self.n, x, 0).reshape(4, 6, 32).sum(2)
        if self.text is ROWS:
            return 2 * x[: self.n]
        return x[:, : self.n] @ others[0][: self.n]


CASES = {
    "window": Case(WINDOW, "i = 5 block * 8 thread, k = 50 loop"),
    "window, tiles": Case(WINDOW, "i = 3 block * 8 thread * 2 register, k = 13 loop * 4 register"),
    "window, threads outside": Case(WINDOW, "i = 5 block * 2 warp * 4 register, k = 2 loop * 32 lane"),
    "window, staged": Case(WINDOW, "i = 5 block * 8 thread, k = 13 loop * 4 loop, stage = [%x buffers 2 async]"),
    "window, one block": Case(WINDOW, "i = 40 thread, k = 50 loop"),
    "window, CPU": Case(WINDOW, "i = 5 block * 8 register, k = 13 loop * 4 register", cpu=True),
    "window, CPU, loops": Case(WINDOW, "i = 3 block * 2 loop * 8 register, k = 50 loop", cpu=True),
    "product, more buffers than steps": Case(
        PRODUCT,
        "i = 3 block * 4 thread * 4 register, j = 3 block * 4 thread * 2 register, k = 7 loop * 16 loop, "
        "stage = [%x buffers 4, %y buffers 3]",
        20,
    ),
    "product, mma": Case(
        PRODUCT,
        "i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 7 loop * 16 mma, stage = [%x buffers 3 async, %y buffers 2]",
        55,
    ),
    "product, mma, one step": Case(
        PRODUCT,
        "i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 4 loop * 2 unroll * 16 mma, stage = [%x buffers 2 async, %y]",
        1,
    ),
    "product, mma, no step": Case(
        PRODUCT, "i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 7 loop * 16 mma, stage = [%x buffers 3 async, %y]", 0
    ),
    "product, constant limits": Case(
        PRODUCT.replace("%hi = uop.cast %length : i64 -> index", "%hi = uop.const 37 : index"),
        "i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 7 loop * 16 mma, stage = [%x buffers 3 async, %y buffers 2]",
        37,
    ),
    "product, constant limits, none inside": Case(
        PRODUCT.replace("%hi = uop.cast %length : i64 -> index", "%hi = uop.const 0 : index"),
        "i = 3 warp * 16 mma, j = 3 block * 8 mma, k = 7 loop * 16 mma, stage = [%x buffers 3 async, %y buffers 2]",
    ),
    "parts": Case(PARTS, "i = 4 block, p = 6 block, k = 32 thread", 70),
    "parts, in registers": Case(PARTS, "i = 4 block, p = 6 block, k = 8 thread * 4 register", 33),
    "parts, loops": Case(PARTS, "i = 4 block, p = 3 block * 2 register, k = 4 loop * 8 thread", 70),
    "rows": Case(ROWS, "i = 10 block * 4 thread, j = 24 thread", 13),
    "rows, loop": Case(ROWS, "i = 2 block * 5 loop * 4 thread, j = 24 thread", 13),
    "rows, all": Case(ROWS, "i = 10 block * 4 thread, j = 3 block * 8 thread", 40),
    "rows, none": Case(ROWS, "i = 10 block * 4 thread, j = 3 block * 8 thread", 0),
    "rows, CPU": Case(ROWS, "i = 10 block * 4 loop, j = 3 loop * 8 register", 13, cpu=True),
}


def interpret(module: ModuleOp, case: Case) -> Array:
    """What is asked for of the kernel's output, whichever form it is in."""
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp | gpu_kernel.KernelOp | cpu_kernel.KernelOp)
    out = poisoned_buffer(kernel.body.block.args[0].type)
    interpret_kernel(kernel, [out, *case.inputs()])
    out = out.reshape(-1, *case.expected().shape[1:])
    return out[: len(case.expected())]


def check(module: ModuleOp, case: Case) -> None:
    np.testing.assert_allclose(interpret(module, case), case.expected(), rtol=1e-4, atol=1e-4)


@needs_nvrtc
@pytest.mark.parametrize("name", CASES)
def test_all_levels(name: str) -> None:
    case = CASES[name]
    module = parse(case.text.format(case.schedule))
    check(module, case)
    with ignoring_limits():
        check(module, case)
    for passes in (CPU_PASSES,) if case.cpu else (TILE_PASSES, GPU_PASSES):
        for each in passes:
            run_pass(module, each)
        text = str(module)
        assert str(parse(text)) == text
        check_memory(module)
        check(module, case)
        if passes is TILE_PASSES:
            with ignoring_limits():
                check(module, case)


@needs_nvrtc
def test_fewer_steps_are_executed() -> None:
    case = CASES["product, mma"]
    executed: list[int] = []
    for n in (0, 1, 20, 55, 100):
        module = parse(case.text.format(case.schedule))
        for each in (*TILE_PASSES, *GPU_PASSES):
            run_pass(module, each)
        kernel = kernel_of(module)
        loops = [op for op in kernel.body.walk() if isinstance(op, gpu_kernel.ForOp) and op.end_value is not None]
        assert len(loops) == 1
        executed.append(_instructions(kernel, Case(case.text, case.schedule, n)))
    # Steps of 16, of which none, 1, 2, 4 and 7 are inside.
    assert [count // executed[1] for count in executed] == [0, 1, 2, 4, 7]


def _instructions(kernel: gpu_kernel.KernelOp, case: Case) -> int:
    """Matrix instructions that a run executes."""
    from uop.runtime import nvrtc
    from uop.runtime.simulator import simulate
    from uop.targets.cuda import kernel_text

    source = kernel_text(kernel)
    ptx = nvrtc.compile_cuda(source, "compute_80").ptx
    out = np.zeros((40, 24), np.float32)
    counters = simulate(ptx, kernel.grid_shape, kernel.threads, [out, *case.inputs()], source=source)
    return sum(each.warps for each in counters.of_kind("mma").by_instruction.values())


@needs_nvrtc
@pytest.mark.parametrize(("n", "blocks"), [(0, 0), (1, 1), (32, 1), (33, 2), (192, 6)])
def test_parts_without_positions_read_nothing(n: int, blocks: int) -> None:
    case = Case(PARTS, "i = 4 block, p = 6 block, k = 32 thread", n)
    module = parse(case.text.format(case.schedule))
    for each in (*TILE_PASSES, *GPU_PASSES):
        run_pass(module, each)
    out = np.zeros((4, 6), np.float32)
    counters = run(kernel_of(module), [out], case.inputs())
    np.testing.assert_allclose(out, case.expected(), rtol=1e-5)
    assert counters.unique_load_sectors == 4 * 4 * blocks + 1


def test_a_limit_that_differs_between_threads_is_dropped() -> None:
    text = """
    uop.kernel @f(%out: memref<40xf32>, %x: memref<40x50xf32>, %n: memref<40xi64>)
        schedule #tile.schedule<i = 5 block * 8 thread, k = 50 loop> {
      loop.for %i (i = 40 parallel) {
        %length = uop.load %n[%i] : memref<40xi64>
        %hi = uop.cast %length : i64 -> index
        %0 = loop.reduce %k (k = 50) to %hi add : f32 {
          %inside = uop.lt %k, %hi : index
          %1 = uop.load %x[%i, %k] mask %inside : memref<40x50xf32>
          loop.yield %1 : f32
        }
        uop.store %0, %out[%i] : memref<40xf32>
      }
    }
    """
    module = parse(text)
    with collect_remarks() as remarks:
        run_pass(module, "convert-loop-to-tile")
    assert "a limit of axis k is dropped" in remarks[0].message
    assert "k = 50 loop) carry" in str(module)
    module = parse(text.replace("5 block * 8 thread", "40 block"))
    run_pass(module, "convert-loop-to-tile")
    assert "k = 50 loop) to %" in str(module)


def test_threads_of_a_block_execute_the_same_steps() -> None:
    module = parse(
        """
        uop.kernel @f(%out: memref<8xf32>) schedule #tile.schedule<i = 8 thread, k = 8 loop> {
          %i = tile.axis i = 8 thread : index
          %one = uop.const 1.0 : f32
          %s = loop.for %k (k = 8 loop) to %i carry (%acc = add : f32) {
            %0 = uop.add %acc, %one : f32
            loop.yield %0 : f32
          }
          tile.write %s, %out[%i] : f32 -> memref<8xf32>(index)
        }
        """
    )
    (kernel,) = module.ops
    assert isinstance(kernel, KernelOp)
    with pytest.raises(ExecutionError, match=r"executed by some threads of a block and not by others"):
        interpret_kernel(kernel, [np.zeros(8, np.float32)])


def schedule_of(text: str) -> ScheduleAttr:
    attribute = Parser(make_context(), f"#tile.schedule<{text}>").parse_attribute()
    assert isinstance(attribute, ScheduleAttr)
    return attribute


TRIANGULAR = """
uop.kernel @product(%out: memref<128x64xf32>, %x: memref<128x128xf32>, %y: memref<128x64xf32>) {
  %i = uop.range i = 128
  %j = uop.range j = 64
  %k = uop.range k = 128
  %inside = uop.le %k, %i : index
  %0 = uop.load %x[%i, %k] mask %inside : memref<128x128xf32>
  %2 = uop.load %y[%k, %j] : memref<128x64xf32>
  %3 = uop.mul %0, %2 : f32
  %4 = uop.reduce add %3 over %k : f32
  uop.store %4, %out[%i, %j] : memref<128x64xf32>
}
"""


@needs_nvrtc
def test_a_triangular_product_is_half_the_work() -> None:
    """Of 16 tiles of rows, tile t walks 8 + 8 · t of 128 columns: 17 of 32 steps."""
    generator = np.random.default_rng(4)
    x, y = (generator.standard_normal(shape).astype(np.float32) for shape in ((128, 128), (128, 64)))
    counts: list[int] = []
    for is_limited in (False, True):
        module = parse(TRIANGULAR)
        if is_limited:
            UOpLimitRangesPass(finite=True).apply(make_context(), module)
            module.verify()
        run_pass(module, "convert-uop-to-loop")
        (kernel,) = module.ops
        assert isinstance(kernel, KernelOp)
        kernel.schedule = schedule_of("i = 16 block * 8 thread, j = 4 block * 16 thread, k = 16 loop * 8 loop")
        for each in (*TILE_PASSES, *GPU_PASSES):
            run_pass(module, each)
        out = np.zeros((128, 64), np.float32)
        counters = run(kernel_of(module), [out], [x, y])
        np.testing.assert_allclose(out, np.tril(x.astype(np.float64)) @ y, rtol=1e-4, atol=1e-4)
        counts.append(sum(c.warps for c in counters.by_instruction.values() if c.kind == "fp32"))
    assert counts[1] * 32 == counts[0] * 17 > 0
