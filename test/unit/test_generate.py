"""`uop generate`: the tokens of `transformers`' own greedy generation, and what is told where it cannot be done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from stand_in_gpu import StandIn

pytest.importorskip("transformers")
import tokenizers
from safetensors.torch import save_file  # pyright: ignore[reportUnknownVariableType]

from uop.frontends.language_models.language_model import LanguageModel, load_language_model
from uop.frontends.torch_internals import random_state
from uop.runtime.cuda.program import CudaProgram
from uop.runtime.devices import DEVICES, Ahead, Device
from uop.tools import plugins
from uop.tools.generation import Choice, Stream, Times, Tokenizer, generate
from uop.tools.pipelines import CompileOptions
from uop.tools.text_programs import TextProgram, TextState, compile_text
from uop.tools.uop import main

SMALL = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 96,
    "max_position_embeddings": 64,
    "hidden_act": "silu",
    "dtype": "float32",
    "eos_token_id": None,
    "bos_token_id": None,
}
PROMPT = [5, 17, 3, 80, 2]


def make_folder(path: Path, model_type: str, **more: Any) -> Path:
    """A model with random weights, as `transformers` saves them, and a tokenizer of one token for each word."""
    path.mkdir()
    (path / "config.json").write_text(json.dumps({"model_type": model_type, **SMALL, **more}))
    model = load_language_model(str(path))
    with random_state(1):
        module = model.make_module()
    save_file(dict(module.model.named_parameters()), path / "model.safetensors")
    words: Any = tokenizers.models.WordLevel({f"w{number}": number for number in range(96)}, unk_token="w0")
    tokenizer = tokenizers.Tokenizer(words)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()  # pyright: ignore[reportAttributeAccessIssue]
    tokenizer.save(str(path / "tokenizer.json"))
    return path


def expected(model: LanguageModel, module: Any, prompt: list[int], count: int) -> list[int]:
    """What `transformers` generates with its own cache and attention."""
    module.model.set_attn_implementation("sdpa")
    tokens = module.model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=count, eos_token_id=None)
    return tokens[0, len(prompt) :].tolist()


def of_folder(path: Path, prompt: list[int], count: int) -> list[int]:
    model = load_language_model(str(path))
    with random_state(1):
        return expected(model, model.make_module(), prompt, count)


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_folder(tmp_path_factory.mktemp("models") / "llama", "llama")


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UOP_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        patch.setattr(plugins, "_registered", [])  # what other tests have registered: programs of plugins are not kept
        yield


def ids(text: str) -> list[int]:
    return [int(word.removeprefix("w")) for word in text.replace(",", " ").split()]


def test_greedy_tokens_of_llama(llama: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers = ",".join(map(str, PROMPT))
    wanted = of_folder(llama, PROMPT, 32)
    assert main(["generate", str(llama), "--prompt-ids", numbers, "--tokens", "32"]) == 0
    first = capsys.readouterr()
    assert ids(first.out) == wanted
    assert "tokens per second" in first.err.replace("\n", " ")
    assert "export, passes, compiler" in first.err
    assert "decode steps" not in first.err
    # The second time nothing is compiled, and the prompt is a text.
    text = " ".join(f"w{token}" for token in PROMPT)
    assert main(["generate", str(llama), "--prompt", text, "--tokens", "32"]) == 0
    second = capsys.readouterr()
    assert ids(second.out) == wanted
    assert "from the cache" in second.err


def test_greedy_tokens_of_qwen2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "qwen2", "qwen2", tie_word_embeddings=True)
    wanted = of_folder(folder, PROMPT, 32)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [wanted[20], 95]}))
    end = wanted.index(wanted[20])
    arguments = ["generate", str(folder), "--prompt-ids", "5, 17,3,80,2", "--tokens", "32"]
    assert main(arguments) == 0
    assert ids(capsys.readouterr().out) == wanted[: end + 1]
    assert main([*arguments, "--ignore-end"]) == 0
    assert ids(capsys.readouterr().out) == wanted


def test_temperature(llama: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def drawn(*more: str) -> str:
        assert main(["generate", str(llama), "--prompt-ids", "5", "--tokens", "12", *more]) == 0
        return capsys.readouterr().out

    greedy, warm = drawn(), drawn("--temperature", "1.5")
    assert drawn("--temperature", "1.5", "--seed", "0") == warm
    assert drawn("--temperature", "1.5", "--seed", "1") != warm
    assert drawn("--temperature", "1e-9") == greedy != warm


def test_steps_of_one_token_give_what_the_prompt_at_once_gives(llama: Path) -> None:
    model = load_language_model(str(llama), max_length=64)
    device = DEVICES["cpu"]
    options = CompileOptions(vector_bytes=device.vector_bytes())
    with random_state(1):
        weights = dict(model.make_module().named_parameters())
    state = TextState(model, weights, device)
    decode = TextProgram(compile_text(model, "decode", device, options), state, device)
    keys = state.tensors["cache.0.keys"]
    before = keys.data_ptr()
    times = Times()
    tokens = generate(PROMPT, 8, decode=decode, prefill=None, choice=Choice(), ends=frozenset(), times=times)
    assert list(tokens) == of_folder(llama, PROMPT, 8)
    assert (times.prompt, times.steps) == (5, 7)
    # The cache is where it was, and has the rows of all tokens but the last.
    assert state.tensors["cache.0.keys"].data_ptr() == before
    assert keys[0, :, :12].abs().sum(-1).gt(0).all()
    assert not keys[0, :, 12:].any()


def test_on_a_gpu(llama: Path) -> None:
    """On the stand-in, which runs kernels in the simulator: one layer, one step of the prompt and one of decoding."""
    stand_in = StandIn()

    def open_(artifact: Any) -> CudaProgram:
        stand_in.machine.learn(artifact)
        return CudaProgram(artifact, stand_in.gpus)

    cuda = DEVICES["cuda"]
    assert cuda.ahead is not None
    device = Device(
        "cuda", cuda.stage, cuda.summary, cuda.load, ahead=Ahead(cuda.ahead.build, open_, cuda.ahead.toolchain)
    )
    model = load_language_model(str(llama), max_length=16, layers=1)
    with random_state(1):
        module: Any = model.make_module()
    state = TextState(model, dict(module.named_parameters()), device)
    decode = TextProgram(compile_text(model, "decode", device, CompileOptions()), state, device)
    logits = [decode([token], position) for position, token in enumerate(PROMPT[:2])]
    module.model.set_attn_implementation("sdpa")
    with torch.no_grad():
        wanted = module.model(torch.tensor([PROMPT[:2]])).logits[0]
    torch.testing.assert_close(torch.stack(logits), wanted, rtol=1e-4, atol=1e-5)


def test_text_comes_when_its_characters_are_whole(llama: Path) -> None:
    class Bytes(Tokenizer):
        def __init__(self) -> None:
            pass

        def decode(self, tokens: Any) -> str:
            return bytes(tokens).decode(errors="replace")

    stream = Stream(Bytes(), list(b"a"))
    assert [stream.add(byte) for byte in "bé∑c".encode()] == ["b", "", "é", "", "", "∑", "c"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["nowhere", "--prompt", "a"], "there is no model 'nowhere'"),
        (["FOLDER", "--prompt-ids", "1,96"], "the prompt has token 96, and the model has tokens 0 to 95"),
        (["FOLDER", "--prompt", ""], "the prompt has no tokens"),
        (["FOLDER", "--prompt-ids", "1,2,3", "--tokens", "63"], "--max-length 66"),
        (["BARE", "--prompt-ids", "1"], "has no weights: there is no model.safetensors"),
        (["BARE", "--prompt", "a"], "tokenizer.json: give the prompt as numbers"),
        (["BROKEN", "--prompt", "a"], "tokenizer.json is no tokenizer"),
        (["BROKEN", "--prompt-ids", "1"], "generation_config.json cannot be read"),
        (["--config", "tinyllama-1.1b", "--prompt", "a"], "is a configuration without a tokenizer"),
        (["--config", "tinylama", "--prompt-ids", "1"], "is tinyllama-1.1b meant?"),
    ],
)
def test_errors(
    arguments: list[str], told: str, llama: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("BARE", "BROKEN"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_bytes((llama / "config.json").read_bytes())
    (tmp_path / "BROKEN" / "tokenizer.json").write_text("{}")
    (tmp_path / "BROKEN" / "generation_config.json").write_text("[")
    places = {"FOLDER": str(llama), "BARE": str(tmp_path / "BARE"), "BROKEN": str(tmp_path / "BROKEN")}
    assert main(["generate", *(places.get(argument, argument) for argument in arguments)]) == 1
    error = capsys.readouterr().err
    assert error.startswith("uop: error: ")
    assert told in " ".join(error.split())


@pytest.mark.slow
def test_greedy_tokens_of_two_layers_of_tinyllama() -> None:
    model = load_language_model("tinyllama-1.1b", "f32", 256, layers=2)
    with random_state(0):
        module = model.make_module()
    device = DEVICES["cpu"]
    options = CompileOptions(vector_bytes=device.vector_bytes())
    state = TextState(model, dict(module.named_parameters()), device)
    decode, prefill = (
        TextProgram(compile_text(model, name, device, options), state, device) for name in ("decode", "prefill")
    )
    for prompt in ([1], [1, 15043, 3186, 29892, 590, 1024, 338]):
        tokens = generate(prompt, 32, decode=decode, prefill=prefill, choice=Choice(), ends=frozenset(), times=Times())
        assert list(tokens) == expected(model, module, prompt, 32)
