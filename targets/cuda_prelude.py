"""Device functions that spell instructions C has no operator for. The printer writes those that a kernel uses in
front of it. TO and FROM are bytes that an instruction adds to an address: the many instructions of a tile share one."""

ASYNC_COPY = """\
template <int N, int TO = 0, int FROM = 0> __device__ __forceinline__ void async_copy(void* to, const void* from) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%3], 16;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0+%2], [%1+%3], %4;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM), "n"(N) : "memory");
}"""

ASYNC_COPY_FIRST = """\
template <int N, int TO = 0, int FROM = 0>
__device__ __forceinline__ void async_copy_first(void* to, const void* from, bool keep, int bytes) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  int size = keep ? bytes : 0;  // the rest of N bytes becomes 0
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%3], 16, %4;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0+%2], [%1+%3], %4, %5;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM), "n"(N), "r"(size) : "memory");
}"""

ASYNC_COPY_OR_ZERO = """\
template <int N, int TO = 0, int FROM = 0>
__device__ __forceinline__ void async_copy_or_zero(void* to, const void* from, bool keep) {
  unsigned address = (unsigned)__cvta_generic_to_shared(to);
  int size = keep ? N : 0;  // the rest of N bytes becomes 0
  if constexpr (N == 16)
    asm volatile("cp.async.cg.shared.global [%0+%2], [%1+%3], 16, %4;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0+%2], [%1+%3], %4, %5;"
                 ::"r"(address), "l"(from), "n"(TO), "n"(FROM), "n"(N), "r"(size) : "memory");
}"""

ASYNC_COMMIT = """\
__device__ __forceinline__ void async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }"""

ASYNC_WAIT = """\
template <int N> __device__ __forceinline__ void async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}"""


def ldmatrix(matrices: int, transposed: bool, is_float: bool) -> tuple[str, str]:
    """(name, definition) of a function that loads 1, 2 or 4 matrices of 8 rows of 16 bytes. is_float: of f32"""
    name = f"ldmatrix_x{matrices}{'_trans' if transposed else '_f32' if is_float else ''}"
    count = matrices if matrices > 1 else ""
    type = f"float{count}" if is_float else f"uint{count}" if matrices > 1 else "unsigned"
    words = ", ".join(f"r{i}" for i in range(matrices))
    values = ", ".join(f"__uint_as_float(r{i})" for i in range(matrices)) if is_float else words
    registers = ", ".join(f"%{i}" for i in range(matrices))
    outputs = ", ".join(f'"=r"(r{i})' for i in range(matrices))
    trans = ".trans" if transposed else ""
    address = f"[%{matrices}+%{matrices + 1}]"
    return name, (
        f"template <int FROM = 0> __device__ __forceinline__ {type} {name}(const void* from) {{\n"
        f"  unsigned {words};\n"
        f'  asm volatile("ldmatrix.sync.aligned.m8n8.x{matrices}{trans}.shared.b16 {{{registers}}}, {address};"\n'
        f"               : {outputs}\n"
        f'               : "r"((unsigned)__cvta_generic_to_shared(from)), "n"(FROM)\n'
        f'               : "memory");\n'
        f"  return {{{values}}};\n}}"
    )


def shuffle(mode: str, element: str) -> tuple[str, str]:
    """(name, definition) of a function that gives another lane's f32 or i32, where the distance is a number.

    The intrinsics move an f32 to an integer register and back, and numbers to registers.
    """
    name = f"shuffle_{mode}_{element}"
    instruction, clamp = {"xor": ("bfly", 31), "down": ("down", 31), "up": ("up", 0), "idx": ("idx", 31)}[mode]
    type, register = {"f32": ("float", "f"), "i32": ("int", "r")}[element]
    return name, (
        f"template <int N> __device__ __forceinline__ {type} {name}({type} x) {{\n"
        f"  {type} r;\n"
        f'  asm volatile("shfl.sync.{instruction}.b32 %0, %1, %2, {clamp}, 0xffffffff;"'
        f' : "={register}"(r) : "{register}"(x), "n"(N));\n'
        "  return r;\n}"
    )


def pack(element: str) -> tuple[str, str]:
    """(name, definition) of a function that rounds two floats to 16 bits, in one register."""
    name, type, convert = {
        "f16": ("pack_f16", "__half2", "__floats2half2_rn"),
        "bf16": ("pack_bf16", "__nv_bfloat162", "__floats2bfloat162_rn"),
    }[element]
    return name, (
        f"__device__ __forceinline__ unsigned {name}(float x, float y) {{\n"
        f"  const {type} r = {convert}(x, y);\n"
        "  return *(const unsigned*)&r;\n}"
    )


def mma(atom: str, element: str) -> tuple[str, str]:
    """(name, definition) of a function for one matrix instruction with f32 accumulators."""
    operand = {"f16": "f16", "bf16": "bf16", "f32": "tf32"}[element]
    name = f"mma_{atom}_{operand}"
    a_count, b_count = 4, 2
    a_type, b_type = ("uint4", "uint2") if element != "f32" else ("float4", "float2")
    convert = "{}" if element != "f32" else "__float_as_uint({})"
    d = ", ".join(f"%{i}" for i in range(4))
    a = ", ".join(f"%{4 + i}" for i in range(a_count))
    b = ", ".join(f"%{4 + a_count + i}" for i in range(b_count))
    c = ", ".join(f"%{4 + a_count + b_count + i}" for i in range(4))
    inputs = ", ".join(
        [f'"r"({convert.format(f"a.{m}")})' for m in "xyzw"[:a_count]]
        + [f'"r"({convert.format(f"b.{m}")})' for m in "xy"[:b_count]]
        # Apart from the results, so that accumulators that begin as zeros are one register.
        + [f'"f"(c.{m})' for m in "xyzw"]
    )
    return name, (
        f"__device__ __forceinline__ float4 {name}(float4 c, {a_type} a, {b_type} b) {{\n"
        "  float4 d;\n"
        f'  asm("mma.sync.aligned.{atom}.row.col.f32.{operand}.{operand}.f32 {{{d}}}, {{{a}}}, {{{b}}}, {{{c}}};"\n'
        f'      : "=f"(d.x), "=f"(d.y), "=f"(d.z), "=f"(d.w)\n'
        f"      : {inputs});\n"
        "  return d;\n}"
    )
