#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

// Whole numbers of 16 bits, whose exact sums of products have no order: the arithmetic `integer`,
// as far as one number goes, on host and device. docs/reference/arithmetic.md says what is built
// from them.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// The largest whole number of a row.
constexpr std::int32_t largest_whole = 32767;
/// Bounds of the sum of a row's squares: so |Σ X W| < 2^31 for every part of the sum, by Cauchy and
/// Schwarz. A value's weights say how far its sums go.
constexpr std::uint64_t input_squares = 0xFFFFFFFFU;
constexpr std::uint64_t weight_squares = (1U << 30) - 1U;
constexpr std::uint64_t any_squares = ~std::uint64_t{0};
/// Exponents are from -63 to 63, so that 2^-(a + b) is a normal float32.
constexpr int largest_exponent = 63;

/// 2^exponent, which is normal.
TEMPERA_HOST_DEVICE inline float power_of_two(int exponent) {
  const std::uint32_t bits = static_cast<std::uint32_t>(exponent + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/// The exponent of a row x and what it makes of it: X_i = rint(x_i · 2^e), ties to even.
struct WholeRow {
  int exponent = 0;
  std::uint64_t squares = 0;  // Σ X_i^2
  bool fits = true;           // or a number is NaN, infinite or above about 2^77

  /// 2^-e; NaN if the row does not fit.
  TEMPERA_HOST_DEVICE float step() const {
    return fits ? power_of_two(-exponent) : __builtin_nanf("");
  }
};

/// rint(x · 2^e), which is at most 2^22. A product that is not exact is below 2^-126: rounded or
/// flushed, it is 0 here.
TEMPERA_HOST_DEVICE inline std::int32_t whole_number(float x, float power) {
  // Adding 1.5 · 2^23 rounds to a whole number, which then is in the lowest bits.
  const float shifted = x * power + 0x1.8p+23f;
  std::int32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  return bits - 0x4B400000;
}

/// The largest exponent up to 63 at which a row whose largest |x| has these bits, those of a finite
/// number, has no whole number above 32767; below -63 if there is none.
TEMPERA_HOST_DEVICE inline int exponent_of_largest(std::int32_t largest) {
  // 2^k <= |x| < 2^(k+1). A subnormal number has another exponent, too small to matter.
  const int k = (largest >> 23) - 127;
  int exponent = 14 - k < largest_exponent ? 14 - k : largest_exponent;
  float magnitude;
  memcpy(&magnitude, &largest, sizeof magnitude);
  if (whole_number(magnitude, power_of_two(exponent)) > largest_whole) --exponent;
  return exponent;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
