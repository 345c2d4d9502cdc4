"""Functions of f32 vectors, written once for any number of lanes; a scalar is lane 0 of four.

No table, no branch but for great arguments of sin, cos and tan, no rounding mode. Every operation is IEEE's, so results
are the same for any number of lanes, in every compiler, as long as it contracts nothing (`-ffp-contract=off`) and
assumes nothing of NaN and infinities (no `-ffast-math`). `$mad` is fused where the machine can.

Schemes: range reduction by W. J. Cody and W. Waite, "Software Manual for the Elementary Functions" (1980); exponent and
mantissa taken apart in integers, and minimax polynomials, as in J.-M. Muller, "Elementary Functions" (2016). The
coefficients are printed by bench/fit_math.py. `ERRORS` says how exact each function is.

In the texts `T` is the vector type, `I` the vector of integers of its width, and `$f` the function f for that type.
"""

from __future__ import annotations

ERRORS: dict[str, float] = {
    "exp": 1.02,
    "exp2": 0.88,
    "expm1": 1.50,
    "tanh": 1.34,
    "erf": 1.29,
    "log": 0.90,
    "log2": 1.07,
    "log10": 1.07,
    "log1p": 1.49,
    "sin": 1.58,
    "cos": 1.56,
    "tan": 3.69,
    "rsqrt": 1.50,
}
"""The largest error of each function over all 2³² floats, in units in the last place of the exact result, where the
machine multiplies and adds in one instruction (bench/c_math.py; test/unit/test_c_math_errors.py). Where it does not,
errors are up to 1.2 units greater."""

FUSED = "defined __FMA__ || defined __FP_FAST_FMAF || defined __aarch64__"
"""Whether the machine multiplies and adds in one instruction."""

