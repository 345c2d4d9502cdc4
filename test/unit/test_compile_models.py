"""`uop compile` of language models: what is told, what is written, and that equal layers cost one."""

import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from small_models import SMALL_MODEL

from uop.frontends.language_models.language_model import PREFIX, load_language_model
from uop.runtime.artifact.folder import read_folder
from uop.runtime.artifact.safetensors import read_tensors
from uop.tools.model_compilation import CompiledStep, compile_step
from uop.tools.pipelines import CompileOptions
from uop.tools.uop import main

pytest.importorskip("transformers")

CONFIGURATION = {**SMALL_MODEL, "model_type": "qwen2", "num_hidden_layers": 4, "tie_word_embeddings": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model")
    (path / "config.json").write_text(json.dumps(CONFIGURATION))
    return path


@dataclass
class Told:
    status: int
    out: str
    err: str


@pytest.fixture
def uop(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: str) -> Told:
        try:
            status = main(arguments)
        except SystemExit as error:
            status = int(error.code or 0)
        out, err = capsys.readouterr()
        return Told(status, out, err)

    return run


def rows(text: str) -> dict[str, Sequence[str]]:
    """The cells of a table by the first of each row."""
    lines = [line.strip("│┃ ") for line in text.splitlines() if line.startswith(("│", "┃"))]
    cells = [[cell.strip() for cell in line.replace("┃", "│").split("│")] for line in lines]
    return {cell[0]: cell[1:] for cell in cells}


def step_of(folder: Path, layers: int) -> CompiledStep:
    model = load_language_model(f"hf:{folder}", max_length=32, layers=layers)
    return compile_step("decode", model.decode_program(), CompileOptions(), "cuda")


def test_a_folder_with_a_configuration(folder: Path, uop: Any) -> None:
    told = uop("compile", str(folder), "--max-length", "32", "--prefill", "8")
    assert told.status == 0, told.err
    assert "4 layers in float32" in told.out
    table = rows(told.out)
    assert int(table["launches"][0]) > 4 * int(table["kernels a layer"][0]) > 0
    assert int(table["distinct kernels"][1]) < int(table["launches"][1])
    for name in ("operations on floats", "bytes moved", "peak memory", "CPU seconds", "partition"):
        assert all(table[name]), name
    assert float(table["against the least"][1].removesuffix("x")) >= 1


def test_a_stage_of_one_program_for_a_cpu(folder: Path, uop: Any) -> None:
    given = ("compile", f"hf:{folder}", "--layers", "1", "--ir", "partition", "--target", "c", "--no-locations")
    told = uop(*given, "--program", "decode")
    assert told.status == 0, told.err
    assert told.out.startswith("builtin.module")
    assert "uop.launch" in told.out
    assert "loc(" not in told.out
    assert uop(*given).err.endswith("--ir prints one program: give --program prefill or --program decode\n")


def test_stages_and_artifacts_are_written(folder: Path, uop: Any, tmp_path: Path) -> None:
    given = ("compile", f"hf:{folder}", "--max-length", "16", "--layers", "1", "--program", "decode", "--target", "c")
    told = uop(*given, "-o", str(tmp_path))
    assert told.status == 0, told.err
    assert {path.name for path in (tmp_path / "decode").iterdir()} >= {"torch.mlir", "loop.mlir", "kernels.c"}
    written = read_folder(tmp_path / "decode")
    assert {name.split(".")[-2] for name in written.weights} == {"rotary_emb"}
    assert {each.source for each in written.signature.inputs} >= {"input_ids", "position", "cache.0.keys"}
    assert uop("exec", str(tmp_path / "decode")).status == 0


def test_weights_of_the_folder_are_written(uop: Any, tmp_path: Path) -> None:
    transformers: Any = pytest.importorskip("transformers")
    configuration = {key: value for key, value in CONFIGURATION.items() if key != "model_type"}
    transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**configuration)).save_pretrained(tmp_path / "model")
    given = ("compile", str(tmp_path / "model"), "--max-length", "16", "--layers", "1", "--target", "c", "--weights")
    told = uop(*given, "--program", "decode", "--dtype", "bf16", "-o", str(tmp_path / "out"))
    assert told.status == 0, told.err
    assert "weights are converted from float32 to bfloat16" in told.err
    saved = read_tensors(tmp_path / "model" / "model.safetensors")
    written = {
        name.removeprefix(PREFIX): tensor for name, tensor in read_folder(tmp_path / "out/decode").weights.items()
    }
    parameters = {name for name in written if "rotary_emb" not in name}
    assert parameters == {name for name in saved if not re.search(r"layers\.[1-3]\.", name)}
    assert all(written[name].array.shape == saved[name].array.shape for name in parameters)
    assert written["model.norm.weight"].dtype == "bf16"


def test_equal_layers_cost_one(folder: Path) -> None:
    few, many = step_of(folder, 2), step_of(folder, 4)
    assert many.kernels == few.kernels
    assert many.kernels_per_layer == few.kernels_per_layer
    assert many.launches - few.launches == 2 * few.kernels_per_layer
    assert [*many.layer_launches] == [0, 1, 2, 3]


def test_work_and_memory_are_counted(folder: Path) -> None:
    step = step_of(folder, 2)
    heads, head_dim, hidden, inner, vocabulary = 4, 8, 32, 48, 99
    products = hidden * (2 * heads * head_dim + 2 * 2 * head_dim) + 3 * hidden * inner
    parameters = 2 * (products + heads * head_dim + 2 * 2 * head_dim + 2 * hidden) + hidden + vocabulary * hidden
    assert step.memory.weights == 4 * parameters
    assert step.memory.cache >= 4 * 2 * 2 * 2 * 32 * head_dim
    assert step.work.flops >= 2 * (2 * products + vocabulary * hidden)
    assert step.work.flops >= step.least_flops > 2 * 2 * products
    assert step.work.moved >= step.work.bytes > 4 * 2 * products


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--config", "tinyllama"), "there is no model 'tinyllama'; is tinyllama-1.1b meant?"),
        (("hf:nowhere",), "there is no nowhere/config.json"),
        (("--config", "tinyllama-1.1b", "-c", "torch.ones(1)"), "give one program"),
        (("-c", "torch.ones(1)", "--layers", "2"), "--layers is of language models"),
        (
            ("--config", "tinyllama-1.1b", "--weights", "-o", "out", "--layers", "1"),
            "is a configuration without weights",
        ),
    ],
)
def test_what_does_not_go_together(arguments: Sequence[str], message: str, uop: Any) -> None:
    told = uop("compile", *arguments)
    assert told.status != 0
    assert message in told.err


PAGE = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_commands_of_the_page(uop: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = PAGE.read_text()
    ((name, text),) = re.findall(r"```json (\S+)\n(.*?)```", page, re.DOTALL)
    (tmp_path / name).parent.mkdir()
    (tmp_path / name).write_text(text)
    commands = [
        shlex.split(line, comments=True) for line in page.splitlines() if line.startswith("uop compile hf:tiny")
    ]
    assert len(commands) == 4
    for command in commands[1:]:
        assert uop(*command[1:]).status == 0, command
    assert (tmp_path / "out" / "decode" / "manifest.json").exists()
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    exec(code, {})
