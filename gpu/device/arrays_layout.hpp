#pragma once

#include <cstddef>

namespace tempera::gpu {

/// Arrays with equally many elements: some whose elements are all of one length, and perhaps one
/// more after them.
struct ArraysLayout {
  std::size_t equal_arrays;
  std::size_t element_bytes;  // of each of these
  std::size_t last_bytes;     // of an element of the last array; 0 if there is none

  std::size_t arrays() const { return equal_arrays + (last_bytes > 0 ? 1 : 0); }
  std::size_t element_bytes_of(std::size_t array) const {
    return array < equal_arrays ? element_bytes : last_bytes;
  }
  /// What one element takes in all arrays.
  std::size_t bytes() const { return equal_arrays * element_bytes + last_bytes; }
};

}  // namespace tempera::gpu
