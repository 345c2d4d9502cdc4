"""CUDA kernels, compiled by NVRTC and simulated, against numpy."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from uop.runtime.nvrtc import compile_cuda
from uop.runtime.simulator import Counters, simulate

HEADERS = "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n"


def run(source: str, grid: Any, block: Any, *arguments: Any, arch: str = "compute_80", **options: Any) -> Counters:
    """Compile a CUDA kernel and simulate it."""
    return simulate(compile_cuda(source, arch).ptx, grid, block, arguments, source=source, **options)


def elementwise(
    expression: str, *inputs: Any, c_type: str, out: str | None = None, out_dtype: Any = None, arch: str = "compute_80"
) -> Any:
    """out[i] = expression of a, b, c at i."""
    names = "abc"[: len(inputs)]
    parameters = "".join(f", const {c_type}* {name}_" for name in names)
    loads = " ".join(f"{c_type} {name} = {name}_[i];" for name in names)
    source = HEADERS + (
        f'extern "C" __global__ void k({out or c_type}* out, int n{parameters}) {{\n'
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
        f"  {loads}\n  out[i] = {expression};\n}}\n"
    )
    n = len(inputs[0])
    result = np.zeros(n, out_dtype or inputs[0].dtype)
    run(source, -(-n // 128), 128, result, n, *inputs, arch=arch)
    return result


C_INTEGERS = {
    "signed char": "i1",
    "unsigned char": "u1",
    "short": "i2",
    "unsigned short": "u2",
    "int": "i4",
    "unsigned": "u4",
    "long long": "i8",
    "unsigned long long": "u8",
}


@pytest.mark.parametrize("c_type", C_INTEGERS)
def test_integers(c_type: str):
    dtype = np.dtype(C_INTEGERS[c_type])
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(1)
    a = rng.integers(limits.min, limits.max, 1000, dtype, endpoint=True)
    b = rng.integers(limits.min, limits.max, 1000, dtype, endpoint=True)
    a[:100] = rng.integers(0, 100, 100)
    b[:500] = rng.integers(1, 100, 500)
    b[b == 0] = 1
    wide_a, wide_b = a.astype(object), b.astype(object)

    def expect(values: list[int]) -> Any:
        return np.array([int(v) & ((1 << 64) - 1) for v in values], np.uint64).astype(dtype)

    def divide(x: int, y: int) -> int:
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)

    def both(function: Callable[[int, int], int]) -> Any:
        return expect([function(x, y) for x, y in zip(wide_a, wide_b, strict=True)])

    assert (elementwise("a + b", a, b, c_type=c_type) == both(lambda x, y: x + y)).all()
    assert (elementwise("a * b - a", a, b, c_type=c_type) == both(lambda x, y: x * y - x)).all()
    assert (elementwise("a / b", a, b, c_type=c_type) == both(divide)).all()
    assert (elementwise("a % b", a, b, c_type=c_type) == both(lambda x, y: x - divide(x, y) * y)).all()
    assert (elementwise("a & b | ~a ^ b", a, b, c_type=c_type) == both(lambda x, y: x & y | ~x ^ y)).all()
    shift = limits.bits - 1
    assert (elementwise(f"a >> (b & {shift})", a, b, c_type=c_type) == both(lambda x, y: x >> (y & shift))).all()
    assert (elementwise(f"a << (b & {shift})", a, b, c_type=c_type) == both(lambda x, y: x << (y & shift))).all()
    assert (elementwise("a < b ? a : b", a, b, c_type=c_type) == np.minimum(a, b)).all()
    assert (elementwise("a == b || a > b", a, b, c_type=c_type) == (a >= b)).all()
    assert (
        elementwise("a / 7 + b % 10", a, b, c_type=c_type) == both(lambda x, y: divide(x, 7) + y - divide(y, 10) * 10)
    ).all()


def test_bool():
    a, b = np.random.default_rng(0).integers(0, 2, (2, 300)).astype(bool)
    assert (elementwise("a && !b", a, b, c_type="bool") == (a & ~b)).all()
    assert (elementwise("a != b", a, b, c_type="bool") == (a ^ b)).all()


def reciprocal(x: Any) -> Any:
    return 1 / x


def reciprocal_sqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


def sine_of_millions(x: Any) -> Any:
    """The argument is rounded to f32 before."""
    return np.sin((x.astype(np.float32) * np.float32(1e6)).astype(np.float64))


def third(x: Any) -> Any:
    return x / 3.0


def power_17(x: Any) -> Any:
    return np.abs(x) ** 1.7


def power_17_f32(x: Any) -> Any:
    return np.abs(x) ** float(np.float32(1.7))


def sine_of_trillions(x: Any) -> Any:
    return np.sin(x * 1e12)


UNARY: dict[str, tuple[Callable[..., Any], float, float, int]] = {
    # expression: (numpy function, low, high, greatest error in units in the last place, for f32 and for f64)
    "expf(a)": (np.exp, -80, 80, 2),
    "exp2f(a)": (np.exp2, -100, 100, 2),
    "expm1f(a)": (np.expm1, -5, 5, 2),
    "logf(a)": (np.log, 1e-6, 1e6, 1),
    "log2f(a)": (np.log2, 1e-6, 1e6, 1),
    "log1pf(a)": (np.log1p, -0.9, 100, 2),
    "log10f(a)": (np.log10, 1e-6, 1e6, 2),
    "sinf(a)": (np.sin, -100, 100, 2),
    "cosf(a)": (np.cos, -100, 100, 2),
    "sinf(a * 1e6f)": (sine_of_millions, -1000, 1000, 2),
    "tanf(a)": (np.tan, -1.5, 1.5, 4),
    "tanhf(a)": (np.tanh, -10, 10, 2),
    "sinhf(a)": (np.sinh, -10, 10, 3),
    "asinf(a)": (np.arcsin, -1, 1, 4),
    "atanf(a)": (np.arctan, -50, 50, 2),
    "sqrtf(a)": (np.sqrt, 0, 1e6, 0),
    "rsqrtf(a)": (reciprocal_sqrt, 1e-3, 1e6, 2),
    "1.0f / a": (reciprocal, 1e-3, 1e3, 0),
    "erff(a)": (np.vectorize(math.erf), -4, 4, 2),
    "erfcf(a)": (np.vectorize(math.erfc), -4, 4, 5),
    "lgammaf(a)": (np.vectorize(math.lgamma), 0.5, 0.9, 6),
    "tgammaf(a)": (np.vectorize(math.gamma), 0.5, 20, 6),
    "floorf(a)": (np.floor, -100, 100, 0),
    "ceilf(a)": (np.ceil, -100, 100, 0),
    "truncf(a)": (np.trunc, -100, 100, 0),
    "rintf(a)": (np.rint, -100, 100, 0),
    "fabsf(a)": (np.abs, -100, 100, 0),
    "cbrtf(a)": (np.cbrt, -100, 100, 2),
    "powf(fabsf(a), 1.7f)": (power_17_f32, -100, 100, 4),
    "exp(a)": (np.exp, -300, 300, 1),
    "log(a)": (np.log, 1e-6, 1e6, 1),
    "sin(a)": (np.sin, -100, 100, 2),
    "sin(a * 1e12)": (sine_of_trillions, 1, 1000, 2),
    "tanh(a)": (np.tanh, -10, 10, 2),
    "sqrt(a)": (np.sqrt, 0, 1e6, 0),
    "rsqrt(a)": (reciprocal_sqrt, 1e-3, 1e6, 2),
    "1.0 / a": (reciprocal, 1e-3, 1e3, 0),
    "a / 3.0": (third, -1e3, 1e3, 0),
    "erf(a)": (np.vectorize(math.erf), -4, 4, 3),
    "pow(fabs(a), 1.7)": (power_17, -100, 100, 2),
    "floor(a)": (np.floor, -100, 100, 0),
}


@pytest.mark.parametrize("expression", UNARY)
def test_math(expression: str):
    function, low, high, ulps = UNARY[expression]
    name = expression.split("(")[0]
    is_single = ("f" in name and name not in ("erf", "floor")) or "f /" in expression
    dtype = np.float32 if is_single else np.float64
    x = np.linspace(low, high, 999).astype(dtype)
    expected = function(x.astype(np.float64))
    result = elementwise(expression, x, c_type="float" if is_single else "double")
    error = np.abs(result.astype(np.longdouble) - expected.astype(np.longdouble)) / np.spacing(
        np.abs(expected).astype(dtype)
    )
    # A correctly rounded result is within half a unit of the exact one.
    assert error.max() <= ulps + 0.51, (error.max(), x[np.argmax(error)])


@pytest.mark.parametrize(
    "expression", ["expf(a)", "logf(a)", "sinf(a)", "tanhf(a)", "sqrtf(a)", "rsqrtf(a)", "1.0f / a", "erff(a)"]
)
def test_math_at_the_ends(expression: str):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 3.4e38, -3.4e38, 1e-38], np.float32)
    function = UNARY[expression][0]
    with np.errstate(all="ignore"):
        expected = function(x.astype(np.float64)).astype(np.float32)
    result = elementwise(expression, x, c_type="float")
    assert (np.isnan(result) == np.isnan(expected)).all()
    assert np.allclose(result, expected, rtol=1e-6, atol=0, equal_nan=True)
    assert (np.signbit(result) == np.signbit(expected))[~np.isnan(expected)].all()


def test_float_arithmetic():
    rng = np.random.default_rng(2)
    for c_type, dtype in (("float", np.float32), ("double", np.float64)):
        a, b, c = (rng.standard_normal((3, 2000)) * 10 ** rng.uniform(-10, 10, (3, 2000))).astype(dtype)
        assert (elementwise("a / b", a, b, c_type=c_type) == a / b).all()
        assert (elementwise("a + b", a, b, c_type=c_type) == a + b).all()
        fused = elementwise("a * b + c", a, b, c, c_type=c_type)
        exact = a.astype(np.longdouble) * b.astype(np.longdouble) + c.astype(np.longdouble)
        assert (np.abs(fused - exact) <= 0.51 * np.spacing(np.abs(fused))).all()
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0], np.float32)
    a, b = (x.reshape(-1).copy() for x in np.meshgrid(special, special))
    for expression, expected in (("fmaxf(a, b)", np.fmax(a, b)), ("fminf(a, b)", np.fmin(a, b))):
        assert np.array_equal(elementwise(expression, a, b, c_type="float"), expected, equal_nan=True)
    for relation in ("<", "<=", "==", "!=", ">", ">="):
        result = elementwise(f"a {relation} b", a, b, c_type="float", out="int", out_dtype=np.int32)
        assert (result == eval(f"a {relation} b")).all()


def test_float_remainders():
    rng = np.random.default_rng(3)
    a = (rng.standard_normal(500) * 100).astype(np.float32)
    b = (rng.standard_normal(500) * 10).astype(np.float32)
    assert (elementwise("fmodf(a, b)", a, b, c_type="float") == np.fmod(a, b)).all()
    assert (
        elementwise("remainderf(a, b)", a, b, c_type="float")
        == [math.remainder(x, y) for x, y in zip(a, b, strict=True)]
    ).all()
    da, db = a.astype(np.float64), b.astype(np.float64)
    assert (elementwise("fmod(a, b)", da, db, c_type="double") == np.fmod(da, db)).all()


def test_half_precision():
    bits = np.arange(1 << 16, dtype=np.uint16)
    rng = np.random.default_rng(4)
    other = rng.permutation(bits)
    a, b = bits.view(np.float16), other.view(np.float16)
    with np.errstate(all="ignore"):
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        for expression, expected in (("a + b", a64 + b64), ("a * b", a64 * b64), ("a - b", a64 - b64)):
            result = elementwise(expression, bits, other, c_type="__half").view(np.float16)
            assert np.array_equal(result, expected.astype(np.float16), equal_nan=True), expression
        result = elementwise("__float2half(__half2float(a) * 3.0f)", bits, c_type="__half").view(np.float16)
        assert np.array_equal(result, (a.astype(np.float32) * np.float32(3)).astype(np.float16), equal_nan=True)
        result = elementwise("a < b", bits, other, c_type="__half", out="int", out_dtype=np.int32)
        assert (result == (a < b)).all()
        result = elementwise("__hmax(a, b)", bits, other, c_type="__half").view(np.float16)
        assert np.array_equal(result, np.fmax(a, b), equal_nan=True)
        result = elementwise("__half2int_rz(a)", bits, c_type="__half", out="int", out_dtype=np.int32)
        number = np.isfinite(a)
        assert (result[number] == np.trunc(a64[number])).all()


@pytest.mark.parametrize("arch", ["compute_80", "compute_90"])
def test_bfloat16(arch: str):
    def values(encoded: Any) -> Any:
        return (encoded.astype(np.uint32) << np.uint32(16)).view(np.float32)

    def rounded(x: Any) -> Any:
        """float32 to the nearest bf16, ties to even, by hand."""
        u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
        return np.where(np.isnan(x), 0x7FFF, (u + 0x7FFF + ((u >> 16) & 1)) >> 16).astype(np.uint16)

    bits = np.arange(1 << 16, dtype=np.uint16)
    other = np.random.default_rng(5).permutation(bits)
    a, b = values(bits), values(other)

    def same(x: Any, y: Any) -> bool:
        return np.array_equal(values(x), values(y), equal_nan=True)

    with np.errstate(all="ignore"):
        number = "__float2bfloat16(__bfloat162float(a) * 3.0f)"
        assert same(elementwise(number, bits, c_type="__nv_bfloat16", arch=arch), rounded(a * np.float32(3)))
        # bf16 sums and products fit f64, so their f32 rounding is not a second one except near f32 ties.
        result = elementwise("a + b", bits, other, c_type="__nv_bfloat16", arch=arch)
        assert same(result, rounded(a + b))
        result = elementwise("__hmax(a, b)", bits, other, c_type="__nv_bfloat16", arch=arch)
        assert same(result, rounded(np.fmax(a, b)))
        result = elementwise("a < b", bits, other, c_type="__nv_bfloat16", out="int", out_dtype=np.int32, arch=arch)
        assert (result == (a < b)).all()


def test_packed_halves():
    source = (
        HEADERS
        + r"""
