"""The C compiler of this machine: found, asked for its version, and run on C text.

`$CC` names it, else it is `cc`, `gcc` or `clang` on the path, else that of the `ziglang` wheel, which needs no other
package. Nothing is looked for before the first compilation.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal

from ..cache import Key, default_cache
from .cpu import Cpu, host

INSTALL_HINT = "pip install ziglang"

TIMEOUT_SECONDS = 600

_GCC_OPTIMIZATIONS = (
    "-O1",
    *("-ftree-vectorize", "-fvect-cost-model=dynamic"),  # of lanes and loops over them
    "-fexpensive-optimizations",  # among them `vzeroupper`, without which code that is not ours slows down
    *("-fpeel-loops", "-ftree-pre", "-fcaller-saves", "-fschedule-insns2"),
    "-fno-inline-functions-called-once",  # inside of others, parameters are not known to be `restrict`
    *("-fno-tree-bit-ccp", "--param=max-combine-insns=2"),  # a seventh of its time, for nothing in our text
)
"""What of GCC's optimizations our text is better for: it has vectors, unrolled loops and common expressions already.
They take two thirds of the time that -O3 does, and the programs of bench/cpu.py run as fast (0.8 to 1.04 of the
time)."""

Family = Literal["gcc", "clang", "zig"]


class CompilerNotFoundError(RuntimeError):
    """There is no C compiler."""


class CCompileError(Exception):
    """The compiler refused the text, which is a defect of uop, or cannot build at all.

    log: its own output. source: the text, which lies at `path`
    """

    def __init__(self, message: str, log: str, source: str, path: Path):
        super().__init__(message)
        self.log = log
        self.source = source
        self.path = path

    @property
    def lines(self) -> list[int]:
        """The lines of the text that the log has errors of, counted from 1."""
        return [int(match[1]) for match in re.finditer(r":(\d+):\d+: (?:fatal )?error:", self.log)]


@dataclass(frozen=True)
class Compiler:
    """A C compiler.

    command: what runs it. version: the line that it tells of itself
    """

    command: tuple[str, ...]
    version: str

    @property
    def family(self) -> Family:
        if self.command[-1] == "cc" and len(self.command) > 1 and Path(self.command[-2]).stem in ("zig", "ziglang"):
            return "zig"
        return "clang" if "clang" in self.version else "gcc"

    @property
    def label(self) -> str:
        """Its family and version, for people: `gcc 12.2.0`."""
        numbers = re.search(r"\d+(?:\.\d+)+(?=[^()]*$)", self.version) or re.search(r"\d+(?:\.\d+)+", self.version)
        name = "ziglang's clang" if self.family == "zig" else self.family
        return f"{name} {numbers[0]}" if numbers else name

    @property
    def openmp(self) -> bool:
        """Whether threads are OpenMP's: GCC has its library with it, which PyTorch uses, too."""
        return self.family == "gcc"

    def flags(self, cpu: Cpu, *, openmp: bool) -> tuple[str, ...]:
        """What a shared library of our text is built with. Never -ffast-math: NaN and infinities count."""
        from ...targets.c_math import COMPILER_FLAGS  # loads the semantics of all operations

        native = "-march=native" if cpu.is_x86 else "-mcpu=native"
        wide = ("-mprefer-vector-width=512",) if cpu.is_x86 and cpu.vector_bytes == 64 else ()
        threads = ("-fopenmp",) if openmp else ()
        optimizations = _GCC_OPTIMIZATIONS if self.family == "gcc" else ("-O3",)
        return (
            *("-std=gnu17", *optimizations, native, *wide, *COMPILER_FLAGS, *threads),
            *("-fno-semantic-interposition", "-Wl,-Bsymbolic", "-fPIC", "-shared", "-pthread", "-g0", "-w"),
        )

    def __str__(self) -> str:
        return f"{shlex.join(self.command)}: {self.version}"


def find_compiler() -> Compiler:
    """The C compiler of this machine. Raises `CompilerNotFoundError`, which says what to do."""
    return _find(os.environ.get("CC", ""), os.environ.get("PATH", ""))


@lru_cache(maxsize=16)
def _find(named: str, path: str) -> Compiler:
    refused: list[str] = []
    for command in _candidates(named, path):
        try:
            return Compiler(command, _version(command))
        except (OSError, subprocess.SubprocessError) as error:
            refused.append(f"{shlex.join(command)} cannot be run: {error}")
            if named:
                raise CompilerNotFoundError(f"{refused[0]}; it is what the environment variable CC names") from None
    reasons = "".join(f"\n  {reason}" for reason in refused)
    raise CompilerNotFoundError(
        "programs on the CPU are built by a C compiler, and there is none: no cc, gcc or clang on the path. "
        f"To do: {INSTALL_HINT}, which brings one, install your system's, or name one in the environment variable CC"
        f"{reasons}"
    )


def _candidates(named: str, path: str) -> Iterator[tuple[str, ...]]:
    if named:
        yield tuple(shlex.split(named))
        return
    for name in ("cc", "gcc", "clang"):
        if found := shutil.which(name, path=path):
            yield (found,)
    if zig := zig_command():
        yield zig


