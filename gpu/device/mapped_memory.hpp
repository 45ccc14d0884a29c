#pragma once

#include <cstddef>
#include <memory>

namespace tempera::gpu {

/// Memory of a CUDA device that grows where it is: a range of addresses as long as the device's
/// memory is reserved once, and memory is mapped after what is there. Nothing is copied, no byte
/// is held twice, and pointers stay good.
class MappedMemory {
 public:
  /// Nothing if there is no CUDA, or its device or driver cannot map memory.
  static std::unique_ptr<MappedMemory> make();

  virtual ~MappedMemory() = default;
  virtual std::byte* data() = 0;
  /// Keeps the contents; new bytes are zero. Range: size no less than before.
  /// @throw std::bad_alloc, and then nothing has changed
  virtual void grow(std::size_t size) = 0;
};

}  // namespace tempera::gpu
