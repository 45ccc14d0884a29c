#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// e^x in float32, the same bits on every host and device; free of branches, so that loops over it
/// vectorise.
///
/// Range: every x but NaN. Below -87 it returns e^-87 (1.6e-38, which no sum of attention weights
/// with a 1 in it can tell from 0), above 88 it returns e^88.
/// Error: under 1 ulp.
// A call for each element would be what a loop over it then consists of.
[[gnu::always_inline]] TEMPERA_HOST_DEVICE inline float float32_exponential(float x) {
  constexpr float log2_e = 0x1.715476p+0f;
  constexpr float ln2_high = 0x1.62e430p-1f;
  constexpr float ln2_low = -0x1.05c610p-29f;
  constexpr float to_integer = 0x1.8p+23f;  // adding it rounds to the nearest integer
  x = x < -87.0f ? -87.0f : x;
  x = x > 88.0f ? 88.0f : x;
  const float shifted = fused_multiply_add(x, log2_e, to_integer);
  const float n = shifted - to_integer;
  float r = fused_multiply_add(-n, ln2_high, x);
  r = fused_multiply_add(-n, ln2_low, r);
  // Taylor series to r^7: with |r| <= ln2/2 the rest is below 6e-9, a tenth of an ulp of 1.
  float p = 1.0f / 5040.0f;
  p = fused_multiply_add(p, r, 1.0f / 720.0f);
  p = fused_multiply_add(p, r, 1.0f / 120.0f);
  p = fused_multiply_add(p, r, 1.0f / 24.0f);
  p = fused_multiply_add(p, r, 1.0f / 6.0f);
  p = fused_multiply_add(p, r, 0.5f);
  p = fused_multiply_add(p, r, 1.0f);
  p = fused_multiply_add(p, r, 1.0f);
  // The low bits of `shifted` are n; moved to the exponent they scale by 2^n, -126 <= n <= 127.
  std::uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3F800000u;
  float scale;
  memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
