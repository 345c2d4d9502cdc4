# torch.manual_seed and the like have no types.
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Compiled programs on disk: what a key depends on, lines that move, processes, damage, and plugins."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import uop
from uop.frontends.capture import capture_function
from uop.frontends.imported import Imported
from uop.runtime.artifact.artifact import Artifact
from uop.runtime.cache import Cache, Key, default_cache, differing_parts
from uop.runtime.cache.entry import Entry, encode
from uop.runtime.devices import DEVICES
from uop.tools import plugins, program_cache
from uop.tools.compilation import compile_stages, stage_text
from uop.tools.pipelines import CompileOptions
from uop.tools.program_cache import cached_program, program_key
from uop.tools.torch_compile import programs
from uop.tools.torch_compile.programs import forget_programs


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path / "cache"))
    # Files of uop may change while the tests run.
    monkeypatch.setattr(program_cache, "uop_version", lambda: "test")
    monkeypatch.setattr(plugins, "_registered", [])
    forget_programs()
    found = default_cache()
    assert found is not None
    return found


def imported(function: Callable[..., Any]) -> Imported:
    return capture_function(function, lambda: (torch.zeros(4),), "test").imported()


@functools.cache
def usual() -> Imported:
    """The program of tests that do not ask for another."""
    return imported(lambda x: torch.relu(x) + 1)


def compiled(function: Imported) -> Artifact:
    ahead = DEVICES["sim"].ahead
    assert ahead is not None
    function = replace(function, module=function.module.clone())
    for _ in compile_stages(function, CompileOptions(), verify=False):
        pass
    return ahead.build(function)


@functools.cache
def compiled_usual() -> Artifact:
    return compiled(usual())


class Compiler:
    """Compiles for the simulator. builds: how often it had to"""

    def __init__(self) -> None:
        self.builds = 0

    def __call__(self, function: Imported | None = None) -> Artifact:
        def build() -> Artifact:
            self.builds += 1
            return compiled_usual() if function is None else compiled(function)

        program, options = function or usual(), CompileOptions()
        text = stage_text("torch", program.module, locations=False)
        return cached_program(program, text, options, form="gpu-kernel", toolchain="tools", build=build)


def test_a_program_is_compiled_once(cache: Cache) -> None:
    compiler = Compiler()
    first, again = compiler(), compiler()
    assert compiler.builds == 1
    assert again == first
    (stored,) = (each for each in cache.entries() if each.key().parts["kind"] == "program")
    assert stored.key().parts["name"] == "forward"
    assert stored.key().parts["option arch"] == "'sm_90'"


