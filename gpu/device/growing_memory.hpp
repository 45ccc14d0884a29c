#pragma once

#include <cstddef>

#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

/// Bytes in the memory of the device that grow in place where that is the host's: its pages are
/// given other addresses (mremap), so that no second copy of them is ever held, and a page that was
/// never written takes up no memory. CUDA's memory grows by copying.
class GrowingMemory {
 public:
  GrowingMemory() = default;
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory();

  std::size_t size() const { return size_; }
  /// A device pointer, valid until the next grow.
  std::byte* data();
  /// Keeps the contents; new bytes are zero. Range: size >= size().
  /// @throw std::bad_alloc
  void grow(std::size_t size);

 private:
  std::size_t size_ = 0;
  std::byte* host_ = nullptr;       // null where the device is CUDA's
  DeviceMemory<std::byte> device_;  // empty where it is the host's
};

}  // namespace tempera::gpu