extern "C" __global__ void k(__half2* out, const __half2* a, const __half2* b, __nv_bfloat162* pack, const float2* f) {
  int i = threadIdx.x;
  out[i] = __hfma2(a[i], b[i], a[i]);
  pack[i] = __floats2bfloat162_rn(f[i].x, f[i].y);
}
"""
    )
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((2, 128)).astype(np.float16)
    f, out, pack = rng.standard_normal(128).astype(np.float32), np.zeros(128, np.float16), np.zeros(128, np.uint16)
    run(source, 1, 64, out, a, b, pack, f)
    exact = a.astype(np.float64) * b.astype(np.float64) + a.astype(np.float64)
    assert (out == exact.astype(np.float16)).all()
    bits = f.view(np.uint32)
    assert (pack == ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)).all()


@pytest.mark.parametrize("c_type", ["char4", "uchar2", "short4", "int2", "longlong2", "double2", "float3"])
def test_vector_types(c_type: str):
    source = f"""
extern "C" __global__ void k({c_type}* out, const {c_type}* in) {{
  {c_type} v = in[threadIdx.x];
  v.x += 1; v.y -= 1;
  out[63 - threadIdx.x] = v;
}}
"""
    dtype = {"char": "i1", "ucha": "u1", "shor": "i2", "int2": "i4", "long": "i8", "doub": "f8", "floa": "f4"}[
        c_type[:4]
    ]
    values = np.arange(64 * int(c_type[-1])).astype(dtype).reshape(64, -1)
    out = np.zeros_like(values)
    run(source, 1, 64, out, values)
    expected = values[::-1].copy()
    expected[:, 0] += np.array(1, dtype)
    expected[:, 1] -= np.array(1, dtype)
    assert (out == expected).all()


# -- whole kernels ----------------------------------------------------------------------------------------------

SOFTMAX = r"""
extern "C" __global__ void softmax(float* y, const float* x, int n) {
  __shared__ float partial[8];
  const float* row = x + (size_t)blockIdx.x * n;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float m = __int_as_float(0xff800000);
  for (int i = threadIdx.x; i < n; i += 256) m = fmaxf(m, row[i]);
  for (int d = 16; d; d /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, d));
  if (lane == 0) partial[warp] = m;
  __syncthreads();
  for (int i = 0; i < 8; ++i) m = fmaxf(m, partial[i]);
  float s = 0;
  for (int i = threadIdx.x; i < n; i += 256) s += expf(row[i] - m);
  for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
  __syncthreads();
  if (lane == 0) partial[warp] = s;
  __syncthreads();
  s = 0;
  for (int i = 0; i < 8; ++i) s += partial[i];
  for (int i = threadIdx.x; i < n; i += 256) y[(size_t)blockIdx.x * n + i] = expf(row[i] - m) / s;
}
"""


def test_softmax():
    x = np.random.default_rng(0).standard_normal((20, 1000)).astype(np.float32)
    x[3, :] = -np.inf
    x[3, 5] = 1
    y = np.zeros_like(x)
    run(SOFTMAX, 20, 256, y, x, 1000)
    e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    assert np.allclose(y, e / e.sum(1, keepdims=True), rtol=3e-6)


def test_collatz():
    """Loops of a different length in every lane, with a break and a continue."""
    source = r"""
