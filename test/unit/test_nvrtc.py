"""Compiling CUDA text with NVRTC."""

import subprocess
import sys
from pathlib import Path

import pytest

from uop.runtime import nvrtc
from uop.runtime.cache import Cache, default_cache
from uop.runtime.cache.entry import decode
from uop.runtime.nvrtc import CompileError, NvrtcNotFoundError, Resources, compile_cuda

ADD = 'extern "C" __global__ void add(float* o, const float* a) { o[threadIdx.x] += a[threadIdx.x]; }\n'


@pytest.mark.parametrize("arch", ["sm_80", "sm_90", "sm_90a", "sm_100"])
def test_cubin(arch: str):
    compiled = compile_cuda(ADD, arch)
    assert compiled.cubin[:4] == b"\x7fELF"
    resources = compiled.resources["add"]
    assert 0 < resources.registers <= 32
    assert resources == Resources(resources.registers, 0, 0, 0, 0)
    assert compiled.image == compiled.cubin
    assert compiled.ptx == compile_cuda(ADD, arch.replace("sm_", "compute_")).ptx


def test_ptx():
    compiled = compile_cuda(ADD, "compute_80")
    assert ".visible .entry add(" in compiled.ptx
    assert ".target sm_80" in compiled.ptx
    assert ".loc" in compiled.ptx
    assert compiled.image == compiled.ptx.encode() + b"\0"
    assert ".loc" not in compile_cuda(ADD, "compute_80", line_info=False).ptx
    with pytest.raises(ValueError, match="compile for sm_XX"):
        _ = compiled.cubin


def test_resources_of_every_kernel():
    source = r"""
extern "C" __global__ void shared(float* o) {
  __shared__ float s[300];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[299 - threadIdx.x];
}
extern "C" __global__ void stack(float* o, int n) {
  float x[64];
  for (int i = 0; i < 64; ++i) x[i * n % 64] = o[i];
  o[0] = x[n] + x[n + 1];
}
extern "C" __global__ void __launch_bounds__(1024, 2) spill(float* o) {
  float x[64];
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i] = o[i * 1024 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 64; ++i) o[(63 - i) * 1024 + threadIdx.x] = x[i] * x[(i * 7 + 3) % 64];
}
"""
    resources = compile_cuda(source, "sm_80").resources
    assert set(resources) == {"shared", "stack", "spill"}
    assert resources["shared"].shared_bytes == 1200
    assert resources["stack"].stack_bytes >= 256
    assert resources["spill"].registers <= 32
    assert resources["spill"].spill_store_bytes > 0
    assert resources["spill"].spill_load_bytes > 0


def test_sixteen_bit_headers():
    source = r"""
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void k(__half* o, const __nv_bfloat16* a) { o[0] = __float2half(__bfloat162float(a[0])); }
"""
    assert compile_cuda(source, "compute_90").ptx


def test_errors_name_the_line():
    with pytest.raises(CompileError, match=r'kernel.cu\(2\): error: identifier "y" is undefined') as caught:
        compile_cuda('extern "C" __global__ void k(float* x) {\n  x[0] = y;  // model.py:7\n}\n')
    assert "x[0] = y;  // model.py:7" in str(caught.value)
    assert "error" in caught.value.log
    with pytest.raises(CompileError, match=r"softmax.cu\(1\)"):
        compile_cuda("float;;}", name="softmax.cu")


def test_wrong_architectures():
    with pytest.raises(ValueError, match="sm_90 or compute_90"):
        compile_cuda(ADD, "h100")
    with pytest.raises(CompileError, match="invalid value for --gpu-architecture"):
        compile_cuda(ADD, "sm_33")


