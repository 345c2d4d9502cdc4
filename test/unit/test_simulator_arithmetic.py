"""Every arithmetic PTX operation of the simulator against exact Python arithmetic."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from uop.runtime.simulator import formats
from uop.runtime.simulator.arithmetic import arithmetic
from uop.runtime.simulator.ptx import Immediate, Instruction, Pair

SPECIAL_FLOATS = [0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan, 1e-40, -1e-45, 3.4e38, -65504.0, 2.0**-24]


def compute(opcode: str, *values: Any, has_pair: bool = False, immediates: tuple[int, ...] = ()) -> Any:
    """Apply an operation to numpy values, as the simulator does."""
    name, *modifiers = opcode.split(".")
    destination = Pair(None, None) if has_pair else None
    operands = (destination, *[None] * len(values), *(Immediate(value) for value in immediates))
    operation = arithmetic(Instruction(opcode, 0, 0, None, name, tuple(modifiers), operands))
    assert operation is not None, opcode
    with np.errstate(all="ignore"):
        return operation.function(*values)


def wrap(value: int, type_: str) -> int:
    """An integer, wrapped around into a PTX type."""
    bits = int(type_[1:])
    value &= (1 << bits) - 1
    return value - (1 << bits) if type_[0] == "s" and value >> (bits - 1) else value


def array(value: int, type_: str) -> Any:
    return np.array([wrap(value, type_)], formats.view_dtype(type_))


def integers_of(type_: str) -> st.SearchStrategy[int]:
    bits = int(type_[1:])
    edges = [0, 1, 2, -1, -2, 1 << (bits - 1), (1 << (bits - 1)) - 1, 0x55555555, 31, 32, 33]
    anything = st.integers(0, (1 << bits) - 1) | st.sampled_from(edges) | st.integers(-100, 100)
    return anything.map(lambda value: wrap(value, type_))


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


INTEGER_TYPES = ["s16", "u16", "s32", "u32", "s64", "u64"]
BINARY: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul.lo": lambda a, b: a * b,
    "min": min,
    "max": max,
    "div": lambda a, b: truncated(a, b) if b else -1,
    "rem": lambda a, b: a - truncated(a, b) * b if b else a,
}


@pytest.mark.parametrize("type_", INTEGER_TYPES)
@pytest.mark.parametrize("opcode", BINARY)
def test_integer_binary(opcode: str, type_: str):
    @settings(max_examples=40, deadline=None)
    @given(integers_of(type_), integers_of(type_))
    @example(wrap(1 << (int(type_[1:]) - 1), type_), wrap(-1, type_))
    def check(a: int, b: int):
        result = compute(f"{opcode}.{type_}", array(a, type_), array(b, type_))
        assert int(result[0]) == wrap(BINARY[opcode](a, b), type_)

    check()


@pytest.mark.parametrize("type_", INTEGER_TYPES)
def test_multiply_high_and_wide(type_: str):
    bits = int(type_[1:])

    @settings(max_examples=40, deadline=None)
    @given(integers_of(type_), integers_of(type_), integers_of(type_))
    def check(a: int, b: int, c: int):
        operands = array(a, type_), array(b, type_)
        assert int(compute(f"mul.hi.{type_}", *operands)[0]) == wrap(a * b >> bits, type_)
        low = compute(f"mad.lo.{type_}", *operands, array(c, type_))
        assert int(low[0]) == wrap(a * b + c, type_)
        if bits < 64:
            wide = f"{type_[0]}{2 * bits}"
            assert int(compute(f"mul.wide.{type_}", *operands)[0]) == a * b
            total = compute(f"mad.wide.{type_}", *operands, array(c, wide))
            assert int(total[0]) == wrap(a * b + c, wide)

    check()


@pytest.mark.parametrize("type_", INTEGER_TYPES)
def test_shifts(type_: str):
    bits = int(type_[1:])

    @settings(max_examples=40, deadline=None)
    @given(integers_of(type_), st.integers(0, 70) | st.just(0xFFFFFFFF))
    def check(a: int, amount: int):
        by = np.array([amount], np.uint32)
        assert int(compute(f"shr.{type_}", array(a, type_), by)[0]) == a >> min(amount, bits)
        left = compute(f"shl.b{bits}", array(a, f"u{bits}"), by)
        assert int(left[0]) == wrap(a << min(amount, bits), f"u{bits}")

    check()


@settings(max_examples=100, deadline=None)
@given(integers_of("u32"), integers_of("u32"), st.integers(0, 40))
def test_funnel_shift(low: int, high: int, amount: int):
    both = high << 32 | low
    operands = array(low, "u32"), array(high, "u32"), array(amount, "u32")
    for opcode, count in (("wrap", amount & 31), ("clamp", min(amount, 32))):
        assert int(compute(f"shf.l.{opcode}.b32", *operands)[0]) == (both << count >> 32) & 0xFFFFFFFF
        assert int(compute(f"shf.r.{opcode}.b32", *operands)[0]) == (both >> count) & 0xFFFFFFFF


@pytest.mark.parametrize("type_", ["s32", "u32", "s64", "u64"])
def test_bit_fields(type_: str):
    bits = int(type_[1:])

    @settings(max_examples=100, deadline=None)
    @given(integers_of(type_), integers_of(type_), st.integers(0, bits + 5), st.integers(0, bits + 5))
    def check(a: int, b: int, position: int, length: int):
        operands = array(position, "u32"), array(length, "u32")
        # The manual's definition, bit by bit.
        source = [wrap(a, f"u{bits}") >> i & 1 for i in range(bits)]
        sign = 0
        if type_[0] == "s" and length:
            sign = source[min(position + length - 1, bits - 1)]
        field = [source[position + i] if i < length and position + i < bits else sign for i in range(bits)]
        expected = sum(bit << i for i, bit in enumerate(field))
        assert int(compute(f"bfe.{type_}", array(a, type_), *operands)[0]) == wrap(expected, type_)
        target = [wrap(b, f"u{bits}") >> i & 1 for i in range(bits)]
        for i in range(length):
            if position + i < bits:
                target[position + i] = source[i] if i < bits else 0
        inserted = compute(f"bfi.b{bits}", array(a, f"u{bits}"), array(b, f"u{bits}"), *operands)
        assert int(inserted[0]) == sum(bit << i for i, bit in enumerate(target))

    check()


@pytest.mark.parametrize("bits", [32, 64])
def test_bit_counts(bits: int):
    @settings(max_examples=40, deadline=None)
    @given(integers_of(f"u{bits}"))
    def check(a: int):
        value = array(a, f"u{bits}")
        assert int(compute(f"popc.b{bits}", value)[0]) == a.bit_count()
        assert int(compute(f"clz.b{bits}", value)[0]) == bits - a.bit_length()
        assert int(compute(f"brev.b{bits}", value)[0]) == int(f"{a:0{bits}b}"[::-1], 2)
        assert int(compute(f"bfind.u{bits}", value)[0]) == (a.bit_length() - 1) & 0xFFFFFFFF
        assert int(compute(f"not.b{bits}", value)[0]) == ~a & (1 << bits) - 1
        assert int(compute(f"cnot.b{bits}", value)[0]) == (a == 0)
        signed = wrap(a, f"s{bits}")
        magnitude = ~signed if signed < 0 else signed
        found = compute(f"bfind.s{bits}", array(signed, f"s{bits}"))
        assert int(found[0]) == (magnitude.bit_length() - 1) & 0xFFFFFFFF
        assert int(compute(f"neg.s{bits}", array(signed, f"s{bits}"))[0]) == wrap(-signed, f"s{bits}")
        assert int(compute(f"abs.s{bits}", array(signed, f"s{bits}"))[0]) == wrap(abs(signed), f"s{bits}")

    check()


@settings(max_examples=40, deadline=None)
@given(integers_of("u32"), integers_of("u32"), integers_of("u32"), st.integers(0, 255))
def test_logic_and_bytes(a: int, b: int, c: int, table: int):
    values = [array(value, "u32") for value in (a, b, c)]
    expected = sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i for i in range(32))
    # Without operands (tables 0 and 255) the result is a scalar.
    assert int(np.ravel(compute("lop3.b32", *values, immediates=(table,)))[0]) == expected
    octets = [(b << 32 | a) >> 8 * i & 255 for i in range(8)]
    picked = 0
    for i in range(4):
        nibble = c >> 4 * i & 15
        octet = octets[nibble & 7]
        picked |= ((255 if octet & 128 else 0) if nibble & 8 else octet) << 8 * i
    assert int(compute("prmt.b32", *values)[0]) == picked
    signed = [[wrap(x >> 8 * i & 255, "s8") for i in range(4)] for x in (a, b)]
    dot = sum(x * y for x, y in zip(*signed, strict=True)) + wrap(c, "s32")
    assert int(compute("dp4a.s32.s32", *values[:2], array(c, "s32"))[0]) == wrap(dot, "s32")
    halves = [a & 0xFFFF, a >> 16]
    for mode, octets in (("lo", signed[1][:2]), ("hi", signed[1][2:])):
        dot = sum(x * y for x, y in zip(halves, octets, strict=True)) + wrap(c, "s32")
        assert int(compute(f"dp2a.{mode}.u32.s32", *values[:2], array(c, "s32"))[0]) == wrap(dot, "s32")
    assert int(compute("add.sat.s32", array(a, "s32"), array(b, "s32"))[0]) == max(
        -(1 << 31), min((1 << 31) - 1, wrap(a, "s32") + wrap(b, "s32"))
    )


@settings(max_examples=40, deadline=None)
@given(*[st.integers(0, (1 << 128) - 1)] * 3)
def test_carry_chains(a: int, b: int, c: int):
    def words(value: int) -> list[Any]:
        return [np.array([value >> 32 * i & 0xFFFFFFFF], np.uint32) for i in range(4)]

    def number(parts: list[Any]) -> int:
        return sum(int(part[0]) << 32 * i for i, part in enumerate(parts))

    for first, rest, expected in (("add.cc", "addc.cc", a + b), ("sub.cc", "subc.cc", a - b)):
        parts: list[Any] = []
        carry: Any = None
        for x, y in zip(words(a), words(b), strict=True):
            value, carry = compute(f"{first}.u32", x, y) if carry is None else compute(f"{rest}.u32", x, y, carry)
            parts.append(value)
        assert number(parts) == expected & (1 << 128) - 1
        assert bool(carry[0]) == (not 0 <= expected < 1 << 128)
    # 32 x 32 + 64 bits, as the argument reduction of sin does.
    x, y = words(a)[0], words(b)[0]
    low, carry = compute("mad.lo.cc.u32", x, y, words(c)[0])
    high = compute("madc.hi.u32", x, y, words(c)[1], carry)
    expected = int(x[0]) * int(y[0]) + (c & (1 << 64) - 1)
    assert number([low, high]) == expected & (1 << 64) - 1


# -- floats -----------------------------------------------------------------------------------------------------

# Bits of precision, least exponent (of the last bit of a subnormal), greatest finite value.
FORMATS = {
    "f16": (11, -24, Fraction(65504)),
    "bf16": (8, -133, Fraction(2) ** 127 * Fraction(255, 128)),
    "f32": (24, -149, Fraction(2) ** 128 - Fraction(2) ** 104),
    "f64": (53, -1074, Fraction(2) ** 1024 - Fraction(2) ** 971),
}


def round_exact(value: Fraction, type_: str, mode: str = "rn") -> Fraction | float:
    """An exact value rounded to a format: the value, or an infinity."""
    precision, least, greatest = FORMATS[type_]
    if value == 0:
        return value
    exponent = math.floor(math.log2(abs(value.numerator)) - math.log2(value.denominator))
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** max(exponent - precision + 1, least)
    scaled = value / unit
    rounding = {"rn": round, "rz": math.trunc, "rm": math.floor, "rp": math.ceil}[mode]
    result = rounding(scaled) * unit
    if abs(result) > greatest:
        towards_infinity = mode == "rn" or (mode == "rp" and value > 0) or (mode == "rm" and value < 0)
        sign = 1 if value > 0 else -1
        return sign * math.inf if towards_infinity else sign * greatest
    return result


def decode(bits: Any, type_: str) -> float:
    """The one value of an array of a format."""
    if type_ in formats.DECODE:
        return float(formats.DECODE[type_](np.asarray(bits))[0])
    return float(bits[0])


def encode(value: float, type_: str) -> Any:
    with np.errstate(all="ignore"):
        if type_ in formats.ENCODE:
            return formats.ENCODE[type_](np.array([value], np.float32))
        return np.array([value], formats.view_dtype(type_))


def floats_of(type_: str) -> st.SearchStrategy[float]:
    """Values of a format: of all sizes, near ties, special."""
    plain = {"f16": st.floats(width=16), "f64": st.floats()}.get(type_, st.floats(width=32))
    small = st.integers(-4096, 4096).map(lambda n: n / 64)
    powers = st.tuples(st.integers(-150, 127), st.sampled_from([1, -1, 1.5, 1 + 2**-23])).map(
        lambda t: t[1] * 2.0 ** t[0]
    )
    every = plain | small | powers | st.sampled_from(SPECIAL_FLOATS)
    return every.map(lambda value: decode(encode(value, type_), type_))


def same(actual: float, expected: Fraction | float) -> bool:
    if isinstance(expected, float) and math.isnan(expected):
        return math.isnan(actual)
    return (
        Fraction(actual) == expected
        if math.isfinite(actual) and not isinstance(expected, float)
        else actual == expected
    )


def check_exactly(opcode: str, type_: str, operands: list[float], exact: Fraction, mode: str = "rn") -> None:
    result = compute(f"{opcode}.{type_}", *(encode(value, type_) for value in operands))
    assert same(decode(result, type_), round_exact(exact, type_, mode)), (opcode, type_, operands)


@pytest.mark.parametrize("type_", FORMATS)
def test_float_operations_round_once(type_: str):
    @settings(max_examples=150, deadline=None)
    @given(floats_of(type_), floats_of(type_), floats_of(type_))
    @example(1.0 + 2**-10, 1.0 + 2**-10, 2.0**-24)
    @example(0.0, 3.0, -0.0)
    def check(a: float, b: float, c: float):
        a, b, c = (encode_back(value, type_) for value in (a, b, c))
        if not all(map(math.isfinite, (a, b, c))):
            return
        x, y, z = map(Fraction, (a, b, c))
        check_exactly("add", type_, [a, b], x + y)
        check_exactly("sub", type_, [a, b], x - y)
        check_exactly("mul", type_, [a, b], x * y)
        check_exactly("fma.rn", type_, [a, b, c], x * y + z)
        # Cancellation leaves the rounding error of the product.
        opposite = encode_back(-a * b, type_)
        if math.isfinite(opposite):
            check_exactly("fma.rn", type_, [a, b, opposite], x * y + Fraction(opposite))
        if b and type_ in ("f32", "f64"):
            check_exactly("div.rn", type_, [a, b], x / y)

    check()


def encode_back(value: float, type_: str) -> float:
    return decode(encode(value, type_), type_)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_rounding_modes(type_: str, mode: str):
    @settings(max_examples=150, deadline=None)
    @given(floats_of(type_), floats_of(type_), floats_of(type_))
    @example(2.0**1023, 2.0**1023, 0.0)
    @example(-(2.0**127), -(2.0**127), 1.0)
    @example(2.0**-1000, 3 * 2.0**-75, 0.0)
    def check(a: float, b: float, c: float):
        a, b, c = (encode_back(value, type_) for value in (a, b, c))
        if not all(map(math.isfinite, (a, b, c))):
            return
        x, y, z = map(Fraction, (a, b, c))
        check_exactly(f"add.{mode}", type_, [a, b], x + y, mode)
        check_exactly(f"mul.{mode}", type_, [a, b], x * y, mode)
        check_exactly(f"fma.{mode}", type_, [a, b, c], x * y + z, mode)

    check()


@pytest.mark.parametrize("type_", FORMATS)
def test_min_max(type_: str):
    values = [encode(value, type_) for value in SPECIAL_FLOATS]
    for left in values:
        for right in values:
            a, b = decode(left, type_), decode(right, type_)
            for name in ("min", "max"):
                result = decode(compute(f"{name}.{type_}", left, right), type_)
                strict = decode(compute(f"{name}.NaN.{type_}", left, right), type_)
                if math.isnan(a) or math.isnan(b):
                    assert math.isnan(strict)
                    assert same(result, b if math.isnan(a) else a)
                else:
                    # -0 is less than +0.
                    order = sorted([a, b], key=lambda v: (v, math.copysign(1, v)))
                    expected = order[0] if name == "min" else order[1]
                    for actual in (result, strict):
                        assert actual == expected
                        assert math.copysign(1, actual) == math.copysign(1, expected)


COMPARE: dict[str, Callable[[float, float], bool]] = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}


@pytest.mark.parametrize("type_", FORMATS)
def test_compare_floats(type_: str):
    for a in SPECIAL_FLOATS:
        for b in SPECIAL_FLOATS:
            left, right = encode(a, type_), encode(b, type_)
            a1, b1 = decode(left, type_), decode(right, type_)
            unordered = math.isnan(a1) or math.isnan(b1)
            expected = {name: bool(compare(a1, b1)) for name, compare in COMPARE.items()}
            expected |= {f"{name}u": unordered or bool(compare(a1, b1)) for name, compare in COMPARE.items()}
            expected |= {"ne": not unordered and a1 != b1, "neu": unordered or a1 != b1}
            expected |= {"num": not unordered, "nan": unordered}
            for name, value in expected.items():
                assert bool(compute(f"setp.{name}.{type_}", left, right)[0]) == value, (name, a1, b1)


def test_compare_with_two_results_and_a_predicate():
    a, b = np.array([1, 2, 3], np.int32), np.array([2, 2, 2], np.int32)
    first, second = compute("setp.lt.and.s32", a, b, np.array([True, True, False]), has_pair=True)
    assert first.tolist() == [True, False, False]
    assert second.tolist() == [False, True, False]
    assert compute("setp.lt.or.s32", a, b, np.array([False, False, True])).tolist() == [True, False, True]
    assert compute("setp.lo.u32", a.view(np.uint32), b.view(np.uint32)).tolist() == [True, False, False]


def test_select_and_signs():
    a, b = np.array([1.0, 2.0], np.float32), np.array([-3.0, 4.0], np.float32)
    assert compute("selp.f32", a, b, np.array([True, False])).tolist() == [1.0, 4.0]
    assert compute("slct.f32.s32", a, b, np.array([0, -1], np.int32)).tolist() == [1.0, 4.0]
    assert compute("copysign.f32", b, a).tolist() == [-1.0, 2.0]
    assert compute("testp.infinite.f32", np.array([np.inf, 1], np.float32)).tolist() == [True, False]
    assert compute("set.lt.u32.f32", b, a).tolist() == [0xFFFFFFFF, 0]
    assert compute("set.lt.f32.f32", b, a).tolist() == [1.0, 0.0]


def test_flush_and_saturate():
    tiny = np.array([1e-40, -1e-40], np.float32)
    assert compute("add.ftz.f32", tiny, tiny).tobytes() == np.array([0.0, -0.0], np.float32).tobytes()
    assert compute("add.f32", tiny, tiny)[0] == np.float32(1e-40) + np.float32(1e-40)
    values = np.array([-2.0, 0.25, 7.0, np.nan], np.float32)
    assert compute("cvt.sat.f32.f32", values).tolist() == [0.0, 0.25, 1.0, 0.0]


def reciprocal_sqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


APPROXIMATE: dict[str, tuple[Callable[..., Any], float, float]] = {
    "ex2.approx.f32": (np.exp2, -20, 20),
    "lg2.approx.f32": (np.log2, 1e-3, 1e6),
    "sin.approx.f32": (np.sin, -3, 3),
    "cos.approx.f32": (np.cos, -3, 3),
    "tanh.approx.f32": (np.tanh, -9, 9),
    "rcp.approx.f32": (np.reciprocal, 1e-3, 1e3),
    "rsqrt.approx.f32": (reciprocal_sqrt, 1e-3, 1e3),
    "sqrt.approx.f32": (np.sqrt, 1e-3, 1e3),
}


@pytest.mark.parametrize("opcode", APPROXIMATE)
def test_approximate_functions(opcode: str):
    function, low, high = APPROXIMATE[opcode]
    x = np.linspace(low, high, 1000).astype(np.float32)
    expected = function(x.astype(np.float64))
    assert np.allclose(compute(opcode, x), expected, rtol=3e-7, atol=2e-7)


def test_packed_pairs():
    rng = np.random.default_rng(0)
    a, b, c = rng.standard_normal((3, 64, 2)).astype(np.float16)
    words = [x.copy().view(np.uint32)[:, 0] for x in (a, b, c)]
    result = compute("fma.rn.f16x2", *words).view(np.float16).reshape(64, 2)
    exact = a.astype(np.float64) * b.astype(np.float64) + c.astype(np.float64)
    assert (result == exact.astype(np.float16)).all()
    assert (compute("max.f16x2", *words[:2]).view(np.float16).reshape(64, 2) == np.maximum(a, b)).all()
    assert (compute("neg.f16x2", words[0]).view(np.float16).reshape(64, 2) == -a).all()
    first, second = compute("setp.lt.f16x2", *words[:2], has_pair=True)
    assert (np.stack([first, second], 1) == (a < b)).all()


# -- conversions ------------------------------------------------------------------------------------------------


def test_every_f16_and_bf16_value():
    bits = np.arange(1 << 16, dtype=np.uint16)
    f16 = bits.view(np.float16).astype(np.float32)
    assert np.array_equal(compute("cvt.f32.f16", bits), f16, equal_nan=True)
    bf16 = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)
    assert np.array_equal(compute("cvt.f32.bf16", bits), bf16, equal_nan=True)
    number = ~np.isnan(f16)
    assert (compute("cvt.rn.f16.f32", f16)[number] == bits[number]).all()
    number = ~np.isnan(bf16)
    assert (compute("cvt.rn.bf16.f32", bf16)[number] == bits[number]).all()
    assert (compute("cvt.rn.bf16.f32", bf16)[~number] == 0x7FFF).all()


@pytest.mark.parametrize("mode", ["rn", "rz", "rm", "rp"])
@pytest.mark.parametrize(("to", "source"), [("f16", "f32"), ("bf16", "f32"), ("f32", "f64"), ("f16", "f64")])
def test_narrowing(to: str, source: str, mode: str):
    @settings(max_examples=100, deadline=None)
    @given(floats_of(source) | floats_of("f16"))
    @example(1 + 2**-11)
    @example(1 + 3 * 2**-11)
    @example(65520.0)
    @example(2.0**-25)
    @example(3 * 2.0**-134)
    def check(value: float):
        value = decode(encode(value, source), source)
        if not math.isfinite(value):
            return
        result = decode(compute(f"cvt.{mode}.{to}.{source}", encode(value, source)), to)
        assert same(result, round_exact(Fraction(value), to, mode)), value

    check()


@pytest.mark.parametrize("mode", ["rni", "rzi", "rmi", "rpi"])
@pytest.mark.parametrize("to", ["s8", "u8", *INTEGER_TYPES])
@pytest.mark.parametrize("source", FORMATS)
def test_float_to_integer(source: str, to: str, mode: str):
    rounding = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}[mode]
    limits = np.iinfo(formats.view_dtype(to))
    values = [
        *SPECIAL_FLOATS,
        0.5,
        1.5,
        2.5,
        -0.5,
        -2.5,
        127.5,
        255.4,
        -129.0,
        2.0**31,
        -(2.0**31),
        2.0**63,
        2.0**64,
        1e30,
    ]
    for value in values:
        value = decode(encode(value, source), source)
        result = int(compute(f"cvt.{mode}.{to}.{source}", encode(value, source))[0])
        if math.isnan(value):
            expected = 0 if source != "f64" and to[1:] != "64" else wrap(1 << (int(to[1:]) - 1), to)
        elif math.isinf(value):
            expected = limits.max if value > 0 else limits.min
        else:
            expected = max(limits.min, min(limits.max, rounding(Fraction(value))))
        assert result == expected, value


@pytest.mark.parametrize("source", INTEGER_TYPES)
@pytest.mark.parametrize("to", FORMATS)
def test_integer_to_float(to: str, source: str):
    modes = ["rn"] if to in ("f16", "bf16") else ["rn", "rz", "rm", "rp"]

    @settings(max_examples=100, deadline=None)
    @given(integers_of(source))
    @example(wrap((1 << 62) + (1 << 9) + 1, source))
    @example(wrap((1 << 24) + 1, source))
    @example(wrap(-1, source))
    def check(value: int):
        for mode in modes:
            result = decode(compute(f"cvt.{mode}.{to}.{source}", array(value, source)), to)
            assert same(result, round_exact(Fraction(value), to, mode)), (value, mode)

    check()


def test_integer_to_integer():
    value = np.array([-1, 300, -300, 70000], np.int32)
    assert compute("cvt.s64.s32", value).tolist() == [-1, 300, -300, 70000]
    assert compute("cvt.u8.s32", value).tolist() == [255, 44, 212, 112]
    assert compute("cvt.sat.u8.s32", value).tolist() == [0, 255, 0, 255]
    assert compute("cvt.sat.s16.s32", value).tolist() == [-1, 300, -300, 32767]
    assert compute("cvt.s32.s16", value.astype(np.int16)).tolist() == [-1, 300, -300, 4464]
    assert compute("cvt.u32.u16", value.astype(np.uint16)).tolist() == [65535, 300, 65236, 4464]


def test_packing():
    high, low = np.array([1.0, -2.0], np.float32), np.array([0.5, 3.0], np.float32)
    packed = compute("cvt.rn.f16x2.f32", high, low).view(np.float16).reshape(-1, 2)
    assert packed.tolist() == [[0.5, 1.0], [3.0, -2.0]]
    packed = compute("cvt.rn.bf16x2.f32", high, low).view(np.uint16).reshape(-1, 2)
    assert packed.tolist() == [[0x3F00, 0x3F80], [0x4040, 0xC000]]
    tf32 = compute("cvt.rna.tf32.f32", np.array([1 + 2**-11, 1 + 2**-12], np.float32)).view(np.float32)
    assert tf32.tolist() == [1 + 2**-10, 1.0]