extern "C" __global__ void k(int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long x = i + 1;
  int count = 0;
  while (x != 1) {
    ++count;
    if (count > 120) { count = -1; break; }
    if (x % 2) { x = 3 * x + 1; continue; }
    x /= 2;
  }
  steps[i] = count;
}
"""

    def collatz(x: int) -> int:
        count = 0
        while x != 1:
            count += 1
            if count > 120:
                return -1
            x = 3 * x + 1 if x % 2 else x // 2
        return count

    steps = np.zeros(1000, np.int32)
    run(source, 4, 256, steps, 1000)
    assert steps.tolist() == [collatz(i + 1) for i in range(1000)]


def test_atomics():
    source = r"""
extern "C" __global__ void k(int* histogram, float* total, int* order, unsigned* extremes, unsigned long long* big,
                             const int* values) {
  __shared__ int local[16];
  if (threadIdx.x < 16) local[threadIdx.x] = 0;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x, v = values[i];
  atomicAdd(&local[v], 1);
  atomicAdd(total, (float)v);
  order[i] = atomicAdd(&histogram[16], 1);
  atomicMin(&extremes[0], (unsigned)(v + 5));
  atomicMax(&extremes[1], (unsigned)(v + 5));
  atomicCAS(&extremes[2], 0u, 7u);
  atomicOr(&extremes[3], 1u << v);
  atomicExch(&extremes[4], 9u);
  atomicAdd(big, 1ull << 33);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&histogram[threadIdx.x], local[threadIdx.x]);
}
"""
    values = np.random.default_rng(0).integers(0, 16, 512).astype(np.int32)
    histogram, total, order = np.zeros(17, np.int32), np.zeros(1, np.float32), np.zeros(512, np.int32)
    extremes, big = np.array([99, 0, 0, 0, 0], np.uint32), np.zeros(1, np.uint64)
    run(source, 4, 128, histogram, total, order, extremes, big, values)
    assert histogram[:16].tolist() == np.bincount(values, minlength=16).tolist()
    assert sorted(order.tolist()) == list(range(512))
    assert total[0] == values.sum()
    assert extremes.tolist() == [5, 20, 7, 0xFFFF, 9]
    assert big[0] == 512 << 33


def test_float_atomics():
    source = (
        HEADERS
        + r"""