def test_results_are_cached():
    assert compile_cuda(ADD, "sm_90") is compile_cuda(ADD, "sm_90")
    assert compile_cuda(ADD, "sm_90") is not compile_cuda(ADD + " ", "sm_90")


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["whole", "never compiled"], "whole"),
        (["cut", "whole", "never compiled"], "whole"),
        (["cut twice", "cut", "cut thrice", "never compiled"], "cut"),
    ],
)
def test_vectors_read_in_pieces(monkeypatch: pytest.MonkeyPatch, texts: list[str], kept: str):
    """NVRTC cuts reads at random: what it has cut is compiled again, three times in all."""
    outputs = [{"PTX": text.encode()} for text in texts]

    def next_output(*_: object) -> dict[str, bytes]:
        return outputs.pop(0)

    monkeypatch.setattr(nvrtc, "_PARTIAL_READ", b"cut")
    monkeypatch.setattr(nvrtc, "_run", next_output)
    files = nvrtc._run_evenly("", "k.cu", [], ["PTX"])  # pyright: ignore[reportPrivateUsage]  # chance is not called
    assert files["PTX"].decode() == kept
    assert outputs[0]["PTX"] == b"never compiled"


def test_import_loads_nothing():
    code = "import sys, uop.runtime.nvrtc; print([m for m in ('numpy', 'torch', 'xdsl') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_missing_wheel(monkeypatch: pytest.MonkeyPatch):
    def no_folders() -> list[Path]:
        return []

    monkeypatch.setattr(nvrtc, "_wheel_folders", no_folders)
    load = nvrtc._library  # pyright: ignore[reportPrivateUsage] # its cache is in the way here
    load.cache_clear()
    try:
        assert not nvrtc.is_available()
        with pytest.raises(NvrtcNotFoundError, match=r"pip install 'uop\[cuda\]'"):
            compile_cuda(ADD + "// not cached\n")
    finally:
        load.cache_clear()


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cache:
    monkeypatch.setenv("UOP_CACHE_DIR", str(tmp_path))
    nvrtc._compile.cache_clear()  # pyright: ignore[reportPrivateUsage] # as in a new process
    cache = default_cache()
    assert cache is not None
    return cache


def forbid_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    nvrtc._compile.cache_clear()  # pyright: ignore[reportPrivateUsage]

    def run(*_: object) -> None:
        raise AssertionError("it is compiled")

    monkeypatch.setattr(nvrtc, "_run", run)


@pytest.mark.parametrize("arch", ["sm_90", "compute_90"])
def test_another_process_finds_what_is_compiled(own_cache: Cache, monkeypatch: pytest.MonkeyPatch, arch: str):
    first = compile_cuda(ADD, arch)
    forbid_compiling(monkeypatch)
    assert compile_cuda(ADD, arch) == first
    others = [(ADD + " ", arch, "kernel.cu", True), (ADD, "sm_80", "kernel.cu", True)]
    for text, other, name, line_info in [*others, (ADD, arch, "other.cu", True), (ADD, arch, "kernel.cu", False)]:
        with pytest.raises(AssertionError, match="it is compiled"):
            compile_cuda(text, other, name=name, line_info=line_info)
    monkeypatch.setenv("UOP_CACHE", "0")
    nvrtc._compile.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(AssertionError, match="it is compiled"):
        compile_cuda(ADD, arch)


def test_another_nvrtc_finds_nothing(own_cache: Cache, monkeypatch: pytest.MonkeyPatch):
    compile_cuda(ADD)
    (stored,) = own_cache.entries()
    assert "libnvrtc" in stored.key().parts["NVRTC"]
    assert "cuda_fp16.h" in stored.key().parts["NVRTC"]
    forbid_compiling(monkeypatch)
    monkeypatch.setattr(nvrtc, "identity", lambda: "another")
    with pytest.raises(AssertionError, match="it is compiled"):
        compile_cuda(ADD)


def test_a_damaged_entry_is_compiled_again(own_cache: Cache):
    first = compile_cuda(ADD)
    (stored,) = own_cache.entries()
    data = bytearray(stored.path.read_bytes())
    data[-1] ^= 1
    stored.path.write_bytes(data)
    nvrtc._compile.cache_clear()  # pyright: ignore[reportPrivateUsage]
    assert compile_cuda(ADD).cubin == first.cubin  # the log tells how long it took
    (stored,) = own_cache.entries()
    assert decode(stored.path.read_bytes()).files["CUBIN"] == first.cubin


def test_what_is_refused_is_not_stored(own_cache: Cache):
    with pytest.raises(CompileError):
        compile_cuda("float;;}")
    assert own_cache.entries() == []
