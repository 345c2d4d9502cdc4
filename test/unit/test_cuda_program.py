"""Programs on a GPU: every call to the driver and to PyTorch, in order, with kernels run in the simulator instead."""

import inspect
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from module_text import parse
from stand_in_gpu import FailedLaunch, LogicError, Misuse, StandIn
from test_plan_buffers import planned
from test_program import DOUBLE, TWO_BLOCKS
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from uop.dialects import gpu_kernel
from uop.dialects.types import type_name
from uop.frontends.capture import capture_expression
from uop.frontends.element_types import ELEMENT_TYPES
from uop.runtime.cuda import gpus as gpus_module
from uop.runtime.cuda.driver import load_driver
from uop.runtime.cuda.errors import GpuError, GpuInputError, GpuUnavailableError, LaunchError
from uop.runtime.cuda.graphs import GraphedProgram
from uop.runtime.cuda.images import image_arch
from uop.runtime.cuda.program import CudaProgram
from uop.runtime.cuda.tensors import DTYPES
from uop.runtime.cuda.torch_gpus import PyTorch
from uop.runtime.nvrtc import supported_architectures, version
from uop.runtime.program import Program
from uop.runtime.simulator import SimulationError
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

FOUR_LAUNCHES = planned(0, 256)
"""DOUBLE with two results between kernels, at 0 and 256 of the arena, and two that are given back."""


def x() -> torch.Tensor:
    return torch.arange(6, dtype=torch.float32).reshape(2, 3)


def load(text: str | Program, stand_in: StandIn, **options: Any) -> CudaProgram:
    """The program on the stand-in."""
    artifact = (text if isinstance(text, Program) else Program(parse(text))).artifact()
    stand_in.machine.learn(artifact)
    return CudaProgram(artifact, stand_in.gpus, **options)


def located(text: str) -> Program:
    """The program, with lines of a user's program for its stores."""
    module = parse(text)
    for op in module.walk():
        if isinstance(op, gpu_kernel.StoreOp):
            op.location = FileLineColLoc(StringAttr("model.py"), IntAttr(7), IntAttr(0))
    return Program(module)


def assert_four_launches(outputs: list[torch.Tensor], value: torch.Tensor) -> None:
    torch.testing.assert_close(outputs, [4 * value.reshape(6), 8 * value.reshape(3, 2)])


# ---- runs


def test_every_call_in_order() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    given = stand_in.torch.put(x())
    outputs = program([given])
    assert_four_launches([stand_in.machine.download(output) for output in outputs], x())
    launch = "launch(double_, (1, 1, 1), (32, 1, 1), 0)"
    size = len(next(iter(Program(parse(FOUR_LAUNCHES)).kernels.values())).binary.cubin)
    memory = ["empty((280,), torch.uint8)", "empty((6,), torch.float32)", "empty((6,), torch.float32)"]
    assert stand_in.machine.journal == [
        "init()",
        "Device(0)",
        "retain_primary_context(0)",
        "push(0)",
        f"module_from_buffer({size})",
        "get_function(double_)",
        "get_attribute(MAX_THREADS_PER_BLOCK)",
        "get_attribute(NUM_REGS)",
        "get_attribute(SHARED_SIZE_BYTES)",
        "pop()",
        *memory,
        "push(0)",
        *[launch] * 4,
        "pop()",
    ]
    stand_in.machine.journal.clear()
    program([given])
    assert stand_in.machine.journal == [*memory, "push(0)", *[launch] * 4, "pop()"]
    torch.testing.assert_close(given, x())


def test_launches_stand_between_what_pytorch_puts_on_its_stream() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    with stand_in.torch.on_stream() as stream:
        outputs = program([stand_in.torch.put(x())])
        assert_four_launches([stand_in.machine.download(output) for output in outputs], x())
        calls = [call for call in stand_in.machine.journal if call.startswith(("Stream", "order", "launch"))]
        ours = calls[1].partition(", ")[2][:-1]
        assert calls[:2] == ["Stream(1)", f"order({stream}, {ours})"]
        assert calls[2:] == [f"launch(double_, (1, 1, 1), (32, 1, 1), {ours})"] * 4 + [f"order({ours}, {stream})"]
        stand_in.machine.journal.clear()
        program([stand_in.torch.put(x())])
        assert not stand_in.calls.count("Stream")


