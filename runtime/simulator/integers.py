"""Integer arithmetic of PTX on numpy arrays. Arrays come in the dtype of the instruction's type."""

from __future__ import annotations

import numpy as np

from .formats import SIGNED, UNSIGNED, Array


def bits(values: Array) -> int:
    """Width of the elements."""
    return values.dtype.itemsize * 8


def unsigned(values: Array) -> Array:
    """The same bits, unsigned."""
    return values.view(UNSIGNED[bits(values)])


def multiply_wide(a: Array, b: Array) -> Array:
    """The full product, in twice the width (at most 32 bits in)."""
    table = SIGNED if a.dtype.kind == "i" else UNSIGNED
    return np.multiply(a, b, dtype=table[2 * bits(a)])


def multiply_high(a: Array, b: Array) -> Array:
    """The upper half of the full product."""
    width = bits(a)
    if width < 64:
        product = multiply_wide(a, b)
        return (product >> product.dtype.type(width)).astype(a.dtype)
    mask, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    ua, ub = unsigned(a), unsigned(b)
    a_low, a_high, b_low, b_high = ua & mask, ua >> half, ub & mask, ub >> half
    middle = a_high * b_low + ((a_low * b_low) >> half)
    carry = a_low * b_high + (middle & mask)
    high = a_high * b_high + (middle >> half) + (carry >> half)
    if a.dtype.kind == "i":
        zero = np.uint64(0)
        high = high - np.where(a < 0, ub, zero) - np.where(b < 0, ua, zero)
        return high.view(np.int64)
    return high


def divide(a: Array, b: Array) -> Array:
    """Quotient truncated towards zero. Division by zero gives all ones, as the hardware does for unsigned."""
    is_zero = b == 0
    divisor = np.where(is_zero, b.dtype.type(1), b)
    quotient = a // divisor
    if a.dtype.kind == "i":
        inexact = quotient * divisor != a
        quotient = quotient + (inexact & ((a < 0) != (divisor < 0))).astype(a.dtype)
    ones = np.array(-1, np.int64).astype(a.dtype)
    return np.where(is_zero, ones, quotient)


def remainder(a: Array, b: Array) -> Array:
    """Remainder with the sign of the dividend; the dividend itself where the divisor is zero."""
    divisor = np.where(b == 0, b.dtype.type(1), b)
    return np.where(b == 0, a, a - divide(a, divisor) * divisor)


def add_saturating(a: Array, b: Array) -> Array:
    """s32 addition clamped to the range."""
    limits = np.iinfo(np.int32)
    return np.clip(a.astype(np.int64) + b.astype(np.int64), limits.min, limits.max).astype(np.int32)


def subtract_saturating(a: Array, b: Array) -> Array:
    """s32 subtraction clamped to the range."""
    limits = np.iinfo(np.int32)
    return np.clip(a.astype(np.int64) - b.astype(np.int64), limits.min, limits.max).astype(np.int32)


def add_with_carry(a: Array, b: Array, carry: Array) -> tuple[Array, Array]:
    """Unsigned a + b + carry and the carry out."""
    partial = a + b
    total = partial + carry.astype(a.dtype)
    return total, (partial < a) | (total < partial)


def subtract_with_borrow(a: Array, b: Array, borrow: Array) -> tuple[Array, Array]:
    """Unsigned a - b - borrow and the borrow out."""
    partial = a - b
    total = partial - borrow.astype(a.dtype)
    return total, (a < b) | (partial < borrow.astype(a.dtype))


def shift_left(a: Array, amount: Array) -> Array:
    """Amounts beyond the width give zero."""
    width = bits(a)
    shifted = a << np.minimum(amount, np.uint32(width - 1)).astype(a.dtype)
    return np.where(amount < width, shifted, a.dtype.type(0))


def shift_right(a: Array, amount: Array) -> Array:
    """Arithmetic for signed, logical for unsigned. Amounts beyond the width give the sign or zero."""
    width = bits(a)
    shifted = a >> np.minimum(amount, np.uint32(width - 1)).astype(a.dtype)
    return shifted if a.dtype.kind == "i" else np.where(amount < width, shifted, a.dtype.type(0))


def funnel_shift(low: Array, high: Array, amount: Array, *, left: bool, wrap: bool) -> Array:
    """shf: shift the 64-bit value high:low by 0 to 32 bits, and take the upper (left) or lower (right) half."""
    both = low.astype(np.uint64) | (high.astype(np.uint64) << np.uint64(32))
    count = (amount & np.uint32(31) if wrap else np.minimum(amount, np.uint32(32))).astype(np.uint64)
    shifted = (both << count) >> np.uint64(32) if left else both >> count
    return shifted.astype(np.uint32)


