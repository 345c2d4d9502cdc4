"""Compile CUDA text with NVRTC, loaded from NVIDIA's pip wheels: no toolkit, no driver, no GPU.

`compile_cuda(source, "sm_90")` gives a cubin with the resources that ptxas reports for every kernel;
`compile_cuda(source, "compute_90")` gives PTX text, which `uop.runtime.simulator` executes.
Importing this module loads nothing: the library is found at the first compilation.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path

from .cache import Key, default_cache
from .cache.versions import file_identity

INSTALL_HINT = "pip install 'uop[cuda]'"


class NvrtcNotFoundError(ImportError):
    """The NVRTC wheel is not installed."""


class CompileError(Exception):
    """NVRTC refused the text. `log` is its own output, which quotes the lines in question."""

    def __init__(self, message: str, log: str, source: str):
        super().__init__(message)
        self.log = log
        self.source = source

    @property
    def lines(self) -> list[int]:
        """The lines of the text that the log has errors of, counted from 1."""
        numbers = [int(match[1]) for match in re.finditer(r"\((\d+)\): (?:catastrophic )?error", self.log)]
        return [number for number in numbers if number <= self.source.count("\n")]


@dataclass(frozen=True)
class Resources:
    """What one kernel takes from a multiprocessor, as ptxas reports it. Spills and stack are per thread."""

    registers: int
    shared_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int
    stack_bytes: int

    def launched_with(self, dynamic_shared_bytes: int) -> Resources:
        """What it takes where the launch asks for more shared memory."""
        return replace(self, shared_bytes=self.shared_bytes + dynamic_shared_bytes)


@dataclass(frozen=True)
class Compiled:
    """The result of one compilation.

    image: what a driver loads: a cubin for `sm_XX`, PTX for `compute_XX`. ptx: the PTX text, for both
    """

    source: str
    arch: str
    image: bytes = field(repr=False)
    ptx: str = field(repr=False)
    log: str = field(repr=False)
    resources: Mapping[str, Resources]

    @property
    def cubin(self) -> bytes:
        """The cubin, an ELF image that a driver loads."""
        if not self.arch.startswith("sm_"):
            raise ValueError(f"compiled for {self.arch}, which gives PTX; compile for sm_XX to get a cubin")
        return self.image


def compile_cuda(source: str, arch: str = "sm_90", *, name: str = "kernel.cu", line_info: bool = True) -> Compiled:
    """Compile CUDA text for `arch`: `sm_90` (also `sm_90a`, …) gives a cubin and PTX, `compute_90`, in half the time,
    PTX alone.

    `name` is the file name in messages. `line_info` keeps the CUDA line of every instruction. Results are kept in
    memory, and on disk in the `runtime.cache`.
    Raises CompileError with NVRTC's log, and NvrtcNotFoundError when the wheel is missing.
    """
    if not re.fullmatch(r"(sm|compute)_\d+[af]?", arch):
        raise ValueError(f"arch must be like sm_90 or compute_90, not {arch!r}")
    return _compile(source, arch, name, line_info)


def is_available() -> bool:
    """Whether NVRTC can be loaded."""
    try:
        _library()
    except NvrtcNotFoundError:
        return False
    return True


def version() -> tuple[int, int]:
    """NVRTC's version, such as (13, 5)."""
    major, minor = ctypes.c_int(), ctypes.c_int()
    _library().nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    return major.value, minor.value


@cache
def supported_architectures() -> tuple[int, ...]:
    """The architectures that this NVRTC compiles for, oldest first: 80 for sm_80."""
    count = ctypes.c_int()
    _check(_library().nvrtcGetNumSupportedArchs(ctypes.byref(count)))
    numbers = (ctypes.c_int * count.value)()
    _check(_library().nvrtcGetSupportedArchs(numbers))
    return tuple(sorted(numbers))


@lru_cache(maxsize=1024)
def _compile(source: str, arch: str, name: str, line_info: bool) -> Compiled:
    wants_cubin = arch.startswith("sm_")
    options = [f"--gpu-architecture={arch}", *(f"--include-path={path}" for path in _include_paths())]
    if line_info:
        options.append("--generate-line-info")
    if wants_cubin:
        options.append("--ptxas-options=-v")
    kinds = ("CUBIN", "PTX") if wants_cubin else ("PTX",)
    cache = default_cache()
    key = Key(
        {
            "kind": "cuda",
            "name": name,
            "target": arch,
            "text": source,
            "options": " ".join(options),
            "files": " ".join(kinds),
            "NVRTC": identity() if cache is not None else "",
        }
    )
    files = cache.get(key) if cache is not None else None
    if files is None:
        files = _run_evenly(source, name, options, kinds)
        if cache is not None:
            cache.put(key, files)
    log = files[_LOG].decode(errors="replace")
    image = files["CUBIN"] if wants_cubin else files["PTX"] + b"\0"  # a driver reads PTX up to there
    return Compiled(source, arch, image, files["PTX"].decode(), log, _parse_resources(log))


_LOG = "ProgramLog"

_PARTIAL_READ = b"used_bytes_mask"
_ATTEMPTS = 3


