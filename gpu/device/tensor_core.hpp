#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

// What one step of a tensor core computes, as plain integer arithmetic, by the public model of
// microsoft/MMA-Sim (arXiv 2511.10909). Khattak and Mikaitis have modelled A100, H100 and B200
// independently of it (arXiv 2512.07004). docs/reference/arithmetic.md says what is built from the
// model, and tests/fixtures/tensor_core/ holds this against MMA-Sim.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Products of one step, m16n8k16 for bfloat16.
constexpr int step_products = 16;

/// What tells the rules of chips apart.
struct TensorCoreRule {
  int products;       ///< that are summed at a time
  int fraction_bits;  ///< that a term keeps below the largest exponent
  int zero_exponent;  ///< of a term that is 0
};
constexpr TensorCoreRule hopper_rule{16, 25, -133};
constexpr TensorCoreRule ampere_rule{8, 24, -132};

/// c + Σ_{i < Rule.products} a_i · b_i from bfloat16 (given as their bits) with a float32
/// accumulator: every term, c among them, is cut toward zero to Rule.fraction_bits below the
/// largest exponent of any term, the cut terms are summed exactly, and the sum is cut toward zero
/// to float32. The exponent of a product is the sum of its factors', that of a subnormal the least
/// normal one, that of a zero Rule.zero_exponent. A zero has no sign, and what overflows is
/// infinite; infinities and NaN give what their exact sum would.
template <TensorCoreRule Rule>
inline float fused_dot_product(const std::uint16_t* a, const std::uint16_t* b, float c) {
  constexpr int terms = Rule.products + 1;
  // Term i is (−1)^negative · magnitude · 2^(exponent − fraction_bits).
  std::int64_t magnitude[terms];
  int exponent[terms];
  bool negative[terms];
  bool finite = true;

  for (int i = 0; i < Rule.products; ++i) {
    const int exponent_a = (a[i] >> 7) & 0xFF;
    const int exponent_b = (b[i] >> 7) & 0xFF;
    const std::int64_t significand_a = (a[i] & 0x7F) | (exponent_a != 0 ? 0x80 : 0);
    const std::int64_t significand_b = (b[i] & 0x7F) | (exponent_b != 0 ? 0x80 : 0);
    finite = finite && exponent_a != 0xFF && exponent_b != 0xFF;
    // Both significands have 7 fractional bits.
    magnitude[i] = significand_a * significand_b << (Rule.fraction_bits - 14);
    exponent[i] = (exponent_a != 0 ? exponent_a : 1) + (exponent_b != 0 ? exponent_b : 1) - 254;
    negative[i] = ((a[i] ^ b[i]) & 0x8000) != 0;
  }
  std::uint32_t bits;
  memcpy(&bits, &c, sizeof bits);
  const int exponent_c = static_cast<int>((bits >> 23) & 0xFF);
  const std::int64_t significand_c = (bits & 0x7FFFFF) | (exponent_c != 0 ? 0x800000 : 0);
  finite = finite && exponent_c != 0xFF;
  magnitude[terms - 1] = significand_c << (Rule.fraction_bits - 23);
  exponent[terms - 1] = (exponent_c != 0 ? exponent_c : 1) - 127;
  negative[terms - 1] = (bits >> 31) != 0;

  std::uint32_t result = 0;
  if (finite) {
    int largest = Rule.zero_exponent;
    for (int i = 0; i < terms; ++i) {
      if (magnitude[i] != 0 && exponent[i] > largest) largest = exponent[i];
    }
    std::int64_t sum = 0;
    for (int i = 0; i < terms; ++i) {
      const int shift = largest - exponent[i];
      const std::int64_t cut = shift > 62 || magnitude[i] == 0 ? 0 : magnitude[i] >> shift;
      sum += negative[i] ? -cut : cut;
    }
    if (sum == 0) return 0.0f;
    const std::uint64_t size =
        sum < 0 ? -static_cast<std::uint64_t>(sum) : static_cast<std::uint64_t>(sum);
    const int leading = 63 - __builtin_clzll(size);
    const int power = largest - Rule.fraction_bits + leading;  // of the leading bit
    constexpr int least_normal = -126;
    int dropped = leading - 23;
    if (power < least_normal) dropped += least_normal - power;
    const std::uint64_t kept = dropped > 63 ? 0 : dropped >= 0 ? size >> dropped : size << -dropped;
    if (power > 127) {
      result = 0x7F800000U;
    } else if (power < least_normal) {
      result = static_cast<std::uint32_t>(kept);
    } else {
      result = (static_cast<std::uint32_t>(power + 127) << 23) |
               (static_cast<std::uint32_t>(kept) & 0x7FFFFF);
    }
    if (sum < 0 && result != 0) result |= 0x80000000U;
  } else {
    // No sum of finite terms comes near the end of a double, so it stays what the others make it.
    double sum = static_cast<double>(c);
    for (int i = 0; i < Rule.products; ++i) {
      float factors[2];
      const std::uint32_t widened[2] = {static_cast<std::uint32_t>(a[i]) << 16,
                                        static_cast<std::uint32_t>(b[i]) << 16};
      memcpy(factors, widened, sizeof factors);
      sum += static_cast<double>(factors[0]) * static_cast<double>(factors[1]);
    }
    result = sum != sum ? 0x7FFFFFFFU : sum < 0.0 ? 0xFF800000U : 0x7F800000U;
  }
  float value;
  memcpy(&value, &result, sizeof value);
  return value;
}

/// One step of Hopper's mma.sync and wgmma: c + Σ_{i < 16} a_i · b_i.
inline float hopper_step(const std::uint16_t* a, const std::uint16_t* b, float c) {
  return fused_dot_product<hopper_rule>(a, b, c);
}

/// One step of Ampere's and Ada's mma.sync: the first eight products join c, then the others.
inline float ampere_step(const std::uint16_t* a, const std::uint16_t* b, float c) {
  return fused_dot_product<ampere_rule>(a + 8, b + 8, fused_dot_product<ampere_rule>(a, b, c));
}

/// The bits of x rounded to bfloat16, to nearest, ties to even; of any NaN 0x7FFF. (A NaN must stay
/// one: rounded like a number, NVIDIA's 0x7FFFFFFF would become 0.)
TEMPERA_HOST_DEVICE inline std::uint16_t to_bfloat16(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return 0x7FFF;
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