IN_SHARED_MEMORY = """
gpu_kernel.kernel @through(%out: memref<6xf32>, %x: memref<6xf32>)
    outputs 1 grid [1, 1, 1] block 32 arch "sm_90" index_bits 32 {
  %t = gpu_kernel.thread_id
  %n = uop.const 6 : index
  %far = uop.const BEGIN : index
  %ok = uop.lt %t, %n : index
  %at = uop.add %t, %far : index
  %s = gpu_kernel.alloc dynamic : memref<SIZExf32, "shared">
  %0 = gpu_kernel.load %x[%t] mask %ok : memref<6xf32> -> f32
  gpu_kernel.store %0, %s[%at] : f32 -> memref<SIZExf32, "shared">
  %1 = gpu_kernel.load %s[%at] : memref<SIZExf32, "shared"> -> f32
  gpu_kernel.store %1, %out[%t] mask %ok : f32 -> memref<6xf32>
}
func.func @forward(%x: tensor<6xf32>) -> tensor<6xf32> {
  %0 = uop.launch @through(%x) : (tensor<6xf32>) -> tensor<6xf32>
  func.return %0 : tensor<6xf32>
}
"""


def test_launches_ask_for_shared_memory() -> None:
    stand_in = StandIn()
    program = load(IN_SHARED_MEMORY.replace("SIZE", "16384").replace("BEGIN", "16352"), stand_in)
    given = torch.arange(6, dtype=torch.float32)
    (output,) = program([stand_in.torch.put(given)])
    torch.testing.assert_close(stand_in.machine.download(output), given)
    assert stand_in.machine.journal.count("set_attribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536)") == 1


def test_memory_that_is_no_longer_needed_is_given_back() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    given = stand_in.torch.put(x())
    outputs = program([given])
    assert len(stand_in.machine.memory) == 3
    del outputs
    assert len(stand_in.machine.memory) == 1


PROGRAMS = {
    "product": "torch.relu(torch.matmul(torch.randn(16, 64) + torch.randn(64), torch.randn(64, 16)))",
    "half": "F.softmax(torch.randn(5, 37).half(), -1)",
    "bfloat16": "torch.randn(3, 33).bfloat16() * 2",
    "bool": "(torch.randn(7, 3) > 0) & (torch.randn(3) > 0)",
    "integers": "torch.randint(0, 99, (4, 5)).sum(0) + torch.arange(5)",
    "several kernels": "F.layer_norm(torch.randn(4, 5000), (5000,)).softmax(0).sum()",
    "a scalar": "torch.randn(()) * 2",
    "no elements": "torch.randn(0, 3) * 2",
    "a sum of nothing": "torch.randn(0, 3).sum(0)",
    "no inputs": "torch.arange(5) * 2",
    "an input in another shape": "torch.randn(2, 3).reshape(3, 2)",
}