FUNCTIONS: dict[str, str] = {
    # x · y + z, rounded once where the machine does it in one instruction, else twice.
    "mad": """\
T $mad(T x, T y, T z) {
#if FUSED
  return $fma(x, y, z);
#else
  return x * y + z;
#endif
}""".replace("FUSED", FUSED),
    # x with the sign of y in place of its own, which is +.
    "with_sign": """\
T $with_sign(T x, T y) { return (T)((I)x | ((I)y & (-0x7fffffff - 1))); }""",
    # x, or -x where the highest bit is 1.
    "flip_sign": """\
T $flip_sign(T x, I bits) { return (T)((I)x ^ (bits & (-0x7fffffff - 1))); }""",
    # The 13 low bits of 23 behind the point become 0.
    "to_tf32": """\
T $to_tf32(T x) { return (T)((I)x & ~0x1fff); }""",
    # x = n ln 2 + r. The first part of ln 2 has 15 bits, so its product with n is exact.
    "exp_remainder": """\
T $exp_remainder(T x, T n) { return $mad(n, $splat(-0x1.7f7d1cp-20f), $mad(n, $splat(-0x1.62e4p-1f), x)); }""",
    # e^r - 1 = r + r² q(r), |r| <= ln 2 / 2.
    "exp_polynomial": """\
T $exp_polynomial(T r) {
  T q = $splat(0x1.6a511ap-10f);
  q = $mad(q, r, $splat(0x1.12397cp-7f));
  q = $mad(q, r, $splat(0x1.5558acp-5f));
  q = $mad(q, r, $splat(0x1.555492p-3f));
  q = $mad(q, r, $splat(0x1.fffffcp-2f));
  return $mad(q * r, r, r);
}""",
    # e^x = 2ⁿ e^r. A number near 1.5 · 2²³ has a whole number in its low bits: adding 1.5 · 2²³ + 254 rounds, and
    # leaves n + 254, the sum of the exponents of two factors. There are two because 2ⁿ, unlike e^x, may be no float.
    "exp": """\
T $exp(T x) {
  T c = $select(x < -104.0f, $splat(-104.0f), x);
  c = $select(c > 89.0f, $splat(89.0f), c);
  T sum = $mad(c, $splat(0x1.715476p+0f), $splat(0x1.8001fcp+23f));
  T y = $exp_polynomial($exp_remainder(c, sum - 0x1.8001fcp+23f));
  I exponents = (I)sum, half = exponents >> 1;
  T factor = (T)(half << 23);
  return $mad(y, factor, factor) * (T)((exponents - half) << 23);
}""",
    # e^x of x in [-87, 88]: one factor, of exponent n + 127.
    "exp_normal": """\
T $exp_normal(T x) {
  T sum = $mad(x, $splat(0x1.715476p+0f), $splat(0x1.8000fep+23f));
  T factor = (T)((I)sum << 23);
  return $mad($exp_polynomial($exp_remainder(x, sum - 0x1.8000fep+23f)), factor, factor);
}""",
    # 2^x = 2ⁿ (1 + r p(r)), |r| <= 1/2, as of e^x.
    "exp2": """\
T $exp2(T x) {
  T c = $select(x < -151.0f, $splat(-151.0f), x);
  c = $select(c > 129.0f, $splat(129.0f), c);
  T sum = c + 0x1.8001fcp+23f;
  T r = c - (sum - 0x1.8001fcp+23f);
  T p = $splat(0x1.416b8p-13f);
  p = $mad(p, r, $splat(0x1.5f0838p-10f));
  p = $mad(p, r, $splat(0x1.3b2dep-7f));
  p = $mad(p, r, $splat(0x1.c6af7cp-5f));
  p = $mad(p, r, $splat(0x1.ebfbdcp-3f));
  p = $mad(p, r, $splat(0x1.62e43p-1f));
  I exponents = (I)sum, half = exponents >> 1;
  return $mad(p, r, $splat(1.0f)) * (T)(half << 23) * (T)((exponents - half) << 23);
}""",
    "exp2_ftz": "T $exp2_ftz(T x) { return $exp2(x); }",
    # e^x - 1 = 2ⁿ (e^r - 1) + (2ⁿ - 1). 2¹²⁸ is no float: there the factor 2 comes last, and the 1 does not count.
    "expm1": """\
T $expm1(T x) {
  T c = $select(x < -18.0f, $splat(-18.0f), x);
  c = $select(c > 89.0f, $splat(89.0f), c);
  T sum = $mad(c, $splat(0x1.715476p+0f), $splat(0x1.8000fep+23f));
  I exponent = (I)sum - 0x4b400000, over = (exponent > 254) & 1;
  T factor = (T)((exponent - over) << 23);
  T y = $mad(factor, $exp_polynomial($exp_remainder(c, sum - 0x1.8000fep+23f)), factor - 1.0f);
  return $with_sign(y * (T)((over + 127) << 23), x);
}""",
    # |x| < 5/8: x + x³ p(x²); else 1 - 2 / (e^2x + 1).
    "tanh": """\
T $tanh(T x) {
  T a = $abs(x), s = x * x;
  T p = $splat(-0x1.750ce4p-8f);
  p = $mad(p, s, $splat(0x1.51f8cep-6f));
  p = $mad(p, s, $splat(-0x1.b835a4p-5f));
  p = $mad(p, s, $splat(0x1.1106f6p-3f));
  p = $mad(p, s, $splat(-0x1.555532p-2f));
  T c = $select(a > 10.0f, $splat(10.0f), a);
  T great = 1.0f - 2.0f / ($exp_normal(c + c) + 1.0f);
  return $with_sign($select(a < 0.625f, $mad(p * s, a, a), great), x);
}""",
    # |x| < 9/8: x + x p(x²); else q(|x| - 2.4375), which is 1 from 3.9. (erf 2.4375 is nearly a float.)
    "erf": """\
T $erf(T x) {
  T a = $abs(x), s = x * x;
  T p = $splat(0x1.284434p-14f);
  p = $mad(p, s, $splat(-0x1.9726ep-11f));
  p = $mad(p, s, $splat(0x1.522ecap-8f));
  p = $mad(p, s, $splat(-0x1.b7bbdcp-6f));
  p = $mad(p, s, $splat(0x1.ce2984p-4f));
  p = $mad(p, s, $splat(-0x1.81272ep-2f));
  p = $mad(p, s, $splat(0x1.06eba8p-3f));
  T t = $select(a > 3.921875f, $splat(1.484375f), a - 2.4375f);
  T q = $splat(0x1.164858p-20f);
  q = $mad(q, t, $splat(-0x1.624e0cp-17f));
  q = $mad(q, t, $splat(0x1.733572p-16f));
  q = $mad(q, t, $splat(0x1.ba0512p-15f));
  q = $mad(q, t, $splat(-0x1.3ae31cp-12f));
  q = $mad(q, t, $splat(0x1.cb76b8p-12f));
  q = $mad(q, t, $splat(0x1.87d548p-12f));
  q = $mad(q, t, $splat(-0x1.8b62cep-9f));
  q = $mad(q, t, $splat(0x1.d86bb8p-8f));
  q = $mad(q, t, $splat(-0x1.5e8d9cp-7f));
  q = $mad(q, t, $splat(0x1.60867ap-7f));
  q = $mad(q, t, $splat(-0x1.d9ca32p-8f));
  q = $mad(q, t, $splat(0x1.84badcp-9f));
  q = $mad(q, t, $splat(0x1.ffb5bep-1f));
  return $with_sign($select(a < 1.125f, $mad(p, a, a), q), x);
}""",
    # x = 2ⁿ (1 + f), 1 + f in [√½, √2), from the bits of x.
    "log_exponent": """\
I $log_exponent(U bits) { return (I)(bits - 0x3f3504f3) >> 23; }""",
    "log_fraction": """\
T $log_fraction(U bits, I n) { return (T)(bits - ((U)n << 23)) - 1.0f; }""",
    # ln(1 + f) - f = f² (-½ + f p(f)).
    "log_tail": """\
T $log_tail(T f) {
  T p = $splat(0x1.146f7ap-4f);
  p = $mad(p, f, $splat(-0x1.de0766p-4f));
  p = $mad(p, f, $splat(0x1.e6c402p-4f));
  p = $mad(p, f, $splat(-0x1.fc283p-4f));
  p = $mad(p, f, $splat(0x1.233b64p-3f));
  p = $mad(p, f, $splat(-0x1.555c46p-3f));
  p = $mad(p, f, $splat(0x1.99a478p-3f));
  p = $mad(p, f, $splat(-0x1.000006p-2f));
  p = $mad(p, f, $splat(0x1.555548p-2f));
  return $mad(p, f, $splat(-0.5f)) * f * f;
}""",
    # ln 0 = -∞, ln ∞ = ∞, and NaN of NaN and of numbers below 0: `y` where x is none of these.
    "log_special": """\
T $log_special(T x, T y) {
  T special = $select(x == 0.0f, $splat(-__builtin_inff()), $splat(__builtin_nanf("")));
  return $select(x > 0.0f, $select(x < __builtin_inff(), y, x), special);
}""",
    # A subnormal number is made a normal one first.
    "log": """\
T $log(T x) {
  I small = x < 0x1p-126f;
  U bits = (U)$select(small, x * 0x1p+23f, x);
  I n = $log_exponent(bits);
  T f = $log_fraction(bits, n);
  T e = __builtin_convertvector(n - (small & 23), T);
  T low = $mad(e, $splat(0x1.7f7d1cp-20f), $log_tail(f));
  return $log_special(x, $mad(e, $splat(0x1.62e4p-1f), f + low));
}""",
    "log2": """\
T $log2(T x) {
  I small = x < 0x1p-126f;
  U bits = (U)$select(small, x * 0x1p+23f, x);
  I n = $log_exponent(bits);
  T f = $log_fraction(bits, n);
  T e = __builtin_convertvector(n - (small & 23), T);
  T low = $mad(f, $splat(0x1.4ae0cp-26f), $log_tail(f) * 0x1.715476p+0f);
  return $log_special(x, e + $mad(f, $splat(0x1.715476p+0f), low));
}""",
    "log10": """\
T $log10(T x) {
  I small = x < 0x1p-126f;
  U bits = (U)$select(small, x * 0x1p+23f, x);
  I n = $log_exponent(bits);
  T f = $log_fraction(bits, n);
  T e = __builtin_convertvector(n - (small & 23), T);
  T low = $mad(f, $splat(-0x1.5b235ep-27f), $log_tail(f) * 0x1.bcb7b2p-2f);
  low = $mad(e, $splat(0x1.3509f8p-18f), low);
  return $log_special(x, $mad(e, $splat(0x1.344p-2f), $mad(f, $splat(0x1.bcb7b2p-2f), low)));
}""",
    # ln u, u = 1 + x rounded, and the rounding's error (Knuth's sum) put back into f.
    "log1p": """\
T $log1p(T x) {
  T u = x + 1.0f, part = u - 1.0f;
  T error = (1.0f - (u - part)) + (x - part);
  U bits = (U)u;
  I n = $log_exponent(bits), counts = n < 32;
  error = (T)((I)error & counts) * (T)((127 - (n & counts)) << 23);
  T f = $log_fraction(bits, n) + error;
  T e = __builtin_convertvector(n, T);
  T low = $mad(e, $splat(0x1.7f7d1cp-20f), $log_tail(f));
  return $with_sign($log_special(u, $mad(e, $splat(0x1.62e4p-1f), f + low)), x);
}""",
    # r = x - n π/2, |n| < 2¹⁵; `shifted` is n + 1.5 · 2²³. Fused, n times the first part of π/2 is taken from x
    # exactly; not fused, so are the products with parts of 8 bits.
    "quarter_turns": """\
T $quarter_turns(T x) { return $mad(x, $splat(0x1.45f306p-1f), $splat(0x1.8p+23f)); }""",
    "turn_remainder": """\
T $turn_remainder(T x, T shifted) {
  T n = shifted - 0x1.8p+23f;
#if FUSED
  T r = $fma(n, $splat(0x1.777a5cp-25f), $fma(n, $splat(-0x1.921fb6p+0f), x));
  return $fma(n, $splat(0x1.ee59dap-50f), r);
#else
  T r = x - n * 0x1.92p+0f - n * 0x1.fap-12f - n * 0x1.54p-20f - n * 0x1.1p-30f;
  return r - n * 0x1.68c234p-39f;
#endif
}""".replace("FUSED", FUSED),
    # Of |r| <= π/4.
    "sin_polynomial": """\
T $sin_polynomial(T r) {
  T s = r * r, p = $splat(-0x1.991c26p-13f);
  p = $mad(p, s, $splat(0x1.1106c6p-7f));
  p = $mad(p, s, $splat(-0x1.555544p-3f));
  return $mad(p * s, r, r);
}""",
    "cos_polynomial": """\
T $cos_polynomial(T r) {
  T s = r * r, p = $splat(0x1.99de6ep-16f);
  p = $mad(p, s, $splat(-0x1.6c0c14p-10f));
  p = $mad(p, s, $splat(0x1.55554ap-5f));
  return $mad(p * s, s, $mad(s, $splat(-0.5f), $splat(1.0f)));
}""",
    # Lanes beyond 2¹⁵ take the C library's, lane by lane, and such arguments are rare.
    "sin": """\
T $sin(T x) {
  T a = $abs(x), shifted = $quarter_turns(a);
  T r = $turn_remainder(a, shifted);
  I n = (I)shifted;
  T y = $select((n & 1) != 0, $cos_polynomial(r), $sin_polynomial(r));
  y = $flip_sign(y, ((n & 2) << 30) ^ (I)x);
  I great = a > 0x1p+15f;
  return $any(great) ? $select(great, $libm_sin(x), y) : y;
}""",
    "cos": """\
T $cos(T x) {
  T a = $abs(x), shifted = $quarter_turns(a);
  T r = $turn_remainder(a, shifted);
  I n = (I)shifted & 3;
  T y = $select((n & 1) != 0, $sin_polynomial(r), $cos_polynomial(r));
  y = $flip_sign(y, (n + 1) << 30);
  I great = a > 0x1p+15f;
  return $any(great) ? $select(great, $libm_cos(x), y) : y;
}""",
    "tan": """\
T $tan(T x) {
  T a = $abs(x), shifted = $quarter_turns(a);
  T r = $turn_remainder(a, shifted), sine = $sin_polynomial(r), cosine = $cos_polynomial(r);
  I odd = ((I)shifted & 1) != 0;
  T y = $flip_sign($select(odd, cosine, sine) / $select(odd, sine, cosine), ((I)shifted << 31) ^ (I)x);
  I great = a > 0x1p+15f;
  return $any(great) ? $select(great, $libm_tan(x), y) : y;
}""",
}
