"""What tests ask of a program that runs natively: right, and without touching what is beside its values."""

import torch

from uop.frontends.captured import Captured
from uop.runtime.native.compilation import load_guarded
from uop.runtime.tensors import from_array, to_array
from uop.tools.compilation import compile_stages
from uop.tools.execution import compare_tensors
from uop.tools.pipelines import CompileOptions


def check_natively(captured: Captured, vector_bytes: int) -> None:
    """Compile it for vectors of so many bytes, run it in memory with guards, compare it with eager and with float64."""
    imported = captured.imported()
    for _ in compile_stages(imported, CompileOptions(vector_bytes=vector_bytes), target="c"):
        pass
    inputs = captured.make_inputs()
    arrays = load_guarded(imported.module).run_guarded([to_array(value) for value in inputs])
    outputs = [from_array(array, type) for array, type in zip(arrays, imported.result_types, strict=True)]
    eager, exact = captured.reference(inputs), captured.reference64(inputs)
    for ours, reference, reference64 in zip(outputs, eager, exact, strict=True):
        row = compare_tensors(ours, torch.as_tensor(reference), reference64)
        assert row.right, row
