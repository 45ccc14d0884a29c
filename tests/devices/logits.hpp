#pragma once

#include <cstdint>
#include <limits>

#include "gpu/core/lottery/philox.hpp"

namespace tempera::gpu {

/// A logit between −12 and 12 that is a function of its place alone; one token in 32 is forbidden,
/// never the first.
inline float logit_at(std::uint32_t token, std::uint32_t row, std::uint64_t seed) {
  const Word word = philox({{token, row, 0, 0}}, seed);
  if (word.limb[1] % 32 == 0 && token != 0) return -std::numeric_limits<float>::infinity();
  return static_cast<float>(word.limb[0] >> 8) * (24.0F / 16777216.0F) - 12.0F;
}

}  // namespace tempera::gpu
