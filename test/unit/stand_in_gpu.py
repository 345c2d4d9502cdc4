"""A GPU that is not there: in the place of `pycuda.driver` and of PyTorch's side of CUDA; the simulator runs kernels.

Tensors of "the GPU" are tensors of the CPU that this module knows of. Each call is checked against the rules of CUDA's
driver: contexts before what takes one, launches of loaded functions on live memory, aligned, of the right size, within
the limits of a launch, and in an order between streams that makes each kernel see what it reads. What breaks a rule
raises `Misuse`; what a test injects raises pycuda's errors, with pycuda's texts.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, TypeVar

import numpy as np
import pytest
import torch

from uop.runtime import devices
from uop.runtime.artifact.artifact import Artifact
from uop.runtime.cubin import kernel_resources
from uop.runtime.cuda import gpus, program
from uop.runtime.cuda.driver import Stream
from uop.runtime.cuda.gpus import Gpus
from uop.runtime.cuda.program import CudaProgram
from uop.runtime.nvrtc import Resources, compile_cuda
from uop.runtime.simulator import simulate

Result = TypeVar("Result")

MAX_GRID = (2**31 - 1, 65535, 65535)
MAX_THREADS = 1024
STATIC_SHARED_BYTES = 48 * 1024
SHARED_BYTES = 227 * 1024
POISON = 0xFF


class Misuse(AssertionError):
    """A call that CUDA does not allow, or that would read or write the wrong memory."""


def require(condition: bool, rule: str) -> None:
    if not condition:
        raise Misuse(rule)


class Error(Exception):
    """`pycuda.driver.Error`"""


class LogicError(Error):
    """`pycuda.driver.LogicError`"""


class FailedLaunch(Error):
    """`pycuda.driver.LaunchError`"""


@dataclass(frozen=True)
class Known:
    """A kernel that may be loaded. sizes: of its buffers in bytes, `outputs` of which it writes"""

    entry: str
    text: str
    sizes: tuple[int, ...]
    outputs: int


@dataclass
class Memory:
    """Memory of the GPU. written: the stream and the time of the last write"""

    address: int
    size: int
    written: tuple[int, int]


@dataclass
class Machine:
    """What the driver and PyTorch share: memory, streams and their order.

    clocks: stream → what has happened before what it is given next: for each stream, a time
    journal: every call, as text
    """

    capabilities: Sequence[tuple[int, int]] = ((9, 0),)
    newest_cuda: int = 13000
    all_tensors: bool = False
    """Whether tensors that the test made on the CPU count as on the GPU."""
    known: dict[str, Known] = field(default_factory=dict[str, Known])
    memory: dict[int, Memory] = field(default_factory=dict[int, Memory])
    clocks: dict[int, dict[int, int]] = field(default_factory=lambda: {0: {}})
    stream: int = 0
    capturing: Capture | None = None
    journal: list[str] = field(default_factory=list[str])
    failures: dict[str, Exception] = field(default_factory=dict[str, Exception])
    """Call → what it raises."""

    def call(self, name: str, *arguments: object) -> None:
        """Note a call, and let it fail where the test wants it to."""
        self.journal.append(f"{name}({', '.join(map(str, arguments))})")
        if name in self.failures:
            raise self.failures[name]

    def learn(self, artifact: Artifact) -> None:
        """Kernels that a program may load."""
        plan = artifact.plan
        for launch in plan.launches:
            sizes = tuple(plan.values[place].byte_count for place in launch.buffers)
            kernel = plan.kernels[launch.kernel]
            text = artifact.text(kernel, "cuda")
            self.known[text] = Known(kernel.entry, text, sizes, len(launch.outputs))

    def tick(self, stream: int) -> tuple[int, int]:
        """Something happens on a stream: where and when."""
        clock = self.clocks[stream]
        clock[stream] = clock.get(stream, 0) + 1
        return stream, clock[stream]

    def add_memory(self, tensor: torch.Tensor) -> None:
        """The tensor's memory is the GPU's as long as something holds it."""
        storage = tensor.untyped_storage()
        address = storage.data_ptr()
        if not address or address in self.memory:
            return
        self.memory[address] = Memory(address, storage.nbytes(), self.tick(self.stream))
        weakref.finalize(storage, self.memory.pop, address, None)

    def find_memory(self, address: int, size: int) -> Memory:
        for memory in self.memory.values():
            if memory.address <= address and address + size <= memory.address + memory.size:
                return memory
        raise Misuse(f"{size} bytes at {address:#x} are not memory of the GPU, or no longer")

    def see(self, memory: Memory, stream: int, what: str) -> None:
        """What is put on the stream now must come behind the last write to the memory."""
        writer, time = memory.written
        require(
            self.clocks[stream].get(writer, 0) >= time, f"{what} does not wait for stream {writer}, which writes it"
        )

    def download(self, tensor: torch.Tensor) -> torch.Tensor:
        """A tensor of the GPU on the CPU, as something that PyTorch puts on its current stream reads it."""
        if tensor.numel():
            self.add_memory(tensor)  # what PyTorch has copied itself is not known yet
            memory = self.find_memory(tensor.data_ptr(), tensor.nbytes)
            self.see(memory, self.stream, "PyTorch's stream")
        return tensor.clone()


@dataclass
class Capture:
    """A graph that is recorded. streams: those whose work goes into it"""

    stream: int
    streams: set[int]
    launches: list[Callable[[int], None]] = field(default_factory=list[Callable[[int], None]])
    held: list[torch.Tensor] = field(default_factory=list[torch.Tensor])
    """Memory of the graph: PyTorch takes it from a pool that lives as long."""


class StandInGraph:
    """A recorded graph."""

    def __init__(self, machine: Machine, capture: Capture) -> None:
        self.machine = machine
        self.capture = capture

    def replay(self) -> None:
        self.machine.call("replay", len(self.capture.launches))
        for launch in self.capture.launches:
            launch(self.machine.stream)


class StandInTorch:
    """PyTorch's side, `uop.runtime.cuda.torch_gpus.TorchGpus`."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._next = 0x7000

    def count(self) -> int:
        return len(self.machine.capabilities)

    def current(self) -> int:
        return 0

    def name(self, gpu: int) -> str:
        return "stand-in"

    def capability(self, gpu: int) -> tuple[int, int]:
        return self.machine.capabilities[gpu]

    def index_of(self, tensor: torch.Tensor) -> int | None:
        if self.machine.all_tensors:
            self.machine.add_memory(tensor)
            return 0
        address = tensor.untyped_storage().data_ptr()
        return 0 if address in self.machine.memory or not tensor.numel() else None

    def empty(self, shape: Sequence[int], dtype: torch.dtype, gpu: int) -> torch.Tensor:
        self.machine.call("empty", tuple(shape), dtype)
        size = prod(shape) * dtype.itemsize
        tensor = torch.full((size,), POISON, dtype=torch.uint8)
        self.machine.add_memory(tensor)
        if self.machine.capturing is not None and size:
            self.machine.capturing.held.append(tensor)
            # Nothing happens on the stream while a graph is recorded.
            self.machine.find_memory(tensor.data_ptr(), size).written = self.machine.stream, 0
        return tensor.view(dtype).view(tuple(shape))

    def put(self, tensor: torch.Tensor) -> torch.Tensor:
        """A copy of a tensor of the CPU on the GPU, with its strides."""
        copy = torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype).copy_(tensor)
        self.machine.add_memory(copy)
        return copy

    def stream(self, gpu: int) -> int:
        return self.machine.stream

    def order(self, first: int, then: int, gpu: int) -> None:
        machine = self.machine
        machine.call("order", first, then)
        require({first, then} <= machine.clocks.keys(), f"{first} or {then} is no stream")
        for stream, time in machine.clocks[first].items():
            machine.clocks[then][stream] = max(time, machine.clocks[then].get(stream, 0))
        if machine.capturing is not None and first in machine.capturing.streams:
            machine.capturing.streams.add(then)

    def is_capturing(self) -> bool:
        return self.machine.capturing is not None and self.machine.stream in self.machine.capturing.streams

    @contextmanager
    def on_stream(self) -> Generator[int]:
        """Another stream is PyTorch's current one, and waits for the one before."""
        before = self.machine.stream
        self._next += 1
        self.machine.clocks[self._next] = dict(self.machine.clocks[before])
        self.machine.stream = self._next
        try:
            yield self._next
        finally:
            self.machine.stream = before

    def capture(self, body: Callable[[], Result], gpu: int) -> tuple[StandInGraph, Result]:
        machine = self.machine
        before = machine.stream
        with self.on_stream() as stream:
            body()
            self.order(stream, before, gpu)
            capture = Capture(stream, {stream})
            machine.capturing = capture
            try:
                result = body()
            finally:
                machine.capturing = None
            for each in capture.streams:
                done = machine.clocks[each].get(each, 0) <= machine.clocks[stream].get(each, 0)
                require(done, f"stream {each} is not joined when the graph ends")
        machine.call("captured", len(capture.launches))
        # What the graph's launches do happens when it is replayed.
        return StandInGraph(machine, capture), result


