"""The C compiler: how it is found, what it is told, and what goes wrong with it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from uop.runtime.cache import default_cache
from uop.runtime.native import compilation, compiler, library
from uop.runtime.native.compiler import (
    CCompileError,
    Compiler,
    CompilerNotFoundError,
    build,
    compiler_at,
    find_compiler,
    toolchain,
    zig_command,
)
from uop.runtime.native.cpu import host, parse_cpuinfo
from uop.targets import c
from uop.targets.c import translate
from uop.targets.writer import CodeLine

TEXT = "int answer(void) { return 42; }\n"


@pytest.fixture(autouse=True)
def without_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UOP_CACHE", "0")


def stand_in(folder: Path, name: str, text: str) -> Path:
    """A program that is called like a compiler."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_without_a_compiler_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(compiler, "zig_command", lambda: None)
    with pytest.raises(CompilerNotFoundError, match=r"no cc, gcc or clang on the path\. To do: pip install ziglang"):
        find_compiler()
    # What does not run is passed over, and told.
    stand_in(tmp_path, "gcc", "exit 3")
    compiler._find.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(CompilerNotFoundError, match=r"gcc cannot be run: .*exit status 3"):
        find_compiler()
    stand_in(tmp_path, "clang", "echo some clang version 99")
    compiler._find.cache_clear()  # pyright: ignore[reportPrivateUsage]
    found = find_compiler()
    assert (found.version, found.family, found.openmp) == ("some clang version 99", "clang", False)
    assert "version 99" in toolchain()


def test_the_environment_names_a_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = stand_in(tmp_path, "my-cc", "echo my cc 1.0 $1")
    monkeypatch.setenv("CC", f"{path} --some-option")
    assert find_compiler() == Compiler((str(path), "--some-option"), "my cc 1.0 --some-option")
    monkeypatch.setenv("CC", "/no/such/cc")
    with pytest.raises(CompilerNotFoundError, match=r"/no/such/cc cannot be run: .*; it is what the environment"):
        find_compiler()


def test_ziglang_is_used_where_there_is_nothing_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    command = compiler.zig_command()
    if command is None:
        pytest.skip("the ziglang wheel is not installed")
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_compiler().command == command
    assert find_compiler().family == "zig"


@pytest.mark.parametrize("lacks", ["-fopenmp", "-march=native", "-mcpu=native"])
def test_a_compiler_that_lacks_something_is_used_without_it(tmp_path: Path, lacks: str):
    gcc = find_compiler().command
    path = stand_in(tmp_path, "cc", f'case "$*" in *{lacks}*) exit 1;; esac\nexec {" ".join(gcc)} "$@"')
    found = compiler.compiler_at([str(path)])
    assert library.load_library(build(TEXT, compiler=found, openmp=True)).answer() == 42


def test_a_compiler_that_builds_nothing_is_none(tmp_path: Path):
    path = stand_in(tmp_path, "cc", '[ "$1" = --version ] && echo gcc 12 && exit\necho no linker\nexit 1')
    found = compiler.compiler_at([str(path)])
    with pytest.raises(CompilerNotFoundError, match=r"gcc 12 builds no shared library: install .*\nno linker"):
        build(TEXT, compiler=found)


def test_a_refused_text_is_kept_and_is_a_defect():
    with pytest.raises(CCompileError, match="a defect of uop: please report it with the file") as caught:
        build("int f(void) { return 1; }\nint g(void) { return x; }\n", name="a/b.c")
    error = caught.value
    assert error.lines == [2]
    assert error.path.name == "a_b_c.c"
    assert error.path.read_text() == error.source
    assert str(error.path) in str(error)
    shutil.rmtree(error.path.parent)


