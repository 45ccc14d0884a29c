#pragma once

#include <cstdint>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// e^x in two parts, significand · 2^exponent.
struct ScaledExponential {
  double significand = 0.0;  ///< in [1/√2, √2], up to its error
  std::int32_t exponent = 0;
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// e^x before its parts are put together, for those who scale it further: the arithmetic of
/// exponential. Range: x in [-708, 709].
TEMPERA_HOST_DEVICE inline ScaledExponential scaled_exponential(double x) {
  constexpr double log2_e = 0x1.71547652b82fep+0;
  constexpr double ln2_high = 0x1.62e42fefa39efp-1;
  constexpr double ln2_low = 0x1.abc9e3b39803fp-56;
  constexpr double to_integer = 0x1.8p+52;  // adding it rounds to the nearest integer
  const double shifted = fused_multiply_add(x, log2_e, to_integer);
  const double n = shifted - to_integer;
  double r = fused_multiply_add(-n, ln2_high, x);
  r = fused_multiply_add(-n, ln2_low, r);
  // Taylor series to r^13: with |r| <= ln2/2 the rest is below 5e-18.
  double p = 1.0 / 6227020800.0;
  p = fused_multiply_add(p, r, 1.0 / 479001600.0);
  p = fused_multiply_add(p, r, 1.0 / 39916800.0);
  p = fused_multiply_add(p, r, 1.0 / 3628800.0);
  p = fused_multiply_add(p, r, 1.0 / 362880.0);
  p = fused_multiply_add(p, r, 1.0 / 40320.0);
  p = fused_multiply_add(p, r, 1.0 / 5040.0);
  p = fused_multiply_add(p, r, 1.0 / 720.0);
  p = fused_multiply_add(p, r, 1.0 / 120.0);
  p = fused_multiply_add(p, r, 1.0 / 24.0);
  p = fused_multiply_add(p, r, 1.0 / 6.0);
  p = fused_multiply_add(p, r, 0.5);
  p = fused_multiply_add(p, r, 1.0);
  p = fused_multiply_add(p, r, 1.0);
  // The last bits of `shifted` are n itself, so that a device needs no conversion of 64 bits.
  return {p, static_cast<std::int32_t>(static_cast<std::uint32_t>(to_bits(shifted)))};
}

/// e^x in double, the same bits on every host and device.
///
/// Range: x in [-708, 709]; below it returns 0 exactly (such a ticket is far under every grain of
/// the lottery), above it +infinity. NaN in, NaN out.
/// Error: under 1 ulp; the test tests/gpu/core/lottery/exponential.cpp measures it against 50
/// digits.
TEMPERA_HOST_DEVICE inline double exponential(double x) {
  if (x != x) return x;
  if (x < -708.0) return 0.0;
  if (x > 709.0) return from_bits(0x7FF0000000000000ULL);
  const ScaledExponential parts = scaled_exponential(x);
  const std::int64_t exponent = parts.exponent;
  // 2^n in two steps, so that n = 1024 near x = 709 does not overflow too early.
  const std::int64_t half = exponent / 2;
  const double scale_1 = from_bits(static_cast<std::uint64_t>(half + 1023) << 52);
  const double scale_2 = from_bits(static_cast<std::uint64_t>(exponent - half + 1023) << 52);
  return parts.significand * scale_1 * scale_2;
}

/// The natural logarithm of x in double, the same bits on every host and device.
///
/// Range: normal x > 0. log 0 = -infinity; NaN for x < 0 and NaN. Subnormal x does not occur on the
/// sampler's path (sums of integer tickets) and is treated as 0.
/// Error: under 1.5 ulp away from x = 1 and absolutely below 2^-53 near it.
TEMPERA_HOST_DEVICE inline double logarithm(double x) {
  if (!(x >= 0.0)) return from_bits(0x7FF8000000000000ULL);
  if (x < 0x1p-1022) return from_bits(0xFFF0000000000000ULL);
  if (x > 0x1.fffffffffffffp+1023) return x;
  const std::uint64_t bits = to_bits(x);
  std::int64_t exponent = static_cast<std::int64_t>(bits >> 52) - 1023;
  double m = from_bits((bits & 0x000FFFFFFFFFFFFFULL) | 0x3FF0000000000000ULL);
  if (m > 0x1.6a09e667f3bcdp+0) {  // sqrt 2
    m *= 0.5;
    exponent += 1;
  }
  constexpr double ln2_high = 0x1.62e42fefa3800p-1;  // trailing zeros: n·ln2_high is exact
  constexpr double ln2_low = 0x1.ef35793c76730p-45;
  // log m = 2 atanh(s), s = f/(2+f); written as f - s·(f - tail) so that the leading f is exact.
  const double f = m - 1.0;
  const double s = f / (2.0 + f);
  const double z = s * s;
  double tail = 2.0 / 25.0;
  tail = fused_multiply_add(tail, z, 2.0 / 23.0);
  tail = fused_multiply_add(tail, z, 2.0 / 21.0);
  tail = fused_multiply_add(tail, z, 2.0 / 19.0);
  tail = fused_multiply_add(tail, z, 2.0 / 17.0);
  tail = fused_multiply_add(tail, z, 2.0 / 15.0);
  tail = fused_multiply_add(tail, z, 2.0 / 13.0);
  tail = fused_multiply_add(tail, z, 2.0 / 11.0);
  tail = fused_multiply_add(tail, z, 2.0 / 9.0);
  tail = fused_multiply_add(tail, z, 2.0 / 7.0);
  tail = fused_multiply_add(tail, z, 2.0 / 5.0);
  tail = fused_multiply_add(tail, z, 2.0 / 3.0);
  tail = tail * z;
  // 2 atanh s = 2s + s·tail and 2s = f - s·f, so log m = f - s·(f - tail).
  const double n = static_cast<double>(exponent);
  const double correction = fused_multiply_add(n, ln2_low, -(s * (f - tail)));
  return fused_multiply_add(n, ln2_high, f + correction);
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
