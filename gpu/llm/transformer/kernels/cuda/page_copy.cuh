#pragma once

#include <cstdint>

#include "gpu/device/simt/simt.hpp"
#include "gpu/llm/transformer/cache/page_part.hpp"

namespace tempera::gpu::inline TEMPERA_SIMT_FORM {

/// Copies a page to another, all of it in every array, by threads `first`, `first` + 1, ... of
/// `threads`. They take its vectors as if the arrays' parts were side by side, so that all
/// have as many to copy, whatever the parts' lengths.
TEMPERA_ON_DEVICE inline void copy_page(const PageMemory& memory, std::size_t source,
                                        std::size_t target, unsigned first, unsigned threads) {
  constexpr auto vector_bytes = static_cast<unsigned>(sizeof(simt::Vector16));
  const auto arrays = static_cast<unsigned>(memory.layout.equal_arrays);
  const unsigned of_array = static_cast<unsigned>(memory.layout.element_bytes) / vector_bytes;
  const unsigned all =
      arrays * of_array + static_cast<unsigned>(memory.layout.last_bytes) / vector_bytes;
  for (unsigned i = first; i < all; i += threads) {
    const unsigned quotient = i / of_array;
    const unsigned array = quotient < arrays ? quotient : arrays;
    const unsigned vector = i - array * of_array;
    const PagePart part = part_of_array(memory, array);
    part_of_page<simt::Vector16>(part, target)[vector] =
        part_of_page<simt::Vector16>(part, source)[vector];
  }
}

}  // namespace tempera::gpu::inline TEMPERA_SIMT_FORM