def test_what_a_key_depends_on() -> None:
    def key(function: Imported | None = None, options: CompileOptions | None = None, **changed: Any) -> Key:
        function = function or usual()
        text = stage_text("torch", function.module, locations=False)
        parts: dict[str, Any] = {"form": "gpu-kernel", "toolchain": "tools", **changed}
        return program_key(function, text, options or CompileOptions(), **parts)

    assert differing_parts(key(), key()) == []
    assert differing_parts(key(), key(imported(lambda x: torch.relu(x) + 2))) == ["text"]
    assert differing_parts(key(), key(options=CompileOptions(arch="sm_80"))) == ["option arch"]
    assert differing_parts(key(), key(options=CompileOptions(schedule=("i = 8 block",)))) == ["option schedule"]
    assert differing_parts(key(), key(form="cpu-kernel")) == ["target"]
    assert differing_parts(key(), key(toolchain="others")) == ["toolchain"]
    assert differing_parts(key(), key(more={"mode": "fast"})) == ["mode"]
    assert key().parts["torch"] == torch.__version__


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Versions to pretend, by name."""
    pretended = {"uop": "test"}
    real = program_cache.package_version
    monkeypatch.setattr(program_cache, "package_version", lambda name: pretended.get(name) or real(name))
    monkeypatch.setattr(program_cache, "uop_version", lambda: pretended["uop"])
    return pretended


@pytest.mark.parametrize("package", ["uop", "xdsl", "torch"])
def test_another_version_compiles_anew(versions: dict[str, str], package: str) -> None:
    compiler = Compiler()
    compiler()
    versions[package] = "99.0"
    compiler()
    assert compiler.builds == 2


# -- lines -----------------------------------------------------------------------------------------------------------


def module_of(path: Path, text: str) -> Callable[..., Any]:
    path.write_text(text)
    names: dict[str, Any] = {}
    exec(compile(text, str(path), "exec"), names)
    return names["function"]


ONE_LINE = "import torch\ndef function(x):\n  return torch.relu(x) + 1\n"
TWO_LINES = "import torch\ndef function(x):\n  y = torch.relu(x)\n  return y + 1\n"


def test_a_program_whose_lines_move_is_found_and_names_the_new_ones(tmp_path: Path) -> None:
    compiler, path = Compiler(), tmp_path / "model.py"
    old = compiler(imported(module_of(path, TWO_LINES)))
    new = compiler(imported(module_of(path, "\n\n" + TWO_LINES)))
    assert compiler.builds == 1
    assert old.plan.sources == (f"{path}:3", f"{path}:4")
    assert new.plan.sources == (f"{path}:5", f"{path}:6")
    assert replace(new.plan, sources=()) == replace(old.plan, sources=())


def test_operations_that_shared_a_line_and_do_no_more_are_another_program(tmp_path: Path) -> None:
    compiler, path = Compiler(), tmp_path / "model.py"
    compiler(imported(module_of(path, ONE_LINE)))
    assert compiler(imported(module_of(path, TWO_LINES))).plan.sources == (f"{path}:3", f"{path}:4")
    assert compiler.builds == 2


# -- damage ----------------------------------------------------------------------------------------------------------


def path_of_program(cache: Cache) -> Path:
    (stored,) = (each for each in cache.entries() if each.key().parts["kind"] == "program")
    return stored.path


def test_a_damaged_entry_is_rebuilt(cache: Cache) -> None:
    compiler = Compiler()
    first = compiler()
    path = path_of_program(cache)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    assert compiler() == first
    assert compiler.builds == 2
    assert compiler() == first
    assert compiler.builds == 2


@pytest.mark.parametrize("change", ["no plan", "another plan", "no lines", "more lines"])
def test_a_well_formed_entry_that_is_no_program_is_rebuilt(cache: Cache, change: str) -> None:
    compiler = Compiler()
    first = compiler()
    (stored,) = (each for each in cache.entries() if each.key().parts["kind"] == "program")
    files = dict(cache.get(stored.key()) or {})
    match change:
        case "no plan":
            del files["plan.json"]
        case "another plan":
            files["plan.json"] = b"{}"
        case "no lines":
            del files["sources.json"]
        case _:
            files["sources.json"] = b'["a.py:1", "a.py:2", "a.py:3"]'
    stored.path.write_bytes(encode(Entry(stored.key(), files)))
    assert compiler() == first
    assert compiler.builds == 2


def test_errors_are_not_kept(cache: Cache) -> None:
    def refuse() -> Artifact:
        raise ValueError("refused")

    for _ in range(2):
        with pytest.raises(ValueError, match="refused"):
            cached_program(usual(), "", CompileOptions(), form="", toolchain="", build=refuse)
    assert cache.entries() == []


# -- who uses it -----------------------------------------------------------------------------------------------------


def test_it_can_be_turned_off(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UOP_CACHE", "0")
    compiler = Compiler()
    compiler()
    compiler()
    assert compiler.builds == 2
    assert cache.entries() == []


def test_programs_made_with_rules_of_plugins_are_not_kept(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    from uop.rewriting.rules import Rules

    monkeypatch.setattr(plugins, "_registered", [plugins.Plugin("mine.py", rules=Rules())])
    compiler = Compiler()
    compiler()
    compiler()
    assert compiler.builds == 2
    assert not [each for each in cache.entries() if each.key().parts["kind"] == "program"]


@pytest.mark.parametrize("device", ["sim", "cpu"])
def test_compiled_modules_come_from_the_cache(monkeypatch: pytest.MonkeyPatch, device: str) -> None:
    linear, x = torch.nn.Linear(8, 4), torch.randn(3, 8)
    expected = linear(x).detach()
    torch.testing.assert_close(uop.compile(linear, x, device=device)(x), expected)

    def forbidden(*_: Any, **__: Any) -> Any:
        raise AssertionError("it is compiled")

    monkeypatch.setattr(programs, "compile_stages", forbidden)
    forget_programs()
    torch.testing.assert_close(uop.compile(linear, x, device=device)(x), expected)
    forget_programs()
    with pytest.raises(AssertionError, match="it is compiled"):
        uop.compile(linear, x, device=device, arch="sm_80")
    with pytest.raises(AssertionError, match="it is compiled"):
        uop.compile(linear, x, device=device, check="each")


PROCESS = """
import sys, numpy as np, torch, uop
from uop.tools import program_cache
from uop.tools.torch_compile import programs

def forbidden(*_, **__):
    raise AssertionError("it is compiled")

program_cache.uop_version = lambda: "test"
programs.compile_stages = forbidden
x = torch.linspace(-2, 2, 12).reshape(3, 4)
np.save(sys.argv[1], uop.compile(torch.nn.Softmax(-1), x, device="sim")(x).numpy())
"""


def test_another_process_finds_it(tmp_path: Path) -> None:
    x = torch.linspace(-2, 2, 12).reshape(3, 4)
    ours = uop.compile(torch.nn.Softmax(-1), x, device="sim")(x)
    subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", PROCESS, str(tmp_path / "y.npy")], check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), ours.numpy())