class FunctionAttributes:
    """`pycuda.driver.function_attribute`"""

    MAX_THREADS_PER_BLOCK = "MAX_THREADS_PER_BLOCK"
    NUM_REGS = "NUM_REGS"
    SHARED_SIZE_BYTES = "SHARED_SIZE_BYTES"
    MAX_DYNAMIC_SHARED_SIZE_BYTES = "MAX_DYNAMIC_SHARED_SIZE_BYTES"


class StandInStream:
    """`pycuda.driver.Stream`"""

    def __init__(self, machine: Machine, handle: int) -> None:
        self.handle = handle
        machine.clocks[handle] = {}


class StandInContext:
    """`pycuda.driver.Context`"""

    def __init__(self, driver: StandInDriver, device: int) -> None:
        self.driver = driver
        self.device = device
        self.is_valid = True

    def push(self) -> None:
        self.driver.machine.call("push", self.device)
        require(self.is_valid, "the context was given back")
        self.driver.contexts.append(self)

    def pop(self) -> None:
        self.driver.machine.call("pop")
        require(bool(self.driver.contexts), "pop without push")
        self.driver.contexts.pop()

    def synchronize(self) -> None:
        require(self.driver.contexts[-1:] == [self], "the context is not current")
        require(self.driver.machine.capturing is None, "synchronize while a graph is recorded")
        self.driver.machine.call("synchronize")

    def detach(self) -> None:
        self.driver.machine.call("detach", self.device)
        require(self.is_valid, "the context was given back")
        require(self not in self.driver.contexts, "the context is current")
        self.is_valid = False


