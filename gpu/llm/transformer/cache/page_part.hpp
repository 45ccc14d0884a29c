#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"
#include "gpu/device/arrays_layout.hpp"

namespace tempera::gpu {

/// Tokens in a page of the cache: a constant of the cache and of the arithmetic (attention rescales
/// its sums page by page), and no property of any processor. Token t of a record is in slot
/// t % page_tokens of its page t / page_tokens, whatever batch computed it.
constexpr std::size_t page_tokens = 16;

/// The pages of all caches of one transformer, in device memory. What a page has of one layer is
/// in that layer's array, and what it has of no layer in the last one. So the pages that a layer
/// reads are side by side, and a device translates few addresses for it. Array k begins at
/// bytes + k · pitch; its elements, one a page, take multiples of 16 bytes.
struct PageMemory {
  std::byte* bytes;
  std::size_t pitch;
  ArraysLayout layout;  // equal_arrays: one a layer
};

/// The same part of every page, as far as a kernel need know of how an architecture lays out its
/// pages: that of page p begins at first + p · stride, in bytes.
struct PagePart {
  std::byte* first;
  std::size_t stride;
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// Where the part of page `page` begins, of elements as the arithmetic stores them: float, or the
/// bits of bfloat16s.
template <class Stored>
TEMPERA_HOST_DEVICE inline Stored* part_of_page(const PagePart& part, std::size_t page) {
  return reinterpret_cast<Stored*>(part.first + page * part.stride);
}

/// What comes `bytes` bytes after the beginning of a part.
TEMPERA_HOST_DEVICE inline PagePart part_after(const PagePart& part, std::size_t bytes) {
  return {part.first + bytes, part.stride};
}

/// All that pages have in one array: of a layer, or, after the layers, what is of none.
TEMPERA_HOST_DEVICE inline PagePart part_of_array(const PageMemory& memory, std::size_t array) {
  const ArraysLayout& layout = memory.layout;
  return {memory.bytes + array * memory.pitch,
          array < layout.equal_arrays ? layout.element_bytes : layout.last_bytes};
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