def _run_evenly(source: str, name: str, options: list[str], kinds: Sequence[str]) -> dict[str, bytes]:
    """The outputs of the first compilation that reads all vectors whole, or the shortest of three that do not.

    NVRTC 13.5 gives other PTX for the same text one time in 50 or so: it reads a `float4` of shared memory in two
    overlapping pieces, which costs an instruction and bank conflicts. It marks such reads by a pragma, which is rare
    otherwise.
    """
    outputs: list[dict[str, bytes]] = []
    for _ in range(_ATTEMPTS):
        files = _run(source, name, options, kinds)
        if _PARTIAL_READ not in files["PTX"]:
            return files
        outputs.append(files)
    return min(outputs, key=lambda files: len(files["PTX"]))


def _run(source: str, name: str, options: list[str], kinds: Sequence[str]) -> dict[str, bytes]:
    """The outputs `kinds` of a compilation, and its log. Raises `CompileError`."""
    library = _library()
    program = ctypes.c_void_p()
    status = library.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), 0, None, None)
    if status != 0:
        raise CompileError(f"NVRTC cannot take the text: {_status_text(status)}", "", source)
    try:
        arguments = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
        status = library.nvrtcCompileProgram(program, len(options), arguments)
        encoded = _fetch(program, _LOG)
        if status != 0:
            log = encoded.decode(errors="replace")
            arch = options[0].rpartition("=")[2]
            raise CompileError(f"NVRTC refused {name} for {arch}: {_status_text(status)}\n{log}", log, source)
        return {_LOG: encoded, **{kind: _fetch(program, kind) for kind in kinds}}
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _fetch(program: ctypes.c_void_p, what: str) -> bytes:
    """One of the program's outputs (`ProgramLog`, `PTX`, `CUBIN`), by its pair of size and get functions. The zero at
    the end of texts is left out."""
    library = _library()
    size = ctypes.c_size_t()
    _check(getattr(library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    _check(getattr(library, f"nvrtcGet{what}")(program, buffer))
    return buffer.raw if what == "CUBIN" else buffer.raw.rstrip(b"\0")


def _check(status: int) -> None:
    if status != 0:
        raise RuntimeError(f"NVRTC: {_status_text(status)}")


def _status_text(status: int) -> str:
    return _library().nvrtcGetErrorString(status).decode()


def _parse_resources(log: str) -> dict[str, Resources]:
    """The `ptxas -v` lines of the log, by kernel. Device functions that are not inlined are left out."""
    resources: dict[str, Resources] = {}
    spills: dict[str, tuple[int, int, int]] = {}
    kernel = function = None
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\S+)'", line):
            kernel = match[1]
        elif match := re.search(r"Function properties for '?([^\s']+)", line):
            function = match[1]
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            if function is not None:
                spills[function] = (int(match[1]), int(match[2]), int(match[3]))
        elif (match := re.search(r"Used (\d+) registers", line)) and kernel is not None:
            shared = re.search(r"(\d+) bytes smem", line)
            cumulative = re.search(r"(\d+) bytes cumulative stack", line)
            stack, stores, loads = spills.get(kernel, (0, 0, 0))
            stack = int(cumulative[1]) if cumulative else stack
            resources[kernel] = Resources(int(match[1]), int(shared[1]) if shared else 0, stores, loads, stack)
    return resources


def _wheel_folders() -> list[Path]:
    """Where the wheels unpack: nvidia/cu13 from CUDA 13 on, nvidia/cuda_nvrtc and its siblings before."""
    spec = importlib.util.find_spec("nvidia")
    roots = [Path(root) for root in spec.submodule_search_locations or ()] if spec else []
    names = ("cu13", "cuda_nvrtc", "cuda_runtime", "cuda_cccl")
    return [root / name for root in roots for name in names if (root / name).is_dir()]


def _library_file() -> Path:
    """Raises `NvrtcNotFoundError`."""
    for folder in _wheel_folders():
        for file in sorted([*folder.glob("lib/libnvrtc.so*"), *folder.glob("bin/**/nvrtc64*.dll")]):
            if "builtins" not in file.name and ".alt." not in file.name:
                return file
    raise NvrtcNotFoundError(f"NVRTC, which compiles CUDA text, is not installed: {INSTALL_HINT}")


@cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(str(_library_file()))
    library.nvrtcGetErrorString.restype = ctypes.c_char_p
    return library


@cache
def identity() -> str:
    """What NVRTC is, and the headers that texts include, for keys; it is not loaded for that.

    Raises `NvrtcNotFoundError`.
    """
    headers = [path for folder in _include_paths() if (path := f"{folder}/cuda_fp16.h") and os.path.exists(path)]
    return "\n".join(file_identity(path) for path in (str(_library_file()), *headers))


@cache
def _include_paths() -> tuple[str, ...]:
    """Folders that hold cuda_fp16.h and cuda_bf16.h, and nv/target, which these include."""
    paths = [folder / sub for folder in _wheel_folders() for sub in ("include", "include/cccl")]
    return tuple(str(path) for path in paths if path.is_dir())