def compiled(code: str, arch: str = "sm_90") -> tuple[Program, list[torch.Tensor], list[torch.Tensor]]:
    """A program, values for its arguments, and what eager PyTorch makes of these."""
    captured = capture_expression(code)
    imported = captured.imported()
    for _ in compile_stages(imported, CompileOptions(arch=arch)):
        pass
    inputs = captured.make_inputs()
    return Program(imported.module), inputs, captured.reference(inputs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_eager_pytorch(name: str) -> None:
    stand_in = StandIn()
    program, inputs, expected = compiled(PROGRAMS[name])
    given = [stand_in.torch.put(value) for value in inputs]
    runs = load(program, stand_in), GraphedProgram(load(program, stand_in))
    for run in (*runs, runs[1]):
        outputs = run(given)
        for output, eager in zip(outputs, expected, strict=True):
            torch.testing.assert_close(stand_in.machine.download(output), eager, rtol=1e-2, atol=1e-5)
            assert all(output.data_ptr() != value.data_ptr() or not output.numel() for value in given)


def test_results_in_shared_memory_are_told_apart() -> None:
    text = DOUBLE.replace("LIMIT", "6").replace("return %1, %3 : tensor<6xf32>,", "return %2, %3 : tensor<6xf32>,")
    stand_in = StandIn()
    one, other = load(text, stand_in)([stand_in.torch.put(x())])
    assert one.data_ptr() != other.data_ptr()
    torch.testing.assert_close(one.reshape(3, 2), other)


def test_a_result_in_the_arena_is_copied_out() -> None:
    text = DOUBLE.replace("LIMIT", "6").replace("@double(%0) :", "@double(%0) arena [0] :")
    stand_in = StandIn()
    first, _ = load(text, stand_in)([stand_in.torch.put(x())])
    torch.testing.assert_close(stand_in.machine.download(first), 2 * x().reshape(6))
    assert first.untyped_storage().nbytes() == 24


# ---- inputs

VIEWS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "transposed": lambda base: base[:6].reshape(3, 2).t(),
    "spread": lambda base: base.reshape(2, 6)[:, ::2],
    "repeated": lambda base: base[:3].expand(2, 3),
    "not aligned": lambda base: base[1:7].reshape(2, 3),
    "negated": lambda base: torch.complex(base[:6], base[:6]).conj().imag.reshape(2, 3),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_copied_where_kernels_cannot_read_them(name: str) -> None:
    stand_in = StandIn()
    base = torch.arange(12, dtype=torch.float32)
    view = VIEWS[name](stand_in.torch.put(base))
    stand_in.machine.add_memory(view)  # complex numbers are made by PyTorch
    assert_four_launches(load(FOUR_LAUNCHES, stand_in)([view]), VIEWS[name](base))
    assert "empty((2, 3), torch.float32)" in stand_in.machine.journal


def test_an_aligned_view_is_not_copied() -> None:
    stand_in = StandIn()
    view = stand_in.torch.put(torch.arange(12, dtype=torch.float32))[4:10].reshape(2, 3)
    assert_four_launches(load(FOUR_LAUNCHES, stand_in)([view]), view)
    assert "empty((2, 3), torch.float32)" not in stand_in.machine.journal


def test_tensors_of_the_cpu_are_copied() -> None:
    stand_in = StandIn()
    assert_four_launches(load(FOUR_LAUNCHES, stand_in)([x().requires_grad_()]), x())
    assert "empty((2, 3), torch.float32)" in stand_in.machine.journal


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([], "@forward takes 1 tensors, not 0"),
        ([x().reshape(3, 2)], "argument x: f32[2, 3] of @forward is given a tensor float32[3, 2]"),
        ([x().half()], "argument x: f32[2, 3] of @forward is given a tensor float16[2, 3]"),
    ],
)
def test_inputs_that_do_not_fit(tensors: list[torch.Tensor], message: str) -> None:
    with pytest.raises(GpuInputError) as caught:
        load(FOUR_LAUNCHES, StandIn())(tensors)
    assert str(caught.value) == message


def test_inputs_on_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn(capabilities=[(9, 0), (9, 0)])
    program, inputs, _ = compiled("torch.randn(3) + torch.randn(3)")
    given = [stand_in.torch.put(value) for value in inputs]

    def index_of(tensor: torch.Tensor) -> int:
        return 1 if tensor is given[1] else 0

    monkeypatch.setattr(stand_in.torch, "index_of", index_of)
    with pytest.raises(GpuInputError, match=r"is given \w+ on cuda:0 and \w+ on cuda:1: all tensors must be on one"):
        load(program, stand_in)(given)


def test_dtypes_have_the_names_of_plans() -> None:
    assert DTYPES == {type_name(element): dtype for dtype, element in ELEMENT_TYPES.items()}


# ---- graphs


def test_a_graph_is_recorded_once_and_replayed() -> None:
    stand_in = StandIn()
    program = GraphedProgram(load(FOUR_LAUNCHES, stand_in))
    given = stand_in.torch.put(x())
    with stand_in.torch.on_stream():
        assert_four_launches(program([given]), x())
        stand_in.machine.journal.clear()
        kept = program([given])
        given.add_(1)
        outputs = program([given])
        assert stand_in.machine.journal == ["replay(4)"] * 2
        assert_four_launches([stand_in.machine.download(output) for output in outputs], x() + 1)
        assert_four_launches(kept, x())


