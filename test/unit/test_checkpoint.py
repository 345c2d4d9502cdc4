"""Weights from folders: by memory map, from one file or several, and refused by name where they are not the model's."""

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from small_models import SMALL_MODEL

from uop.frontends.errors import CaptureError
from uop.frontends.language_models.language_model import LanguageModel, load_language_model
from uop.frontends.torch_internals import random_state
from uop.runtime.artifact.checkpoint import CheckpointError, Wanted, fit_checkpoint, read_checkpoint
from uop.runtime.artifact.safetensors import Tensor, read_tensors, write_tensors
from uop.tools.model_weights import load_weights

TENSORS: Mapping[str, Tensor] = {
    "a": Tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3)),
    "b": Tensor("f16", np.arange(4, dtype=np.float16)),
    "c": Tensor("bf16", np.arange(3, dtype=np.uint16)),
}


def write_header(path: Path, header: object, data: bytes = b"") -> None:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def entry(dtype: str, shape: list[Any], begin: Any, end: Any) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


# -- one file --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "size", "message"),
    [
        (b"{", 0, "is no safetensors file"),
        (b"\xff{}", 0, "is no safetensors file"),
        ([], 0, "no JSON object"),
        (b'{"a": 1, "a": 2}', 0, "a is there 2 times"),
        ({"a": 7}, 0, "a has no dtype, shape and data_offsets"),
        ({"a": {"dtype": "F32", "shape": [1]}}, 4, "a has no dtype, shape and data_offsets"),
        ({"a": entry("F32", [-1], 0, -4)}, 0, "of whole numbers"),
        ({"a": entry("F32", [1.0], 0, 4)}, 4, "of whole numbers"),
        ({"a": entry("F32", [True], 0, 4)}, 4, "of whole numbers"),
        ({"a": entry("F8_E4M3", [4], 0, 4)}, 4, "a is of dtype F8_E4M3"),
        ({"a": entry("F32", [2], 0, 4)}, 4, r"a, F32\[2\], takes 8 bytes, and has bytes 0 to 4"),
        ({"a": entry("F32", [2], 0, 8)}, 4, "a ends at byte 8 of 4: the file is cut off"),
        ({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 2, 6)}, 6, "b begins at byte 2, and .* ends at 4"),
        ({"a": entry("F32", [1], 0, 4), "b": entry("F32", [1], 8, 12)}, 12, "b begins at byte 8, and .* ends at 4"),
        ({"a": entry("F32", [1], 0, 4)}, 9, "5 bytes at its end"),
    ],
)
def test_malformed_files_say_which_tensor_is_wrong(header: object, size: int, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_header(path, header, bytes(size))
    with pytest.raises(ValueError, match=message):
        read_tensors(path)


def test_headers_longer_than_the_file_or_than_allowed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", 1 << 62))
    with pytest.raises(ValueError, match="its header is longer than it"):
        read_tensors(path)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", 100_000_001))
        file.truncate(200_000_000)  # a hole, which takes no space
    with pytest.raises(ValueError, match="its header is 100,000,001 bytes long"):
        read_tensors(path)


def test_tensors_are_maps_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    write_tensors(path, TENSORS)
    found = read_tensors(path)
    assert all(isinstance(tensor.array, np.memmap) for tensor in found.values())
    assert not any(tensor.array.flags.writeable for tensor in found.values())


def test_files_of_the_safetensors_package_are_read(tmp_path: Path) -> None:
    save = pytest.importorskip("safetensors.torch").save_file
    tensors = {"x": torch.randn(3, 5).bfloat16(), "y": torch.arange(7), "z": torch.tensor([True, False])}
    save(tensors, tmp_path / "a.safetensors", metadata={"format": "pt"})
    found = read_tensors(tmp_path / "a.safetensors")
    assert [tensor.dtype for _, tensor in sorted(found.items())] == ["bf16", "i64", "i1"]
    np.testing.assert_array_equal(found["x"].array, tensors["x"].view(torch.uint16).numpy())


# -- folders ---------------------------------------------------------------------------------------------------------


def write_shards(folder: Path) -> None:
    write_tensors(folder / "model-1.safetensors", {"a": TENSORS["a"]})
    write_tensors(folder / "model-2.safetensors", {"b": TENSORS["b"], "c": TENSORS["c"]})
    write_index(folder, {"a": "model-1.safetensors", "b": "model-2.safetensors", "c": "model-2.safetensors"})


def write_index(folder: Path, places: object) -> None:
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": places}))


def test_shards_are_read_by_their_index(tmp_path: Path) -> None:
    write_shards(tmp_path)
    found = read_checkpoint(tmp_path)
    assert sorted(found) == ["a", "b", "c"]
    np.testing.assert_array_equal(found["c"].array, TENSORS["c"].array)


def test_shards_that_are_missing_are_named(tmp_path: Path) -> None:
    write_shards(tmp_path)
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(CheckpointError, match=r"1 of the 2 files .* are missing: model-2\.safetensors"):
        read_checkpoint(tmp_path)


def test_an_index_that_names_other_tensors_is_refused(tmp_path: Path) -> None:
    write_shards(tmp_path)
    write_index(tmp_path, {"a": "model-1.safetensors", "d": "model-1.safetensors"})
    with pytest.raises(CheckpointError, match=r"do not have what .* says: d \(model-1\.safetensors\)"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("places", [7, None, {"a": "../a.safetensors"}, {"a": "/etc/passwd"}])
def test_an_index_that_is_none_is_refused(places: object, tmp_path: Path) -> None:
    write_index(tmp_path, places)
    with pytest.raises(CheckpointError, match=r"is no index of tensors|is no file of its folder"):
        read_checkpoint(tmp_path)


@pytest.mark.parametrize("name", ["pytorch_model.bin", "consolidated.00.pth"])
def test_pickled_weights_are_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(3)}, tmp_path / name)
    with pytest.raises(
        CheckpointError, match=rf"pickled weights \({name}\), which are never read: unpickling runs code"
    ):
        read_checkpoint(tmp_path)