extern "C" __global__ void k(double* d, __half2* h, float* old) {
  atomicAdd(d, 0.5);
  atomicAdd(h, __floats2half2_rn(1.0f, 2.0f));
  old[threadIdx.x] = atomicAdd(old + 64, 1.0f);
}
"""
    )
    d, h, old = np.zeros(1), np.zeros(2, np.float16), np.zeros(65, np.float32)
    run(source, 1, 64, d, h, old)
    assert d[0] == 32
    assert h.tolist() == [64, 128]
    assert sorted(old.tolist()) == [*range(64), 64]


def test_local_memory():
    source = r"""
extern "C" __global__ void k(int* out, const int* keys) {
  int table[16];
  for (int i = 0; i < 16; ++i) table[i] = i * i + threadIdx.x;
  int t = threadIdx.x;
  for (int i = 0; i < 4; ++i) table[keys[t * 4 + i]] += table[keys[t * 4 + (i + 1) % 4]];
  int sum = 0;
  for (int i = 0; i < 16; ++i) sum = sum * 3 + table[i];
  out[t] = sum;
}
"""
    keys = np.random.default_rng(0).integers(0, 16, (64, 4)).astype(np.int32)
    out = np.zeros(64, np.int32)
    run(source, 1, 64, out, keys)
    for t in range(64):
        table = [i * i + t for i in range(16)]
        for i in range(4):
            table[keys[t, i]] += table[keys[t, (i + 1) % 4]]
        total = 0
        for value in table:
            total = total * 3 + value
        assert out[t] == np.array(total & 0xFFFFFFFF, np.uint32).astype(np.int32)


def test_device_functions_and_module_variables():
    source = r"""