def test_a_refused_text_names_the_lines_of_the_user(monkeypatch: pytest.MonkeyPatch):
    from test_cpu_programs import MARK, Kernel, module_of

    module = module_of({}, [Kernel(MARK, "1000xi32", [], tasks=1000)])
    translation = translate(module)
    lines = [*translation.lines[:-1], CodeLine("  undeclared = 1;", ("model.py:7",)), translation.lines[-1]]
    broken = compilation.Translation(lines, translation.kernels, translation.declarations)

    def broken_text(module: ModuleOp) -> compilation.Translation:
        return broken

    monkeypatch.setattr(compilation, "translate", broken_text)
    with pytest.raises(CCompileError, match=r"\n  from model.py:7$") as caught:
        compilation.compile_program(module)
    shutil.rmtree(caught.value.path.parent)


@pytest.mark.parametrize("chosen", ["default", "zig"])
def test_parts_of_a_text_are_built_at_the_same_time(chosen: str, monkeypatch: pytest.MonkeyPatch):
    from test_cpu_programs import MARK, Kernel, module_of

    if chosen == "zig" and zig_command() is None:
        pytest.skip("the ziglang wheel is not installed")
    monkeypatch.setattr(c, "UNIT_LINES", 1)
    monkeypatch.setattr(compilation, "core_count", lambda: 3)
    bodies = [
        MARK.replace("%k = uop.cast %t", f"%k = uop.const {number} : i32\n  %u = uop.cast %t") for number in range(4)
    ]
    module = module_of({}, [Kernel(body, "1000xi32", [], tasks=1000) for body in bodies])
    parts = translate(module).units(3)
    assert sorted(part.count(" tasks, 1 or more a thread") for part in parts) == [1, 1, 2]
    alone = translate(module_of({}, [Kernel(bodies[0], "1000xi32", [], tasks=1000)]))
    assert alone.units(3) == [alone.text]  # one kernel has no parts
    program = compilation.load_program(module, compiler=compiler_at(zig_command() or ()) if chosen == "zig" else None)
    assert [result.tolist() for result in program.run([])] == [[number] * 1000 for number in range(4)]
    # Where one of them fails, the whole text tells where.
    with pytest.raises(CCompileError, match="wrong") as caught:
        build("int right;\nint f(void) { return wrong; }\n", units=["int right;\n", "int f(void) { return wrong; }\n"])
    assert caught.value.lines == [2]
    shutil.rmtree(caught.value.path.parent)


def test_a_library_is_built_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("UOP_CACHE", "1")
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    first = build(TEXT, name="answer")
    monkeypatch.setattr(compiler, "_build", None)
    assert build(TEXT, name="answer") == first
    assert library.load_library(first).answer() == 42
    cache = default_cache()
    assert cache is not None
    (stored,) = cache.entries()
    assert stored.key().parts["C compiler"] == str(find_compiler())


CPUINFO = """\
processor\t: 0
model name\t: Some CPU
flags\t\t: fpu {flags}

processor\t: 1
flags\t\t: fpu
"""


@pytest.mark.parametrize(
    ("machine", "flags", "vector_bytes"),
    [
        ("x86_64", "sse2", 16),
        ("x86_64", "avx2 sse2", 16),
        ("x86_64", "avx2 fma", 32),
        ("x86_64", "avx2 fma avx512f", 32),
        ("x86_64", "avx2 fma avx512f avx512bw avx512dq avx512vl", 64),
        ("aarch64", "asimd", 16),
    ],
)
def test_width_of_vectors(machine: str, flags: str, vector_bytes: int):
    cpu = parse_cpuinfo(machine, CPUINFO.format(flags=flags))
    assert cpu.vector_bytes == vector_bytes
    assert "Some CPU" in cpu.identity
    other = parse_cpuinfo(machine, CPUINFO.format(flags=flags + " more"))
    assert cpu.arch.startswith(machine)
    assert cpu.arch != other.arch


def test_this_machine():
    assert host().machine
    assert parse_cpuinfo("riscv64", "").vector_bytes == 16
    flags = Compiler(("gcc",), "gcc 12").flags(parse_cpuinfo("aarch64", ""), openmp=True)
    assert {"-mcpu=native", "-fopenmp"} <= set(flags)
    assert not any("fast-math" in flag or "512" in flag for flag in flags)
    assert sys.platform != "linux" or host().model