@cache
def zig_command() -> tuple[str, ...] | None:
    """What runs the C compiler of the `ziglang` wheel; None where it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for name in ("zig", "zig.exe"):
            if (file := Path(folder) / name).is_file():
                return str(file), "cc"
    return None


def compiler_at(command: Sequence[str]) -> Compiler:
    """The compiler that a command runs. Raises `CompilerNotFoundError`."""
    try:
        return Compiler(tuple(command), _version(tuple(command)))
    except (OSError, subprocess.SubprocessError) as error:
        raise CompilerNotFoundError(f"{shlex.join(command)} cannot be run: {error}") from error


@cache
def _version(command: tuple[str, ...]) -> str:
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=60, check=True)
    return (done.stdout.splitlines() or [""])[0]


def build(
    text: str,
    *,
    units: Sequence[str] = (),
    name: str = "program",
    compiler: Compiler | None = None,
    openmp: bool | None = None,
) -> bytes:
    """A shared library of C text for this machine's CPU, from the cache where it has been built before.

    units: the same text in parts, which are compiled at the same time. name: of the file in messages
    openmp: whether threads are OpenMP's; by default where the compiler has it
    Raises `CCompileError` and `CompilerNotFoundError`.
    """
    compiler = find_compiler() if compiler is None else compiler
    flags = compiler.flags(host(), openmp=compiler.openmp if openmp is None else openmp)
    cache = default_cache()
    if cache is None:
        return _build(text, units, name, compiler, flags)
    parts = {"kind": "c", "name": name, "target": host().identity, "text": text, "options": " ".join(flags)}
    key = Key({**parts, "C compiler": str(compiler)})
    files = cache.get(key)
    if files is None:
        files = {"library": _build(text, units, name, compiler, flags)}
        cache.put(key, files)
    return files["library"]


def toolchain() -> str:
    """What this machine's programs are built with, and for. Raises `CompilerNotFoundError`."""
    compiler, cpu = find_compiler(), host()
    return f"{compiler} {' '.join(compiler.flags(cpu, openmp=compiler.openmp))} {cpu.identity}"


def _build(text: str, units: Sequence[str], name: str, compiler: Compiler, flags: Sequence[str]) -> bytes:
    folder = Path(tempfile.mkdtemp(prefix="uop-"))
    source = folder / (re.sub(r"\W", "_", name) + ".c")
    keep = False
    try:
        if len(units) > 1 and (library := _compile_units(units, source, compiler, flags)) is not None:
            return library
        library, log = _compile(text, source, compiler, flags)
        if library is not None:
            return library
        usable = _usable_flags(compiler, flags)
        if usable != flags:
            return _build(text, units, name, compiler, usable)
        keep = True
        raise CCompileError(
            f"the C compiler refused the text that uop wrote, which is a defect of uop: please report it with the "
            f"file {source}\n  {shlex.join([*compiler.command, *flags])}\n{log.rstrip()}",
            log,
            text,
            source,
        )
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _compile(text: str, source: Path, compiler: Compiler, flags: Sequence[str]) -> tuple[bytes | None, str]:
    """The library of a text, which is written to `source`, None where the compiler refuses it; what it says."""
    source.write_text(text)
    return _link([source], source, compiler, flags)


def _compile_units(units: Sequence[str], source: Path, compiler: Compiler, flags: Sequence[str]) -> bytes | None:
    """The library of a text in parts, each compiled by a process of its own; None where one of them fails: the whole
    text tells where."""

    def compile(number: int) -> bool:
        part = source.with_name(f"{source.stem}_{number}.c")
        part.write_text(units[number])
        command = [*compiler.command, *(flag for flag in flags if flag != "-shared"), "-c", str(part)]
        return _run([*command, "-o", str(part.with_suffix(".o"))])[0]

    numbers = range(len(units))
    with ThreadPoolExecutor(len(units)) as pool:
        if not all(pool.map(compile, numbers)):
            return None
    objects = [source.with_name(f"{source.stem}_{number}.o") for number in numbers]
    return _link(objects, source, compiler, flags)[0]


def _link(files: Sequence[Path], source: Path, compiler: Compiler, flags: Sequence[str]) -> tuple[bytes | None, str]:
    library = source.with_suffix(".so")
    done, log = _run([*compiler.command, *flags, *map(str, files), "-o", str(library), "-lm"])
    return (library.read_bytes() if done else None), log


def _run(command: Sequence[str]) -> tuple[bool, str]:
    """Whether a command of a compiler succeeds, and what it says."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, errors="replace")
    except subprocess.TimeoutExpired:
        return False, f"it took more than {TIMEOUT_SECONDS} seconds"
    return done.returncode == 0, done.stdout + done.stderr


def _usable_flags(compiler: Compiler, flags: Sequence[str]) -> Sequence[str]:
    """The flags with which a compiler builds a text that is certainly right: without OpenMP or the machine's own
    instructions where it has none. Raises `CompilerNotFoundError` where it builds nothing."""
    without_openmp = tuple(flag for flag in flags if flag != "-fopenmp")
    plain = tuple(flag for flag in without_openmp if not flag.startswith("-m"))
    log = ""
    with tempfile.TemporaryDirectory(prefix="uop-") as folder:
        for usable in dict.fromkeys((tuple(flags), without_openmp, plain)):
            library, log = _compile("int uop;\n", Path(folder) / "trial.c", compiler, usable)
            if library is not None:
                return usable if usable != tuple(flags) else flags
    raise CompilerNotFoundError(
        f"the C compiler {compiler} builds no shared library: install what it lacks, or {INSTALL_HINT} and set CC to "
        f"'{shlex.join([sys.executable, '-m', 'ziglang', 'cc'])}'\n{log.rstrip()}"
    )