def test_an_input_that_moves_is_copied_from_then_on() -> None:
    stand_in = StandIn()
    program, inputs, _ = compiled("torch.randn(8, 8) @ torch.randn(8, 8)")
    graphed = GraphedProgram(load(program, stand_in))
    weight = stand_in.torch.put(inputs[1])
    for step in range(4):
        value = stand_in.torch.put(inputs[0] + step)
        stand_in.machine.journal.clear()
        torch.testing.assert_close(graphed([value, weight])[0], (inputs[0] + step) @ inputs[1])
        captured = stand_in.calls.count("captured")
        assert captured == (1 if step < 2 else 0)
        assert stand_in.machine.journal.count("empty((8, 8), torch.float32)") == (2 * captured + (step == 1))


def test_each_stream_has_a_graph() -> None:
    stand_in = StandIn()
    program = GraphedProgram(load(FOUR_LAUNCHES, stand_in))
    given = stand_in.torch.put(x())
    for _ in range(2):
        with stand_in.torch.on_stream():
            assert_four_launches(program([given]), x())
    assert stand_in.calls.count("captured") == 2


def test_a_graph_that_the_user_records() -> None:
    stand_in = StandIn()
    program = GraphedProgram(load(FOUR_LAUNCHES, stand_in))
    given = stand_in.torch.put(x())
    with pytest.raises(LaunchError, match=r"cannot be loaded on .* while a CUDA graph is recorded: run the program"):
        stand_in.torch.capture(lambda: program([given]) if stand_in.torch.is_capturing() else None, 0)
    program([given])
    with stand_in.torch.on_stream():
        body = lambda: program([given]) if stand_in.torch.is_capturing() else []  # noqa: E731
        graph, outputs = stand_in.torch.capture(body, 0)
        given.add_(1)
        graph.replay()
        assert_four_launches(outputs, x() + 1)


# ---- which image


def test_a_gpu_that_nvrtc_does_not_know_compiles_ptx_itself() -> None:
    stand_in = StandIn(capabilities=[(14, 0)])
    program = load(FOUR_LAUNCHES, stand_in)
    assert_four_launches(program([stand_in.torch.put(x())]), x())
    assert stand_in.gpus.open(0).arch == f"compute_{max(supported_architectures())}"


def test_each_gpu_is_given_a_cubin_of_its_own() -> None:
    stand_in = StandIn(capabilities=[(8, 6)])
    program = load(FOUR_LAUNCHES.replace("sm_90", "sm_80"), stand_in)
    assert_four_launches(program([stand_in.torch.put(x())]), x())
    assert stand_in.gpus.open(0).arch == "sm_86"


@pytest.mark.parametrize(
    ("capability", "known", "arch"),
    [
        ((8, 0), (75, 80, 90), "sm_80"),
        ((8, 9), (75, 80, 90), "compute_80"),
        ((12, 0), (75, 80, 90, 100), "compute_100"),
    ],
)
def test_the_architecture_that_is_compiled_for(capability: tuple[int, int], known: tuple[int, ...], arch: str) -> None:
    assert image_arch(capability, "the GPU", known) == arch


def test_gpus_that_kernels_cannot_run_on() -> None:
    with pytest.raises(
        GpuUnavailableError, match=r"cuda:0 \(stand-in\) has compute capability 7\.5; kernels take 8\.0"
    ):
        StandIn(capabilities=[(7, 5)]).gpus.open(0)
    with pytest.raises(GpuUnavailableError, match=r"does not compile for the GPU \(sm_80\), only for sm_90, sm_100"):
        image_arch((8, 0), "the GPU", (90, 100))
    stand_in = StandIn(capabilities=[(8, 0)])
    with pytest.raises(LaunchError, match=r"@forward is compiled for sm_90, and cuda:0 \(stand-in\) is sm_80: compile"):
        load(FOUR_LAUNCHES, stand_in)([x()])


