"""Division by multiplication: exact for every dividend that it is meant for, and recognised by the range analysis."""

import pytest
from xdsl.context import Context
from xdsl.parser import Parser

from uop.dialects import get_all_dialects
from uop.rewriting.interval_arithmetic import Interval
from uop.rewriting.intervals import IntervalAnalysis
from uop.rewriting.quotients import is_exact, magic_numbers

GREATEST = (1 << 31) - 1


@pytest.mark.parametrize("greatest", [0, 1, 2, 14, 15, 16, 255, 256, 999])
def test_small_dividends(greatest: int) -> None:
    for divisor in range(1, 1100):
        numbers = magic_numbers(greatest, divisor)
        assert numbers is not None
        multiplier, shift = numbers
        assert all(x * multiplier >> shift == x // divisor for x in range(greatest + 1))


@pytest.mark.parametrize("greatest", [65535, 10**6, (1 << 24) + 1, 10**9, GREATEST])
def test_large_dividends(greatest: int) -> None:
    """The quotient changes at multiples of the divisor: there, and before them, an error would show first."""
    found = 0
    for divisor in (*range(1, 200), 641, 1000, 4095, 65537, 10**6 + 3, GREATEST):
        numbers = magic_numbers(greatest, divisor)
        if numbers is None:
            continue
        found += 1
        multiplier, shift = numbers
        last = greatest // divisor * divisor
        for x in {0, min(divisor - 1, greatest), last, max(last - 1, 0), greatest, greatest // 2}:
            assert x * multiplier >> shift == x // divisor
        assert greatest * multiplier < 1 << 63
    assert found > 100


def test_inexact_numbers_are_refused() -> None:
    assert is_exact(255, 3, 171, 9)
    assert is_exact(511, 3, 171, 9)
    assert not is_exact(512, 3, 171, 9)
    assert not is_exact(10, 3, 170, 9)
    assert 512 * 171 >> 9 != 512 // 3


REMAINDER = """
gpu_kernel.kernel @k(%out : memref<128xf32>) outputs 1 grid [1, 1, 1] block 128 arch "sm_90" index_bits 32 {{
  %tid = gpu_kernel.thread_id
  %a = uop.const {multiplier} : index
  %b = uop.const {shift} : index
  %c = uop.const -{divisor} : index
  %0 = uop.mul %tid, %a : index
  %1 = uop.shr %0, %b : index
  %2 = uop.mul %1, %c : index
  %3 = uop.add %tid, %2 : index
  %x = uop.const 0.0 : f32
  gpu_kernel.store %x, %out[%3] : f32 -> memref<128xf32>
}}
"""


def remainder(multiplier: int, shift: int, divisor: int) -> Interval | None:
    context = Context()
    for name, factory in get_all_dialects().items():
        context.register_dialect(name, factory)
    module = Parser(context, REMAINDER.format(multiplier=multiplier, shift=shift, divisor=divisor)).parse_module()
    (addition,) = (op for op in module.walk() if op.name == "uop.add")
    return IntervalAnalysis().of(addition.results[0])


def test_a_remainder_without_division_has_its_bounds() -> None:
    multiplier, shift = magic_numbers(127, 7) or (0, 0)
    assert remainder(multiplier, shift, 7) == Interval(0, 6)
    # Not the quotient by 7, and one that is wrong for some: nothing but what sums say.
    assert remainder(multiplier, shift, 6) != Interval(0, 5)
    assert remainder(multiplier - 1, shift, 7) != Interval(0, 6)
