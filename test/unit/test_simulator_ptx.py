"""PTX written by hand: syntax and instructions that NVRTC seldom emits."""

from typing import Any

import numpy as np
import pytest

from uop.runtime.simulator import SimulationError, UnsupportedPtxError, simulate
from uop.runtime.simulator.parser import parse_ptx

HEADER = """
.version 8.0
.target sm_80
.address_size 64
"""


def kernel(body: str, parameters: str = ".param .u64 out", module: str = "") -> str:
    """A kernel with the usual registers; %t is the thread, %out and %at its place in an array of u32."""
    return f"""{HEADER}{module}
.visible .entry k({parameters})
{{
  .reg .pred %p<8>;
  .reg .b16 %rs<8>;
  .reg .b32 %r<16>, %t;
  .reg .f32 %f<8>;
  .reg .b64 %rd<8>, %out, %at;
  ld.param.u64 %out, [out];
  cvta.to.global.u64 %out, %out;
  mov.u32 %t, %tid.x;
  mad.wide.u32 %at, %t, 4, %out;
{body}
  st.global.u32 [%at], %r1;
  ret;
}}
"""


def run(body: str, *more: Any, threads: int = 64, **options: Any) -> Any:
    out = np.zeros(threads, np.uint32)
    simulate(kernel(body, **options), 1, threads, [out, *more])
    return out


def test_comments_and_scopes():
    out = run("""
  mov.u32 %r1, 5; // a comment; with a semicolon
  /* another { one */
  {
    .reg .b32 %r1;       // another register of the same name
    .reg .b32 a, b;
    mov.u32 %r1, 0x10U; mov.u32 a, 010; add.u32 b, a, %r1;
    { .reg .b32 a; mov.u32 a, 1; add.u32 b, b, a; }
    add.u32 %r2, b, a;
  }
  add.u32 %r1, %r1, %r2;
""")
    assert (out == 5 + 16 + 8 + 1 + 8).all()


def test_declarations_without_a_space():
    # As cuda_fp16.h writes them: untyped registers that hold floats, and no space before the type.
    out = run("""
  {.reg.b32         f, ULP;
 .reg.b16         r;
  mov.b32         f, 0x40000000U;
  mov.b32         ULP, 0x33800000U;
  fma.rn.f32      f,f,ULP,f;
  cvt.rn.f16.f32      r,f;
  mov.b16         %rs1,r;
}
  cvt.u32.u16 %r1, %rs1;
""")
    assert (out == 0x4000).all()


def test_labels_belong_to_scopes():
    out = run("""
  mov.u32 %r1, 0;
  { setp.lt.u32 %p1, %t, 10; @%p1 bra SKIP; add.u32 %r1, %r1, 1; SKIP: }
  { setp.lt.u32 %p1, %t, 20; @!%p1 bra SKIP; add.u32 %r1, %r1, 2; SKIP: add.u32 %r1, %r1, 4; }
""")
    t = np.arange(64)
    assert (out == (t >= 10) + 2 * (t < 20) + 4).all()


def test_indexed_branch():
    out = run("""
  rem.u32 %r2, %t, 3;
  mov.u32 %r1, 9;
  TABLE: .branchtargets A, B, C;
  brx.idx %r2, TABLE;
  A: mov.u32 %r1, 100; bra.uni END;
  B: mov.u32 %r1, 200;
  C: add.u32 %r1, %r1, 1;
  END:
""")
    assert out.tolist() == [[100, 201, 10][i % 3] for i in range(64)]


def test_vectors_sinks_and_packing():
    out = run(
        """
  ld.param.v2.u32 {%r3, _}, [pair];
  mov.b64 %rd1, {%r3, %t};
  mov.b64 {_, %r4}, %rd1;
  mov.b32 {%rs1, %rs2}, %r3;
  cvt.u32.u16 %r5, %rs2;
  add.u32 %r1, %r4, %r5;
""",
        np.array([3 << 16 | 7, 9], np.uint32).tobytes(),
        parameters=".param .u64 out, .param .align 8 .b8 pair[8]",
    )
    assert (out == np.arange(64) + 3).all()


def test_predicated_exit_and_stores():
    out = run("""
  setp.ge.u32 %p1, %t, 40;
  @%p1 exit;
  and.b32 %r2, %t, 1;
  setp.eq.u32 %p2|%p3, %r2, 0;
  mov.u32 %r1, 1;
  @%p2 mov.u32 %r1, 2;
  @%p3 st.global.u32 [%at], %t;
  @%p3 exit;
""")
    t = np.arange(64)
    assert (out == np.where(t >= 40, 0, np.where(t % 2 == 0, 2, t))).all()


def test_cold_code_after_the_return():
    """Lanes that take a detour far down are waited for by the shuffle that follows it."""
    out = run("""
  mov.u32 %r1, %t;
  setp.eq.u32 %p1, %t, 5;
  @%p1 bra COLD;
  JOIN:
  shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1;
  bra.uni END;
  COLD: add.u32 %r1, %r1, 1000; bra.uni JOIN;
  END:
""")
    expected = np.arange(64) ^ 1
    expected[4] = 1005
    assert (out == expected).all()


def test_cold_code_and_a_block_barrier():
    module = ".shared .align 4 .b8 s[256];\n"
    out = run(
        """
  shl.b32 %r2, %t, 2;
  mov.u32 %r3, s;
  add.u32 %r2, %r2, %r3;
  setp.eq.u32 %p1, %t, 5;
  @%p1 bra COLD;
  st.shared.u32 [%r2], %t;
  JOIN:
  bar.sync 0;
  xor.b32 %r2, %r2, 4;
  ld.shared.u32 %r1, [%r2];
  bra.uni END;
  COLD: mov.u32 %r4, 77; st.shared.u32 [%r2], %r4; bra.uni JOIN;
  END:
""",
        module=module,
    )
    expected = np.arange(64) ^ 1
    expected[4] = 77
    assert (out == expected).all()