# ---- errors


def test_a_launch_that_fails_names_its_kernel() -> None:
    stand_in = StandIn()
    program = load(located(FOUR_LAUNCHES), stand_in)
    stand_in.machine.failures["launch"] = FailedLaunch("cuLaunchKernel failed: too many resources requested for launch")
    with pytest.raises(LaunchError) as caught:
        program([x()])
    registers = next(iter(program.kernels(stand_in.gpus.open(0)).values())).registers
    assert str(caught.value).splitlines() == [
        f"CUDA error in kernel @double (grid 1×1×1, 32 threads, 0 bytes shared, {registers} registers) on cuda:0 "
        "(stand-in): cuLaunchKernel failed: too many resources requested for launch",
        "  from model.py:7",
        "An earlier launch may be to blame: run with CUDA_LAUNCH_BLOCKING=1 to see which",
    ]
    del stand_in.machine.failures["launch"]
    assert_four_launches(program([x()]), x())


@pytest.mark.parametrize("environment", [True, False])
def test_each_launch_is_waited_for_where_the_user_asks(environment: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    if environment:
        monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    program = load(located(FOUR_LAUNCHES), stand_in, blocking=None if environment else True)
    program([x()])
    assert stand_in.calls.count("synchronize") == stand_in.calls.count("launch") == 4
    stand_in.machine.failures["synchronize"] = LogicError(
        "cuCtxSynchronize failed: an illegal memory access was encountered"
    )
    with pytest.raises(LaunchError, match=r"kernel @double .* an illegal memory access was encountered\n  from model"):
        program([x()])
    del stand_in.machine.failures["synchronize"]
    assert_four_launches(GraphedProgram(program)([x()]), x())  # a graph is recorded without waiting


def test_no_memory() -> None:
    stand_in = StandIn()
    stand_in.machine.failures["empty"] = torch.OutOfMemoryError("CUDA out of memory")
    program = load(FOUR_LAUNCHES, stand_in)
    with pytest.raises(GpuError, match=r"@forward finds no memory on cuda:0 .* for 280 bytes between kernels: CUDA"):
        program([stand_in.torch.put(x())])
    with pytest.raises(GpuError, match=r"@forward finds no memory on cuda:0 .* for x: f32\[2, 3\], 24 bytes: CUDA out"):
        program([x()])
    assert not stand_in.driver.contexts


def test_kernels_that_cannot_be_loaded() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    stand_in.machine.known.clear()
    with pytest.raises(LaunchError, match=r"kernel @double_ cannot be loaded on cuda:0 .*: named symbol not found"):
        program([x()])
    failure = LogicError("cuModuleLoadDataEx failed: the provided PTX was compiled with an unsupported toolchain.")
    stand_in.machine.failures["module_from_buffer"] = failure
    stand_in.machine.newest_cuda = 12040
    with pytest.raises(LaunchError, match=rf"toolchain\.\n.*driver is one for CUDA 12, NVRTC is {version()[0]}\."):
        program([x()])
    assert not stand_in.driver.contexts


def test_no_stream() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    stand_in.machine.failures["Stream"] = LogicError("cuStreamCreate failed: out of memory")
    with (
        stand_in.torch.on_stream(),
        pytest.raises(LaunchError, match=r"no stream to launch on, on cuda:0 .*: cuStream"),
    ):
        program([x()])
    assert not stand_in.driver.contexts


def test_a_kernel_whose_blocks_take_too_much() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES.replace("block 32", "block 1024"), stand_in)
    stand_in.machine.failures["get_attribute"] = LogicError("cuFuncGetAttribute failed: invalid resource handle")
    with pytest.raises(LaunchError, match="kernel @double cannot be asked for what it takes"):
        program([x()])


def test_contexts_are_given_back_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    at_exit: list[Callable[[], object]] = []
    monkeypatch.setattr(gpus_module, "PyTorch", lambda: stand_in.torch)
    monkeypatch.setattr(gpus_module, "load_driver", lambda: stand_in.driver)
    monkeypatch.setattr(gpus_module.atexit, "register", at_exit.append)
    gpus_module.all_gpus.cache_clear()
    gpus = gpus_module.all_gpus()
    gpus_module.all_gpus.cache_clear()
    gpus.open(0)
    (close,) = at_exit
    close()
    assert stand_in.calls[-2:] == ["retain_primary_context", "detach"]


