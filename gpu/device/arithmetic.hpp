#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#define TEMPERA_HOST_DEVICE __host__ __device__
#else
#define TEMPERA_HOST_DEVICE
#endif

// The instruction set that this source is being compiled for. Sources named *.isa.cpp are
// compiled once per set, and whatever inline function they share with others lives in a namespace
// of its set: were it one function, the linker would keep one of its copies, perhaps the one with
// instructions that the machine lacks. Types and what is compiled once stay outside.
#if !defined(TEMPERA_INSTRUCTION_SET)
#define TEMPERA_INSTRUCTION_SET plain
#endif

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// a·b + c with one rounding, on host and device.
TEMPERA_HOST_DEVICE inline double fused_multiply_add(double a, double b, double c) {
#if defined(__CUDA_ARCH__)
  return __fma_rn(a, b, c);
#else
  return __builtin_fma(a, b, c);
#endif
}

/// a·b + c in float32 with one rounding, on host and device.
TEMPERA_HOST_DEVICE inline float fused_multiply_add(float a, float b, float c) {
#if defined(__CUDA_ARCH__)
  return __fmaf_rn(a, b, c);
#else
  return __builtin_fmaf(a, b, c);
#endif
}

/// The double with these bits.
TEMPERA_HOST_DEVICE inline double from_bits(std::uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/// The bits of this double.
TEMPERA_HOST_DEVICE inline std::uint64_t to_bits(double value) {
  std::uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
