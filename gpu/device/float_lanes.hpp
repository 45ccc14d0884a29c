#pragma once

#include <cstddef>
#include <cstdint>
#if defined(__FMA__)
#include <immintrin.h>
#endif

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

// Why not loops over arrays: compilers vectorise those well or ten times slower depending on what
// surrounds them. The element-wise meaning is the same for every register width.
#if defined(__AVX512F__)
constexpr std::size_t register_lanes = 16;
#elif defined(__AVX__)
constexpr std::size_t register_lanes = 8;
#else
constexpr std::size_t register_lanes = 4;
#endif
typedef float FloatRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::uint32_t BitsRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::int32_t IntegerRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::uint16_t HalfRegister __attribute__((vector_size(2 * register_lanes)));
// These are registers in memory, not necessarily aligned. (memcpy would go by 16 bytes at a time,
// and through the stack.)
typedef FloatRegister FloatsInMemory __attribute__((aligned(4), may_alias));
typedef BitsRegister WordsInMemory __attribute__((aligned(4), may_alias));
typedef HalfRegister HalvesInMemory __attribute__((aligned(2), may_alias));

/// `Size` floats side by side, in as few registers as the instruction set allows.
template <std::size_t Size>
struct FloatLanes {
  static_assert(Size % register_lanes == 0);
  static constexpr std::size_t registers = Size / register_lanes;
  FloatRegister parts[registers];
};

/// `register_lanes` copies of a float. (A loop over the lanes is compiled to as many insertions.)
inline FloatRegister broadcast_register(float value) {
#if defined(__AVX512F__)
  return _mm512_set1_ps(value);
#elif defined(__FMA__)
  return _mm256_set1_ps(value);
#else
  return FloatRegister{value, value, value, value};
#endif
}

/// `Size` copies of a float.
template <std::size_t Size>
inline FloatLanes<Size> broadcast(float value) {
  FloatLanes<Size> result;
  for (auto& part : result.parts) part = broadcast_register(value);
  return result;
}

/// memory[0 .. register_lanes), not necessarily aligned.
inline FloatRegister load_register(const float* memory) {
  return *reinterpret_cast<const FloatsInMemory*>(memory);
}

/// The same of bfloat16s: the upper halves of float32s, so the result is exact.
inline FloatRegister load_register(const std::uint16_t* memory) {
#if defined(__AVX512F__)
  const auto halves = _mm256_loadu_si256(reinterpret_cast<const __m256i_u*>(memory));
  // Does what _mm512_cvtepu16_epi32 does, in which GCC 12 finds something uninitialised.
  const auto words = reinterpret_cast<BitsRegister>(_mm512_maskz_cvtepu16_epi32(0xFFFF, halves));
  return reinterpret_cast<FloatRegister>(words << 16);
#elif defined(__AVX2__)
  const auto halves = _mm_loadu_si128(reinterpret_cast<const __m128i_u*>(memory));
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
#else
  const HalfRegister halves = *reinterpret_cast<const HalvesInMemory*>(memory);
  return reinterpret_cast<FloatRegister>(__builtin_convertvector(halves, BitsRegister) << 16);
#endif
}

/// memory[0 .. Size), in either dtype of a weight.
template <std::size_t Size, class Stored>
inline FloatLanes<Size> load(const Stored* memory) {
  FloatLanes<Size> result;
  for (std::size_t i = 0; i < FloatLanes<Size>::registers; ++i) {
    result.parts[i] = load_register(memory + i * register_lanes);
  }
  return result;
}

template <std::size_t Size>
inline void store(const FloatLanes<Size>& value, float* memory) {
  for (std::size_t i = 0; i < FloatLanes<Size>::registers; ++i) {
    *reinterpret_cast<FloatsInMemory*>(memory + i * register_lanes) = value.parts[i];
  }
}

/// a·b + c with one rounding in every lane.
inline FloatRegister fused_multiply_add_register(FloatRegister a, FloatRegister b,
                                                 FloatRegister c) {
#if defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  FloatRegister result{};
  for (std::size_t lane = 0; lane < register_lanes; ++lane) {
    result[lane] = fused_multiply_add(a[lane], b[lane], c[lane]);
  }
  return result;
#endif
}

/// In every lane a if a > b, and b otherwise.
inline FloatRegister largest_register(FloatRegister a, FloatRegister b) {
#if defined(__AVX512F__)
  // Does what _mm512_max_ps does, in which GCC 12 finds something uninitialised.
  return _mm512_maskz_max_ps(0xFFFF, a, b);
#elif defined(__FMA__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

/// In every lane a if a < b, and b otherwise.
inline FloatRegister least_register(FloatRegister a, FloatRegister b) {
#if defined(__AVX512F__)
  // Does what _mm512_min_ps does; largest_register says why.
  return _mm512_maskz_min_ps(0xFFFF, a, b);
#elif defined(__FMA__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

/// to_bfloat16 (tensor_core.hpp) in every lane, in the lower half of its word.
inline BitsRegister to_bfloat16_register(FloatRegister values) {
  const auto bits = reinterpret_cast<BitsRegister>(values);
  const BitsRegister rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const auto is_nan = reinterpret_cast<BitsRegister>(values != values);
  return (rounded & ~is_nan) | (is_nan & 0x7FFFU);
}

template <std::size_t Size>
inline FloatLanes<Size> fused_multiply_add(const FloatLanes<Size>& a, const FloatLanes<Size>& b,
                                           const FloatLanes<Size>& c) {
  FloatLanes<Size> result;
  for (std::size_t i = 0; i < FloatLanes<Size>::registers; ++i) {
    result.parts[i] = fused_multiply_add_register(a.parts[i], b.parts[i], c.parts[i]);
  }
  return result;
}

template <std::size_t Size>
inline FloatLanes<Size> operator+(const FloatLanes<Size>& a, const FloatLanes<Size>& b) {
  FloatLanes<Size> result;
  for (std::size_t i = 0; i < FloatLanes<Size>::registers; ++i) {
    result.parts[i] = a.parts[i] + b.parts[i];
  }
  return result;
}

template <std::size_t Size>
inline FloatLanes<Size> operator*(const FloatLanes<Size>& a, const FloatLanes<Size>& b) {
  FloatLanes<Size> result;
  for (std::size_t i = 0; i < FloatLanes<Size>::registers; ++i) {
    result.parts[i] = a.parts[i] * b.parts[i];
  }
  return result;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