def test_no_context() -> None:
    stand_in = StandIn()
    stand_in.machine.failures["retain_primary_context"] = LogicError(
        "cuDevicePrimaryCtxRetain failed: all CUDA-capable devices are busy or unavailable"
    )
    with pytest.raises(GpuUnavailableError, match=r"cuda:0 \(stand-in\) gives no context: cuDevicePrimaryCtxRetain"):
        stand_in.gpus.open(0)


def test_pycuda_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pycuda", None)
    monkeypatch.setitem(sys.modules, "pycuda.driver", None)
    with pytest.raises(GpuUnavailableError, match=r"pycuda, .* is not installed: pip install 'uop\[gpu\]'"):
        load_driver()


def test_nvidias_driver_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "pycuda"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "driver.py").write_text("raise ImportError('libcuda.so.1: cannot open shared object file')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in [name for name in sys.modules if name.partition(".")[0] == "pycuda"]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(GpuUnavailableError, match=r"pycuda cannot be loaded, is NVIDIA's driver .* libcuda\.so\.1"):
        load_driver()


def test_pycuda_is_initialised(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    stand_in.machine.journal.clear()
    monkeypatch.setitem(sys.modules, "pycuda", ModuleType("pycuda"))
    monkeypatch.setitem(sys.modules, "pycuda.driver", stand_in.driver)  # pyright: ignore[reportArgumentType]
    assert load_driver() is stand_in.driver
    assert stand_in.calls == ["init"]
    stand_in.machine.failures["init"] = LogicError("cuInit failed: no CUDA-capable device is detected")
    with pytest.raises(GpuUnavailableError, match="NVIDIA's driver finds no GPU: cuInit failed: no CUDA-capable"):
        load_driver()


def test_pytorch_without_gpus() -> None:
    gpus_module.all_gpus.cache_clear()
    with pytest.raises(GpuUnavailableError, match="PyTorch sees no GPU: is it built for CUDA"):
        gpus_module.all_gpus()


def test_what_is_asked_of_pytorch_is_there() -> None:
    """Without a GPU only that: PyTorch's functions have the names and the parameters that are used."""
    assert PyTorch().index_of(x()) is None
    assert PyTorch().count() == torch.cuda.device_count()
    external: Any = torch.cuda.ExternalStream
    assert {"stream_ptr", "device"} <= inspect.signature(external.__new__).parameters.keys()
    assert {"cuda_graph", "stream"} <= inspect.signature(torch.cuda.graph.__init__).parameters.keys()
    for name in ("current_stream", "get_device_capability", "get_device_name", "is_current_stream_capturing"):
        assert callable(getattr(torch.cuda, name))
    assert callable(torch.cuda.ExternalStream.wait_stream)
    assert callable(torch.cuda.CUDAGraph.replay)


class FakeCuda:
    """What is called of `torch.cuda`: streams with handles, and the current one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[str] = []
        self.streams = ["default"]
        names = ("ExternalStream", "Stream", "CUDAGraph", "current_stream", "stream", "graph", "device")
        for name in names:
            monkeypatch.setattr(torch.cuda, name, getattr(self, name))

    def named(self, name: str) -> SimpleNamespace:
        def wait_stream(other: SimpleNamespace) -> None:
            self.calls.append(f"{name} waits for {other.name}")

        return SimpleNamespace(name=name, cuda_stream=17, wait_stream=wait_stream)

    def ExternalStream(self, stream_ptr: int, device: int) -> SimpleNamespace:
        return self.named(f"{stream_ptr} of {device}")

    def Stream(self) -> SimpleNamespace:
        return self.named("side")

    def CUDAGraph(self) -> SimpleNamespace:
        return SimpleNamespace(replay=lambda: self.calls.append("replay"))

    def current_stream(self, device: int | None = None) -> SimpleNamespace:
        return self.named(self.streams[-1])

    @contextmanager
    def stream(self, stream: SimpleNamespace) -> Generator[None]:
        self.streams.append(stream.name)
        yield
        self.streams.pop()

    @contextmanager
    def graph(self, graph: SimpleNamespace, stream: SimpleNamespace) -> Generator[None]:
        self.streams.append(f"{stream.name}, recorded")
        yield
        self.streams.pop()

    @contextmanager
    def device(self, index: int) -> Generator[None]:
        self.calls.append(f"device {index}")
        yield


def test_what_is_asked_of_pytorch_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = FakeCuda(monkeypatch)
    assert PyTorch().stream(1) == 17
    PyTorch().order(3, 5, 1)
    assert cuda.calls == ["5 of 1 waits for 3 of 1"]
    cuda.calls.clear()

    def body() -> int:
        cuda.calls.append(f"run on {cuda.streams[-1]}")
        return len(cuda.calls)

    graph, result = PyTorch().capture(body, 1)
    graph.replay()
    assert cuda.calls == [
        "device 1",
        "side waits for default",
        "run on side",
        "default waits for side",
        "run on side, recorded",
        "replay",
    ]
    assert result == 5


# ---- the stand-in finds what it is for


def misuse(program: CudaProgram, stand_in: StandIn, *pointers: int, grid: Any = (1, 1, 1), block: Any = (32, 1, 1)):
    """Launch the program's kernel by hand."""
    gpu = stand_in.gpus.open(0)
    function = program.kernels(gpu)["double"].function
    with gpu.current():
        function.prepared_async_call(grid, block, None, *pointers)


def test_the_stand_in_finds_wrong_launches() -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    given, result = stand_in.torch.put(x()), stand_in.torch.empty((6,), torch.float32, 0)
    good = result.data_ptr(), given.data_ptr()
    misuse(program, stand_in, *good)
    torch.testing.assert_close(result, 2 * x().reshape(6))
    for pointers, options, rule in [
        (good[:1], {}, "takes 2 pointers"),
        ((good[0] + 4, good[1]), {}, "not aligned"),
        ((good[0] + 16, good[1]), {}, "are not memory of the GPU"),
        ((0, good[1]), {}, "are not memory of the GPU"),
        (good, {"grid": (1, 65536, 1)}, "is not within"),
        (good, {"grid": (0, 1, 1)}, "is not within"),
        (good, {"block": (2048, 1, 1)}, "too many threads"),
    ]:
        with pytest.raises(Misuse, match=rule):
            misuse(program, stand_in, *pointers, **options)
    del given
    with pytest.raises(Misuse, match="or no longer"):
        misuse(program, stand_in, *good)
    function = program.kernels(stand_in.gpus.open(0))["double"].function
    with pytest.raises(Misuse, match="the context of the function is not current"):
        function.prepared_async_call((1, 1, 1), (32, 1, 1), None, *good)
    with pytest.raises(Misuse, match="module_from_buffer without a current context"):
        stand_in.driver.module_from_buffer(b"")


def test_the_stand_in_finds_streams_that_do_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = StandIn()
    program = load(FOUR_LAUNCHES, stand_in)
    order = stand_in.torch.order
    with stand_in.torch.on_stream() as stream:
        given = stand_in.torch.put(x())

        def never(first: int, then: int, gpu: int) -> None:
            pass

        def before(first: int, then: int, gpu: int) -> None:
            if first == stream:
                order(first, then, gpu)

        monkeypatch.setattr(stand_in.torch, "order", never)
        with pytest.raises(Misuse, match="does not wait for stream"):
            program([given])
        monkeypatch.setattr(stand_in.torch, "order", before)
        output = program([given])[0]
        with pytest.raises(Misuse, match="PyTorch's stream does not wait"):
            stand_in.machine.download(output)


def test_the_stand_in_runs_kernels_with_the_race_check() -> None:
    stand_in = StandIn()
    given = stand_in.torch.put(torch.arange(2, dtype=torch.float32))
    with pytest.raises(SimulationError, match="two threads store different values"):
        load(TWO_BLOCKS, stand_in)([given])
