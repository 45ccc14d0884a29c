#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

// What the sums of the arithmetic `bfloat16-pairs` are, operation by operation, in plain float32
// that every machine has. docs/reference/arithmetic.md says what is built from them.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Products of one chain's step: two neighbouring inputs.
constexpr std::size_t pair_inputs = 2;
/// Pairs of a segment. Its even pairs are one chain of sums, its odd pairs another.
constexpr std::size_t segment_pairs = 16;
constexpr std::size_t pair_segment_inputs = segment_pairs * pair_inputs;

/// x, or the zero of its sign if x is subnormal.
inline float flushed(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7F800000U) == 0) bits &= 0x80000000U;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/// a + b. Subnormal numbers, given or computed, are zeros of their sign.
inline float flushed_sum(float a, float b) { return flushed(flushed(a) + flushed(b)); }

/// a · b + c, rounded once. Subnormal numbers, given or computed, are zeros of their sign; a result
/// is subnormal if it is below 2^-126 when it is rounded to 24 bits with no least exponent.
inline float flushed_multiply_add(float a, float b, float c) {
  constexpr float least_normal = 0x1p-126f;
  a = flushed(a);
  b = flushed(b);
  c = flushed(c);
  const float result = fused_multiply_add(a, b, c);
  const float magnitude = result < 0.0f ? -result : result;
  if (magnitude != least_normal) return flushed(result);
  // Rounding to a subnormal's fewer bits may have reached 2^-126. Scaled by 2^64, which is exact,
  // the sum keeps all 24 bits. The smaller factor is scaled: the other one may be near the largest.
  const bool a_is_smaller = (a < 0.0f ? -a : a) < (b < 0.0f ? -b : b);
  const float scaled = fused_multiply_add(a_is_smaller ? a * 0x1p64f : a,
                                          a_is_smaller ? b : b * 0x1p64f, c * 0x1p64f);
  const float scaled_magnitude = scaled < 0.0f ? -scaled : scaled;
  return scaled_magnitude < least_normal * 0x1p64f ? result * 0.0f : result;
}

/// sum + a_1 · b_1 + a_0 · b_0 in this order, each step rounded as above. A pair is two bfloat16s,
/// the first in the lower half.
inline float add_pair(std::uint32_t a, std::uint32_t b, float sum) {
  float values[4];
  const std::uint32_t bits[4] = {a << 16, b << 16, a & 0xFFFF0000U, b & 0xFFFF0000U};
  memcpy(values, bits, sizeof values);
  return flushed_multiply_add(values[0], values[1],
                              flushed_multiply_add(values[2], values[3], sum));
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
