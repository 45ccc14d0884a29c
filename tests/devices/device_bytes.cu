#include <thrust/copy.h>
#include <thrust/device_ptr.h>

#include "tests/devices/device_bytes.hpp"

namespace tempera::gpu {

void write_to_device(std::span<const std::byte> host, std::byte* device) {
  thrust::copy(host.begin(), host.end(), thrust::device_pointer_cast(device));
}

std::vector<std::byte> read_from_device(const std::byte* device, std::size_t count) {
  std::vector<std::byte> host(count);
  const auto begin = thrust::device_pointer_cast(device);
  thrust::copy(begin, begin + static_cast<std::ptrdiff_t>(count), host.begin());
  return host;
}

}  // namespace tempera::gpu
