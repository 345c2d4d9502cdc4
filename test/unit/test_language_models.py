"""Language models from their configurations: the programs compute what `transformers` computes."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from small_models import SMALL_MODEL

from uop.frontends.captured import Call
from uop.frontends.errors import CaptureError, UnsupportedProgramError
from uop.frontends.language_models.configuration import make_configuration
from uop.frontends.language_models.language_model import PREFIX, LanguageModel, TextStep, load_language_model
from uop.frontends.language_models.published import CONFIGURATIONS
from uop.frontends.torch_internals import random_state
from uop.tools.compilation import stage_text

transformers = pytest.importorskip("transformers")

_HEADS = {**SMALL_MODEL, "head_dim": 8}
_SCALING = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
SMALL = {
    "llama": {**SMALL_MODEL, "model_type": "llama"},
    "llama3": {**SMALL_MODEL, "model_type": "llama", "rope_scaling": _SCALING, "tie_word_embeddings": True},
    "qwen2": {**SMALL_MODEL, "model_type": "qwen2"},
    "qwen3": {**_HEADS, "model_type": "qwen3"},
    "mistral": {**_HEADS, "model_type": "mistral", "sliding_window": 4},
    "gemma": {**_HEADS, "model_type": "gemma"},
    "gemma2": {**_HEADS, "model_type": "gemma2", "query_pre_attn_scalar": 8, "sliding_window": 4},
    "phi3": {**SMALL_MODEL, "model_type": "phi3", "pad_token_id": 0},
    "gpt_neox": {**{k: v for k, v in SMALL_MODEL.items() if k != "num_key_value_heads"}, "model_type": "gpt_neox"},
    "gpt2": {"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "vocab_size": 99},
}
PROMPT, DECODED, MAX_LENGTH = 9, 5, 32


def write_configuration(folder: Path, name: str) -> str:
    """A folder with config.json, as a source."""
    (folder / "config.json").write_text(json.dumps(SMALL[name]))
    return f"hf:{folder}"


def make_weights(model: LanguageModel) -> TextStep:
    """The module with weights that are not small, so that what is left out or exchanged shows."""
    with random_state(0):
        module = model.make_module()
        for parameter in module.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    return module


def reference_logits(module: TextStep, ids: torch.Tensor) -> torch.Tensor:
    """Logits at every position by `transformers`' own attention, without a cache."""
    ours: Any = module.model
    config = transformers.CONFIG_MAPPING[ours.config.model_type].from_dict(ours.config.to_dict())
    theirs = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager").eval()
    theirs.load_state_dict(ours.state_dict())
    with torch.no_grad():
        return theirs(ids, use_cache=False).logits[0]


@pytest.mark.parametrize("name", SMALL)
def test_prefill_and_decode_give_the_logits_of_transformers(name: str, tmp_path: Path) -> None:
    model = load_language_model(write_configuration(tmp_path, name), max_length=MAX_LENGTH)
    module = make_weights(model)
    ids = torch.randint(0, 99, (1, PROMPT + DECODED))
    expected = reference_logits(module, ids)
    with torch.no_grad():
        logits = [module(ids[:, :PROMPT], torch.tensor(0))]
        logits += [module(ids[:, place : place + 1], torch.tensor(place)) for place in range(PROMPT, PROMPT + DECODED)]
    torch.testing.assert_close(torch.cat(logits), expected[PROMPT - 1 :], rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["llama3", "gpt2"])
def test_exported_programs_give_the_same(name: str, tmp_path: Path) -> None:
    """Both programs, exported from a module without weights, with weights put in: prefill, then decode on its cache."""
    model = load_language_model(write_configuration(tmp_path, name), max_length=MAX_LENGTH)
    module = make_weights(model)
    ids = torch.randint(0, 99, (1, PROMPT + 1))
    expected = reference_logits(module, ids)
    state: dict[str, torch.Tensor] = {**dict(module.named_parameters()), **dict(module.named_buffers())}
    for program, tokens, position in (
        (model.prefill_program(PROMPT), ids[:, :PROMPT], 0),
        (model.decode_program(), ids[:, PROMPT:], PROMPT),
    ):
        imported = program.imported()
        given = {"input_ids": tokens, "position": torch.tensor(position)}
        inputs = [given[a.source] if a.leaf is not None else state[a.source] for a in imported.arguments]
        results = program.reference(inputs)
        for result, value in zip(imported.results, results, strict=True):
            if result.target is not None:
                state[result.target] = value
        torch.testing.assert_close(results[-1][0], expected[position + tokens.shape[1] - 1], rtol=2e-4, atol=2e-4)


