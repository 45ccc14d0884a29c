#pragma once

#if defined(TEMPERA_NEON)
#include <arm_neon.h>
#endif

#include "gpu/device/float_lanes.hpp"

// Sums of products of whole numbers, two of 16 bits in a word, by each instruction set.

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

inline BitsRegister broadcast_word_register(std::uint32_t word) { return BitsRegister{} + word; }

/// sums + a_0 · b_0 + a_1 · b_1 in every lane, modulo 2^32; no number is -2^15.
inline IntegerRegister add_whole_pairs(IntegerRegister sums, BitsRegister a, BitsRegister b) {
#if defined(__AVX512VNNI__)
  return reinterpret_cast<IntegerRegister>(_mm512_dpwssd_epi32(
      reinterpret_cast<__m512i>(sums), reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX512BW__)
  return sums + reinterpret_cast<IntegerRegister>(
                    _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVXVNNI__)
  return reinterpret_cast<IntegerRegister>(_mm256_dpwssd_avx_epi32(
      reinterpret_cast<__m256i>(sums), reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__AVX2__)
  return sums + reinterpret_cast<IntegerRegister>(
                    _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(TEMPERA_NEON)
  // SMLAL multiplies halves of registers: the words' lower numbers, and then their upper ones.
  const auto lower = [](BitsRegister words) {
    return vmovn_s32(reinterpret_cast<int32x4_t>(words));
  };
  const auto upper = [](BitsRegister words) {
    return vshrn_n_s32(reinterpret_cast<int32x4_t>(words), 16);
  };
  const int32x4_t half = vmlal_s16(reinterpret_cast<int32x4_t>(sums), lower(a), lower(b));
  return reinterpret_cast<IntegerRegister>(vmlal_s16(half, upper(a), upper(b)));
#else
  // By words without a sign, in which a sum that wraps round is defined.
  const auto upper = [](BitsRegister words) {
    return reinterpret_cast<BitsRegister>(reinterpret_cast<IntegerRegister>(words) >> 16);
  };
  return reinterpret_cast<IntegerRegister>(reinterpret_cast<BitsRegister>(sums) +
                                           upper(a << 16) * upper(b << 16) + upper(a) * upper(b));
#endif
}

/// The nearest floats, ties to even.
inline FloatRegister to_nearest_floats(IntegerRegister numbers) {
  return __builtin_convertvector(numbers, FloatRegister);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
