"""Whole models from their configurations: what they cost to compile, and that all of their kernels are good CUDA."""

import json
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from uop.frontends.captured import Captured
from uop.frontends.language_models.language_model import load_language_model
from uop.runtime import nvrtc
from uop.runtime.program import Program
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions

pytest.importorskip("transformers")

MODELS = ("tinyllama-1.1b", "qwen2.5-7b")
PROGRAMS = ("prefill", "decode")
CPU_SECONDS, BYTES = 15.0, 4e9
"""What a program may take to compile, beyond `torch.export`, and the memory for all of it."""

MEASURE = """
import json, resource, sys
from uop.frontends.language_models.language_model import load_language_model
from uop.tools.model_compilation import compile_step
from uop.tools.pipelines import CompileOptions
model = load_language_model(sys.argv[1])
captured = model.prefill_program() if sys.argv[2] == "prefill" else model.decode_program()
step = compile_step(sys.argv[2], captured, CompileOptions(), "cuda")
peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"own": step.own_seconds, "peak": peak, "kernels": step.kernels, "launches": step.launches}))
"""


def program_of(model: str, program: str, layers: int | None = None) -> Captured:
    loaded = load_language_model(model, layers=layers)
    return loaded.prefill_program() if program == "prefill" else loaded.decode_program()


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("model", MODELS)
def test_time_and_memory_to_compile(model: str, program: str) -> None:
    result = subprocess.run([sys.executable, "-c", MEASURE, model, program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    measured = json.loads(result.stdout)
    assert measured["own"] < CPU_SECONDS
    assert measured["peak"] < BYTES
    assert measured["kernels"] < 30 < measured["launches"]


@pytest.mark.slow
@pytest.mark.skipif(not nvrtc.is_available(), reason="needs NVRTC")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_100"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("model", MODELS)
def test_every_distinct_kernel_compiles_without_spills(model: str, program: str, arch: str) -> None:
    """Three layers have all kernels that more have: the first and the last differ from those between."""
    imported = program_of(model, program, layers=3).imported()
    for _ in compile_stages(imported, CompileOptions(arch=arch), verify=False):
        pass
    kernels = Program(imported.module, imported.name).kernels
    assert kernels
    resources = {name: kernel.resources for name, kernel in kernels.items()}
    assert not [name for name, each in resources.items() if each.spill_store_bytes or each.spill_load_bytes]


def test_the_time_of_passes_grows_with_the_number_of_layers_and_no_faster(tmp_path: Path) -> None:
    configuration = {
        "model_type": "llama",
        "vocab_size": 99,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 9,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    (tmp_path / "config.json").write_text(json.dumps(configuration))

    def seconds(layers: int) -> float:
        """CPU seconds of all passes, without what they take to be loaded."""
        imported = program_of(f"hf:{tmp_path}", "decode", layers).imported()
        times: list[float] = []
        for _ in range(2):
            clone = replace(imported, module=imported.module.clone())
            start = time.process_time()
            for _ in compile_stages(clone, CompileOptions(), verify=False):
                pass
            times.append(time.process_time() - start)
        return min(times)

    few, more, many = seconds(1), seconds(3), seconds(9)
    assert many - more < 2 * 3 * (more - few) + few, (few, more, many)
