#pragma once

#include <cstddef>
#include <memory>

#include "gpu/device/arrays_memory.hpp"

namespace tempera::gpu {

/// Arrays in the memory of the device that grow together, so that no second copy of them is ever
/// held: they stay where they are (MappedArrays), and the host gives no memory to what was never
/// written. Only a device, or a process, that may not map memory copies (CopiedArrays).
class GrowingArrays {
 public:
  explicit GrowingArrays(const ArraysLayout& layout) : layout_(layout) {}

  const ArraysLayout& layout() const { return layout_; }
  /// How many elements there is room for in each array.
  std::size_t elements() const { return elements_; }
  /// Array k begins at data() + k · pitch(): a device pointer. Both are valid until the next grow,
  /// and null and 0 before the first one.
  std::byte* data() { return memory_ ? memory_->data() : nullptr; }
  std::size_t pitch() const { return memory_ ? memory_->pitch() : 0; }
  /// Makes room for `elements`, or for more where memory comes in larger pieces. Keeps the
  /// contents; new elements are zero. Range: elements >= elements().
  /// @throw std::bad_alloc, and then nothing has changed
  void grow(std::size_t elements);

 private:
  ArraysLayout layout_;
  std::size_t elements_ = 0;
  std::unique_ptr<ArraysMemory> memory_;  // null until the first grow
};

}  // namespace tempera::gpu