class StandInFunction:
    """`pycuda.driver.Function`"""

    def __init__(self, driver: StandInDriver, context: StandInContext, known: Known, ptx: str, resources: Resources):
        self.driver = driver
        self.context = context
        self.known = known
        self.ptx = ptx
        self.resources = resources
        self._arguments: str | None = None
        self.most_dynamic: int = STATIC_SHARED_BYTES - resources.shared_bytes

    def prepare(self, arg_types: str) -> StandInFunction:
        require(set(arg_types) <= {"P"}, f"{arg_types} are not pointers alone")
        require(len(arg_types) == len(self.known.sizes), f"{self.known.entry} takes {len(self.known.sizes)} pointers")
        self._arguments = arg_types
        return self

    @property
    def max_threads(self) -> int:
        return min(MAX_THREADS, 65536 // max(1, self.resources.registers))

    def get_attribute(self, attribute: object) -> int:
        self.driver.machine.call("get_attribute", attribute)
        match attribute:
            case FunctionAttributes.MAX_THREADS_PER_BLOCK:
                return self.max_threads
            case FunctionAttributes.NUM_REGS:
                return self.resources.registers
            case FunctionAttributes.SHARED_SIZE_BYTES:
                return self.resources.shared_bytes
            case _:
                raise Misuse(f"{attribute} is not asked for")

    def set_attribute(self, attribute: object, value: int) -> None:
        self.driver.machine.call("set_attribute", attribute, value)
        require(attribute is FunctionAttributes.MAX_DYNAMIC_SHARED_SIZE_BYTES, f"{attribute} is not set")
        if value + self.resources.shared_bytes > SHARED_BYTES:
            raise LogicError("cuFuncSetAttribute failed: invalid argument")
        self.most_dynamic = value

    def prepared_async_call(
        self,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        stream: Stream | None,
        *args: int,
        shared_size: int = 0,
    ) -> None:
        machine = self.driver.machine
        handle = 0 if stream is None else stream.handle
        machine.call("launch", self.known.entry, grid, block, handle)
        require(self.driver.contexts[-1:] == [self.context], "the context of the function is not current")
        require(self._arguments is not None, "the function is not prepared")
        require(len(args) == len(self.known.sizes), f"{self.known.entry} takes {len(self.known.sizes)} pointers")
        sizes = zip(grid, MAX_GRID, strict=True)
        require(all(0 < size <= most for size, most in sizes), f"grid {grid} is not within {MAX_GRID}")
        require(0 < prod(block) <= self.max_threads, f"block {block} has too many threads")
        require(shared_size <= self.most_dynamic, "more dynamic shared memory than the function was told to have")
        require(handle in machine.clocks, f"{handle} is no stream")

        def execute(on: int) -> None:
            self._execute(grid, block, args, on, shared_size)

        if machine.capturing is not None:
            require(handle in machine.capturing.streams, "a launch on another stream than the one that is recorded")
            machine.tick(handle)
            machine.capturing.launches.append(execute)
        else:
            execute(handle)

    def _execute(
        self, grid: tuple[int, int, int], block: tuple[int, int, int], args: Sequence[int], on: int, shared_size: int
    ) -> None:
        machine = self.driver.machine
        arrays: list[np.ndarray[Any, Any]] = []
        for place, (address, size) in enumerate(zip(args, self.known.sizes, strict=True)):
            what = f"argument {place} of {self.known.entry}"
            require(address % 16 == 0, f"{what} is at {address:#x}, which is not aligned")
            if not size:
                arrays.append(np.empty(0, np.uint8))
                continue
            memory = machine.find_memory(address, size)
            machine.see(memory, on, what)
            array = np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
            array.flags.writeable = place < self.known.outputs
            arrays.append(array)
        simulate(self.ptx, grid, block, arrays, shared_bytes=shared_size)
        written = machine.tick(on)
        for address, size in list(zip(args, self.known.sizes, strict=True))[: self.known.outputs]:
            if size:
                machine.find_memory(address, size).written = written


class StandInModule:
    """`pycuda.driver.Module`"""

    def __init__(self, driver: StandInDriver, context: StandInContext, image: bytes) -> None:
        self.driver = driver
        self.context = context
        self.image = image

    def get_function(self, name: str) -> StandInFunction:
        machine = self.driver.machine
        machine.call("get_function", name)
        major, minor = machine.capabilities[self.context.device]
        arch = f"sm_{major}{minor}"
        for known in machine.known.values():
            if known.entry != name:
                continue
            file = f"{known.entry}.cu"
            if self.image[:4] == b"\x7fELF":
                if compile_cuda(known.text, arch, name=file).image != self.image:
                    continue
                ptx = compile_cuda(known.text, arch.replace("sm", "compute"), name=file).ptx
                resources = kernel_resources(self.image)[name]
            else:
                require(self.image[-1:] == b"\0", "PTX does not end with a 0, which the driver reads up to")
                ptx = self.image.rstrip(b"\0").decode()
                if f".entry {name}(" not in ptx:
                    continue
                resources = compile_cuda(known.text, "sm_90", name=file).resources[name]
            require(resources.shared_bytes <= STATIC_SHARED_BYTES + 1024, "more static shared memory than there is")
            return StandInFunction(self.driver, self.context, known, ptx, resources)
        raise LogicError("cuModuleGetFunction failed: named symbol not found")


class StandInDriver:
    """The module `pycuda.driver`, `uop.runtime.cuda.driver.Driver`."""

    Error = Error
    function_attribute = FunctionAttributes()

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.contexts: list[StandInContext] = []
        self._is_initialised = False
        self._next = 0x100

    def init(self) -> None:
        self.machine.call("init")
        self._is_initialised = True

    def Device(self, number: int) -> StandInDevice:
        self.machine.call("Device", number)
        require(self._is_initialised, "Device before init")
        require(0 <= number < len(self.machine.capabilities), f"there is no GPU {number}")
        return StandInDevice(self, number)

    def Stream(self, flags: int = 0) -> StandInStream:
        self.machine.call("Stream", flags)
        self.require_context("Stream")
        self._next += 1
        return StandInStream(self.machine, self._next)

    def module_from_buffer(self, buffer: bytes) -> StandInModule:
        self.machine.call("module_from_buffer", len(buffer))
        context = self.require_context("module_from_buffer")
        require(self.machine.capturing is None, "a module is loaded while a graph is recorded")
        return StandInModule(self, context, buffer)

    def get_driver_version(self) -> int:
        return self.machine.newest_cuda

    def require_context(self, what: str) -> StandInContext:
        require(bool(self.contexts), f"{what} without a current context")
        return self.contexts[-1]


class StandInDevice:
    """`pycuda.driver.Device`"""

    def __init__(self, driver: StandInDriver, number: int) -> None:
        self.driver = driver
        self.number = number

    def retain_primary_context(self) -> StandInContext:
        self.driver.machine.call("retain_primary_context", self.number)
        return StandInContext(self.driver, self.number)


class StandIn:
    """A machine with GPUs that are not there."""

    def __init__(self, **options: Any) -> None:
        """options: of `Machine`"""
        self.machine = Machine(**options)
        self.torch = StandInTorch(self.machine)
        self.driver = StandInDriver(self.machine)
        self.driver.init()
        self.gpus = Gpus(self.driver, self.torch)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Device `cuda` is this one, and takes tensors of the CPU."""
        stand_in = self

        class Learned(CudaProgram):
            def __init__(self, artifact: Artifact, gpus: Gpus) -> None:
                stand_in.machine.learn(artifact)
                super().__init__(artifact, gpus)

        self.machine.all_tensors = True
        for module in (devices, gpus):
            monkeypatch.setattr(module, "all_gpus", lambda: stand_in.gpus)
        for module in (devices, program):
            monkeypatch.setattr(module, "CudaProgram", Learned)
        cuda = replace(devices.DEVICES["cuda"], memory="cpu")
        monkeypatch.setitem(devices.DEVICES, "cuda", cuda)  # pyright: ignore[reportArgumentType]  # it is a dict

    @property
    def calls(self) -> list[str]:
        """The names of all calls."""
        return [call.partition("(")[0] for call in self.machine.journal]
