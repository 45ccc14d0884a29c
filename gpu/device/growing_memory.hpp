#pragma once

#include <cstddef>
#include <memory>

#include "gpu/device/device_memory.hpp"
#include "gpu/device/mapped_memory.hpp"

namespace tempera::gpu {

/// Bytes in the memory of the device that grow so that no second copy of them is ever held. The
/// host's pages are given other addresses (mremap), and one that was never written needs no
/// memory. CUDA's stay where they are (MappedMemory); only a device that cannot map memory copies.
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
  std::byte* host_ = nullptr;             // null if the device is CUDA's
  std::unique_ptr<MappedMemory> mapped_;  // null if it is the host's or cannot map
  DeviceMemory<std::byte> device_;        // empty if one of these is not
};

}  // namespace tempera::gpu
