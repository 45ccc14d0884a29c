#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

// What one step of a tensor core computes, as plain integer arithmetic, by the public model of
// microsoft/MMA-Sim (arXiv 2512.07004). docs/arithmetic.md says what is built from it.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Products of one step, m16n8k16 for bfloat16.
constexpr int step_products = 16;

/// c + Σ_{i < 16} a_i · b_i as Hopper's mma.sync and wgmma compute it from bfloat16 (given as their
/// bits) with a float32 accumulator: every term, c among them, is cut toward zero to 25 fractional
/// bits below the largest exponent of any term (that of a product being the sum of its factors'
/// exponents), the cut terms are summed exactly, and the sum is cut toward zero to float32.
///
/// Range: finite operands; subnormal ones are taken as they are.
inline float hopper_step(const std::uint16_t* a, const std::uint16_t* b, float c) {
  constexpr int fraction_bits = 25;
  // Term i is (−1)^negative · magnitude · 2^(exponent − fraction_bits).
  std::int64_t magnitude[step_products + 1];
  int exponent[step_products + 1];
  bool negative[step_products + 1];

  for (int i = 0; i < step_products; ++i) {
    const int exponent_a = (a[i] >> 7) & 0xFF;
    const int exponent_b = (b[i] >> 7) & 0xFF;
    const std::int64_t significand_a = (a[i] & 0x7F) | (exponent_a != 0 ? 0x80 : 0);
    const std::int64_t significand_b = (b[i] & 0x7F) | (exponent_b != 0 ? 0x80 : 0);
    // Both significands have 7 fractional bits.
    magnitude[i] = significand_a * significand_b << (fraction_bits - 14);
    exponent[i] = (exponent_a != 0 ? exponent_a : 1) + (exponent_b != 0 ? exponent_b : 1) - 254;
    negative[i] = ((a[i] ^ b[i]) & 0x8000) != 0;
  }
  std::uint32_t bits;
  memcpy(&bits, &c, sizeof bits);
  const int exponent_c = static_cast<int>((bits >> 23) & 0xFF);
  const std::int64_t significand_c = (bits & 0x7FFFFF) | (exponent_c != 0 ? 0x800000 : 0);
  magnitude[step_products] = significand_c << (fraction_bits - 23);
  exponent[step_products] = (exponent_c != 0 ? exponent_c : 1) - 127;
  negative[step_products] = (bits >> 31) != 0;

  int largest = exponent[0];
  for (const int e : exponent) largest = e > largest ? e : largest;
  std::int64_t sum = 0;
  for (int i = 0; i <= step_products; ++i) {
    const int shift = largest - exponent[i];
    const std::int64_t cut = shift > 62 ? 0 : magnitude[i] >> shift;
    sum += negative[i] ? -cut : cut;
  }
  if (sum == 0) return 0.0f;

  const std::uint64_t size = sum < 0 ? -static_cast<std::uint64_t>(sum) : std::uint64_t(sum);
  const int leading = 63 - __builtin_clzll(size);
  const int power = largest - fraction_bits + leading;  // of the leading bit
  constexpr int least_normal = -126;
  int dropped = leading - 23;
  if (power < least_normal) dropped += least_normal - power;
  const std::uint64_t kept = dropped > 63 ? 0 : dropped >= 0 ? size >> dropped : size << -dropped;
  std::uint32_t result = power < least_normal ? static_cast<std::uint32_t>(kept)
                                              : (static_cast<std::uint32_t>(power + 127) << 23) |
                                                    (static_cast<std::uint32_t>(kept) & 0x7FFFFF);
  if (sum < 0) result |= 0x80000000U;
  float value;
  memcpy(&value, &result, sizeof value);
  return value;
}

/// The bits of x rounded to bfloat16, to nearest, ties to even. Range: x is no NaN.
TEMPERA_HOST_DEVICE inline std::uint16_t to_bfloat16(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return static_cast<std::uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

/// The float32 that these bits of a bfloat16 are.
TEMPERA_HOST_DEVICE inline float from_bfloat16(std::uint16_t bfloat16) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bfloat16) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
