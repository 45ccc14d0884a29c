#pragma once

#include <cstdint>
#include <cstring>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET {

/// A stored weight as float32; exact for both dtypes.
TEMPERA_HOST_DEVICE inline float weight_value(float stored) { return stored; }

/// The same for a bfloat16: its bits are the upper half of a float32's.
TEMPERA_HOST_DEVICE inline float weight_value(std::uint16_t stored) {
  const std::uint32_t bits = static_cast<std::uint32_t>(stored) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace tempera::gpu::inline TEMPERA_INSTRUCTION_SET
