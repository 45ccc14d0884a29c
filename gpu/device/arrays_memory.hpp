#pragma once

#include <cstddef>

#include "gpu/device/arrays_layout.hpp"

namespace tempera::gpu {

/// Arrays in the memory of the device that grow together, one after another: array k begins at
/// data() + k · pitch().
class ArraysMemory {
 public:
  virtual ~ArraysMemory() = default;
  /// A device pointer. It and pitch() are valid until the next grow.
  virtual std::byte* data() = 0;
  virtual std::size_t pitch() const = 0;
  /// Keeps the contents; new elements are zero. Returns how many there is room for now, at least
  /// `elements`. Range: elements no less than that was before.
  /// @throw std::bad_alloc, and then nothing has changed
  virtual std::size_t grow(std::size_t elements) = 0;
};

}  // namespace tempera::gpu