def test_folders_without_weights_and_with_several_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="has no weights"):
        read_checkpoint(tmp_path)
    for name in ("a", "b"):
        write_tensors(tmp_path / f"{name}.safetensors", {name: TENSORS[name]})
    with pytest.raises(CheckpointError, match="2 safetensors files and no model"):
        read_checkpoint(tmp_path)


def test_all_that_does_not_fit_is_listed_at_once() -> None:
    wanted = [Wanted(("a",), (3, 2)), Wanted(("missing", "also"), (1,)), Wanted(("renamed", "b"), (4,))]
    with pytest.raises(CheckpointError) as caught:
        fit_checkpoint(TENSORS, wanted)
    assert str(caught.value) == (
        "the weights are not those of the model: 1 tensors are missing: missing; 1 tensors are not the model's: c; "
        "1 tensors have another shape: a is [2, 3] and should be [3, 2]"
    )


def test_what_is_ignored_may_be_there() -> None:
    fitted = fit_checkpoint(TENSORS, [Wanted(("x", "b"), (4,))], ["^a$", "c"])
    assert list(fitted) == ["x"]


def test_long_lists_are_cut() -> None:
    wanted = [Wanted((f"w{place}",), ()) for place in range(30)]
    with pytest.raises(CheckpointError, match=r"30 tensors are missing: w0, .*, w7 and 22 more"):
        fit_checkpoint({}, wanted)


# -- models ----------------------------------------------------------------------------------------------------------

CONFIGURATION = {**SMALL_MODEL, "model_type": "llama"}


def save_model(folder: Path, tied: bool = False, **saving: Any) -> torch.nn.Module:
    """A small model with random weights, saved by `transformers`."""
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig.from_dict(CONFIGURATION | {"tie_word_embeddings": tied})
    with random_state(0):
        model = transformers.LlamaForCausalLM(config)
    model.save_pretrained(folder, **saving)
    return model


def loaded_model(folder: Path, **options: Any) -> LanguageModel:
    return load_language_model(f"hf:{folder}", max_length=16, **options)


@pytest.mark.parametrize(
    ("tied", "saving"), [(False, {}), (True, {}), (False, {"max_shard_size": "20KB"})], ids=["file", "tied", "shards"]
)
def test_a_model_computes_with_the_weights_of_its_folder(tied: bool, saving: Any, tmp_path: Path) -> None:
    theirs = save_model(tmp_path, tied, **saving)
    assert (tmp_path / "model.safetensors.index.json").exists() == bool(saving)
    model = loaded_model(tmp_path)
    loaded = load_weights(model)
    assert loaded.note == ""
    module = model.make_module(loaded.tensors)
    ids = torch.randint(0, 99, (1, 5))
    with torch.no_grad():
        torch.testing.assert_close(module(ids, torch.tensor(0)), theirs(ids).logits[:, -1])


def test_conversion_is_told(tmp_path: Path) -> None:
    save_model(tmp_path)
    loaded = load_weights(loaded_model(tmp_path, dtype="bf16"))
    assert loaded.note == "21 of 21 weights are converted from float32 to bfloat16"
    assert {tensor.dtype for tensor in loaded.tensors.values()} == {torch.bfloat16}


def test_the_first_layers_of_a_model_need_no_others(tmp_path: Path) -> None:
    save_model(tmp_path)
    assert len(load_weights(loaded_model(tmp_path, layers=1)).tensors) == 12


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    save_model(tmp_path)
    changed = CONFIGURATION | {"intermediate_size": 64, "attention_bias": True}
    (tmp_path / "config.json").write_text(json.dumps(changed))
    with pytest.raises(CaptureError, match=r"8 tensors are missing: .*q_proj\.bias.*; 6 tensors have another shape"):
        load_weights(loaded_model(tmp_path))


def test_weights_of_a_configuration_alone_are_refused() -> None:
    with pytest.raises(CaptureError, match=r"tinyllama-1\.1b is a configuration without weights"):
        load_weights(load_language_model("tinyllama-1.1b", layers=1))
