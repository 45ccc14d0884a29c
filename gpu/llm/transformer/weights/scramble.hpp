#pragma once

#include <cstdint>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// A bijection of 64-bit words whose output passes for random (the finaliser of SplitMix64).
TEMPERA_HOST_DEVICE inline std::uint64_t scramble(std::uint64_t word) {
  word += 0x9E3779B97F4A7C15ULL;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9ULL;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBULL;
  return word ^ (word >> 31);
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
