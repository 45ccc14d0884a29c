#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#if defined(__FMA__) && !defined(__CUDACC__)
#include <immintrin.h>
#endif

#include "gpu/device/arithmetic.hpp"
#include "gpu/transformer/weights/packed_matrix.hpp"

namespace tempera::gpu {

// Why not loops over arrays: compilers vectorise those well or ten times slower depending on what
// surrounds them. The element-wise meaning is the same for every register width.
#if defined(__CUDACC__)
constexpr std::size_t register_lanes = 1;
using FloatRegister = float;
using BitsRegister = std::uint32_t;
#else
#if defined(__AVX512F__)
constexpr std::size_t register_lanes = 16;
#elif defined(__AVX__)
constexpr std::size_t register_lanes = 8;
#else
constexpr std::size_t register_lanes = 4;
#endif
typedef float FloatRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::uint32_t BitsRegister __attribute__((vector_size(4 * register_lanes)));
typedef std::uint16_t HalfRegister __attribute__((vector_size(2 * register_lanes)));
#endif

/// `lanes` floats side by side, in as few registers as the machine allows.
struct FloatLanes {
  static constexpr std::size_t registers = lanes / register_lanes;
  FloatRegister parts[registers];
};

/// `lanes` copies of a float.
TEMPERA_HOST_DEVICE inline FloatRegister broadcast_register(float value) {
#if defined(__CUDACC__)
  return value;
#else
  return [=]<std::size_t... Lane>(std::index_sequence<Lane...>) {
    return FloatRegister{(static_cast<void>(Lane), value)...};
  }
  (std::make_index_sequence<register_lanes>());
#endif
}

TEMPERA_HOST_DEVICE inline FloatLanes broadcast(float value) {
  FloatLanes result;
  for (auto& part : result.parts) part = broadcast_register(value);
  return result;
}

/// memory[0 .. lanes), not necessarily aligned.
TEMPERA_HOST_DEVICE inline FloatLanes load(const float* memory) {
  FloatLanes result;
  memcpy(&result, memory, sizeof result);
  return result;
}

/// As above, of bfloat16s: the upper halves of float32s, so the result is exact.
TEMPERA_HOST_DEVICE inline FloatLanes load(const std::uint16_t* memory) {
  FloatLanes result;
  for (std::size_t i = 0; i < FloatLanes::registers; ++i) {
#if defined(__CUDACC__)
    const BitsRegister bits = static_cast<std::uint32_t>(memory[i]) << 16;
#else
    HalfRegister halves;
    memcpy(&halves, memory + i * register_lanes, sizeof halves);
    const BitsRegister bits = __builtin_convertvector(halves, BitsRegister) << 16;
#endif
    memcpy(&result.parts[i], &bits, sizeof bits);
  }
  return result;
}

TEMPERA_HOST_DEVICE inline void store(const FloatLanes& value, float* memory) {
  memcpy(memory, &value, sizeof value);
}

/// a·b + c with one rounding in every lane.
TEMPERA_HOST_DEVICE inline FloatRegister fused_multiply_add_register(FloatRegister a,
                                                                     FloatRegister b,
                                                                     FloatRegister c) {
#if defined(__CUDACC__)
  return fused_multiply_add(a, b, c);
#elif defined(__AVX512F__)
  return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  for (std::size_t lane = 0; lane < register_lanes; ++lane) {
    c[lane] = fused_multiply_add(a[lane], b[lane], c[lane]);
  }
  return c;
#endif
}

TEMPERA_HOST_DEVICE inline FloatLanes fused_multiply_add(const FloatLanes& a, const FloatLanes& b,
                                                         const FloatLanes& c) {
  FloatLanes result;
  for (std::size_t i = 0; i < FloatLanes::registers; ++i) {
    result.parts[i] = fused_multiply_add_register(a.parts[i], b.parts[i], c.parts[i]);
  }
  return result;
}

TEMPERA_HOST_DEVICE inline FloatLanes operator+(const FloatLanes& a, const FloatLanes& b) {
  FloatLanes result;
  for (std::size_t i = 0; i < FloatLanes::registers; ++i) result.parts[i] = a.parts[i] + b.parts[i];
  return result;
}

TEMPERA_HOST_DEVICE inline FloatLanes operator*(const FloatLanes& a, const FloatLanes& b) {
  FloatLanes result;
  for (std::size_t i = 0; i < FloatLanes::registers; ++i) result.parts[i] = a.parts[i] * b.parts[i];
  return result;
}

}  // namespace tempera::gpu