struct Pair { float a; double b; };
__constant__ int weights[4] = {1, -2, 3, 40000};
__device__ float table[2][3] = {{1, 2, 3}, {4, 5, 6.5f}};
__device__ __noinline__ Pair both(float x, int* p, Pair q) { *p += 1; Pair r; r.a = x + q.a; r.b = x * q.b; return r; }
__device__ __noinline__ int twice(int x) { return x * 2 + weights[x & 3]; }
__device__ __noinline__ int nested(int x) { if (x > 5) return twice(x); return twice(x + 1) - 1; }
extern "C" __global__ void k(float* out, int n, Pair given) {
  int count = n;
  Pair r = both(threadIdx.x, &count, given);
  float y = r.a + r.b + count + nested(threadIdx.x) + table[threadIdx.x & 1][threadIdx.x % 3];
  out[threadIdx.x] = y;
}
"""
    given = np.zeros(1, np.dtype([("a", "f4"), ("b", "f8")], align=True))
    given["a"], given["b"] = 0.5, 0.25
    out = np.zeros(64, np.float32)
    run(source, 1, 64, out, 7, given.tobytes())
    weights, table = [1, -2, 3, 40000], [[1, 2, 3], [4, 5, 6.5]]

    def twice(x: int) -> int:
        return x * 2 + weights[x & 3]

    for t in range(64):
        nested = twice(t) if t > 5 else twice(t + 1) - 1
        assert out[t] == t + 0.5 + t * 0.25 + 8 + nested + table[t & 1][t % 3]


def test_warp_functions():
    source = r"""
