"""The options of `torch.compile(…, backend="uop", options={…})` and of `uop.compile`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from typing import Any

from ...dialects.gpu_kernel import ARCHITECTURES
from ...runtime.devices import DEVICES
from ..pass_options import near_names
from ..pipelines import TARGETS

CHECKS = ("each",)


class OptionError(ValueError):
    """An option that there is not, or a value that it does not take; its text is meant for the user."""


@dataclass(frozen=True)
class Options:
    """How to compile and run.

    arch:     the GPU architecture to compile for, by default the device's
    target:   what the last stage is printed as, `cuda` or `c`: what the device executes
    device:   what runs the programs, a name of `runtime.devices.DEVICES`
    schedule: kernel → the text of its `#tile.schedule<…>`, in the place of the one that would be chosen
    cuda_graph: put all launches of a program on the GPU at once, as a graph that is recorded at its first run
    check:    "each" runs a program after each pass, on random inputs, and raises an error after the first that changes
      what it computes
    fullgraph_strict: what would be left to eager PyTorch is an error
    """

    arch: str = "sm_90"
    target: str = "c"
    device: str = "cpu"
    schedule: tuple[tuple[str, str], ...] = ()
    cuda_graph: bool = False
    check: str | None = None
    fullgraph_strict: bool = False

    @staticmethod
    def of(given: Mapping[str, Any]) -> Options:
        """The options that a user gives by name. Raises `OptionError`, and `GpuError` for a GPU that is not there."""
        names = [field.name for field in fields(Options)]
        for name in given:
            if name not in names:
                raise OptionError(
                    f"there is no option {name!r}{near_names(str(name), names)} (the options are {', '.join(names)})"
                )
        values = dict(given)
        for name, choices in _CHOICES.items():
            if name in values and values[name] not in choices:
                told = ", ".join(map(repr, choices))
                raise OptionError(f"option {name!r} is one of {told}, not {values[name]!r}")
        if "schedule" in values:
            values["schedule"] = _schedules(values["schedule"])
        device = DEVICES[values.setdefault("device", Options.device)]
        if values.get("cuda_graph") and device.replay is None:
            able = ", ".join(repr(name) for name, other in DEVICES.items() if other.replay is not None)
            raise OptionError(f"option 'cuda_graph' takes device {able}, not {device.name!r}")
        if values.setdefault("target", device.target) != device.target:
            raise OptionError(f"option 'target' is {device.target!r} with device {device.name!r}")
        values.setdefault("target", device.target)
        if "arch" not in values:
            values["arch"] = device.arch()
        return Options(**values)


_CHOICES: Mapping[str, Collection[object]] = {
    "arch": tuple(ARCHITECTURES),
    "target": tuple(TARGETS),
    "device": tuple(DEVICES),
    "cuda_graph": (False, True),
    "check": (*CHECKS, None),
    "fullgraph_strict": (False, True),
}


def _schedules(value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, Mapping) or not all(
        isinstance(part, str)
        for item in value.items()  # pyright: ignore[reportUnknownVariableType]
        for part in item  # pyright: ignore[reportUnknownVariableType]
    ):
        raise OptionError(
            "option 'schedule' is a dict from names of kernels to texts such as "
            f"'#tile.schedule<i = 2 block * 8 thread>', not {value!r}"
        )
    return tuple(sorted(value.items()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
