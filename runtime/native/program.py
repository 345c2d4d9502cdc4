"""Programs on the CPU: called on PyTorch's tensors or numpy's arrays, without copying them."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cached_property
from operator import call
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..artifact.arrays import POISON, Array, fit_inputs, meant
from ..artifact.artifact import Artifact
from ..artifact.elements import STORAGE_DTYPES
from ..artifact.plan import Value
from ..artifact.sizes import narrow, widen
from .compiler import build
from .cpu import host
from .library import Library
from .memory import LARGE_BYTES, address, aligned_bytes, blocks

if TYPE_CHECKING:
    import torch

TARGET = "c"
TEXT, LIBRARY = "program.c", "program.so"


class CpuInputError(ValueError):
    """A program is given other tensors than it takes."""


class _Result(NamedTuple):
    """A result of a program: which of its inputs, and of what is made for it, holds it; whether it is to be copied from
    there, and its shape."""

    place: int
    copied: bool
    shape: Sequence[int]


class _OnTensors(NamedTuple):
    """How a program is run on tensors.

    makers: of what it writes. data_ptr: PyTorch's. results: None where they are what was made, in order
    """

    makers: Sequence[Callable[[], torch.Tensor]]
    data_ptr: Callable[[torch.Tensor], int]
    results: Sequence[_Result] | None


class CpuProgram:
    """A program on the CPU: call it with a tensor for each argument.

    Several threads may call it at once: each run has memory of its own.
    """

    def __init__(self, artifact: Artifact) -> None:
        """Load the library into this process, built anew where that is for another CPU.

        Raises `CompilerNotFoundError` where there is no compiler for that.
        """
        self.plan = plan = artifact.plan
        self._library = _library(artifact)
        self._made = [
            place
            for launch in plan.launches
            for place in launch.outputs
            if plan.values[place].offset is None and plan.values[place].view_of is None
        ]
        """Values with memory of their own that launches write, in the order in which the program takes them."""
        self._pack = struct.Struct(f"{len(plan.inputs) + len(self._made) + 1}P").pack
        self._arena_bytes = plan.arena_bytes
        self._arenas: list[tuple[int, Array]] = []
        """Memory for values with an offset that no run uses now, each with its address."""
        self._wide: dict[int, list[torch.Tensor]] = {}
        """By input whose size differs from call to call: buffers that no run uses now."""
        self._are_known: Callable[..., bool] | None = None
        """Whether tensors are like those of an earlier call, which were taken as they are."""

    # On tensors.

    def __call__(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """Run it. Results are new tensors, but the new value of one that the program updates lies in its memory.

        Tensors that are not dense and row-major are copied, and the copies are then what is updated.

        Raises `CpuInputError` for a tensor that is not as the plan says.
        """
        try:
            known = self._are_known is not None and self._are_known(*tensors)
        except TypeError:  # another number of tensors
            known = False
        if not known:
            if self.plan.symbols:
                return self._call_sized(tensors)
            tensors = self._fit_all(tensors)
        makers, data_ptr, results = self._on_tensors
        made = [*map(call, makers)]
        self._execute([*map(data_ptr, tensors), *map(data_ptr, made)])
        if results is None:
            return made
        values = [*tensors, *made]
        return [_tensor_result(values[place], copied, shape) for place, copied, shape in results]

    def _fit_all(self, tensors: Sequence[torch.Tensor]) -> Sequence[torch.Tensor]:
        """The tensors for the inputs, dense and row-major. Those that are so are known from now on."""
        from .tensors import likeness

        plan = self.plan
        if len(tensors) != len(plan.inputs):
            raise CpuInputError(f"@{plan.function} takes {len(plan.inputs)} tensors, not {len(tensors)}")
        values = [plan.values[place] for place in plan.inputs]
        fitting = [self._fit(tensor, value, value.shape) for tensor, value in zip(tensors, values, strict=True)]
        if all(tensor is fit for tensor, fit in zip(tensors, fitting, strict=True)):
            self._are_known = likeness(fitting)
        return fitting

    def _call_sized(self, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        """Run a program with symbols: what is given goes to the beginning of buffers that are kept."""
        import torch

        plan = self.plan
        arguments = plan.without_symbols(tensors)
        if len(arguments) != len(plan.arguments):
            raise CpuInputError(f"@{plan.function} takes {len(plan.arguments)} tensors, not {len(arguments)}")
        sizes = plan.sizes(tensors)
        given = {symbol.place: torch.tensor(sizes[symbol.name]) for symbol in plan.symbols}
        borrowed: dict[int, torch.Tensor] = {}
        for place, tensor in zip(plan.arguments, arguments, strict=True):
            value = plan.values[place]
            given[place] = self._fit(tensor, value, value.shape_in(sizes))
            if tensor.shape != value.shape:
                borrowed[place] = widen(self._wide_buffer(place), given[place])
        inputs = [borrowed.get(place, given[place]) for place in plan.inputs]
        makers, data_ptr, _ = self._on_tensors
        values = [*inputs, *map(call, makers)]
        self._execute([*map(data_ptr, values)])
        found = [_tensor_result(values[number], copied, shape) for number, copied, shape in self._results]
        for place, buffer in borrowed.items():
            self._wide[place].append(buffer)
        shapes = [plan.values[place].shape_in(sizes) for place in plan.outputs]
        return [narrow(tensor, shape).contiguous() for tensor, shape in zip(found, shapes, strict=True)]

    def _wide_buffer(self, place: int) -> torch.Tensor:
        try:
            return self._wide.setdefault(place, []).pop()
        except IndexError:
            return _maker(self.plan.values[place])()

    @cached_property
    def _results(self) -> Sequence[_Result]:
        plan = self.plan
        places = {place: number for number, place in enumerate((*plan.inputs, *self._made))}
        return [
            _Result(places[plan.roots[place]], not owned, plan.values[place].shape)
            for place, owned in zip(plan.outputs, plan.owned_outputs, strict=True)
        ]

    @cached_property
    def _on_tensors(self) -> _OnTensors:
        import torch

        as_made = list(self.plan.outputs) == self._made
        makers = [_maker(self.plan.values[place]) for place in self._made]
        return _OnTensors(makers, torch.Tensor.data_ptr, None if as_made else self._results)

    def _fit(self, tensor: torch.Tensor, value: Value, shape: Sequence[int]) -> torch.Tensor:
        """The tensor for an input, dense and row-major: itself where it is that."""
        from .tensors import torch_dtype

        if tensor.dtype != torch_dtype(value) or tuple(tensor.shape) != tuple(shape):
            given = f"{str(tensor.dtype).removeprefix('torch.')}[{', '.join(map(str, tensor.shape))}]"
            raise CpuInputError(f"argument {value} of @{self.plan.function} is given a tensor {given}")
        if not tensor.is_cpu:
            raise CpuInputError(f"argument {value} of @{self.plan.function} lies on {tensor.device}, not on the CPU")
        if tensor.is_contiguous() and not tensor.is_neg():
            return tensor
        return tensor.detach().resolve_neg().contiguous()

    # On arrays.

    def run(self, arrays: Sequence[Array]) -> list[Array]:
        """Run it on numpy's arrays, as `STORAGE_DTYPES` has their elements; those that the program updates are changed,
        unless they are not dense or not writeable. Raises `ValueError` for one that is not as the plan says."""
        inputs = fit_inputs(self.plan, arrays)
        made = [_empty(self.plan.values[place]) for place in self._made]
        values = inputs + made
        self._execute([address(array) for array in values])
        return self._array_results(values, inputs)

    def run_guarded(self, arrays: Sequence[Array]) -> list[Array]:
        """`run`, for tests: in memory that is poisoned at first, and has poison around each value. A value that is read
        before it is written, or from beyond another's end, is NaN or −1.

        Raises `OutOfBoundsError` where something was written beside a value, or into an input that is not updated.
        """
        inputs = fit_inputs(self.plan, arrays)
        guarded = [_Guarded(self.plan.values[place]) for place in (*self.plan.inputs, *self._made)]
        for each, given in zip(guarded, inputs, strict=False):
            each.array[...] = given
        self._execute([address(each.array) for each in guarded])
        kept = [None if place in self.plan.updated_inputs else inputs[n] for n, place in enumerate(self.plan.inputs)]
        for number, each in enumerate(guarded):
            each.check(kept[number] if number < len(kept) else None)
        return self._array_results([each.array for each in guarded], inputs)

    def _array_results(self, values: Sequence[Array], inputs: Sequence[Array]) -> list[Array]:
        found = [(values[number].reshape(shape), copied) for number, copied, shape in self._results]
        return meant(self.plan, inputs, [array.copy() if copied else array for array, copied in found])

    # Both.

    def _execute(self, pointers: Sequence[int]) -> None:
        """Run it on what it takes and makes."""
        library, size = self._library, self._arena_bytes
        if library is None:
            return
        if size == 0:
            library.run(self._pack(*pointers, 0))
            return
        try:
            arena = self._arenas.pop()
        except IndexError:
            memory = aligned_bytes(size)
            arena = address(memory), memory
        library.run(self._pack(*pointers, arena[0]))
        self._arenas.append(arena)


class OutOfBoundsError(Exception):
    """A kernel wrote where it must not."""


GUARD_BYTES = 4096


class _Guarded:
    """A poisoned array for a value, between guards."""

    def __init__(self, value: Value) -> None:
        self._value = value
        size = value.byte_count
        self._memory = aligned_bytes(size + 2 * GUARD_BYTES)
        self._memory.fill(POISON)
        inside = self._memory[GUARD_BYTES : GUARD_BYTES + size]
        self.array = inside.view(STORAGE_DTYPES[value.dtype]).reshape(value.shape)

    def check(self, given: Array | None) -> None:
        """Raise `OutOfBoundsError` where the guards, or what was given, are other than they were."""
        before, after = self._memory[:GUARD_BYTES], self._memory[GUARD_BYTES + self._value.byte_count :]
        for guard, where in ((before[::-1], "before its beginning"), (after, "behind its end")):
            if wrong := np.flatnonzero(guard != POISON).tolist():
                raise OutOfBoundsError(f"{self._value} was written {where}, as far as {wrong[-1] + 1} bytes")
        if given is not None and self.array.tobytes() != given.tobytes():
            raise OutOfBoundsError(f"the input {self._value} was written")


def _library(artifact: Artifact) -> Library | None:
    """The library of an artifact; None where there is nothing to launch, and so no file."""
    plan = artifact.plan
    for kernel in plan.kernels.values():
        data = artifact.file(kernel, LIBRARY) if plan.arch == host().arch else None
        return Library(data or build(artifact.text(kernel, TEXT), name=plan.function), plan.entry)
    return None


def _tensor_result(tensor: torch.Tensor, copied: bool, shape: Sequence[int]) -> torch.Tensor:
    tensor = tensor.detach().view(shape)
    return tensor.clone() if copied else tensor


def _maker(value: Value) -> Callable[[], torch.Tensor]:
    """Makes tensors for a value."""
    import torch

    from .tensors import maker, torch_dtype

    if value.byte_count < LARGE_BYTES:
        return maker(value)
    dtype = torch_dtype(value)
    return lambda: torch.from_numpy(_empty(value)).view(dtype)  # pyright: ignore[reportUnknownMemberType]


def _empty(value: Value) -> Array:
    """An array for a value."""
    size, dtype = value.byte_count, STORAGE_DTYPES[value.dtype]
    if size >= LARGE_BYTES:
        return blocks.array(dtype, value.shape, size)
    return aligned_bytes(size).view(dtype).reshape(value.shape)