extern "C" __global__ void k(unsigned* out, const int* in) {
  int t = threadIdx.x, v = in[t];
  unsigned* o = out + t;
  o[0 * 64] = __ballot_sync(~0u, v > 0);
  o[1 * 64] = __any_sync(~0u, v > 40);
  o[2 * 64] = __all_sync(~0u, v > -60);
  o[3 * 64] = __reduce_add_sync(~0u, v);
  o[4 * 64] = __reduce_min_sync(~0u, v);
  o[5 * 64] = __shfl_sync(~0u, v, t + 5);
  o[6 * 64] = __shfl_sync(~0u, v, t + 1, 8);
  o[7 * 64] = __shfl_up_sync(~0u, v, 3);
  o[8 * 64] = __shfl_down_sync(~0u, v, 2, 16);
  o[9 * 64] = __shfl_xor_sync(~0u, v, 5);
  o[10 * 64] = __match_any_sync(~0u, v & 3);
  o[11 * 64] = __syncthreads_count(v > 0);
  o[12 * 64] = __syncthreads_or(v > 1000) + 2 * __syncthreads_and(v > -1000);
  if (v > 0) o[13 * 64] = __activemask();
  unsigned mask = v & 1 ? 0xaaaaaaaau : 0x55555555u;
  o[14 * 64] = (t & 1) == (v & 1) ? __popc(mask & ((1u << (t % 32)) - 1)) : 0;
}
"""
    v = np.random.default_rng(0).integers(-50, 50, 64).astype(np.int32)
    out = np.zeros((15, 64), np.uint32)
    run(source, 1, 64, out, v)
    rows, lane = v.reshape(2, 32), np.arange(32)

    def bits(flags: Any) -> Any:
        return np.repeat((flags.reshape(2, 32).astype(np.uint64) << lane.astype(np.uint64)).sum(1), 32)

    assert (out[0] == bits(v > 0)).all()
    assert (out[1] == np.repeat((rows > 40).any(1), 32)).all()
    assert (out[2] == np.repeat((rows > -60).all(1), 32)).all()
    assert (out[3].view(np.int32) == np.repeat(rows.sum(1), 32)).all()
    assert (out[4].view(np.int32) == np.repeat(rows.min(1), 32)).all()
    assert (out[5].view(np.int32).reshape(2, 32) == rows[:, (lane + 5) % 32]).all()
    assert (out[6].view(np.int32).reshape(2, 32) == rows[:, lane // 8 * 8 + (lane + 1) % 8]).all()
    assert (out[7].view(np.int32).reshape(2, 32) == rows[:, np.where(lane >= 3, lane - 3, lane)]).all()
    assert (out[8].view(np.int32).reshape(2, 32) == rows[:, np.where(lane % 16 < 14, lane + 2, lane)]).all()
    assert (out[9].view(np.int32).reshape(2, 32) == rows[:, lane ^ 5]).all()
    assert (out[10] == [sum(1 << j for j in range(32) if rows[i // 32, j] & 3 == v[i] & 3) for i in range(64)]).all()
    assert (out[11] == (v > 0).sum()).all()
    assert (out[12] == 2).all()
    assert (out[13] == np.where(v > 0, bits(v > 0), 0)).all()


def test_shuffles_wait_for_diverged_lanes():
    """Lanes reach the shuffle after loops of different lengths, and only some warps take the branch."""
    source = r"""
