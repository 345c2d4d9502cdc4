"""How many kernels the blocks of language models are, and that their products keep their matrix instructions."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import torch

from uop.dialects.tile import MmaOp
from uop.dialects.uop import LaunchOp
from uop.frontends.exporting import quiet_export
from uop.frontends.importer import import_exported
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

ROOT = Path(__file__).parents[2]


def _load(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _case(name: str, dtype: torch.dtype) -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    if name == "llama example":
        module, inputs = _load("examples/llama_block.py").make()
        return module.to(dtype), tuple(x.to(dtype) for x in inputs)
    cases = _load("bench/cpu_cases.py")
    case = cases.CASES[name]
    return cases.CpuModule(case).eval(), tuple(x.to(dtype) for x in case.inputs())


@pytest.mark.parametrize(
    ("name", "dtype", "kernels", "expected"),
    # Halves of heads are two products; attention is two.
    [
        ("llama example", torch.float32, 5, 0),
        ("llama_block", torch.float16, 7, 12),
        ("block512", torch.float16, 5, 6),
        pytest.param("llama_block", torch.float32, 7, 0, marks=pytest.mark.slow),
        ("block512", torch.float32, 5, 0),
    ],
)
def test_blocks_are_few_kernels(name: str, dtype: torch.dtype, kernels: int, expected: int) -> None:
    module, inputs = _case(name, dtype)
    with quiet_export():
        imported = import_exported(module, inputs)
    launches = products = -1
    for stage, program in compile_stages(imported, CompileOptions()):
        if stage == "partition":
            launches = sum(isinstance(op, LaunchOp) for op in program.walk())
        if stage == "tile":
            products = sum(isinstance(op, MmaOp) for op in program.walk())
            break
    assert launches == kernels
    assert products == expected