def test_votes_of_two_groups_at_once():
    out = run("""
  and.b32 %r2, %t, 1;
  setp.eq.u32 %p1, %r2, 0;
  selp.b32 %r3, 0x55555555, 0xaaaaaaaa, %p1;
  setp.lt.u32 %p2, %t, 40;
  vote.sync.ballot.b32 %r1, %p2, %r3;
  vote.sync.all.pred %p3, %p2, %r3;
  @%p3 add.u32 %r1, %r1, 1;
""")
    t = np.arange(64)
    mask = np.where(t % 2 == 0, 0x55555555, 0xAAAAAAAA)
    ballot = np.where(t < 32, 0xFFFFFFFF, 0xFF) & mask
    assert (out == ballot + (t < 32)).all()


def test_barrier_reduction():
    out = run("""
  setp.lt.u32 %p1, %t, 10;
  bar.red.popc.u32 %r1, 0, %p1;
  bar.red.and.pred %p2, 0, !%p1;
  @!%p2 add.u32 %r1, %r1, 100;
""")
    assert (out == 110).all()


def test_local_memory_and_address_spaces():
    out = run(
        """
  .local .align 8 .b8 depot[16];
  mov.u64 %rd1, depot;
  st.local.v2.u32 [%rd1+8], {%t, %t};
  cvta.local.u64 %rd2, %rd1;
  ld.u32 %r2, [%rd2+12];
  isspacep.local %p1, %rd2;
  isspacep.global %p2, %out;
  isspacep.shared %p3, %rd2;
  selp.u32 %r3, 100, 0, %p1;
  selp.u32 %r4, 1000, 0, %p3;
  add.u32 %r1, %r2, %r3;
  add.u32 %r1, %r1, %r4;
""".replace("isspacep.global %p2, %out;", ""),
    )
    assert (out == np.arange(64) + 100).all()


def test_byte_registers_extend():
    out = run(
        """
  add.u64 %rd1, %out, 0;
  st.global.u32 [%at], %t;
  ld.global.s8 %r2, [table];
  ld.global.u8 %rs1, [table];
  cvt.s32.s16 %r3, %rs1;
  add.u32 %r1, %r2, %r3;
""",
        module=".global .align 1 .b8 table[4] = {255, 1};\n",
    )
    assert (out == 254).all()


def test_module_variables_in_all_types():
    module = """
.const .align 4 .f32 scale = 0f40000000;
.global .align 8 .f64 wide[2] = {0d3FF8000000000000, 2.5};
.global .align 4 .u32 words[4] = {1, 0x20, -1};
"""
    out = run(
        """
  .reg .f64 %fd<4>;
  ld.const.f32 %f1, [scale];
  ld.global.f64 %fd1, [wide+8];
  cvt.f64.f32 %fd2, %f1;
  mul.f64 %fd3, %fd1, %fd2;
  cvt.rzi.u32.f64 %r2, %fd3;
  ld.global.u32 %r3, [words+4];
  ld.global.u32 %r4, [words+8];
  add.u32 %r1, %r2, %r3;
  add.u32 %r1, %r1, %r4;
""",
        module=module,
    )
    assert (out == 5 + 0x20 - 1).all()


def test_stores_to_constants_are_refused():
    module = ".const .align 4 .u32 fixed[2] = {1, 2};\n"
    with pytest.raises(SimulationError, match="store to fixed, which is read-only"):
        run("mov.u64 %rd1, fixed; st.global.u32 [%rd1], %t; mov.u32 %r1, 0;", module=module)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("wgmma.fence.sync.aligned; mov.u32 %r1, 0;", r"does not execute the PTX instruction `wgmma\.fence"),
        ("bar.sync 1; mov.u32 %r1, 0;", "only barrier 0 is simulated"),
        ("mov.u32 %r1, %nothing;", "operand '%nothing' not understood"),
        ("bra NOWHERE; mov.u32 %r1, 0;", "no such label"),
        ("cvt.rn.e4m3x2.f32 %rs1, %f1, %f2; mov.u32 %r1, 0;", "e4m3x2"),
        ("add.u32 %r1, %r2;", r"does not execute the PTX instruction `add\.u32 %r1, %r2`"),
        ("call undefined, (); mov.u32 %r1, 0;", "call of undefined, whose body is not in the PTX"),
    ],
)
def test_what_is_not_simulated_is_named(body: str, message: str):
    with pytest.raises(UnsupportedPtxError, match=message):
        run(body)


def test_recursion_is_refused():
    module = """
.func f (.param .b32 x) { .param .b32 y; call f, (y); ret; }
"""
    with pytest.raises(UnsupportedPtxError, match="recursive call of f"):
        run(".param .b32 y; call f, (y); mov.u32 %r1, 0;", module=module)


def test_inlined_lines_lead_to_the_kernel():
    """The line of an inlined function's code is that of its outermost call."""
    text = kernel("""
  .loc 1 20 3
  mov.u32 %r1, 0;
  .loc 1 7 5, function_name $name, inlined_at 1 21 9
  add.u32 %r1, %r1, 1;
  .loc 1 21 9
  .loc 1 3 1, function_name $name, inlined_at 1 21 9
  add.u32 %r1, %r1, 2;
  .loc 1 0 5
  add.u32 %r1, %r1, 3;
""")
    body = parse_ptx(text).functions["k"].body
    assert [instruction.line for instruction in body if instruction.name == "add"] == [21, 21, 21]
