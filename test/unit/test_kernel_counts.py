"""How many kernels the blocks of language models are, and that their products keep their matrix instructions."""

import importlib.util
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
    import sys

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


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(("name", "kernels"), [("llama example", 5), ("llama_block", 7), ("block512", 8)])
def test_blocks_are_few_kernels(name: str, kernels: int, dtype: torch.dtype) -> None:
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
    # Halves of heads are two products; attention is two.
    expected = {"llama example": 12, "llama_block": 10, "block512": 6}
    assert products == (expected[name] if dtype is torch.float16 else 0)
