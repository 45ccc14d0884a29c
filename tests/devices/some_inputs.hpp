#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/device/device_memory.hpp"
#include "gpu/llm/transformer/weights/scramble.hpp"

namespace tempera::gpu {

/// Bits of bfloat16s of either sign between 1/2 and 2: inputs whose products cost what a model's
/// cost. Zeros would take less power on a device, and other steps on a host.
inline DeviceMemory<std::uint16_t> some_inputs(std::size_t size) {
  std::vector<std::uint16_t> values(size);
  for (std::size_t i = 0; i < size; ++i)
    values[i] = static_cast<std::uint16_t>(0x3F00U | (scramble(i) & 0x80FFU));
  return DeviceMemory<std::uint16_t>(std::span<const std::uint16_t>(values));
}

}  // namespace tempera::gpu