extern "C" __global__ void k(float* out, const int* in) {
  float x = threadIdx.x;
  for (int i = 0; i < in[threadIdx.x]; ++i) x = x * 0.5f + 1;
  if (threadIdx.x >= 32) x += __shfl_xor_sync(~0u, x, 1);
  if (threadIdx.x % 2 == 0) x += __shfl_xor_sync(0x55555555, x, 2);
  else x -= __shfl_xor_sync(0xaaaaaaaa, x, 4);
  out[threadIdx.x] = x;
}
"""
    counts = np.random.default_rng(0).integers(0, 9, 96).astype(np.int32)
    out = np.zeros(96, np.float32)
    run(source, 1, 96, out, counts)
    x = np.arange(96).astype(np.float32)
    for i in range(9):
        x = np.where(i < counts, x * np.float32(0.5) + np.float32(1), x)
    t = np.arange(96)
    x = np.where(t >= 32, x + x[t ^ 1], x)
    assert (out == np.where(t % 2 == 0, x + x[t ^ 2], x - x[t ^ 4])).all()


def test_switch_and_blocks_of_any_size():
    source = r"""
extern "C" __global__ void k(int* out, const int* in) {
  int i = blockIdx.y * gridDim.x * blockDim.x * blockDim.y + blockIdx.x * blockDim.x * blockDim.y
        + threadIdx.y * blockDim.x + threadIdx.x;
  int x = in[i], y;
  switch (x) {
    case 0: y = 10; break;
    case 1: y = x * 31 + i; break;
    case 2: y = i / 3; break;
    case 3: y = -i; break;
    case 4: y = i ^ 5; break;
    case 5: y = 77; break;
    case 6: y = i % 7; break;
    default: y = -1;
  }
  __syncthreads();
  out[i] = y;
}
"""
    n = 3 * 2 * 7 * 5
    values = np.random.default_rng(0).integers(-1, 9, n).astype(np.int32)
    out = np.zeros(n, np.int32)
    run(source, (3, 2), (7, 5), out, values)
    for i, x in enumerate(values.tolist()):
        expected = {0: 10, 1: 31 + i, 2: i // 3, 3: -i, 4: i ^ 5, 5: 77, 6: i % 7}.get(x, -1)
        assert out[i] == expected


MMA = (
    HEADERS
    + r"""
__device__ unsigned shared_address(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
extern "C" __global__ void k(float* D, const unsigned short* A, const unsigned short* B) {
  __shared__ __align__(16) unsigned short As[16][16 + 8], Bs[16][8];  // A: 16 x 16; B: 16 x 8
  int t = threadIdx.x;
  for (int i = t; i < 256; i += 32) As[i / 16][i % 16] = A[blockIdx.x * 256 + i];
  for (int i = t; i < 128; i += 32) Bs[i / 8][i % 8] = B[blockIdx.x * 128 + i];
  __syncwarp();
  unsigned a[4], b[2];
  float d[4] = {0.25f, 0.25f, 0.25f, 0.25f};
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
    : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]) : "r"(shared_address(&As[t % 16][t / 16 * 8])) : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
    : "=r"(b[0]), "=r"(b[1]) : "r"(shared_address(&Bs[t % 16][0])) : "memory");
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.TYPE.TYPE.f32 "
    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float* out = D + blockIdx.x * 128 + t / 4 * 8 + t % 4 * 2;
  out[0] = d[0]; out[1] = d[1]; out[64] = d[2]; out[65] = d[3];
}
"""
)


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_tensor_core(type_: str):
    rng = np.random.default_rng(0)
    a, b = rng.integers(-8, 8, (3, 16, 16)).astype(np.float32), rng.integers(-8, 8, (3, 16, 8)).astype(np.float32)

    def encode(x: Any) -> Any:
        return x.astype(np.float16).view(np.uint16) if type_ == "f16" else (x.view(np.uint32) >> 16).astype(np.uint16)

    d = np.zeros((3, 16, 8), np.float32)
    counters = run(MMA.replace("TYPE", type_), 3, 32, d, encode(a), encode(b))
    assert (d == a @ b + np.float32(0.25)).all()
    assert counters.mma == 3
    assert counters.of_kind("ldmatrix").bank_conflicts == 0


def test_tf32_tensor_core():
    source = r"""
