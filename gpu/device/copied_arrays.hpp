#pragma once

#include "gpu/device/arrays_memory.hpp"
#include "gpu/device/device_memory.hpp"

namespace tempera::gpu {

/// Arrays that are copied to where there is room for more: on a device that cannot map memory.
class CopiedArrays final : public ArraysMemory {
 public:
  explicit CopiedArrays(const ArraysLayout& layout) : layout_(layout) {}

  std::byte* data() override { return bytes_.data(); }
  std::size_t pitch() const override { return pitch_; }
  std::size_t grow(std::size_t elements) override;

 private:
  ArraysLayout layout_;
  DeviceMemory<std::byte> bytes_;
  std::size_t elements_ = 0;
  std::size_t pitch_ = 0;
};

}  // namespace tempera::gpu