def test_a_prefill_of_any_length_is_one_program(tmp_path: Path) -> None:
    model = load_language_model(write_configuration(tmp_path, "qwen2"), max_length=MAX_LENGTH)
    program = model.prefill_program()
    exported: Any = program.exported()
    (size,) = exported.range_constraints.values()
    assert (size.lower, size.upper) == (1, MAX_LENGTH)
    module = make_weights(model)
    for length in (1, 5, MAX_LENGTH):
        ids = torch.randint(0, 99, (1, length))
        expected = reference_logits(module, ids)[-1]
        state = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        logits = exported_logits(exported, state, ids)
        torch.testing.assert_close(logits[0], expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("name", ["llama3", "gemma2", "phi3", "gpt2"])
def test_decode_is_the_prefill_of_one_token(name: str, tmp_path: Path) -> None:
    """The program that is made of an exported prefill is the one that is exported for one token."""
    model = load_language_model(write_configuration(tmp_path, name), max_length=MAX_LENGTH)
    own = model.decode_program()
    prefill = model.prefill_program()
    prefill.exported()
    made = model.decode_program()
    assert made.exported() is prefill.exported()
    texts = [stage_text("torch", program.imported().module) for program in (own, made)]
    assert texts[0] == texts[1]
    assert [each.source for each in own.imported().arguments] == [each.source for each in made.imported().arguments]
    call = Call(made.module, made.args)
    longer = prefill.at_sizes({"s": MAX_LENGTH + 1}, call, lambda: call)
    with pytest.raises(UnsupportedProgramError, match=f"size s: {MAX_LENGTH + 1} is none of s, 1 to {MAX_LENGTH}"):
        longer.imported()


def exported_logits(exported: Any, state: Any, ids: torch.Tensor) -> torch.Tensor:
    """What the graph of an exported program gives, with other weights than it holds."""
    placed = {spec.arg.name: spec.target for spec in exported.graph_signature.input_specs if spec.target is not None}
    inputs = [state[target].clone() for target in placed.values()]
    return torch.fx.Interpreter(exported.graph_module).run(*inputs, ids, torch.tensor(0))[-1]


def test_programs_take_no_memory_for_weights() -> None:
    model = load_language_model("qwen2.5-7b")
    assert sum(p.numel() for p in model.module.parameters()) == 7_615_616_512
    assert all(type(p.data).__name__ == "FakeTensor" for p in model.module.parameters())
    assert model.dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("tinyllama-1.1b", 1_100_048_384),
        ("smollm2-135m", 134_515_008),
        ("llama3.2-1b", 1_235_814_400),
        ("llama3.2-3b", 3_212_749_824),
        ("llama3.1-8b", 8_030_261_248),
        ("mistral-7b", 7_248_023_552),
        ("qwen2.5-0.5b", 494_032_768),
        ("qwen2.5-1.5b", 1_543_714_304),
        ("qwen2.5-3b", 3_085_938_688),
        ("qwen2.5-7b", 7_615_616_512),
        ("qwen3-0.6b", 596_049_920),
        ("qwen3-8b", 8_190_735_360),
    ],
)
def test_published_models_have_their_published_numbers_of_parameters(name: str, parameters: int) -> None:
    config = make_configuration(name)
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
        model.tie_weights()
    assert sum(parameter.numel() for parameter in model.parameters()) == parameters


def test_every_published_model_is_counted() -> None:
    mark = next(
        mark
        for mark in test_published_models_have_their_published_numbers_of_parameters.pytestmark  # pyright: ignore[reportFunctionMemberAccess]  # pytest adds it
    )
    assert {name for name, _ in mark.args[1]} == set(CONFIGURATIONS)


def test_names_of_weights_are_those_of_checkpoints(tmp_path: Path) -> None:
    model = load_language_model(write_configuration(tmp_path, "llama"))
    names = {name.removeprefix(PREFIX) for name, _ in model.module.named_parameters()}
    assert "model.layers.1.self_attn.q_proj.weight" in names
    assert "lm_head.weight" in names


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("qwen2.5-7", "there is no model 'qwen2.5-7'; is qwen2.5-7b meant?"),
        ("hf:nowhere", "there is no nowhere/config.json"),
    ],
)
def test_sources_that_are_not_there(source: str, message: str) -> None:
    with pytest.raises(CaptureError, match=message.replace("?", r"\?")):
        load_language_model(source)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        ("[]", "holds no JSON object"),
        ("{", "cannot be read"),
        ('{"model_type": "unheard_of"}', "has no model_type 'unheard_of'"),
        ('{"model_type": "t5"}', "is a t5, which is no decoder"),
        ('{"model_type": "llama", "quantization_config": {"bits": 4}}', "is quantized"),
        ('{"model_type": "llama", "auto_map": {"AutoModelForCausalLM": "evil.Model"}, "hidden_size": "x"}', "llama"),
    ],
)
def test_configurations_that_are_refused(configuration: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(configuration)
    with pytest.raises(CaptureError, match=message):
        load_language_model(f"hf:{tmp_path}")


def test_options_that_are_refused(tmp_path: Path) -> None:
    source = write_configuration(tmp_path, "llama")
    with pytest.raises(CaptureError, match="dtype i8"):
        load_language_model(source, "i8")
    with pytest.raises(CaptureError, match="cache of 0 tokens"):
        load_language_model(source, max_length=0)
    with pytest.raises(CaptureError, match="2 layers, not 3"):
        load_language_model(source, layers=3)
    with pytest.raises(CaptureError, match="33 tokens does not fit in a cache of 32"):
        load_language_model(source, max_length=32).prefill_program(33)
