#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"
#include "gpu/device/tensor_core.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"

// How pages hold the keys and values of the arithmetics of tensor cores: [key_value_heads], each
// head [page_tokens, head_dim] elements and what comes with them; and those of `integer`.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// Elements as bfloat16s.
struct Bfloat16Elements {
  using Stored = std::uint16_t;
  static constexpr bool have_exponents = false;
  static constexpr Stored zero = 0;
  /// How many bytes a head takes in a page.
  TEMPERA_HOST_DEVICE static constexpr std::size_t head_bytes(std::size_t head_dim) {
    return page_tokens * head_dim * sizeof(Stored);
  }
  TEMPERA_HOST_DEVICE static float value_of(Stored element) { return from_bfloat16(element); }
};

/// Elements n · 2^e of 8 bits (docs/explanation/pages_of_8_bits.md): n + 128 in a byte, n from −127
/// to 127. A token's head has one e, whose byte e + 127 is among the [page_tokens] after the
/// elements. That is the exponent of a float32, so that 255 stands for a head that has an infinity
/// or a NaN: its elements are 0, and 0 times infinity is NaN.
struct EightBitElements {
  using Stored = std::uint8_t;
  static constexpr bool have_exponents = true;
  static constexpr Stored zero = 128;
  /// How many bytes a head takes in a page.
  TEMPERA_HOST_DEVICE static constexpr std::size_t head_bytes(std::size_t head_dim) {
    return page_tokens * (head_dim + 1);
  }
  /// n, which is a whole number.
  TEMPERA_HOST_DEVICE static float value_of(Stored element) {
    return value_of_bits(0x4B000000U | element);
  }
  /// n, given the float32 whose last byte is the element, and the others those of 2^23.
  TEMPERA_HOST_DEVICE static float value_of_bits(std::uint32_t bits) {
    float shifted;
    memcpy(&shifted, &bits, sizeof shifted);
    return shifted - (0x1p23F + 128.0F);
  }

  /// Numbers that are in order as |x| is; those of infinities and NaNs are the largest.
  TEMPERA_HOST_DEVICE static std::uint32_t magnitude_of(float x) {
    std::uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7FFFFFFFU;
  }
  /// The byte of the exponent of a head whose largest element has this magnitude: that of the least
  /// e ≥ −126 for which rint(M / 2^e) ≤ 127. M < 2^(e + 7) · 255/256 then, and adding 2^16 to the
  /// bits of M carries into its exponent just if that is not so of the e for which M < 2^(e + 7).
  TEMPERA_HOST_DEVICE static std::uint8_t exponent_of(std::uint32_t largest) {
    if (largest >= 0x7F800000U) return 255;
    const std::uint32_t exponent = (largest + 0x10000U) >> 23;
    return static_cast<std::uint8_t>(exponent > 7 ? exponent - 6 : 1);
  }
  /// 2^e, or infinity.
  TEMPERA_HOST_DEVICE static float power_of(std::uint8_t exponent) {
    const std::uint32_t bits = std::uint32_t{exponent} << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
  }
  /// The element that is nearest to x, of two the one whose n is even.
  TEMPERA_HOST_DEVICE static Stored element_of(float x, std::uint8_t exponent) {
    if (exponent == 255) return zero;
    // Adding 1.5 · 2^23 rounds to a whole number, which then is in the lowest bits.
    const float shifted =
        x * power_of(static_cast<std::uint8_t>(254 - exponent)) + (0x1.8p+23F + 128.0F);
    std::uint32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    return static_cast<Stored>(bits & 0xFFU);
  }
};

/// Elements V · 2^-e of 16 bits, a head's [head_dim, page_tokens] in pairs. After them come the e
/// of its tokens, in words: so that every head begins where a line of a cache does.
struct SixteenBitElements {
  /// Stand for the e of a token whose V are all 0, and of one that has no e (WholeRow::fits).
  static constexpr std::int32_t of_zeros = 1000;
  static constexpr std::int32_t unfit = -1000;
  /// How many bytes a head takes in a page.
  TEMPERA_HOST_DEVICE static constexpr std::size_t head_bytes(std::size_t head_dim) {
    return page_tokens * (head_dim * sizeof(std::int16_t) + sizeof(std::int32_t));
  }
};

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
