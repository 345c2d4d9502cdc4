"""What bench/cpu.py and bench/models.py measure: the cases of cpu_cases.py, small models of `uop check models`, and
layers of model_layers.py."""

from __future__ import annotations

from cpu_cases import CASES, CpuModule
from model_layers import PROGRAMS, make_layer

from uop.frontends.captured import Call, Captured
from uop.frontends.exporting import quiet_export
from uop.frontends.torch_internals import random_state
from uop.tools.checking.models import make_model

MODELS = ("llama", "gpt2", "bert", "vit", "resnet")


def program(name: str) -> Captured:
    """A case, model or layer with its inputs, the same in every process."""
    if name in CASES:
        case = CASES[name]
        call = Call(CpuModule(case), tuple(case.inputs()))
    elif name in PROGRAMS:
        call = make_layer(name)
    else:
        with random_state(0), quiet_export():
            call = make_model(name)
    return Captured(call, lambda: call, name)
