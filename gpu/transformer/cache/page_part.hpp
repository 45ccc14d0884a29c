#pragma once

#include <cstddef>

#include "gpu/device/arithmetic.hpp"

namespace tempera::gpu {

/// Tokens in a page of the cache: a constant of the cache and of the arithmetic (attention rescales
/// its sums page by page), and no property of any processor. Token t of a record lies in slot
/// t % page_tokens of its page t / page_tokens, whatever batch computed it.
constexpr std::size_t page_tokens = 16;

/// The pages of all caches of one transformer: [pages, page_floats], in device memory.
struct PageMemory {
  float* floats;
  std::size_t page_floats;
};

/// The same part of every page, as far as a kernel need know of how an architecture lays out its
/// pages: that of page p begins at memory.floats + p · memory.page_floats + begin.
struct PagePart {
  PageMemory memory;
  std::size_t begin;
};

inline namespace TEMPERA_INSTRUCTION_SET {

/// Where the part of page `page` begins.
TEMPERA_HOST_DEVICE inline float* part_of_page(const PagePart& part, std::size_t page) {
  return part.memory.floats + page * part.memory.page_floats + part.begin;
}

}  // namespace TEMPERA_INSTRUCTION_SET

}  // namespace tempera::gpu
