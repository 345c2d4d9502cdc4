"""What artifacts run on. A device is a name, what it is for, and what makes an artifact ready to run on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from .artifact import Artifact

Executable = Callable[[Sequence[Any]], Sequence[Any]]
"""A program that can be run: takes one value for each input of its plan and gives new ones, one for each output."""


class DeviceError(ValueError):
    """There is no such device, or the artifact is not for it."""


@dataclass(frozen=True)
class Device:
    """Something that artifacts run on.

    targets: what it executes, names of `Plan.target`
    load:    makes an artifact ready to run
    tensors: whether it takes and gives PyTorch's tensors; else arrays, as `STORAGE_DTYPES` says
    is_there: whether this machine has it
    keep:    a tensor that is given with each run, such as a parameter, where the device reads it without a copy
    """

    name: str
    targets: Sequence[str]
    load: Callable[[Artifact], Executable]
    tensors: bool = False
    is_there: Callable[[], bool] = lambda: True
    keep: Callable[[Any], Any] = lambda value: value


def _load_simulator(artifact: Artifact) -> Executable:
    from .simulated import SimulatedProgram

    return SimulatedProgram(artifact).execute


def _load_cpu(artifact: Artifact) -> Executable:
    from ..native.program import CpuProgram

    return CpuProgram(artifact).run


def _load_gpu(artifact: Artifact) -> Executable:
    from ..cuda.gpus import all_gpus
    from ..cuda.program import CudaProgram

    return CudaProgram(artifact, all_gpus())


def _has_gpu() -> bool:
    """Whether there is a GPU and what it takes, PyTorch and pycuda."""
    if not (find_spec("pycuda") and find_spec("torch")):
        return False
    import torch

    return torch.cuda.is_available()


def _keep_on_gpu(value: Any) -> Any:
    import torch

    return value.to(torch.device("cuda", torch.cuda.current_device()))


DEVICES: Mapping[str, Device] = {
    device.name: device
    for device in (
        Device("cuda", ("cuda",), _load_gpu, tensors=True, is_there=_has_gpu, keep=_keep_on_gpu),
        Device("cpu", ("c",), _load_cpu),
        Device("sim", ("cuda",), _load_simulator),
    )
}
"""By name, the fastest first."""


def choose_device(artifact: Artifact, name: str | None = None) -> Device:
    """The device of that name, or the first that is there and executes the artifact. Raises `DeviceError`."""
    target = artifact.plan.target
    if name is None:
        for device in DEVICES.values():
            if target in device.targets and device.is_there():
                return device
        raise DeviceError(f"no device of this machine executes {target}")
    if name not in DEVICES:
        raise DeviceError(f"there is no device {name!r} (the devices are {', '.join(DEVICES)})")
    device = DEVICES[name]
    if target not in device.targets:
        able = [other.name for other in DEVICES.values() if target in other.targets]
        raise DeviceError(f"the artifact is for {target}, which {name} does not execute ({', '.join(able)} does)")
    return device