def extract_field(a: Array, position: Array, length: Array) -> Array:
    """bfe: `length` bits from `position`, sign-extended for signed types."""
    width = bits(a)
    position, length = position & np.uint32(255), length & np.uint32(255)
    field = shift_right(unsigned(a), position) & _low_ones(length, width)
    if a.dtype.kind == "u":
        return field
    # A field that goes beyond the top bit ends there: that bit is its sign.
    count = np.minimum(length, np.uint32(width) - np.minimum(position, np.uint32(width)))
    last = np.minimum(position + length - np.uint32(1), np.uint32(width - 1))
    sign = shift_right(unsigned(a), last) & field.dtype.type(1)
    is_negative = (sign != 0) & (length != 0)
    return np.where(is_negative, field | ~_low_ones(count, width), field).view(a.dtype)


def insert_field(a: Array, b: Array, position: Array, length: Array) -> Array:
    """bfi: b with `length` bits of a put at `position`."""
    width = bits(b)
    position, length = position & np.uint32(255), length & np.uint32(255)
    mask = shift_left(_low_ones(length, width), position)
    return (shift_left(a, position) & mask) | (b & ~mask)


def _low_ones(count: Array, width: int) -> Array:
    """Integers whose lowest `count` bits are ones."""
    dtype = UNSIGNED[width]
    one = dtype.type(1)
    partial: Array = (one << np.minimum(count, np.uint32(width - 1)).astype(dtype)) - one
    return np.where(count < width, partial, dtype.type((1 << width) - 1))


def count_ones(a: Array) -> Array:
    """popc, as u32."""
    table = np.array([bin(byte).count("1") for byte in range(256)], np.uint8)
    octets = np.ascontiguousarray(a)[..., None].view(np.uint8)
    return table[octets].sum(axis=-1, dtype=np.uint32)


def count_leading_zeros(a: Array) -> Array:
    """clz, as u32."""
    width = bits(a)
    smeared, shift = a, 1
    while shift < width:
        smeared = smeared | (smeared >> a.dtype.type(shift))
        shift *= 2
    return np.uint32(width) - count_ones(smeared)


def reverse_bits(a: Array) -> Array:
    """brev."""
    table = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], np.uint8)
    octets = np.ascontiguousarray(a)[..., None].view(np.uint8)
    return np.ascontiguousarray(table[octets][..., ::-1]).view(a.dtype)[..., 0]


def find_leading_bit(a: Array, *, as_shift: bool) -> Array:
    """bfind: position of the most significant non-sign bit, all ones if there is none."""
    magnitude = unsigned(np.where(a < 0, ~a, a)) if a.dtype.kind == "i" else a
    leading = count_leading_zeros(magnitude)
    last = np.uint32(bits(a) - 1)
    return np.where(magnitude == 0, np.uint32(0xFFFFFFFF), leading if as_shift else last - leading)


def permute_bytes(a: Array, b: Array, selector: Array) -> Array:
    """prmt: each nibble of `selector` picks a byte of b:a; its top bit replicates that byte's sign."""
    both = a.astype(np.uint64) | (b.astype(np.uint64) << np.uint64(32))
    result = np.uint32(0)
    for index in range(4):
        nibble = (selector >> np.uint32(4 * index)) & np.uint32(15)
        shift = (nibble & np.uint32(7)).astype(np.uint64) * np.uint64(8)
        byte = ((both >> shift) & np.uint64(255)).astype(np.uint32)
        sign = np.where(byte & np.uint32(128), np.uint32(255), np.uint32(0))
        byte = np.where(nibble & np.uint32(8), sign, byte)
        result = result | (byte << np.uint32(8 * index))
    return np.asarray(result)


def logic3(a: Array, b: Array, c: Array, table: int) -> Array:
    """lop3: bit `4a + 2b + c` of `table`, for each bit."""
    result = a.dtype.type(0)
    for index in range(8):
        if table >> index & 1:
            result = result | ((a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c))
    return np.asarray(result)


def _parts(values: Array, bits: int, is_signed: bool) -> Array:
    """Each 32-bit number as its parts of `bits` bits, the lowest first, along a new last axis."""
    dtype = np.dtype(f"{'i' if is_signed else 'u'}{bits // 8}")
    return np.ascontiguousarray(values)[..., None].view(dtype).astype(np.int64)


def dot4(a: Array, b: Array, c: Array, signs: tuple[bool, bool]) -> Array:
    """dp4a: the dot product of four bytes, plus c."""
    products = _parts(a, 8, signs[0]) * _parts(b, 8, signs[1])
    return (products.sum(axis=-1) + c.astype(np.int64)).astype(c.dtype)


def dot2(a: Array, b: Array, c: Array, signs: tuple[bool, bool], high: bool) -> Array:
    """dp2a: the dot product of two 16-bit numbers and the low (high) two bytes of b, plus c."""
    octets = _parts(b, 8, signs[1])
    products = _parts(a, 16, signs[0]) * (octets[..., 2:] if high else octets[..., :2])
    return (products.sum(axis=-1) + c.astype(np.int64)).astype(c.dtype)
