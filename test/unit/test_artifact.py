# Some of torch's functions are typed in part.
# pyright: reportUnknownMemberType=false
"""Artifacts: what `uop compile -o` writes runs without the compiler, and gives what PyTorch gives."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_plan import mutated
from torch import nn

from uop.frontends.capture import capture_function
from uop.runtime import nvrtc
from uop.runtime.artifact import LoadedProgram, load
from uop.runtime.artifact.artifact import Artifact
from uop.runtime.artifact.conversions import InputError
from uop.runtime.artifact.devices import DeviceError
from uop.runtime.artifact.folder import ArtifactError, read_folder, write_folder
from uop.runtime.artifact.safetensors import Tensor, read_tensors, write_tensors
from uop.runtime.artifact.signature import LEAF, fill, leaves_of, structure_of
from uop.runtime.native.compiler import CompilerNotFoundError
from uop.runtime.program import Program
from uop.runtime.simulator import SimulationError
from uop.tools.artifacts import weights_of, write_artifact
from uop.tools.compilation import compile_stages
from uop.tools.pipelines import CompileOptions
from uop.tools.uop import main

MODEL = """\
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 4)
        self.norm = nn.BatchNorm1d(4)

    def forward(self, x, y):
        return {"z": self.norm(self.linear(x)) + y, "both": (x.sum(), None)}


def make():
    return Model().eval(), (torch.randn(3, 8), torch.randn(4))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An artifact with weights; beside it model.py, which it was made of."""
    place = tmp_path_factory.mktemp("artifact")
    (place / "model.py").write_text(MODEL)
    assert main(["compile", f"{place / 'model.py'}:make", "-o", str(place / "out"), "--weights"]) == 0
    return place / "out"


def model() -> nn.Module:
    """The module of `MODEL` as `uop compile` makes it."""
    torch.manual_seed(0)
    names: dict[str, Any] = {}
    exec(MODEL, names)
    return names["make"]()[0]


def inputs(seed: int = 5) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(3, 8, generator=generator), torch.randn(4, generator=generator)


def make(path: Path, function: Callable[..., Any], *given: torch.Tensor, parameters: bool = False) -> LoadedProgram:
    """Compile a function or module for inputs, write it, and load that."""
    captured = capture_function(function, lambda: given, "test")
    for _ in compile_stages(captured.imported(), CompileOptions()):
        pass
    weights = weights_of(captured, parameters=parameters)
    write_artifact(path, captured, Program(captured.imported().module).artifact(), weights)
    return load(path, device="sim")


# -- running ---------------------------------------------------------------------------------------------------------


def test_it_gives_what_the_module_gives(folder: Path) -> None:
    x, y = inputs()
    expected = model()(x, y)
    program = load(folder)
    given = program(x, y)
    torch.testing.assert_close(given, expected)
    torch.testing.assert_close(program(x, y=y), expected)
    arrays = program(x.numpy(), y.numpy())
    assert isinstance(arrays["z"], np.ndarray)
    np.testing.assert_array_equal(arrays["z"], given["z"].numpy())
    assert [str(value) for value in program.given] == ["x: f32[3, 8]", "y: f32[4]"]


RUN = """\
import sys
import numpy as np
from uop.runtime.artifact import load

program = load(sys.argv[1])
with np.load(sys.argv[2]) as file:
    result = program(file["x"], file["y"])