extern "C" __global__ void k(float* D, const float* A, const float* B) {
  int t = threadIdx.x, g = t / 4, c = t % 4;
  unsigned a[4] = {__float_as_uint(A[g * 8 + c]), __float_as_uint(A[(g + 8) * 8 + c]),
                   __float_as_uint(A[g * 8 + c + 4]), __float_as_uint(A[(g + 8) * 8 + c + 4])};
  unsigned b[2] = {__float_as_uint(B[c * 8 + g]), __float_as_uint(B[(c + 4) * 8 + g])};
  float d[4] = {};
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
    "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
    : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
    : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  float* out = D + g * 8 + 2 * c;
  out[0] = d[0]; out[1] = d[1]; out[64] = d[2]; out[65] = d[3];
}
"""
    rng = np.random.default_rng(0)
    a, b = rng.integers(-100, 100, (16, 8)).astype(np.float32), rng.integers(-100, 100, (8, 8)).astype(np.float32)
    d = np.zeros((16, 8), np.float32)
    run(source, 1, 32, d, a, b)
    assert (d == a @ b).all()
    # Bits below the 10 of tf32's mantissa do not count.
    run(source, 1, 32, d, a * np.float32(1 + 2**-12), b)
    assert (d == a @ b).all()


def test_async_copy_with_zero_fill():
    source = r"""
extern "C" __global__ void k(float* out, const float* in, int n) {
  __shared__ __align__(16) float s[256];
  int t = threadIdx.x, left = n - 4 * t, bytes = left <= 0 ? 0 : left >= 4 ? 16 : 4 * left;
  unsigned to = (unsigned)__cvta_generic_to_shared(s + 4 * t);
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"(to), "l"(in + 4 * t), "r"(bytes) : "memory");
  asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[4 * t + i] = s[4 * t + i];
}
"""
    for n in (256, 203, 1, 0):
        values, out = np.arange(1, n + 1).astype(np.float32), np.full(256, np.nan, np.float32)
        counters = run(source, 1, 64, out, values, n)
        assert out.tolist() == [*values.tolist(), *[0.0] * (256 - n)]
        assert counters.global_load_sectors == -(-n // 8)


def test_generic_pointers():
    """A function that is not inlined gets generic pointers to shared, local and global memory."""
    source = r"""
__device__ __noinline__ float sum(const float* p, int n) {
  float s = 0;
  for (int i = 0; i < n; ++i) s += p[i];
  return s;
}
extern "C" __global__ void k(float* out, const float* in) {
  __shared__ float s[64];
  float l[8];
  s[threadIdx.x] = in[threadIdx.x];
  for (int i = 0; i < 8; ++i) l[i] = in[(threadIdx.x + i) % 64];
  __syncthreads();
  out[threadIdx.x] = sum(s, 64) + 2 * sum(l, 8) + 3 * sum(in, 4);
}
"""
    values = np.arange(64).astype(np.float32)
    out = np.zeros(64, np.float32)
    run(source, 1, 64, out, values)
    expected = [values.sum() + 2 * sum(values[(t + i) % 64] for i in range(8)) + 3 * 6 for t in range(64)]
    assert out.tolist() == expected


def test_one_array_passed_twice():
    source = 'extern "C" __global__ void k(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x] + 1; }'
    values = np.arange(32, dtype=np.int32)
    run(source, 1, 32, values, values)
    assert values.tolist() == list(range(1, 33))


def test_several_kernels_in_one_text():
    source = r"""
extern "C" __global__ void first(int* out) { out[threadIdx.x] = 1; }
extern "C" __global__ void second(int* out) {
  __shared__ int s[4];
  s[threadIdx.x] = 2;
  out[threadIdx.x] = s[threadIdx.x];
}
"""
    out = np.zeros(4, np.int32)
    run(source, 1, 4, out, kernel="second")
    assert out.tolist() == [2] * 4
    with pytest.raises(ValueError, match=r"2 kernels .*: name one"):
        run(source, 1, 4, out)
    with pytest.raises(ValueError, match="no kernel 'third'"):
        run(source, 1, 4, out, kernel="third")
