#include "gpu/device/copied_arrays.hpp"

#include <utility>

namespace tempera::gpu {

namespace {

/// Where an array may begin, so that every element type and every load of a device is aligned.
constexpr std::size_t alignment = 256;

}  // namespace

std::size_t CopiedArrays::grow(std::size_t elements) {
  const std::size_t pitch =
      (elements * layout_.element_bytes + alignment - 1) / alignment * alignment;
  DeviceMemory<std::byte> grown(layout_.equal_arrays * pitch + elements * layout_.last_bytes);
  for (std::size_t array = 0; array < layout_.arrays(); ++array) {
    count_growing_array();
    grown.copy(bytes_, array * pitch_, elements_ * layout_.element_bytes_of(array), array * pitch);
  }
  bytes_ = std::move(grown);
  elements_ = elements;
  pitch_ = pitch;
  return elements;
}

}  // namespace tempera::gpu