np.save(sys.argv[3], result["z"])
assert not {"xdsl", "torch", "rich", "uop.dialects", "uop.passes", "uop.tools"} & set(sys.modules), sorted(sys.modules)
"""


def test_ten_lines_run_it_without_the_compiler(folder: Path, tmp_path: Path) -> None:
    x, y = inputs()
    np.savez(tmp_path / "in.npz", x=x.numpy(), y=y.numpy())
    command = [sys.executable, "-c", RUN, str(folder), str(tmp_path / "in.npz"), str(tmp_path / "z.npy")]
    subprocess.run(command, check=True)
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "z.npy")), model()(x, y)["z"])


def test_exec_imports_no_compiler(folder: Path) -> None:
    code = (
        f"import sys; from uop.tools.uop import main; assert main(['exec', {str(folder)!r}]) == 0;"
        "print({'xdsl', 'torch', 'rich'} & set(sys.modules))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[0] == "@forward for cuda sm_90, 2 launches, on sim"
    assert out.splitlines()[1].startswith("  output 0: f32[3, 4] from ")
    assert out.splitlines()[3:] == ["  output 2: None", "set()"]


@pytest.mark.parametrize("suffix", ["npz", "safetensors"])
def test_exec_with_inputs_from_files(folder: Path, tmp_path: Path, suffix: str) -> None:
    x, y = inputs()
    given, saved = tmp_path / f"in.{suffix}", tmp_path / f"out.{suffix}"
    if suffix == "npz":
        np.savez(given, x.numpy(), y=y.numpy())  # the first without a name
    else:
        write_tensors(given, {"x": Tensor("f32", x.numpy()), "y": Tensor("f32", y.numpy())})
    assert main(["exec", str(folder), "--inputs", str(given), "--save", str(saved), "--device", "sim"]) == 0
    found = np.load(saved) if suffix == "npz" else {name: each.array for name, each in read_tensors(saved).items()}
    expected = model()(x, y)
    torch.testing.assert_close(torch.from_numpy(np.array(found["output_0"])), expected["z"])
    torch.testing.assert_close(torch.from_numpy(np.array(found["output_1"])), expected["both"][0])


def test_exec_draws_the_same_from_a_seed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(seed: int) -> str:
        assert main(["exec", str(folder), "--seed", str(seed)]) == 0
        return capsys.readouterr().out

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_dtypes(tmp_path: Path) -> None:
    def function(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return a * 2, ~b, c + 1, a.float() > 0

    given = (torch.randn(3, 4).bfloat16(), torch.tensor([True, False]), torch.arange(5))
    program = make(tmp_path, function, *given)
    results = program(*given)
    assert isinstance(results, tuple)
    torch.testing.assert_close(results, function(*given))
    bits, negated, *_ = program(given[0].view(torch.uint16).numpy(), given[1].numpy(), given[2].numpy())
    assert (bits.dtype, negated.dtype) == (np.uint16, np.bool_)
    np.testing.assert_array_equal(bits, given[0].mul(2).view(torch.uint16).numpy())


def inverted(x: torch.Tensor) -> torch.Tensor:
    return ~x


def test_bytes_that_are_no_bools(tmp_path: Path) -> None:
    program = make(tmp_path, inverted, torch.tensor([True, False]))
    np.testing.assert_array_equal(program(np.array([1, 0], np.uint8)), [False, True])
    with pytest.raises(InputError, match="is given bytes up to 2, and a bool is 0 or 1"):
        program(np.array([2, 0], np.uint8))


def test_results_are_the_callers(tmp_path: Path) -> None:
    """One that is an input in another shape, and one that is given twice."""

    def function(x: torch.Tensor) -> list[torch.Tensor]:
        y = x + 1
        return [x.reshape(6), y, y.reshape(6)]

    x = torch.arange(6.0).reshape(2, 3)
    program = make(tmp_path, function, x)
    flat, y, again = program(x)
    for each in (flat, y, again):
        each += 100
    torch.testing.assert_close(x, torch.arange(6.0).reshape(2, 3))
    torch.testing.assert_close(y, x + 101)
    torch.testing.assert_close(again, x.reshape(6) + 101)
    torch.testing.assert_close(program(x), [x.reshape(6), x + 1, x.reshape(6) + 1])


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert isinstance(self.count, torch.Tensor)
        self.count.add_(x)
        x.mul_(2)
        return self.count * torch.tensor([10.0, 100.0])


def test_what_the_program_changes(tmp_path: Path) -> None:
    program = make(tmp_path, Counter(), torch.ones(2), parameters=True)
    x = np.ones(2, np.float32)
    np.testing.assert_array_equal(program(x), [10, 100])
    np.testing.assert_array_equal(x, [2, 2])
    np.testing.assert_array_equal(program(x), [30, 300])
    np.testing.assert_array_equal(load(tmp_path)(x), [40, 400])


# -- programs of C ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def c_folder(folder: Path) -> Path:
    """The same program for the CPU."""
    out = folder.parent / "c"
    assert main(["compile", f"{folder.parent / 'model.py'}:make", "-o", str(out), "--weights", "--target", "c"]) == 0
    return out


def test_c_gives_what_the_module_gives(c_folder: Path) -> None:
    x, y = inputs()
    program = load(c_folder)
    assert program.device.name == "cpu"
    for _ in range(2):
        torch.testing.assert_close(program(x, y), model()(x, y))
    assert {"kernels.c", "program.c", "program.so", "cpu_kernel.mlir"} < {file.name for file in c_folder.iterdir()}


def test_ten_lines_run_c_without_the_compiler(c_folder: Path, tmp_path: Path) -> None:
    x, y = inputs()
    np.savez(tmp_path / "in.npz", x=x.numpy(), y=y.numpy())
    command = [sys.executable, "-c", RUN, str(c_folder), str(tmp_path / "in.npz"), str(tmp_path / "z.npy")]
    subprocess.run(command, check=True)
    torch.testing.assert_close(torch.from_numpy(np.load(tmp_path / "z.npy")), model()(x, y)["z"])


def test_a_library_for_another_cpu_is_built_again(
    c_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = read_folder(c_folder)
    artifact = content.artifact
    files = {**artifact.files, "program.so": b"a library for another CPU"}
    other = Artifact(replace(artifact.plan, arch="riscv64"), files)
    write_folder(tmp_path, replace(content, artifact=other))
    x, y = inputs()
    torch.testing.assert_close(load(tmp_path)(x, y), model()(x, y))

    monkeypatch.setenv("UOP_CACHE", "0")
    monkeypatch.setenv("CC", "/no/such/cc")
    with pytest.raises(CompilerNotFoundError, match="/no/such/cc"):
        load(tmp_path)
    assert main(["exec", str(tmp_path)]) == 1


def test_devices_execute_their_target(folder: Path, c_folder: Path) -> None:
    with pytest.raises(DeviceError, match=r"the artifact is for c, which sim does not execute \(cpu does\)"):
        load(c_folder, device="sim")
    with pytest.raises(DeviceError, match="the artifact is for cuda, which cpu does not execute"):
        load(folder, device="cpu")


# -- parameters ------------------------------------------------------------------------------------------------------


def test_parameters_from_a_file(tmp_path: Path) -> None:
    linear = nn.Linear(8, 4)
    program = make(tmp_path / "out", linear, torch.randn(3, 8))
    x = torch.randn(3, 8)
    assert {source: str(value) for source, value in program.missing.items()} == {
        "weight": "weight: f32[4, 8]",
        "bias": "bias: f32[4]",
    }
    with pytest.raises(
        InputError, match=r"2 parameters have no value, such as weight \(weight: f32\[4, 8\]\): compile"
    ):
        program(x)
    state = {name: Tensor("f32", value.detach().numpy()) for name, value in linear.named_parameters()}
    write_tensors(tmp_path / "weights.safetensors", {**state, "unused": Tensor("i64", np.arange(3))})
    program = load(tmp_path / "out", weights=tmp_path / "weights.safetensors")
    torch.testing.assert_close(program(x), linear(x).detach())
    with pytest.raises(InputError, match=r"input bias is given float32\[5\], not float32\[4\]"):
        program.hold("bias", np.zeros(5, np.float32))
    with pytest.raises(InputError, match=r"the program holds no 'unused' \(it holds weight, bias\)"):
        program.hold("unused", np.zeros(5, np.float32))


def test_tensors_in_files(tmp_path: Path) -> None:
    tensors = {
        "a": Tensor("f32", np.arange(6, dtype=np.float32).reshape(2, 3)),
        "größe": Tensor("bf16", np.arange(3, dtype=np.uint16)),
        "empty": Tensor("i1", np.zeros((0, 4), np.uint8)),
        "scalar": Tensor("f64", np.array(1.5)),
    }
    file = tmp_path / "a.safetensors"
    write_tensors(file, tensors)
    found = read_tensors(file)
    for name, tensor in tensors.items():
        assert found[name].dtype == tensor.dtype
        np.testing.assert_array_equal(found[name].array, tensor.array)
    data = file.read_bytes()
    for cut in (0, 7, 8, 50, len(data) - 1):
        file.write_bytes(data[:cut])
        with pytest.raises(ValueError, match="is no safetensors file"):
            read_tensors(file)


# -- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((torch.zeros(3, 8),), r"1 inputs are given, and the program takes 2: x: f32\[3, 8\], y: f32\[4\]"),
        (
            (torch.zeros(3, 8), torch.zeros(5)),
            r"input y is given float32\[5\], not float32\[4\]: shapes and dtypes are",
        ),
        ((np.zeros((3, 8)), np.zeros(4)), r"input x is given float64\[3, 8\], not float32\[3, 8\]"),
        ((torch.zeros(3, 8), "y"), "input y: f32.* is given str: give it an array"),
    ],
)
def test_inputs_that_do_not_fit(folder: Path, given: tuple[Any, ...], told: str) -> None:
    with pytest.raises(InputError, match=told):
        load(folder)(*given)


def test_devices(folder: Path) -> None:
    with pytest.raises(DeviceError, match="there is no device 'tpu'"):
        load(folder, device="tpu")


@pytest.fixture
def copied(folder: Path, tmp_path: Path) -> Path:
    """A copy, to damage."""
    for file in folder.rglob("*"):
        if file.is_file():
            (tmp_path / file.relative_to(folder)).parent.mkdir(exist_ok=True)
            (tmp_path / file.relative_to(folder)).write_bytes(file.read_bytes())
    return tmp_path


@pytest.mark.parametrize(
    "name", ["plan.json", "kernels/forward_0.ptx", "kernels/forward_1.cubin", "weights.safetensors"]
)
def test_files_that_are_changed_or_gone(copied: Path, name: str) -> None:
    data = bytearray((copied / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copied / name).write_bytes(data)
    with pytest.raises(ArtifactError, match=rf"{name} is not as it was written \(its SHA-256 is another\): compile it"):
        load(copied)
    (copied / name).unlink()
    with pytest.raises(ArtifactError, match=f"is not complete: there is no .*{name}"):
        load(copied)


def test_manifests_that_cannot_be_read(copied: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = json.loads((copied / "manifest.json").read_text())
    assert manifest["made_by"]["torch"] == torch.__version__
    signature = manifest["signature"]
    z = signature["outputs"][0]
    changes: list[tuple[dict[str, Any], str]] = [
        ({"format": 99}, "has format 99, and this version of uop reads 1: compile it anew"),
        ({"signature": {}}, "holds no artifact that can be read: KeyError 'inputs'"),
        ({"signature": {**signature, "inputs": []}}, "ValueError 0 inputs are described, and the plan takes 9"),
        ({"signature": {**signature, "outputs": [{**z, "index": 7}]}}, "ValueError there is no output 7"),
        (
            {"signature": {**signature, "outputs": [z]}},
            "the structure of the outputs has another number of them than 1",
        ),
        (
            {"signature": {**signature, "outputs": [{**z, "target": "w"}]}},
            "ValueError 'w' is no input that can get a new value",
        ),
        ({"files": {}}, "holds no artifact that can be read: PlanError there is no plan.json"),
    ]
    for changed, told in changes:
        (copied / "manifest.json").write_text(json.dumps({**manifest, **changed}))
        assert main(["exec", str(copied)]) == 1
        assert told in capsys.readouterr().err
    (copied / "manifest.json").unlink()
    assert main(["exec", str(copied)]) == 1
    assert "uop: error: " in (told := capsys.readouterr().err)
    assert "holds no artifact: there is no" in told


def test_no_manifest_ends_in_another_error(copied: Path) -> None:
    """One value of it is another; such a folder is refused in words, or what it says is as good."""
    manifest, refused = json.loads((copied / "manifest.json").read_text()), 0
    matters = {name: manifest[name] for name in ("format", "signature", "files")}
    for seed in range(60):
        (copied / "manifest.json").write_text(json.dumps(manifest | mutated(matters, random.Random(seed))))
        try:
            read_folder(copied)
        except ArtifactError:
            refused += 1
    assert refused > 30  # constants may be any


def test_exec_with_unknown_inputs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", z=np.zeros(3))
    assert main(["exec", str(folder), "--inputs", str(tmp_path / "in.npz")]) == 1
    assert "in.npz has z, and the inputs of the program are x, y" in capsys.readouterr().err
    (tmp_path / "in.npz").write_bytes(b"PK nothing")
    assert main(["exec", str(folder), "--inputs", str(tmp_path / "in.npz")]) == 1
    assert "uop: error: " in capsys.readouterr().err


def test_without_nvrtc_there_are_the_stages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> Path:
        raise nvrtc.NvrtcNotFoundError("NVRTC is not installed")

    monkeypatch.setattr(nvrtc, "_library_file", missing)
    nvrtc.identity.cache_clear()  # it knows the file already
    try:
        assert main(["compile", "-c", "torch.randn(3) + 12345", "-o", str(tmp_path)]) == 0
    finally:
        nvrtc.identity.cache_clear()
    output = capsys.readouterr()
    assert output.out.split()[-1] == str(tmp_path / "kernels.cu")
    assert f"note: {tmp_path} has the stages only, which `uop exec` does not run: NVRTC is not" in output.err


def test_weights_need_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["compile", "-c", "torch.randn(3) + 1", "--weights"])
    assert "give -o too" in capsys.readouterr().err


def test_errors_name_the_users_lines(folder: Path) -> None:
    """Of a kernel whose result is given too little memory."""
    program = load(folder)
    execute: Any = program._execute  # pyright: ignore[reportPrivateUsage]
    simulated: Any = execute.__self__
    text = simulated.plan.to_json()
    assert '"shape": [3, 4]' in text
    simulated.plan = simulated.plan.from_json(text.replace('"shape": [3, 4]', '"shape": [3, 3]'))
    with pytest.raises(SimulationError, match=r"(?s)store out of bounds.*from .*model.py:12"):
        program(*inputs())


# -- structures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [1, (1, 2), [1, (2, [3])], {"a": 1, "b": [2, {"c": (3,)}]}, (), {"*": 1}])
def test_structures(value: Any) -> None:
    structure = json.loads(json.dumps(structure_of(value)))
    leaves = leaves_of(structure)
    assert fill(structure, list(range(1, len(leaves) + 1))) == value
    assert leaves == [LEAF] * len(leaves)


@pytest.mark.parametrize("structure", [None, {"set": []}, {"tuple": "*"}, ["*"], {"dict": []}])
def test_what_is_no_structure(structure: Any) -> None:
    with pytest.raises(ValueError, match="is no structure of outputs"):
        leaves_of(structure)
