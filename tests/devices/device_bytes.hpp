#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tempera::gpu {

/// Bytes of the device's memory that no DeviceMemory holds.
void write_to_device(std::span<const std::byte> host, std::byte* device);
std::vector<std::byte> read_from_device(const std::byte* device, std::size_t count);

}  // namespace tempera::gpu
